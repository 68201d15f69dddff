//! Converts every kind of input that `bloscpack-open` opens into every format that is written.
//!
//! ```text
//!   &dyn Container ──▶ Conversion { goal, part, columns, storage, … }
//!                          │ check: refuses what the goal cannot store
//!            ┌─────────────┴──────────────┐
//!            ▼ write                      ▼ make
//!     File, Records, Format       Dataset, Frame, Store, Zarr
//!     to any Write, in order      at a path: an empty folder, or a file that does not exist
//!            └─────────────┬──────────────┘
//!                          ▼ run
//!     a temporary folder beside the path ──▶ sync ──▶ rename: the output appears complete
//! ```
//!
//! | the source | becomes |
//! |---|---|
//! | an array | an array with the same axes; in files of rows one column `value` |
//! | a table | a table; if the goal holds one array, choose a [`column`](Conversion::column) |
//! | a tree: a store, a Zarr group, a folder | a tree of stores, Zarr groups or datasets |
//! | the settings of its chunks | kept if source and goal are of the same family and [`Storage`] does not set others |
//! | Blosc 1 chunks of an array, into Zarr | taken over without recompression, if shapes and settings stay |
//! | attributes, axis names, missing values, time zones | kept if the goal can store them, else dropped with a warning |
//!
//! [`Conversion::run`] suffices for paths. To write to anything else, call [`Conversion::write`] or [`Conversion::make`]. Both
//! read in batches and boxes, so inputs may be larger than memory.
//!
//! # Errors
//!
//! All functions return [`bloscpack_error::Error`]. What the goal cannot store is `Code::Usage`, `CannotStore`, `NeedsColumn`,
//! `NeedsDtype`, or another code of the category [`Usage`](bloscpack_error::Category::Usage). Errors of the input are on
//! [`Side::Source`](bloscpack_error::Side::Source), errors of the output on [`Side::Target`](bloscpack_error::Side::Target).
//!
//! # Example
//!
//! ```
//! # testkit::enter_testdata();
//! use bloscpack_convert::{Conversion, Goal};
//! use bloscpack_open::{Options, open};
//! # let folder = tempfile::tempdir()?;
//! # let path = folder.path().join("day.b2nd");
//! let source = open("testdata/datasets/bcolz/py2_int64".as_ref(), &Options::new())?;
//! let goal = Goal::of_path(&path, None)?.unwrap_or_default();
//! Conversion::new(goal).run(&*source, &path, &|warning| eprintln!("{warning}"))?;
//!
//! let made = open(&path, &Options::new())?;
//! assert_eq!(made.outline()?.shape, source.outline()?.shape);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod dataset;
mod exchange;
mod file;
mod frame;
mod goal;
mod place;
mod rows;
mod storage;
mod store;
mod tree;
mod zarr;

use std::path::Path;

use bloscpack::{Checksum, FormatVersion, Limits, blosc::Tuned, dtype::DType};
use bloscpack_error::{Code, Error, Result};
use bloscpack_open::{
    Container, Inner, Kind, Options, Part, Selection,
    array::{Array, Column, Window},
    datasets::{Attributes, CArray},
    exchange::{BoxedSource, FixedSource, Schema, Source},
    frames::NdArray,
    internal::{needs_column, not_a_table},
    zarr::References,
};

pub use file::Output;
pub use frame::BAND;
pub use goal::{Goal, StoreForm, mismatch};
pub use rows::{Counted, ElementReader};
pub use storage::Storage;
pub use store::{Tree, new_table};

/// Calls the setters of a builder for those values that are `Some`.
#[doc(hidden)]
#[macro_export]
macro_rules! with_given {
    ($builder:expr, $($setter:ident: $value:expr),+ $(,)?) => {{
        let builder = $builder;
        $(let builder = match $value {
            Some(value) => builder.$setter(value),
            None => builder,
        };)+
        builder
    }};
}

