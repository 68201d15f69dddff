//! `blpk convert`: anything into anything else.
#![allow(
    rustdoc::broken_intra_doc_links,
    reason = "help texts contain NumPy types in brackets"
)]

mod dataset;
mod exchange;
mod file;
mod frame;
mod store;
mod tree;
mod zarr;

use std::path::{Path, PathBuf};

use bloscpack::{
    Checksum, Compressor, Error, FormatVersion,
    blosc::{ChunkSettings, CompressorFormat},
    dtype::DType,
};
use bloscpack_open::{
    Bounds, Container, Inner, Kind, Part, Selection, Slice,
    array::{Array, Column, Window},
    datasets::{Attributes, CArray},
    exchange::{BoxedSource, Ending, FixedSource, ImportOptions},
    frames::{ArrayKind, NdArray},
    internal::{needs_column, not_a_table, size},
    probe,
};
use clap::Args;

use super::bloscpack_file::has_records;
use crate::args;
use crate::container::{Opened, Reading};
use crate::dataset::{
    source::{self, ImportArgs},
    storage_args::StorageArgs,
};
use crate::failure::{About as _, Failure};
use crate::input::Input;
use crate::layout::{self, ArrayLayout, Goal};
use crate::output::unchanged;
use crate::session::Session;
use crate::status::Status;
use crate::store::warn_about_lost;
use crate::text::{count, is_url, quoted};

pub(super) use exchange::write as write_exchange;

/// Convert anything into anything else
///
/// PATH is known by its bytes: a dataset, a Blosc2 frame, a store of python-blosc2, a Zarr array or group, a Bloscpack file with a
/// NumPy array or with records, .npy, .npz, .csv, .tsv, .jsonl, and with the feature arrow, which blpk --version shows, .arrow and
/// .parquet. The ending of OUT says what is made, or --to: .npy, .npz, .csv, .tsv, .jsonl, .arrow, .arrows (a stream), .parquet; .bin,
/// the elements alone; .blp, a Bloscpack file; .b2nd or .b2frame, a Blosc2 frame; .b2z or .b2d, a store of python-blosc2; .zarr, Zarr
/// of version 3; .bcolz or .blz, a dataset. A name without an ending becomes what PATH is.
///
/// A table becomes a table wherever there are tables; a target of one array takes a column of it (--column). A store or group of several
/// arrays becomes a store, a group or a folder of datasets. Attributes, names of axes, missing values and time zones go along where OUT
/// has a place for them, and a warning names what is dropped. Settings that are not given are those of PATH; if its level is unknown, it
/// is the default of the codec. Zarr takes whole chunks of datasets, frames and Bloscpack files as they are, unless settings are given.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES, override_usage = "blpk convert [OPTIONS] <PATH>... <OUT>")]
pub struct Convert {
    /// What OUT becomes, if its name does not show it
    #[arg(long, value_name = "KIND", value_parser = layout::goals(), conflicts_with_all = ["layout", "format"])]
    pub(super) to: Option<Goal>,

    /// Layout of a new dataset: bcolz, blz, blz-doc or carray-doc; of a new frame: caterva or b2nd; of a new store: b2z or b2d; or
    /// zarr2 or zarr3 (zarr)
    #[arg(long, value_name = "LAYOUT", value_parser = args::converted_layout(), conflicts_with = "format")]
    pub(super) layout: Option<ArrayLayout>,

    /// Header version of a new Bloscpack file
    #[arg(long, value_name = "1|2|3", value_parser = args::header_format)]
    pub(super) format: Option<FormatVersion>,

    /// Size of a chunk of a Bloscpack file before compression, or 'max'
    #[arg(short = 'z', long, value_name = "SIZE", allow_negative_numbers = true, value_parser = args::chunk_size)]
    pub(super) chunk_size: Option<u32>,

    #[command(flatten)]
    pub(super) storage: StorageArgs,

    #[command(flatten)]
    pub(super) reading: ImportArgs,

    /// Only this column of a table, as an array
    #[arg(long, value_name = "NAME", conflicts_with = "columns")]
    pub(super) column: Option<String>,

