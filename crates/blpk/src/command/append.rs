//! `blpk append`: appends bytes to a file's content, elements to an array, or rows to a table of python-blosc2.

use std::io::Read as _;
use std::path::{Path, PathBuf};

use bloscpack::{
    Category, Code, Error, Metadata, edit::Editor, error::IoSide as _, wire::NumpyArray,
};
use bloscpack_open::{
    array::Array as _,
    exchange::{ImportOptions, NumpyFile, import_store},
    internal::{locate_store, size},
    stores::TableWriter,
};
use clap::Args;

use super::bloscpack_file::{LOOK, NPY, has_extension, known_format};
use crate::args::{self, ChunkArgs, with_given};
use crate::container::{Opened, Reading};
use crate::dataset::source::ImportArgs;
use crate::edit::FileEdit;
use crate::failure::{About as _, Failure};
use crate::frame;
use crate::grow::Growing;
use crate::input::{self, Input, InterruptibleReader, STANDARD, is_standard_input};
use crate::interrupt;
use crate::progress::Progress;
use crate::session::Session;
use crate::status::Status;
use crate::store::HeldStore;
use crate::text::{count, is_url, quoted};

/// Append bytes to a file, elements to an array, or rows to a table
///
/// The kind of FILE decides what IN must contain.
///
/// A Bloscpack file (.blp) takes any bytes. If it contains a NumPy array, IN must be whole rows of it, or a .npy file with
/// more rows; the shape is updated. A file that blpk compress made from a .npy file cannot grow; blpk import makes one that
/// can. FILE must end with .blp unless -e is given, as in the Python tool.
///
/// An array in a Blosc2 frame (.b2nd) or in Zarr (.zarr) takes any array that blpk convert reads, if it has the same type and
/// the same lengths, except along --axis.
///
/// A table in a store of python-blosc2 (.b2z, .b2d) takes rows in any format that blpk import reads. Columns are matched by
/// name. A copy of the store with the new rows replaces it, without its indexes.
///
/// New data is compressed with the settings of FILE, unless others are given. The change is atomic: readers see the old
/// content until it is complete, and an error, Ctrl-C or a power cut leaves either the old content or the new. During the
/// change a journal, FILE.blpk-journal, lies next to the file. If one is left over, keep it with the file: the next change
/// completes or discards it.
///
/// To change only the metadata, append nothing: blpk append -m FILE.json FILE /dev/null
#[derive(Args, Debug)]
#[command(
    mut_arg("typesize", |arg| arg.help("Element size in bytes, 1 to 255 [default: as in FILE]")),
    mut_arg("level", |arg| arg.help("Compression level, 0 (none) to 9 [default: depends on the compressor]")),
    mut_arg("shuffle", |arg| arg.help("Filter before compression [default: as in FILE]")),
    mut_arg("codec", |arg| arg.help("Compressor [default: as in FILE]")),
)]
pub struct Append {
    #[command(flatten)]
    chunks: ChunkArgs,

    /// Size of a chunk before compression, or 'max'; ignored if FILE has several chunks, and not below the size of its only
    /// chunk
    #[arg(short = 'z', long, value_name = "SIZE", allow_negative_numbers = true, value_parser = args::chunk_size)]
    chunk_size: Option<u32>,

    /// Accept any name for FILE
    #[arg(short = 'e', long)]
    no_check_extension: bool,

    /// JSON file to merge into the metadata of FILE, key by key
    #[arg(short, long, value_name = "FILE.json")]
    metadata: Option<PathBuf>,

    /// Replace all metadata of FILE, including the type and shape of an array
    #[arg(long, requires = "metadata")]
    replace_metadata: bool,

    /// Chunks to reserve space for if the offset table has to grow [default: ten times the number of chunks]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = args::count)]
    max_app_chunks: Option<u64>,

    /// Axis along which an array in a Blosc2 frame or in Zarr grows [default: 0]
    #[arg(long, value_name = "N")]
    axis: Option<usize>,

    #[command(flatten)]
    reading: ImportArgs,

    /// File, array or table to append to
    #[arg(value_name = "FILE")]
    file: PathBuf,

    /// File with the data to append, or - for standard input
    #[arg(value_name = "IN", default_value = STANDARD)]
    input: PathBuf,
}

