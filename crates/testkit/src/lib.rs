//! Doubles, models and independent readers for the tests of the workspace.
//!
//! The readers in [`documents`] and the reference engine in [`oracle`] share no code with the crates that they judge.

pub mod bound;
pub mod by_fields;
pub mod check;
pub mod corpus;
pub mod counted;
pub mod counting;
pub mod crash;
pub mod damages;
pub mod dataset_model;
pub mod datasets;
pub mod documents;
pub mod effort;
pub mod faulty;
pub mod frame_model;
pub mod frame_parts;
pub mod frames;
pub mod golden;
#[cfg(unix)]
pub mod hostile_dirs;
pub mod idle;
pub mod manifest;
pub mod map;
pub mod oracle;
pub mod pick;
pub mod recorder;
pub mod records_by_hand;
pub mod scenario;
pub mod stopwatch;
pub mod tally;
mod testdata;
pub mod trickle;

pub use testdata::{enter_testdata, testdata};

use std::path::PathBuf;

/// The root of the workspace.
pub fn root() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}
