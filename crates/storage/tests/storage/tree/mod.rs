//! Tests of atomic changes of many files: power cuts, failing system calls, killed writers, hostile journals.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "also in helpers outside of test functions"
)]

pub(crate) mod crash;
#[cfg(unix)]
mod disk;
mod fault;
mod hostile;
mod model;
mod readers;
