//! Anything into anything else: every kind of input that `bloscpack-open` opens, into every format that is written.
//!
//! A [`Conversion`] says what is made, and how. It [makes](Conversion::make) a dataset, a frame, a store or Zarr at a path, and
//! [writes](Conversion::write) a file to anything that can be written; [`run`](Conversion::run) does either, so that what it makes
//! appears whole or not at all.
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
};

pub use file::Output;
pub use frame::BAND;
pub use goal::{Goal, StoreForm, mismatch};
pub use rows::{Counted, ElementReader};
pub use storage::Storage;
pub use store::{Tree, new_table};

/// A builder with the settings that were given.
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

/// What is made of an input, and how.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Conversion {
    /// What is made.
    pub goal: Goal,
    /// How it is compressed and divided.
    pub storage: Storage,
    /// The only column of a table that is wanted, as an array.
    pub column: Option<String>,
    /// The only columns of a table that are wanted, in this order, as a table; all if there are none.
    pub columns: Vec<String>,
    /// The part that is wanted.
    pub part: Part,
    /// Whether NaN and "not a time" are written as missing values.
    pub nan_as_null: bool,
    /// Whether a table is made with a column for each field of an array.
    pub table: bool,
    /// The dtype of the elements of a frame that does not store it.
    pub dtype: Option<DType>,
    /// The name of a single array in a store.
    pub name: String,
    /// Columns of files of text that have as many characters as their dtype says, and no other length, in a store.
    pub typed: Vec<String>,
    /// The expected final number of rows of a dataset.
    pub expected_rows: Option<u64>,
    /// Whether a dataset gets an index of the minimum, maximum and nulls of its superchunks.
    pub index: bool,
    /// The version of a new Bloscpack file.
    pub version: Option<FormatVersion>,
    /// The bytes of a chunk of a new Bloscpack file.
    pub chunk_size: Option<u32>,
    /// Whether a dataset, or a file, that is at the path is replaced, in a single change.
    pub replace: bool,
    /// Threads, limits and memory.
    pub options: Options,
}

/// What was made.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Made {
    /// The rows of a file of another format.
    pub rows: u64,
    /// Chunks of Zarr that were taken as they are.
    pub chunks_taken: u64,
    /// Chunks of Zarr that were compressed.
    pub chunks_compressed: u64,
    /// The settings of a Bloscpack file that were chosen by its first bytes.
    pub tuned: Option<Tuned>,
}

/// Told of what the output does not store.
pub type Warn<'a> = dyn Fn(&str) + 'a;

impl Conversion {
    /// All of an input, with its own settings.
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

    /// Refuses settings that the output does not have.
    ///
    /// # Errors
    /// Returns wrong usage.
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

