//! Where bytes come from: a file or standard input.

mod awaited;
mod bytes;
mod form;
mod places;
mod sample;

use std::fs::{self, File, Permissions};
use std::io::{self, IsTerminal, Read, Seek, SeekFrom};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bloscpack::{
    Limits, Metadata, Survey,
    storage::{Cursor, ReadAt},
};

use crate::message::{Failure, quoted};
use crate::progress::Progress;
use crate::session::Session;
use crate::status::Status;
pub use awaited::Awaited;
pub use bytes::{Bytes, failure, is_bloscpack, is_busy, is_marked, journal};
pub use form::look;
pub use places::Places;

/// The argument that means standard input or output.
pub const STANDARD: &str = "-";

/// What can be done with a directory.
pub const DIRECTORIES: &str =
    "a dataset is read by blpk info, cat, verify, export and convert, and changed by blpk dataset";

/// An opened input.
#[derive(Debug)]
pub struct Input {
    bytes: Arc<Bytes>,
    path: Option<PathBuf>,
    /// For a regular file, where it stood and what was left when opened.
    extent: Option<Extent>,
}

/// A stretch of a regular file.
#[derive(Clone, Copy, Debug)]
struct Extent {
    start: u64,
    length: u64,
}

impl Input {
    /// Opens `path`, or standard input for `-`.
    pub fn open(path: &Path) -> Result<Self, Failure> {
        let standard = is_standard_input(path);
        let name = name(path);
        let file = if standard { stdin() } else { File::open(path) };
        let mut file = file.map_err(|error| Failure::io(&name, &error))?;
        let metadata = file
            .metadata()
            .map_err(|error| Failure::io(&name, &error))?;
        if metadata.is_dir() {
            return Err(Failure::usage(format!("{name} is a directory")).hint(DIRECTORIES));
        }
        let mut extent = None;
        if metadata.is_file() {
            // Standard input may be shared, and stand anywhere.
            let start = file
                .stream_position()
                .map_err(|error| Failure::io(&name, &error))?;
            let length = metadata.len().saturating_sub(start);
            extent = Some(Extent { start, length });
        }
        Ok(Self {
            bytes: Arc::new(Bytes::Plain(file)),
            path: (!standard).then(|| path.to_owned()),
            extent,
        })
    }

    /// Opens a compressed input, which nobody types by hand. A regular file is held against those
    /// who would change it.
    pub fn open_binary(path: &Path, session: &Session) -> Result<Self, Failure> {
        let mut input = Self::open(path)?;
        if input.path.is_none() && input.file().is_terminal() && !session.force {
            return Err(
                Failure::usage("compressed data is not read from a terminal")
                    .hint("name a file, pipe the data in, or insist with -f"),
            );
        }
        if let (Some(path), Some(extent), Bytes::Plain(file)) =
            (&input.path, &mut input.extent, &*input.bytes)
        {
            let again = file.try_clone();
            let again = again.map_err(|error| Failure::io(quoted(path), &error))?;
            input.bytes = Arc::new(Bytes::hold(again, path, session)?);
            // A change may have another length than the file.
            if let Bytes::Snapshot(snapshot) = &*input.bytes {
                extent.length = snapshot.size().unwrap_or(extent.length);
            }
        }
        Ok(input)
    }

    /// Opens a compressed input of which as much is wanted as can be had: where a change was
    /// interrupted and its journal is gone, the file as it is.
    pub fn open_damaged(path: &Path, session: &Session) -> Result<Self, Failure> {
        match Self::open_binary(path, session) {
            Err(failure) if failure.status() == Status::CutShort => {
                let title = failure.title().unwrap_or("interrupted");
                session.warning(format_args!("{title}; it is read as it is"));
                Self::open(path)
            }
            opened => opened,
        }
    }

    /// The bytes alone.
    pub fn into_bytes(self) -> Arc<Bytes> {
        self.bytes
    }

