//! Opens any input of the Bloscpack family by one function, and gives all of them one interface, [`Container`].
//!
//! ```text
//!   a path ─────────── open, open_with ──┐
//!   any ReadAt ─────── open_source ──────┤
//!   inside a ReadAt ── open_within ──────┼─▶ probe ─▶ Family ─▶ Box<dyn Container>
//!   any Store ──────── open_store ───────┤            outline, summary   what it contains
//!   any Read ───────── open_stream ──────┘            verify             every chunk, checked
//!                                                     copy               bytes of a Selection
//!                                                     array              any box of elements
//!                                                     columns, export    rows in batches
//!                                                     members, member    inputs inside it
//! ```
//!
//! | a file that begins with, a directory that contains | [`Family`] | [`Kind`] |
//! |---|---|---|
//! | `blpk` | `Bloscpack` | `Bloscpack`, `Records` |
//! | `\x9e\xa8b2frame\0` | `Frame` | `Frame`, or as the tree in it |
//! | `PK\x03\x04`, `PK\x05\x06` | `Archive` | as its content |
//! | `\x93NUMPY`, `ARROW1`, `PAR1` | `File` | `File` |
//! | a file `chunks.b2frame` | `Frame` | `Frame` |
//! | a file `embed.b2e` | `Store` | `Store`, `Table` |
//! | a file `zarr.json`, `.zarray` or `.zgroup` | `Zarr` | `Zarr`, `Table` |
//! | a file `__rootdirs__`, `meta/sizes`, `meta/storage` or `meta/shape` | `Dataset` | `Array`, `Table` |
//! | none of these, but its name ends with `.csv`, `.tsv`, `.jsonl`, … | none | `File` |
//!
//! [`probe`] finds the [`Family`] without opening the input. Everything that is not recognized is opened as a Bloscpack file,
//! and reading it reports the error.
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
//! | learn what it contains | [`Container::outline`]; [`Container::summary`] for a full report |
//! | check every chunk | [`Container::verify`] |
//! | read bytes | [`Container::copy`], with a [`Selection`] of bytes, a chunk, rows or a slice |
//! | read any box of an array | [`Container::array`] |
//! | read rows of columns | [`Container::columns`] |
//! | write another format | [`Container::export`], or the crate `bloscpack-convert` |
//! | read the user's attributes | [`Container::attributes`] |
//! | go through a store, group or folder | [`Container::members`], [`Container::member`] |
//! | report progress, or stop the work | [`Options::watch`](bloscpack::Options::watch()) |
//!
//! # Errors
//!
//! All functions return [`bloscpack_error::Error`], with the path and, for I/O, the side. A selection that does not suit the
//! input is of the category [`Usage`](bloscpack_error::Category::Usage): `Code::NotATable`, `NeedsColumn`, `NeedsArray`,
//! `OutOfBounds` and others. What is unusual but no error is in [`Container::take_warnings`].
//!
//! # Features
//!
//! | feature | adds | default |
//! |---|---|---|
//! | `blosclz`, `lz4`, `snappy`, `zlib`, `zstd` | the compressor | yes |
//! | `pure` | the same formats without a C compiler | no |
//! | `ndarray` | slices of datasets and frames as arrays of the crate `ndarray` | no |
//! | `npz` | import of `.npz` | no |
//! | `arrow` | Arrow and Parquet; takes longer to build than everything else | no |
//! | `arrow-write`, `record-batches` | the parts of `arrow` that need no C: writing Arrow files, record batches in memory | no |

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

/// Parts for the command `blpk`. They may change at any time.
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

/// The maximum number of chunks whose headers a summary reads.
const MAX_CHUNKS: u64 = 10_000;

/// The warning about an interrupted change.
const INTERRUPTED: &str =
    "a change was interrupted; reading the result of the change, in part from the journal";

/// The note about an interrupted change in a summary.
fn interrupted() -> String {
    "a change was interrupted: it is read through its journal, and the next writer completes the change".to_owned()
}

