//! The sound files that are damaged later.

use crate::recovery::golden::{ByHand, Random, chunk, sensor};
use crate::recovery::model::Model;
use bloscpack::{Checksum, Compressor, Encoder, EncoderBuilder, Filter, FormatVersion, Metadata};
use std::io::{Cursor, Write};

pub const CHUNK: usize = 1000;
pub const JSON: &str = r#"{"dtype": "<u2", "unit": "dBm", "names": ["one", "two", "three"]}"#;

fn encode_file(builder: EncoderBuilder, data: &[u8]) -> Vec<u8> {
    let mut encoder = builder.write_to_file(Cursor::new(Vec::new())).unwrap();
    encoder.write_all(data).unwrap();
    encoder.finish().unwrap().into_inner()
}

fn encode_stream(builder: EncoderBuilder, data: &[u8]) -> Vec<u8> {
    let mut encoder = builder.write_to(Vec::new()).unwrap();
    encoder.write_all(data).unwrap();
    encoder.finish().unwrap()
}

fn builder(checksum: Checksum) -> EncoderBuilder {
    Encoder::builder()
        .compressor(Compressor::Lz4)
        .filter(Filter::Byte)
        .typesize(2)
        .chunk_size(CHUNK as u32)
        .checksum(checksum)
        .max_app_chunks(5)
}

fn noise(len: usize, seed: u64) -> Vec<u8> {
    let mut random = Random::new(seed);
    (0..len).map(|_| random.next() as u8).collect()
}

/// Twelve chunks and a short one: of measurements, of noise, of nothing but zeros.
pub fn data(seed: u64) -> Vec<u8> {
    let mut data = sensor(5 * CHUNK, seed);
    data.extend(noise(2 * CHUNK, seed));
    data.extend(vec![0; CHUNK]);
    data.extend(sensor(4 * CHUNK + 321, seed + 1));
    data
}

/// Content that is itself Bloscpack files, of the same checksum and chunk size as the file around
/// it will have: one whole in a chunk, one over a border, and one with another checksum.
pub fn nested(checksum: Checksum) -> Vec<u8> {
    let inner = builder(checksum).compressor(Compressor::Zstd).level(9);
    let small = encode_file(
        inner.clone().size(1100).max_app_chunks(1),
        &[vec![7; 900], vec![9; 200]].concat(),
    );
    assert!(small.len() < 500, "{}", small.len());
    let large = encode_file(inner, &sensor(3 * CHUNK, 5));
    let stream = encode_stream(builder(Checksum::Crc32), &[5; 2 * CHUNK + 1]);
    let mut data = noise(CHUNK, 3);
    data.extend(noise(100, 4));
    data.extend(&small);
    data.resize(2 * CHUNK, 1);
    data.extend(noise(300, 5));
    data.extend(&stream);
    data.resize(4 * CHUNK - 400, 2);
    data.extend(&large);
    let len = data.len().next_multiple_of(CHUNK) + 2 * CHUNK + 77;
    data.resize(len, 3);
    data
}

/// Files of one member each, in which positions can be determined.
pub fn counted() -> Vec<Model> {
    let mut all = Vec::new();
    for (seed, checksum) in (10..).zip(Checksum::ALL) {
        let file = encode_file(builder(checksum), &data(seed));
        all.push(Model::of(&format!("file, {checksum}"), &file));
        // Without digests, nothing distinguishes a pure copy from another that begins inside it.
        if checksum != Checksum::None {
            let stored = encode_file(builder(checksum).level(0), &nested(checksum));
            all.push(Model::of(&format!("file of files, {checksum}"), &stored));
        }
        let content = data(seed + 100);
        let size = content.len() as u64;
        let pipe = encode_stream(builder(checksum).size(size), &content);
        all.push(Model::of(&format!("pipe of known size, {checksum}"), &pipe));
    }
    let metadata = || Metadata::from_json(JSON).unwrap();
    for (layout, checksum) in [
        (FormatVersion::V3, Checksum::Crc32),
        (FormatVersion::V2, Checksum::Adler32),
        (FormatVersion::V2, Checksum::Sha256),
    ] {
        let options = builder(checksum)
            .version(layout)
            .metadata(metadata())
            .compressor(Compressor::Blosclz);
        let file = encode_file(options, &data(50));
        all.push(Model::of(
            &format!("{layout} with metadata, {checksum}"),
            &file,
        ));
    }
    let pieces: Vec<_> = data(60).chunks(CHUNK).map(<[u8]>::to_vec).collect();
    let spare = ByHand {
        room: 13,
        ..ByHand::v2(Checksum::Crc32, pieces.clone())
    };
    all.push(Model::of("V2 with spare space", &spare.make()));
    let bare = ByHand {
        offsets: false,
        ..ByHand::v2(Checksum::Md5, pieces)
    };
    all.push(Model::of("V2 without offsets", &bare.make()));
    all
}

/// A file of Bloscpack 0.1, from its description: sixteen bytes and the chunks.
fn v1(pieces: &[Vec<u8>]) -> Vec<u8> {
    let mut file = b"blpk\x01\0\0\0".to_vec();
    file.extend((pieces.len() as u64).to_le_bytes());
    pieces.iter().for_each(|piece| file.extend(chunk(piece)));
    file
}

/// Streams, V1 and concatenations: not every loss has a known length.
pub fn others() -> Vec<Model> {
    let stream = |checksum, seed| encode_stream(builder(checksum), &data(seed));
    let file = |checksum, seed| encode_file(builder(checksum), &data(seed));
    let mut all = Vec::new();
    for checksum in [
        Checksum::Crc32,
        Checksum::Sha1,
        Checksum::Adler32,
        Checksum::None,
    ] {
        all.push(Model::of(
            &format!("stream, {checksum}"),
            &stream(checksum, 70),
        ));
    }
    let pieces: Vec<_> = data(80).chunks(CHUNK).map(<[u8]>::to_vec).collect();
    all.push(Model::of("V1", &v1(&pieces)));
    for (name, members) in [
        (
            "file + file",
            [file(Checksum::Crc32, 90), file(Checksum::Md5, 91)],
        ),
        (
            "file + stream",
            [file(Checksum::Sha224, 92), stream(Checksum::Crc32, 93)],
        ),
        (
            "stream + file",
            [stream(Checksum::Crc32, 94), file(Checksum::Crc32, 95)],
        ),
        (
            "stream + stream",
            [stream(Checksum::Adler32, 96), stream(Checksum::Sha512, 97)],
        ),
    ] {
        all.push(Model::of(name, &members.concat()));
    }
    all
}
