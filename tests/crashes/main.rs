//! Tests of editors of files when the power fails or an operation of the storage does.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by panicking, and its numbers are small"
)]

mod bound;
mod crash;
mod faults;
mod rotate;
