//! Tests that sources read at positions, by several threads, give the same as reading in order.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
#![allow(
    clippy::cast_possible_truncation,
    reason = "made-up data may be cut as it likes"
)]

use std::io::{self, Cursor, Read, Seek, SeekFrom, Write};
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use bloscpack::storage::ReadAt;
use bloscpack::{
    Category, Checksum, Code, Decoder, Encoder, EncoderBuilder, Filter, FormatVersion, Options,
};

use golden::{Random, corpus, goldens};
use testkit::golden;

/// The content up to an error, and the warnings, or the category and the text of the error.
pub type Outcome = (Vec<u8>, Result<Vec<String>, (Category, String)>);

fn outcome<R: Read>(mut decoder: Decoder<R>) -> Outcome {
    let mut content = Vec::new();
    let result = decoder.copy_to(&mut content);
    let warnings = decoder.warnings().iter().map(ToString::to_string).collect();
    let told = |error: bloscpack::Error| (error.category(), error.to_string());
    (content, result.map(|_| warnings).map_err(told))
}

pub fn in_order(builder: Options, file: &[u8]) -> Outcome {
    outcome(Decoder::with_options(file, builder))
}

/// Reads the file after some bytes that are not part of it.
pub fn at_positions(builder: Options, file: &[u8]) -> Outcome {
    let source = [b"not its own".as_slice(), file].concat();
    outcome(Decoder::from_source(Arc::new(source), 11, builder).unwrap())
}

/// Chunks that are worth a read of their own (of noise, 40 to 100 thousand bytes), and one that is not.
fn large(layout: FormatVersion, checksum: Checksum, offsets: bool) -> (Vec<u8>, Vec<u8>) {
    let mut random = Random::new(7);
    let data: Vec<u8> = (0..330_000).map(|_| random.next() as u8).collect();
    let mut builder = Encoder::builder()
        .version(layout)
        .chunk_size(100_000)
        .filter(Filter::None)
        .offsets(offsets);
    if layout != FormatVersion::V1 {
        builder = builder.checksum(checksum);
    }
    let mut encoder = builder.write_to_file(Cursor::new(Vec::new())).unwrap();
    encoder.write_all(&data).unwrap();
    (encoder.finish().unwrap().into_inner(), data)
}

fn all_large() -> Vec<(Vec<u8>, Vec<u8>)> {
    let mut files = vec![large(FormatVersion::V1, Checksum::None, true)];
    for layout in [FormatVersion::V2, FormatVersion::V3] {
        for checksum in [Checksum::None, Checksum::Crc32, Checksum::Sha512] {
            files.extend([true, false].map(|offsets| large(layout, checksum, offsets)));
        }
    }
    files
}

#[test]
fn whole_files_are_the_same() {
    let ours = all_large();
    let goldens = goldens();
    let corpus: Vec<_> = corpus(4 << 20).into_iter().map(|(_, file)| file).collect();
    assert!(goldens.len() > 10, "nothing to read");
    for threads in [1, 2, 5] {
        let builder = || Options::new().threads(threads);
        for (file, data) in &ours {
            let found = at_positions(builder(), file);
            assert_eq!(found, (data.clone(), Ok(vec![])));
            let twice = [file.as_slice(), file].concat();
            assert_eq!(at_positions(builder(), &twice), in_order(builder(), &twice));
        }
        for file in goldens.iter().map(|golden| &golden.file).chain(&corpus) {
            assert_eq!(at_positions(builder(), file), in_order(builder(), file));
        }
    }
}

#[test]
fn cut_and_damaged_files_are_told_in_the_same_words() {
    let mut random = Random::new(1);
    let mut errors = 0;
    for (file, _) in all_large() {
        let len = file.len() as u64;
        let ends = |at: u64| [at.saturating_sub(1), at, at + 1];
        let mut cuts: Vec<u64> = [0, 16, 32, 100_000, 262_144, len - 20, len]
            .map(ends)
            .concat();
        cuts.extend((0..20).map(|_| random.next() % len));
        for cut in cuts {
            let file = &file[..cut.min(len) as usize];
            for builder in [Options::new(), Options::new().allow_unterminated(true)] {
                let found = at_positions(builder.clone().threads(2), file);
                errors += u32::from(found.1.is_err());
                assert_eq!(found, in_order(builder, file), "cut at {cut}");
            }
        }
        for _ in 0..60 {
            let mut file = file.clone();
            // Half of the damage goes to the first bytes, which contain sizes.
            let within = [200, len][(random.next() % 2) as usize];
            let at = (random.next() % within) as usize;
            file[at] ^= 1 << (random.next() % 8);
            let found = at_positions(Options::new().threads(2), &file);
            errors += u32::from(found.1.is_err());
            assert_eq!(found, in_order(Options::new(), &file), "byte {at}");
        }
    }
    assert!(errors > 300, "only {errors} errors");
}

