//! The automatic settings beside the best fixed choice.
//!
//! `cargo bench --bench auto` measures every compressor, level, filter and likely typesize on six kinds
//! of data, and prints for each aim what was chosen for it, the best of all, and how they compare by
//! the formula of [`bloscpack::blosc::Aim`]. It takes some minutes. `docs/defaults.md` has a run.
//!
//! `cargo bench --bench auto -- calibrate` prints the figures of the cost model in `src/blosc/tune/`.
#![allow(clippy::unwrap_used, reason = "a bench fails by panicking")]
#![allow(
    clippy::cast_possible_truncation,
    reason = "made-up data may be cut as it likes"
)]

#[path = "auto/calibrate.rs"]
mod calibrate;
#[path = "auto/clock.rs"]
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
