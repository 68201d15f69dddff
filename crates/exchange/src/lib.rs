//! Datasets out to the formats of other programs, and in from them.
//!
//! A [`Source`] is columns of the same number of rows, given a [`Batch`] at a time in bounded memory: an array ([`ArraySource`]), a
//! table ([`TableSource`]), or a file of another format ([`open`]). It is written as one of the [`Format`]s by [`export`], into a
//! dataset by [`import_array`] and [`import_table`], or into a table of python-blosc2 by [`import_store`].
//!
//! ```
//! # testkit::enter_testdata();
//! use bloscpack_datasets::CTable;
//! use bloscpack_exchange::{Format, ImportOptions, export, import_table, open_at};
//! use bloscpack_storage::Memory;
//!
//! let table = CTable::open("testdata/datasets/bcolz/table_trimmed")?;
//! let mut lines = Vec::new();
//! export(&mut table.source()?, Format::JsonLines, &mut lines, &mut |_| ())?;
//! assert_eq!(lines.iter().filter(|byte| **byte == b'\n').count() as u64, table.rows()?);
//!
//! let mut array = Vec::new();
//! export(&mut table.source()?, Format::Npy, &mut array, &mut |_| ())?;
//! let mut back = open_at(array, Format::Npy, &ImportOptions::new())?.fields()?;
//! let mut copy = bloscpack_datasets::CTableBuilder::of_schema(back.schema(), |_, column| column).create_in(Memory::new())?;
//! import_table(&mut *back, &mut copy, &mut |_| ())?;
//! assert_eq!(copy.rows()?, table.rows()?);
//! # Ok::<(), bloscpack_error::Error>(())
//! ```
//!
//! # Types
//!
//! | format | types | missing values |
//! |---|---|---|
//! | `.npy` | all that NumPy writes; a table becomes fields of one array | – |
//! | `.npz` | as `.npy`; several arrays are the columns of a table | – |
//! | `.csv` | as text, see [`DType::write_text`](bloscpack_dtype::DType::write_text), and bytes that are not UTF-8 as they are; guessed on the way back, or given | an empty cell |
//! | `.jsonl` | as [`DType::value`](bloscpack_dtype::DType::value); guessed on the way back, or given | null |
//! | `.arrow`, `.arrows`, `.parquet` | all; the NumPy type is noted at each field, so that it comes back | null |
//!
//! Arrow and Parquet need the feature `arrow`, CSV the feature `csv`, `.npz` the feature `npz`. Of `arrow`, the feature
//! `record-batches` is the part that reads and writes no files: `record_batches` and `of_record_batches`.

#![forbid(unsafe_code)]
#![deny(clippy::indexing_slicing, clippy::string_slice)]

#[cfg(all(feature = "record-batches", target_endian = "big"))]
compile_error!(
    "Arrow has values in the byte order of the machine, and its conversion was only made for little-endian ones"
);

#[cfg(feature = "record-batches")]
mod arrow;
mod bytes;
mod cells;
#[cfg(feature = "csv")]
mod csv;
mod dispatch;
mod ending;
mod error;
mod format;
mod import;
mod jsonl;
mod npy;
#[cfg(feature = "npz")]
mod npz;
mod options;
mod refuse;
mod store;
mod store_source;

#[cfg(feature = "record-batches")]
pub use arrow::{BatchConverter, RecordBatches, catches_panics, of_record_batches, record_batches};
#[cfg(feature = "arrow-write")]
pub use arrow::{write_arrow, write_arrow_stream};
#[cfg(feature = "arrow")]
pub use arrow::{write_parquet, write_parquet_with};
// Their types are in the signatures of this crate: whoever uses them needs the same version.
#[doc(hidden)]
pub use bloscpack_array::Flat;
pub use bloscpack_array::{
    ArraySource, Batch, BoxedSource, Cells, Column, FixedSource, OneArray, PartSource, Progress,
    Schema, Source, TableSource, UserAttributes, next_rows,
};
pub use bytes::write_bytes;
#[cfg(feature = "csv")]
pub use csv::{NextLine, open_records, write_csv, write_tsv};
pub use dispatch::{export, open, open_at};
pub use ending::Ending;
pub use format::Format;
pub use import::{import_array, import_table};
pub use jsonl::write_jsonl;
pub use npy::{NpyFile, npy_header, write_npy};
#[cfg(feature = "npz")]
pub use npz::write_npz;
pub use options::ImportOptions;
#[cfg(feature = "arrow")]
pub use parquet;
pub use store::{import_store, store_columns};
pub use store_source::StoreSource;
#[cfg(feature = "record-batches")]
pub use {arrow_array, arrow_schema};

/// The examples of the README are tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