#[test]
fn ranges_are_the_same_and_what_is_not_wanted_is_not_read() {
    let (file, data) = large(FormatVersion::V3, Checksum::Crc32, true);
    for range in [
        0..10,
        99_999..100_001,
        150_000..310_000,
        329_000..400_000,
        5..5,
    ] {
        let source = Arc::new(Watched::new(file.clone()));
        let builder = Options::new().threads(2).range(range.clone());
        let found = outcome(Decoder::from_source(Arc::clone(&source), 0, builder).unwrap());
        let clamped = range.start as usize..range.end.min(330_000) as usize;
        assert_eq!(found, (data[clamped].to_vec(), Ok(vec![])));
    }
    let source = Arc::new(Watched::new(file));
    let builder = Options::new().range(329_990..330_000);
    let (content, _) = outcome(Decoder::from_source(Arc::clone(&source), 0, builder).unwrap());
    assert_eq!(content, data[329_990..]);
    // The first read takes whatever it gets; after that, only the last chunk is needed.
    let read = source.read.load(Ordering::Relaxed);
    assert!(read < 262_144 + 31_000 + 2048, "{read} bytes were read");
}

#[test]
fn a_source_that_holds_more_than_it_said_is_read_whole() {
    for (file, data) in all_large() {
        for said in [0, 20, 100_000, 262_200, 300_000] {
            let mut source = Watched::new(file.clone());
            source.says = Some(said);
            let builder = Options::new().threads(2);
            let (content, result) =
                outcome(Decoder::from_source(Arc::new(source), 0, builder).unwrap());
            assert_eq!((result, content.len()), (Ok(vec![]), data.len()), "{said}");
            assert!(content == data, "{said}");
        }
    }
}

#[test]
fn a_giant_that_cannot_be_read_does_not_take_along_what_stands_before_it() {
    // Small chunks, and one above the 64 MiB from which they come in pieces.
    let small = Encoder::builder().chunk_size(1000).filter(Filter::None);
    let mut file = small.write_to(Vec::new()).unwrap();
    file.write_all(&[7; 5000]).unwrap();
    let mut file = file.finish().unwrap();
    let begin = file.len() as u64;
    let giant = Encoder::builder().chunk_size(70 << 20).level(0);
    let mut second = giant.write_to(&mut file).unwrap();
    second.write_all(&vec![9; 70 << 20]).unwrap();
    second.finish().unwrap();
    let whole = outcome(Decoder::from_source(Arc::new(file.clone()), 0, Options::new()).unwrap());
    assert_eq!(whole.1, Ok(vec![]));
    assert_eq!(whole.0.len(), 5000 + (70 << 20));
    assert!(whole.0[5000..].iter().all(|&byte| byte == 9));
    let mut source = Watched::new(file);
    source.fails_at = begin + (40 << 20);
    let builder = Options::new().threads(2);
    let (content, result) = outcome(Decoder::from_source(Arc::new(source), 0, builder).unwrap());
    assert!(result.unwrap_err().1.contains("planted"));
    assert_eq!(content, [7; 5000]);
}

/// Counts reads, and fails or ends at the requested position.
struct Watched {
    bytes: Vec<u8>,
    calls: AtomicU64,
    read: AtomicU64,
    fails_at: u64,
    ends_at: u64,
    says: Option<u64>,
}

impl Watched {
    fn new(bytes: Vec<u8>) -> Self {
        Self {
            bytes,
            calls: AtomicU64::new(0),
            read: AtomicU64::new(0),
            fails_at: u64::MAX,
            ends_at: u64::MAX,
            says: None,
        }
    }
}

