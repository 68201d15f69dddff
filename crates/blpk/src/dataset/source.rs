//! Rows on their way from one place to another.

use std::fs::File;
use std::io::{self, Read, Seek as _};
use std::path::Path;

use bloscpack::{
    Category, Error,
    exchange::{Batch, BoxedSource, Format, ImportOptions, NpyFile, Schema, Source, open_at},
};

use super::BLOCK;
use crate::input::{self, Awaited, Input, is_standard_input};
use crate::interrupt;
use crate::message::Failure;
use crate::progress::Progress;
use crate::session::Session;

/// A source that shows how far it is, and ends with an error when the work is asked to end.
pub struct Watched<'a> {
    source: &'a mut dyn Source,
    progress: Progress,
    row_bytes: u64,
    failed: bool,
}

impl<'a> Watched<'a> {
    pub fn new(source: &'a mut dyn Source, session: &Session) -> Self {
        let row_bytes = source.schema().row_bytes();
        let total = source.rows().saturating_mul(row_bytes);
        Self {
            progress: Progress::new(session, Some(total)),
            row_bytes,
            source,
            failed: false,
        }
    }

    /// Whether an error came from the source. An error of the library does not tell.
    pub fn has_failed(&self) -> bool {
        self.failed
    }
}

impl Source for Watched<'_> {
    fn schema(&self) -> &Schema {
        self.source.schema()
    }

    fn rows(&self) -> u64 {
        self.source.rows()
    }

    fn next_batch(&mut self, bytes: usize) -> bloscpack::Result<Option<Batch>> {
        interrupt::check()?;
        let batch = self.source.next_batch(bytes);
        self.failed |= batch.is_err();
        let batch = batch?;
        match &batch {
            Some(batch) => self
                .progress
                .advance(batch.rows.saturating_mul(self.row_bytes)),
            None => self.progress.finish(),
        }
        Ok(batch)
    }
}

/// The bytes of the elements of an array, one batch after another.
pub struct Elements<'a> {
    source: &'a mut dyn Source,
    batch: io::Cursor<Vec<u8>>,
}

impl<'a> Elements<'a> {
    pub fn new(source: &'a mut dyn Source) -> Self {
        Self {
            source,
            batch: io::Cursor::default(),
        }
    }
}

impl Read for Elements<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            let count = self.batch.read(buffer)?;
            if count > 0 || buffer.is_empty() {
                return Ok(count);
            }
            interrupt::check()?;
            let Some(batch) = self.source.next_batch(BLOCK)? else {
                return Ok(0);
            };
            let bytes = batch.columns.into_iter().next().unwrap_or_default();
            self.batch = io::Cursor::new(bytes);
        }
    }
}

/// What a file of another format is: said by `--from`, or by the ending of its name.
pub fn format_of(path: &Path, said: Option<Format>) -> Result<Format, Failure> {
    if let Some(format) = said.or_else(|| Format::of_path(path)) {
        return Ok(format);
    }
    let title = format!("the name of {} does not tell its format", input::name(path));
    Err(Failure::usage(title).hint("--from npy, csv, arrow or parquet tells it"))
}

/// Opens a file of another format.
pub fn open(
    path: &Path,
    format: Format,
    options: &ImportOptions,
    session: &Session,
) -> Result<BoxedSource<'static>, Failure> {
    let opened = open_at(file(path, session)?, format, options);
    opened.map_err(|error| failure(&input::name(path), format, &error))
}

/// Opens the array in a file of NumPy.
pub fn open_npy(path: &Path, session: &Session) -> Result<NpyFile<File>, Failure> {
    let opened = NpyFile::open_at(file(path, session)?);
    opened.map_err(|error| failure(&input::name(path), Format::Npy, &error))
}

/// A file that can be read anywhere. Standard input is copied into a temporary one first: these formats are not read in order.
fn file(path: &Path, session: &Session) -> Result<File, Failure> {
    let input = Input::open(path)?;
    let file = match input.at_positions() {
        Some(_) if !is_standard_input(path) => input.file().try_clone(),
        _ => spool(&input, session),
    };
    file.map_err(|error| match interrupt::is_cause_of(&error) {
        true => Failure::interrupted(),
        false => Failure::io(input.name(), &error),
    })
}

fn spool(input: &Input, session: &Session) -> io::Result<File> {
    let progress = Progress::new(session, input.length());
    let mut file = tempfile::tempfile()?;
    io::copy(&mut Awaited::begin(input, &progress)?, &mut file)?;
    file.rewind()?;
    Ok(file)
}

/// Why a file of another format could not be read.
pub fn failure(name: &str, format: Format, error: &Error) -> Failure {
    let failure = Failure::library(name, error);
    match error.category() {
        Category::Unsupported if !format.is_read() => {
            failure.hint(".npy, .csv, .arrow and .parquet are read")
        }
        Category::Usage => failure.hint("--types NAME=DTYPE says what a column is, --fill NAME=TEXT what stands where a value is missing"),
        _ => failure,
    }
}
