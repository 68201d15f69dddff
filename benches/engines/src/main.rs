//! Reads chunks that C-Blosc 1.21 has made, with `blosc1` and with other engines, and compares results and times.
//!
//! ```text
//! cargo run --release -- make FILE [COUNT]
//! cargo run --release -- read FILE
//! cargo run --release --no-default-features --features c-blosc2 -- read FILE
//! ```
//!
//! `make` writes random chunks (2,000 by default) of all compressors and filters, typesizes up to 255 and up to 1 MiB of
//! data, with their data. `read` prints for each engine how many it reads rightly, refuses (an error or a panic), and reads
//! wrongly with success; and for chunks of at least 64 KiB that it reads rightly the geometric mean of its time / ours, in
//! turn, five rounds each. Both C libraries have functions of the same names, so C-Blosc2 has a run of its own.

#[cfg(feature = "c-blosc")]
#[path = "../../../crates/testkit/src/oracle/data.rs"]
#[allow(dead_code, reason = "tests use the rest")]
mod data;
mod engines;
mod pairs;

use std::hint::black_box;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Instant;

use engines::{ENGINES, Engine};
use pairs::Pair;

/// Chunks of fewer bytes are not timed.
const TIMED: usize = 64 << 10;
const ROUNDS: usize = 5;

/// Whether the engine gives the data; `None` if it refuses the chunk.
fn reads(engine: &Engine, pair: &Pair) -> Option<bool> {
    let mut out = vec![0xA5; pair.data.len()];
    let read = catch_unwind(AssertUnwindSafe(|| (engine.decode)(&pair.chunk, &mut out)));
    read.unwrap_or(false).then(|| out == pair.data)
}

fn seconds(engine: &Engine, pair: &Pair, out: &mut [u8]) -> f64 {
    let start = Instant::now();
    black_box((engine.decode)(&pair.chunk, out));
    start.elapsed().as_secs_f64()
}

/// The median of the rounds' ratios of time, theirs / ours.
fn ratio(theirs: &Engine, pair: &Pair) -> f64 {
    let mut out = vec![0; pair.data.len()];
    let mut ratios: Vec<f64> = (0..ROUNDS)
        .map(|_| {
            let ours = seconds(&ENGINES[0], pair, &mut out);
            seconds(theirs, pair, &mut out) / ours
        })
        .collect();
    ratios.sort_by(f64::total_cmp);
    ratios[ROUNDS / 2]
}

fn read(pairs: &[Pair]) {
    println!(
        "| crate | right | refused | wrong | time | chunks timed |\n|---|--:|--:|--:|--:|--:|"
    );
    for engine in ENGINES {
        let (mut right, mut refused, mut wrong) = (0, 0, 0);
        let mut logs = Vec::new();
        for pair in pairs {
            match reads(engine, pair) {
                None => refused += 1,
                Some(false) => wrong += 1,
                Some(true) => {
                    right += 1;
                    if pair.data.len() >= TIMED {
                        logs.push(ratio(engine, pair).ln());
                    }
                }
            }
        }
        let mean = (logs.iter().sum::<f64>() / logs.len() as f64).exp();
        let timed = logs.len();
        println!(
            "| `{}` | {right} | {refused} | {wrong} | {mean:.2} | {timed} |",
            engine.name
        );
    }
}

fn main() -> std::io::Result<()> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    match words.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        #[cfg(feature = "c-blosc")]
        ["make", file] => pairs::make(file, 2000),
        #[cfg(feature = "c-blosc")]
        ["make", file, count] => pairs::make(file, count.parse().map_err(std::io::Error::other)?),
        ["read", file] => {
            // An engine that refuses by a panic need not say so for each chunk.
            std::panic::set_hook(Box::new(|_| {}));
            read(&pairs::load(file)?);
            Ok(())
        }
        _ => Err(std::io::Error::other(
            "usage: make FILE [COUNT] | read FILE",
        )),
    }
}