    /// Refuses what cannot be made of this input, and settings that the output does not have.
    ///
    /// # Errors
    /// Returns wrong usage, and damage of what describes the input.
    pub fn check(&self, source: &dyn Container) -> Result<()> {
        self.check_settings()?;
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

    /// Makes a dataset, a frame, a store or Zarr at a path: of an empty folder, or of a file that does not exist. What of the input
    /// has no place in it is a warning. After an error, what is at the path is not complete.
    ///
    /// # Errors
    /// Returns wrong usage by [`check`](Self::check), for a file, and for elements that the output cannot store; errors of the input
    /// on [`Side::Source`](bloscpack_error::Side::Source), and of the output.
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

    /// Writes a Bloscpack file, records, or a file of another format.
    ///
    /// # Errors
    /// Returns the errors of [`make`](Self::make), and wrong usage for what is no such file.
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

    fn work<'a>(&'a self, source: &'a dyn Container, warn: &'a Warn<'a>) -> Result<Work<'a>> {
        self.check(source)?;
        Ok(Work {
            settings: self,
            source,
            warn,
        })
    }

    /// The wanted part.
    #[must_use]
    pub fn selection(&self) -> Selection {
        let columns = self.column.iter().chain(&self.columns);
        let selection = Selection::of(self.part.clone()).columns(columns);
        selection
            .nan_as_null(self.nan_as_null)
            .as_array(self.column.is_some())
    }

    /// Whether everything is wanted as it is.
    fn is_whole(&self) -> bool {
        self.part == Part::All && self.columns.is_empty() && !self.table
    }

    /// Whether the elements have fields: bcolz opens them only as a table.
    fn needs_table(&self, source: &dyn Container) -> Result<bool> {
        let is_bcolz = matches!(
            self.goal,
            Goal::Dataset(bloscpack_open::datasets::DatasetLayout::Bcolz)
        );
        let may_be_array = is_bcolz && !self.table && self.column.is_none() && !source.is_tree();
        if !may_be_array || matches!(source.inner(), Inner::Array(_) | Inner::Table(_)) {
            return Ok(false);
        }
        let outline = source.outline()?;
        let is_line =
            outline.columns.is_none() && outline.shape.is_some_and(|shape| shape.len() == 1);
        let array = if is_line { source.array(None)? } else { None };
        Ok(array.is_some_and(|array| array.dtype().fields().is_some()))
    }

    /// Whether everything in a tree is converted.
    fn is_tree(&self, source: &dyn Container) -> bool {
        source.is_tree() && self.column.is_none()
    }

    /// Limits on what is written: those of the readers, which can be raised but not lowered.
    fn write_limits(&self) -> Limits {
        self.options.limits.max(Limits::default())
    }

    /// Refuses a table where one array is needed, and a column of what is not a table.
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

    /// Refuses elements of which nobody says what they are.
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

    /// The wanted rows.
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

/// A conversion that is under way.
#[derive(Clone, Copy)]
struct Work<'a> {
    settings: &'a Conversion,
    source: &'a dyn Container,
    warn: &'a Warn<'a>,
}

impl<'a> Work<'a> {
    /// The user's attributes of the input or of its column, for a target that stores JSON. Warns about those that JSON does not
    /// express.
    fn attributes(&self) -> Result<Attributes> {
        let user = self.source.attributes(self.settings.column.as_deref())?;
        self.warn_about_lost(&user.lost, "JSON does not express it");
        Ok(user.attributes)
    }

    /// The wanted rows as elements of a fixed length, for targets that store no others.
    fn fixed(&self) -> Result<BoxedSource<'a>> {
        let rows = self.settings.rows(self.source)?;
        if rows.schema().columns.iter().all(Column::is_fixed) {
            return Ok(rows);
        }
        let longest = FixedSource::longest(rows)?;
        let rows = self.settings.rows(self.source)?;
        Ok(Box::new(FixedSource::new(rows, &longest)?))
    }

    /// The wanted elements, if they are those of one array.
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

    /// The array of a dataset, if all of it is wanted: the dataset itself, or the column of a table.
    fn carray(&self) -> Result<Option<&'a CArray>> {
        match (self.source.inner(), &self.settings.column) {
            _ if !self.settings.is_whole() => Ok(None),
            (Inner::Array(array), _) => Ok(Some(array)),
            (Inner::Table(table), Some(name)) => table.column(name).map(Some),
            _ => Ok(None),
        }
    }

    /// Whether the input is of another program, or records, whose text is as long as the longest.
    fn is_of_text(&self) -> bool {
        matches!(self.source.kind(), Kind::File(_) | Kind::Records)
    }

    /// Tells what became of missing values, if that is news.
    fn warn_about_missing(&self, rows: &Counted<'_>) {
        if self.is_of_text() {
            rows.warnings().iter().for_each(|text| (self.warn)(text));
        }
    }

    /// Warns about metadata that a target does not store.
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

    /// Counts bytes of work; an error ends it.
    fn advance(&self, bytes: u64, total: u64) -> Result<()> {
        Ok(self.source.watch().count(bytes, Some(total))?)
    }
}

/// Warns about metadata that a target does not store.
fn warn_about_lost(names: &[String], why: &str, warn: &Warn<'_>) {
    if !names.is_empty() {
        let names: Vec<String> = names.iter().map(|name| format!("{name:?}")).collect();
        warn(&format!(
            "its metadata {} is dropped: {why}",
            names.join(", ")
        ));
    }
}

/// Refuses a dtype of another size than that of the elements.
fn check_itemsize(dtype: &DType, array: &NdArray) -> Result<()> {
    let (found, expected) = (dtype.itemsize(), u64::from(array.itemsize()));
    if found == expected {
        return Ok(());
    }
    let message = format!("the dtype {dtype} has {found} bytes, but an element has {expected}");
    Err(Error::usage(message))
}

/// The names of the columns of a table; `None` for what is none. Rows of text are not read for them.
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