/// A conversion: the format of the output, the part of the input, and the settings.
///
/// Fields that stay at their defaults convert everything, with the settings of the input or the defaults of the format.
///
/// ```
/// # testkit::enter_testdata();
/// use bloscpack_convert::{Conversion, Goal, Output};
/// use bloscpack_open::{Bounds, Options, Part, exchange::Format, open};
///
/// let table = open("testdata/datasets/bcolz/table_mixed".as_ref(), &Options::new())?;
/// let mut conversion = Conversion::new(Goal::Format(Format::Csv));
/// conversion.columns = vec!["id".to_owned(), "price".to_owned()];
/// conversion.part = Part::Rows(Bounds::from(..2));
/// let mut text = Vec::new();
/// let made = conversion.write(&*table, Output::Stream(&mut text), &|_| ())?;
/// assert_eq!(made.rows, 2);
/// assert!(text.starts_with(b"id,price\n"));
/// # Ok::<(), bloscpack::Error>(())
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Conversion {
    /// The format of the output.
    pub goal: Goal,
    /// Compression and chunk shapes of the output.
    pub storage: Storage,
    /// The only column of a table to convert, as an array.
    pub column: Option<String>,
    /// The columns of a table to convert, in this order, as a table; all if empty, which is the default.
    pub columns: Vec<String>,
    /// The part to convert: everything (the default), rows or a slice.
    pub part: Part,
    /// Whether NaN and NaT ("not a time") are written as missing values; false by default.
    pub nan_as_null: bool,
    /// Whether an array of structured elements becomes a table with a column for each field; false by default. Done anyway for
    /// a one-dimensional array of another format that becomes a bcolz dataset, because bcolz opens structured elements only as
    /// a table.
    pub table: bool,
    /// Whether the arrays of a Zarr group stay arrays, with their attributes, where they would be the columns of a table; false
    /// by default.
    pub arrays: bool,
    /// The dtype of the elements of a frame that does not store one.
    pub dtype: Option<DType>,
    /// The name of a single array in a store; `array` by default.
    pub name: String,
    /// Columns whose text keeps the fixed length of its dtype in a store, for sources in text files. Other text gets a varying
    /// length.
    pub typed: Vec<String>,
    /// The expected final number of rows of a dataset, from which its chunk length is chosen.
    pub expected_rows: Option<u64>,
    /// Whether a dataset gets an index: minimum, maximum and number of missing values of each superchunk. False by default.
    pub index: bool,
    /// The format version of a new Bloscpack file; 3 by default.
    pub version: Option<FormatVersion>,
    /// The bytes of a chunk of a new Bloscpack file; by default as in the source, or chosen automatically.
    pub chunk_size: Option<u32>,
    /// Whether [`run`](Self::run) replaces a file or dataset at the path, in a single change; false by default.
    pub replace: bool,
    /// Threads, limits and cache.
    pub options: Options,
}

/// Facts about the output.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Made {
    /// The rows in a file of another program; 0 for other goals.
    pub rows: u64,
    /// Chunks of Zarr arrays that were taken over without recompression.
    pub chunks_taken: u64,
    /// Chunks of Zarr arrays that were compressed.
    pub chunks_compressed: u64,
    /// The settings of a Bloscpack file, if they were chosen by a sample of its content.
    pub tuned: Option<Tuned>,
}

/// Receives warnings about what the output does not store.
pub type Warn<'a> = dyn Fn(&str) + 'a;

impl Conversion {
    /// Converts everything, with the settings of the input.
    #[must_use]
    pub fn new(goal: Goal) -> Self {
        Self {
            goal,
            storage: Storage::default(),
            column: None,
            columns: Vec::new(),
            part: Part::All,
            nan_as_null: false,
            table: false,
            arrays: false,
            dtype: None,
            name: "array".to_owned(),
            typed: Vec::new(),
            expected_rows: None,
            index: false,
            version: None,
            chunk_size: None,
            replace: false,
            options: Options::new(),
        }
    }

    /// Checks that the goal supports the settings, without an input.
    ///
    /// # Errors
    /// Returns `Code::Usage` that names the setting.
    pub fn check_settings(&self) -> Result<()> {
        self.storage.check(self.goal)?;
        if self.chunk_size.is_some() && self.goal != Goal::File {
            let message = "a size of chunks in bytes is only for Bloscpack files";
            return Err(Error::usage(message).with_hint("use chunklen or chunkshape"));
        }
        let has_index = self.index || self.expected_rows.is_some();
        if has_index && !matches!(self.goal, Goal::Dataset(_)) {
            let message = "an index and expected rows are only for datasets";
            return Err(Error::usage(message).with_hint("omit them"));
        }
        let checksum = self
            .storage
            .checksum
            .is_some_and(|kind| kind != Checksum::None);
        if self.version == Some(FormatVersion::V1) && checksum {
            let message = "version 1 of Bloscpack files does not support checksums";
            return Err(Error::usage(message).with_hint("omit the checksum"));
        }
        Ok(())
    }

