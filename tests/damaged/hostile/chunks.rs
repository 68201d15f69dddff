//! Tests of Blosc chunks that are impossible, broken inside, or decompression bombs.

use super::{Count, Fields, MIB, PLAIN, bounded, decode, refused, zstd};
use crate::hostile::by_fields::blosc;
use crate::hostile::golden::{Recipe, chunk, sensor};
use bloscpack::blosc::{ChunkEncoder, ChunkSettings, Compressor};
use bloscpack::{
    Category, Checksum, Decoder, Limits, Options,
    wire::{Hashers, Section},
};

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
    blosc2[0] = 6;
    refused(
        "Blosc 2",
        &any.with(&blosc2),
        Unsupported,
        Section::Chunk,
        "Chunk(UnsupportedVersion",
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
        (Limits::new().chunk(255), "a chunk"),
        (Limits::new().offsets(23), "an offset table"),
    ] {
        let decoder = Options::new().limits(limits);
        let error = Decoder::with_options(file.as_slice(), decoder)
            .copy_to(&mut Count(0))
            .unwrap_err();
        assert_eq!(error.category(), Category::OverLimit, "{error}");
        assert!(error.to_string().contains(what), "{error}");
        assert!(error.hint().is_some());
    }
    let limits = Limits::new().block(100);
    let decoder = Options::new().limits(limits);
    let error = Decoder::with_options(file.as_slice(), decoder)
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

/// A whole block must be in memory, and once more before its filter is undone: the bound is twice the block, for
/// which there is the limit `block`.
#[test]
fn a_chunk_of_one_huge_block_takes_two_of_them() {
    let block = 160 << 20;
    let settings = ChunkSettings::default()
        .compressor(Compressor::Zstd)
        .blocksize(Some(block));
    let mut chunk = Vec::new();
    let mut encoder = ChunkEncoder::new(settings).unwrap();
    encoder
        .encode(&vec![0; block as usize], &mut chunk)
        .unwrap();
    let any = Fields {
        chunk_size: -1,
        last_chunk: -1,
        ..PLAIN
    };
    let file = any.with(&chunk);
    let seen = decode(file.as_slice());
    println!(
        "{} bytes read, {} MiB of memory, {:?}",
        seen.read,
        seen.peak / MIB,
        seen.time
    );
    assert_eq!(seen.result.unwrap(), u64::from(block));
    assert!(
        seen.read < 100_000 && seen.peak <= 2 * block as usize + 8 * MIB,
        "{}",
        seen.peak
    );
    let limits = Limits::new().block(block - 1);
    let decoder = Options::new().limits(limits);
    let error = Decoder::with_options(file.as_slice(), decoder)
        .copy_to(&mut Count(0))
        .unwrap_err();
    assert_eq!(error.category(), Category::OverLimit, "{error}");
}

/// Blocks of one byte in a chunk of LZ4 or Zstandard, which all begin at the same stream.
fn blocks_of_one_stream(flags: u8, blocks: u32, stream: &[u8]) -> Vec<u8> {
    let start = 16 + 4 * blocks;
    let used = start + 4 + stream.len() as u32;
    let ctbytes = used.max(16 + 9 * blocks);
    let mut chunk = blosc(flags, 1, blocks, 1, ctbytes);
    chunk.extend(start.to_le_bytes().repeat(blocks as usize));
    chunk.extend((stream.len() as u32).to_le_bytes());
    chunk.extend(stream);
    chunk.resize(ctbytes as usize, 0);
    chunk
}

/// Empty blocks of Zstandard cost time and give nothing: one stream of many of them would be gone
/// through for each block that begins there.
#[test]
fn streams_longer_than_compressors_make_are_refused() {
    let any = Fields {
        chunk_size: -1,
        last_chunk: -1,
        ..PLAIN
    };
    let head = [0x28, 0xb5, 0x2f, 0xfd, 0x20, 1];
    let last = [0x09, 0, 0, b'A'];
    let stream = |empty: usize| [&head[..], &[0; 3].repeat(empty), &last].concat();
    let seen = decode(
        any.with(&blocks_of_one_stream(0x90, 1000, &stream(2)))
            .as_slice(),
    );
    assert_eq!(seen.result.unwrap(), 1000);
    for empty in [19, 100, 150_000] {
        let chunk = blocks_of_one_stream(0x90, 100_000, &stream(empty));
        refused(
            "a long stream",
            &any.with(&chunk),
            Category::Damaged,
            Section::Chunk,
            "Chunk(StreamLength",
        );
    }
    // One byte is two in LZ4.
    let seen = decode(
        any.with(&blocks_of_one_stream(0x30, 1000, b"\x10A"))
            .as_slice(),
    );
    assert_eq!(seen.result.unwrap(), 1000);
}
