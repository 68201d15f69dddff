//! Tests of chunks larger than the buffer for decoding.

use crate::recovery::golden::Random;
use bloscpack::wire::Header;
use bloscpack::{Checksum, Compressor, Decoder, Encoder, FormatVersion, Options};
use std::io::{Cursor, Read, Write};
use testkit::damages::{Recovered, recover};

/// A little more than the 64 MiB from which on chunks are decoded in pieces, and no whole number of blocks.
const CHUNK: usize = (65 << 20) + 12_345;

/// Compresses well, and no two of its blocks are alike.
fn data() -> Vec<u8> {
    let len = 2 * CHUNK + CHUNK / 2;
    (0..len)
        .map(|at| (at >> 9) as u8 ^ (at >> 17) as u8)
        .collect()
}

fn encoded(checksum: Checksum, data: &[u8]) -> Vec<u8> {
    let mut encoder = Encoder::builder()
        .version(FormatVersion::V3)
        .checksum(checksum)
        .compressor(Compressor::Lz4)
        .chunk_size(CHUNK as u32)
        .write_to_file(Cursor::new(Vec::new()))
        .unwrap();
    encoder.write_all(data).unwrap();
    encoder.finish().unwrap().into_inner()
}

/// The starts of the chunks, from the table after the header and its metadata.
fn starts(file: &[u8]) -> Vec<usize> {
    let header = Header::decode(&file[..32]).unwrap();
    let nchunks = header.nchunks.unwrap();
    assert_eq!(nchunks, 3);
    file[32..][..8 * nchunks as usize]
        .chunks_exact(8)
        .map(|at| u64::from_le_bytes(at.try_into().unwrap()) as usize)
        .collect()
}

fn recovered(file: &[u8]) -> (Recovered, Vec<u8>) {
    let mut target = Cursor::new(Vec::new());
    let report = recover(file, &mut target, &Options::new()).unwrap();
    let mut content = Vec::new();
    let mut decoder = Decoder::new(target.get_ref().as_slice());
    decoder.read_to_end(&mut content).unwrap();
    (report, content)
}

#[test]
fn sound_giants_come_out_as_they_are() {
    let data = data();
    let (report, content) = recovered(&encoded(Checksum::Crc32, &data));
    assert!(report.is_complete(), "{:?}", report.damages);
    assert!(content == data);
}

/// With a digest the damage is seen before anything is decoded; without, only while it is.
#[test]
fn of_a_damaged_giant_nothing_comes_out_and_of_the_others_all() {
    let data = data();
    let mut random = Random::new(8);
    for checksum in [Checksum::Crc32, Checksum::None] {
        let mut file = encoded(checksum, &data);
        let starts = starts(&file);
        // In the last blocks of the second, so that much of it can be decoded.
        let end = starts[2];
        for byte in &mut file[end - 2000..end - 100] {
            *byte = random.next() as u8;
        }
        let (report, content) = recovered(&file);
        assert_eq!(report.chunks_lost, Some(1), "{checksum}");
        assert_eq!(report.damages.len(), 1, "{checksum}");
        let expected = [&data[..CHUNK], &data[2 * CHUNK..]].concat();
        assert!(content == expected, "{checksum}: {}", content.len());
    }
}