/// The kind of an input, which decides what a [`Container`] can do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Kind {
    /// A Bloscpack file with content: bytes, or a NumPy array.
    Bloscpack,
    /// A Bloscpack file with records: byte strings of any length.
    Records,
    /// An array in a directory of bcolz, BLZ or carray.
    Array,
    /// A table: in a directory of bcolz, BLZ or carray, in a store, or a Zarr group of arrays with equally many rows.
    Table,
    /// A Blosc2 frame, with or without an n-dimensional array.
    Frame,
    /// A tree of other inputs: a store of python-blosc2, or a folder or archive with inputs inside.
    Store,
    /// A Zarr array, or a group that is not a table.
    Zarr,
    /// A file of another program: NumPy, CSV, JSON lines, Arrow or Parquet.
    File(Format),
}

impl Kind {
    /// The lower-case name in reports; `carray` for an array in a directory, `ctable` for a table.
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

/// An input of any kind that was opened for reading.
///
/// A stream is used up by the first method that reads it; a second one returns `Code::Usage`. All other inputs can be read
/// again, and by several threads at once. Calls block until their work is done; they use the threads of [`Options`].
///
/// To implement it, return the array by [`array`](Self::array), and the table by [`table`](Self::table) if its columns are
/// arrays, otherwise by [`columns`](Self::columns). The other methods that read elements are built on these.
///
/// ```
/// # testkit::enter_testdata();
/// use bloscpack_open::exchange::Source as _;
/// use bloscpack_open::{Bounds, Options, Part, Selection, open};
///
/// let table = open("testdata/datasets/bcolz/table_mixed".as_ref(), &Options::new())?;
/// let first = Selection::of(Part::Rows(Bounds::from(..2)));
/// let rows = table.columns(&first)?.next_batch(1 << 20)?.ok_or("no rows")?;
/// assert_eq!((rows.rows, Some(rows.columns.len())), (2, table.outline()?.columns.map(|names| names.len())));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait Container: Send + Sync {
    /// The kind, found when the input was opened.
    fn kind(&self) -> Kind;

    /// Shape, dtype, columns and size, from headers that opening has read already or that are few.
    ///
    /// # Errors
    /// Returns I/O errors, and damage of the headers.
    fn outline(&self) -> Result<Outline>;

    /// A report for scripts (JSON) and users (lines of text), from the headers of the input and of its chunks; in datasets and
    /// frames, of the first 10,000 chunks. It decompresses nothing, except the last chunk if only that shows the number of
    /// records.
    ///
    /// # Errors
    /// Returns I/O errors, and damage of the headers. An unfinished input is not an error, but not
    /// [complete](Summary::is_complete).
    fn summary(&self) -> Result<Summary>;

    /// Like [`summary`](Self::summary), but passes the summary of each member (one of several concatenated Bloscpack files) to
    /// `take` and does not keep it. Memory does not grow with the number of members.
    ///
    /// # Errors
    /// Returns the errors of [`summary`](Self::summary), possibly after members were passed on, and those of `take`.
    fn summary_with(&self, take: &mut dyn FnMut(Summary) -> Result<()>) -> Result<Summary> {
        let _ = take;
        self.summary()
    }

    /// Passes path and outline of each input inside a store, group or folder to `take`. A member that cannot be opened is
    /// passed as an error. Returns false, without a call, for an input that has no members.
    ///
    /// ```
    /// # testkit::enter_testdata();
    /// use bloscpack_open::{Options, open};
    /// let tree = open("testdata/stores/tree.b2e".as_ref(), &Options::new())?;
    /// let mut paths = Vec::new();
    /// tree.members(&mut |path, outline| {
    ///     paths.push(path.to_owned());
    ///     outline.map(drop)
    /// })?;
    /// assert_eq!(paths, ["a/x"]);
    /// # Ok::<(), bloscpack::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns I/O errors, and those of `take`.
    fn members(&self, take: &mut dyn FnMut(&str, Result<Outline>) -> Result<()>) -> Result<bool> {
        let _ = take;
        Ok(false)
    }

