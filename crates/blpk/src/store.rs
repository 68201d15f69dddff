//! Stores of python-blosc2: tables and trees of arrays in a directory or a ZIP archive.

pub mod held;
pub mod new;

use bloscpack::{
    Compressor,
    exchange::{Schema, store_columns},
    frame::{NdArrayBuilder, store::TableWriter},
};

use crate::args::with_given;
use crate::dataset::storage_args::StorageArgs;
use crate::failure::Failure;
use crate::session::Session;
use new::NewStore;

/// How the arrays of a store are compressed.
pub fn settings(
    storage: &StorageArgs,
    session: &Session,
) -> impl Fn(NdArrayBuilder) -> NdArrayBuilder + Send + Sync + 'static {
    let compressor = storage.codec.codec.unwrap_or(Compressor::Zstd);
    let level = storage.codec.level();
    let level = level.unwrap_or_else(|| compressor.default_level());
    let filter = storage.filter.filter();
    let options = crate::frame::options(session);
    move |array| {
        let array = array.compressor(compressor).level(level);
        with_given!(array, filters: filter).options(options.clone())
    }
}

/// Begins a table for these columns. Text has any length, unless its length is to stay.
pub fn new_table(
    new: &NewStore<'_>,
    schema: &Schema,
    keeps_length: impl Fn(&str) -> bool,
    storage: &StorageArgs,
    session: &Session,
) -> Result<TableWriter, Failure> {
    let columns = store_columns(schema, keeps_length);
    let columns = columns.map_err(|error| new.failed(&error))?;
    let rows = storage.chunklen.map(|rows| u32::try_from(rows.get()));
    let rows = rows.transpose().map_err(|_| {
        new.unfinished(Failure::usage(
            "--chunklen: so many rows do not fit in a chunk",
        ))
    })?;
    let settings = settings(storage, session);
    let table = TableWriter::create(&new.folder(), &columns, rows, settings);
    table.map_err(|error| new.failed(&error))
}

/// The error of a build without archives.
#[cfg(not(feature = "zip"))]
fn no_archives() -> std::io::Error {
    let what = "this build of blpk has no archives (feature zip); use a directory, .b2d";
    std::io::Error::new(std::io::ErrorKind::Unsupported, what)
}