impl ReadAt for Watched {
    fn read_at(&self, at: u64, buf: &mut [u8]) -> io::Result<usize> {
        // As a disk: the bytes before the fault, and then the error.
        let good = self.fails_at.checked_sub(at).unwrap_or(u64::MAX);
        if good == 0 {
            return Err(io::Error::other("planted"));
        }
        // Never all at once.
        let halved = self.calls.fetch_add(1, Ordering::Relaxed) % 3 == 1;
        let len = if halved {
            buf.len().div_ceil(2)
        } else {
            buf.len()
        };
        let most = self.ends_at.saturating_sub(at).min(good);
        let most = most.min(len as u64) as usize;
        let len = self.bytes.read_at(at, &mut buf[..most])?;
        self.read.fetch_add(len as u64, Ordering::Relaxed);
        Ok(len)
    }

    fn size(&self) -> io::Result<u64> {
        self.says.map_or_else(|| self.bytes.size(), Ok)
    }
}

#[test]
fn a_chunk_that_cannot_be_read_is_an_error_that_stays() {
    let (file, data) = large(FormatVersion::V3, Checksum::Crc32, true);
    for threads in [1, 3] {
        let mut source = Watched::new(file.clone());
        // Within the third chunk, after the range of the first read.
        source.fails_at = 270_000;
        let builder = Options::new().threads(threads);
        let mut decoder = Decoder::from_source(Arc::new(source), 0, builder).unwrap();
        let mut content = Vec::new();
        let error = decoder.copy_to(&mut content).unwrap_err();
        assert_eq!(error.code(), Code::Io);
        assert_eq!(error.to_string(), "planted");
        assert!(
            decoder.copy_to(&mut content).is_err(),
            "as if nothing had happened"
        );
        assert_eq!(content, data[..200_000]);
    }
}

#[test]
fn a_file_that_shrinks_while_it_is_read_is_an_error() {
    let (file, data) = large(FormatVersion::V3, Checksum::None, true);
    let mut source = Watched::new(file);
    source.ends_at = 280_000;
    let builder = Options::new().threads(2);
    let (content, result) = outcome(Decoder::from_source(Arc::new(source), 0, builder).unwrap());
    assert!(result.is_err());
    assert_eq!(content, data[..200_000]);
}

/// The output of an encoder for some written bytes and then a source that is read at positions.
fn encoded(options: EncoderBuilder, before: &[u8], source: Vec<u8>, bytes: Range<u64>) -> Vec<u8> {
    let mut encoder = options.write_to_file(Cursor::new(Vec::new())).unwrap();
    encoder.write_all(before).unwrap();
    let count = bytes.end - bytes.start;
    assert_eq!(
        encoder
            .read_at(Arc::new(Watched::new(source)), bytes)
            .unwrap(),
        count
    );
    encoder.finish().unwrap().into_inner()
}

/// Lengths of the written bytes and of the source, around the borders of chunks and of a thread's share.
fn lengths(chunk: u64) -> Vec<(usize, u64)> {
    let most = 3 * chunk.max(131_072);
    let border = [0, 1, chunk - 1, chunk, chunk + 1, 131_072, most];
    let mut lengths = Vec::new();
    for before in [0, 1, chunk - 1, chunk, chunk + 5] {
        lengths.extend(border.map(|len| (before as usize, len)));
    }
    lengths
}

#[test]
fn encoders_make_the_same_file_of_it() {
    let numbers = 0..100_u32;
    let source = numbers.cycle().take(250_000);
    let source: Vec<u8> = source.flat_map(|n| (n * n).to_le_bytes()).collect();
    for chunk_size in [300, 100_000, 200_000] {
        for (before, len) in lengths(chunk_size.into()) {
            for (sized, threads) in [(false, 1), (true, 2), (false, 4)] {
                let mut options = Encoder::builder().chunk_size(chunk_size).threads(threads);
                if sized {
                    options = options.size(before as u64 + len);
                }
                let bytes = 7..7 + len;
                let target = Cursor::new(Vec::new());
                let mut expected = options.clone().write_to_file(target).unwrap();
                expected.write_all(&source[..before]).unwrap();
                expected.write_all(&source[7..7 + len as usize]).unwrap();
                let expected = expected.finish().unwrap().into_inner();
                let found = encoded(options, &source[..before], source.clone(), bytes);
                let what = format!("{chunk_size} {before} {len} {sized} {threads}");
                assert!(found == expected, "{what}");
                let plain = [&source[..before], &source[7..7 + len as usize]].concat();
                assert!(bloscpack::decompress(&found).unwrap() == plain, "{what}");
            }
        }
    }
}

