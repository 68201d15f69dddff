//! Inputs that no honest writer made: each is refused for the right reason, at the right place, in
//! little memory and time.
//!
//! The bound on memory, unless a test says otherwise, is 64 MiB and twice the bytes read, counted
//! by an allocator that takes every byte asked for as used, also those that the system never
//! backs with memory. 64 MiB is what a chunk may take in one piece before it is decoded.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

use bloscpack::blosc::{ChunkEncoder, ChunkSettings, Compressor, Filter};
use bloscpack::wire::FormatError;
use bloscpack::{
    Category, Checksum, Decoder, Error, ErrorKind, Hashers, Layout, Limits, Section, Survey, verify,
};
use std::io::{Cursor, Read, Write};
use std::time::{Duration, Instant};

#[path = "support/counting.rs"]
mod counting;
#[path = "support/golden.rs"]
mod golden;
use golden::{ByHand, Field, Random, Recipe, chunk, parts, sensor};

const MIB: usize = 1 << 20;

/// Counts what is handed on and keeps none of it.
struct Count(u64);

impl Write for Count {
    fn write(&mut self, data: &[u8]) -> std::io::Result<usize> {
        self.0 += data.len() as u64;
        Ok(data.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Time that this thread has worked, whatever else the machine does.
struct Stopwatch(Instant, Option<u64>);

impl Stopwatch {
    fn start() -> Self {
        Self(Instant::now(), Self::worked())
    }

    /// Nanoseconds, where the system tells.
    fn worked() -> Option<u64> {
        let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
        text.split(' ').next()?.parse().ok()
    }

    fn elapsed(&self) -> Duration {
        match (self.1, Self::worked()) {
            (Some(from), Some(to)) => Duration::from_nanos(to.saturating_sub(from)),
            _ => self.0.elapsed(),
        }
    }
}

struct Seen {
    result: Result<u64, Error>,
    read: usize,
    peak: usize,
    time: Duration,
}

/// Decodes on this thread, which is the one that is counted.
fn decode(input: impl Read) -> Seen {
    let begun = Stopwatch::start();
    let ((result, read), peak) = counting::peak_of(|| {
        let mut decoder = Decoder::new(input);
        let mut count = Count(0);
        let result = decoder.copy_to(&mut count).map(|_| count.0);
        (result, decoder.total_in() as usize)
    });
    Seen {
        result,
        read,
        peak,
        time: begun.elapsed(),
    }
}

/// Runs all readers over the input, holds them to `bound`, and gives what the decoder said.
fn bounded(name: &str, input: &[u8], bound: usize) -> Result<u64, Error> {
    let seen = decode(input);
    assert!(
        seen.peak <= bound + 2 * seen.read,
        "{name}: {} bytes of memory for {} read",
        seen.peak,
        seen.read
    );
    assert!(
        seen.time < Duration::from_secs(1),
        "{name}: {:?}",
        seen.time
    );
    let begun = Stopwatch::start();
    let (report, peak) = counting::peak_of(|| verify(input, Limits::default(), 1).unwrap());
    assert!(
        peak <= bound + 2 * input.len(),
        "{name}: verify took {peak} bytes"
    );
    assert_eq!(report.is_sound(), seen.result.is_ok(), "{name}");
    let (_, peak) = counting::peak_of(|| {
        let _ = Survey::of(input, &Limits::default());
        let _ = Survey::of_file(Cursor::new(input), &Limits::default());
    });
    assert!(
        peak <= bound + 2 * input.len(),
        "{name}: Survey took {peak} bytes"
    );
    assert!(begun.elapsed() < Duration::from_secs(2), "{name}");
    seen.result
}

/// The input is refused with this category, in this section, and a format error whose debug form
/// begins like this.
#[track_caller]
fn refused(name: &str, input: &[u8], category: Category, section: Section, kind: &str) {
    let error = bounded(name, input, 64 * MIB).expect_err(name);
    let place = error.position().map(|position| position.section);
    assert_eq!(error.category(), category, "{name}: {error}");
    assert_eq!(place, Some(section), "{name}: {error}");
    let ErrorKind::Format(format) = error.kind() else {
        panic!("{name}: {error:?}");
    };
    let shown = format!("{format:?}");
    assert!(shown.starts_with(kind), "{name}: {shown}, expected {kind}");
}

/// The fields of a 32-byte header, as they lie there.
#[derive(Clone, Copy)]
struct Fields {
    version: u8,
    options: u8,
    checksum: u8,
    chunk_size: i32,
    last_chunk: i32,
    nchunks: i64,
    /// `max_app_chunks`, or the meta-size and the reserved word.
    tail: i64,
}

const PLAIN: Fields = Fields {
    version: 3,
    options: 0,
    checksum: 0,
    chunk_size: 100,
    last_chunk: 100,
    nchunks: 1,
    tail: 0,
};

impl Fields {
    fn header(&self) -> Vec<u8> {
        let mut file = b"blpk".to_vec();
        file.extend_from_slice(&[self.version, self.options, self.checksum, 2]);
        file.extend_from_slice(&self.chunk_size.to_le_bytes());
        file.extend_from_slice(&self.last_chunk.to_le_bytes());
        file.extend_from_slice(&self.nchunks.to_le_bytes());
        file.extend_from_slice(&self.tail.to_le_bytes());
        file
    }

    fn with(&self, rest: &[u8]) -> Vec<u8> {
        [&self.header(), rest].concat()
    }
}

#[test]
fn what_is_no_bloscpack_file_is_not_supported() {
    use Category::{CutShort, Unsupported};
    use Section::Header;
    let mut random = Random::new(1);
    let noise: Vec<u8> = (0..1000).map(|_| random.next().to_le_bytes()[3]).collect();
    let padded = |start: &[u8]| [start, &[0; 100]].concat();
    refused("nothing", b"", CutShort, Header, "Empty");
    refused(
        "gzip",
        &padded(b"\x1f\x8b\x08"),
        Unsupported,
        Header,
        "Magic",
    );
    refused(
        "zstd",
        &padded(b"\x28\xb5\x2f\xfd"),
        Unsupported,
        Header,
        "Magic",
    );
    refused("a texture", &padded(b"BLP1"), Unsupported, Header, "Magic");
    refused("a texture", &padded(b"BLP2"), Unsupported, Header, "Magic");
    refused(
        "capitals",
        &padded(b"BLPK\x03"),
        Unsupported,
        Header,
        "Magic",
    );
    refused("noise", &noise, Unsupported, Header, "Magic");
    refused("zeros", &[0; 1000], Unsupported, Header, "Magic");
    refused("one byte", b"x", Unsupported, Header, "Magic");
    let texture = decode(padded(b"BLP2").as_slice()).result.unwrap_err();
    assert!(
        texture.to_string().contains("Blizzard texture"),
        "{texture}"
    );

    let header = PLAIN.header();
    for len in 1..header.len() {
        refused(
            "a torn header",
            &header[..len],
            CutShort,
            Header,
            "TornHeader",
        );
    }
    for version in (4..=255).chain([0]) {
        let file = Fields { version, ..PLAIN }.with(&chunk(&[1; 100]));
        refused("a version", &file, Unsupported, Header, "Version");
    }
    for (version, first_bit) in [(2, 4), (3, 3)] {
        for bit in first_bit..8 {
            let fields = Fields {
                version,
                options: 1 << bit,
                ..PLAIN
            };
            refused(
                "an option",
                &fields.header(),
                Unsupported,
                Header,
                "Options",
            );
        }
        for checksum in 9..=255 {
            let fields = Fields {
                version,
                checksum,
                ..PLAIN
            };
            refused(
                "a checksum",
                &fields.header(),
                Unsupported,
                Header,
                "ChecksumId",
            );
        }
    }
}

#[test]
fn headers_that_cannot_be_are_damaged() {
    use Category::Damaged;
    let field = |name, fields: Fields, kind| {
        refused(
            name,
            &fields.with(&chunk(&[1; 100])),
            Damaged,
            Section::Header,
            kind,
        );
    };
    for nchunks in [-2, i64::MIN] {
        let kind = "Field { name: \"number of chunks\"";
        field("chunks", Fields { nchunks, ..PLAIN }, kind);
    }
    for size in [-2, i32::MIN, i32::MAX, 2_147_483_632] {
        for version in [2, 3] {
            let fields = Fields { version, ..PLAIN };
            let chunk_size = Fields {
                chunk_size: size,
                ..fields
            };
            field("chunk size", chunk_size, "Field { name: \"chunk size\"");
            let last_chunk = Fields {
                last_chunk: size,
                ..fields
            };
            field("last chunk", last_chunk, "Field { name: \"last chunk\"");
        }
    }
    let last_chunk = Fields {
        chunk_size: 99,
        ..PLAIN
    };
    field("last > size", last_chunk, "Field { name: \"last chunk\"");
    let none = Fields {
        nchunks: 0,
        ..PLAIN
    };
    field("last of none", none, "Field { name: \"last chunk\"");
    let records = Fields {
        options: 4,
        ..PLAIN
    };
    field(
        "records of one size",
        records,
        "Field { name: \"chunk size\"",
    );
    for tail in [-1, i64::MIN] {
        let fields = Fields { tail, ..PLAIN };
        field("spare", fields, "Field { name: \"max_app_chunks\"");
    }
    let spare = Fields {
        nchunks: -1,
        last_chunk: -1,
        tail: 1,
        ..PLAIN
    };
    field(
        "spare of a stream",
        spare,
        "Field { name: \"max_app_chunks\"",
    );
    let sum = Fields {
        tail: i64::MAX,
        ..PLAIN
    };
    field("spare overflows", sum, "Field { name: \"max_app_chunks\"");
    let v2 = Fields {
        version: 2,
        ..PLAIN
    };
    field(
        "meta-size without",
        Fields { tail: 5, ..v2 },
        "Field { name: \"meta-size\"",
    );
    let negative = Fields {
        options: 2,
        tail: 0xffff_ffff,
        ..v2
    };
    field("meta-size below 0", negative, "Field { name: \"meta-size\"");
    field(
        "reserved word",
        Fields {
            tail: 1 << 32,
            ..v2
        },
        "Field { name: \"reserved word\"",
    );
    let seal = Fields {
        options: 8,
        tail: 1 << 32,
        ..v2
    };
    let error = decode(seal.header().as_slice()).result.unwrap_err();
    assert!(matches!(
        error.kind(),
        ErrorKind::Format(FormatError::Seal { .. })
    ));

    let mut v1 = b"blpk\x01\0\0\0\x01\0\0\0\0\0\0\0".to_vec();
    for at in 5..8 {
        v1[at] = 1;
        refused(
            "reserved",
            &v1,
            Damaged,
            Section::Header,
            "Field { name: \"reserved bytes\"",
        );
        v1[at] = 0;
    }
    v1[8..].copy_from_slice(&(-2_i64).to_le_bytes());
    refused(
        "chunks of V1",
        &v1,
        Damaged,
        Section::Header,
        "Field { name: \"number of chunks\"",
    );
}

#[test]
fn headers_that_promise_the_world_cost_nothing() {
    use Category::{CutShort, Damaged, OverLimit};
    let large = |nchunks| Fields { nchunks, ..PLAIN };
    let first = chunk(&[1; 100]);
    for version in [2, 3] {
        let many = Fields {
            version,
            ..large(i64::MAX)
        };
        let file = many.with(&first);
        refused(
            "2^63 chunks",
            &file,
            CutShort,
            Section::Chunk,
            "MissingChunks",
        );
        let table = Fields { options: 1, ..many };
        let file = table.with(&first);
        let kind = "Field { name: \"number of chunks\"";
        let place = decode(file.as_slice()).result.unwrap_err();
        let section = place.position().unwrap().section;
        refused("their offsets", &file, Damaged, section, kind);
        let table = Fields {
            nchunks: 1 << 40,
            ..table
        };
        refused(
            "8 TiB of offsets",
            &table.with(&first),
            OverLimit,
            section,
            "Limit",
        );
        // 256 MiB are allowed, but not taken before they arrive.
        let table = Fields {
            nchunks: 32 << 20,
            ..table
        };
        let file = table.with(&[0xff; 8000]);
        refused(
            "256 MiB of offsets",
            &file,
            CutShort,
            Section::Offsets,
            "Cut",
        );
    }
    let v1 = [b"blpk\x01\0\0\0".as_slice(), &i64::MAX.to_le_bytes()].concat();
    refused(
        "V1 with 2^63 chunks",
        &v1,
        CutShort,
        Section::Chunk,
        "MissingChunks",
    );
    let spare = Fields {
        options: 1,
        tail: i64::MAX / 16,
        ..PLAIN
    };
    refused(
        "spare",
        &spare.with(&[0xff; 90]),
        CutShort,
        Section::Offsets,
        "Cut",
    );
    refused(
        "spare",
        &spare.with(&[0; 90]),
        Damaged,
        Section::Offsets,
        "Offset",
    );
    let mut table = (32 + 8 * (i64::MAX / 16 + 1)).to_le_bytes().to_vec();
    table.extend([0xff; 800]);
    refused(
        "spare",
        &spare.with(&table),
        CutShort,
        Section::Offsets,
        "Cut",
    );
    let spare = Fields {
        options: 1,
        tail: i64::MAX - 1,
        ..PLAIN
    };
    let kind = "Field { name: \"number of chunks\"";
    refused(
        "too much spare",
        &spare.header(),
        Damaged,
        Section::Header,
        kind,
    );
    // 1 TiB of zeros, of which a KiB is there.
    let bomb = Fields {
        chunk_size: 1 << 20,
        last_chunk: 1 << 20,
        nchunks: 1 << 20,
        ..PLAIN
    };
    let zeros = zstd(&vec![0; MIB]);
    let file = bomb.with(&zeros.repeat(1000 / zeros.len()));
    refused("a TiB", &file, CutShort, Section::Chunk, "MissingChunks");
}

fn zstd(data: &[u8]) -> Vec<u8> {
    let settings = ChunkSettings {
        compressor: Compressor::Zstd,
        filter: Filter::None,
        typesize: 1,
        ..ChunkSettings::default()
    };
    let mut chunk = Vec::new();
    ChunkEncoder::new(settings)
        .unwrap()
        .encode(data, &mut chunk)
        .unwrap();
    chunk
}

/// A Blosc header with these sizes; the flags hold filter and compressor.
fn blosc(flags: u8, typesize: u8, nbytes: u32, blocksize: u32, ctbytes: u32) -> Vec<u8> {
    let mut header = vec![2, 1, flags, typesize];
    for size in [nbytes, blocksize, ctbytes] {
        header.extend_from_slice(&size.to_le_bytes());
    }
    header
}

#[test]
fn chunks_that_cannot_be_are_refused_before_they_cost_anything() {
    use Category::{CutShort, Damaged, Unsupported};
    let any = Fields {
        chunk_size: -1,
        last_chunk: -1,
        ..PLAIN
    };
    let damaged = |name, start: Vec<u8>| {
        let file = any.with(&[start, vec![0; 100]].concat());
        refused(name, &file, Damaged, Section::Chunk, "Chunk(");
    };
    for flags in [0x00, 0x20, 0x40, 0x60, 0x80] {
        for flags in [flags, flags | 1, flags | 4, flags | 16] {
            for nbytes in [2_147_483_631, 1 << 30, 65 << 20] {
                damaged("2 GiB in 16 bytes", blosc(flags, 8, nbytes, 1 << 20, 16));
                damaged("2 GiB in 20 bytes", blosc(flags, 8, nbytes, 1 << 20, 20));
                damaged("2 GiB in one block", blosc(flags, 8, nbytes, nbytes, 20));
            }
            damaged("nbytes", blosc(flags, 8, i32::MAX as u32, 1 << 20, 16));
            damaged("nbytes", blosc(flags, 8, u32::MAX, 1 << 20, 16));
            damaged("no block", blosc(flags, 8, 100, 0, 60));
            damaged("block > data", blosc(flags, 8, 100, 101, 60));
            damaged("no typesize", blosc(flags, 0, 100, 100, 60));
            for ctbytes in [0, 1, 15] {
                damaged("no length", blosc(flags, 8, 100, 100, ctbytes));
            }
            damaged("length", blosc(flags, 8, 100, 100, u32::MAX));
            damaged("more blocks than bytes", blosc(flags, 1, 1000, 1, 600));
        }
    }
    damaged("zeros", vec![0; 16]);
    damaged(
        "version 0",
        blosc(2, 1, 5, 5, 21)
            .iter()
            .enumerate()
            .map(|(i, b)| if i == 0 { 0 } else { *b })
            .collect(),
    );
    damaged("copy of other length", blosc(2, 8, 100, 100, 115));
    let copy = any.with(&blosc(2, 8, 2_147_483_631, 1 << 20, i32::MAX as u32));
    refused("a copy of 2 GiB", &copy, CutShort, Section::Chunk, "Cut");
    let half = any.with(
        &[
            blosc(2, 8, 2_147_483_631, 1 << 20, i32::MAX as u32),
            vec![7; 3 * MIB],
        ]
        .concat(),
    );
    refused("a copy of 2 GiB", &half, CutShort, Section::Chunk, "Cut");
    let mut blosc2 = blosc(2, 8, 100, 100, 116);
    blosc2[0] = 5;
    refused(
        "Blosc 2",
        &any.with(&blosc2),
        Unsupported,
        Section::Chunk,
        "Chunk(Blosc2",
    );
    let reserved = blosc(8, 8, 100, 100, 116);
    refused(
        "reserved flag",
        &any.with(&reserved),
        Unsupported,
        Section::Chunk,
        "Chunk(Reserved",
    );
    let zeros = Fields {
        nchunks: i64::MAX,
        ..any
    }
    .with(&[0; 5000]);
    refused(
        "chunks of zeros",
        &zeros,
        Damaged,
        Section::Chunk,
        "Chunk(NotBlosc",
    );
}

#[test]
fn chunks_that_are_broken_inside_are_damaged() {
    let any = Fields {
        chunk_size: -1,
        last_chunk: -1,
        ..PLAIN
    };
    let sound = chunk(&sensor(3000, 4));
    for start in [
        0_u32,
        15,
        19,
        0x7fff_ffff,
        0x8000_0000,
        u32::MAX,
        sound.len() as u32,
    ] {
        let mut chunk = sound.clone();
        chunk[16..20].copy_from_slice(&start.to_le_bytes());
        // A digest that is right does not make it any better.
        let digest = Hashers::default().digest(Checksum::Crc32, &chunk);
        chunk.extend_from_slice(digest.as_bytes());
        let file = Fields { checksum: 2, ..any }.with(&chunk);
        refused(
            "block start",
            &file,
            Category::Damaged,
            Section::Chunk,
            "Chunk(",
        );
    }
    for len in [0x7fff_ffff_u32, 0x8000_0000, u32::MAX, sound.len() as u32] {
        let mut chunk = sound.clone();
        chunk[20..24].copy_from_slice(&len.to_le_bytes());
        refused(
            "stream",
            &any.with(&chunk),
            Category::Damaged,
            Section::Chunk,
            "Chunk(Stream",
        );
    }
    // c-blosc2 issue 801: a match length that wraps after 8.42 MB of 0xff.
    let len = 16 + 4 + 4 + 8_500_000;
    let mut long = blosc(0x10, 1, 16 * MIB as u32, 16 * MIB as u32, len);
    long.extend_from_slice(&20_u32.to_le_bytes());
    long.extend_from_slice(&8_500_000_u32.to_le_bytes());
    long.extend_from_slice(&[0, 0x41, 0xe0]);
    long.resize(len as usize, 0xff);
    refused(
        "0xff",
        &any.with(&long),
        Category::Damaged,
        Section::Chunk,
        "Chunk(Stream",
    );
}

#[test]
fn chunks_over_a_limit_name_it() {
    let file = Recipe::new(Checksum::Crc32).make();
    for (limits, what) in [
        (
            Limits {
                chunk: 255,
                ..Limits::default()
            },
            "a chunk",
        ),
        (
            Limits {
                offsets: 23,
                ..Limits::default()
            },
            "table of offsets",
        ),
    ] {
        let decoder = Decoder::builder().limits(limits);
        let error = decoder
            .read_from(file.as_slice())
            .copy_to(&mut Count(0))
            .unwrap_err();
        assert_eq!(error.category(), Category::OverLimit, "{error}");
        assert!(error.to_string().contains(what), "{error}");
        assert!(error.hint().is_some());
    }
    let limits = Limits {
        block: 100,
        ..Limits::default()
    };
    let decoder = Decoder::builder().limits(limits);
    let error = decoder
        .read_from(file.as_slice())
        .copy_to(&mut Count(0))
        .unwrap_err();
    assert_eq!(error.category(), Category::OverLimit, "{error}");
}

#[test]
fn zeros_beyond_measure_stream_in_the_memory_of_one_chunk() {
    let zeros = zstd(&vec![0; 64 * MIB]);
    let bomb = Fields {
        chunk_size: 64 << 20,
        last_chunk: 64 << 20,
        nchunks: 3,
        ..PLAIN
    };
    let file = bomb.with(&zeros.repeat(3));
    assert!(file.len() < 100_000, "{}", file.len());
    // A block of scratch and the decompressor's state come on top.
    let len = bounded("192 MiB of zeros", &file, 72 * MIB).unwrap();
    assert_eq!(len, 192 << 20);
}

/// A V3 metadata section.
struct Section3 {
    codec: u8,
    level: u8,
    checksum: u8,
    meta_size: u32,
    max: u32,
    stored_size: u32,
    stored: Vec<u8>,
}

impl Section3 {
    fn plain(text: &[u8]) -> Self {
        let len = text.len() as u32;
        Self {
            codec: 0,
            level: 0,
            checksum: 0,
            meta_size: len,
            max: len,
            stored_size: len,
            stored: text.to_vec(),
        }
    }

    fn packed(text: &[u8]) -> Self {
        let mut packer = libdeflater::Compressor::new(libdeflater::CompressionLvl::default());
        let mut stored = vec![0; packer.zlib_compress_bound(text.len())];
        let len = packer.zlib_compress(text, &mut stored).unwrap();
        stored.truncate(len);
        let len = len as u32;
        Self {
            codec: 1,
            level: 6,
            checksum: 0,
            meta_size: text.len() as u32,
            max: len,
            stored_size: len,
            stored,
        }
    }

    fn file(&self) -> Vec<u8> {
        let mut file = Fields {
            options: 2,
            ..PLAIN
        }
        .header();
        file.extend_from_slice(b"JSON\0\0\0\0");
        file.extend_from_slice(&[0, self.checksum, self.codec, self.level]);
        for size in [self.meta_size, self.max, self.stored_size] {
            file.extend_from_slice(&size.to_le_bytes());
        }
        file.extend_from_slice(&[0; 8]);
        file.extend_from_slice(&self.stored);
        file.extend_from_slice(&chunk(&[1; 100]));
        file
    }
}

#[test]
fn metadata_that_cannot_be_is_refused() {
    use Category::{CutShort, Damaged, OverLimit, Unsupported};
    use Section::Metadata;
    let base = || Section3::plain(b"{}");
    assert_eq!(bounded("metadata", &base().file(), 64 * MIB).unwrap(), 100);
    for size in [u32::MAX, i32::MAX as u32, (64 << 20) + 1] {
        let all = Section3 {
            meta_size: size,
            max: size,
            stored_size: size,
            ..base()
        };
        refused("4 GiB", &all.file(), OverLimit, Metadata, "Limit");
        let packed = Section3 {
            meta_size: size,
            codec: 1,
            ..base()
        };
        refused(
            "4 GiB unpacked",
            &packed.file(),
            OverLimit,
            Metadata,
            "Limit",
        );
        let room = Section3 {
            max: size,
            ..base()
        };
        refused("4 GiB of room", &room.file(), CutShort, Metadata, "Cut");
        let stored = Section3 {
            stored_size: size,
            ..base()
        };
        refused("stored > room", &stored.file(), Damaged, Metadata, "Field");
        let raw = Fields {
            version: 2,
            options: 2,
            tail: i64::from(size),
            ..PLAIN
        };
        if i32::try_from(size).is_ok() {
            refused("2 GiB raw", &raw.with(b"{}"), OverLimit, Metadata, "Limit");
        }
    }
    let all = Section3 {
        meta_size: 64 << 20,
        max: 64 << 20,
        stored_size: 64 << 20,
        ..base()
    };
    refused("64 MiB", &all.file(), CutShort, Metadata, "Cut");
    let raw = Fields {
        version: 2,
        options: 2,
        tail: 64 << 20,
        ..PLAIN
    };
    refused("64 MiB raw", &raw.with(b"{}"), CutShort, Metadata, "Cut");
    refused(
        "codec",
        &Section3 { codec: 2, ..base() }.file(),
        Unsupported,
        Metadata,
        "Unsupported",
    );
    refused(
        "checksum",
        &Section3 {
            checksum: 9,
            ..base()
        }
        .file(),
        Unsupported,
        Metadata,
        "ChecksumId",
    );
    refused(
        "level",
        &Section3 {
            level: 10,
            ..base()
        }
        .file(),
        Damaged,
        Metadata,
        "Field",
    );
    refused(
        "size",
        &Section3 {
            meta_size: 3,
            ..base()
        }
        .file(),
        Damaged,
        Metadata,
        "Field",
    );
    refused(
        "no zlib",
        &Section3 { codec: 1, ..base() }.file(),
        Damaged,
        Metadata,
        "MetadataData",
    );
    let mut xml = base().file();
    xml[32..36].copy_from_slice(b"XML ");
    refused("no JSON", &xml, Unsupported, Metadata, "MetadataFormat");
    let mut digest = Section3 {
        checksum: 2,
        ..base()
    };
    digest.stored.extend([0; 4]);
    refused("digest", &digest.file(), Damaged, Metadata, "Digest");
}

#[test]
fn json_that_cannot_be_is_refused() {
    let nested = |depth: usize| [vec![b'['; depth], vec![b']'; depth]].concat();
    for text in [
        b"".to_vec(),
        b"{".to_vec(),
        b"{} {}".to_vec(),
        b"nan".to_vec(),
        b"\"\xff\xfe\"".to_vec(),
        b"{\"a\": 1,}".to_vec(),
        nested(129),
        nested(1_000_000),
        b"{\"a\":".repeat(500_000),
        b"[".repeat(5_000_000),
        b"[NaN,".repeat(100_000),
    ] {
        let name = String::from_utf8_lossy(&text[..text.len().min(20)]).into_owned();
        let file = Section3::plain(&text).file();
        refused(
            &name,
            &file,
            Category::Damaged,
            Section::Metadata,
            "MetadataData",
        );
        if !text.is_empty() {
            let file = Section3::packed(&text).file();
            refused(
                &name,
                &file,
                Category::Damaged,
                Section::Metadata,
                "MetadataData",
            );
        }
    }
    for text in [
        b"{\"a\": 1, \"a\": 2}".to_vec(),
        b"{\"a\": [NaN, Infinity, -Infinity]}".to_vec(),
        nested(120),
        [b"\"".as_slice(), &vec![b'x'; 2_000_000], b"\""].concat(),
    ] {
        let name = String::from_utf8_lossy(&text[..text.len().min(20)]).into_owned();
        bounded(&name, &Section3::plain(&text).file(), 64 * MIB).unwrap();
    }
}

#[test]
fn metadata_that_unpacks_to_more_than_it_says_is_damaged() {
    let zeros = Section3::packed(&vec![b' '; 64 * MIB]);
    for meta_size in [0, 1, 2, 1000, 1 << 20] {
        let file = Section3 {
            meta_size,
            stored: zeros.stored.clone(),
            ..zeros
        }
        .file();
        assert!(file.len() < 100_000);
        refused(
            "bomb",
            &file,
            Category::Damaged,
            Section::Metadata,
            "MetadataData",
        );
    }
    let less = Section3 {
        meta_size: 3000,
        ..Section3::packed(&[b' '; 2000])
    };
    refused(
        "less",
        &less.file(),
        Category::Damaged,
        Section::Metadata,
        "MetadataData",
    );
}

/// Within the default limit of 64 MiB the text is taken in, so the bound is four times that limit,
/// for the text and for what is made of it to check it, and twice the bytes read.
#[test]
fn a_metadata_bomb_within_the_limit_takes_no_more_than_its_text() {
    let fill = |start: &[u8], unit: &[u8], end: &[u8]| {
        let count = (64 * MIB - start.len() - end.len()) / unit.len();
        [start, &unit.repeat(count), end].concat()
    };
    let mut excesses = Vec::new();
    for (name, text) in [
        ("spaces", fill(b"{", b" ", b"}")),
        ("one string", fill(b"\"", b"x", b"\"")),
        ("many numbers", fill(b"[0", b",0", b"]")),
        ("many lists", fill(b"[[]", b",[]", b"]")),
        ("many objects", fill(b"[{}", b",{}", b"]")),
        ("many keys", fill(b"{\"a\":0", b",\"a\":0", b"}")),
        ("many NaNs", fill(b"[0", b",NaN", b"]")),
    ] {
        let file = Section3::packed(&text).file();
        assert!(file.len() < 400_000, "{}", file.len());
        let seen = decode(file.as_slice());
        println!(
            "{name}: {} bytes read, {} MiB of memory, {:?}, {:?}",
            seen.read,
            seen.peak / MIB,
            seen.time,
            seen.result
        );
        if seen.peak > 256 * MIB + 2 * seen.read || seen.time > Duration::from_secs(1) {
            excesses.push(name);
        }
    }
    assert!(excesses.is_empty(), "{excesses:?}");
}

/// A file with three chunks whose table can be overwritten.
fn with_table(layout: Layout, change: impl Fn(&mut Vec<i64>)) -> Vec<u8> {
    let mut file = match layout {
        Layout::V3 => Recipe::new(Checksum::Crc32).make(),
        _ => {
            let pieces = sensor(700, 3).chunks(256).map(<[u8]>::to_vec).collect();
            ByHand::v2(Checksum::Crc32, pieces).make()
        }
    };
    let map = parts(&file);
    let entries = map
        .iter()
        .filter(|part| matches!(part.field, Field::Offset | Field::SpareOffset));
    let places: Vec<_> = entries.map(|part| part.at.clone()).collect();
    let mut table = places
        .iter()
        .map(|at| golden::i64_at(&file, at.start))
        .collect();
    change(&mut table);
    for (at, entry) in places.into_iter().zip(table) {
        file[at].copy_from_slice(&entry.to_le_bytes());
    }
    file
}

#[test]
fn tables_of_offsets_that_do_not_fit_are_damaged() {
    use Category::Damaged;
    use Section::{Chunk, Offsets, Spare};
    for layout in [Layout::V3, Layout::V2] {
        let sound = with_table(layout, |_| {});
        assert_eq!(bounded("sound", &sound, 64 * MIB).unwrap(), 700);
        let in_table = |name, change: &dyn Fn(&mut Vec<i64>)| {
            let file = with_table(layout, change);
            refused(name, &file, Damaged, Offsets, "Offset {");
        };
        for entry in 0..3 {
            in_table("into the header", &|table| table[entry] = 8);
            in_table("into the table", &|table| table[entry] = 32);
            in_table("below zero", &|table| table[entry] = -2);
            in_table("far below zero", &|table| table[entry] = i64::MIN);
            in_table("partly -1", &|table| table[entry] = -1);
            in_table("partly -1", &|table| {
                (0..3)
                    .filter(|other| *other != entry)
                    .for_each(|other| table[other] = -1);
            });
        }
        in_table("all the same", &|table| {
            let first = table[0];
            table[..3].fill(first);
        });
        in_table("overlapping", &|table| table[1] = table[0] + 15);
        in_table("overlapping", &|table| table[2] = table[1] + 15);
        in_table("descending", &|table| table.swap(1, 2));
        in_table("first too late", &|table| table[0] += 1);
        in_table("first outside", &|table| table[0] = i64::MAX);
        if layout == Layout::V3 {
            for spare in 3..6 {
                for entry in [0, 1, 100_000, i64::MAX, i64::MIN, -2] {
                    in_table("spare", &|table| table[spare] = entry);
                }
            }
        }
        // What the table alone cannot tell, the chunks do.
        for entry in 1..3 {
            for (name, change) in [("a byte late", 1), ("far outside", 1 << 40)] {
                let file = with_table(layout, |table| {
                    table[entry..3]
                        .iter_mut()
                        .for_each(|entry| *entry += change);
                });
                if layout == Layout::V3 {
                    refused(name, &file, Damaged, Chunk, "Offset {");
                } else {
                    // There might be spare space, but that would be zeros.
                    refused(name, &file, Damaged, Spare, "Spare {");
                }
            }
            let file = with_table(layout, |table| table[entry] -= 1);
            refused("a byte early", &file, Damaged, Chunk, "Offset {");
        }
        let outside = with_table(layout, |table| table[2] = i64::MAX);
        let error = bounded("outside", &outside, 64 * MIB).unwrap_err();
        assert_eq!(error.category(), Damaged, "{error}");
    }
}

#[test]
fn what_follows_the_last_chunk_belongs_to_nothing() {
    use Category::Damaged;
    use Section::Trailer;
    let v3 = Recipe {
        seek: Some(false),
        ..Recipe::new(Checksum::Crc32)
    }
    .make();
    let v2 = Recipe {
        layout: Layout::V2,
        ..Recipe::new(Checksum::Crc32)
    }
    .make();
    let stream = Recipe {
        seek: None,
        size_known: false,
        ..Recipe::new(Checksum::Crc32)
    }
    .make();
    for file in [&v3, &v2, &stream] {
        for tail in [
            b"x".as_slice(),
            b"junk",
            &[7; 5000],
            b"blpx and more",
            &[0x1f, 0x8b],
        ] {
            let input = [file.as_slice(), tail].concat();
            let error = bounded("tail", &input, 64 * MIB).unwrap_err();
            assert_eq!(error.category(), Damaged, "{tail:?}: {error}");
        }
        let mut extra = chunk(&sensor(100, 3));
        extra.extend_from_slice(
            Hashers::default()
                .digest(Checksum::Crc32, &extra)
                .as_bytes(),
        );
        let input = [file.as_slice(), &extra].concat();
        refused("a chunk more", &input, Damaged, Trailer, "UncountedChunk");
        let torn = [file.as_slice(), b"blp"].concat();
        refused(
            "torn member",
            &torn,
            Category::CutShort,
            Trailer,
            "TornHeader",
        );
        for bit in 0..32 {
            let mut member = b"blpk".to_vec();
            member[bit / 8] ^= 1 << (bit % 8);
            let input = [file.as_slice(), &member, &v3[4..]].concat();
            refused(
                "nearly a member",
                &input,
                Damaged,
                Section::Header,
                "MemberMagic",
            );
        }
    }
    let mark = [2, 1, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 16, 0, 0, 0];
    let early = Fields {
        nchunks: 2,
        ..PLAIN
    }
    .with(&[chunk(&[1; 100]), mark.to_vec()].concat());
    refused("early end", &early, Damaged, Section::Chunk, "EarlyEndMark");
}

/// A chunk with its digest, and the bytes of data in it.
type Item = (Vec<u8>, usize);

/// How a generated file counts and places its chunks.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    Offsets,
    Counted,
    Stream,
}

/// What the format says of these items behind a header and table that were made for others: the
/// number of items that are delivered, and the error then.
fn model(kind: Kind, made_for: &[Item], items: &[Item], chunk: usize) -> (usize, &'static str) {
    let mut short = false;
    let (mut at, mut offset) = (0, 0);
    for number in 0.. {
        if kind != Kind::Stream && number == made_for.len() {
            return (
                number,
                if number < items.len() {
                    "UncountedChunk"
                } else {
                    ""
                },
            );
        }
        if kind == Kind::Offsets && at != offset {
            return (number, "Offset");
        }
        let Some((bytes, data)) = items.get(number) else {
            return (
                number,
                if kind == Kind::Stream {
                    ""
                } else {
                    "MissingChunks"
                },
            );
        };
        let fits = match (kind, made_for.get(number)) {
            (Kind::Stream, _) => !short && *data <= chunk,
            (_, Some((_, expected))) => data == expected,
            _ => true,
        };
        if !fits {
            return (number, "ChunkSize");
        }
        short |= *data < chunk;
        at += bytes.len();
        offset += made_for.get(number).map_or(0, |(bytes, _)| bytes.len());
    }
    (0, "")
}

fn assemble(kind: Kind, made_for: &[Item], items: &[Item], chunk: usize) -> Vec<u8> {
    let last = made_for.last().unwrap().1 as i32;
    let stream = kind == Kind::Stream;
    let fields = Fields {
        options: u8::from(kind == Kind::Offsets),
        checksum: 6,
        chunk_size: chunk as i32,
        last_chunk: if stream { -1 } else { last },
        nchunks: if stream { -1 } else { made_for.len() as i64 },
        ..PLAIN
    };
    let mut file = fields.header();
    if kind == Kind::Offsets {
        let mut at = 32 + 8 * made_for.len() as i64;
        for (bytes, _) in made_for {
            file.extend_from_slice(&at.to_le_bytes());
            at += bytes.len() as i64;
        }
    }
    items
        .iter()
        .for_each(|(bytes, _)| file.extend_from_slice(bytes));
    if stream {
        let mark = bloscpack::blosc::ChunkHeader::END_MARK;
        file.extend_from_slice(&mark);
        file.extend_from_slice(
            Hashers::default()
                .digest(Checksum::Sha256, &mark)
                .as_bytes(),
        );
    }
    file
}

#[test]
fn chunks_that_were_swapped_copied_lost_or_slipped_in_are_told_where_the_format_can() {
    let mut random = Random::new(77);
    let mut outcomes = std::collections::BTreeMap::<_, u32>::new();
    for round in 0..2400 {
        let kind = [Kind::Offsets, Kind::Counted, Kind::Stream][round % 3];
        let size = 400 + 8 * random.below(100);
        let item = |data: &[u8]| {
            let mut bytes = chunk(data);
            let digest = Hashers::default().digest(Checksum::Sha256, &bytes);
            bytes.extend_from_slice(digest.as_bytes());
            (bytes, data.len())
        };
        let len = size * (1 + random.below(5)) + random.below(size) + 1;
        let sound: Vec<_> = sensor(len, random.next()).chunks(size).map(item).collect();
        let mut items = sound.clone();
        let (a, b) = (random.below(items.len()), random.below(items.len()));
        match round / 3 % 5 {
            0 => items.swap(a, b),
            1 => items.insert(a, sound[b].clone()),
            2 => drop(items.remove(a)),
            3 => {
                let len = if random.below(2) == 0 {
                    size
                } else {
                    random.below(size) + 1
                };
                items.insert(a, item(&sensor(len, random.next())));
            }
            _ => items[a] = item(&sensor(sound[a].1, random.next())),
        }
        let file = assemble(kind, &sound, &items, size);
        let (delivered, error) = model(kind, &sound, &items, size);
        let mut data = Vec::new();
        let result = Decoder::new(file.as_slice()).read_to_end(&mut data);
        let expected: usize = items[..delivered].iter().map(|(_, len)| len).sum();
        let place = format!("round {round}, {kind:?}, {a} and {b}: {result:?}");
        assert_eq!(data.len(), expected, "{place}");
        let found = result.as_ref().err().map_or(String::new(), |_| {
            let error = bounded("shuffled", &file, 64 * MIB).unwrap_err();
            let category = if matches!(
                error.kind(),
                ErrorKind::Format(FormatError::MissingChunks { .. })
            ) {
                Category::CutShort
            } else {
                Category::Damaged
            };
            assert_eq!(error.category(), category, "{place}");
            let ErrorKind::Format(format) = error.kind() else {
                panic!("{place}")
            };
            format!("{format:?}")
        });
        assert!(
            found.starts_with(error) && found.is_empty() == error.is_empty(),
            "{place}, expected {error}"
        );
        *outcomes.entry((format!("{kind:?}"), error)).or_default() += 1;
    }
    println!("{outcomes:?}");
}
