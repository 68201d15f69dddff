//! The layout of BLZ 0.6: as bcolz, but with `bparams`, which name no compressor, and with `dirs`, which BLZ needs to open a
//! table.

use super::real::Real;
use crate::dataset_layout::DatasetLayout;
use crate::new::NewArray;
use crate::wire::{ChunkOverhead, ParamsKey, StorageStyle};
use blosc1::{Compressor, Filter};
use bloscpack_error::{Error, Result};

pub(super) static BLZ: Real = Real {
    layout: DatasetLayout::Blz,
    params_key: ParamsKey::Bparams,
    style: StorageStyle::Blz,
    chunk_overhead: ChunkOverhead::Header,
    check_new,
};

/// Refuses Zstandard and bitshuffle, which the Blosc of 2014 that BLZ uses cannot decompress.
fn check_new(new: &NewArray) -> Result<()> {
    let settings = &new.settings;
    if settings.compressor == Compressor::Zstd || settings.filter == Filter::Bit {
        return Err(Error::usage(
            "BLZ does not support zstd and bitshuffle: choose another compressor and byte shuffle",
        ));
    }
    Ok(())
}
