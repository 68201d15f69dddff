//! Where bytes come from: a file or standard input.

mod bytes;
mod counted;
mod interruptible;
mod kind;
mod metadata;
mod reader;
mod rest;

use std::fs::{File, Metadata, Permissions};
use std::io::{self, IsTerminal, Seek, SeekFrom};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use bloscpack::{
    Limits,
    storage::{Cursor, ReadAt as _},
    survey::Survey,
};

use crate::failure::Failure;
use crate::handle;
use crate::progress::Progress;
use crate::remote;
use crate::session::Session;
use crate::status::Status;
use crate::text::quoted;
use crate::url;
pub use bytes::{Bytes, COMPLETED, FROM_JOURNAL, INTERRUPTED, failure, journal};
pub use counted::CountedFile;
pub use interruptible::InterruptibleReader;
#[cfg(feature = "remote")]
pub use kind::{LOOK, look_at};
pub use kind::{Look, has_data, has_known_ending, is_directory, is_frame, is_sparse_frame, look};
pub use metadata::read_metadata;
pub use reader::InputReader;
pub use rest::Rest;

/// The argument that means standard input or output.
pub const STANDARD: &str = "-";

/// Advice for a directory where a file is needed.
const DIRECTORIES: &str = "a dataset is read by blpk info, cat, verify, export and convert, any other folder by tar -c FOLDER | blpk c";

/// An open input.
#[derive(Debug)]
pub struct Input {
    bytes: Arc<Bytes>,
    /// Nothing for standard input.
    path: Option<PathBuf>,
    /// For a regular file, the part that was left to read when it was opened.
    extent: Option<Extent>,
    /// Whether it is a copy of what a URL leads to.
    is_copy: bool,
}

/// A part of a regular file.
#[derive(Clone, Copy, Debug)]
struct Extent {
    start: u64,
    length: u64,
}

impl Extent {
    fn range(self) -> Range<u64> {
        // Saturates: no file is that long.
        self.start..self.start.saturating_add(self.length)
    }
}

impl Input {
    /// Opens `path`, or standard input for `-`. What a URL leads to is first copied into a temporary file.
    pub fn open(path: &Path, session: &Session) -> Result<Self, Failure> {
        if url::is_url(path) {
            Self::download(path, session)
        } else {
            Self::on_disk(path)
        }
    }

    fn on_disk(path: &Path) -> Result<Self, Failure> {
        let name = name(path);
        let failed = |error: io::Error| Failure::io(&name, &error);
        let standard = is_standard_input(path);
        let file = if standard { stdin() } else { File::open(path) };
        // Windows does not open a directory.
        if file.is_err() && path.is_dir() {
            return Err(directory(&name));
        }
        let mut file = file.map_err(failed)?;
        let metadata = handle::metadata(&file).map_err(failed)?;
        if metadata.as_ref().is_some_and(Metadata::is_dir) {
            return Err(directory(&name));
        }
        let mut extent = None;
        if let Some(metadata) = metadata.filter(Metadata::is_file) {
            // Standard input may be shared, so it need not be at its beginning.
            let start = file.stream_position().map_err(failed)?;
            // It may even be past the end: then nothing is left.
            let length = metadata.len().saturating_sub(start);
            extent = Some(Extent { start, length });
        }
        Ok(Self {
            bytes: Arc::new(Bytes::Plain(file)),
            path: (!standard).then(|| path.to_owned()),
            extent,
            is_copy: false,
        })
    }

    fn download(path: &Path, session: &Session) -> Result<Self, Failure> {
        let (file, length) = remote::download(path, session)?;
        Ok(Self {
            bytes: Arc::new(Bytes::Plain(file)),
            path: Some(path.to_owned()),
            extent: Some(Extent { start: 0, length }),
            is_copy: true,
        })
    }

    /// Opens a compressed input. Refuses a terminal without `--force`, and locks a regular file against changes.
    pub fn open_binary(path: &Path, session: &Session) -> Result<Self, Failure> {
        let mut input = Self::open(path, session)?;
        if input.path.is_none() && input.file().is_terminal() && !session.force {
            return Err(
                Failure::usage("compressed data is not read from a terminal")
                    .hint("name a file, pipe the data in, or use -f"),
            );
        }
        if let (Some(path), Some(extent), Bytes::Plain(file), false) =
            (&input.path, &mut input.extent, &*input.bytes, input.is_copy)
        {
            let again = file.try_clone();
            let again = again.map_err(|error| Failure::io(quoted(path), &error))?;
            input.bytes = Arc::new(Bytes::of(again, path, session)?);
            // An interrupted change may have given the file another length.
            if let Bytes::Snapshot(snapshot) = &*input.bytes {
                extent.length = snapshot.size().unwrap_or(extent.length);
            }
        }
        Ok(input)
    }

    /// Opens a compressed input to get out of it what can be had: if a change was interrupted and its journal is gone,
    /// the file as it is.
    pub fn open_damaged(path: &Path, session: &Session) -> Result<Self, Failure> {
        match Self::open_binary(path, session) {
            Err(failure) if failure.status() == Status::CutShort => {
                let title = failure.title().unwrap_or("interrupted");
                session.warning(format_args!("{title}; reading it as it is"));
                Self::open(path, session)
            }
            opened => opened,
        }
    }

