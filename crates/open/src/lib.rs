//! One opener for every kind of input, and one trait for what all of them can do.
//!
//! [`open`] finds out what a path leads to and returns a [`Container`]: a Bloscpack file with content or with records, an
//! array or a table in a directory, or a Blosc2 frame. [`open_source`] does the same for anything that can be read at any
//! position, and [`open_stream`] for a pipe, where only Bloscpack files can be read. [`probe`] only looks.
//!
//! ```
//! use bloscpack_open::{Kind, Options, Part, Selection, open_source};
//! let file = bloscpack::compress(b"some content")?;
//! let mut container = open_source(file, &Options::new())?;
//! assert_eq!(container.kind(), Kind::Bloscpack);
//! assert!(container.verify()?.is_sound());
//!
//! let mut out = Vec::new();
//! container.copy(&Selection::of(Part::Bytes((5..).into())), &mut out)?;
//! assert_eq!(out, b"content");
//! # Ok::<(), bloscpack::Error>(())
//! ```
//!
//! | to | use |
//! |---|---|
//! | know what it contains | [`Container::outline`], and [`Container::summary`] for a full report |
//! | check every chunk | [`Container::verify`] |
//! | read bytes | [`Container::copy`], with a [`Selection`] |
//! | read columns, or write another format | [`Container::columns`], [`Container::export`] |
//! | read any box of an array | [`Container::array`] |

mod bytes;
mod containers;
mod elements;
mod error;
pub mod exchange;
mod located;
mod numpy_file;
mod opener;
mod probe;
mod report;
mod selection;
mod slice;
mod summary;
mod text;
mod warnings;
mod watch;
pub mod zarr;

#[doc(inline)]
pub use bloscpack_array as array;
#[doc(inline)]
pub use bloscpack_datasets as datasets;
#[doc(inline)]
pub use bloscpack_frames as frames;
#[doc(inline)]
pub use bloscpack_stores as stores;

pub use bloscpack::Options;
pub use bloscpack_array::Region;
pub use containers::exchange::open_file;
pub use opener::open_store;
pub use opener::{open, open_folder, open_source, open_stream, open_with, open_within};
pub use probe::{Family, Probe, probe, probe_bytes, probe_source};
pub use report::Report;
pub use selection::{Bounds, Part, Selection, Stepped};
pub use slice::Slice;
pub use summary::{Line, Summary};

/// Parts for the command. They may change at any time.
#[doc(hidden)]
pub mod internal {
    pub use super::error::{needs_column, not_a_table};
    pub use super::located::is_directory;
    pub use super::located::locate_store;
    pub use super::numpy_file::numpy_metadata;
    pub use super::probe::marks;
    pub use super::text::{count, list, or_unknown, plain, shape};
    pub use super::watch::rows as watched;
    pub mod size;
}

use crate::exchange::{
    ArraySource, BoxedSource, FixedSource, Format, Source as _, TableSource, UserAttributes,
};
use bloscpack::Watch;
use bloscpack::verify::Damage;
use bloscpack_array::{Array, Column, DIMENSIONS, Description, Window, columns_of_text};
use bloscpack_error::{Error, Result};
use bloscpack_storage::SharedSource;
use std::fmt;
use std::io::Write;

/// Chunks of an array or frame whose headers are read for a summary.
const MAX_CHUNKS: u64 = 10_000;

/// The warning about a change that was interrupted.
const INTERRUPTED: &str =
    "a change was interrupted; reading the result of the change, in part from the journal";

/// The note on a change that was interrupted.
fn interrupted() -> String {
    "a change was interrupted: it is read through its journal, and the next writer completes the change".to_owned()
}

/// A kind of input.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Kind {
    /// A Bloscpack file with content.
    Bloscpack,
    /// A Bloscpack file with records.
    Records,
    /// An array in a directory.
    Array,
    /// A table in a directory.
    Table,
    /// A Blosc2 frame, with or without an n-dimensional array.
    Frame,
    /// A tree of frames and tables, as python-blosc2 writes it.
    Store,
    /// A Zarr array, or a group that is not a table.
    Zarr,
    /// A file of another format.
    File(Format),
}

