//! A dataset that is changed in its place: what the subcommands of `blpk dataset` share.

use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use bloscpack::{
    Category, Error, ErrorKind,
    dataset::{CArray, CTable, Dataset},
};

use super::{INTERRUPTED, failure, is_no_directory, options};
use crate::change::{PATIENCE, SILENCE};
use crate::frame;
use crate::input::{is_busy, is_standard_input};
use crate::interrupt::{self, Orderly};
use crate::message::{self, Failure, quoted};
use crate::session::Session;

/// The dataset that is to be changed. While this lives, Ctrl-C lets the change end in order.
#[derive(Debug)]
pub struct Target<'a> {
    path: &'a Path,
    _orderly: Orderly,
}

impl<'a> Target<'a> {
    /// The directory at `path`.
    pub fn find(path: &'a Path) -> Result<Self, Failure> {
        if is_standard_input(path) {
            return Err(Failure::usage("a dataset is a directory: name it"));
        }
        frame::refuse(
            path,
            "the array in it is changed in the library, by NdArray; blpk convert makes another one, or a dataset",
        )?;
        if is_no_directory(path) {
            let title = format!("{} is no directory, and so no dataset", quoted(path));
            return Err(Failure::usage(title).hint("blpk append and blpk patch change files"));
        }
        Ok(Self {
            path,
            _orderly: Orderly::begin(),
        })
    }

    /// How messages call it.
    pub fn name(&self) -> String {
        quoted(self.path)
    }

    /// Opens it, and completes a change that was interrupted.
    pub fn edit(&self, session: &Session) -> Result<Dataset, Failure> {
        let (name, told) = (self.name(), AtomicBool::new(session.quiet));
        let options = options(session)
            .patience(PATIENCE)
            .while_waiting(move |waited| {
                if waited >= SILENCE && !told.swap(true, Ordering::Relaxed) {
                    message::note(format_args!("waiting for others to finish reading {name}"));
                }
                !interrupt::is_asked()
            });
        let dataset = options.edit(self.path);
        let dataset = dataset.map_err(|error| self.blame(&error))?;
        if dataset.was_interrupted() {
            session.warning(format_args!(
                "{}: {INTERRUPTED}; it is complete now",
                self.name()
            ));
        }
        Ok(dataset)
    }

    /// Why it could not be changed, where nothing was flushed yet.
    pub fn blame(&self, error: &Error) -> Failure {
        if interrupt::is_asked() && is_ended(error) {
            return Failure::interrupted().detail(self.untouched());
        }
        let failure = failure(self.path, error).detail(self.untouched());
        match error.kind() {
            ErrorKind::Io(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                failure.hint("the directory and those in it must be writable")
            }
            _ => failure,
        }
    }

    /// Makes the change.
    pub fn flush(&self, dataset: &mut impl Flush) -> Result<(), Failure> {
        self.confirm(dataset.flush())
    }

    /// Tells what came of a change that was flushed.
    pub fn confirm(&self, done: bloscpack::Result<()>) -> Result<(), Failure> {
        done.map_err(|error| {
            // Whether it arrived, nobody knows: who opens it next does.
            let unknown = error.category() == Category::Failed && !is_ended(&error);
            match unknown {
                true => failure(self.path, &error),
                false => self.blame(&error),
            }
        })?;
        if interrupt::is_asked() {
            message::note(format_args!(
                "{}: the change was being made already, and is complete",
                self.name()
            ));
        }
        Ok(())
    }

    /// Adds that nothing was changed.
    pub fn undone(&self, failure: Failure) -> Failure {
        failure.detail(self.untouched())
    }

    /// That nothing was changed.
    fn untouched(&self) -> String {
        format!("{} is left as it was", self.name())
    }
}

/// Whether it is the end that was asked for.
pub fn is_ended(error: &Error) -> bool {
    is_busy(error) || matches!(error.kind(), ErrorKind::Io(error) if interrupt::is_cause_of(error))
}

/// What can be flushed.
pub trait Flush {
    fn flush(&mut self) -> bloscpack::Result<()>;
}

impl Flush for Dataset {
    fn flush(&mut self) -> bloscpack::Result<()> {
        match self {
            Self::Array(array) => array.flush(),
            Self::Table(table) => table.flush(),
        }
    }
}

impl Flush for CArray {
    fn flush(&mut self) -> bloscpack::Result<()> {
        Self::flush(self)
    }
}

impl Flush for CTable {
    fn flush(&mut self) -> bloscpack::Result<()> {
        Self::flush(self)
    }
}
