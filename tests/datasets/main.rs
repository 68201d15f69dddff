//! Directory datasets: real ones read, ours written, changed and read back.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    clippy::cast_sign_loss,
    clippy::single_range_in_vec_init,
    reason = "a test"
)]

mod blz;
mod corpus;
mod crash;
mod described;
mod disk;
mod documented;
#[cfg(unix)]
mod hostile;
mod lies;
mod model;
mod repair;
mod spare;

#[path = "../support/counting.rs"]
mod counting;
#[path = "../support/dataset_model/mod.rs"]
mod dataset_model;
#[path = "../support/datasets.rs"]
mod datasets;
#[path = "../documents/mod.rs"]
mod documents;
#[cfg(unix)]
#[path = "../support/hostile_dirs.rs"]
mod hostile_dirs;
#[path = "../oracle/mod.rs"]
mod oracle;
#[path = "../support/stopwatch.rs"]
mod stopwatch;
#[path = "../support/tree_crash.rs"]
mod tree_crash;
#[path = "../support/tree_recorder.rs"]
mod tree_recorder;

use bloscpack::dataset::DatasetLayout;

/// All that are written.
fn layouts() -> Vec<DatasetLayout> {
    DatasetLayout::ALL.to_vec()
}
