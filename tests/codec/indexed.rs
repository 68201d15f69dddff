//! Tests that random access gives the same as reading in order, reads no more than it must, and refuses damage.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

use bloscpack::storage::{ReadAt, Seekable};
use bloscpack::wire::Section;
use bloscpack::{Category, Decoder, Encoder, FormatVersion, Options, indexed::IndexedReader};
use std::io::{Cursor, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use testkit::stopwatch::grows_evenly;

/// Ranges tried in each file.
const RANGES: usize = 1000;

/// A small generator, so that failures repeat.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % u64::try_from(bound.max(1)).unwrap()).unwrap()
    }
}

fn in_order(file: &[u8]) -> Vec<u8> {
    let mut data = Vec::new();
    Decoder::new(file).read_to_end(&mut data).unwrap();
    data
}

/// Every chunk, and many ranges, against the content as it is read in order.
fn compare(name: &str, file: &[u8], ranges: usize) {
    let data = in_order(file);
    let reader = IndexedReader::open(file).unwrap_or_else(|error| panic!("{name}: {error}"));
    assert_eq!(reader.content_len(), data.len() as u64, "{name}");

    let chunks: Vec<u8> = (0..reader.chunks())
        .flat_map(|chunk| reader.read_chunk(chunk).unwrap())
        .collect();
    assert!(chunks == data, "{name}: chunk by chunk");
    assert_eq!(
        reader.read_chunk(reader.chunks()).unwrap_err().category(),
        Category::Usage
    );

    let mut random = Random(7);
    let mut buf = vec![0; data.len()];
    for _ in 0..ranges {
        let from = random.below(data.len() + 1);
        let longest = if random.below(4) == 0 {
            data.len()
        } else {
            300
        };
        let len = random.below(longest.min(data.len() - from) + 1);
        let part = &mut buf[..len];
        reader
            .read_exact_at(from as u64, part)
            .unwrap_or_else(|error| panic!("{name}: {error}"));
        assert!(
            part == &data[from..from + len],
            "{name}: {len} bytes at {from}"
        );
    }
    assert_eq!(
        reader.read_at(data.len() as u64, &mut [0; 9]).unwrap(),
        0,
        "{name}: behind the end"
    );
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(folder) else {
        return Vec::new();
    };
    let mut files: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "blp"));
    files.sort();
    files
}

#[test]
fn files_of_real_tools_give_every_chunk_and_range() {
    let corpus = testkit::corpus::part("bloscpack");
    let (chosen, all) = (
        files(&testkit::testdata("bloscpack")),
        corpus.map(|folder| files(&folder)).unwrap_or_default(),
    );
    assert!(chosen.len() > 200);
    assert!(all.is_empty() || all.len() == 640);
    for path in chosen.iter().chain(&all) {
        compare(
            &path.display().to_string(),
            &std::fs::read(path).unwrap(),
            RANGES,
        );
    }
    println!(
        "{} chosen files, {} of the corpus, {RANGES} ranges each",
        chosen.len(),
        all.len()
    );
}

fn encode(options: bloscpack::EncoderBuilder, data: &[u8]) -> Vec<u8> {
    let mut encoder = options.write_to_file(Cursor::new(Vec::new())).unwrap();
    encoder.write_all(data).unwrap();
    encoder.finish().unwrap().into_inner()
}

fn ramp(len: u32) -> Vec<u8> {
    (0..len).flat_map(u32::to_le_bytes).collect()
}

#[test]
fn every_way_to_lie_is_read() {
    let data = ramp(5000);
    let small = || Encoder::builder().typesize(4).chunk_size(1000);
    let file = encode(small(), &data);
    let mut stream = small().write_to(Vec::new()).unwrap();
    stream.write_all(&data).unwrap();
    let stream = stream.finish().unwrap();
    let mut stale = file.clone();
    stale.extend_from_slice(&[9; 40]);
    let mut unindexed = file.clone();
    unindexed[32..32 + 8 * 20].fill(0xff);
    let cases = [
        ("without offsets", encode(small().offsets(false), &data)),
        ("V1", encode(small().version(FormatVersion::V1), &data)),
        ("V2", encode(small().version(FormatVersion::V2), &data)),
        (
            "V1, a long copy up to the last byte",
            encode(
                Encoder::builder().level(0).version(FormatVersion::V1),
                &ramp(20_000),
            ),
        ),
        ("no data", encode(small(), b"")),
        ("one chunk", encode(small(), b"abc")),
        ("stream", stream.clone()),
        (
            "members",
            [file.as_slice(), &stream, &encode(small(), b""), &file].concat(),
        ),
        ("stale bytes", stale),
        ("offsets of -1", unindexed),
        ("file", file),
    ];
    for (name, file) in cases {
        compare(name, &file, RANGES);
    }
}

/// Counts the bytes that are read.
struct Counting<'a> {
    bytes: &'a [u8],
    read: AtomicU64,
}

