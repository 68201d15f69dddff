//! Tests of files, streams and records: writing, reading, finding by position, and changing.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by panicking, and its numbers are small"
)]

mod blosc2_files;
mod corpus;
mod determinism;
mod edit;
mod follow;
mod format;
mod hashers;
mod indexed;
mod interactive;
mod mapped;
mod pieces;
mod positions;
mod reads;
mod records;
mod records_socket;
mod rotation;
mod roundtrip;
mod runs;
mod sides;
mod tune;
mod varlen_proposal;
mod written;

#[global_allocator]
static ALLOCATOR: testkit::counting::Counting = testkit::counting::Counting;
