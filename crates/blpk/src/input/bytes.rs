//! The bytes of an input.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use bloscpack::{
    Code, Error,
    storage::{ReadAt, Snapshot},
};
use bloscpack_open::{Family, probe};

use crate::failure::{Failure, is_busy};
use crate::session::Session;
use crate::text::quoted;

/// The bytes of an input.
#[derive(Debug)]
pub enum Bytes {
    /// A pipe, a device, or a regular file that others may change.
    Plain(File),
    /// A regular file as its last change left it.
    Snapshot(Box<Snapshot>),
}

impl Bytes {
    /// Takes a snapshot of the file at `path`, through its journal if a change was interrupted. A file of which there can be
    /// none is read as it is.
    pub fn of(plain: File, path: &Path, session: &Session) -> Result<Self, Failure> {
        match Snapshot::open(path).map_err(Error::from) {
            Ok(snapshot) => {
                if snapshot.is_interrupted() {
                    let name = quoted(path);
                    session.warning(format_args!("{name}: {INTERRUPTED}; {FROM_JOURNAL}"));
                }
                Ok(Self::Snapshot(Box::new(snapshot)))
            }
            Err(error) if is_busy(&error) || is_marked(path) => Err(failure(path, &error)),
            Err(error) => {
                session.debug(format_args!("{}: no snapshot: {error}", quoted(path)));
                Ok(Self::Plain(plain))
            }
        }
    }

    /// The file itself.
    pub fn file(&self) -> &File {
        match self {
            Self::Plain(file) => file,
            Self::Snapshot(snapshot) => snapshot.get_ref(),
        }
    }
}

/// The note on a file or dataset whose last writer did not finish a change.
pub const INTERRUPTED: &str = "a change was interrupted";
/// How such a file is read.
pub const FROM_JOURNAL: &str = "reading the result of the change, in part from the journal";
/// How such a file is written.
pub const COMPLETED: &str = "it has now been completed";

impl ReadAt for Bytes {
    fn read_at(&self, at: u64, buf: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Plain(file) => file.read_at(at, buf),
            Self::Snapshot(snapshot) => snapshot.read_at(at, buf),
        }
    }

    fn size(&self) -> io::Result<u64> {
        match self {
            Self::Plain(file) => file.size(),
            Self::Snapshot(snapshot) => snapshot.size(),
        }
    }
}

/// The failure to open a regular file, with the name of its journal if that is needed.
pub fn failure(path: &Path, error: &Error) -> Failure {
    let name = quoted(path);
    let incomplete = || {
        let journal = quoted(&journal(path));
        format!("the file is complete only together with {journal}")
    };
    match error.code() {
        Code::Interrupted => {
            let hint = if probe(path).is_ok_and(|probe| probe.family == Some(Family::Frame)) {
                "put that back next to it"
            } else {
                "put that back next to it, or save the sound chunks with blpk recover"
            };
            Failure::library(name, error).hint(format!("{}: {hint}", incomplete()))
        }
        // The system does not say which of the two files the error is about.
        Code::Io if !is_busy(error) && is_marked(path) => {
            let both = format!("{name}, with its journal {}", quoted(&journal(path)));
            let hint = "a change was interrupted, so both files must be readable";
            Failure::library(both, error).hint(format!("{}: {hint}", incomplete()))
        }
        _ => Failure::library(name, error),
    }
}

/// Whether a change to this file was begun and not ended.
pub fn is_marked(path: &Path) -> bool {
    probe(path).is_ok_and(|probe| probe.is_marked)
}

/// The path of a file's journal: next to the file, not next to a link to it.
pub fn journal(path: &Path) -> PathBuf {
    let link = fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_symlink());
    let real = link.then(|| fs::canonicalize(path).ok()).flatten();
    let mut journal = OsString::from(real.as_deref().unwrap_or(path));
    journal.push(".blpk-journal");
    journal.into()
}
