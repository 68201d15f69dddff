//! How a file of another format is read.
#![allow(
    rustdoc::broken_intra_doc_links,
    reason = "help texts contain NumPy types in brackets"
)]

use std::path::Path;

use bloscpack::dtype::DType;
use bloscpack_open::exchange::{BoxedSource, Format, ImportOptions};
use clap::Args;

use super::source::{self, Imported};
use crate::args::{self, with_given};
use crate::failure::Failure;
use crate::session::Session;

/// Details that a file of another format may not state.
#[derive(Args, Debug)]
pub struct ImportArgs {
    /// Format of IN, if its name does not show it
    #[arg(long, value_name = "FORMAT", value_parser = args::format_read())]
    pub from: Option<Format>,

    /// NumPy types of columns, such as day=datetime64[D],id=u4; those of other CSV columns are guessed
    #[arg(long, value_name = "NAME=DTYPE,...", value_parser = types)]
    types: Vec<Types>,

    /// Value for missing cells of integer columns: NAME=TEXT for one column, or TEXT for all
    #[arg(long, value_name = "[NAME=]TEXT", allow_hyphen_values = true)]
    fill: Vec<String>,

    /// Separator between CSV cells: one character, or 'tab' [default: a comma; a semicolon or a tab if the first line has
    /// those and no comma; a tab in .tsv]
    #[arg(long, value_name = "CHAR", value_parser = delimiter)]
    delimiter: Option<u8>,

    /// The first line of CSV is a row, not the names of the columns; they become f0, f1 and so on
    #[arg(long)]
    no_header: bool,

    /// Only this array of a .npz; otherwise, its arrays are the columns of a table
    #[arg(long, value_name = "NAME")]
    member: Option<String>,

    /// Cells of CSV that stand for a missing value, except among text; may be repeated
    /// [default: NA, N/A, n/a, #N/A, NULL, null]
    #[arg(long, value_name = "TEXT")]
    na: Vec<String>,
}

/// Names with their types.
type Types = Vec<(String, DType)>;

/// Parses `a=f8,b=datetime64[25s]`. A type with fields contains commas itself, so it must be alone.
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
    /// Whether the type of this column was given.
    pub fn has_type(&self, name: &str) -> bool {
        let mut types = self.types.iter().flatten();
        types.any(|(given, _)| given == name)
    }

    /// Adds what was given to the options of the library.
    pub fn apply(&self, options: ImportOptions) -> ImportOptions {
        let options = options.header(!self.no_header);
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

    /// Opens the file at `path`.
    pub fn open(
        &self,
        path: &Path,
        options: ImportOptions,
        session: &Session,
    ) -> Result<(BoxedSource<'static>, Imported), Failure> {
        let format = source::format_of(path, self.from)?;
        let file = Imported::new(path, format);
        let source = source::open(path, format, &self.apply(options), session)?;
        session.warnings(&file.name, source.warnings());
        Ok((source, file))
    }
}
