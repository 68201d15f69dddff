//! Inputs that promise the world: each is refused for the right reason, or read, in little memory and time.
//!
//! The bound is 64 MiB, which is what a chunk may take in one piece before it is decoded, and twice the bytes that were read,
//! counted by an allocator that takes every byte asked for as used; and one second of the processor.

use crate::BASE;
use crate::by_fields::{Count, Fields, PLAIN, Section3, Stopwatch, blosc, zstd};
use crate::counting::peak_of;
use crate::frame_parts::Parts;
use crate::golden::{chunk, sensor};
use crate::records_by_hand::{self as by_hand, Hostile, packing};
use crate::samples::{self, Files, Reader, array_of, nd};
use bloscpack::blosc::{ChunkEncoder, ChunkSettings, Compressor, SpecialValue, special_chunk};
use bloscpack::dataset::DatasetLayout;
use bloscpack::frame::ArrayKind;
use bloscpack::wire::frame::ChunkPlace;
use bloscpack::{Category, Decoder, Error, IndexedRecordReader, Limits, RecordReader};
use std::time::Duration;

const MIB: usize = 1 << 20;

/// What is to be read, and how.
enum Input {
    File(Vec<u8>),
    /// A file, with limits that are not the usual ones.
    Strict(Vec<u8>, Limits),
    Records(Vec<u8>),
    StrictRecords(Vec<u8>, Limits),
    Frame(Vec<u8>),
    Dataset(DatasetLayout, Files),
}

struct Row {
    name: String,
    input: Input,
    /// The category of the error, or that it is read.
    expected: Option<Category>,
    /// Memory beyond the usual base, for what may have it.
    more: usize,
}

impl Input {
    fn container(&self) -> &'static str {
        match self {
            Self::File(_) | Self::Strict(..) => "file",
            Self::Records(_) | Self::StrictRecords(..) => "records",
            Self::Frame(_) => "frame",
            Self::Dataset(..) => "dataset",
        }
    }

    /// What comes of it, and how many bytes were read for that at most.
    fn read(&self) -> (Result<(), Error>, usize) {
        match self {
            Self::File(file) => decode(file, Limits::default()),
            Self::Strict(file, limits) => decode(file, *limits),
            Self::Records(file) => (records(file, Limits::default()), file.len()),
            Self::StrictRecords(file, limits) => (records(file, *limits), file.len()),
            Self::Frame(file) => {
                let files = vec![("frame".to_owned(), file.clone())];
                (
                    samples::read(Reader::Contiguous, &files).map(drop),
                    file.len(),
                )
            }
            Self::Dataset(layout, files) => {
                let len = files.iter().map(|(_, bytes)| bytes.len()).sum();
                (
                    samples::read(Reader::Dataset(*layout), files).map(drop),
                    len,
                )
            }
        }
    }
}

fn decode(file: &[u8], limits: Limits) -> (Result<(), Error>, usize) {
    let mut decoder = Decoder::builder().limits(limits).read_from(file);
    let result = decoder.copy_to(&mut Count(0)).map(drop);
    (result, decoder.total_in() as usize)
}

/// In order, and by number those at both ends; both have to say the same.
fn records(file: &[u8], limits: Limits) -> Result<(), Error> {
    let in_order = || {
        let mut reader = RecordReader::builder().limits(limits).read_from(file);
        while reader.next_record()?.is_some() {}
        Ok(())
    };
    let by_number = || {
        let reader = IndexedRecordReader::builder()
            .limits(limits)
            .cache(MIB)
            .open(file)?;
        let last = reader.len();
        for number in (0..last.min(1000)).chain(last.saturating_sub(1000)..last) {
            reader.get(number)?;
        }
        Ok(())
    };
    let (in_order, by_number): (Result<(), Error>, Result<(), Error>) = (in_order(), by_number());
    assert_eq!(
        in_order.is_ok(),
        by_number.is_ok(),
        "{in_order:?}, {by_number:?}"
    );
    in_order
}

fn file(name: &str, bytes: Vec<u8>, expected: Option<Category>) -> Row {
    row(name, Input::File(bytes), expected)
}

fn row(name: &str, input: Input, expected: Option<Category>) -> Row {
    Row {
        name: name.to_owned(),
        input,
        expected,
        more: 0,
    }
}

