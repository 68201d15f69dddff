//! Times short calls against C-Blosc 1.21: small chunks, some elements of a chunk, and chunks by
//! two threads.
//!
//! `cargo bench -p blosc1 --bench calls` prints the calls per second of both sides, and the median
//! of the rounds' ratios theirs / ours (above 1, ours is faster). Times are CPU times of the
//! thread, so that other work on the machine counts little; for two threads, they are wall times.
//! `ROUNDS=n` changes the number of rounds from 15. C-Blosc is built with the SIMD that `RUSTFLAGS`
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
use std::sync::LazyLock;
use std::time::Instant;

use blosc1::{ChunkDecoder, ChunkEncoder, ChunkSettings, Compressor};
use testkit::oracle::{self, Kind, Random};

#[path = "../../../benches/auto/clock.rs"]
mod clock;

/// Returns the seconds since a fixed moment.
type Clock = fn() -> f64;

/// Wall time, for calls by several threads.
fn wall() -> f64 {
    static START: LazyLock<Instant> = LazyLock::new(Instant::now);
    START.elapsed().as_secs_f64()
}

/// Prints the calls per second of both sides, and the median ratio of rounds that take turns.
fn compare(name: &str, clock: Clock, ours: &mut dyn FnMut(), theirs: &mut dyn FnMut()) -> f64 {
    // Seconds per call, over many calls.
    let seconds = |work: &mut dyn FnMut(), times| {
        let start = clock();
        for _ in 0..times {
            work();
        }
        (clock() - start) / f64::from(times)
    };
    let rounds = std::env::var("ROUNDS").map_or(15, |rounds| rounds.parse().unwrap());
    ours();
    theirs();
    let times = (0.004 / seconds(theirs, 3_u32)).ceil().clamp(1.0, 1e6) as u32;
    let mut rows = [vec![], vec![], vec![]];
    for round in 0..rounds {
        let (our, their) = if round % 2 == 0 {
            let our = seconds(ours, times);
            (our, seconds(theirs, times))
        } else {
            let their = seconds(theirs, times);
            (seconds(ours, times), their)
        };
        for (row, value) in rows.iter_mut().zip([our, their, their / our]) {
            row.push(value);
        }
    }
    let [our, their, ratio] = rows.map(|mut row| {
        row.sort_by(f64::total_cmp);
        row[row.len() / 2]
    });
    println!(
        "{name:<32} {:>12.0} {:>12.0} {ratio:>6.2}",
        1.0 / our,
        1.0 / their
    );
    ratio
}

/// Small chunks: encode and decode.
fn small(compressor: Compressor, kind: Kind, len: usize) -> [f64; 2] {
    let settings = ChunkSettings::default()
        .compressor(compressor)
        .level(5)
        .typesize(kind.typesize());
    let data = kind.data(&mut Random::new(71), len);
    let mut encoder = ChunkEncoder::new(settings).unwrap();
    let mut decoder = ChunkDecoder::new();
    let (mut out, mut room) = (vec![0; len + 16], vec![0; len + 16]);
    let name = format!("{compressor} {kind:?} {} KiB", len >> 10);
    let encode = compare(
        &format!("encode {name}"),
        clock::seconds,
        &mut || {
            black_box(encoder.encode_into(&data, &mut out).unwrap());
        },
        &mut || {
            black_box(oracle::compress_into(&settings, &data, &mut room));
        },
    );
    let chunk = oracle::compress(&settings, &data, 0);
    let (mut back, mut other) = (vec![0; len], vec![0; len]);
    let decode = compare(
        &format!("decode {name}"),
        clock::seconds,
        &mut || {
            black_box(decoder.decode(&chunk, &mut back).unwrap());
        },
        &mut || {
            black_box(oracle::decompress_into(&chunk, &mut other));
        },
    );
    [encode, decode]
}

/// Some elements of a chunk of 1 MiB.
fn getitem(compressor: Compressor, count: usize) -> f64 {
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
        clock::seconds,
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
    )
}

/// A chunk of 16 MiB by two threads.
fn threads(compressor: Compressor) -> [f64; 2] {
    let settings = ChunkSettings::default()
        .compressor(compressor)
        .level(5)
        .typesize(8);
    let data = Kind::Walk.data(&mut Random::new(73), 16 << 20);
    let name = CString::new(compressor.name()).unwrap();
    let mut encoder = ChunkEncoder::new(settings).unwrap().threads(2);
    let mut decoder = ChunkDecoder::new().threads(2);
    let (mut out, mut room) = (vec![0; data.len() + 16], vec![0; data.len() + 16]);
    let encode = compare(
        &format!("encode {compressor} 16 MiB, 2 threads"),
        wall,
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
    let decode = compare(
        &format!("decode {compressor} 16 MiB, 2 threads"),
        wall,
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
    [encode, decode]
}

/// The geometric mean and the lowest of the ratios.
fn summary(name: &str, ratios: &[f64]) {
    let mean = ratios.iter().map(|ratio| ratio.ln()).sum::<f64>() / ratios.len() as f64;
    let lowest = ratios.iter().copied().fold(f64::INFINITY, f64::min);
    println!("{name}: mean {:.2}, lowest {lowest:.2}", mean.exp());
}

fn main() {
    println!(
        "{:<32} {:>12} {:>12} {:>6}",
        "calls a second", "ours", "C-Blosc", "ratio"
    );
    let (mut encode, mut decode) = (vec![], vec![]);
    for compressor in Compressor::ALL {
        for kind in [Kind::Walk, Kind::Sensor] {
            for len in [1 << 10, 4 << 10, 16 << 10, 64 << 10] {
                let [first, second] = small(compressor, kind, len);
                encode.push(first);
                decode.push(second);
            }
        }
    }
    let mut elements = vec![];
    for compressor in Compressor::ALL {
        elements.extend([1, 10, 100, 1000].map(|count| getitem(compressor, count)));
    }
    let both: Vec<_> = Compressor::ALL.into_iter().map(threads).collect();
    summary("small chunks, encode", &encode);
    summary("small chunks, decode", &decode);
    summary("elements", &elements);
    summary(
        "two threads, encode",
        &both.iter().map(|pair| pair[0]).collect::<Vec<_>>(),
    );
    summary(
        "two threads, decode",
        &both.iter().map(|pair| pair[1]).collect::<Vec<_>>(),
    );
}
