//! Tests of the format, byte by byte, against its documents. Nothing here is parsed with our own code: the expected
//! bytes are spelled out, or built from the documents' layouts.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use bloscpack::{Checksum, Compressor, Encoder, Filter, FormatVersion, Metadata};
use std::io::{Cursor, Write};

/// A file with a table of offsets, `data` in chunks of `chunk_size`.
fn file(options: bloscpack::EncoderBuilder, data: &[u8]) -> Vec<u8> {
    let mut encoder = options.write_to_file(Cursor::new(Vec::new())).unwrap();
    encoder.write_all(data).unwrap();
    encoder.finish().unwrap().into_inner()
}

fn stream(options: bloscpack::EncoderBuilder, data: &[u8]) -> Vec<u8> {
    let mut encoder = options.write_to(Vec::new()).unwrap();
    encoder.write_all(data).unwrap();
    encoder.finish().unwrap()
}

fn i64_at(bytes: &[u8], at: usize) -> i64 {
    i64::from_le_bytes(bytes[at..at + 8].try_into().unwrap())
}

/// Level 0 stores: every byte of the file can be foretold.
fn stored() -> bloscpack::EncoderBuilder {
    Encoder::builder()
        .level(0)
        .compressor(Compressor::Blosclz)
        .typesize(8)
}

#[test]
fn eight_chunks_with_eighty_spare_offsets_begin_at_736() {
    // Pinned by the reference's own tests: 16 MB in chunks of 2 MB.
    let data = vec![0; 16 << 20];
    let file = file(
        Encoder::builder()
            .chunk_size(2 << 20)
            .checksum(Checksum::Adler32),
        &data,
    );
    assert_eq!(i64_at(&file, 16), 8, "number of chunks");
    assert_eq!(i64_at(&file, 24), 80, "max_app_chunks, ten times as many");
    assert_eq!(i64_at(&file, 32), 736, "the first offset");
    assert_eq!(i64_at(&file, 32 + 8 * 8), -1, "the first spare offset");
}

#[test]
fn no_data_is_one_empty_chunk_as_the_reference_writes_it() {
    let file = file(stored().max_app_chunks(10).checksum(Checksum::Adler32), b"");
    assert_eq!(file.len(), 140, "32 + 88 + 16 + 4");
    assert_eq!(
        file[..32],
        *b"blpk\x03\x01\x01\x08\0\0\0\0\0\0\0\0\x01\0\0\0\0\0\0\0\x0a\0\0\0\0\0\0\0"
    );
    assert_eq!(i64_at(&file, 32), 120);
    assert_eq!(file[40..120], [0xff; 80]);
    let (version, typesize, ctbytes) = (file[120], file[123], &file[132..136]);
    assert_eq!((version, typesize, ctbytes), (2, 8, &[16, 0, 0, 0][..]));
}

#[test]
fn a_stream_of_unknown_length_says_so_and_ends_with_the_mark() {
    let stream = stream(stored().chunk_size(8), b"12345678ab");
    assert_eq!(stream[..8], *b"blpk\x03\x00\x02\x08", "no offsets, crc32");
    assert_eq!(stream[8..12], 8i32.to_le_bytes(), "chunk size");
    assert_eq!(stream[12..16], [0xff; 4], "last chunk");
    assert_eq!(stream[16..24], [0xff; 8], "number of chunks");
    assert_eq!(stream[24..32], [0; 8], "max_app_chunks");
    let mark = [2, 1, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 16, 0, 0, 0];
    let at = 32 + (16 + 8 + 4) + (16 + 2 + 4);
    assert_eq!(stream[at..at + 16], mark);
    assert_eq!(stream[at + 16..], crc32fast::hash(&mark).to_le_bytes());
}

#[test]
fn a_known_length_makes_a_whole_header_and_no_mark() {
    let stream = stream(stored().chunk_size(8).size(10), b"12345678ab");
    assert_eq!(stream[8..24], *b"\x08\0\0\0\x02\0\0\0\x02\0\0\0\0\0\0\0");
    assert_eq!(stream.len(), 32 + (16 + 8 + 4) + (16 + 2 + 4));
    assert_eq!(stream[32 + 16..32 + 24], *b"12345678");
    let digest = crc32fast::hash(&stream[32..32 + 24]);
    assert_eq!(
        stream[32 + 24..32 + 28],
        digest.to_le_bytes(),
        "over header and data of the chunk"
    );
}

#[test]
fn a_single_chunk_gives_its_own_length_as_the_chunk_size() {
    let file = file(stored(), &[5; 600]);
    assert_eq!(file[8..16], [88, 2, 0, 0, 88, 2, 0, 0]);
}

#[test]
fn layout_v1_is_sixteen_bytes_and_the_chunks() {
    let file = file(
        stored().version(FormatVersion::V1).chunk_size(8),
        b"12345678ab",
    );
    assert_eq!(file[..16], *b"blpk\x01\0\0\0\x02\0\0\0\0\0\0\0");
    assert_eq!(file.len(), 16 + (16 + 8) + (16 + 2));
}

#[test]
fn layout_v2_has_raw_metadata_exact_offsets_and_a_seal() {
    let text = r#"{"a": 1}"#;
    let options = stored()
        .version(FormatVersion::V2)
        .chunk_size(8)
        .checksum(Checksum::None);
    let file = file(
        options.metadata(Metadata::from_json(text).unwrap()),
        b"12345678ab",
    );
    assert_eq!(
        file[..8],
        *b"blpk\x02\x0b\x00\x08",
        "offsets, metadata, seal"
    );
    assert_eq!(file[24..28], 8i32.to_le_bytes(), "meta-size");
    assert_eq!(file[32..40], *text.as_bytes());
    assert_eq!((i64_at(&file, 40), i64_at(&file, 48)), (56, 80));
    assert_eq!(file.len(), 56 + (16 + 8) + (16 + 2));

    let mut sealed = file[..56].to_vec();
    sealed[28..32].fill(0);
    assert_eq!(file[28..32], crc32fast::hash(&sealed).to_le_bytes());
}

#[test]
fn metadata_of_v3_has_a_section_with_room_to_grow() {
    let text = r#"{"a":1}"#;
    let file = file(
        stored()
            .metadata(Metadata::from_json(text).unwrap())
            .max_app_chunks(0),
        b"1234",
    );
    assert_eq!(file[5], 0b11, "offsets and metadata");
    // Too short to gain by zlib: stored, with ten times the room, and its crc32.
    assert_eq!(file[32..44], *b"JSON\0\0\0\0\x00\x02\x00\x06");
    assert_eq!(file[44..56], *b"\x07\0\0\0\x46\0\0\0\x07\0\0\0");
    assert_eq!(file[64..71], *text.as_bytes());
    assert_eq!(file[71..134], [0; 63]);
    assert_eq!(
        file[134..138],
        crc32fast::hash(text.as_bytes()).to_le_bytes()
    );
    assert_eq!(i64_at(&file, 138), 146);
}

#[test]
fn a_file_of_unknown_length_ends_like_one_of_known_length() {
    let data: Vec<u8> = (0..50_000u32).flat_map(u32::to_le_bytes).collect();
    let options = || {
        Encoder::builder()
            .typesize(4)
            .filter(Filter::Bit)
            .chunk_size(4096)
    };
    let unknown = file(options(), &data);
    let known = file(options().size(data.len() as u64), &data);
    assert_eq!(unknown, known);
}
