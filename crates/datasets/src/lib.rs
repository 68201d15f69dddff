//! Arrays and tables in the directories of bcolz, BLZ and carray.
//!
//! A dataset is a directory with a [`CArray`], an array of elements of one type, or a [`CTable`], whose columns are such arrays.
//! The elements are compressed in chunks, of which each read decompresses only those that it needs.
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
//! # Start here
//!
//! | you have | use |
//! |---|---|
//! | a directory | [`Dataset::open`], [`CArray::open`] or [`CTable::open`] |
//! | a directory to change | [`Dataset::edit`], [`CArray::edit`] or [`CTable::edit`] |
//! | values to store | [`CArray::of`] or [`CTable::builder`] |
//! | a directory of directories | [`walk`] |
//! | rows to select by their values | [`CArray::index`], which says what superchunks contain |
//! | a dataset that may be damaged | [`Dataset::verify`] |
//! | a dataset that another program left incomplete | [`RepairOptions`] |
//! | something other than a directory | [`Store`](bloscpack_storage::Store), and the functions that end in `_in` |
//! | the small files of a dataset | [`wire`] |
//!
//! # Layouts
//!
//! There are four [layouts](DatasetLayout): the two that bcolz and BLZ write, and two that are only described in
//! documents. The latter need the feature `documents`.
//!
//! # Changes
//!
//! Changes are visible to others after `flush`, which makes all of them permanent atomically, also in a crash. One process at a
//! time can change a dataset; any number can read it.
//!
//! # Errors
//!
//! Functions return [`Error`](bloscpack_error::Error). It names the file, relative to the root of the dataset, and for I/O the
//! side. [`Error::code`](bloscpack_error::Error::code) says what went wrong.
//!
//! # Features
//!
//! * `documents` (default): the layouts of the two documents. Without it no YAML parser is compiled.
//! * `ndarray`: `CArray::to_ndarray`.
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
// Public for tests and for the other crates of the workspace.
#[doc(hidden)]
pub mod wire;

pub use bloscpack_dtype::Element;
// Its types are in the signatures of this crate: whoever uses them needs the same version.
pub use carray::{Blocks, CArray, CArrayBuilder};
pub use ctable::{CTable, CTableBuilder, TableBlocks};
pub use dataset::Dataset;
pub use dataset_layout::DatasetLayout;
pub use index::{IndexCheck, IndexState, IndexUpdate};
#[cfg(feature = "ndarray")]
pub use ndarray;
pub use repair::{Finding, Remedy, RepairOptions, Uncounted};
pub use survey::ArraySurvey;
pub use walk::{DatasetEntry, walk, walk_in};
pub use wire::{Attributes, Index, IndexEntry};
