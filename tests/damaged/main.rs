//! Tests of inputs that are damaged, cut short or hostile, and of recovery from them.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by panicking, and its numbers are small"
)]

mod flips;
mod hostile;
mod matrix;
mod recovery;
mod tables;
mod truncation;

#[global_allocator]
static ALLOCATOR: testkit::counting::Counting = testkit::counting::Counting;