const CUT: Option<Category> = Some(Category::CutShort);
const DAMAGED: Option<Category> = Some(Category::Damaged);
const OVER: Option<Category> = Some(Category::OverLimit);
const UNSUPPORTED: Option<Category> = Some(Category::Unsupported);
const READ: Option<Category> = None;

/// Headers of Bloscpack files.
fn headers() -> Vec<Row> {
    let first = chunk(&[1; 100]);
    let with = |fields: Fields| fields.with(&first);
    let mut rows = Vec::new();
    for version in [2, 3] {
        let plain = Fields { version, ..PLAIN };
        let mut add = |name: &str, fields: Fields, expected| {
            rows.push(file(&format!("V{version}, {name}"), with(fields), expected));
        };
        let count = |nchunks| Fields { nchunks, ..plain };
        add("nchunks i64::MAX", count(i64::MAX), CUT);
        let stream = Fields {
            nchunks: -1,
            last_chunk: -1,
            ..plain
        };
        add("nchunks -1, no end", stream, CUT);
        add("nchunks -2", count(-2), DAMAGED);
        add("nchunks i64::MIN", count(i64::MIN), DAMAGED);
        let table = Fields {
            options: 1,
            ..plain
        };
        add(
            "nchunks i64::MAX, offsets",
            Fields {
                nchunks: i64::MAX,
                ..table
            },
            DAMAGED,
        );
        add(
            "nchunks 2^40, offsets",
            Fields {
                nchunks: 1 << 40,
                ..table
            },
            OVER,
        );
        add(
            "nchunks 2^25, offsets",
            Fields {
                nchunks: 1 << 25,
                ..table
            },
            DAMAGED,
        );
        for (name, size) in [("i32::MAX", i32::MAX), ("i32::MIN", i32::MIN), ("-2", -2)] {
            add(
                &format!("chunk-size {name}"),
                Fields {
                    chunk_size: size,
                    ..plain
                },
                DAMAGED,
            );
            add(
                &format!("last-chunk {name}"),
                Fields {
                    last_chunk: size,
                    ..plain
                },
                DAMAGED,
            );
        }
        add(
            "chunk-size -1",
            Fields {
                chunk_size: -1,
                ..plain
            },
            READ,
        );
        let zero = if version == 2 { READ } else { DAMAGED };
        add(
            "chunk-size 0",
            Fields {
                chunk_size: 0,
                ..plain
            },
            zero,
        );
        let longer = if version == 2 { READ } else { DAMAGED };
        add(
            "last-chunk > chunk-size",
            Fields {
                chunk_size: 99,
                ..plain
            },
            longer,
        );
    }
    let raw = |tail| Fields {
        version: 2,
        options: 2,
        tail,
        ..PLAIN
    };
    rows.push(file("V2, meta-size 2^31-1", with(raw(0x7fff_ffff)), OVER));
    rows.push(file(
        "V2, meta-size 2^32-1",
        with(raw(0xffff_ffff)),
        DAMAGED,
    ));
    let spare = |tail| Fields {
        options: 1,
        tail,
        ..PLAIN
    };
    rows.push(file("V3, max-app i64::MAX", with(spare(i64::MAX)), DAMAGED));
    rows.push(file("V3, max-app -1", with(spare(-1)), DAMAGED));
    let open = spare(i64::MAX / 16).with(&[0xff; 4000]);
    rows.push(file("V3, max-app 2^59, offsets of -1", open, CUT));
    let mut typesize = with(PLAIN);
    typesize[7] = 0;
    rows.push(file("V3, typesize 0", typesize, READ));
    let v1 = |count: i64| [b"blpk\x01\0\0\0".as_slice(), &count.to_le_bytes(), &first].concat();
    rows.push(file("V1, nchunks i64::MAX", v1(i64::MAX), CUT));
    rows.push(file("V1, nchunks -2", v1(-2), DAMAGED));
    rows.push(file("zeros (c-blosc 229)", vec![0; 1000], UNSUPPORTED));
    rows
}