    /// Checks that the goal can store this input, and supports the settings. Reads headers only, except for records, whose
    /// columns show in their content.
    ///
    /// # Errors
    /// Returns an error of the category [`Usage`](bloscpack_error::Category::Usage): `Code::NeedsColumn` for a table where one
    /// array is needed, `Code::NotATable` for a column of something else, `Code::NeedsDtype` for a frame without a dtype,
    /// `Code::Usage` for others; and damage of the input's metadata.
    pub fn check(&self, source: &dyn Container) -> Result<()> {
        self.check_settings()?;
        if self.arrays && !has_only_arrays(source)? {
            let message = "only the arrays of a Zarr group can be kept apart";
            return Err(Error::usage(message));
        }
        let is_tree = self.is_tree(source);
        if is_tree && !matches!(self.goal, Goal::Format(_) | Goal::Records | Goal::File) {
            if let Goal::Frame(_) = self.goal {
                let message = "it has several arrays, and a frame one";
                return Err(Error::usage(message).with_hint(tree::WITHIN));
            }
            if !self.is_whole() {
                let message = "only all of a tree can be converted";
                return Err(Error::usage(message).with_hint(tree::WITHIN));
            }
        }
        let is_one = matches!(self.goal, Goal::File | Goal::Frame(_));
        if self.column.is_some() || (is_one && !source.is_tree()) {
            self.check_one_array(source)?;
        }
        if matches!(self.goal, Goal::File | Goal::Dataset(_) | Goal::Zarr(_)) && !is_tree {
            self.check_dtype(source)?;
        }
        Ok(())
    }

    /// Makes a dataset, a frame, a store or Zarr at a path, which must be an empty folder, or for a frame in one file a path
    /// that does not exist. `warn` receives a warning for everything that the output does not store. A store is always made
    /// as a folder; [`run`](Self::run) packs it. After an error, the output is incomplete.
    ///
    /// # Errors
    /// Returns the errors of [`check`](Self::check), `Code::Usage` for a goal that [is written](Goal::is_written), errors for
    /// elements that the output cannot store, errors of the input on [`Side::Source`](bloscpack_error::Side::Source), and
    /// errors of the output.
    pub fn make(&self, source: &dyn Container, path: &Path, warn: &Warn<'_>) -> Result<Made> {
        if self.needs_table(source)? {
            let with_columns = Self {
                table: true,
                ..self.clone()
            };
            return with_columns.make(source, path, warn);
        }
        let work = self.work(source, warn)?;
        let mut made = Made::default();
        match self.goal {
            Goal::Dataset(layout) if self.is_tree(source) => work.tree_of_datasets(layout, path)?,
            Goal::Store(_) if self.is_tree(source) => work.tree_of_frames(path)?,
            Goal::Dataset(layout) => work.dataset(layout, path)?,
            Goal::Frame(kind) => work.frame(kind, path)?,
            Goal::Store(_) => work.store(path)?,
            Goal::Zarr(format) => {
                let counts = work.zarr(format, path)?;
                made.chunks_taken = counts.taken;
                made.chunks_compressed = counts.compressed;
            }
            Goal::File | Goal::Records | Goal::Format(_) => {
                return Err(Error::usage("a file is written, not made at a path"));
            }
        }
        Ok(made)
    }

    /// Writes a Bloscpack file, records, or a file of another program, in order. After an error, a part of the output may have
    /// been written; no reader takes an unfinished Bloscpack file for complete.
    ///
    /// # Errors
    /// Returns the errors of [`check`](Self::check), `Code::Usage` for a goal that is not [written](Goal::is_written), errors
    /// for elements that the output cannot store, and errors of the input and of the output.
    pub fn write(
        &self,
        source: &dyn Container,
        output: Output<'_>,
        warn: &Warn<'_>,
    ) -> Result<Made> {
        let work = self.work(source, warn)?;
        match self.goal {
            Goal::File => work.file(output),
            Goal::Records => work.records(output),
            Goal::Format(format) => work.exchange(format, output),
            _ => Err(Error::usage("directories and frames are made at a path")),
        }
    }

    /// Describes the source as a Zarr group whose chunks stay where they are. A single array becomes a member with the
    /// [name](Self::name); the goal is ignored. Only headers are read, and chunks that are shorter than others, of which the
    /// references contain a copy.
    ///
    /// ```
    /// # testkit::enter_testdata();
    /// use bloscpack_convert::{Conversion, Goal};
    /// use bloscpack_open::{Options, open};
    ///
    /// let table = open("testdata/datasets/bcolz/table_mixed".as_ref(), &Options::new())?;
    /// let references = Conversion::new(Goal::default()).references(&*table, &|_| ())?;
    /// assert!(references.files().contains_key("id/.zarray"));
    /// # Ok::<(), bloscpack::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns `Code::CannotStore` for a source that readers of Zarr cannot read where it lies: whose chunks are not chunks of
    /// Blosc 1, or whose compressor they do not have; and damage of the metadata and of headers.
    pub fn references(&self, source: &dyn Container, warn: &Warn<'_>) -> Result<References> {
        self.work(source, warn)?.references()
    }

