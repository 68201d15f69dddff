//! Datasets: directories that contain arrays and tables.

pub mod source;
pub mod storage_args;
pub mod walk;

use std::path::Path;

use bloscpack_open::datasets::{CArray, CTable, Dataset};

use crate::failure::{About as _, Directory, Failure};
use crate::input::{FROM_JOURNAL, INTERRUPTED};
use crate::session::Session;
use crate::text::{plain, quoted};

/// Opens a dataset for reading, and warns about an interrupted change.
pub fn open(path: &Path, session: &Session) -> Result<Dataset, Failure> {
    let dataset = Dataset::open_with(path, &session.array_options()).about(&Directory(path))?;
    let name = quoted(path);
    if dataset.was_interrupted() {
        session.warning(format_args!("{name}: {INTERRUPTED}; {FROM_JOURNAL}"));
    }
    for warning in dataset.warnings() {
        session.debug(format_args!("{name}: {warning}"));
    }
    Ok(dataset)
}

/// The array of a dataset: the dataset itself, or a column of a table.
pub fn array<'a>(
    path: &Path,
    dataset: &'a Dataset,
    column: Option<&str>,
) -> Result<&'a CArray, Failure> {
    match (dataset, column) {
        (Dataset::Array(array), None) => Ok(array),
        (Dataset::Array(_), Some(_)) => Err(no_columns(path)),
        (Dataset::Table(table), Some(name)) => table.column(name).about(&Directory(path)),
        (Dataset::Table(table), None) => Err(needs_column(path, table)),
    }
}

/// The refusal to look for a column in an array.
pub fn no_columns(path: &Path) -> Failure {
    let title = format!("{} is an array, which has no columns", quoted(path));
    Failure::usage(title)
}

/// The refusal to read a table as an array.
fn needs_column(path: &Path, table: &CTable) -> Failure {
    let names = table.names();
    let columns = if names.is_empty() {
        "it has no columns".to_owned()
    } else {
        format!("columns: {}", plain(&names.join(", ")))
    };
    Failure::usage(format!("{} is a table", quoted(path)))
        .detail(columns)
        .hint("choose a column with --column NAME")
}
