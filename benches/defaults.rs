//! Measurements that justify the default compressor and level.
//!
//! `cargo bench --bench defaults [-- WORD..]` prints, for each compressor and level, the geometric mean of the
//! ratios, the speed of one thread by its CPU time, and the seconds to write a gigabyte to a disk and read it back, with
//! two threads and disks of 1 and of 0.2 GB/s. The spread is the largest over the kinds of data: the slowest round of
//! encoding, without the first, divided by the fastest. `docs/defaults.md` has a run and the conclusions.
#![allow(clippy::unwrap_used, reason = "a bench fails by panicking")]

use bloscpack::blosc::{ChunkDecoder, ChunkEncoder, ChunkSettings, Compressor, Filter};

use clock::seconds;
use oracle::{Kind, Random};
use testkit::oracle;

mod clock;

const CHUNK: usize = 1 << 20;
const CHUNKS: usize = 8;
const ROUNDS: usize = 4;
const THREADS: f64 = 2.0;
const KINDS: [Kind; 5] = [
    Kind::Walk,
    Kind::Ramp,
    Kind::Sensor,
    Kind::Text,
    Kind::Noise,
];

/// Best seconds to encode and to decode, and the compressed length.
struct Run {
    spread: f64,
    encode: f64,
    decode: f64,
    size: usize,
}

fn main() {
    let data = KINDS.map(|kind| (kind, kind.data(&mut Random::new(31), CHUNK * CHUNKS)));
    println!(
        "| compressor | level | ratio | encode, MB/s | decode, MB/s | 1 GB/s | 0.2 GB/s | spread |"
    );
    println!("|---|--:|--:|--:|--:|--:|--:|--:|");
    for compressor in Compressor::ALL {
        for level in 1..=9 {
            if !clock::is_wanted(&format!("{compressor} {level}")) {
                continue;
            }
            let runs: Vec<_> = data
                .iter()
                .map(|(kind, data)| run(compressor, level, *kind, data))
                .collect();
            print(compressor, level, &runs);
        }
    }
}

fn print(compressor: Compressor, level: u8, runs: &[Run]) {
    let sum = |of: fn(&Run) -> f64| runs.iter().map(of).sum::<f64>();
    let gigabytes = (KINDS.len() * CHUNKS * CHUNK) as f64 / 1e9;
    let each = (CHUNKS * CHUNK) as f64;
    let ratio = runs
        .iter()
        .map(|run| (each / run.size as f64).ln())
        .sum::<f64>()
        / KINDS.len() as f64;
    let (encode, decode) = (
        sum(|run| run.encode) / gigabytes,
        sum(|run| run.decode) / gigabytes,
    );
    let stored = sum(|run| run.size as f64) / 1e9 / gigabytes;
    let disk_seconds = |disk: f64| (encode + decode) / THREADS + 2.0 * stored / disk;
    println!(
        "| {compressor} | {level} | {:.2} | {:.0} | {:.0} | {:.2} | {:.2} | {:.2} |",
        ratio.exp(),
        1e3 / encode,
        1e3 / decode,
        disk_seconds(1.0),
        disk_seconds(0.2),
        runs.iter().fold(1.0, |most, run| run.spread.max(most)),
    );
}

fn run(compressor: Compressor, level: u8, kind: Kind, data: &[u8]) -> Run {
    let typesize = kind.typesize();
    let settings = ChunkSettings::default()
        .compressor(compressor)
        .level(level)
        .filter(Filter::Byte)
        .typesize(typesize);
    let (mut encoder, mut decoder) = (ChunkEncoder::new(settings).unwrap(), ChunkDecoder::new());
    let mut chunks: Vec<_> = (0..CHUNKS)
        .map(|_| Vec::with_capacity(CHUNK + 16))
        .collect();
    let mut back = vec![0; CHUNK];
    let (mut encode, mut decode, mut slowest) = (f64::MAX, f64::MAX, 0.0);
    for round in 0..ROUNDS {
        let start = seconds();
        for (chunk, data) in chunks.iter_mut().zip(data.chunks(CHUNK)) {
            chunk.clear();
            encoder.encode(data, chunk).unwrap();
        }
        let took = seconds() - start;
        encode = encode.min(took);
        slowest = if round == 0 { 0.0 } else { took.max(slowest) };
        let start = seconds();
        for chunk in &chunks {
            decoder.decode(chunk, &mut back).unwrap();
        }
        decode = decode.min(seconds() - start);
    }
    Run {
        spread: slowest / encode,
        encode,
        decode,
        size: chunks.iter().map(Vec::len).sum(),
    }
}