/// Blosc chunks in a file that says nothing about them.
fn chunks() -> Vec<Row> {
    let any = Fields {
        chunk_size: -1,
        last_chunk: -1,
        ..PLAIN
    };
    let padded = |head: Vec<u8>| any.with(&[head, vec![0; 100]].concat());
    let mut rows = vec![
        file("chunk of zeros (c-blosc 229)", any.with(&[0; 116]), DAMAGED),
        file(
            "chunk, typesize 0",
            padded(blosc(1, 0, 100, 100, 60)),
            DAMAGED,
        ),
        file(
            "chunk, blocksize 0",
            padded(blosc(1, 8, 100, 0, 60)),
            DAMAGED,
        ),
        file(
            "chunk, nbytes 2^31-1, ctbytes 16",
            padded(blosc(1, 8, 0x7fff_ffff, 1 << 20, 16)),
            DAMAGED,
        ),
        file(
            "chunk, nbytes 2^31-17, ctbytes 16",
            padded(blosc(1, 8, 2_147_483_631, 1 << 20, 16)),
            DAMAGED,
        ),
        file(
            "chunk, nbytes 2^31-17, a copy",
            padded(blosc(2, 8, 2_147_483_631, 1 << 20, i32::MAX as u32)),
            CUT,
        ),
        file(
            "chunk, nbytes 2^31-17, one block",
            padded(blosc(1, 8, 2_147_483_631, 2_147_483_631, 60)),
            DAMAGED,
        ),
        file(
            "chunk, blocks of one byte",
            padded(blosc(1, 1, 1 << 20, 1, 60)),
            DAMAGED,
        ),
    ];
    let sound = chunk(&sensor(3000, 4));
    for (name, start) in [
        ("0", 0),
        ("15", 15),
        ("2^31-1", 0x7fff_ffff),
        ("2^32-1", u32::MAX),
    ] {
        let mut chunk = sound.clone();
        chunk[16..20].copy_from_slice(&start.to_le_bytes());
        rows.push(file(
            &format!("chunk, start of a block {name}"),
            any.with(&chunk),
            DAMAGED,
        ));
    }
    let len = 16 + 4 + 4 + 8_420_000_u32;
    let mut long = blosc(0x10, 1, 16 << 20, 16 << 20, len);
    long.extend(20_u32.to_le_bytes());
    long.extend(8_420_000_u32.to_le_bytes());
    long.extend([0, 0x41, 0xe0]);
    long.resize(len as usize, 0xff);
    rows.push(file(
        "blosclz, 8.42 M x 0xff (c-blosc2 801)",
        any.with(&long),
        DAMAGED,
    ));
    rows
}

/// Metadata of files.
fn metadata() -> Vec<Row> {
    let section = |name: &str, section: Section3, expected| {
        file(&format!("V3 metadata, {name}"), section.file(), expected)
    };
    let base = || Section3::plain(b"{}");
    let nested = |depth: usize| [vec![b'['; depth], vec![b']'; depth]].concat();
    let string = |len: usize| [b"\"".as_slice(), &vec![b'x'; len - 2], b"\""].concat();
    let of = |size: u32| Section3 {
        meta_size: size,
        max: size,
        stored_size: size,
        ..base()
    };
    let packed = |size: u32| Section3 {
        meta_size: size,
        ..Section3::packed(&[b' '; 2000])
    };
    let mut rows = vec![
        section("2^31-1 bytes", of(0x7fff_ffff), OVER),
        section("2^32-1 bytes", of(u32::MAX), OVER),
        section("2^32-1 bytes unpacked", packed(u32::MAX), OVER),
        section("64 MiB unpacked of 30 bytes", packed(64 << 20), DAMAGED),
        section(
            "room of 2^32-1 bytes",
            Section3 {
                max: u32::MAX,
                ..base()
            },
            CUT,
        ),
        section("120 deep", Section3::plain(&nested(120)), READ),
        section("129 deep", Section3::plain(&nested(129)), DAMAGED),
        section(
            "5 million deep",
            Section3::plain(&nested(5_000_000)),
            DAMAGED,
        ),
        section(
            "a string of 64 MiB",
            Section3::plain(&string(64 * MIB)),
            READ,
        ),
        section(
            "a string of 64 MiB and a byte",
            Section3::plain(&string(64 * MIB + 1)),
            OVER,
        ),
        section(
            "duplicate keys",
            Section3::plain(b"{\"a\": 1, \"a\": 2}"),
            READ,
        ),
        section(
            "NaN",
            Section3::plain(b"{\"a\": [NaN, Infinity, -Infinity]}"),
            READ,
        ),
        section("nan", Section3::plain(b"{\"a\": nan}"), DAMAGED),
        section(
            "100,000 NaNs, no end",
            Section3::plain(&b"[NaN,".repeat(100_000)),
            DAMAGED,
        ),
    ];
    // Unpacked it is what the limit allows, and held as its text and what is made of it.
    let mut bomb = section(
        "bomb: a string of 64 MiB, packed",
        Section3::packed(&string(64 * MIB)),
        READ,
    );
    bomb.more = 192 * MIB;
    rows.push(bomb);
    let over = Section3::packed(&string(64 * MIB + 1));
    rows.push(section("bomb: 64 MiB and a byte, packed", over, OVER));
    rows
}

