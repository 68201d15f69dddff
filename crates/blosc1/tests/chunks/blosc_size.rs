//! Tests that our chunks are at most 2 % larger than C-Blosc's, by compressor and level.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use blosc1::{ChunkEncoder, ChunkSettings, Compressor, Filter};

use oracle::{Kind, Random};
use testkit::oracle;

const KINDS: [Kind; 5] = [
    Kind::Walk,
    Kind::Ramp,
    Kind::Sensor,
    Kind::Text,
    Kind::Noise,
];

/// Sizes of ours and of C-Blosc's, summed over kinds of data and filters.
fn sizes(compressor: Compressor, level: u8, len: usize) -> (usize, usize) {
    let mut random = Random::new(21);
    let (mut ours, mut theirs) = (0, 0);
    for kind in KINDS {
        let data = kind.data(&mut random, len);
        for filter in Filter::ALL {
            let settings = ChunkSettings::default()
                .compressor(compressor)
                .level(level)
                .filter(filter)
                .typesize(kind.typesize());
            let mut chunk = Vec::new();
            let mut encoder = ChunkEncoder::new(settings).unwrap();
            encoder.encode(&data, &mut chunk).unwrap();
            ours += chunk.len();
            theirs += oracle::compress(&settings, &data, 0).len();
            if std::env::var_os("SIZES").is_some() {
                let last = oracle::compress(&settings, &data, 0).len();
                println!(
                    "{compressor} {level} {kind:?} {filter}: {} / {last}",
                    chunk.len()
                );
            }
        }
    }
    (ours, theirs)
}

/// Checks all levels from 1 on; the highest of the slow compressors on less data.
fn check(compressor: Compressor) {
    for level in 1..=9 {
        for len in testkit::effort::sample([100_000, 1 << 20], 2) {
            let slow = matches!(compressor, Compressor::Zstd | Compressor::Zlib);
            if slow && level > 6 && len > 100_000 {
                continue;
            }
            let (ours, theirs) = sizes(compressor, level, len);
            println!(
                "{compressor} {level} {len}: {ours} of {theirs}, {:.4}",
                ours as f64 / theirs as f64
            );
            assert!(
                ours * 100 <= theirs * 102,
                "{compressor} level {level}: {ours} bytes, C-Blosc {theirs}"
            );
        }
    }
}

#[test]
fn blosclz_is_as_small_as_that_of_c_blosc() {
    check(Compressor::Blosclz);
}

#[test]
fn lz4_is_as_small_as_that_of_c_blosc() {
    check(Compressor::Lz4);
}

#[test]
fn lz4hc_is_as_small_as_that_of_c_blosc() {
    check(Compressor::Lz4hc);
}

#[test]
fn snappy_is_as_small_as_that_of_c_blosc() {
    check(Compressor::Snappy);
}

#[test]
fn zlib_is_as_small_as_that_of_c_blosc() {
    check(Compressor::Zlib);
}

#[test]
fn zstd_is_as_small_as_that_of_c_blosc() {
    check(Compressor::Zstd);
}
