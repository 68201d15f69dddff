//! bcolz, all versions from 0.12 to bcolz-zipline 1.13, and carray 0.5, whose arrays it opens.
//!
//! `meta/storage` has `cparams`; since 1.1 they name the compressor, before that the chunks alone tell. Tables of carray 0.5 and of
//! bcolz until 0.7.1 name the paths of their columns under `dirs`, tables of later ones have only `names`. New datasets are written
//! as bcolz 1.2 writes them.

use super::{put, real};
use crate::leaf::Spec;
use crate::new::NewArray;
use crate::wire::{ParamsKey, StorageStyle};
use blosc1::Compressor;
use bloscpack_error::{Error, Result};
use bloscpack_storage::{JournaledStore, Key};

/// What bcolz opens: Snappy is missing from the only bcolz that can still be installed.
pub(super) fn new_spec(folder: &Key, new: &NewArray) -> Result<Spec> {
    if new.press.compressor == Compressor::Snappy {
        return Err(Error::usage(
            "bcolz does not open datasets compressed with snappy: choose another compressor",
        ));
    }
    real::new_spec(folder, new)
}

pub(super) fn put_storage(root: &JournaledStore, at: &Key, spec: &Spec) -> Result<()> {
    let storage = real::storage_of(spec, ParamsKey::Cparams).encode(StorageStyle::Bcolz)?;
    put(root, &at.join("meta")?.join("storage")?, &storage)
}