/// Files of records.
fn records_rows() -> Vec<Row> {
    let sound = || Hostile::new("{}", vec![by_hand::chunk(b"one"), by_hand::chunk(b"two")]);
    let one = |name: &str, hostile: Hostile, expected| {
        row(name, Input::Records(hostile.file()), expected)
    };
    let count = |nchunks| Hostile {
        nchunks: Some(nchunks),
        ..sound()
    };
    let bare = |nchunks| Hostile {
        options: 4 | 8,
        ..count(nchunks)
    };
    let offsets = |offsets: [i64; 2]| Hostile {
        offsets: Some(offsets.to_vec()),
        ..sound()
    };
    let packed = |content: Vec<u8>| Hostile::packed(&[content]);
    let blosc = |nbytes, ctbytes| {
        let chunk = [blosc(0x80, 1, nbytes, 1 << 20, ctbytes), vec![0; 100]].concat();
        Hostile::new("{}", vec![chunk])
    };
    let sized = |size: &str| Hostile::new(&packing(size), vec![by_hand::chunk(&[0; 16])]);
    vec![
        one("nchunks i64::MAX, offsets", count(i64::MAX), DAMAGED),
        one("nchunks 2^40, offsets", count(1 << 40), OVER),
        one("nchunks i64::MAX", bare(i64::MAX), CUT),
        one("nchunks -2", bare(-2), DAMAGED),
        one("offsets i64::MAX", offsets([i64::MAX, i64::MAX]), DAMAGED),
        one("offsets into the header", offsets([0, 16]), DAMAGED),
        one(
            "packed, 2^32-1 records of no bytes",
            packed(by_hand::pack(0, u32::MAX, 0, &[])),
            DAMAGED,
        ),
        one(
            "packed, 2^32-1 records",
            packed(by_hand::pack(0, u32::MAX, 4, &[0; 64])),
            DAMAGED,
        ),
        one(
            "packed, the first is 2^64-1",
            packed(by_hand::pack(u64::MAX, 1, 1, &[0])),
            DAMAGED,
        ),
        one(
            "packed, a length of 2^64-1",
            packed(by_hand::pack(0, 1, 8, &[0xff; 8])),
            DAMAGED,
        ),
        one("packing of chunks of 0", sized("0"), UNSUPPORTED),
        one(
            "packing of chunks of 2^63",
            sized("9223372036854775808"),
            UNSUPPORTED,
        ),
        one(
            "chunk, nbytes 2^31-17, ctbytes 16",
            blosc(2_147_483_631, 16),
            DAMAGED,
        ),
        one(
            "chunk, nbytes 2^31-17, ctbytes 116",
            blosc(2_147_483_631, 116),
            DAMAGED,
        ),
    ]
}