impl Append {
    pub fn run(&self, session: &Session) -> Result<Status, Failure> {
        let is_path = !is_standard_input(&self.file) && !is_url(&self.file);
        if let Some((root, inside)) = is_path.then(|| locate_store(&self.file)).flatten() {
            return self.to_store((&root, &inside), session);
        }
        if is_path && let Some(array) = Growing::open(&self.file, session)? {
            return self.to_array(array, session);
        }
        frame::refuse(&self.file, "only frames on disk can be appended to")?;
        if self.axis.is_some() {
            let title = "--axis is only for arrays in Blosc2 frames and in Zarr";
            return Err(Failure::usage(title).hint("rows are appended along the first axis"));
        }
        if is_path && self.file.is_dir() {
            let title = format!("{} is a directory", quoted(&self.file));
            return Err(Failure::usage(title).hint("blpk dataset append adds rows to a dataset"));
        }
        self.check_extension()?;
        let input = Input::open(&self.input, session)?;
        let metadata = input::read_metadata(self.metadata.as_deref(), &self.input)?;
        let file = FileEdit::find(&self.file, Some(&input))?;
        let builder = with_given!(self.chunks.editor(Editor::builder()),
            chunk_size: self.chunk_size,
            max_app_chunks: self.max_app_chunks,
        );
        let editor = file.open(builder, session);
        let mut editor = editor.map_err(|failure| match failure.status() {
            Status::Unsupported if file.has_records(session) == Some(true) => {
                failure.hint("use blpk records append")
            }
            _ => failure,
        })?;
        self.warn(&editor, session);
        let name = input.name();
        let appended = self.append(&mut editor, metadata.as_ref(), &input, &file, session);
        let appended = appended.about(&file.changed_from(&name))?;
        file.report_late_signal();
        session.done(format_args!(
            "{name}, {}, appended to {}, which now has {} in {},",
            size::pretty(appended),
            file.name(),
            size::pretty(editor.content_len()),
            count(editor.chunks(), "chunk"),
        ));
        Ok(Status::Done)
    }

    /// Requires that the file ends with `.blp` unless `-e` is given, as in the Python tool.
    fn check_extension(&self) -> Result<(), Failure> {
        let is_name = !is_standard_input(&self.file);
        if self.no_check_extension || !is_name || has_extension(&self.file) {
            return Ok(());
        }
        let title = format!("file {} does not end with '.blp'", quoted(&self.file));
        let swapped = has_extension(&self.input);
        Err(Failure::usage(title).hint(if swapped {
            "the file to append to comes first, the data to append second"
        } else {
            "to append to it anyway, use -e"
        }))
    }

    /// Warns about a chunk size that the file cannot have.
    fn warn(&self, editor: &Editor, session: &Session) {
        let Some(asked) = self.chunk_size.map(u64::from) else {
            return;
        };
        let name = quoted(&self.file);
        match (editor.chunks(), editor.header().chunk_size.map(u64::from)) {
            (0, _) => {}
            (1, _) if asked >= editor.content_len() => {}
            (1, _) => session.warning(format_args!(
                "-z {asked} is too small: the chunk of {name} has {len} bytes, so new chunks have the same size",
                len = editor.content_len()
            )),
            (_, Some(found)) if asked != found => session.warning(format_args!(
                "-z {asked} has no effect: {name} has chunks of {found} bytes"
            )),
            _ => {}
        }
    }

    /// Appends all of the input, and returns its length.
    fn append(
        &self,
        editor: &mut Editor,
        metadata: Option<&Metadata>,
        input: &Input,
        file: &FileEdit<'_>,
        session: &Session,
    ) -> Result<u64, Failure> {
        let progress = Progress::new(session, input.length());
        let name = input.name();
        let mut reader = InterruptibleReader::begin(input, &progress).about(&name)?;
        let has_metadata = editor.metadata().is_some();
        let mut start = Vec::new();
        let read = reader.by_ref().take(LOOK).read_to_end(&mut start);
        read.reading()?;
        let is_npy = is_npy_of_rows(editor, &start, &name, &file.name())?;
        let reader = start.chain(reader);
        let mut appender = editor.append()?;
        match metadata {
            Some(metadata) if self.replace_metadata => appender.set_metadata(metadata)?,
            Some(metadata) => appender.merge_metadata(metadata).map_err(|error| {
                let is_usage = error.category() == Category::Usage;
                let failure = Failure::from(error);
                if is_usage && has_metadata {
                    failure.hint("--replace-metadata replaces all of it")
                } else {
                    failure
                }
            })?,
            None => {}
        }
        let read = if is_npy {
            appender.read_npy_from(reader)
        } else {
            appender.read_from(reader)
        };
        // These errors are about the `.npy` file, not about the file to append to.
        let is_of_npy = |error: &Error| {
            let codes = [Code::CutShort, Code::Trailing, Code::Unsupported];
            codes.contains(&error.code()) && !error.is_format()
        };
        match read {
            Err(error) if is_of_npy(&error) => Err(error).about(&name)?,
            read => read?,
        };
        progress.finish();
        interrupt::check()?;
        Ok(appender.finish()?)
    }