impl Kind {
    /// The lower-case name in reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Bloscpack => "bloscpack",
            Self::Records => "records",
            Self::Array => "carray",
            Self::Table => "ctable",
            Self::Frame => "frame",
            Self::Store => "store",
            Self::Zarr => "zarr",
            Self::File(format) => format.name(),
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// An input that was opened, of any kind.
///
/// An input that can only be read in order is used up by the first method that reads it; a second one returns a
/// [`Usage`](bloscpack_error::Category::Usage) error. All other inputs can be read again, by several threads at once.
///
/// What is an array gives [`array`](Self::array), what is a table [`table`](Self::table), or [`columns`](Self::columns) where rows are
/// not elements of arrays: all else that reads elements follows from these.
pub trait Container: Send + Sync {
    /// The kind.
    fn kind(&self) -> Kind;

    /// The facts that the headers contain, at little cost.
    ///
    /// # Errors
    /// Returns errors of reading, and damage of the headers.
    fn outline(&self) -> Result<Outline>;

    /// A report on the input, from its headers and those of its chunks (in datasets and frames, of the first 10,000).
    /// Nothing is decompressed, except for the last chunk if only that shows the number of records.
    ///
    /// # Errors
    /// Returns errors of reading, and damage of the headers. An input that its writer did not finish is not an error: it is
    /// not [complete](Summary::is_complete).
    fn summary(&self) -> Result<Summary>;

    /// As [`summary`](Self::summary), but passes the summary of each member of a Bloscpack file to `take` instead of keeping
    /// it: a file of any number of members takes no memory.
    ///
    /// # Errors
    /// Returns the errors of [`summary`](Self::summary), perhaps after members were passed on, and those of `take`.
    fn summary_with(&self, take: &mut dyn FnMut(Summary) -> Result<()>) -> Result<Summary> {
        let _ = take;
        self.summary()
    }

    /// Passes what is in a store to `take`, by path; false for an input that is not one.
    ///
    /// # Errors
    /// Returns those of `take`.
    fn members(&self, take: &mut dyn FnMut(&str, Result<Outline>) -> Result<()>) -> Result<bool> {
        let _ = take;
        Ok(false)
    }

    /// Opens what is at a path of a store, as [`members`](Self::members) spells it; `None` for every other input.
    ///
    /// ```
    /// # testkit::enter_testdata();
    /// use bloscpack_open::{Options, open};
    /// let tree = open("testdata/stores/tree.b2e".as_ref(), &Options::new())?;
    /// let member = tree.member("a/x")?;
    /// let outline = member.map(|member| member.outline()).transpose()?;
    /// assert_eq!(outline.and_then(|outline| outline.shape), Some(vec![3]));
    /// assert!(tree.member("nothing").is_err());
    /// # Ok::<(), bloscpack::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns the errors of opening it, and a [`Usage`](bloscpack_error::Category::Usage) error if nothing is at the path.
    fn member(&self, path: &str) -> Result<Option<Box<dyn Container>>> {
        let _ = path;
        Ok(None)
    }

    /// Whether it is nothing but a place for other inputs, its [members](Self::members).
    fn is_tree(&self) -> bool {
        false
    }

    /// Checks and decompresses every chunk.
    ///
    /// # Errors
    /// Returns errors of reading a Bloscpack file. Everything else is in the report.
    fn verify(&self) -> Result<Report>;

    /// As [`verify`](Self::verify), but passes each damage to `take` instead of keeping it: a report of any length takes no
    /// memory.
    ///
    /// # Errors
    /// Returns the errors of [`verify`](Self::verify), and those of `take`.
    fn verify_with(&self, take: &mut dyn FnMut(Damage) -> Result<()>) -> Result<Report> {
        let mut report = self.verify()?;
        report.damages.drain(..).try_for_each(take)?;
        Ok(report)
    }

    /// The array, or the array that is this column of a table. `None` where the elements are only to be had as rows of
    /// [`columns`](Self::columns): files of text, and columns with missing values of python-blosc2.
    ///
    /// ```
    /// # testkit::enter_testdata();
    /// use bloscpack_open::{Options, open};
    /// let opened = open("testdata/datasets/bcolz/py2_int64".as_ref(), &Options::new())?;
    /// let array = opened.array(None)?.ok_or("only rows")?;
    /// assert_eq!(array.read_slice(&[0..2])?.len(), 16);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Returns an error for what is not an array, for a whole table, and for a column of something else or one that does not
    /// exist; damage of what describes the array.
    fn array(&self, column: Option<&str>) -> Result<Option<Box<dyn Array + '_>>>;

