//! `blpk verify` of directories: of a dataset, or of all that lie below.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use bloscpack::{
    Category, Error,
    dataset::{Dataset, DatasetReport},
};

use crate::command::ls::{self, join};
use crate::dataset::{INTERRUPTED, failure, options};
use crate::message::{Failure, quoted};
use crate::progress::Progress;
use crate::session::Session;

/// What came of one dataset.
pub type Examined = (PathBuf, Result<DatasetReport, Failure>);

/// Reads the dataset at `path`, or all those below it.
pub fn examine(
    path: &Path,
    session: &Session,
    take: &mut impl FnMut(Examined) -> Result<(), Failure>,
) -> Result<(), Failure> {
    match options(session).cache(0).open(path) {
        Ok(dataset) => take((path.to_owned(), Ok(read(&dataset, session)))),
        Err(error) if error.category() == Category::Unsupported && error.path().is_none() => {
            below(path, &error, session, take)
        }
        Err(error) => take((path.to_owned(), Err(unopened(path, &error)))),
    }
}

fn below(
    path: &Path,
    none: &Error,
    session: &Session,
    take: &mut impl FnMut(Examined) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let mut list = Vec::new();
    let walked = bloscpack::dataset::walk(path, |below, error| {
        list.push((below.to_owned(), Some(error)));
    });
    match walked {
        Ok(walked) => list.extend(walked.into_iter().map(|found| (found.path, None))),
        Err(error) => return take((path.to_owned(), Err(failure(path, &error)))),
    }
    if list.is_empty() {
        let failure = Failure::library(quoted(path), none).hint("nor is there any below it");
        return take((path.to_owned(), Err(failure)));
    }
    list.sort_by(|one, other| one.0.cmp(&other.0));
    for (below, error) in list {
        let path = join(path, &below);
        let report = ls::open(&path, error, session).map(|dataset| read(&dataset, session));
        let report = report.map_err(|error| unopened(&path, &error));
        take((path, report))?;
    }
    Ok(())
}

fn unopened(path: &Path, error: &Error) -> Failure {
    let failure = Failure::library(quoted(path), error);
    match error.category() {
        Category::Damaged | Category::CutShort => {
            failure.hint("blpk dataset repair brings what is there into order")
        }
        _ => failure,
    }
}

fn read(dataset: &Dataset, session: &Session) -> DatasetReport {
    // Several threads tell of what they have read.
    let progress = Mutex::new(Progress::new(session, Some(bytes(dataset))));
    let mut report = dataset.verify(|bytes| {
        let progress = progress.lock().unwrap_or_else(PoisonError::into_inner);
        progress.advance(bytes);
    });
    if dataset.was_interrupted() {
        report.warnings.push(bloscpack::dataset::Warning {
            path: ".blpk".to_owned(),
            message: format!(
                "{INTERRUPTED}; what was read is the changed dataset, partly from its journal"
            ),
        });
    }
    report
}

/// Bytes of all that is to be read.
fn bytes(dataset: &Dataset) -> u64 {
    match dataset {
        Dataset::Array(array) => array.nbytes(),
        Dataset::Table(table) => {
            let columns = table
                .names()
                .iter()
                .filter_map(|name| table.column(name).ok());
            columns.fold(0, |sum, column| sum.saturating_add(column.nbytes()))
        }
    }
}
