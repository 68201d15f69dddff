//! The bytes of an input.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Read};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bloscpack::{
    Code, Error,
    storage::{ReadAt, SharedSource, Snapshot},
    wire::internal::to_u64,
};
use bloscpack_open::{Family, probe};

use crate::failure::{About as _, Failure, Subject, is_busy};
use crate::progress::Progress;
use crate::session::Session;
use crate::text::quoted;

/// The bytes of an input.
pub enum Bytes {
    /// A pipe, a device, or a regular file that other programs may change meanwhile.
    Plain(File),
    /// A regular file as its last complete change left it.
    Snapshot(Box<Snapshot>),
    /// An object of a store, or a file of a web server.
    Object(SharedSource),
}

impl Bytes {
    /// Takes a snapshot of the file at `path`, through its journal if a change was interrupted. If no snapshot is possible,
    /// falls back to `plain`.
    pub fn of(plain: File, path: &Path, session: &Session) -> Result<Self, Failure> {
        match Snapshot::open(path).map_err(Error::from) {
            Ok(snapshot) => {
                if snapshot.is_interrupted() {
                    let name = quoted(path);
                    session.warning(format_args!("{name}: {INTERRUPTED}; {FROM_JOURNAL}"));
                }
                Ok(Self::Snapshot(Box::new(snapshot)))
            }
            Err(error) if is_busy(&error) || is_marked(path) => Err(error).about(&Journaled(path)),
            Err(error) => {
                session.debug(format_args!("{}: no snapshot: {error}", quoted(path)));
                Ok(Self::Plain(plain))
            }
        }
    }

    /// The open file; `None` for an object.
    pub fn file(&self) -> Option<&File> {
        match self {
            Self::Plain(file) => Some(file),
            Self::Snapshot(snapshot) => Some(snapshot.get_ref()),
            Self::Object(_) => None,
        }
    }

    /// The bytes by position.
    pub fn positions(&self) -> &dyn ReadAt {
        match self {
            Self::Plain(file) => file,
            Self::Snapshot(snapshot) => snapshot,
            Self::Object(object) => object,
        }
    }
}

/// The bytes of a regular file or an object from the position at which it was opened; several threads may read at once. A shared
/// standard input may not be at its beginning.
pub struct Rest {
    bytes: Arc<Bytes>,
    start: u64,
    progress: Option<Progress>,
}

impl Rest {
    pub(super) fn new(bytes: Arc<Bytes>, start: u64, progress: Option<Progress>) -> Self {
        Self {
            bytes,
            start,
            progress,
        }
    }

    /// Whether there are bytes at or after this position.
    pub fn reaches_past(&self, end: u64) -> io::Result<bool> {
        retry(|| self.read_at(end, &mut [0])).map(|count| count > 0)
    }

    fn count(&self, bytes: usize) {
        if let Some(progress) = &self.progress {
            progress.advance(to_u64(bytes));
        }
    }
}

impl ReadAt for Rest {
    fn read_at(&self, at: u64, buf: &mut [u8]) -> io::Result<usize> {
        let Some(at) = self.start.checked_add(at) else {
            return Ok(0);
        };
        let count = self.bytes.positions().read_at(at, buf)?;
        self.count(count);
        Ok(count)
    }

    fn size(&self) -> io::Result<u64> {
        // Saturates: the start may be past the end.
        Ok(self.bytes.positions().size()?.saturating_sub(self.start))
    }

    fn read_bytes(&self, at: u64, len: usize) -> io::Result<bytes::Bytes> {
        let at = self.start.checked_add(at);
        let at = at.ok_or(io::ErrorKind::UnexpectedEof)?;
        let bytes = self.bytes.positions().read_bytes(at, len)?;
        self.count(bytes.len());
        Ok(bytes)
    }

    fn read_ranges(&self, ranges: &mut [(u64, &mut [u8])]) -> io::Result<()> {
        let all = ranges
            .iter()
            .map(|(at, buf)| *at..at.saturating_add(to_u64(buf.len())));
        self.will_read(&all.collect::<Vec<_>>());
        let mut ranges = ranges.iter_mut();
        ranges.try_for_each(|(at, buf)| self.read_exact_at(*at, buf))
    }

    fn will_read(&self, ranges: &[Range<u64>]) {
        // Only objects are fetched ahead, and they always start at 0.
        if self.start == 0 {
            self.bytes.positions().will_read(ranges);
        }
    }
}

/// The bytes of an input in order. Reads count as progress.
pub struct InputReader<'a> {
    bytes: &'a Bytes,
    progress: &'a Progress,
    /// Bytes read so far.
    total: u64,
}

impl<'a> InputReader<'a> {
    pub(super) fn new(bytes: &'a Bytes, progress: &'a Progress) -> Self {
        Self {
            bytes,
            progress,
            total: 0,
        }
    }
}

impl Read for InputReader<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = retry(|| match self.bytes {
            Bytes::Plain(file) => (&mut &*file).read(buffer),
            bytes => bytes.positions().read_at(self.total, buffer),
        })?;
        self.total += to_u64(count);
        self.progress.advance(to_u64(count));
        Ok(count)
    }
}

/// Repeats a read that a signal has interrupted.
pub(super) fn retry(mut read: impl FnMut() -> io::Result<usize>) -> io::Result<usize> {
    loop {
        match read() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            done => return done,
        }
    }
}

/// The note on a file or dataset whose last writer did not finish a change.
pub const INTERRUPTED: &str = "a change was interrupted";
/// The note on how such a file is read.
pub const FROM_JOURNAL: &str = "reading the result of the change, in part from the journal";
/// The note after a writer has opened such a file.
pub const COMPLETED: &str = "it has now been completed";

/// A regular file that may have a journal.
pub struct Journaled<'a>(pub &'a Path);

impl Subject for Journaled<'_> {
    /// Also names the journal if the file is incomplete without it.
    fn explain(&self, failure: Failure) -> Failure {
        let name = quoted(self.0);
        let Some(error) = failure.error() else {
            return failure;
        };
        let incomplete = || {
            let journal = quoted(&journal(self.0));
            format!("the file is complete only together with {journal}")
        };
        match error.code() {
            Code::Interrupted => {
                let probed = probe(self.0).unwrap_or_default();
                let hint = if probed.family == Some(Family::Frame) {
                    "put that back next to it"
                } else {
                    "put that back next to it, or save the sound chunks with blpk recover"
                };
                let hint = format!("{}: {hint}", incomplete());
                failure.named(name).hint(hint)
            }
            // The system does not tell which of the two files the error is about.
            Code::Io if !is_busy(error) && is_marked(self.0) => {
                let both = format!("{name}, with its journal {}", quoted(&journal(self.0)));
                let hint = "a change was interrupted, so both files must be readable";
                failure
                    .named(both)
                    .hint(format!("{}: {hint}", incomplete()))
            }
            _ => failure.named(name),
        }
    }
}

/// Whether this file has the mark of an unfinished change.
pub fn is_marked(path: &Path) -> bool {
    probe(path).is_ok_and(|probe| probe.is_marked)
}

/// The path of a file's journal. If `path` is a link, the journal is next to the file, not next to the link.
pub fn journal(path: &Path) -> PathBuf {
    let link = fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_symlink());
    let real = link.then(|| fs::canonicalize(path).ok()).flatten();
    let mut journal = OsString::from(real.as_deref().unwrap_or(path));
    journal.push(".blpk-journal");
    journal.into()
}