impl ReadAt for Counting<'_> {
    fn read_at(&self, at: u64, buf: &mut [u8]) -> std::io::Result<usize> {
        let len = self.bytes.read_at(at, buf)?;
        self.read.fetch_add(len as u64, Ordering::Relaxed);
        Ok(len)
    }

    fn size(&self) -> std::io::Result<u64> {
        self.bytes.size()
    }
}

#[test]
fn a_small_range_costs_its_chunk_and_the_table_and_no_more() {
    for chunks in [8u32, 800, 8000] {
        let file = encode(
            Encoder::builder().typesize(4).chunk_size(4000),
            &ramp(chunks * 1000),
        );
        let source = Counting {
            bytes: &file,
            read: AtomicU64::new(0),
        };
        let reader = IndexedReader::open(&source).unwrap();
        let opened = source.read.swap(0, Ordering::Relaxed);
        reader
            .read_exact_at(u64::from(chunks) * 2000, &mut [0; 100])
            .unwrap();
        let read = source.read.load(Ordering::Relaxed);
        println!(
            "{chunks} chunks, {} bytes: {opened} bytes to open, {read} for the range",
            file.len()
        );
        assert!(
            opened <= (17 << 10) + 8 * u64::from(chunks),
            "a buffer for the header, the table, two chunk headers"
        );
        assert!(read <= 4000 + 16 + 4, "the chunk");
    }
}

#[test]
fn a_damaged_entry_is_noticed() {
    let data = ramp(5000);
    let file = encode(Encoder::builder().typesize(4).chunk_size(1000), &data);
    let clean = IndexedReader::open(file.as_slice()).unwrap();
    for chunk in 1..19usize {
        for bit in 0..64 {
            let mut flipped = file.clone();
            flipped[32 + 8 * chunk + bit / 8] ^= 1 << (bit % 8);
            let read = |chunk: u64| IndexedReader::open(flipped.as_slice())?.read_chunk(chunk);
            let error = read(chunk as u64).unwrap_err();
            assert!(
                matches!(error.category(), Category::Damaged | Category::Unsupported),
                "chunk {chunk}, bit {bit}: {error}"
            );
            // If the table still ascends, the file is opened, and other chunks are read.
            let far = (chunk as u64 + 10) % 20;
            match read(far) {
                Ok(found) => assert_eq!(found, clean.read_chunk(far).unwrap()),
                Err(error) => assert_eq!(error.position().unwrap().section, Section::Offsets),
            }
        }
    }
    // Two chunks of one length may not change places unnoticed by their offsets alone.
    let at = |file: &[u8], chunk: usize| {
        let entry = file[32 + 8 * chunk..40 + 8 * chunk].try_into().unwrap();
        usize::try_from(u64::from_le_bytes(entry)).unwrap()
    };
    let mut hole = file.clone();
    hole[at(&file, 5) + 20] ^= 1;
    let reader = IndexedReader::open(hole.as_slice()).unwrap();
    let error = reader.read_chunk(5).unwrap_err();
    assert_eq!(
        (error.category(), error.position().unwrap().chunk),
        (Category::Damaged, Some(5))
    );
    assert_eq!(reader.read_chunk(6).unwrap(), clean.read_chunk(6).unwrap());

    // Without checks a wrong digest is not an error, but data that cannot be decoded still is.
    let lenient =
        IndexedReader::with_options(hole.as_slice(), Options::new().check_digests(false)).unwrap();
    let _ = lenient.read_chunk(5);
}

#[test]
fn every_cut_is_an_error_on_opening() {
    let file = encode(Encoder::builder().typesize(4).chunk_size(1000), &ramp(600));
    for len in 0..file.len() {
        let error = IndexedReader::open(&file[..len]).unwrap_err();
        assert_eq!(error.category(), Category::CutShort, "{len} bytes: {error}");
    }
}

#[test]
fn files_and_seekers_and_threads_read_the_same() {
    let data = ramp(200_000);
    let file = encode(Encoder::builder().typesize(4).chunk_size(40_000), &data);
    let mut on_disk = tempfile::tempfile().unwrap();
    on_disk.write_all(&file).unwrap();

    let seeker = IndexedReader::open(Seekable::new(Cursor::new(&file))).unwrap();
    let mut cursor = seeker.cursor();
    assert_eq!(cursor.seek(SeekFrom::End(-8)).unwrap(), 799_992);
    let mut end = Vec::new();
    cursor.read_to_end(&mut end).unwrap();
    assert_eq!(end, data[799_992..]);
    assert!(cursor.seek(SeekFrom::Current(-900_000)).is_err());

    let shared = IndexedReader::with_options(on_disk, Options::new().cache(100_000)).unwrap();
    std::thread::scope(|scope| {
        for seed in 1..=4 {
            let (shared, data) = (&shared, &data);
            scope.spawn(move || {
                let mut random = Random(seed);
                for _ in 0..2000 {
                    let from = random.below(data.len() - 100);
                    let mut part = [0; 100];
                    shared.read_exact_at(from as u64, &mut part).unwrap();
                    assert_eq!(part, data[from..from + 100]);
                }
            });
        }
    });
}

