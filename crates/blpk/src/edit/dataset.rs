//! A dataset that is changed in place: what the subcommands of `blpk dataset` share.

use std::fs;
use std::io;
use std::path::Path;

use bloscpack::{Category, error::Side};
use bloscpack_open::{
    Family,
    datasets::{CTable, Dataset},
    probe,
};

use super::InPlace;
use super::file::is_full;
use crate::dataset::{no_columns, options};
use crate::failure::{About as _, Directory, Failure, Subject, io_error, is_busy};
use crate::frame;
use crate::input::{COMPLETED, INTERRUPTED, is_standard_input};
use crate::output::{do_not_repeat, whole};
use crate::remote;
use crate::session::{LOCK_TIMEOUT, Session};
use crate::status::Status;
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
        let dataset = options.edit(self.0.path).about(self)?;
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

    /// Makes the change.
    pub fn flush(&self, dataset: &mut Dataset) -> Result<(), Failure> {
        let done = match dataset {
            Dataset::Array(array) => array.flush(),
            Dataset::Table(table) => table.flush(),
        };
        self.confirm(done, None)
    }

    /// Passes on what came of a change that was flushed, with data from a source where there is one.
    pub fn confirm<T>(
        &self,
        done: bloscpack::Result<T>,
        source: Option<&dyn Subject>,
    ) -> Result<T, Failure> {
        let done = done.about(&Flushed { edit: self, source })?;
        self.0.report_late_signal();
        Ok(done)
    }
}

impl Subject for DatasetEdit<'_> {
    /// The failure of a change before anything was flushed.
    fn explain(&self, failure: Failure) -> Failure {
        if failure.is_settled() {
            return failure;
        }
        let kind = failure.error().and_then(io_error).map(io::Error::kind);
        let failure = Directory(self.0.path).explain(failure);
        let failure = failure.detail(self.0.unchanged()).settled();
        match kind {
            Some(io::ErrorKind::PermissionDenied) => {
                failure.hint("the directory and all directories in it must be writable")
            }
            _ => failure,
        }
    }
}

/// A change that was flushed. After a failed write the state of the dataset is unknown until it is opened again.
struct Flushed<'a> {
    edit: &'a DatasetEdit<'a>,
    source: Option<&'a dyn Subject>,
}

impl Subject for Flushed<'_> {
    fn explain(&self, failure: Failure) -> Failure {
        let edit = self.edit;
        let Some(error) = failure.error() else {
            return edit.explain(failure);
        };
        // An error without a side is about the source, unless it names a file of the dataset.
        let is_data = error.io_error().is_none() && error.path().is_none();
        if let Some(source) = self.source
            && (error.side() == Some(Side::Source) || is_data)
        {
            return edit.explain(source.explain(failure));
        }
        let is_unknown = error.category() == Category::Failed && !is_busy(error) && !is_full(error);
        let directory = Directory(edit.0.path);
        if failure.status() == Status::Committed {
            let hint = do_not_repeat(&edit.name());
            directory.explain(failure).hint(hint).settled()
        } else if is_unknown {
            directory
                .explain(failure)
                .detail(whole(&edit.name()))
                .settled()
        } else {
            edit.explain(failure)
        }
    }
}
