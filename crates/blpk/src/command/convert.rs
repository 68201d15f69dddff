//! `blpk convert`: converts any supported input into any supported output.
#![allow(
    rustdoc::broken_intra_doc_links,
    reason = "help texts contain NumPy types in brackets"
)]

use std::path::{Path, PathBuf};

use bloscpack::{FormatVersion, dtype::DType};
use bloscpack_convert::{Conversion, Goal, Made, Output, StoreForm, Tree};
use bloscpack_open::{
    Bounds, Part, Slice,
    exchange::{Ending, ImportOptions},
    internal::size,
    probe,
};
use clap::Args;
use serde_json::json;

use super::bloscpack_file::has_records;
use crate::args;
use crate::container::{Opened, Reading};
use crate::dataset::{
    source::{self, ImportArgs},
    storage_args::StorageArgs,
};
use crate::failure::{About as _, Failure};
use crate::input::Input;
use crate::json_text;
use crate::output::{FolderKind, MadeFrom, Replaces, Target, unchanged};
use crate::session::Session;
use crate::status::Status;
use crate::store::with_folder;
use crate::text::{count, is_url, quoted};

/// Convert a file, dataset or store to another format
///
/// PATH is recognized by its content, text by its ending: a dataset, a Blosc2 frame, a store of python-blosc2, a Zarr array or
/// group, a Bloscpack file with a NumPy array or with records, .npy, .npz, .csv, .tsv, .jsonl, and, with the feature arrow,
/// which blpk --version shows, .arrow and .parquet.
///
/// The ending of OUT, or --to, selects the format: .npy, .npz, .csv, .tsv, .jsonl, .arrow, .arrows (a stream), .parquet, .bin
/// (only the elements), .blp (a Bloscpack file), .b2nd or .b2frame (a Blosc2 frame), .b2z or .b2d (a store of python-blosc2),
/// .zarr (Zarr version 3), .bcolz or .blz (a dataset). If OUT has no ending, it has the format of PATH if that is a dataset, a
/// frame or a Bloscpack file, and is otherwise a bcolz directory.
///
/// A table stays a table where the format of OUT has tables; for other formats, choose a column with --column. A store or
/// group of several arrays becomes a store, a group or a folder of datasets. Attributes, names of axes, missing values and time
/// zones are kept where OUT can store them, and a warning names what is dropped.
///
/// Settings that are not given are taken from PATH; if its level is unknown, it is the default of the codec. Unless settings
/// are given, Zarr gets whole chunks of datasets, Bloscpack files and other Zarr arrays without recompression.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES, override_usage = "blpk convert [OPTIONS] <PATH>... <OUT>")]
pub struct Convert {
    /// Format of OUT, if its ending does not tell
    #[arg(long, value_name = "KIND", value_parser = args::goals(), conflicts_with_all = ["layout", "format"])]
    pub(super) to: Option<Goal>,

    /// Layout of OUT: a dataset (bcolz, blz, blz-doc, carray-doc), a frame (caterva, b2nd), a store (b2z, b2d) or Zarr (zarr2;
    /// zarr3 or zarr)
    #[arg(long, value_name = "LAYOUT", value_parser = args::layouts(), conflicts_with = "format")]
    pub(super) layout: Option<Goal>,

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

    /// Only rows A to B, excluding B, counted from 0; negative numbers count from the end, and either may be omitted
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

    /// Keep the arrays of a Zarr group apart, with their attributes, where they would become one table
    #[arg(long, conflicts_with_all = ["table", "column", "columns"])]
    pub(super) arrays: bool,

    /// Write NaN and NaT as missing values, even in columns that had no missing cells when blpk imported them
    #[arg(long)]
    pub(super) nan_as_null: bool,

    /// Expected final number of rows of a dataset, which determines the default chunk length
    #[arg(long, value_name = "N", value_parser = args::count)]
    pub(super) expected_rows: Option<u64>,

    /// Write an index for selections by value, as blpk dataset index does; only in the layouts bcolz and blz
    #[arg(long)]
    pub(super) index: bool,

    /// Print one JSON object with the numbers of copied and recompressed chunks; only for Zarr
    #[arg(long)]
    pub(super) json: bool,

    /// File, dataset or store to read; several arrays become a store
    #[arg(value_name = "PATH")]
    pub(super) first: PathBuf,

    /// File, dataset or store to make
    #[arg(value_name = "OUT")]
    pub(super) second: PathBuf,

    // clap does not accept options before a last argument that follows any number of others.
    #[arg(value_name = "OUT", hide = true)]
    pub(super) more: Vec<PathBuf>,

