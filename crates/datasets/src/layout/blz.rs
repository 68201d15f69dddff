//! BLZ 0.6 as it is: bcolz but for `bparams`, which name no compressor, and `dirs`, without which it opens no table.

use super::{put, real};
use crate::leaf::Spec;
use crate::new::NewArray;
use crate::wire::{ParamsKey, StorageStyle};
use blosc1::{Compressor, Filter};
use bloscpack_error::{Error, Result};
use bloscpack_storage::{JournaledStore, Key};

/// What the Blosc of 2014 that BLZ has decompresses.
pub(super) fn new_spec(folder: &Key, new: &NewArray) -> Result<Spec> {
    if new.press.compressor == Compressor::Zstd || new.press.filter == Filter::Bit {
        return Err(Error::usage(
            "BLZ is older than zstd and bitshuffle: choose another compressor and byte shuffle",
        ));
    }
    let spec = real::new_spec(folder, new)?;
    Ok(Spec {
        chunk_overhead: real::OLD_OVERHEAD,
        ..spec
    })
}

pub(super) fn put_storage(root: &JournaledStore, at: &Key, spec: &Spec) -> Result<()> {
    let storage = real::storage_of(spec, ParamsKey::Bparams).encode(StorageStyle::Blz)?;
    put(root, &at.join("meta")?.join("storage")?, &storage)
}
