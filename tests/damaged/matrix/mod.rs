//! Tests of changes to any container: each bit flipped, a cut at each byte, its chunks in another order, a hostile
//! header. Each part prints its table as Markdown: `cargo test --test damaged matrix -- --nocapture`.
//!
//! Streams, files and records have most of this in `tests/damaged/flips.rs`, `tests/damaged/truncation.rs`, `tests/codec/records/` and
//! `tests/damaged/hostile/`; here is what those do not have, of datasets and frames above all.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]
#![allow(
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    clippy::cast_sign_loss,
    reason = "lengths and numbers here are small"
)]

mod cuts;
mod fields;
mod flips;
mod harmless;
mod headers;
mod hostile;
mod limits;
mod order;
#[cfg(unix)]
mod pipes;
mod samples;

use testkit::by_fields;
use testkit::counting;

use testkit::frame_parts;
use testkit::golden;
use testkit::records_by_hand;
use testkit::stopwatch;
use testkit::tally;

/// Memory allowed for anything, besides twice the input.
const BASE: usize = 64 << 20;