    /// Opens the member at a path, as [`members`](Self::members) spells it; `None` if the input has no members.
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
    /// Returns the errors of opening the member, and an error of the category [`Usage`](bloscpack_error::Category::Usage) if
    /// the path does not exist.
    fn member(&self, path: &str) -> Result<Option<Box<dyn Container>>> {
        let _ = path;
        Ok(None)
    }

    /// Whether the input only holds [members](Self::members): a store, a folder, or a Zarr group that is not a table.
    fn is_tree(&self) -> bool {
        false
    }

    /// Checks and decompresses every chunk, and collects all damage.
    ///
    /// # Errors
    /// Returns errors of reading a Bloscpack file. For all other kinds they are in the report.
    fn verify(&self) -> Result<Report>;

    /// Like [`verify`](Self::verify), but passes each damage to `take` and does not keep it. Memory does not grow with the
    /// number of damages in a Bloscpack file.
    ///
    /// ```
    /// # testkit::enter_testdata();
    /// use bloscpack_open::{Options, open};
    /// let array = open("testdata/datasets/bcolz/py2_int64".as_ref(), &Options::new())?;
    /// let mut damages = 0;
    /// array.verify_with(&mut |_| {
    ///     damages += 1;
    ///     Ok(())
    /// })?;
    /// assert_eq!(damages, 0);
    /// # Ok::<(), bloscpack::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns the errors of [`verify`](Self::verify), and those of `take`.
    fn verify_with(&self, take: &mut dyn FnMut(Damage) -> Result<()>) -> Result<Report> {
        let mut report = self.verify()?;
        report.damages.drain(..).try_for_each(take)?;
        Ok(report)
    }

    /// The array, or the named column of a table as an array. `None` if the elements can only be read as rows of
    /// [`columns`](Self::columns): files of text, Arrow and Parquet, records, and tables in stores.
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
    /// Returns `Code::NeedsColumn` for a whole table, `Code::NotATable` for a column of something else, an error for a column
    /// that does not exist and for an input without an array, and damage of the array's metadata.
    fn array(&self, column: Option<&str>) -> Result<Option<Box<dyn Array + '_>>>;

    /// Columns of a table whose columns are arrays, in this order; all if none is named. `None` for any other input, which is
    /// the default.
    ///
    /// # Errors
    /// Returns `Code::Usage` for a column that does not exist or is named twice, and damage of the columns' metadata.
    fn table(&self, columns: &[String]) -> Result<Option<TableSource<'_>>> {
        let _ = columns;
        Ok(None)
    }

    /// Writes the selected part as bytes, and returns how many. Elements are in C order; records have no separators.
    ///
    /// # Errors
    /// Returns an error of the category [`Usage`](bloscpack_error::Category::Usage) for a part that does not exist, or not in
    /// this kind; I/O errors and damage; and errors of the writer on [`Side::Target`](bloscpack_error::Side::Target). The bytes
    /// before the error were written.
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

    /// A source of the selected rows or slice, as columns.
    ///
    /// # Errors
    /// Returns an error of the category [`Usage`](bloscpack_error::Category::Usage) for a part that does not exist and for
    /// bytes and chunks; the errors of [`array`](Self::array) for an input without an array or a table; I/O errors, and damage.
    fn columns(&self, selection: &Selection) -> Result<BoxedSource<'_>> {
        columns_of_arrays(self, selection)
    }

    /// The user's attributes of the input, or of one of its columns, as a copy in another format keeps them. Axis names are in
    /// the attribute `_ARRAY_DIMENSIONS`.
    ///
    /// # Errors
    /// Returns damage of the metadata, and an error of the category [`Usage`](bloscpack_error::Category::Usage) for a column
    /// that does not exist.
    fn attributes(&self, column: Option<&str>) -> Result<UserAttributes> {
        if column.is_none() && self.is_tree() {
            return Ok(UserAttributes::default());
        }
        let array = self.array(column)?;
        let about = array.map(|array| array.description()).transpose()?;
        about.map_or_else(|| Ok(UserAttributes::default()), attributes_of)
    }

    /// Writes the selected rows or slice in a format of another program, and returns the number of rows.
    ///
    /// Arrow and Parquet get text for columns of bytes that are all UTF-8. To find out, the rows are read twice, as for values
    /// of varying length that become text of a fixed length in `.npy`.
    ///
    /// ```
    /// use bloscpack_open::exchange::Format;
    /// use bloscpack_open::{Options, Selection, open_source};
    /// let npy = b"\x93NUMPY\x01\x00\x3a\x00{'descr': '|u1', 'fortran_order': False, 'shape': (3,)}  \n\x07\x08\x09";
    /// let array = open_source(npy.to_vec(), &Options::new())?;
    /// let mut lines = Vec::new();
    /// assert_eq!(array.export(&Selection::default(), Format::Csv, &mut lines)?, 3);
    /// assert_eq!(lines, b"value\n7\n8\n9\n");
    /// # Ok::<(), bloscpack::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns the errors of [`columns`](Self::columns) and of [`export`](crate::exchange::export). A part of the output may
    /// have been written.
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

    /// The warnings since the last call, each once: what is unusual but did not prevent the work.
    fn take_warnings(&self) -> Vec<String> {
        Vec::new()
    }

    /// The progress function of [`Options::watch`](bloscpack::Options::watch()), which may end the work.
    fn watch(&self) -> &Watch;

    /// The value behind the container, for a copy in the same format that keeps what other formats lack, such as metalayers.
    fn inner(&self) -> Inner<'_> {
        Inner::Other
    }

    /// The bytes of a Bloscpack file that can be read at any position, or of a `.npy` file; `None` for any other input.
    fn source(&self) -> Option<&SharedSource> {
        None
    }
}