    /// Only these columns of a table, in this order
    #[arg(long, value_name = "NAME,...", value_delimiter = ',')]
    pub(super) columns: Vec<String>,

    /// Only rows A to B, excluding B; either may be omitted
    #[arg(long, value_name = "A..B", allow_hyphen_values = true, value_parser = args::rows, conflicts_with = "slice")]
    pub(super) rows: Option<Bounds>,

    /// Only this slice of an array or a single column, in Python notation, such as '0:10,:,-1'; keeps all axes
    #[arg(long, value_name = "SLICE", allow_hyphen_values = true, value_parser = args::slice)]
    pub(super) slice: Option<Slice>,

    /// NumPy dtype of the elements, for frames that do not store it
    #[arg(long, value_name = "DTYPE", value_parser = args::dtype)]
    pub(super) dtype: Option<DType>,

    /// Make a table with a column for each field of an array
    #[arg(long)]
    pub(super) table: bool,

    /// Write NaN and NaT as missing values, as from columns that had missing cells when they were read
    #[arg(long)]
    pub(super) nan_as_null: bool,

    /// Expected final number of rows of a dataset, which determines the default chunk length
    #[arg(long, value_name = "N", value_parser = args::count)]
    pub(super) expected_rows: Option<u64>,

    /// Store the minimum, maximum and nulls of each superchunk, as blpk dataset index does; in the layouts bcolz and blz
    #[arg(long)]
    pub(super) index: bool,

    /// Print one JSON object about the new Zarr array or group: how many chunks were taken as they are
    #[arg(long)]
    pub(super) json: bool,

    /// What to read; several arrays become a tree
    #[arg(value_name = "PATH")]
    pub(super) first: PathBuf,

    /// What to make
    #[arg(value_name = "OUT")]
    pub(super) second: PathBuf,

    // A last argument after any number of others could not have an option before it.
    #[arg(value_name = "OUT", hide = true)]
    pub(super) more: Vec<PathBuf>,

    /// What is said to have been done.
    #[arg(skip)]
    pub(super) verb: Option<&'static str>,
}

const EXAMPLES: &str = "\
Examples:
  blpk convert prices.csv prices.bcolz --types day=datetime64[D]
  blpk convert prices.bcolz prices.parquet --rows ..1000
  blpk convert prices.bcolz prices.zarr
  blpk convert cube.zarr cube.b2nd --slice '0:10'
  blpk convert north.b2nd south.b2nd winds.b2z
  blpk convert --format 2 old.blp new.blp
  blpk convert cube.cat cube.b2nd --layout b2nd --dtype '<f8'";

impl Convert {
    pub fn run(&self, session: &Session) -> Result<Status, Failure> {
        // What the name promises decides how missing values are read.
        let promised = self.promised()?;
        let opened = self.open(self.path(), promised, session);
        let mut opened = opened.map_err(|failure| match self.output().symlink_metadata() {
            Ok(_) if !failure.is_settled() => failure.detail(unchanged(&quoted(self.output()))),
            _ => failure,
        })?;
        let goal = match promised {
            Some(goal) => goal,
            None => self.same_kind(&opened)?,
        };
        if self.paths().len() > 1 && !matches!(goal, Goal::Layout(ArrayLayout::Store(_))) {
            let title = "several arrays only become a store, a tree of them";
            return Err(Failure::usage(title).hint("let OUT end in .b2z or .b2d"));
        }
        self.check(goal, &opened)?;
        let is_tree = opened.container.is_tree() && self.column.is_none();
        let made = match goal {
            Goal::Format(format) => self.exchange(&mut opened, format, session),
            Goal::Records => self.records(&opened, session),
            Goal::File => self.file(&mut opened, session),
            Goal::Layout(layout) if is_tree => self.tree(&opened, layout, session),
            Goal::Layout(ArrayLayout::Dataset(layout)) => {
                self.dataset(&mut opened, layout, session)
            }
            Goal::Layout(ArrayLayout::Frame(kind)) => self.frame(&opened, kind, session),
            Goal::Layout(ArrayLayout::Store(form)) => self.store(&mut opened, form, session),
            Goal::Layout(ArrayLayout::Zarr(version)) => self.zarr(&mut opened, version, session),
        }?;
        opened.finish(session);
        let (amount, name) = (self.amount(&opened), &opened.origin.name);
        let verb = self.verb.unwrap_or("converted");
        session.done(format_args!("{name}, {amount}, {verb} into {made}"));
        Ok(Status::Done)
    }

