//! Datasets: directories that hold arrays and tables.

pub mod edit;
pub mod making;
pub mod new;
pub mod read;
pub mod rows;
pub mod selection;
pub mod slice;
pub mod source;

use std::fs;
use std::path::Path;

use bloscpack::{
    Category, Error,
    dataset::{CArray, CTable, Dataset, DatasetError, DatasetOptions, Warning},
};

use crate::message::{Failure, plain, quoted};
use crate::session::Session;
use crate::status::Status;

/// Bytes of elements that are in memory at once, beside the chunks that the library keeps.
pub const BLOCK: usize = 16 << 20;
/// Bytes of chunks that are kept, of each array or column.
const CACHE: usize = 64 << 20;

/// Whether the path leads to a directory, as all datasets are.
pub fn is_directory(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|metadata| metadata.is_dir())
}

/// Whether the path leads to something else. What cannot be looked at is opened, which tells why.
pub fn is_no_directory(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|metadata| !metadata.is_dir())
}

/// How datasets are opened.
pub fn options(session: &Session) -> DatasetOptions {
    DatasetOptions::new()
        .threads(session.threads)
        .limits(session.limits)
        .cache(CACHE)
}

/// Opens a dataset for reading, and warns of what is odd.
pub fn open(path: &Path, session: &Session) -> Result<Dataset, Failure> {
    let dataset = options(session).open(path);
    let dataset = dataset.map_err(|error| failure(path, &error))?;
    if dataset.was_interrupted() {
        session.warning(format_args!(
            "{}: {INTERRUPTED}; what is read is the changed dataset, partly from its journal",
            quoted(path)
        ));
    }
    for Warning {
        path: place,
        message,
    } in dataset.warnings()
    {
        session.debug(format_args!("{}: {place}: {message}", quoted(path)));
    }
    Ok(dataset)
}

/// What is said of a dataset whose last writer did not come to the end of a change.
pub const INTERRUPTED: &str = "a change was interrupted here";

/// Why something could not be done with a dataset, and what might help.
pub fn failure(path: &Path, error: &Error) -> Failure {
    let failure = Failure::library(quoted(path), error);
    match error.category() {
        // Nothing is known that it could be.
        Category::Unsupported if is_no_dataset(error) => failure.hint(format!(
            "blpk ls {} lists the datasets below it",
            quoted(path)
        )),
        Category::Damaged => failure.hint("blpk verify tells all that is wrong with it"),
        _ => failure,
    }
}

/// Whether no dataset is there at all.
fn is_no_dataset(error: &Error) -> bool {
    matches!(error.detail(), Some(DatasetError::NotADataset))
}

/// The array that is meant: the one at the path, or a column of the table there.
pub enum Array {
    /// At the path.
    Whole(Box<CArray>),
    /// In the table there.
    Column(Box<CTable>, String),
}

impl Array {
    /// Opens it.
    pub fn open(path: &Path, column: Option<&str>, session: &Session) -> Result<Self, Failure> {
        match (open(path, session)?, column) {
            (Dataset::Array(array), None) => Ok(Self::Whole(array)),
            (Dataset::Array(_), Some(_)) => Err(no_columns(path)),
            (Dataset::Table(table), Some(name)) => {
                let found = table.column(name).map(|_| ());
                found.map_err(|error| failure(path, &error))?;
                Ok(Self::Column(table, name.to_owned()))
            }
            (Dataset::Table(table), None) => Err(needs_column(path, &table)),
        }
    }

    /// The array itself.
    pub fn get(&self, path: &Path) -> Result<&CArray, Failure> {
        match self {
            Self::Whole(array) => Ok(array),
            Self::Column(table, name) => table.column(name).map_err(|error| failure(path, &error)),
        }
    }
}

/// Columns were asked of an array.
pub fn no_columns(path: &Path) -> Failure {
    Failure::usage(format!(
        "{} is an array, which has no columns",
        quoted(path)
    ))
}

/// A table was given where an array is needed.
pub fn needs_column(path: &Path, table: &CTable) -> Failure {
    let title = format!("{} is a table: name one of its columns", quoted(path));
    let names = table.names();
    let columns = match names.is_empty() {
        true => "it has no columns".to_owned(),
        false => format!("columns: {}", plain(&names.join(", "))),
    };
    Failure::new(Status::Usage, title)
        .detail(columns)
        .hint("--column NAME")
}

/// The elements of a shape, for people: `(1000, 3)`.
pub fn shape_text(shape: &[u64]) -> String {
    match shape {
        [rows] => format!("({rows},)"),
        _ => {
            let axes: Vec<String> = shape.iter().map(u64::to_string).collect();
            format!("({})", axes.join(", "))
        }
    }
}