    /// Its name in messages.
    pub fn name(&self) -> String {
        self.path
            .as_deref()
            .map_or_else(|| "standard input".to_owned(), quoted)
    }

    /// The open file.
    pub fn file(&self) -> &File {
        self.bytes.file()
    }

    /// The permissions that a file made from this one may have at most: its own without set-user-ID and the like, if it
    /// is a regular file.
    #[cfg(unix)]
    pub fn permissions(&self) -> Option<Permissions> {
        use std::os::unix::fs::PermissionsExt;
        let extent = self.extent.filter(|_| !self.is_copy);
        let metadata = extent.and_then(|_| self.file().metadata().ok())?;
        Some(Permissions::from_mode(
            metadata.permissions().mode() & 0o777,
        ))
    }

    /// The permissions that a file made from this one may have at most. Here the folder decides.
    #[cfg(not(unix))]
    pub fn permissions(&self) -> Option<Permissions> {
        None
    }

    /// When a named regular file was last changed.
    pub fn modified(&self) -> Option<SystemTime> {
        self.path
            .as_ref()
            .and(self.extent)
            .filter(|_| !self.is_copy)?;
        self.file().metadata().ok()?.modified().ok()
    }

    /// Bytes left in a regular file, as far as the system knew: files below `/proc` claim none, and a log may be
    /// growing.
    pub fn length(&self) -> Option<u64> {
        self.extent.map(|extent| extent.length)
    }

    /// The bytes, if they are those of a regular file from its first byte on. Then any of them can be read by position.
    pub fn by_position(&self) -> Option<&Bytes> {
        self.extent
            .is_some_and(|extent| extent.start == 0)
            .then_some(&*self.bytes)
    }

    /// The rest of a regular file, which can be read at any position.
    pub fn source(&self) -> Option<Rest> {
        let bytes = Arc::clone(&self.bytes);
        self.extent.map(|extent| Rest::new(bytes, extent.start))
    }

    /// The bytes in order.
    pub fn stream(&self) -> io::Result<File> {
        self.file().try_clone()
    }

    /// The bytes by position, shown as progress when they are read.
    pub fn counted(&self, progress: &Progress) -> CountedFile {
        CountedFile::new(Arc::clone(&self.bytes), progress.clone())
    }

    /// The same of a regular file that knows its length, with the part that is left to read.
    pub fn located(&self, progress: &Progress) -> Option<(Arc<CountedFile>, Range<u64>)> {
        let extent = self.extent.filter(|extent| extent.length > 0)?;
        Some((Arc::new(self.counted(progress)), extent.range()))
    }

    /// Goes back to where it was opened. Only regular files can.
    pub fn rewind(&self) -> io::Result<()> {
        match self.extent {
            Some(extent) => self.file().seek(SeekFrom::Start(extent.start)).map(|_| ()),
            None => Err(io::ErrorKind::NotSeekable.into()),
        }
    }

    /// Seeks to the end after reading by position, for other processes that share standard input.
    pub fn seek_to_end(&self) -> io::Result<()> {
        if let (Bytes::Plain(file), Some(extent)) = (&*self.bytes, self.extent) {
            (&mut &*file).seek(SeekFrom::Start(extent.range().end))?;
        }
        Ok(())
    }

    /// Reads the headers of all members, by seeking where that is possible.
    pub fn survey(&self, progress: &Progress, limits: &Limits) -> bloscpack::Result<Survey> {
        match (&*self.bytes, self.extent) {
            (Bytes::Snapshot(snapshot), _) => Survey::of_file(Cursor::new(snapshot), limits),
            (Bytes::Plain(file), Some(_)) => Survey::of_file(file, limits),
            (Bytes::Plain(_), None) => Survey::of(self.reader(progress), limits),
        }
    }

    /// Reads it from here on, shown as progress.
    pub fn reader<'a>(&'a self, progress: &'a Progress) -> InputReader<'a> {
        InputReader::new(&self.bytes, progress)
    }
}

fn directory(name: &str) -> Failure {
    Failure::usage(format!("{name} is a directory")).hint(DIRECTORIES)
}

/// Whether the argument means standard input.
pub fn is_standard_input(path: &Path) -> bool {
    ["-", "/dev/stdin", "/dev/fd/0"]
        .iter()
        .any(|name| path == Path::new(name))
}

/// The name in messages of the input at `path`.
pub fn name(path: &Path) -> String {
    if is_standard_input(path) {
        "standard input".into()
    } else {
        quoted(path)
    }
}

/// Standard input without the buffer of the standard library.
#[cfg(unix)]
fn stdin() -> io::Result<File> {
    use std::os::fd::AsFd;
    Ok(File::from(io::stdin().as_fd().try_clone_to_owned()?))
}

/// Standard input without the buffer of the standard library.
#[cfg(windows)]
fn stdin() -> io::Result<File> {
    use std::os::windows::io::AsHandle;
    Ok(File::from(io::stdin().as_handle().try_clone_to_owned()?))
}
