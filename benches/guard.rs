//! The hot paths, one in each run, so that `guard.py` can count their instructions.
//!
//! `guard --list` prints the names of all cases; `guard NAME` runs the case once, within `measured`,
//! the only function that callgrind collects. Times are not measured.
#![allow(clippy::unwrap_used, reason = "a bench fails by panicking")]

use std::hint::black_box;
use std::io::{Cursor, Read, Write};
use std::sync::Arc;

use bloscpack::blosc::{
    Blosc2Encoder, Blosc2Settings, ChunkDecoder, ChunkEncoder, ChunkSettings, Compressor, Filter,
};
use bloscpack::{
    Checksum, Decoder, Encoder, Options,
    indexed::IndexedReader,
    records::{IndexedRecordReader, RecordWriter},
    wire::Hashers,
};

use data::{Kind, Random};
use testkit::oracle as data;

/// Bytes of a chunk: more than one block of most compressors.
const CHUNK: usize = 256 << 10;
/// Bytes of a stream of chunks.
const STREAM: usize = 2 << 20;

/// The function that callgrind collects.
#[inline(never)]
fn measured(work: &mut dyn FnMut()) {
    work();
}

/// A random walk.
fn walk(len: usize) -> Vec<u8> {
    Kind::Walk.data(&mut Random::new(31), len)
}

/// One number over and over: it leaves hardly anything to the compressor, so nearly all work is the filter's.
fn alike(len: usize) -> Vec<u8> {
    [1, 2, 3, 4, 5, 6, 7, 8]
        .into_iter()
        .cycle()
        .take(len)
        .collect()
}

fn settings(compressor: Compressor, filter: Filter) -> ChunkSettings {
    ChunkSettings::default()
        .compressor(compressor)
        .level(5)
        .filter(filter)
        .typesize(8)
}

fn encode(settings: ChunkSettings, data: &[u8]) {
    let mut encoder = ChunkEncoder::new(settings).unwrap();
    let mut chunk = Vec::new();
    // A first run allocates the memory.
    encoder.encode(data, &mut chunk).unwrap();
    measured(&mut || {
        chunk.clear();
        encoder.encode(black_box(data), &mut chunk).unwrap();
    });
    assert!(chunk.len() < data.len());
}

/// Into a slice, by a context that was used for other settings before.
fn encode_into(settings: ChunkSettings, data: &[u8]) {
    let mut encoder = ChunkEncoder::new(settings).unwrap();
    let mut out = vec![0; data.len() + 16];
    encoder.encode_into(data, &mut out).unwrap();
    encoder.set_settings(settings).unwrap();
    measured(&mut || {
        encoder.encode_into(black_box(data), &mut out).unwrap();
    });
}

/// One element of a chunk.
fn decode_element(settings: ChunkSettings, data: &[u8]) {
    let mut chunk = Vec::new();
    ChunkEncoder::new(settings)
        .unwrap()
        .encode(data, &mut chunk)
        .unwrap();
    let (mut decoder, mut element) = (ChunkDecoder::new(), [0; 8]);
    decoder.decode_range(&chunk, 800, &mut element).unwrap();
    measured(&mut || {
        decoder
            .decode_range(black_box(&chunk), 1600, &mut element)
            .unwrap();
    });
    assert_eq!(element, data[1600..1608]);
}

/// The structure of a chunk.
fn validate(settings: ChunkSettings, data: &[u8]) {
    let mut chunk = Vec::new();
    ChunkEncoder::new(settings)
        .unwrap()
        .encode(data, &mut chunk)
        .unwrap();
    let decoder = ChunkDecoder::new();
    measured(&mut || {
        decoder.validate(black_box(&chunk)).unwrap();
    });
}

fn decode(settings: ChunkSettings, data: &[u8]) {
    let mut chunk = Vec::new();
    let mut encoder = ChunkEncoder::new(settings).unwrap();
    encoder.encode(data, &mut chunk).unwrap();
    decode_chunk(&chunk, data);
}

