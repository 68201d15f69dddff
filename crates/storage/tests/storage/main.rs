//! Tests of folders, stores of many files, and changes interrupted by power cuts and errors.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by panicking, and its numbers are small"
)]

mod folders;
mod journals;
mod killed;
mod readers;
mod stores;
mod stores_disk;
mod tree;
mod watch;
#[cfg(feature = "zip")]
mod zips;
