//! Changes of many files at once: power cuts, failing system calls, killed writers, hostile journals.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "also in the helpers, which stand outside of test functions"
)]

mod crash;
#[cfg(unix)]
mod disk;
mod fault;
mod hostile;
mod model;