/// Frames and arrays in them.
fn frames() -> Vec<Row> {
    let sound = nd(ArrayKind::B2nd, None).remove(0).1;
    let mut rows = Vec::new();
    let mut patch = |name: &str, at: usize, bytes: &[u8], expected| {
        let mut frame = sound.clone();
        frame[at..at + bytes.len()].copy_from_slice(bytes);
        rows.push(row(name, Input::Frame(frame), expected));
    };
    for (field, at) in [
        ("header_len", 11),
        ("typesize", 48),
        ("blocksize", 53),
        ("chunk_size", 58),
    ] {
        for (name, value) in [
            ("0", 0),
            ("-1", -1),
            ("i32::MAX", i32::MAX),
            ("i32::MIN", i32::MIN),
        ] {
            // Chunks that vary in length are known, and not read.
            let expected = match (field, value) {
                ("chunk_size", 0) => UNSUPPORTED,
                _ => DAMAGED,
            };
            patch(
                &format!("{field} {name}"),
                at,
                &value.to_be_bytes(),
                expected,
            );
        }
    }
    for (field, at) in [("frame_len", 16), ("content_len", 30), ("section_len", 39)] {
        for (name, value) in [
            ("0", 0),
            ("-1", -1),
            ("i64::MAX", i64::MAX),
            ("2^40", 1 << 40),
        ] {
            let expected = match (field, value) {
                ("frame_len", 0) => DAMAGED,
                ("frame_len", _) => CUT,
                _ => DAMAGED,
            };
            patch(
                &format!("{field} {name}"),
                at,
                &value.to_be_bytes(),
                expected,
            );
        }
    }
    let length = sound.len() - 22;
    for (name, value) in [
        ("0", 0),
        ("24", 24),
        ("2^31", 1 << 31),
        ("2^32-1", u32::MAX),
    ] {
        patch(
            &format!("trailer of {name} bytes"),
            length,
            &value.to_be_bytes(),
            if value < 100 { DAMAGED } else { OVER },
        );
    }
    // Where the parts of a description of two axes lie.
    let (shape, chunk, block) = ([5, 14], [24, 29], [35, 40]);
    let both = |ats: [usize; 2], bytes: &[u8]| {
        let parts = Parts::sound().with_meta(ats[0], bytes);
        parts.with_meta(ats[1], bytes).bytes()
    };
    let mut lie = |name: &str, frame: Vec<u8>| rows.push(row(name, Input::Frame(frame), DAMAGED));
    lie(
        "b2nd, shape 2^62 x 2^62",
        both(shape, &(1i64 << 62).to_be_bytes()),
    );
    lie(
        "b2nd, shape 2^32 x 2^32",
        both(shape, &(1i64 << 32).to_be_bytes()),
    );
    lie("b2nd, shape -1 x -1", both(shape, &(-1i64).to_be_bytes()));
    lie(
        "b2nd, chunks of (2^31-1)^2",
        both(chunk, &i32::MAX.to_be_bytes()),
    );
    lie(
        "b2nd, chunks of 2^16 x 2^16",
        both(chunk, &(1i32 << 16).to_be_bytes()),
    );
    lie("b2nd, chunks of 0 x 0", both(chunk, &0i32.to_be_bytes()));
    lie("b2nd, blocks of 0 x 0", both(block, &0i32.to_be_bytes()));
    lie(
        "b2nd, blocks of (2^31-1)^2",
        both(block, &i32::MAX.to_be_bytes()),
    );
    let places = |at| Parts::sound().with_places(&[ChunkPlace::At(at); 4]).bytes();
    lie("index, chunks at 2^40", places(1 << 40));
    lie("index, chunks at 2^63-1", places(i64::MAX as u64));
    let mut parts = Parts::sound();
    let zeros = special_chunk(SpecialValue::Zeros, 2_147_483_631, 1, 0).unwrap();
    parts
        .trailer
        .vlmetalayers
        .set("bomb", zeros.clone())
        .unwrap();
    rows.push(row(
        "vlmetalayer, 2 GiB of zeros in 32 bytes",
        Input::Frame(parts.bytes()),
        OVER,
    ));
    let mut parts = Parts::sound();
    parts.index = zeros;
    rows.push(row(
        "index, 2 GiB of zeros in 32 bytes",
        Input::Frame(parts.bytes()),
        DAMAGED,
    ));
    rows
}

/// A dataset of one array with a text in place of another in one of its files.
fn replaced(layout: DatasetLayout, path: &str, from: &str, to: &str) -> Files {
    let mut files = array_of(layout, None, samples::ROWS);
    let (_, bytes) = files.iter_mut().find(|file| file.0 == path).unwrap();
    let text = String::from_utf8(bytes.clone()).unwrap();
    assert!(text.contains(from), "{from} in {path}: {text}");
    *bytes = text.replacen(from, to, 1).into_bytes();
    files
}

/// The same with other bytes in a file.
fn patched(layout: DatasetLayout, path: &str, at: usize, new: &[u8]) -> Files {
    let mut files = array_of(layout, None, samples::ROWS);
    let (_, bytes) = files.iter_mut().find(|file| file.0 == path).unwrap();
    bytes[at..at + new.len()].copy_from_slice(new);
    files
}

