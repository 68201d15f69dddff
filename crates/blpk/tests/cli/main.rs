//! Tests of the command `blpk`, run as users and scripts run it.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "also in the helpers, which stand outside of test functions"
)]

mod append;
mod archives;
mod auto;
mod below;
mod cat;
mod converted;
use testkit::datasets as corpora;
mod datasets;
mod datasets_changed;
mod datasets_exchanged;
#[cfg(unix)]
mod flush;
#[cfg(unix)]
mod follow;
mod formats;
use testkit::frames as frame_corpora;
mod frames;
mod help;
#[cfg(unix)]
mod hostile;
#[cfg(unix)]
use testkit::hostile_dirs;
mod metadata;
mod naming;
mod objects;
mod operands;
mod outputs;
mod patch;
mod pipes;
#[cfg(unix)]
mod readme;
mod records;
mod recover;
mod reindex;
mod reports;
mod settings;
#[cfg(unix)]
mod signals;
#[cfg(unix)]
mod snapshot;
#[cfg(unix)]
mod sql;
mod statuses;
#[cfg(unix)]
mod streams;
mod support;
#[cfg(target_os = "linux")]
mod terminal;
mod virtual_frames;
mod zarr;