    /// Checks the conversion, and begins it.
    fn work<'a>(&'a self, source: &'a dyn Container, warn: &'a Warn<'a>) -> Result<Work<'a>> {
        self.check(source)?;
        Ok(Work {
            settings: self,
            source,
            warn,
        })
    }

    /// The part and the columns as a [`Selection`] of `bloscpack-open`.
    #[must_use]
    pub fn selection(&self) -> Selection {
        let columns = self.column.iter().chain(&self.columns);
        let selection = Selection::of(self.part.clone()).columns(columns);
        selection
            .nan_as_null(self.nan_as_null)
            .as_array(self.column.is_some())
    }

    /// Whether everything is converted without a selection.
    fn is_whole(&self) -> bool {
        self.part == Part::All && self.columns.is_empty() && !self.table
    }

    /// Whether the elements have fields and the goal is bcolz, which opens them only as a table.
    fn needs_table(&self, source: &dyn Container) -> Result<bool> {
        let is_bcolz = matches!(
            self.goal,
            Goal::Dataset(bloscpack_open::datasets::DatasetLayout::Bcolz)
        );
        let may_be_array =
            is_bcolz && !self.table && self.column.is_none() && !self.is_tree(source);
        if !may_be_array || matches!(source.inner(), Inner::Array(_) | Inner::Table(_)) {
            return Ok(false);
        }
        let outline = source.outline()?;
        let is_line =
            outline.columns.is_none() && outline.shape.is_some_and(|shape| shape.len() == 1);
        let array = if is_line { source.array(None)? } else { None };
        Ok(array.is_some_and(|array| array.dtype().fields().is_some()))
    }

    /// Whether the source is a tree, all of which is converted.
    fn is_tree(&self, source: &dyn Container) -> bool {
        (source.is_tree() || self.arrays) && self.column.is_none()
    }

    /// The limits on what is written: at least the default limits of readers.
    fn write_limits(&self) -> Limits {
        self.options.limits.max(Limits::default())
    }

    /// Refuses a table where one array is needed, and a column of an input that is not a table.
    fn check_one_array(&self, source: &dyn Container) -> Result<()> {
        if source.kind() == Kind::Bloscpack && self.column.is_none() {
            return Ok(());
        }
        let names = if self.table {
            self.rows(source).map(|rows| names_of(&*rows))?
        } else {
            names_of_table(source)?
        };
        match (names, &self.column) {
            (Some(names), None) => Err(needs_column(&names)),
            (None, Some(_)) => Err(not_a_table()),
            _ => Ok(()),
        }
    }

    /// Refuses a frame whose dtype is neither stored nor given.
    fn check_dtype(&self, source: &dyn Container) -> Result<()> {
        let Inner::NdArray(array) = source.inner() else {
            return Ok(());
        };
        let Some(dtype) = self.dtype.as_ref().or(array.dtype()) else {
            let message = "it does not store the dtype of its elements";
            return Err(Error::new(Code::NeedsDtype, message));
        };
        check_itemsize(dtype, array)
    }

    /// The selected rows.
    fn rows<'a>(&self, source: &'a dyn Container) -> Result<BoxedSource<'a>> {
        let mut rows = source.columns(&self.selection())?;
        if self.table {
            rows = rows.fields()?;
            if !rows.schema().is_table {
                let message = "its elements have no fields to make columns of";
                return Err(Error::usage(message).with_hint("omit table"));
            }
        }
        if self.nan_as_null {
            rows = rows.nan_as_null();
        }
        if self.column.is_some() {
            rows = rows.as_array();
        }
        Ok(rows)
    }
}

/// A conversion of one input.
#[derive(Clone, Copy)]
struct Work<'a> {
    settings: &'a Conversion,
    source: &'a dyn Container,
    warn: &'a Warn<'a>,
}

impl<'a> Work<'a> {
    /// The user's attributes of the input or of its column, for a target that stores JSON. Warns about those that JSON cannot
    /// express.
    fn attributes(&self) -> Result<Attributes> {
        let user = self.source.attributes(self.settings.column.as_deref())?;
        self.warn_about_lost(&user.lost, "JSON does not express it");
        Ok(user.attributes)
    }

