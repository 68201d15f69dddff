//! A dataset that is changed in place: what the subcommands of `blpk dataset` share.

use std::fs;
use std::io;
use std::path::Path;

use bloscpack::{Category, Error, error::Side};
use bloscpack_open::{
    Family,
    datasets::{CTable, Dataset},
    probe,
};

use super::InPlace;
use super::file::is_full;
use crate::dataset::{failure, no_columns, options};
use crate::failure::{Failure, io_error, is_busy, is_stopped};
use crate::frame;
use crate::input::{COMPLETED, INTERRUPTED, is_standard_input};
use crate::remote;
use crate::session::{LOCK_TIMEOUT, Session};
use crate::text::quoted;
use crate::url;

/// The dataset that is to be changed. While this lives, Ctrl-C asks the change to stop.
#[derive(Debug)]
pub struct DatasetEdit<'a>(InPlace<'a>);

impl<'a> DatasetEdit<'a> {
    /// The directory at `path`.
    pub fn find(path: &'a Path) -> Result<Self, Failure> {
        if is_standard_input(path) {
            let title = "standard input cannot be a dataset";
            return Err(Failure::usage(title).hint("name a directory"));
        }
        frame::refuse(
            path,
            "the library changes arrays in frames (NdArray); blpk convert makes another frame, or a dataset",
        )?;
        if fs::metadata(path).is_ok_and(|metadata| !metadata.is_dir()) {
            let title = format!(
                "{} is not a directory, so it is not a dataset",
                quoted(path)
            );
            let family = probe(path).ok().and_then(|probed| probed.family);
            return Err(Failure::usage(title).hint(match family {
                Some(Family::Archive) => {
                    "an archive is only read; blpk convert makes a directory of it"
                }
                _ => "blpk append and blpk patch change files",
            }));
        }
        Ok(Self(InPlace::begin(path)))
    }

    /// Its name in messages.
    pub fn name(&self) -> String {
        self.0.name()
    }

    /// Opens it, and completes an interrupted change.
    pub fn open(&self, session: &Session) -> Result<Dataset, Failure> {
        let options = options(session)
            .lock_timeout(LOCK_TIMEOUT)
            .while_waiting(self.0.while_waiting(session));
        if url::is_url(self.0.path) {
            return remote::edit(self.0.path, &options, session);
        }
        let dataset = options.edit(self.0.path);
        let dataset = dataset.map_err(|error| self.failed(&error))?;
        if dataset.was_interrupted() {
            session.warning(format_args!("{}: {INTERRUPTED}; {COMPLETED}", self.name()));
        }
        Ok(dataset)
    }

    /// The table in it.
    pub fn table<'d>(&self, dataset: &'d mut Dataset) -> Result<&'d mut CTable, Failure> {
        match dataset {
            Dataset::Table(table) => Ok(table),
            Dataset::Array(_) => Err(no_columns(self.0.path)),
        }
    }

    /// The failure of a change before anything was flushed.
    pub fn failed(&self, error: &Error) -> Failure {
        if is_stopped(error) {
            return self.unchanged(Failure::interrupted());
        }
        let failure = self.unchanged(failure(self.0.path, error));
        match io_error(error).map(io::Error::kind) {
            Some(io::ErrorKind::PermissionDenied) => {
                failure.hint("the directory and all directories in it must be writable")
            }
            _ => failure,
        }
    }

    /// The failure to append from `source`.
    ///
    /// An error without a side is about the source, unless it names a file of the dataset.
    pub fn failed_from(&self, source: impl FnOnce(&Error) -> Failure, error: &Error) -> Failure {
        if is_stopped(error) {
            return self.failed(error);
        }
        let is_committed = error.category() == Category::Committed;
        let is_data = io_error(error).is_none() && error.path().is_none() && !is_committed;
        if error.side() == Some(Side::Source) || is_data {
            self.unchanged(source(error))
        } else {
            self.failed_to_flush(error)
        }
    }

    /// The failure to read `source`, unless the user has stopped that.
    pub fn failed_to_read(&self, source: &str, error: &Error) -> Failure {
        self.unchanged(Failure::between(error, source, source))
    }

    /// Makes the change.
    pub fn flush(&self, dataset: &mut Dataset) -> Result<(), Failure> {
        self.confirm(match dataset {
            Dataset::Array(array) => array.flush(),
            Dataset::Table(table) => table.flush(),
        })
    }

    /// Passes on what came of a change that was flushed.
    pub fn confirm<T>(&self, done: bloscpack::Result<T>) -> Result<T, Failure> {
        let done = done.map_err(|error| self.failed_to_flush(&error))?;
        self.0.report_late_signal();
        Ok(done)
    }

    /// After a failed write the state of the dataset is unknown until it is opened again.
    fn failed_to_flush(&self, error: &Error) -> Failure {
        if error.category() == Category::Committed {
            return self.0.committed(failure(self.0.path, error));
        }
        let unknown = error.category() == Category::Failed && !is_busy(error) && !is_full(error);
        if unknown && !is_stopped(error) {
            failure(self.0.path, error).detail(self.0.whole())
        } else {
            self.failed(error)
        }
    }

    /// Adds to a failure that nothing was changed.
    pub fn unchanged(&self, failure: Failure) -> Failure {
        failure.detail(self.0.unchanged())
    }
}