#[test]
fn a_source_that_ends_or_fails_leaves_no_whole_file() {
    let never = u64::MAX;
    for (ends_at, fails_at) in [(412_345, never), (never, 412_345), (400_000, never)] {
        for (threads, chunk_size) in [(1, 200_000), (2, 200_000), (2, 1000)] {
            let mut source = Watched::new(vec![1; 1_000_000]);
            (source.ends_at, source.fails_at) = (ends_at, fails_at);
            let options = Encoder::builder().chunk_size(chunk_size).threads(threads);
            let mut target = Cursor::new(Vec::new());
            let options = options.size(1_000_000);
            let mut encoder = options.write_to_seek(&mut target).unwrap();
            let error = encoder.read_at(Arc::new(source), 0..1_000_000).unwrap_err();
            assert_eq!(error.category(), Category::Failed);
            let error = encoder.finish().unwrap_err();
            assert!(
                matches!(error.category(), Category::Failed | Category::Usage),
                "{error}"
            );
            target.seek(SeekFrom::Start(0)).unwrap();
            let (_, result) = outcome(Decoder::new(target));
            assert_eq!(result.unwrap_err().0, Category::CutShort);
        }
    }
}

/// The failing reader may be a worker or, before and after whole chunks, the calling thread.
#[test]
fn after_a_source_that_failed_nothing_is_finished() {
    for (before, fails_at) in [(0, 500_000), (0, 999_999), (1000, 0), (1000, 999_999)] {
        for threads in [1, 2] {
            let mut source = Watched::new(vec![1; 1_000_000]);
            source.fails_at = fails_at;
            let options = Encoder::builder().chunk_size(200_000).threads(threads);
            let mut encoder = options.write_to(Vec::new()).unwrap();
            encoder.write_all(&vec![0; before]).unwrap();
            encoder.read_at(Arc::new(source), 0..1_000_000).unwrap_err();
            let finished = encoder.finish().map(drop);
            finished.expect_err("what failed is no whole stream");
        }
    }
}

#[test]
fn more_than_was_promised_is_an_error_before_it_looks_whole() {
    for threads in [1, 2] {
        let options = Encoder::builder().chunk_size(10).size(20).threads(threads);
        let mut stream = Vec::new();
        let mut encoder = options.write_to(&mut stream).unwrap();
        let error = encoder.read_at(Arc::new(vec![1; 50]), 0..50).unwrap_err();
        assert_eq!(error.code(), Code::WrongSize);
        drop(encoder);
        let (_, result) = in_order(Options::new(), &stream);
        assert_eq!(result.unwrap_err().0, Category::CutShort);
    }
}

/// A source that fails once, at the read of this number.
struct FailsOnce {
    file: Arc<[u8]>,
    reads: AtomicU64,
    at: u64,
}

impl ReadAt for FailsOnce {
    fn read_at(&self, at: u64, buf: &mut [u8]) -> io::Result<usize> {
        if self.reads.fetch_add(1, Ordering::Relaxed) == self.at {
            Err(io::Error::other("once"))
        } else {
            self.file.read_at(at, buf)
        }
    }

    fn size(&self) -> io::Result<u64> {
        self.file.size()
    }
}

#[test]
fn a_read_that_fails_once_is_an_error_also_within_a_chunk_of_many_pieces() {
    // Above 64 MiB a chunk is decoded in pieces.
    let data = vec![7; (66 << 20) + 5];
    let builder = Encoder::builder().chunk_size(66 << 20);
    let mut encoder = builder.write_to_file(Cursor::new(Vec::new())).unwrap();
    encoder.write_all(&data).unwrap();
    let file: Arc<[u8]> = encoder.finish().unwrap().into_inner().into();
    let mut failed = 0;
    for at in 0.. {
        let source = Arc::new(FailsOnce {
            file: Arc::clone(&file),
            reads: AtomicU64::new(0),
            at,
        });
        let decoder = Decoder::from_source(Arc::clone(&source), 0, Options::new());
        let (content, result) = match decoder {
            Ok(decoder) => outcome(decoder),
            Err(_) => continue,
        };
        assert!(data.starts_with(&content), "read {at}");
        if source.reads.load(Ordering::Relaxed) <= at {
            assert!(result.is_ok() && content.len() == data.len());
            break;
        }
        assert!(
            result.is_err(),
            "read {at} has failed, and {} bytes are all",
            content.len()
        );
        failed += 1;
    }
    assert!(failed >= 3, "{failed} reads");
}