fn datasets() -> Vec<Row> {
    use DatasetLayout::{Bcolz, BlzDocument, CarrayDocument};
    let mut rows = Vec::new();
    let mut add = |layout: DatasetLayout, name: &str, files, expected| {
        let name = format!("{layout}, {name}");
        rows.push(row(&name, Input::Dataset(layout, files), expected));
    };
    for layout in [Bcolz, BlzDocument] {
        for shape in [
            "9223372036854775807",
            "-1",
            "4294967296, 4294967296",
            "1e300",
            "1000000000000",
        ] {
            let files = replaced(layout, "meta/sizes", "[100]", &format!("[{shape}]"));
            add(layout, &format!("shape [{shape}]"), files, DAMAGED);
        }
        for chunklen in ["0", "-1", "9223372036854775807", "2147483648"] {
            let to = format!("\"chunklen\": {chunklen}");
            let files = replaced(layout, "meta/storage", "\"chunklen\": 40", &to);
            add(layout, &format!("chunklen {chunklen}"), files, DAMAGED);
        }
        let deep = format!("{}{}", "[".repeat(1_000_000), "]".repeat(1_000_000));
        let files = replaced(layout, "meta/sizes", "[100]", &deep);
        add(layout, "shape a million deep", files, OVER);
        let files = replaced(layout, "meta/sizes", "[100]", &"[".repeat(100_000));
        add(layout, "shape 100,000 deep", files, DAMAGED);
    }
    for shape in [
        "9223372036854775807,",
        "-1,",
        "4294967296, 4294967296",
        "1000000000000,",
    ] {
        let files = replaced(
            CarrayDocument,
            "meta/shape",
            "(100,)",
            &format!("({shape})"),
        );
        add(CarrayDocument, &format!("shape ({shape})"), files, DAMAGED);
    }
    for size in ["0", "-1", "9223372036854775807"] {
        let files = replaced(
            CarrayDocument,
            "meta/storage",
            "chunkshape: (40,)",
            &format!("chunkshape: ({size},)"),
        );
        add(
            CarrayDocument,
            &format!("chunkshape ({size},)"),
            files,
            DAMAGED,
        );
        let files = replaced(
            CarrayDocument,
            "meta/storage",
            "superchunksize: 16",
            &format!("superchunksize: {size}"),
        );
        add(
            CarrayDocument,
            &format!("superchunksize {size}"),
            files,
            // All chunks in one file are fewer than so many.
            if size.len() > 2 { READ } else { DAMAGED },
        );
    }
    let attribute = format!("{{\"a\": \"{}\"}}\n", "x".repeat(64 * MIB));
    let mut files = array_of(Bcolz, None, samples::ROWS);
    files
        .iter_mut()
        .find(|file| file.0 == "__attrs__")
        .unwrap()
        .1 = attribute.into_bytes();
    add(Bcolz, "an attribute of 64 MiB and more", files, OVER);
    let many = i64::MAX.to_le_bytes();
    add(
        Bcolz,
        "superchunk, nchunks i64::MAX",
        patched(Bcolz, "data/__0.blp", 8, &many),
        DAMAGED,
    );
    let nbytes = 2_147_483_631_u32.to_le_bytes();
    add(
        Bcolz,
        "superchunk, nbytes 2^31-17",
        patched(Bcolz, "data/__0.blp", 20, &nbytes),
        DAMAGED,
    );
    add(
        Bcolz,
        "superchunk, blocksize 0",
        patched(Bcolz, "data/__0.blp", 24, &[0; 4]),
        DAMAGED,
    );
    add(
        BlzDocument,
        "superchunk, nchunks i64::MAX",
        patched(BlzDocument, "data/__1__.bin", 16, &many),
        CUT,
    );
    add(
        CarrayDocument,
        "superchunk, nchunks i64::MAX",
        patched(CarrayDocument, "data/__1__.bin", 24, &many),
        DAMAGED,
    );
    let bomb = zstd(&vec![0; 512 * MIB]);
    let file = [b"blpk\x01\0\0\0\x01\0\0\0\0\0\0\0".as_slice(), &bomb].concat();
    let mut files = array_of(Bcolz, None, samples::ROWS);
    files
        .iter_mut()
        .find(|file| file.0 == "data/__0.blp")
        .unwrap()
        .1 = file;
    add(Bcolz, "bomb: 512 MiB of zeros for 40 rows", files, DAMAGED);
    rows
}