    /// How messages call it.
    pub fn name(&self) -> String {
        self.path
            .as_deref()
            .map_or_else(|| "standard input".to_owned(), quoted)
    }

    /// The file behind it, open.
    pub fn file(&self) -> &File {
        self.bytes.file()
    }

    /// What a file made of this one may be at most: its permissions, without set-user-ID and the
    /// like, if it is a regular file.
    #[cfg(unix)]
    pub fn permissions(&self) -> Option<Permissions> {
        use std::os::unix::fs::PermissionsExt;
        let metadata = self.extent.and_then(|_| self.file().metadata().ok())?;
        Some(Permissions::from_mode(
            metadata.permissions().mode() & 0o777,
        ))
    }

    /// What a file made of this one may be at most. Here the folder decides.
    #[cfg(not(unix))]
    pub fn permissions(&self) -> Option<Permissions> {
        None
    }

    /// Bytes left in a regular file, as far as the system knew: files below `/proc` say zero, and
    /// a log may be growing.
    pub fn length(&self) -> Option<u64> {
        self.extent.map(|extent| extent.length)
    }

    /// The bytes, if they are those of a regular file that is to be read from its first byte: then
    /// any of them can be read by position.
    pub fn at_positions(&self) -> Option<&Bytes> {
        self.extent
            .is_some_and(|extent| extent.start == 0)
            .then_some(&*self.bytes)
    }

    /// Goes back to where it stood. Only regular files can.
    pub fn rewind(&self) -> io::Result<()> {
        match self.extent {
            Some(extent) => self.file().seek(SeekFrom::Start(extent.start)).map(|_| ()),
            None => Err(io::ErrorKind::NotSeekable.into()),
        }
    }

    /// Looks at the headers of all that follows, by seeking where that is possible.
    pub fn survey(&self, progress: &Progress, limits: &Limits) -> bloscpack::Result<Survey> {
        match (&*self.bytes, self.extent) {
            (Bytes::Snapshot(snapshot), _) => Survey::of_file(Cursor::new(snapshot), limits),
            (Bytes::Plain(file), Some(_)) => Survey::of_file(file, limits),
            (Bytes::Plain(_), None) => Survey::of(self.source(progress), limits),
        }
    }

    /// Its bytes by their positions, and which there are; if it is a regular file, and not one that only says how long
    /// it is when it is read.
    pub fn places(&self, progress: &Progress) -> Option<(Arc<Places>, Range<u64>)> {
        let Extent { start, length } = self.extent.filter(|extent| extent.length > 0)?;
        let places = Places::new(Arc::clone(&self.bytes), progress.clone());
        Some((Arc::new(places), start..start.saturating_add(length)))
    }

    /// Stands behind all of it, which was read by position: others may share standard input.
    pub fn pass_all(&self) -> io::Result<()> {
        if let (Bytes::Plain(file), Some(extent)) = (&*self.bytes, self.extent) {
            let end = extent.start.saturating_add(extent.length);
            (&mut &*file).seek(SeekFrom::Start(end))?;
        }
        Ok(())
    }

    /// Reads it from here, counting.
    pub fn source<'a>(&'a self, progress: &'a Progress) -> Source<'a> {
        Source {
            input: self,
            at: 0,
            progress,
            ahead: None,
            total: 0,
            failed: false,
        }
    }
}

/// The bytes of an input, counted and shown as progress.
#[derive(Debug)]
pub struct Source<'a> {
    input: &'a Input,
    /// Where a snapshot is read next; a plain file knows that itself.
    at: u64,
    progress: &'a Progress,
    /// A byte that was looked at.
    ahead: Option<u8>,
    total: u64,
    failed: bool,
}

