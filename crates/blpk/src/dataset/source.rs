//! Rows from a dataset or from a file of another format.
#![allow(
    rustdoc::broken_intra_doc_links,
    reason = "help texts contain NumPy types in brackets"
)]

use std::ffi::OsStr;
use std::fs::File;
use std::path::Path;

use bloscpack::{Category, Error, dtype::DType};
use bloscpack_open::{
    exchange::{BoxedSource, Format, ImportOptions, open_at},
    internal::watched,
};
use clap::Args;

use crate::args::{self, with_given};
use crate::failure::{About as _, Failure, Subject};
use crate::input::{self, Input};
use crate::progress;
use crate::session::Session;
use crate::text::shown;

/// The format of a file, from `--from` or from its ending.
pub fn format_of(path: &Path, given: Option<Format>) -> Result<Format, Failure> {
    if let Some(format) = given.or_else(|| Format::of_path(path)) {
        return Ok(format);
    }
    let name = input::name(path);
    let failure = Failure::usage(format!("the ending of {name} does not tell its format"));
    Err(match path.extension() {
        Some(ending) if ending == "gz" => {
            let plain = path.with_extension("");
            let from = plain
                .extension()
                .map_or("csv".into(), OsStr::to_string_lossy);
            let path = shown(path);
            failure.hint(format!("gunzip < {path} | blpk import - OUT --from {from}"))
        }
        _ => failure.hint("use --from npy, npz, csv, tsv, jsonl, arrow or parquet"),
    })
}

/// Opens a file of another format.
pub fn open(
    path: &Path,
    format: Format,
    options: &ImportOptions,
    session: &Session,
) -> Result<BoxedSource<'static>, Failure> {
    let opened = open_at(file(path, session)?, format, options);
    opened.about(&Imported::new(path, format))
}

/// Opens a file that can be read at any position.
fn file(path: &Path, session: &Session) -> Result<File, Failure> {
    Input::open(path, session)?.whole_file(session)
}

/// A file of another format.
pub struct Imported {
    /// Its name in messages.
    pub name: String,
    format: Format,
}

impl Imported {
    /// The file at `path`.
    pub fn new(path: &Path, format: Format) -> Self {
        let name = input::name(path);
        Self { name, format }
    }
}

impl Subject for Imported {
    fn explain(&self, failure: Failure) -> Failure {
        let category = failure.error().map(Error::category);
        let failure = failure.named(&self.name);
        match category {
            Some(Category::Unsupported) if !self.format.is_read() => {
                failure.hint("only .npy, .npz, .csv, .tsv, .jsonl, .arrow and .parquet can be read")
            }
            Some(Category::Usage) if failure.is_advised() => failure,
            Some(Category::Usage) if self.format == Format::Npz => {
                failure.hint("--member NAME takes one of the arrays")
            }
            Some(Category::Usage) => failure.hint(
                "--types NAME=DTYPE sets the type of a column, --fill NAME=TEXT the value of missing cells",
            ),
            _ => failure,
        }
    }
}

/// Details that a file of another format may not contain.
#[derive(Args, Clone, Debug)]
pub struct ImportArgs {
    /// Format of the input, if its ending does not tell
    #[arg(long, value_name = "FORMAT", value_parser = args::format_read())]
    pub from: Option<Format>,

    /// NumPy types of columns, such as day=datetime64[D],id=u4; the types of other CSV columns are guessed
    #[arg(long, value_name = "NAME=DTYPE,...", value_parser = types)]
    types: Vec<Types>,

    /// Value for missing cells of integer columns: NAME=TEXT for one column, or TEXT for all
    #[arg(long, value_name = "[NAME=]TEXT", allow_hyphen_values = true)]
    fill: Vec<String>,

    /// Separator of CSV cells: one character, or 'tab' [default: a tab in .tsv; otherwise a comma, or a semicolon or a tab if the
    /// first line has that and no comma]
    #[arg(long, value_name = "CHAR", value_parser = delimiter)]
    delimiter: Option<u8>,

    /// Read the first line of CSV as a row; the columns are named f0, f1 and so on
    #[arg(long)]
    no_header: bool,

    /// Read only this array of a .npz [default: all arrays, as the columns of a table]
    #[arg(long, value_name = "NAME")]
    member: Option<String>,

    /// CSV cell that means a missing value, except in columns of text; may be repeated
    /// [default: NA, N/A, n/a, #N/A, NULL, null]
    #[arg(long, value_name = "TEXT")]
    na: Vec<String>,
}

/// Names with their types.
type Types = Vec<(String, DType)>;

/// Parses `a=f8,b=datetime64[25s]`. A type with fields contains commas, so it must be the only one.
fn types(text: &str) -> Result<Types, String> {
    let one = |text: &str| {
        let wrong = || format!("'{text}' is not NAME=DTYPE");
        let (name, dtype) = text.split_once('=').ok_or_else(wrong)?;
        Ok((name.trim().to_owned(), args::dtype(dtype.trim())?))
    };
    if text.contains(['(', '{']) {
        return Ok(vec![one(text)?]);
    }
    text.split(',').map(one).collect()
}

fn delimiter(text: &str) -> Result<u8, String> {
    match text.as_bytes() {
        [byte] if byte.is_ascii() => Ok(*byte),
        _ if text.eq_ignore_ascii_case("tab") || text == "\\t" => Ok(b'\t'),
        _ => Err("expected one ASCII character, or 'tab'".into()),
    }
}

impl ImportArgs {
    /// The columns in `--types`.
    pub fn typed(&self) -> impl Iterator<Item = &str> {
        self.types.iter().flatten().map(|(name, _)| name.as_str())
    }

    /// Adds the given options to the options of the library.
    pub fn apply(&self, options: ImportOptions, session: &Session) -> ImportOptions {
        let options = options.threads(session.threads).header(!self.no_header);
        let mut options = with_given!(options, delimiter: self.delimiter);
        if let Some(name) = &self.member {
            options = options.member(name);
        }
        if !self.na.is_empty() {
            options = options.missing(&self.na);
        }
        for (name, dtype) in self.types.iter().flatten() {
            options = options.dtype(name, dtype.clone());
        }
        for fill in &self.fill {
            options = match fill.split_once('=') {
                Some((name, text)) => options.fill(name, text),
                None => options.fill_all(fill),
            };
        }
        options
    }

    /// Opens the file at `path`. Reads count as progress, and fail after a request to stop.
    pub fn open(
        &self,
        path: &Path,
        options: ImportOptions,
        session: &Session,
    ) -> Result<(BoxedSource<'static>, Imported), Failure> {
        let format = format_of(path, self.from)?;
        let file = Imported::new(path, format);
        let source = open(path, format, &self.apply(options, session), session)?;
        session.warnings(&file.name, source.warnings());
        let (options, _) = progress::options(session);
        Ok((watched(&options.watch, source), file))
    }
}
