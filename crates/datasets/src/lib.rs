//! Arrays and tables in the directories of bcolz, BLZ and carray: read all of them, and write directories that bcolz and BLZ
//! open.
//!
//! A dataset is a directory with a [`CArray`], an array of elements of one dtype, or a [`CTable`], whose columns are such
//! arrays. The elements are compressed in chunks, and a read decompresses only the parts of chunks that it needs.
//!
//! ```
//! use bloscpack_datasets::{CArray, CTable, Dataset};
//! # let folder = std::env::temp_dir().join(format!("bloscpack-datasets-{}", std::process::id()));
//! # std::fs::create_dir_all(&folder)?;
//! # let path = folder.join("prices");
//! // A table that bcolz opens.
//! let mut table = CTable::builder()
//!     .column("day", CArray::of::<u32>())
//!     .column("price", CArray::of::<f64>())
//!     .create(&path)?;
//! table.append(&[bytemuck::bytes_of(&[20u32, 21, 22]), bytemuck::bytes_of(&[1.5, 1.25, 1.75])])?;
//! table.flush()?;
//! # drop(table);
//!
//! let table = Dataset::open(&path)?.into_table()?;
//! assert_eq!(table.column("price")?.to_vec::<f64>(1..3)?, [1.25, 1.75]);
//! # std::fs::remove_dir_all(&folder)?;
//! # Ok::<(), bloscpack_error::Error>(())
//! ```
//!
//! # The directory
//!
//! ```text
//! prices/                          a ctable in the layout bcolz
//! ├── __rootdirs__                 {"names": ["day", "price"]}; this file marks a table
//! ├── __attrs__                    {"unit": "EUR"}, the user's attributes
//! ├── day/                         a column is a carray
//! │   ├── __attrs__                {}
//! │   ├── meta/
//! │   │   ├── sizes                {"shape": [1000], "nbytes": 4000, "cbytes": 3251}
//! │   │   ├── storage              {"dtype": "uint32", "cparams": {...}, "chunklen": 256,
//! │   │   │                         "expectedlen": 1000, "dflt": 0}
//! │   │   └── index                statistics of each superchunk; optional, ignored by
//! │   │                            bcolz and BLZ
//! │   └── data/
//! │       ├── __0.blp              a superchunk: rows 0 to 255
//! │       ├── __1.blp, __2.blp
//! │       └── __3.blp              the last superchunk may have fewer rows
//! └── price/                       the same files again
//!
//! a superchunk (bcolz, blz)        offset   bytes   content
//!                                  0        4       "blpk"
//!                                  4        1       version: 1
//!                                  5        3       0
//!                                  8        8       number of chunks: 1, little-endian
//!                                  16               one Blosc chunk: all elements of some
//!                                                                    rows, in C order
//!
//! prices/                          a table in the layout blz-doc   ... in carray-doc
//! ├── meta/                        sizes, storage,                 shape: (1000,);
//! │                                attributes (JSON)               storage, attributes (YAML)
//! └── data/
//!     ├── day/__1__.bin            superchunks with several chunks of one column
//!     └── price/__1__.bin, ...
//!
//! a superchunk (both)              header (32) | [metadata] | [offset table] |
//!                                  chunk | [digest] | [spare space] | chunk | ...
//! ```
//!
//! `docs/datasets.md` describes the files, and [`DatasetLayout`] lists the layouts. Two of them, `blz-doc` and `carray-doc`,
//! are called the *layouts of the documents*, because only design documents describe them; they need the feature `documents`.
//!
//! # Where to start
//!
//! | you have | use |
//! |---|---|
//! | a directory | [`Dataset::open`], [`CArray::open`] or [`CTable::open`] |
//! | a directory to change | [`Dataset::edit`], [`CArray::edit`] or [`CTable::edit`] |
//! | values to store | [`CArray::of`] or [`CTable::builder`] |
//! | a folder with datasets somewhere below | [`walk`] |
//! | rows to select by value | [`CArray::index`]: minimum and maximum of each superchunk |
//! | a dataset that may be damaged | [`Dataset::verify`] |
//! | a dataset that another program left incomplete | [`RepairOptions`] |
//! | memory, a ZIP archive or another [`Store`](bloscpack_storage::Store) | the functions that end in `_in` |
//!
//! # Reading
//!
//! | read | from an array | from a table |
//! |---|---|---|
//! | rows as bytes | [`CArray::read_rows`] | [`CTable::read_rows`] |
//! | a box of elements as bytes | [`CArray::read_slice`] | [`CTable::column`], then as an array |
//! | values of a Rust type | [`CArray::to_vec`], [`CArray::read`] | |
//! | more than fits into memory | [`CArray::blocks`] | [`CTable::blocks`] |
//! | batches for another format | | [`CTable::source`] |
//!
//! Bytes are in C order and in the byte order of the dtype. Values of a Rust type are in the byte order of the machine. Chunks
//! and columns are read in parallel, and chunks are cached: [`Options`](bloscpack::Options) sets threads, cache and limits.
//! Reading takes `&self`; several threads can read one array at the same time.
//!
//! # Writing
//!
//! Create with a builder, or open with `edit`; then `append`, `set`, `trim`, `resize`, or change columns and attributes; then
//! `flush`. The writer sees its own changes at once. `flush` makes all changes since the last one permanent atomically: after a
//! crash at any moment, the dataset is the old one or the new one. Changes that were not flushed are lost when the array or
//! table is dropped. One process at a time can change a dataset; any number can read it.
//!
//! If a change fails halfway, further changes are refused with [`Code::Reopen`](bloscpack_error::Code::Reopen). Open the
//! dataset again; it is unchanged since the last flush.
//!
//! # Errors
//!
//! Functions return [`Error`](bloscpack_error::Error). It names the file, relative to the root of the store, and for I/O the
//! side: the source if the dataset was opened for reading, and the target if it was opened for changes.
//!
//! | category | meaning |
//! |---|---|
//! | [`Usage`](bloscpack_error::Category::Usage) | a call that cannot be carried out; nothing was changed |
//! | [`Damaged`](bloscpack_error::Category::Damaged) | files are missing, damaged, or contradict each other |
//! | [`CutShort`](bloscpack_error::Category::CutShort) | a file is cut short, or the journal of a change is unusable |
//! | [`Unsupported`](bloscpack_error::Category::Unsupported) | not a dataset, a layout without its feature, or Python objects |
//! | [`OverLimit`](bloscpack_error::Category::OverLimit) | the dataset exceeds the limits in the options, or memory |
//! | [`Failed`](bloscpack_error::Category::Failed) | I/O |
//! | [`Committed`](bloscpack_error::Category::Committed) | the change is committed, but not complete; do not repeat it |
//!
//! Files are never trusted: counts and shapes are checked before memory is allocated for them, and the header of each chunk,
//! not `meta/storage`, decides how it is decompressed.
//!
//! # Features
//!
//! * `documents` (default): the layouts `blz-doc` and `carray-doc`. Without it no YAML parser is compiled.
//! * `ndarray`: `CArray::to_ndarray`, `append_ndarray` and `set_ndarray`.
//! * `zip`: datasets in ZIP archives, which are only read.
//!
//! The compressors are features of [`blosc1`].

#![forbid(unsafe_code)]
#![deny(clippy::indexing_slicing, clippy::string_slice)]

mod array_storage;
mod carray;
mod create;
mod ctable;
mod dataset;
mod dataset_layout;
mod error;
mod files;
mod grid;
mod handle;
mod index;
mod layout;
mod missing;
mod new;
mod open;
mod refresh;
mod remove;
mod repair;
mod superchunk;
mod survey;
mod verify;
mod walk;
// Public for the tests and the other crates of the workspace.
#[doc(hidden)]
pub mod wire;

pub use bloscpack_dtype::Element;
pub use carray::{Blocks, CArray, CArrayBuilder};
pub use ctable::{CTable, CTableBuilder, TableBlocks};
pub use dataset::Dataset;
pub use dataset_layout::DatasetLayout;
pub use index::{IndexCheck, IndexState, IndexUpdate};
// The signatures of this crate contain its types, so that callers need the same version.
#[cfg(feature = "ndarray")]
pub use ndarray;
pub use repair::{Finding, Remedy, RepairOptions, Uncounted};
pub use survey::ArraySurvey;
pub use walk::{DatasetEntry, walk, walk_in};
pub use wire::{Attributes, Index, IndexEntry};
