//! Tests of datasets in directories: real ones are read; ours are written, changed and read back.
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
mod byte_order;
mod corpus;
mod crash;
mod dataset_documents;
mod dataset_hostile;
mod dataset_meta;
mod described;
mod disk;
mod documented;
mod dtypes;
#[cfg(unix)]
mod hostile;
#[cfg(unix)]
mod hostile_builder;
mod index;
mod lies;
mod model;
mod repair;
mod spare;
mod superchunk;

use testkit::counting;

#[global_allocator]
static ALLOCATOR: counting::Counting = counting::Counting;

use testkit::dataset_model;
use testkit::datasets;
use testkit::documents;
#[cfg(unix)]
use testkit::hostile_dirs;
use testkit::stopwatch;

use bloscpack_datasets::DatasetLayout;

/// All that are written.
fn layouts() -> Vec<DatasetLayout> {
    DatasetLayout::ALL.to_vec()
}