fn decode_chunk(chunk: &[u8], data: &[u8]) {
    let mut decoder = ChunkDecoder::new();
    let mut out = vec![0; data.len()];
    decoder.decode(chunk, &mut out).unwrap();
    measured(&mut || {
        decoder.decode(black_box(chunk), &mut out).unwrap();
    });
    assert!(out == data);
}

/// Encodes or decodes a Blosc 2 chunk.
fn blosc2(is_encoding: bool) {
    let (data, mut chunk) = (walk(CHUNK), Vec::new());
    let mut encoder = Blosc2Encoder::new(Blosc2Settings::default().typesize(8)).unwrap();
    encoder.encode(&data, &mut chunk).unwrap();
    if is_encoding {
        measured(&mut || {
            chunk.clear();
            encoder.encode(black_box(&data), &mut chunk).unwrap();
        });
    } else {
        decode_chunk(&chunk, &data);
    }
}

fn digest(kind: Checksum) {
    let data = walk(CHUNK);
    let hashers = Hashers::default();
    measured(&mut || {
        black_box(hashers.digest(kind, black_box(&data)));
    });
}

/// A stream of several chunks.
fn stream(data: &[u8]) -> Vec<u8> {
    let builder = Encoder::builder()
        .compressor(Compressor::Lz4)
        .level(5)
        .typesize(8)
        .chunk_size(u32::try_from(CHUNK).unwrap())
        .checksum(Checksum::Crc32)
        .threads(1);
    let mut encoder = builder.write_to(Vec::new()).unwrap();
    // In pieces that do not match the chunks.
    for piece in data.chunks(100_000) {
        encoder.write_all(piece).unwrap();
    }
    encoder.finish().unwrap()
}

fn write_stream() {
    let data = walk(STREAM);
    measured(&mut || {
        black_box(stream(black_box(&data)));
    });
}

fn read_stream() {
    let data = walk(STREAM);
    let stream = stream(&data);
    let mut back = Vec::with_capacity(data.len());
    measured(&mut || {
        let mut decoder = Decoder::with_options(&stream[..], Options::new().threads(1));
        decoder.read_to_end(&mut back).unwrap();
    });
    assert!(back == data);
}

/// Reads a source by position: runs of chunks, if a table has their places, or windows of a stream.
fn read_source(has_table: bool) {
    let data = walk(STREAM);
    let builder = Encoder::builder().compressor(Compressor::Lz4).level(5);
    let builder = builder
        .typesize(8)
        .chunk_size(u32::try_from(CHUNK).unwrap());
    let target = Cursor::new(Vec::new());
    let mut encoder = builder.offsets(has_table).write_to_file(target).unwrap();
    encoder.write_all(&data).unwrap();
    let source = Arc::new(encoder.finish().unwrap().into_inner());
    let mut back = Vec::with_capacity(data.len());
    measured(&mut || {
        let options = Options::new().threads(1);
        let mut decoder = Decoder::from_source(Arc::clone(&source), 0, options).unwrap();
        decoder.read_to_end(&mut back).unwrap();
    });
    assert!(back == data);
}

fn read_ranges() {
    let data = walk(STREAM);
    let reader = IndexedReader::open(stream(&data)).unwrap();
    let mut part = vec![0; 1000];
    let mut random = Random::new(7);
    measured(&mut || {
        for _ in 0..100 {
            let at = random.below(data.len() - part.len());
            reader.read_exact_at(at as u64, &mut part).unwrap();
        }
    });
}

/// Pieces of a text, as records.
fn records() -> Vec<Vec<u8>> {
    let text = Kind::Text.data(&mut Random::new(5), 300_000);
    text.chunks(60).map(<[u8]>::to_vec).collect()
}

fn push_all(records: &[Vec<u8>]) -> Vec<u8> {
    let builder = RecordWriter::builder().threads(1);
    let mut writer = builder.write_to(Vec::new()).unwrap();
    for record in records {
        writer.push(record).unwrap();
    }
    writer.finish().unwrap()
}