    /// The selected rows as elements of fixed length, for targets that store no others.
    fn fixed(&self) -> Result<BoxedSource<'a>> {
        let rows = self.settings.rows(self.source)?;
        if rows.schema().columns.iter().all(Column::is_fixed) {
            return Ok(rows);
        }
        let longest = FixedSource::longest(rows)?;
        let rows = self.settings.rows(self.source)?;
        Ok(Box::new(FixedSource::new(rows, &longest)?))
    }

    /// The selected elements as an array; `None` if they can only be read as rows.
    fn array(&self) -> Result<Option<Box<dyn Array + 'a>>> {
        let Some(array) = self.source.array(self.settings.column.as_deref())? else {
            return Ok(None);
        };
        if self.settings.is_whole() {
            return Ok(Some(array));
        }
        let part = &self.settings.part;
        if let Some((ranges, steps)) = part.steps(array.grid().shape())? {
            return Ok(Some(Box::new(Window::with_steps(array, &ranges, &steps)?)));
        }
        let grid = array.grid();
        let itemsize = array.dtype().itemsize();
        let (region, _) = part.resolve(grid.shape(), grid.chunk_shape(), itemsize)?;
        Ok(Some(Box::new(Window::new(array, &region.ranges)?)))
    }

    /// The array in a dataset, if all of it is converted: the dataset itself, or a column of a table.
    fn carray(&self) -> Result<Option<&'a CArray>> {
        match (self.source.inner(), &self.settings.column) {
            _ if !self.settings.is_whole() => Ok(None),
            (Inner::Array(array), _) => Ok(Some(array)),
            (Inner::Table(table), Some(name)) => table.column(name).map(Some),
            _ => Ok(None),
        }
    }

    /// Whether text in the source has the length of the longest value, and no length of its own.
    fn is_of_text(&self) -> bool {
        matches!(self.source.kind(), Kind::File(_) | Kind::Records)
    }

    /// Warns how missing values were stored, for sources in files and records.
    fn warn_about_missing(&self, rows: &Counted<'_>) {
        if self.is_of_text() {
            rows.warnings().iter().for_each(|text| (self.warn)(text));
        }
    }

    /// Warns about metadata that the target does not store.
    fn warn_about_lost(&self, names: &[String], why: &str) {
        warn_about_lost(names, why, self.warn);
    }

    /// Warns about time zones, which only tables of python-blosc2, Arrow and Parquet store.
    fn warn_about_zones(&self, schema: &Schema) {
        for column in &schema.columns {
            if let Some(zone) = &column.zone {
                (self.warn)(&format!(
                    "the time zone {zone} of column {} is dropped; its times are in UTC",
                    column.name
                ));
            }
        }
    }

    /// Counts bytes for the progress function, which may end the work with an error.
    fn advance(&self, bytes: u64, total: u64) -> Result<()> {
        Ok(self.source.watch().count(bytes, Some(total))?)
    }
}

/// Warns about metadata that the target does not store.
fn warn_about_lost(names: &[String], why: &str, warn: &Warn<'_>) {
    if !names.is_empty() {
        let names: Vec<String> = names.iter().map(|name| format!("{name:?}")).collect();
        warn(&format!(
            "its metadata {} is dropped: {why}",
            names.join(", ")
        ));
    }
}

/// Refuses a dtype whose size is not the element's.
fn check_itemsize(dtype: &DType, array: &NdArray) -> Result<()> {
    let (found, expected) = (dtype.itemsize(), u64::from(array.itemsize()));
    if found == expected {
        return Ok(());
    }
    let message = format!("the dtype {dtype} has {found} bytes, but an element has {expected}");
    Err(Error::usage(message))
}

/// The names of the columns of a table; `None` for any other input. Does not read rows of text files.
fn names_of_table(source: &dyn Container) -> Result<Option<Vec<String>>> {
    match source.kind() {
        Kind::Records => Ok(names_of(&*source.columns(&Selection::default())?)),
        _ => Ok(source.outline()?.columns),
    }
}

fn names_of(rows: &dyn Source) -> Option<Vec<String>> {
    let schema = rows.schema();
    let names = schema.columns.iter().map(|column| column.name.clone());
    schema.is_table.then(|| names.collect())
}

/// Whether all members of an input are arrays.
fn has_only_arrays(source: &dyn Container) -> Result<bool> {
    let mut has_table = false;
    let has_members = source.members(&mut |_, outline| {
        has_table |= outline?.columns.is_some();
        Ok(())
    })?;
    Ok(has_members && !has_table)
}
