//! Compares the automatic settings with the best fixed choice.
//!
//! `cargo bench --bench auto` measures every compressor, level, filter and likely typesize on six kinds
//! of data, and prints for each aim the automatic choice, the best fixed choice, and how they compare by
//! the formula of [`bloscpack::blosc::Aim`]. It takes a few minutes; `DATA=noise` selects a kind of data, and
//! `ROUNDS=n` changes the number of rounds from 7.
//!
//! `cargo bench --bench auto -- calibrate` prints the figures of the cost model, `tune/figures.rs`.
#![allow(clippy::unwrap_used, reason = "a bench fails by panicking")]
#![allow(
    clippy::cast_possible_truncation,
    reason = "truncating made-up data does no harm"
)]

#[path = "auto/calibrate.rs"]
mod calibrate;
mod clock;
#[path = "auto/compare.rs"]
mod compare;
#[path = "auto/data.rs"]
mod data;
use testkit::oracle;

fn main() {
    let has = |word: &str| std::env::args().any(|arg| arg == word);
    if has("calibrate") {
        calibrate::run(has("raw"));
    } else {
        compare::run();
    }
}
