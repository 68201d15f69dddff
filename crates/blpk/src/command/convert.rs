//! `blpk convert`: a dataset, frame or file into another layout, or with other settings.

mod dataset;
mod file;
mod frame;
mod store;
mod zarr;

use std::path::{Path, PathBuf};

use bloscpack::{
    Checksum, Compressor, FormatVersion,
    blosc::{ChunkSettings, CompressorFormat},
    dtype::DType,
};
use bloscpack_open::{
    Container, Inner, Kind, Selection,
    datasets::{Attributes, CArray},
    exchange::{BoxedSource, FixedSource},
    frames::{ArrayKind, NdArray},
    internal::{needs_column, not_a_table},
};
use clap::Args;

use crate::args;
use crate::container::Opened;
use crate::dataset::storage_args::StorageArgs;
use crate::failure::{About as _, Failure};
use crate::input::Input;
use crate::layout::ArrayLayout;
use crate::layout::{self, Goal};
use crate::session::Session;
use crate::status::Status;
use crate::store::warn_about_lost;
use crate::text::count;
use bloscpack_open::internal::size;
pub use dataset::warn_about_axes;

/// Change layout, format or settings
///
/// With --layout, OUT is a dataset or a Blosc2 frame (caterva, b2nd), and PATH a dataset, a frame, or a Bloscpack file with
/// a NumPy array. With --format, OUT is a Bloscpack file, and PATH another one or an array. Without either, OUT is a frame if it
/// ends in .b2nd or .b2frame, a Bloscpack file if it ends in .blp, Zarr of version 3 if it ends in .zarr, a dataset if it ends in
/// .bcolz or .blz, and otherwise of the same kind as PATH; an ending that stands for anything else, such as .csv, is refused.
/// A target of one array takes a column of a table (--column). Attributes and metadata are copied if OUT can store them. If OUT ends in .b2z or .b2d, a table becomes a
/// CTable of python-blosc2, and one array or several become a tree. Settings that are not given are those of PATH; if its level
/// is unknown, it is the default of the codec. Zarr takes whole chunks of datasets and Bloscpack files as they are, unless
/// settings are given.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES, override_usage = "blpk convert [OPTIONS] <PATH>... <OUT>")]
pub struct Convert {
    /// Layout of a new dataset: bcolz, blz, blz-doc or carray-doc; of a new frame: caterva or b2nd; of a new store: b2z or b2d; or
    /// zarr2 or zarr3 (zarr)
    #[arg(long, value_name = "LAYOUT", value_parser = args::converted_layout(), conflicts_with = "format")]
    layout: Option<ArrayLayout>,

    /// Header version of a new Bloscpack file
    #[arg(long, value_name = "1|2|3", value_parser = args::header_format)]
    format: Option<FormatVersion>,

    /// Size of a chunk of a Bloscpack file before compression, or 'max'
    #[arg(short = 'z', long, value_name = "SIZE", allow_negative_numbers = true, value_parser = args::chunk_size)]
    chunk_size: Option<u32>,

    #[command(flatten)]
    storage: StorageArgs,

    /// Only this column of a table, as an array
    #[arg(long, value_name = "NAME")]
    column: Option<String>,

    /// NumPy dtype of the elements, for frames that do not store it
    #[arg(long, value_name = "DTYPE", value_parser = args::dtype)]
    dtype: Option<DType>,

    /// Print one JSON object about the new Zarr array or group: how many chunks were taken as they are
    #[arg(long)]
    json: bool,

    /// Dataset, frame, Zarr array or Bloscpack file to read; several for a tree of arrays
    #[arg(value_name = "PATH")]
    first: PathBuf,

    /// Directory or file to make
    #[arg(value_name = "OUT")]
    second: PathBuf,

    // A last argument after any number of others could not have an option before it.
    #[arg(value_name = "OUT", hide = true)]
    more: Vec<PathBuf>,
}

const EXAMPLES: &str = "\
Examples:
  blpk convert prices.bcolz prices --layout blz-doc -c zstd -k sha256
  blpk convert prices.bcolz prices.zarr
  blpk convert --format 2 old.blp new.blp
  blpk convert prices prices.b2z
  blpk convert north.b2nd south.b2nd winds.b2z
  blpk convert cube.cat cube.b2nd --layout b2nd --dtype '<f8'";

