//! Blosc2 frames and the arrays in them: what real programs wrote, and what becomes of changes.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::expect_used,
    clippy::cast_possible_truncation,
    clippy::single_range_in_vec_init,
    reason = "a test fails by panicking, and its numbers are small"
)]

mod corpus;
mod review;

#[path = "../support/frames.rs"]
mod frames;
