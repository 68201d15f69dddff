//! Blosc2 frames and the arrays in them: what real programs wrote, and what becomes of changes.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::expect_used,
    reason = "a test fails by panicking"
)]

mod corpus;
mod review;

#[path = "../support/frames.rs"]
mod frames;
