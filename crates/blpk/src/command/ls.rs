//! `blpk ls`: the datasets below a directory.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use bloscpack::{Error, dataset::Dataset};
use clap::Args;
use serde_json::{Value, json};

use super::info::json_text;
use crate::dataset::{failure, is_no_directory, options, shape_text};
use crate::message::{Failure, plain, quoted, shown};
use crate::output;
use crate::session::Session;
use crate::size::pretty;
use crate::status::Status;

/// List the datasets below a directory
///
/// A line for each: path, kind, layout, dtype or columns, shape, bytes of its elements. Arrays and
/// tables only, in the order of their paths; columns belong to their tables. Symbolic links are not
/// followed, and what begins with ._ is passed over. One that cannot be opened is told on standard
/// error, and the exit status is the highest of them.
#[derive(Args, Debug)]
pub struct Ls {
    /// Print one JSON object
    #[arg(long)]
    json: bool,

    /// Directory to look below
    #[arg(value_name = "DIR", default_value = ".")]
    path: PathBuf,
}

impl Ls {
    pub fn run(&self, session: &Session) -> Result<Status, Failure> {
        if is_no_directory(&self.path) {
            let title = format!("{} is no directory", quoted(&self.path));
            return Err(Failure::usage(title).hint("blpk info tells what a file is"));
        }
        let mut list = Vec::new();
        let walked = bloscpack::dataset::walk(&self.path, |path, error| {
            list.push((path.to_owned(), Some(error)));
        });
        let walked = walked.map_err(|error| Failure::library(quoted(&self.path), &error))?;
        list.extend(walked.into_iter().map(|found| (found.path, None)));
        list.sort_by(|one, other| one.0.cmp(&other.0));
        let (mut worst, mut found) = (Status::Done, Vec::new());
        for (below, error) in list {
            let path = join(&self.path, &below);
            let opened = open(&path, error, session);
            let opened = opened.map_err(|error| failure(&path, &error));
            // A column cannot be opened, so that nobody knows how many rows there are.
            let trouble = opened
                .as_ref()
                .ok()
                .and_then(|dataset| dataset.rows().err());
            let trouble = trouble.map(|error| failure(&path, &error));
            for failure in opened.as_ref().err().into_iter().chain(&trouble) {
                worst = worst.max(failure.status());
            }
            match (self.json, opened) {
                (true, opened) => found.push(entry(&path, &opened, trouble.as_ref())),
                (false, Ok(dataset)) => {
                    output::print(&line(&path, &dataset))?;
                    trouble.iter().for_each(Failure::report);
                }
                (false, Err(failure)) => failure.report(),
            }
        }
        if self.json {
            let text = format!("{:#}\n", json!({ "datasets": found }));
            output::print(&json_text::plain(&text))?;
        }
        Ok(worst)
    }
}

/// Opens what a walk has come upon; where that failed, the dataset itself tells the better reason.
pub fn open(path: &Path, error: Option<Error>, session: &Session) -> bloscpack::Result<Dataset> {
    match (options(session).open(path), error) {
        (Err(none), Some(error)) if none.path().is_none() => Err(error),
        (opened, _) => opened,
    }
}

/// What lies below a directory; nothing below it is the directory itself, and `.` need not be named.
pub fn join(folder: &Path, below: &Path) -> PathBuf {
    match (below.as_os_str().is_empty(), folder == Path::new(".")) {
        (true, _) => folder.to_owned(),
        (false, true) => below.to_owned(),
        (false, false) => folder.join(below),
    }
}

fn kind(dataset: &Dataset) -> &'static str {
    match dataset {
        Dataset::Array(_) => "carray",
        Dataset::Table(_) => "ctable",
    }
}

/// Bytes of all elements; nothing if a column cannot be opened.
fn bytes(dataset: &Dataset) -> Option<u64> {
    match dataset {
        Dataset::Array(array) => Some(array.nbytes()),
        Dataset::Table(table) => {
            let columns = table.names().iter().map(|name| table.column(name).ok());
            columns.map(|column| Some(column?.nbytes())).sum()
        }
    }
}

fn line(path: &Path, dataset: &Dataset) -> String {
    let mut text = format!("{}  {}  {}  ", shown(path), kind(dataset), dataset.layout());
    let _ = match dataset {
        Dataset::Array(array) => {
            let dtype = plain(&array.dtype().to_string());
            write!(text, "{dtype}  {}", shape_text(array.shape()))
        }
        Dataset::Table(table) => {
            let rows = table.rows();
            let rows = rows.map_or_else(|_| "unknown".to_owned(), |rows| rows.to_string());
            write!(text, "{}  {rows} rows", plain(&table.names().join(",")))
        }
    };
    if let Some(bytes) = bytes(dataset) {
        let _ = write!(text, "  {}", pretty(bytes));
    }
    text.push('\n');
    text
}

fn entry(path: &Path, opened: &Result<Dataset, Failure>, trouble: Option<&Failure>) -> Value {
    let path = path.to_string_lossy();
    let dataset = match opened {
        Ok(dataset) => dataset,
        Err(failure) => {
            let status = failure.status().code();
            return json!({ "path": path, "status": status, "error": failure.title() });
        }
    };
    let (dtype, shape, columns) = match dataset {
        Dataset::Array(array) => (
            Some(array.dtype().to_string()),
            Some(array.shape().to_vec()),
            None,
        ),
        Dataset::Table(table) => (
            None,
            table.rows().ok().map(|rows| vec![rows]),
            Some(table.names()),
        ),
    };
    json!({
        "path": path,
        "kind": kind(dataset),
        "layout": dataset.layout().name(),
        "dtype": dtype,
        "shape": shape,
        "columns": columns,
        "uncompressed_bytes": bytes(dataset),
        "status": trouble.map_or(0, |failure| failure.status().code()),
        "error": trouble.and_then(Failure::title),
    })
}