impl Source<'_> {
    /// How messages call the input.
    pub fn name(&self) -> String {
        self.input.name()
    }

    /// Bytes given out so far.
    pub fn total(&self) -> u64 {
        self.total
    }

    /// Whether there is nothing left. May wait for a pipe.
    pub fn is_at_end(&mut self) -> io::Result<bool> {
        if self.ahead.is_none() {
            let mut byte = [0];
            if self.fetch(&mut byte)? == 1 {
                self.ahead = Some(byte[0]);
            }
        }
        Ok(self.ahead.is_none())
    }

    /// Goes on behind so many bytes, which were read otherwise.
    pub fn pass(&mut self, count: u64) -> io::Result<()> {
        self.at = self.at.saturating_add(count);
        self.total = self.total.saturating_add(count);
        if let (Bytes::Plain(file), Some(extent)) = (&*self.input.bytes, self.input.extent) {
            // Others may have moved it meanwhile.
            let here = extent.start.saturating_add(self.at);
            (&mut &*file).seek(SeekFrom::Start(here))?;
        }
        Ok(())
    }

    /// Whether an error came from reading. An error of the library does not tell.
    pub fn has_failed(&self) -> bool {
        self.failed
    }

    fn fetch(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            let done = match &*self.input.bytes {
                Bytes::Plain(file) => (&mut &*file).read(buffer),
                Bytes::Snapshot(snapshot) => snapshot.read_at(self.at, buffer),
            };
            match done {
                Ok(count) => {
                    let more = u64::try_from(count).unwrap_or(0);
                    self.at = self.at.saturating_add(more);
                    return Ok(count);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => {
                    self.failed = true;
                    return Err(error);
                }
            }
        }
    }
}

impl Read for Source<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = match (buffer.first_mut(), self.ahead.take()) {
            (Some(first), Some(byte)) => {
                *first = byte;
                1
            }
            (None, ahead) => {
                self.ahead = ahead;
                0
            }
            (Some(_), None) => self.fetch(buffer)?,
        };
        let count = u64::try_from(count).unwrap_or(u64::MAX);
        self.total = self.total.saturating_add(count);
        self.progress.advance(count);
        usize::try_from(count).map_err(io::Error::other)
    }
}

/// Whether the argument means standard input.
pub fn is_standard_input(path: &Path) -> bool {
    ["-", "/dev/stdin", "/dev/fd/0"]
        .iter()
        .any(|name| path == Path::new(name))
}

/// How messages call the input at `path`.
pub fn name(path: &Path) -> String {
    if is_standard_input(path) {
        "standard input".into()
    } else {
        quoted(path)
    }
}

/// Reads the metadata that goes with the data at `data`.
pub fn read_metadata(path: Option<&Path>, data: &Path) -> Result<Option<Metadata>, Failure> {
    let Some(path) = path else {
        return Ok(None);
    };
    if is_standard_input(path) && is_standard_input(data) {
        return Err(Failure::usage(
            "standard input cannot be both the data and the metadata",
        ));
    }
    let json = read_whole(path)?;
    // Whatever the library calls it: to give such a file is wrong usage.
    Metadata::from_json(json).map(Some).map_err(|error| {
        Failure::usage(format!("metadata {}: {error}", name(path)))
            .hint("the file must hold one JSON value")
    })
}

/// Reads a small file whole.
fn read_whole(path: &Path) -> Result<Vec<u8>, Failure> {
    let mut bytes = Vec::new();
    let done = if is_standard_input(path) {
        io::stdin().lock().read_to_end(&mut bytes).map(|_| ())
    } else {
        fs::read(path).map(|whole| bytes = whole)
    };
    done.map(|()| bytes)
        .map_err(|error| Failure::io(name(path), &error))
}

/// Standard input without the buffer that the standard library puts before it.
#[cfg(unix)]
fn stdin() -> io::Result<File> {
    use std::os::fd::AsFd;
    Ok(File::from(io::stdin().as_fd().try_clone_to_owned()?))
}

#[cfg(windows)]
fn stdin() -> io::Result<File> {
    use std::os::windows::io::AsHandle;
    Ok(File::from(io::stdin().as_handle().try_clone_to_owned()?))
}
