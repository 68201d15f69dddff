//! Tests of chunks of Blosc 1 and 2: round trips, hostile chunks, and chunks of the C libraries.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by panicking, and its numbers are small"
)]

mod blosc2_corpus;
mod blosc2_golden;
mod blosc2_hostile;
mod blosc2_round_trip;
mod blosc_differential;
mod blosc_hostile;
mod blosc_size;
mod blosc_splitmode;
mod into;

use testkit::counting;

#[global_allocator]
static ALLOCATOR: counting::Counting = counting::Counting;
