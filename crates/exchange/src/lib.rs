//! Exchanges arrays and tables with the files of other programs: NumPy, CSV, JSON lines, Arrow and Parquet.
//!
//! ```text
//!                                                 .npy .npz .csv .tsv .jsonl
//!   CArray, CTable, NdArray, StoreTable, …        .arrow .parquet, records
//!        │ ArraySource, TableSource,                   │ open, open_at, open_records,
//!        │ StoreSource                                 │ with ImportOptions: types,
//!        │                                             │ separators, fill values
//!        └──────────────────────┬──────────────────────┘
//!                               ▼
//!          dyn Source: a Schema, and Batches of rows, about 16 MiB at a time
//!                               │
//!        ┌──────────────────────┴──────────────────────┐
//!        ▼ import_array, import_table, import_store    ▼ export, write_npy, write_csv, …
//!   a dataset, a table in a store                  a file of a Format
//! ```
//!
//! | to | use |
//! |---|---|
//! | write a file | [`export`] with a [`Format`], or its function such as [`write_npy`] |
//! | open a file | [`open`] by its name, [`open_at`] for any bytes, [`NpyFile`] for any box of a `.npy` array |
//! | read text with known types, separators or fill values | [`ImportOptions`] |
//! | append to a dataset | [`import_array`], [`import_table`] |
//! | write a table of python-blosc2 | [`store_columns`], [`import_store`] |
//! | read a table of python-blosc2 | [`StoreSource`] |
//! | exchange Arrow data in memory | `record_batches`, `of_record_batches`, `BatchConverter` |
//! | find the format of a name | [`Ending::of_path`], [`Format::of_path`] |
//!
//! A file may be larger than memory. A file is hostile input: lengths are checked before memory is allocated, and panics of the
//! Arrow and Parquet crates become errors.
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
//! # Types and missing values
//!
//! | format | types | missing values |
//! |---|---|---|
//! | `.npy` | all NumPy types; a table becomes one array whose elements have its columns as fields | – |
//! | `.npz` | as `.npy`; several arrays are the columns of a table | – |
//! | `.csv`, `.tsv` | text as by [`DType::write_text`](bloscpack_dtype::DType::write_text), bytes that are not UTF-8 unchanged; read types are guessed or given | an empty cell |
//! | `.jsonl` | JSON as by [`DType::value`](bloscpack_dtype::DType::value); read types are guessed or given | null |
//! | `.arrow`, `.arrows`, `.parquet` | all; the NumPy type is in the metadata of each field, and restored from it | null |
//!
//! # `.npy`
//!
//! ```text
//!   offset   length   content
//!   0        6        \x93NUMPY
//!   6        2        version: 1.0, 2.0 or 3.0
//!   8        2, 4     length of the header, little-endian; 4 bytes from version 2 on
//!   10, 12   …        {'descr': '<i8', 'fortran_order': False, 'shape': (1000,), },
//!                     spaces, a line end
//!            …        the elements, in C or Fortran order
//! ```
//!
//! Versions 1 to 3 are read. `bloscpack-dtype` parses and writes the header.
//!
//! # How types of text are guessed
//!
//! A column of CSV gets the first type that suits all of its cells:
//!
//! 1. `bool` for `true` and `false`, also capitalized, if no cell is missing
//! 2. `int64`, then `uint64`, if no cell is missing
//! 3. `float64`, if it keeps all digits; missing cells are NaN
//! 4. `datetime64` in the coarsest of the units D, s, ms, us and ns; missing cells are NaT
//! 5. `U` with the length of the longest cell, or `S` if a cell is not UTF-8
//!
//! Numbers with leading zeros are text. A cell is missing if it is empty, blank or a word such as `NA`, see
//! [`ImportOptions::missing`](ImportOptions::missing()). In JSON lines, strings are text or times, and lists with the same
//! shape on every line are further axes.
//!
//! # Errors
//!
//! All functions return [`bloscpack_error::Error`]: `Code::NotBuilt` for a feature that is off, `UnknownFormat` for a file of
//! another format, `CannotStore`, `Unsupported` or `Usage` for columns that a format cannot store, `Value` for a cell that is
//! not of its column's type, with line and column, and `CutShort`, `Header`, `Damaged` or `Trailing` for a damaged file.
//!
//! # Features
//!
//! | feature | adds |
//! |---|---|
//! | `csv` | CSV, reading JSON lines and records |
//! | `npz` | `.npz` |
//! | `record-batches` | Arrow record batches in memory: `record_batches`, `of_record_batches` |
//! | `arrow-write` | these, and writing Arrow files, without C code |
//! | `arrow` | all of Arrow and Parquet |

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
// Re-exported because the signatures of this crate contain its types: a caller needs the same version.
// `parquet`, `arrow_array` and `arrow_schema` below as well.
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

/// Runs the examples of the README as tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
