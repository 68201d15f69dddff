//! Folders, stores of many files, and changes of them that power cuts and errors interrupt.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by panicking, and its numbers are small"
)]

mod folders;
mod stores;
mod stores_disk;
mod tree;
