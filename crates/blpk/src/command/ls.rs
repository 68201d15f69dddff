//! `blpk ls`: the datasets below a directory.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use bloscpack::dataset::Dataset;
use clap::Args;
use serde_json::{Value, json};

use crate::dataset::walk::datasets;
use crate::dataset::{failure, is_not_directory, kind, nbytes};
use crate::failure::Failure;
use crate::json_text;
use crate::output;
use crate::session::Session;
use crate::size::pretty;
use crate::status::Status;
use crate::text::{count, plain, quoted, shape, shown};

/// List the datasets below a directory
///
/// Prints one line for each array or table: path, kind, layout, dtype or columns, shape, and size of its elements, sorted
/// by path. Columns are part of their tables. Symbolic links are not followed, and names that begin with ._ are skipped. If
/// a dataset cannot be opened, that is reported on standard error, and the exit status is the highest of those.
#[derive(Args, Debug)]
pub struct Ls {
    /// Print one JSON object
    #[arg(long)]
    json: bool,

    /// Directory to search
    #[arg(value_name = "DIR", default_value = ".")]
    path: PathBuf,
}

impl Ls {
    pub fn run(&self, session: &Session) -> Result<Status, Failure> {
        if is_not_directory(&self.path) {
            let title = format!("{} is not a directory", quoted(&self.path));
            return Err(Failure::usage(title).hint("blpk info shows what a file contains"));
        }
        let (mut worst, mut found) = (Status::Done, Vec::new());
        for (path, opened) in datasets(&self.path, session)? {
            let opened = opened.map_err(|error| failure(&path, &error));
            // If a column cannot be opened, the number of rows is unknown.
            let rows = opened.as_ref().ok().map(Dataset::rows);
            let rows = rows.and_then(|rows| rows.map_err(|error| failure(&path, &error)).err());
            for failure in opened.as_ref().err().into_iter().chain(&rows) {
                worst = worst.max(failure.status());
            }
            match (self.json, opened) {
                (true, opened) => found.push(entry(&path, &opened, rows.as_ref())),
                (false, Ok(dataset)) => {
                    output::print(&line(&path, &dataset))?;
                    rows.iter().for_each(Failure::report);
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

/// Bytes of all elements, if all columns can be opened.
fn bytes(dataset: &Dataset) -> Option<u64> {
    let is_known = match dataset {
        Dataset::Array(_) => true,
        Dataset::Table(table) => table.names().iter().all(|name| table.column(name).is_ok()),
    };
    is_known.then(|| nbytes(dataset))
}

fn line(path: &Path, dataset: &Dataset) -> String {
    let mut text = format!("{}  {}  {}  ", shown(path), kind(dataset), dataset.layout());
    let _ = match dataset {
        Dataset::Array(array) => {
            let dtype = plain(&array.dtype().to_string());
            write!(text, "{dtype}  {}", shape(array.shape()))
        }
        Dataset::Table(table) => {
            let rows = table.rows();
            let rows = rows.map_or_else(|_| "unknown rows".to_owned(), |rows| count(rows, "row"));
            write!(text, "{}  {rows}", plain(&table.names().join(",")))
        }
    };
    if let Some(bytes) = bytes(dataset) {
        let _ = write!(text, "  {}", pretty(bytes));
    }
    text.push('\n');
    text
}

fn entry(path: &Path, opened: &Result<Dataset, Failure>, rows: Option<&Failure>) -> Value {
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
        "status": rows.map_or(0, |failure| failure.status().code()),
        "error": rows.and_then(Failure::title),
    })
}
