//! What an input reads from.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use bloscpack::{
    Error, ErrorKind,
    storage::{Cursor, ReadAt, Snapshot},
    wire::FormatError,
};

use crate::message::{Failure, quoted};
use crate::session::Session;
use crate::what::is_marked_frame;

/// The first bytes of a Bloscpack file.
const MAGIC: &[u8; 4] = b"blpk";
/// The first bytes of a Bloscpack file in which a change has begun and not ended; a frame has its own.
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
        match Snapshot::open(path).map_err(Error::from) {
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

/// Why a regular file could not be opened, and which journal belongs to it if it needs one.
pub fn failure(path: &Path, error: &Error) -> Failure {
    let name = quoted(path);
    let whole = || {
        let journal = quoted(&journal(path));
        format!("the file is whole only together with {journal}")
    };
    match error.kind() {
        ErrorKind::Format(FormatError::Interrupted { .. }) => {
            let hint = match File::open(path).is_ok_and(|file| is_frame(&file)) {
                true => "put that back beside it",
                false => "put that back beside it, or save what is sound by blpk recover",
            };
            Failure::library(name, error).hint(format!("{}: {hint}", whole()))
        }
        // Which of the two it is about, the system does not tell.
        ErrorKind::Io(_) if !is_busy(error) && File::open(path).is_ok_and(|f| is_marked(&f)) => {
            let both = format!("{name}, with its journal {}", quoted(&journal(path)));
            let hint = "a change was interrupted here, and who opens the one needs the other";
            Failure::library(both, error).hint(format!("{}: {hint}", whole()))
        }
        _ => Failure::library(name, error),
    }
}

/// Where the journal of a file lies: beside the file, not beside a link to it.
pub fn journal(path: &Path) -> PathBuf {
    let link = fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_symlink());
    let place = link.then(|| fs::canonicalize(path).ok()).flatten();
    let mut journal = OsString::from(place.as_deref().unwrap_or(path));
    journal.push(".blpk-journal");
    journal.into()
}

/// Whether others hold the file.
pub fn is_busy(error: &Error) -> bool {
    matches!(error.kind(), ErrorKind::Io(error) if error.kind() == io::ErrorKind::ResourceBusy)
}

/// Whether these are the bytes of a Bloscpack file, also of one that is being changed, or cut within its first
/// bytes.
pub fn is_bloscpack(bytes: &Bytes) -> io::Result<bool> {
    let mut first = Vec::new();
    Cursor::new(bytes).take(4).read_to_end(&mut first)?;
    let begins = |magic: &[u8]| magic.starts_with(&first);
    Ok(!first.is_empty() && (begins(MAGIC) || begins(MARKED)))
}

/// Whether a change has begun in this file and not ended.
pub fn is_marked(file: &File) -> bool {
    let mut first = [0; MARKED.len()];
    let is_read = file.read_exact_at(0, &mut first).is_ok();
    is_read && first == *MARKED || is_frame(file)
}

/// The same of a Blosc2 frame alone.
fn is_frame(file: &File) -> bool {
    let mut first = [0; 10];
    file.read_exact_at(0, &mut first).is_ok() && is_marked_frame(&first)
}
