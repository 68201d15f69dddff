//! The layout of bcolz, from 0.12 to bcolz-zipline 1.13, and of carray 0.5, whose arrays bcolz opens.
//!
//! `meta/storage` contains `cparams`. From bcolz 1.1, they name the compressor; in older files, only the chunk headers do.
//! Tables of carray 0.5 and of bcolz up to 0.7.1 list the paths of their columns under `dirs`; later tables have only `names`.
//! New datasets are written as bcolz 1.2 writes them.

use super::real::Real;
use crate::dataset_layout::DatasetLayout;
use crate::new::NewArray;
use crate::wire::{ChunkOverhead, ParamsKey, StorageStyle};
use blosc1::Compressor;
use bloscpack_error::{Error, Result};

pub(super) static BCOLZ: Real = Real {
    layout: DatasetLayout::Bcolz,
    params_key: ParamsKey::Cparams,
    style: StorageStyle::Bcolz,
    chunk_overhead: ChunkOverhead::None,
    check_new,
};

/// Refuses Snappy, which current bcolz cannot read.
fn check_new(new: &NewArray) -> Result<()> {
    match new.settings.compressor {
        Compressor::Snappy => Err(Error::usage(
            "bcolz does not open datasets compressed with snappy: choose another compressor",
        )),
        _ => Ok(()),
    }
}