    /// These columns of a table, all if none is named, if each is an array; `None` for what is not such a table.
    ///
    /// # Errors
    /// Returns wrong usage for columns that do not exist, and damage of what describes them.
    fn table(&self, columns: &[String]) -> Result<Option<TableSource<'_>>> {
        let _ = columns;
        Ok(None)
    }

    /// Writes the selected part as bytes, elements in C order, and returns how many bytes were written. Records are
    /// written without separators.
    ///
    /// # Errors
    /// Returns wrong usage for a part that does not exist, or not in this kind; errors of reading, damage, and
    /// errors of the writer on [`Side::Target`](bloscpack_error::Side::Target). What precedes the error was written.
    fn copy(&self, selection: &Selection, to: &mut dyn Write) -> Result<u64> {
        match self.array(column_of(self, selection)?)? {
            Some(array) => elements::copy(&*array, &selection.part, to, self.watch()),
            None => {
                let mut source = self.columns(selection)?;
                exchange::write_bytes(&mut *source, to, &mut |_| ())?;
                Ok(source
                    .known_rows()?
                    .saturating_mul(source.schema().row_bytes()))
            }
        }
    }

    /// The selected rows or slice as columns.
    ///
    /// # Errors
    /// Returns wrong usage for a part that does not exist, or an input without an array or a table; errors of
    /// reading, and damage.
    fn columns(&self, selection: &Selection) -> Result<BoxedSource<'_>> {
        columns_of_arrays(self, selection)
    }

    /// The user's attributes of the input, or of one of its columns: the metadata that a copy of another kind is to have.
    ///
    /// # Errors
    /// Returns damage of the metadata, and wrong usage for a column that does not exist.
    fn attributes(&self, column: Option<&str>) -> Result<UserAttributes> {
        let array = self.array(column)?;
        let about = array.map(|array| array.description()).transpose()?;
        about.map_or_else(|| Ok(UserAttributes::default()), attributes_of)
    }

    /// Writes the selected rows or slice in another format, and returns the number of rows.
    ///
    /// # Errors
    /// Returns the errors of [`columns`](Self::columns) and of [`export`](crate::exchange::export).
    fn export(
        &self,
        selection: &Selection,
        format: Format,
        to: &mut (dyn Write + Send),
    ) -> Result<u64> {
        let mut source = self.columns(selection)?;
        if matches!(format, Format::Npy | Format::Bytes)
            && !source.schema().is_table
            && let Some(array) = self.array(column_of(self, selection)?)?
        {
            // A row may be longer than memory.
            if format == Format::Npy {
                let shape = match selection.part.stepped(&array)? {
                    Some(stepped) => stepped.grid().shape().to_vec(),
                    None => selection.part.region(array.grid().shape())?.shape(),
                };
                elements::write(to, &exchange::npy_header(array.dtype(), shape)?)?;
            }
            elements::copy(&*array, &selection.part, to, self.watch())?;
            return source.known_rows();
        }
        if !format.has_missing() && !source.schema().columns.iter().all(Column::is_fixed) {
            let longest = FixedSource::longest(source)?;
            source = Box::new(FixedSource::new(self.columns(selection)?, &longest)?);
        }
        if matches!(format, Format::Csv | Format::Tsv) {
            source = source.rows_as_columns()?;
        }
        let has_text = matches!(
            format,
            Format::Arrow | Format::ArrowStream | Format::Parquet
        );
        if has_text && source.schema().columns.iter().any(Column::has_bytes) {
            let are_text = columns_of_text(source)?;
            source = self.columns(selection)?.bytes_as_text(&are_text);
        }
        if selection.nan_as_null {
            source = source.nan_as_null();
        }
        if selection.as_array {
            source = source.as_array();
        }
        let mut done = 0;
        exchange::export(&mut *source, format, to, &mut |rows| done = rows)?;
        Ok(done)
    }

    /// The warnings since the last call: things that are unusual but did not prevent what was done.
    fn take_warnings(&self) -> Vec<String> {
        Vec::new()
    }

    /// What is told of the progress of the work, and may end it.
    fn watch(&self) -> &Watch;

    /// The value that the container was made of, for copies in the same format, which keep what no other format has.
    fn inner(&self) -> Inner<'_> {
        Inner::Other
    }

    /// The bytes of a Bloscpack file that can be read at any position, or of a `.npy` file; `None` for all else.
    fn source(&self) -> Option<&SharedSource> {
        None
    }
}