fn push_records() {
    let records = records();
    measured(&mut || {
        black_box(push_all(black_box(&records)));
    });
}

fn get_records() {
    let records = records();
    let reader = IndexedRecordReader::open(push_all(&records)).unwrap();
    let mut random = Random::new(7);
    measured(&mut || {
        for _ in 0..200 {
            let number = random.below(records.len());
            let record = reader.get(number as u64).unwrap();
            assert_eq!(record, records[number]);
        }
    });
}

/// The name of a case, and its work.
type Case = (String, Box<dyn Fn()>);

fn cases() -> Vec<Case> {
    let mut cases: Vec<Case> = Vec::new();
    let mut case = |name: &str, run: Box<dyn Fn()>| cases.push((name.to_string(), run));
    for (filter, name) in [(Filter::Byte, "shuffle"), (Filter::Bit, "bitshuffle")] {
        let settings = settings(Compressor::Lz4, filter);
        case(name, Box::new(move || encode(settings, &alike(4 * CHUNK))));
        let name = format!("un{name}");
        case(&name, Box::new(move || decode(settings, &alike(4 * CHUNK))));
    }
    for compressor in Compressor::ALL {
        let settings = settings(compressor, Filter::Byte);
        let name = format!("encode-{compressor}");
        case(&name, Box::new(move || encode(settings, &walk(CHUNK))));
        let name = format!("decode-{compressor}");
        case(&name, Box::new(move || decode(settings, &walk(CHUNK))));
    }
    let ramp = || Kind::Ramp.data(&mut Random::new(31), CHUNK);
    let unfiltered = settings(Compressor::Blosclz, Filter::None);
    case("encode-ramp", Box::new(move || encode(unfiltered, &ramp())));
    case("decode-ramp", Box::new(move || decode(unfiltered, &ramp())));
    let lz4 = settings(Compressor::Lz4, Filter::Byte);
    case(
        "encode-into",
        Box::new(move || encode_into(lz4, &walk(CHUNK))),
    );
    case(
        "decode-element",
        Box::new(move || decode_element(lz4, &walk(CHUNK))),
    );
    // Short chunks: little to decompress, so the work around it counts.
    for compressor in [Compressor::Blosclz, Compressor::Lz4, Compressor::Snappy] {
        let settings = settings(compressor, Filter::Byte).typesize(2);
        let sensor = || Kind::Sensor.data(&mut Random::new(31), 1 << 10);
        let name = format!("decode-short-{compressor}");
        case(&name, Box::new(move || decode(settings, &sensor())));
    }
    case(
        "validate",
        Box::new(move || validate(lz4, &walk(4 * CHUNK))),
    );
    case("encode-blosc2", Box::new(|| blosc2(true)));
    case("decode-blosc2", Box::new(|| blosc2(false)));
    case("digest-adler32", Box::new(|| digest(Checksum::Adler32)));
    case("digest-crc32", Box::new(|| digest(Checksum::Crc32)));
    case("digest-sha256", Box::new(|| digest(Checksum::Sha256)));
    case("stream-write", Box::new(write_stream));
    case("stream-read", Box::new(read_stream));
    case("runs-read", Box::new(|| read_source(true)));
    case("windows-read", Box::new(|| read_source(false)));
    case("ranges-read", Box::new(read_ranges));
    case("records-push", Box::new(push_records));
    case("records-get", Box::new(get_records));
    cases
}

fn main() {
    let arguments = std::env::args().skip(1);
    // `cargo bench` adds an option, which is not a name.
    let name = arguments.into_iter().find(|argument| argument != "--bench");
    match name.as_deref() {
        None | Some("--list") => cases().iter().for_each(|(name, _)| println!("{name}")),
        Some(wanted) => {
            let cases = cases();
            let found = cases.iter().find(|(name, _)| name == wanted);
            let (_, run) = found.unwrap_or_else(|| unknown(wanted));
            run();
        }
    }
}

fn unknown(name: &str) -> ! {
    eprintln!("guard: no case named {name:?}; --list prints the names");
    std::process::exit(2)
}
