//! Times short calls against C-Blosc 1.21: small chunks, some elements of a chunk, and chunks by
//! two threads.
//!
//! `cargo bench -p blosc1 --bench calls [-- WORD..]` prints a line of JSON for each run; `just bench-all --only calls` makes a
//! table of them. `ROUNDS=n` changes the number of rounds from 9. C-Blosc is built with the SIMD that `RUSTFLAGS`
//! allows: use `-C target-feature=+avx2`. Our encoders and decoders are kept between calls; the
//! calls of C-Blosc that do not use global state make a context each time.
#![allow(unsafe_code, reason = "calls into the C library")]
#![allow(
    clippy::unwrap_used,
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    clippy::cast_sign_loss,
    missing_docs,
    reason = "a bench fails by panicking"
)]

use std::ffi::CString;
use std::hint::black_box;

use blosc1::{ChunkDecoder, ChunkEncoder, ChunkSettings, Compressor};
use testkit::oracle::{self, Kind, Random};

#[path = "../../../benches/clock/mod.rs"]
mod clock;

/// Lets both take turns.
fn compare(name: &str, ours: &mut dyn FnMut(), theirs: &mut dyn FnMut()) {
    clock::in_turn(name, &["ours", "C-Blosc"], "", &mut |at| {
        if at == 0 { ours() } else { theirs() }
    });
}

/// Small chunks: encode and decode.
fn small(compressor: Compressor, kind: Kind, len: usize) {
    let settings = ChunkSettings::default()
        .compressor(compressor)
        .level(5)
        .typesize(kind.typesize());
    let data = kind.data(&mut Random::new(71), len);
    let mut encoder = ChunkEncoder::new(settings).unwrap();
    let mut decoder = ChunkDecoder::new();
    let (mut out, mut room) = (vec![0; len + 16], vec![0; len + 16]);
    let name = format!("{compressor} {kind:?} {} KiB", len >> 10);
    compare(
        &format!("encode {name}"),
        &mut || {
            black_box(encoder.encode_into(&data, &mut out).unwrap());
        },
        &mut || {
            black_box(oracle::compress_into(&settings, &data, &mut room));
        },
    );
    let chunk = oracle::compress(&settings, &data, 0);
    let (mut back, mut other) = (vec![0; len], vec![0; len]);
    compare(
        &format!("decode {name}"),
        &mut || {
            black_box(decoder.decode(&chunk, &mut back).unwrap());
        },
        &mut || {
            black_box(oracle::decompress_into(&chunk, &mut other));
        },
    );
}

/// Some elements of a chunk of 1 MiB.
fn getitem(compressor: Compressor, count: usize) {
    let settings = ChunkSettings::default()
        .compressor(compressor)
        .level(5)
        .typesize(8);
    let data = Kind::Walk.data(&mut Random::new(72), 1 << 20);
    let chunk = oracle::compress(&settings, &data, 0);
    let mut decoder = ChunkDecoder::new();
    let (mut out, mut other) = (vec![0; 8 * count], vec![0; 8 * count]);
    let (mut our_at, mut their_at) = (0, 0);
    let next = |at: &mut usize| {
        *at = (*at + 40_503) % ((1 << 17) - count);
        *at
    };
    compare(
        &format!("getitem {compressor} {count}"),
        &mut || {
            let start = 8 * next(&mut our_at) as u32;
            black_box(decoder.decode_range(&chunk, start, &mut out).unwrap());
        },
        &mut || {
            let start = next(&mut their_at) as i32;
            let (chunk, out) = (chunk.as_ptr().cast(), other.as_mut_ptr().cast());
            // SAFETY: the chunk is whole and sound, and `other` has room for the elements.
            black_box(unsafe { blosc_src::blosc_getitem(chunk, start, count as i32, out) });
        },
    );
}

/// A chunk of 16 MiB by two threads.
fn threads(compressor: Compressor) {
    let settings = ChunkSettings::default()
        .compressor(compressor)
        .level(5)
        .typesize(8);
    let data = Kind::Walk.data(&mut Random::new(73), 16 << 20);
    let name = CString::new(compressor.name()).unwrap();
    let mut encoder = ChunkEncoder::new(settings).unwrap().threads(2);
    let mut decoder = ChunkDecoder::new().threads(2);
    let (mut out, mut room) = (vec![0; data.len() + 16], vec![0; data.len() + 16]);
    compare(
        &format!("encode {compressor} 16 MiB, 2 threads"),
        &mut || {
            black_box(encoder.encode_into(&data, &mut out).unwrap());
        },
        &mut || {
            let (from, to) = (data.as_ptr().cast(), room.as_mut_ptr().cast());
            let (len, most, name) = (data.len(), room.len(), name.as_ptr());
            // SAFETY: both pointers are valid for the lengths given, and the name ends with a zero byte.
            let made =
                unsafe { blosc_src::blosc_compress_ctx(5, 1, 8, len, from, to, most, name, 0, 2) };
            assert!(made > 0);
        },
    );
    let chunk = oracle::compress(&settings, &data, 0);
    let (mut back, mut other) = (vec![0; data.len()], vec![0; data.len()]);
    compare(
        &format!("decode {compressor} 16 MiB, 2 threads"),
        &mut || {
            black_box(decoder.decode(&chunk, &mut back).unwrap());
        },
        &mut || {
            let (from, to) = (chunk.as_ptr().cast(), other.as_mut_ptr().cast());
            // SAFETY: the chunk is whole and sound, and `other` is valid for the length given.
            let made = unsafe { blosc_src::blosc_decompress_ctx(from, to, other.len(), 2) };
            assert!(made > 0);
        },
    );
}

fn main() {
    for compressor in Compressor::ALL {
        for kind in [Kind::Walk, Kind::Sensor] {
            for len in [1 << 10, 4 << 10, 16 << 10, 64 << 10] {
                small(compressor, kind, len);
            }
        }
    }
    for compressor in Compressor::ALL {
        for count in [1, 10, 100, 1000] {
            getitem(compressor, count);
        }
    }
    Compressor::ALL.into_iter().for_each(threads);
}
