//! Files, records, datasets and frames, read from object stores and servers.
#![allow(
    clippy::unwrap_used,
    clippy::cast_possible_truncation,
    clippy::panic,
    reason = "a test fails by panicking, and its data is small"
)]

mod bucket;
mod changes;
mod command;
mod corpus;
mod counts;
mod faults;
mod faulty;
mod mistakes;
mod outputs;
mod patience;
mod servers;
mod writes;