    /// The verb of the final report.
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
        // The goal decides how missing values are read.
        let promised = self.promised()?;
        let opened = self.open(self.path(), promised, session);
        let mut opened = opened.map_err(|failure| match self.output().symlink_metadata() {
            Ok(_) if !failure.is_settled() => failure.detail(unchanged(&quoted(self.output()))),
            _ => failure,
        })?;
        let goal = match promised.or_else(|| Goal::like(&*opened.container)) {
            Some(goal) => goal,
            None => {
                let hint = "use --to, or blpk records unpack and blpk records pack";
                return Err(has_records(&opened.origin.name).hint(hint));
            }
        };
        if self.paths().len() > 1 && !matches!(goal, Goal::Store(_)) {
            let title = "several arrays can only be converted into a store";
            return Err(Failure::usage(title).hint("let OUT end in .b2z or .b2d"));
        }
        if self.json && !matches!(goal, Goal::Zarr(_)) {
            return Err(Failure::usage("--json is only for Zarr").hint("omit --json"));
        }
        let mut conversion = self.conversion(goal, session);
        conversion.check_settings()?;
        conversion.check(&*opened.container).about(&opened.origin)?;
        let made = if goal.is_written() {
            write(
                &mut opened,
                &conversion,
                (self.path(), self.output()),
                session,
            )?
            .1
        } else {
            self.make(&mut opened, &mut conversion, session)?
        };
        opened.finish(session);
        let (amount, name) = (amount(&opened), &opened.origin.name);
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
        if goal.is_some_and(Goal::has_missing) {
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

    /// The kind of output according to the options or the ending of OUT; `None` if neither tells.
    fn promised(&self) -> Result<Option<Goal>, Failure> {
        let (given, option) = match (self.format, self.to, self.layout) {
            (Some(_), ..) => (Some(Goal::File), "--format"),
            (_, Some(goal), _) => (Some(goal), "--to"),
            (.., layout) => (layout, "--layout"),
        };
        let goal = Goal::of_path(self.output(), given).map_err(|error| {
            let hint = match given {
                Some(_) => format!("choose another name, or omit {option}"),
                None => format!("{}; or use --to", error.hint().unwrap_or_default()),
            };
            error.with_hint(hint)
        });
        goal.about(self.output())
    }

    /// The conversion with all options.
    fn conversion(&self, goal: Goal, session: &Session) -> Conversion {
        let mut conversion = Conversion::new(goal);
        conversion.storage = self.storage.storage();
        conversion.column.clone_from(&self.column);
        conversion.columns.clone_from(&self.columns);
        let rows = self.rows.map(Part::Rows);
        let part = rows.or(self.slice.clone().map(Part::Slice));
        conversion.part = part.unwrap_or_default();
        conversion.nan_as_null = self.nan_as_null;
        conversion.table = self.table;
        conversion.arrays = self.arrays;
        conversion.dtype.clone_from(&self.dtype);
        conversion.name = self.member(self.path());
        conversion.typed = self.reading.typed().map(str::to_owned).collect();
        conversion.expected_rows = self.expected_rows;
        conversion.index = self.index;
        conversion.version = self.format;
        conversion.chunk_size = self.chunk_size;
        conversion.options = session.array_options();
        conversion
    }

    /// Makes an output that the library writes at a path, and returns its name.
    fn make(
        &self,
        opened: &mut Opened,
        conversion: &mut Conversion,
        session: &Session,
    ) -> Result<String, Failure> {
        let (output, input) = (self.output(), self.path());
        let is_sparse = conversion.storage.sparse;
        let is_tree = opened.container.is_tree() && self.column.is_none();
        let kind = match conversion.goal {
            Goal::Store(StoreForm::Archive) => None,
            Goal::Store(StoreForm::Folder) => Some(FolderKind::Store),
            Goal::Frame(_) => is_sparse.then_some(FolderKind::Frame),
            Goal::Zarr(_) => Some(FolderKind::Zarr),
            _ if is_tree => Some(FolderKind::Tree),
            _ => Some(FolderKind::Dataset),
        };
        let new = match kind {
            Some(kind) => Target::folder(output, kind, input, session)?,
            None => Target::file_at_path(output, input, session)?,
        };
        let new = match conversion.goal {
            Goal::Store(StoreForm::Archive) => with_folder(new)?,
            _ => new,
        };
        conversion.replace = new.is_replaced_in_place();
        let made = if self.paths().len() > 1 {
            self.arrays(opened, conversion, &new, session)?
        } else {
            let name = opened.origin.name.clone();
            let warn = |text: &str| session.warning(format_args!("{name}: {text}"));
            let made = conversion.make(&*opened.container, new.path(), &warn);
            made.about(&new.made_from(&opened.origin))?
        };
        opened.progress.finish();
        let name = new.commit(session)?.name;
        if let Goal::Zarr(_) = conversion.goal {
            self.report_chunks(&name, conversion.goal, &made, session)?;
        }
        Ok(name)
    }

    /// Writes all arrays into a tree, each under the name of its file.
    fn arrays(
        &self,
        first: &mut Opened,
        conversion: &Conversion,
        new: &Target,
        session: &Session,
    ) -> Result<Made, Failure> {
        let mut tree = Tree::create(new.path()).about(new)?;
        for (number, path) in self.paths().enumerate() {
            let mut other;
            let opened = if number == 0 {
                &mut *first
            } else {
                other = self.open(path, None, session)?;
                &mut other
            };
            let name = opened.origin.name.clone();
            let warn = |text: &str| session.warning(format_args!("{name}: {text}"));
            let container = &*opened.container;
            let added = tree.add(&self.member(path), conversion, container, &warn);
            added.about(&new.made_from(&opened.origin))?;
            opened.warn(session);
        }
        tree.finish().about(new)?;
        Ok(Made::default())
    }

    /// The name of an array in a tree: the name of its column, or of its file without the ending.
    fn member(&self, path: &Path) -> String {
        let stem = path.file_stem().and_then(|stem| stem.to_str());
        let name = self.column.as_deref().or(stem).unwrap_or_default();
        name.to_owned()
    }

    /// Reports how many chunks were copied and recompressed.
    fn report_chunks(
        &self,
        name: &str,
        goal: Goal,
        made: &Made,
        session: &Session,
    ) -> Result<(), Failure> {
        let (taken, compressed) = (made.chunks_taken, made.chunks_compressed);
        if self.json {
            return json_text::print(&json!({
                "path": self.output().to_string_lossy(),
                "layout": goal.name(),
                "chunks": taken + compressed,
                "chunks_taken": taken,
                "chunks_compressed": compressed,
            }));
        }
        if taken == 0 {
            session.verbose(format_args!(
                "{name}: {} compressed",
                count(compressed, "chunk")
            ));
            return Ok(());
        }
        let taken = count(taken, "chunk");
        session.note(format_args!(
            "{name}: {taken} copied, {compressed} recompressed"
        ));
        Ok(())
    }
}

/// Writes a file. Returns the rows, and the name and size of the file.
pub fn write(
    opened: &mut Opened,
    conversion: &Conversion,
    (path, output): (&Path, &Path),
    session: &Session,
) -> Result<(u64, String), Failure> {
    let replaces = match conversion.goal {
        // .npz files and stores of python-blosc2 both begin with the bytes of a ZIP archive.
        Goal::Format(format) if format != bloscpack_open::exchange::Format::Npz => Replaces::Plain,
        _ => Replaces::Compressed,
    };
    if let Goal::Format(_) = conversion.goal {
        // Check the selection before the output is begun.
        let checked = opened
            .container
            .columns(&conversion.selection())
            .map(|_| ());
        opened.warn(session);
        checked.about(&opened.origin)?;
    }
    let origin = match &opened.input {
        Some(input) if opened.is_bloscpack() || conversion.goal == Goal::File => {
            MadeFrom::Input(input)
        }
        _ => MadeFrom::Path(path),
    };
    let mut output = Target::file(output, replaces, origin, session)?;
    let name = opened.origin.name.clone();
    let warn = |text: &str| session.warning(format_args!("{name}: {text}"));
    let written = match output.seekable() {
        Some(mut file) if replaces == Replaces::Compressed => {
            conversion.write(&*opened.container, Output::File(&mut file), &warn)
        }
        _ => conversion.write(&*opened.container, Output::Stream(&mut output), &warn),
    };
    opened.progress.finish();
    let written = written.about(&output.made_from(&opened.origin))?;
    if let Some(tuned) = written.tuned {
        session.verbose(tuned);
    }
    let made = output.commit(session)?;
    let made = format!("{}, {},", made.name, size::pretty(made.length));
    Ok((written.rows, made))
}

/// How much was converted: the size of a file, the shape of an array, or the rows of a table.
fn amount(opened: &Opened) -> String {
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

/// Refuses a file whose format neither its content nor its ending tells.
fn check_format(path: &Path) -> Result<(), Failure> {
    let is_named = !matches!(Ending::of_path(path), None | Some(Ending::Foreign(_)));
    let is_file = !is_url(path) && path.is_file();
    if is_named || !is_file || probe(path).about(path)?.family.is_some() {
        return Ok(());
    }
    source::format_of(path, None).map(drop)
}
