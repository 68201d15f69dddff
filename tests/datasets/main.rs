//! Directory datasets: real ones read, ours written, changed and read back.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test")]

mod corpus;
#[path = "../support/datasets.rs"]
mod datasets;
#[path = "../documents/mod.rs"]
mod documents;
#[path = "../oracle/mod.rs"]
mod oracle;
mod repair;
