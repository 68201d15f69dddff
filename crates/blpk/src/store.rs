//! Stores of python-blosc2: tables and trees of arrays in a directory or a ZIP archive.

pub mod held;
pub mod new;

use bloscpack::Compressor;
use bloscpack_open::{
    exchange::{Schema, UserAttributes, store_columns},
    frames::NdArrayBuilder,
    stores::TableWriter,
};

use crate::args::with_given;
use crate::dataset::storage_args::StorageArgs;
use crate::failure::Failure;
use crate::session::Session;
use new::NewStore;

/// Why an attribute does not become a metalayer.
pub const NO_LAYER: &str =
    "metalayers have names of at most 31 bytes, and integers of at most 64 bits";

/// Warns about metadata that a target does not store.
pub fn warn_about_lost(names: &[String], why: &str, name: &str, session: &Session) {
    if !names.is_empty() {
        let names: Vec<String> = names.iter().map(|name| format!("{name:?}")).collect();
        let names = names.join(", ");
        session.warning(format_args!(
            "{name}: its metadata {names} is dropped: {why}"
        ));
    }
}

/// Warns about time zones, which only tables of python-blosc2, Arrow and Parquet store.
pub fn warn_about_zones(schema: &Schema, name: &str, session: &Session) {
    for column in &schema.columns {
        if let Some(zone) = &column.zone {
            session.warning(format_args!(
                "{name}: the time zone {zone} of column {} is dropped; its times are in UTC",
                column.name
            ));
        }
    }
}

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
    let (attributes, lost) = UserAttributes::values(&schema.attributes);
    warn_about_lost(&lost, NO_LAYER, &new.name(), session);
    let table = TableWriter::create(&new.folder(), &columns, rows, settings);
    let table = table.map(|table| table.attributes(attributes));
    table.map_err(|error| new.failed(&error))
}