    /// The first input.
    fn path(&self) -> &Path {
        &self.first
    }

    /// All inputs.
    fn paths(&self) -> impl ExactSizeIterator<Item = &Path> {
        let mut all = vec![self.first.as_path(), &self.second];
        all.extend(self.more.iter().map(PathBuf::as_path));
        all.pop();
        all.into_iter()
    }

    /// The last argument.
    fn output(&self) -> &Path {
        self.more.last().unwrap_or(&self.second)
    }

    fn open(&self, path: &Path, goal: Option<Goal>, session: &Session) -> Result<Opened, Failure> {
        if self.reading.from.is_none() {
            check_format(path)?;
        }
        let mut options = self.reading.apply(ImportOptions::new(), session);
        // Elsewhere NaN and the like stand for them.
        let has_missing = match goal {
            Some(Goal::Format(format)) => format.has_missing(),
            Some(Goal::Records | Goal::Layout(ArrayLayout::Store(_))) => true,
            _ => false,
        };
        if has_missing {
            options = options.keep_missing();
        }
        let reading = Reading {
            format: self.reading.from,
            options,
            is_tree_wanted: true,
        };
        Opened::open_reading(path, &reading, session, |options| match &self.dtype {
            Some(dtype) => options.dtype(dtype.clone()),
            None => options,
        })
    }

    /// The kind of output that the options or the ending of OUT say, if they do.
    fn promised(&self) -> Result<Option<Goal>, Failure> {
        let given = match self.format {
            Some(_) => Some(Goal::File),
            None => self.to.or(self.layout.map(Goal::Layout)),
        };
        layout::goal(self.output(), given)
    }

    /// The kind of output where neither says it: that of PATH.
    fn same_kind(&self, opened: &Opened) -> Result<Goal, Failure> {
        Ok(Goal::Layout(match opened.container.inner() {
            _ if opened.container.kind() == Kind::Records => {
                let hint = "use --to, or blpk records unpack and blpk records pack";
                return Err(has_records(&opened.origin.name).hint(hint));
            }
            _ if opened.is_bloscpack() => return Ok(Goal::File),
            Inner::NdArray(array) => ArrayLayout::Frame(array.kind()),
            Inner::Frame(_) => ArrayLayout::Frame(ArrayKind::B2nd),
            Inner::Array(array) => ArrayLayout::Dataset(array.layout()),
            Inner::Table(table) => ArrayLayout::Dataset(table.layout()),
            _ => ArrayLayout::default(),
        }))
    }

    /// Refuses options that have no meaning here.
    fn check(&self, goal: Goal, opened: &Opened) -> Result<(), Failure> {
        match goal {
            Goal::Layout(_) if self.chunk_size.is_some() => {
                let title = "-z is only for Bloscpack files";
                return Err(Failure::usage(title).hint("use --chunklen or --chunkshape"));
            }
            Goal::Layout(layout) => self.storage.check(layout)?,
            Goal::File => self.check_file()?,
            Goal::Format(_) | Goal::Records
                if self.storage.is_given() || self.chunk_size.is_some() =>
            {
                let title =
                    "a file of another format has none of the settings of datasets and frames";
                return Err(Failure::usage(title).hint("omit them"));
            }
            Goal::Format(_) | Goal::Records => {}
        }
        let is_dataset = matches!(goal, Goal::Layout(ArrayLayout::Dataset(_)));
        if (self.index || self.expected_rows.is_some()) && !is_dataset {
            let title = "--index and --expected-rows are only for datasets";
            return Err(Failure::usage(title).hint("omit them"));
        }
        if self.json && !matches!(goal, Goal::Layout(ArrayLayout::Zarr(_))) {
            return Err(Failure::usage("--json is only for Zarr").hint("omit --json"));
        }
        let is_one = matches!(goal, Goal::File | Goal::Layout(ArrayLayout::Frame(_)));
        if self.column.is_some() || (is_one && !opened.container.is_tree()) {
            self.check_one_array(opened)?;
        }
        Ok(())
    }