/// A source of the selected rows or slice, for containers of arrays.
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

/// The only selected column, if there is one.
fn column_of<'s>(
    container: &(impl Container + ?Sized),
    selection: &'s Selection,
) -> Result<Option<&'s str>> {
    match selection.columns.as_slice() {
        [] => Ok(None),
        [name] => Ok(Some(name)),
        [first, ..] => {
            // An input that is not a table has its own error.
            container.array(Some(first))?;
            Err(error::needs_column(&selection.columns))
        }
    }
}

/// The error for a slice of an input that can only be read as rows.
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

/// The value behind a [`Container`].
#[derive(Clone, Copy)]
#[non_exhaustive]
pub enum Inner<'a> {
    /// An array in a directory.
    Array(&'a bloscpack_datasets::CArray),
    /// A table in a directory.
    Table(&'a bloscpack_datasets::CTable),
    /// A frame without an n-dimensional array, or with a damaged one.
    Frame(&'a bloscpack_frames::Frame),
    /// The n-dimensional array in a frame.
    NdArray(&'a bloscpack_frames::NdArray),
    /// A table in a store of python-blosc2.
    StoreTable(&'a bloscpack_stores::StoreTable),
    /// Any other input.
    Other,
}

/// What the headers of an input say: the line that `blpk ls` prints.
#[derive(Debug)]
#[non_exhaustive]
pub struct Outline {
    /// The kind of the input.
    pub kind: Kind,
    /// The layout, such as `bcolz`, `b2nd` or `zarr3`; `None` if the kind has no variants.
    pub layout: Option<&'static str>,
    /// The dtype of an array in NumPy's notation; `None` if it is not an array, or stores no dtype.
    pub dtype: Option<String>,
    /// The shape of an array, the number of rows of a table, or the number of members of a store.
    pub shape: Option<Vec<u64>>,
    /// The names of the columns of a table, in order; `None` for any other input.
    pub columns: Option<Vec<String>>,
    /// Uncompressed bytes of the content; `None` if unknown.
    pub bytes: Option<u64>,
    /// The number of files in a folder that are not inputs; 0 for any other input.
    pub others: u64,
    /// Why a part is unknown, for example the rows of a table with a column that cannot be opened.
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