/// The selected rows or slice of the arrays of a container.
fn columns_of_arrays<'a>(
    container: &'a (impl Container + ?Sized),
    selection: &Selection,
) -> Result<BoxedSource<'a>> {
    let is_slice = matches!(selection.part, Part::Slice(_));
    let source: BoxedSource<'_> = match container.table(&selection.columns)? {
        Some(table) if !is_slice => {
            let region = selection.part.region(&[table.known_rows()?])?;
            Box::new(table.range(region.ranges.first().cloned().unwrap_or(0..0))?)
        }
        table => {
            let name = column_of(container, selection)?;
            let array = container.array(name)?.ok_or_else(only_rows)?;
            let shape = array.grid().shape();
            let mut source = match selection.part.steps(shape)? {
                Some((ranges, steps)) => {
                    let window = Window::with_steps(array, &ranges, &steps)?;
                    ArraySource::new(Box::new(window) as Box<dyn Array + '_>)?
                }
                None => {
                    let region = selection.part.region(shape)?;
                    ArraySource::new(array)?.slice(&region.ranges)?
                }
            };
            if let Some(name) = name {
                source = source.named(name);
            }
            let columns = table.iter().flat_map(|table| &table.schema().columns);
            if columns.into_iter().any(|column| column.nullable) {
                source = source.nan_as_null();
            }
            Box::new(source)
        }
    };
    Ok(watch::rows(container.watch(), source))
}

/// The only column that is selected, if any is.
fn column_of<'s>(
    container: &(impl Container + ?Sized),
    selection: &'s Selection,
) -> Result<Option<&'s str>> {
    match selection.columns.as_slice() {
        [] => Ok(None),
        [name] => Ok(Some(name)),
        [first, ..] => {
            // What is not a table has an error of its own.
            container.array(Some(first))?;
            Err(error::needs_column(&selection.columns))
        }
    }
}

/// The error of an array that is only to be had as rows.
fn only_rows() -> Error {
    Error::usage("a slice of rows that are not the elements of an array")
        .with_hint("select rows instead")
}

/// The user's attributes of an array, with the names of its axes.
fn attributes_of(about: Description) -> Result<UserAttributes> {
    let mut user = UserAttributes::new(about.attributes);
    user.lost = about.lost;
    if let Some(names) = &about.axes
        && user.attributes.get_text(DIMENSIONS).is_none()
    {
        user.attributes.set(DIMENSIONS, &serde_json::json!(names))?;
    }
    Ok(user)
}

impl fmt::Debug for dyn Container + '_ {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Container")
            .field("kind", &self.kind())
            .finish_non_exhaustive()
    }
}

/// The value that a container was made of.
#[derive(Clone, Copy)]
#[non_exhaustive]
pub enum Inner<'a> {
    /// An array of a dataset.
    Array(&'a bloscpack_datasets::CArray),
    /// A table of a dataset.
    Table(&'a bloscpack_datasets::CTable),
    /// A frame without an array.
    Frame(&'a bloscpack_frames::Frame),
    /// The array in a frame.
    NdArray(&'a bloscpack_frames::NdArray),
    /// A table in a store of frames.
    StoreTable(&'a bloscpack_stores::StoreTable),
    /// All else.
    Other,
}

/// The facts about an input that its headers contain.
#[derive(Debug)]
#[non_exhaustive]
pub struct Outline {
    /// The kind.
    pub kind: Kind,
    /// The name of its layout, such as `bcolz` or `b2nd`, where it has one.
    pub layout: Option<&'static str>,
    /// The dtype of its elements, if it is an array and it is known.
    pub dtype: Option<String>,
    /// Elements along each axis of an array, or the number of rows of a table.
    pub shape: Option<Vec<u64>>,
    /// The names of the columns, if it is a table.
    pub columns: Option<Vec<String>>,
    /// Bytes of the uncompressed content, if they are known.
    pub bytes: Option<u64>,
    /// Files of other kinds below a folder.
    pub others: u64,
    /// Why some of this is unknown, such as the rows of a table of which a column cannot be opened.
    pub trouble: Option<Error>,
}

impl Outline {
    pub(crate) fn new(kind: Kind) -> Self {
        Self {
            kind,
            layout: None,
            dtype: None,
            shape: None,
            columns: None,
            bytes: None,
            others: 0,
            trouble: None,
        }
    }
}