    /// Refuses a table where one array is needed, and a column of what is not a table.
    fn check_one_array(&self, opened: &Opened) -> Result<(), Failure> {
        if opened.container.kind() == Kind::Bloscpack && self.column.is_none() {
            return Ok(());
        }
        let source = if self.table {
            self.rows(&*opened.container)
        } else {
            opened.container.columns(&Selection::default())
        };
        let schema = source.about(&opened.origin)?.schema().clone();
        let wrong = match (schema.is_table, &self.column) {
            (true, None) => {
                let names = schema.columns.into_iter().map(|column| column.name);
                needs_column(&names.collect::<Vec<_>>())
            }
            (false, Some(_)) => not_a_table(),
            _ => return Ok(()),
        };
        Err(wrong).about(&opened.origin)
    }

    /// The user's attributes of PATH or of its column, for a target that stores JSON. Warns about those that JSON does not express.
    fn attributes(&self, opened: &Opened, session: &Session) -> Result<Attributes, Failure> {
        let user = opened.container.attributes(self.column.as_deref());
        let user = user.about(&opened.origin)?;
        warn_about_lost(
            &user.lost,
            "JSON does not express it",
            &opened.origin.name,
            session,
        );
        Ok(user.attributes)
    }

    /// The wanted rows.
    fn rows<'a>(&self, container: &'a dyn Container) -> bloscpack::Result<BoxedSource<'a>> {
        let mut source = container.columns(&self.selection())?;
        if self.table {
            source = source.fields()?;
            if !source.schema().is_table {
                let title = "its elements have no fields to make columns of";
                return Err(Error::usage(title).with_hint("omit --table"));
            }
        }
        if self.nan_as_null {
            source = source.nan_as_null();
        }
        Ok(source)
    }

    /// The same as elements of a fixed length, for targets that store no others.
    fn fixed<'a>(&self, container: &'a dyn Container) -> bloscpack::Result<BoxedSource<'a>> {
        let source = self.rows(container)?;
        if source.schema().columns.iter().all(Column::is_fixed) {
            return Ok(source);
        }
        let longest = FixedSource::longest(source)?;
        let source = FixedSource::new(self.rows(container)?, &longest)?;
        Ok(Box::new(source))
    }

    /// The wanted elements, if they are those of one array.
    fn array<'a>(&self, opened: &'a Opened) -> Result<Option<Box<dyn Array + 'a>>, Failure> {
        let array = opened.container.array(self.column.as_deref());
        let Some(array) = array.about(&opened.origin)? else {
            return Ok(None);
        };
        if self.is_whole() {
            return Ok(Some(array));
        }
        let (grid, selection) = (array.grid(), self.selection());
        let itemsize = array.dtype().itemsize();
        let resolved = selection
            .part
            .resolve(grid.shape(), grid.chunk_shape(), itemsize);
        let (region, _) = resolved.about(&opened.origin)?;
        let window = Window::new(array, &region.ranges).about(&opened.origin)?;
        Ok(Some(Box::new(window)))
    }

    /// The array of a dataset, if all of it is wanted: the dataset itself, or the column of a table.
    fn carray<'a>(&self, opened: &'a Opened) -> Result<Option<&'a CArray>, Failure> {
        match (opened.container.inner(), &self.column) {
            _ if !self.is_whole() => Ok(None),
            (Inner::Array(array), _) => Ok(Some(array)),
            (Inner::Table(table), Some(name)) => table.column(name).map(Some).about(&opened.origin),
            _ => Ok(None),
        }
    }

    /// Refuses elements of which nobody says what they are.
    fn check_dtype(&self, opened: &Opened) -> Result<(), Failure> {
        match opened.container.inner() {
            Inner::NdArray(array) if self.dtype_of(array, &opened.origin.name)?.is_none() => {
                let title = format!(
                    "{} does not store the dtype of its elements",
                    opened.origin.name
                );
                Err(Failure::usage(title).hint("add --dtype DTYPE"))
            }
            _ => Ok(()),
        }
    }

    /// The dtype of the elements of a frame, if it is given or stored.
    fn dtype_of(&self, array: &NdArray, name: &str) -> Result<Option<DType>, Failure> {
        let dtype = self.dtype.as_ref().or(array.dtype());
        match dtype.map(|dtype| (dtype, dtype.itemsize(), array.itemsize())) {
            Some((dtype, found, expected)) if found != u64::from(expected) => {
                let title = format!(
                    "--dtype {dtype} has {found} bytes, but an element of {name} has {expected}"
                );
                Err(Failure::usage(title))
            }
            _ => Ok(dtype.cloned()),
        }
    }

    /// The wanted part of PATH or of its columns.
    fn selection(&self) -> Selection {
        let rows = self.rows.map(Part::Rows);
        let part = rows.or(self.slice.clone().map(Part::Slice));
        let columns = self.column.iter().chain(&self.columns);
        let selection = Selection::of(part.unwrap_or_default()).columns(columns);
        selection.nan_as_null(self.nan_as_null)
    }

    /// Whether everything is wanted as it is.
    fn is_whole(&self) -> bool {
        self.rows.is_none() && self.slice.is_none() && self.columns.is_empty() && !self.table
    }

    fn check_file(&self) -> Result<(), Failure> {
        if self.storage.is_divided() {
            let title = "--chunklen, --chunkshape, --blockshape, --sparse, --spare and --chunks-per-superchunk are only for datasets and frames";
            return Err(Failure::usage(title).hint("-z is the size of a chunk of a file"));
        }
        let checksum = self.storage.checksum;
        let checksum = checksum.is_some_and(|kind| kind != Checksum::None);
        if self.format == Some(FormatVersion::V1) && checksum {
            let title = "--format 1 does not support checksums";
            return Err(Failure::usage(title).hint("omit -k"));
        }
        Ok(())
    }

    /// How much was converted: the size of a file, the shape of an array, or the rows of a table.
    fn amount(&self, opened: &Opened) -> String {
        let length = opened.input.as_ref().and_then(Input::length);
        if let Some(length) = length.filter(|_| opened.is_bloscpack()) {
            return size::pretty(length);
        }
        let outline = opened.container.outline().ok();
        let shape = outline.as_ref().and_then(|outline| outline.shape.clone());
        let bytes = outline.and_then(|outline| outline.bytes);
        let size = size::pretty(bytes.unwrap_or(0));
        match shape.as_deref() {
            Some(shape) if shape.len() > 1 => format!("shape {shape:?}, {size}"),
            shape => {
                let rows = shape.and_then(|shape| shape.first().copied());
                format!("{}, {size}", count(rows.unwrap_or(1), "row"))
            }
        }
    }

    /// The header version of a new file.
    fn header_format(&self) -> FormatVersion {
        self.format.unwrap_or(FormatVersion::V3)
    }
}

/// Refuses a file of which neither the bytes nor the name show the format.
fn check_format(path: &Path) -> Result<(), Failure> {
    let is_named = !matches!(Ending::of_path(path), None | Some(Ending::Foreign(_)));
    let is_file = !is_url(path) && path.is_file();
    if is_named || !is_file || probe(path).about(path)?.family.is_some() {
        return Ok(());
    }
    source::format_of(path, None).map(drop)
}

/// The codec that writes this format, or the default one.
fn codec_for(format: Option<CompressorFormat>) -> Compressor {
    let mut all = Compressor::ALL.into_iter();
    let found = all.find(|codec| Some(codec.format()) == format && codec.is_available());
    found.unwrap_or(ChunkSettings::default().compressor)
}

/// The codec of the first chunks of an array.
fn codec_of(array: &CArray) -> Compressor {
    let survey = array.survey(100).ok();
    codec_for(survey.and_then(|survey| survey.compressors.first().copied()))
}
