//! Directory datasets: real ones read, ours written, changed and read back.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test")]

mod corpus;