/// The header of V3 has no digest over it, and random access does not pass every chunk.
#[test]
fn no_flip_moves_the_content_unnoticed() {
    for (chunk_size, len) in [(64, 162), (64, 16), (96, 125), (64, 5)] {
        let data = ramp(len);
        let options = Encoder::builder().typesize(4).chunk_size(chunk_size);
        let file = encode(options.max_app_chunks(3), &data);
        for bit in 0..file.len() * 8 {
            let mut flipped = file.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            let Ok(reader) = IndexedReader::open(flipped) else {
                continue;
            };
            assert_eq!(reader.content_len(), data.len() as u64, "bit {bit}");
            for at in (0..data.len()).step_by(5) {
                let mut part = [0; 9];
                if let Ok(read) = reader.read_at(at as u64, &mut part) {
                    assert!(
                        data[at..].starts_with(&part[..read]),
                        "bit {bit}, byte {at}"
                    );
                    assert_eq!(
                        read,
                        part.len().min(data.len() - at),
                        "bit {bit}, byte {at}"
                    );
                }
            }
        }
    }
}

#[test]
fn many_members_cost_no_more_than_their_number() {
    const MEMBERS: usize = 100_000;
    let options = || Encoder::builder().version(FormatVersion::V1);
    let member = encode(options(), b"a");
    let none = [b"blpk\x01\0\0\0".as_slice(), &[0; 8]].concat();
    let open = |members: usize| {
        let file = [none.repeat(3), member.repeat(members), none.clone()].concat();
        let reader = IndexedReader::open(file).unwrap();
        assert_eq!(
            (reader.members(), reader.chunks(), reader.content_len()),
            (members + 4, members as u64, members as u64)
        );
        reader
    };
    let copy = |reader: &IndexedReader<Vec<u8>>| {
        let mut data = Vec::new();
        reader.copy_range(0..u64::MAX, &mut data).unwrap();
        assert!(data.iter().all(|byte| *byte == b'a'));
        assert_eq!(data.len() as u64, reader.content_len());
    };
    let (few, many) = (open(MEMBERS / 8), open(MEMBERS));
    // Looking each member up from the first took minutes.
    assert!(grows_evenly(|factor| copy(if factor == 1 {
        &few
    } else {
        &many
    })));
    assert_eq!(many.chunk_range(7).unwrap(), Some(7..8));
    assert_eq!(many.chunk_range(MEMBERS as u64).unwrap(), None);
}

/// Also if it is copied in several pieces, and through any kind of pointer to the source.
#[test]
fn a_giant_is_read_and_checked_once() {
    let len = 130u32 << 20;
    let mut encoder = Encoder::builder()
        .chunk_size(len)
        .size(len.into())
        .write_to_file(Cursor::new(Vec::new()))
        .unwrap();
    encoder
        .read_from(std::io::repeat(7).take(len.into()))
        .unwrap();
    let file = encoder.finish().unwrap().into_inner();
    let source = Arc::new(Counting {
        bytes: &file,
        read: AtomicU64::new(0),
    });
    let boxed: Box<dyn ReadAt + '_> = Box::new(Arc::clone(&source));
    let reader = IndexedReader::open(boxed).unwrap();
    let before = source.read.load(Ordering::Relaxed);
    let mut data = Vec::new();
    let copied = reader.copy_range(1..u64::MAX, &mut data).unwrap();
    assert_eq!(copied, u64::from(len) - 1);
    assert!(data.len() as u64 == copied && data.iter().all(|byte| *byte == 7));
    let read = source.read.load(Ordering::Relaxed) - before;
    assert!(read < source.bytes.len() as u64 + 100, "{read}");
}

#[test]
fn a_cursor_gives_all_that_is_sound_before_the_damage() {
    let data = ramp(1000);
    let options = Encoder::builder().typesize(4).chunk_size(1000).level(0);
    let mut file = encode(options, &data);
    let end = file.len();
    file[end - 20] ^= 1;
    let reader = IndexedReader::open(file).unwrap();
    let (mut cursor, mut sound) = (reader.cursor(), Vec::new());
    cursor.seek(SeekFrom::Start(10)).unwrap();
    assert!(cursor.read_to_end(&mut sound).is_err());
    assert!(sound == data[10..3000]);
}

#[test]
fn damage_in_a_later_member_is_told_with_its_place() {
    let options = Encoder::builder().typesize(4).chunk_size(1000).level(0);
    let one = encode(options, &ramp(1000));
    let mut file = one.repeat(3);
    let at = 2 * one.len() - 1020 - 20;
    file[at] ^= 1;
    let reader = IndexedReader::open(file.as_slice()).unwrap();
    let error = reader.read_chunk(6).unwrap_err();
    let place = *error.position().unwrap();
    assert_eq!((place.member, place.chunk), (1, Some(2)));
    assert_eq!(place.byte, (2 * one.len() - 2 * 1020) as u64);
    assert_eq!(reader.chunk_range(6).unwrap(), Some(6000..7000));
    for chunk in [5, 7, 8] {
        assert_eq!(reader.read_chunk(chunk).unwrap().len(), 1000);
    }
}
