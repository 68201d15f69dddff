//! What an input reads from.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io;
use std::path::Path;

use bloscpack::storage::{ReadAt, Snapshot};
use bloscpack::wire::FormatError;
use bloscpack::{Error, ErrorKind};

use crate::message::{Failure, quoted};
use crate::session::Session;

/// The first bytes of a Bloscpack file in which a change has begun and not ended.
const MARKED: &[u8; 4] = b"!lpk";

/// The bytes of an input.
#[derive(Debug)]
pub enum Bytes {
    /// As they come: a pipe, a device, or a regular file that others may change.
    Plain(File),
    /// A regular file as its last change left it, locked against the next.
    Snapshot(Snapshot),
}

impl Bytes {
    /// Holds the file at `path` against those who would change it, and reads it through its
    /// journal where a change was interrupted. Where it cannot be held, it is read as it is.
    pub fn hold(plain: File, path: &Path, session: &Session) -> Result<Self, Failure> {
        match Snapshot::open(path) {
            Ok(snapshot) => {
                if snapshot.is_interrupted() {
                    session.warning(format_args!(
                        "{}: a change was interrupted here; what is read is the changed file, partly from its journal",
                        quoted(path)
                    ));
                }
                Ok(Self::Snapshot(snapshot))
            }
            Err(error) if is_busy(&error) || is_marked(&plain) => Err(failure(path, &error)),
            Err(error) => {
                session.debug(format_args!("{}: not locked: {error}", quoted(path)));
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

/// Why a file could not be opened, and which journal it lacks if it lacks one.
pub fn failure(path: &Path, error: &Error) -> Failure {
    let failure = Failure::library(quoted(path), error);
    if !matches!(
        error.kind(),
        ErrorKind::Format(FormatError::Interrupted { .. })
    ) {
        return failure;
    }
    // The journal lies beside the file, not beside a link to it.
    let link = fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_symlink());
    let place = link.then(|| fs::canonicalize(path).ok()).flatten();
    let mut journal = OsString::from(place.as_deref().unwrap_or(path));
    journal.push(".blpk-journal");
    let journal = quoted(journal.as_ref());
    failure.hint(format!(
        "the file is whole only together with {journal}: put that back beside it, or save what is sound by blpk recover"
    ))
}

/// Whether others hold the file.
pub fn is_busy(error: &Error) -> bool {
    matches!(error.kind(), ErrorKind::Io(error) if error.kind() == io::ErrorKind::ResourceBusy)
}

fn is_marked(file: &File) -> bool {
    let mut first = [0; MARKED.len()];
    file.read_exact_at(0, &mut first).is_ok() && first == *MARKED
}