/// What unpacks to more than one would like.
fn bombs() -> Vec<Row> {
    let mut rows = Vec::new();
    for compressor in Compressor::ALL {
        let settings = ChunkSettings {
            compressor,
            ..ChunkSettings::default()
        };
        let mut zeros = Vec::new();
        let mut encoder = ChunkEncoder::new(settings).unwrap();
        encoder.encode(&vec![0; 32 * MIB], &mut zeros).unwrap();
        let bomb = Fields {
            chunk_size: 32 << 20,
            last_chunk: 32 << 20,
            nchunks: 4,
            ..PLAIN
        };
        let bytes = bomb.with(&zeros.repeat(4));
        let name = format!(
            "bomb: 128 MiB of zeros, {compressor}, {} bytes",
            bytes.len()
        );
        rows.push(file(&name, bytes, READ));
    }
    let tib = Fields {
        chunk_size: 1 << 20,
        last_chunk: 1 << 20,
        nchunks: 1 << 20,
        ..PLAIN
    };
    let zeros = zstd(&vec![0; MIB]);
    rows.push(file(
        "bomb: 1 TiB declared by 1 KiB",
        tib.with(&zeros.repeat(1000 / zeros.len())),
        CUT,
    ));
    let limits = Limits {
        chunk: 16 << 20,
        ..Limits::default()
    };
    let large = zstd(&vec![0; 512 * MIB]);
    let any = Fields {
        chunk_size: -1,
        last_chunk: -1,
        ..PLAIN
    };
    rows.push(row(
        "bomb: a chunk of 512 MiB, 16 MiB allowed",
        Input::Strict(any.with(&large), limits),
        OVER,
    ));
    rows.push(file("bomb: a chunk of 512 MiB", any.with(&large), READ));
    let one = Hostile::new("{}", vec![large]).file();
    rows.push(row(
        "bomb: a record of 512 MiB, 16 MiB allowed",
        Input::StrictRecords(one, limits),
        OVER,
    ));
    let mut parts = Parts::sound();
    parts.header.metalayers = bloscpack::frame::Metalayers::new();
    parts.header.chunk_size = Some(16 << 20);
    parts.header.content_len = 1 << 40;
    let zeros = ChunkPlace::Zeros.encode().unwrap().to_le_bytes();
    parts.index = special_chunk(SpecialValue::Value(&zeros), 8 << 16, 8, 1 << 16).unwrap();
    rows.push(row(
        "bomb: 1 TiB of zeros in 300 bytes",
        Input::Frame(parts.bytes()),
        READ,
    ));
    rows
}

#[test]
fn hostile_headers_cost_little_and_are_refused_for_the_right_reason() {
    println!("| container | header | bytes read | peak, KiB | bound, KiB | time, ms | verdict |");
    println!("|---|---|---|---|---|---|---|");
    let mut complaints = Vec::new();
    let rows = [
        headers(),
        chunks(),
        metadata(),
        records_rows(),
        frames(),
        datasets(),
        bombs(),
    ];
    for row in rows.into_iter().flatten() {
        let begun = Stopwatch::start();
        let ((result, read), peak) = peak_of(|| row.input.read());
        let time = begun.elapsed();
        let bound = BASE + 2 * read + row.more;
        let found = result.as_ref().err().map(Error::category);
        let verdict = found.map_or_else(|| "read".to_owned(), |category| format!("{category:?}"));
        let (container, name) = (row.input.container(), &row.name);
        println!(
            "| {container} | {name} | {read} | {} | {} | {:.1} | {verdict} |",
            peak >> 10,
            bound >> 10,
            time.as_secs_f64() * 1e3
        );
        if found != row.expected {
            complaints.push(format!(
                "{container}, {name}: {verdict}, expected {:?}: {result:?}",
                row.expected
            ));
        }
        if peak > bound || time > Duration::from_secs(1) {
            complaints.push(format!(
                "{container}, {name}: {peak} bytes of {bound}, {time:?}"
            ));
        }
    }
    assert!(complaints.is_empty(), "{complaints:#?}");
}