impl Convert {
    pub fn run(&self, session: &Session) -> Result<Status, Failure> {
        let mut opened = self.open(self.path(), session)?;
        let goal = self.goal(&opened)?;
        if self.paths().len() > 1 && !matches!(goal, Goal::Layout(ArrayLayout::Store(_))) {
            let title = "several arrays only become a store, a tree of them";
            return Err(Failure::usage(title).hint("let OUT end in .b2z or .b2d"));
        }
        self.check(goal, &mut opened)?;
        let made = match goal {
            Goal::File => self.file(&mut opened, session),
            Goal::Layout(ArrayLayout::Dataset(layout)) => {
                self.dataset(&mut opened, layout, session)
            }
            Goal::Layout(ArrayLayout::Frame(kind)) => self.frame(&mut opened, kind, session),
            Goal::Layout(ArrayLayout::Store(form)) => self.store(&mut opened, form, session),
            Goal::Layout(ArrayLayout::Zarr(version)) => self.zarr(&mut opened, version, session),
        }?;
        opened.warn(session);
        let (amount, name) = (amount(&opened), &opened.origin.name);
        session.done(format_args!("{name}, {amount}, converted into {made}"));
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

    fn open(&self, path: &Path, session: &Session) -> Result<Opened, Failure> {
        Opened::open_with(path, session, |options| match &self.dtype {
            Some(dtype) => options.dtype(dtype.clone()),
            None => options,
        })
    }

    /// The kind of output: by the options, by the ending of OUT, or else that of PATH.
    fn goal(&self, opened: &Opened) -> Result<Goal, Failure> {
        let given = match self.format {
            Some(_) => Some(Goal::File),
            None => self.layout.map(Goal::Layout),
        };
        if let Some(goal) = layout::goal(self.output(), given, "convert")? {
            return Ok(goal);
        }
        if opened.is_bloscpack() {
            return Ok(Goal::File);
        }
        Ok(Goal::Layout(match opened.container.inner() {
            Inner::NdArray(array) => ArrayLayout::Frame(array.kind()),
            Inner::Frame(_) => ArrayLayout::Frame(ArrayKind::B2nd),
            Inner::Array(array) => ArrayLayout::Dataset(array.layout()),
            Inner::Table(table) => ArrayLayout::Dataset(table.layout()),
            _ => ArrayLayout::default(),
        }))
    }

    /// Refuses options that have no meaning here.
    fn check(&self, goal: Goal, opened: &mut Opened) -> Result<(), Failure> {
        match goal {
            Goal::Layout(_) if self.chunk_size.is_some() => {
                let title = "-z is only for Bloscpack files";
                return Err(Failure::usage(title).hint("use --chunklen or --chunkshape"));
            }
            Goal::Layout(layout) => self.storage.check(layout)?,
            Goal::File => self.check_file()?,
        }
        if self.json && !matches!(goal, Goal::Layout(ArrayLayout::Zarr(_))) {
            return Err(Failure::usage("--json is only for Zarr").hint("omit --json"));
        }
        let is_one = matches!(goal, Goal::File | Goal::Layout(ArrayLayout::Frame(_)));
        if self.column.is_some() || is_one {
            self.check_one_array(opened)?;
        }
        Ok(())
    }

    /// Refuses a table where one array is needed, and a column of what is not a table.
    fn check_one_array(&self, opened: &Opened) -> Result<(), Failure> {
        if opened.is_bloscpack() && self.column.is_none() {
            return Ok(());
        }
        let outline = opened.container.outline().about(&opened.origin)?;
        let wrong = match (outline.columns, &self.column) {
            (Some(columns), None) => needs_column(&columns),
            (None, Some(_)) => not_a_table(),
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

    /// The rows of PATH or of its column as elements of a fixed length, for targets that store no others.
    fn fixed<'a>(&self, container: &'a dyn Container) -> bloscpack::Result<BoxedSource<'a>> {
        let selection = self.selection();
        if container.kind() != Kind::Table {
            return container.columns(&selection);
        }
        let longest = FixedSource::longest(container.columns(&selection)?)?;
        let source = FixedSource::new(container.columns(&selection)?, &longest)?;
        Ok(Box::new(source))
    }

    /// The array of a dataset: the dataset itself, or the column of a table. Nothing for anything else.
    fn array<'a>(&self, opened: &'a Opened) -> Result<Option<&'a CArray>, Failure> {
        match (opened.container.inner(), &self.column) {
            (Inner::Array(array), _) => Ok(Some(array)),
            (Inner::Table(table), Some(name)) => table.column(name).map(Some).about(&opened.origin),
            (Inner::Table(table), None) => Err(needs_column(table.names())).about(&opened.origin),
            _ => Ok(None),
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

    /// All rows of PATH or of its column.
    fn selection(&self) -> Selection {
        Selection::default().columns(&self.column)
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

    /// The header version of a new file.
    fn header_format(&self) -> FormatVersion {
        self.format.unwrap_or(FormatVersion::V3)
    }
}

/// The failure to convert elements without a dtype.
fn no_dtype(name: &str) -> Failure {
    let title = format!("{name} does not store the dtype of its elements");
    Failure::usage(title).hint("add --dtype DTYPE")
}

/// How much was converted: the size of a file, or the rows of a dataset.
fn amount(opened: &Opened) -> String {
    if let Some(length) = opened.input.as_ref().and_then(Input::length) {
        return size::pretty(length);
    }
    let outline = opened.container.outline().ok();
    let rows = outline
        .as_ref()
        .and_then(|all| all.shape.as_ref()?.first().copied());
    let bytes = outline.and_then(|outline| outline.bytes);
    let size = size::pretty(bytes.unwrap_or(0));
    format!("{}, {size}", count(rows.unwrap_or(0), "row"))
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