    /// Adds the rows of a file: a changed copy replaces the store.
    fn to_store(
        &self,
        (root, inside): (&Path, &str),
        session: &Session,
    ) -> Result<Status, Failure> {
        self.refuse_settings()?;
        let (name, from) = (quoted(&self.file), input::name(&self.input));
        let held = HeldStore::begin(root)?;
        let new = held.copy()?;
        let options = session.array_options();
        let table = TableWriter::open(new.path(), inside, &options, |array| array);
        let mut table = table.about(&new.made_from(&name))?;
        let options = ImportOptions::new().for_store(table.columns());
        let opened = self
            .reading
            .open(&self.input, options.about(&new)?, session);
        let (rows, file) = opened.about(&new)?;
        let import = || {
            let mut rows = rows.fields()?;
            let mut added = 0;
            import_store(&mut *rows, &mut table, &mut |rows| added = rows)?;
            Ok(added)
        };
        let done: bloscpack::Result<u64> = import();
        let added = done.about(&new.made_from(&file))?;
        let dropped = table.dropped_indexes().to_vec();
        let all = table.finish().about(&new)?;
        held.replace(new, session)?;
        for (column, kind) in dropped {
            session.warning(format_args!(
                "{name}: the index {kind} of column {column} was dropped; CTable.create_index of python-blosc2 makes it again"
            ));
        }
        session.done(format_args!(
            "{from}, {}, appended to {name}, which now has {},",
            count(added, "row"),
            count(all, "row"),
        ));
        Ok(Status::Done)
    }
}

impl Append {
    /// Refuses options that only Bloscpack files have.
    fn refuse_settings(&self) -> Result<(), Failure> {
        let chunks = self.chunks.is_any_given() || self.chunk_size.is_some();
        if chunks || self.metadata.is_some() || self.max_app_chunks.is_some() {
            let title = "the options of chunks and metadata are only for Bloscpack files";
            let hint = "appended data is compressed like the existing data";
            return Err(Failure::usage(title).hint(hint));
        }
        Ok(())
    }

    /// Appends the elements of an array of any kind along an axis.
    fn to_array(&self, mut array: Growing, session: &Session) -> Result<Status, Failure> {
        self.refuse_settings()?;
        let reading = Reading {
            format: self.reading.from,
            options: self.reading.apply(ImportOptions::new(), session),
            is_tree_wanted: false,
        };
        let mut opened = Opened::open_reading(&self.input, &reading, session, |options| options)?;
        let source = opened.container.array(None).about(&opened.origin)?;
        let source = source.ok_or_else(|| {
            let title = format!("{} has rows, and an array is needed", opened.origin.name);
            Failure::usage(title).hint("blpk convert --column makes an array of a column")
        })?;
        let (name, axis) = (quoted(&self.file), self.axis.unwrap_or(0));
        array.append(axis, &*source, session).about(&name)?;
        let along = source.grid().shape().get(axis).copied().unwrap_or(0);
        let (from, shape) = (opened.origin.name.clone(), array.shape().to_vec());
        drop(source);
        opened.finish(session);
        session.done(format_args!(
            "{from}, {} along axis {axis}, appended to {name}, which now has the shape {shape:?},",
            count(along, "element"),
        ));
        Ok(Status::Done)
    }
}

/// Whether the input, which begins with `start`, is a `.npy` file with rows for the array in the file. Refuses input of another
/// known format for an array, and any input for a file whose content is itself a `.npy` file.
fn is_npy_of_rows(editor: &Editor, start: &[u8], input: &str, name: &str) -> Result<bool, Failure> {
    if !editor.metadata().is_some_and(NumpyArray::is_described_by) {
        if start.is_empty() || NumpyFile::new(editor.reader()).is_err() {
            return Ok(false);
        }
        let title = format!(
            "the content of {name} is a .npy file, whose header counts its rows; it cannot grow"
        );
        let hint = "blpk import FILE.npy FILE.blp makes a file to which rows can be appended";
        return Err(Failure::usage(title).hint(hint));
    }
    let Some(format) = known_format(start) else {
        return Ok(false);
    };
    if format == NPY {
        return Ok(true);
    }
    let title = format!("{input} is {format}, and not rows of the array in {name}");
    let hint = "blpk append takes a .npy file, or the bytes of whole rows";
    Err(Failure::usage(title).hint(hint))
}
