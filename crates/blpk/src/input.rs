//! Where bytes come from: a file, standard input, or a URL.

mod bytes;
mod interruptible;

use std::fs::{self, File, Permissions};
use std::io::{self, BufReader, IsTerminal, Read as _, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use bloscpack::{
    Metadata,
    storage::{ReadAt, SharedSource},
};
use bloscpack_open::{Family, internal, probe, probe_bytes, probe_source};
use bytes::Bytes;
use same_file::Handle;

use crate::failure::{About as _, Failure, RECOVER, Subject};
use crate::progress::Progress;
use crate::remote;
use crate::session::Session;
use crate::status::Status;
use crate::text::{is_url, quoted};
pub use bytes::{COMPLETED, FROM_JOURNAL, INTERRUPTED, InputReader, Journaled, Rest, journal};
pub use interruptible::InterruptibleReader;

/// The argument that means standard input or output.
pub const STANDARD: &str = "-";

/// Bytes that are copied at once: requests for an object grow with its reads.
const PIECE: usize = 1 << 20;

/// Advice for a directory where a file is needed.
const DIRECTORIES: &str = "a dataset is read by blpk info, cat, verify, export and convert, any other folder by tar -c FOLDER | blpk c";

/// An open input.
pub struct Input {
    bytes: Arc<Bytes>,
    /// Nothing for standard input.
    path: Option<PathBuf>,
    /// The unread part of a regular file or an object when it was opened.
    extent: Option<Extent>,
    /// Whether it is an object, or a copy of one.
    is_remote: bool,
}

/// A part of a regular file or an object.
#[derive(Clone, Copy, Debug)]
struct Extent {
    start: u64,
    length: u64,
}

impl Input {
    /// Opens `path`, or standard input for `-`.
    pub fn open(path: &Path, session: &Session) -> Result<Self, Failure> {
        if is_url(path) {
            let object = remote::object(path, session)?;
            Self::of_object(path, object.ok_or_else(|| directory(&quoted(path)))?)
        } else {
            Self::on_disk(path)
        }
    }

    fn on_disk(path: &Path) -> Result<Self, Failure> {
        let name = name(path);
        let standard = is_standard_input(path);
        let file = if standard { stdin() } else { File::open(path) };
        // Windows does not open a directory.
        if file.is_err() && path.is_dir() {
            return Err(directory(&name));
        }
        let mut file = file.about(&name)?;
        let metadata = metadata_of(&file).about(&name)?;
        if metadata.as_ref().is_some_and(fs::Metadata::is_dir) {
            return Err(directory(&name));
        }
        let mut extent = None;
        if let Some(metadata) = metadata.filter(fs::Metadata::is_file) {
            // Standard input may be shared, so it need not be at its beginning.
            let start = file.stream_position().about(&name)?;
            // It may even be past the end: then nothing is left.
            let length = metadata.len().saturating_sub(start);
            extent = Some(Extent { start, length });
        }
        Ok(Self {
            bytes: Arc::new(Bytes::Plain(file)),
            path: (!standard).then(|| path.to_owned()),
            extent,
            is_remote: false,
        })
    }

    /// Takes over the object at a URL.
    pub fn of_object(path: &Path, object: SharedSource) -> Result<Self, Failure> {
        let length = object.size().about(path)?;
        Ok(Self {
            bytes: Arc::new(Bytes::Object(object)),
            path: Some(path.to_owned()),
            extent: Some(Extent { start: 0, length }),
            is_remote: true,
        })
    }

    /// Opens a compressed input. Refuses a terminal without `--force`, and locks a regular file against changes.
    pub fn open_binary(path: &Path, session: &Session) -> Result<Self, Failure> {
        let mut input = Self::open(path, session)?;
        let is_terminal = input.bytes.file().is_some_and(IsTerminal::is_terminal);
        if input.path.is_none() && is_terminal && !session.force {
            return Err(
                Failure::usage("compressed data is not read from a terminal")
                    .hint("name a file, pipe the data in, or use -f"),
            );
        }
        if let (Some(path), Some(extent), Bytes::Plain(file)) =
            (&input.path, &mut input.extent, &*input.bytes)
        {
            let again = file.try_clone().about(path.as_path())?;
            input.bytes = Arc::new(Bytes::of(again, path, session)?);
            // An interrupted change may have given the file another length.
            if let Bytes::Snapshot(snapshot) = &*input.bytes {
                extent.length = snapshot.size().unwrap_or(extent.length);
            }
        }
        Ok(input)
    }

    /// Opens a compressed input for salvage. If the journal of an interrupted change is missing, reads the file without it.
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

    /// The same input, for work that reads it twice: an object is copied into a temporary file.
    pub fn readable_twice(mut self, session: &Session) -> Result<Self, Failure> {
        if matches!(*self.bytes, Bytes::Object(_)) {
            self.bytes = Arc::new(Bytes::Plain(self.copied(session)?));
        }
        Ok(self)
    }

    /// The same as a file that can be read at any position, which is a temporary copy of a pipe.
    pub fn whole(mut self, session: &Session) -> Result<Self, Failure> {
        if self.extent.is_none() {
            let copy = self.copied(session)?;
            let length = copy.metadata().about(&self.name())?.len();
            self.extent = Some(Extent { start: 0, length });
            self.bytes = Arc::new(Bytes::Plain(copy));
        }
        Ok(self)
    }

    /// All of it as a file that can be read at any position: itself, or a temporary copy of standard input or of an object.
    pub fn whole_file(&self, session: &Session) -> Result<File, Failure> {
        match self.bytes.file() {
            Some(file) if self.path.is_some() && self.by_position().is_some() => {
                file.try_clone().about(&self.name())
            }
            _ => self.copied(session),
        }
    }

    /// Copies all of it into a temporary file.
    fn copied(&self, session: &Session) -> Result<File, Failure> {
        let progress = Progress::new(session, self.length());
        let copied = tempfile::tempfile().and_then(|mut file| {
            let reader = InterruptibleReader::begin(self, &progress)?;
            io::copy(&mut BufReader::with_capacity(PIECE, reader), &mut file)?;
            progress.finish();
            file.rewind()?;
            Ok(file)
        });
        copied.about(&self.name())
    }

    /// Its name in messages.
    pub fn name(&self) -> String {
        self.path
            .as_deref()
            .map_or_else(|| "standard input".to_owned(), quoted)
    }

    /// The identity of its file; an object has none.
    pub fn handle(&self) -> Option<Handle> {
        Handle::from_file(self.bytes.file()?.try_clone().ok()?).ok()
    }

    /// The metadata of a regular file.
    fn metadata(&self) -> Option<fs::Metadata> {
        let file = self.bytes.file().filter(|_| !self.is_remote)?;
        self.extent.and_then(|_| file.metadata().ok())
    }

    /// The permissions that a file made from this one may have at most: its own without set-user-ID and the like, if it
    /// is a regular file.
    #[cfg(unix)]
    pub fn permissions(&self) -> Option<Permissions> {
        use std::os::unix::fs::PermissionsExt;
        let mode = self.metadata()?.permissions().mode();
        Some(Permissions::from_mode(mode & 0o777))
    }

    /// The permissions that a file made from this one may have at most. Here the folder decides.
    #[cfg(not(unix))]
    pub fn permissions(&self) -> Option<Permissions> {
        None
    }

    /// When a named regular file was last changed.
    pub fn modified(&self) -> Option<SystemTime> {
        self.path.as_ref()?;
        self.metadata()?.modified().ok()
    }

    /// Bytes left in a regular file or an object, as far as the system knew: files below `/proc` claim none, and a log may
    /// be growing.
    pub fn length(&self) -> Option<u64> {
        self.extent.map(|extent| extent.length)
    }

    /// The bytes, if they are those of a regular file or an object from its first byte on. Then any of them can be read by
    /// position.
    pub fn by_position(&self) -> Option<&(dyn ReadAt + Send + Sync)> {
        self.extent
            .is_some_and(|extent| extent.start == 0)
            .then(|| self.bytes.positions())
    }

    /// Whether it is the result of a change that was interrupted, read in part from its journal.
    pub fn is_interrupted(&self) -> bool {
        matches!(&*self.bytes, Bytes::Snapshot(snapshot) if snapshot.is_interrupted())
    }

    /// Whether it is an object of a store, or a file of a web server.
    pub fn is_remote(&self) -> bool {
        self.is_remote
    }

    /// The bytes of a regular file or an object by position, from where it was opened on, shown as progress.
    pub fn source(&self, progress: Option<&Progress>) -> Option<Rest> {
        let bytes = Arc::clone(&self.bytes);
        self.extent
            .map(|extent| Rest::new(bytes, extent.start, progress.cloned()))
    }

    /// The same of one that knows its length, with that.
    pub fn located(&self, progress: &Progress) -> Option<(Arc<Rest>, u64)> {
        let length = self.length().filter(|length| *length > 0)?;
        Some((Arc::new(self.source(Some(progress))?), length))
    }

    /// The bytes of a pipe in order.
    pub fn stream(&self) -> io::Result<File> {
        match self.bytes.file() {
            Some(file) => file.try_clone(),
            None => Err(io::ErrorKind::Unsupported.into()),
        }
    }

    /// Goes back to where it was opened. Only regular files and objects can.
    pub fn rewind(&self) -> io::Result<()> {
        match (self.bytes.file(), self.extent) {
            (Some(mut file), Some(extent)) => file.seek(SeekFrom::Start(extent.start)).map(|_| ()),
            (None, Some(_)) => Ok(()),
            (_, None) => Err(io::ErrorKind::NotSeekable.into()),
        }
    }

    /// Seeks to the end after reading by position, for other processes that share standard input.
    pub fn seek_to_end(&self) -> io::Result<()> {
        if let (Bytes::Plain(file), Some(Extent { start, length })) = (&*self.bytes, self.extent) {
            // Saturates: no file is that long.
            (&mut &*file).seek(SeekFrom::Start(start.saturating_add(length)))?;
        }
        Ok(())
    }

    /// Reads it from here on, shown as progress.
    pub fn reader<'a>(&'a self, progress: &'a Progress) -> InputReader<'a> {
        InputReader::new(&self.bytes, progress)
    }
}

impl Subject for Input {
    fn explain(&self, failure: Failure) -> Failure {
        let failure = failure.named(self.name());
        match self.by_position() {
            Some(_) => failure.if_damaged(RECOVER),
            None => failure,
        }
    }
}

fn directory(name: &str) -> Failure {
    Failure::usage(format!("{name} is a directory")).hint(DIRECTORIES)
}

/// Reads the JSON file at `path`, which becomes the metadata of a new file, for the data at `data`.
pub fn read_metadata(path: Option<&Path>, data: &Path) -> Result<Option<Metadata>, Failure> {
    let Some(path) = path else {
        return Ok(None);
    };
    let json = if !is_standard_input(path) {
        fs::read(path)
    } else if is_standard_input(data) {
        let title = "standard input cannot be both the data and the metadata";
        return Err(Failure::usage(title));
    } else {
        let mut bytes = Vec::new();
        let read = io::stdin().lock().read_to_end(&mut bytes);
        read.map(|_| bytes)
    };
    let json = json.about(&name(path))?;
    // It is wrong usage to give such a file, whatever the category of the error.
    Metadata::from_json(json).map(Some).map_err(|error| {
        Failure::usage(format!("metadata {}: {error}", name(path)))
            .hint("the file must contain one JSON value")
    })
}

/// The metadata of a file.
#[cfg(not(windows))]
pub fn metadata_of(file: &File) -> io::Result<Option<fs::Metadata>> {
    file.metadata().map(Some)
}

/// The metadata of a file; nothing for a pipe, a terminal or a device, which have none here. Under wine, a file that a shell
/// of Unix has opened has none, either.
#[cfg(windows)]
pub fn metadata_of(file: &File) -> io::Result<Option<fs::Metadata>> {
    let is_disk = winapi_util::file::typ(file)?.is_disk();
    Ok(is_disk.then(|| file.metadata().ok()).flatten())
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

/// Endings of files that contain compressed data.
const ENDINGS: [&str; 4] = ["blp", "b2nd", "b2frame", "b2z"];
/// Bytes by which a file is recognized. The first of them alone may be those of any text.
const MAGIC_LEN: usize = 4;
/// Length of the beginning that is probed.
pub const LOOK: u64 = 16;

/// The kind of a file by its name and its first bytes.
pub struct Look {
    pub is_empty: bool,
    /// Whether it has the name of a Bloscpack file or of a frame, or begins as one.
    pub is_ours: bool,
}

/// Probes the name and the first bytes of a file.
pub fn look(path: &Path) -> io::Result<Look> {
    let mut first = Vec::new();
    File::open(path)?.take(LOOK).read_to_end(&mut first)?;
    Ok(look_at(path, &first))
}

/// Probes a name and up to [`LOOK`] first bytes.
pub fn look_at(path: &Path, first: &[u8]) -> Look {
    let family = probe_bytes(first).family;
    let family = family.filter(|family| !matches!(family, Family::File(_)));
    let is_known = first.len() >= MAGIC_LEN && family.is_some();
    Look {
        is_empty: first.is_empty(),
        is_ours: is_known || has_known_ending(path),
    }
}

/// Whether a file has the name of a Bloscpack file or of a frame.
pub fn has_known_ending(path: &Path) -> bool {
    let ending = path.extension().and_then(|ending| ending.to_str());
    ending.is_some_and(|ending| {
        ENDINGS
            .iter()
            .any(|known| ending.eq_ignore_ascii_case(known))
    })
}

/// Whether a path leads to a Blosc2 frame: a file, or the directory of a sparse one.
///
/// Nothing is taken out of a pipe.
pub fn is_frame(path: &Path) -> Result<bool, Failure> {
    if is_standard_input(path) && !is_directory(path)? {
        let input = Input::on_disk(path).ok();
        let bytes = input.as_ref().and_then(Input::by_position);
        let probed = bytes.and_then(|bytes| probe_source(bytes).ok());
        return Ok(probed.unwrap_or_default().family == Some(Family::Frame));
    }
    let probed = probe(path).about(path)?;
    Ok(probed.family == Some(Family::Frame))
}

/// Whether a directory contains a sparse frame.
pub fn is_sparse_frame(path: &Path) -> Result<bool, Failure> {
    Ok(is_directory(path)? && is_frame(path)?)
}

/// Whether a path leads to a directory; false for a name that leads nowhere, which opening it reports.
pub fn is_directory(path: &Path) -> Result<bool, Failure> {
    internal::is_directory(path).about(path)
}

/// Whether there is anything to read from standard input: waits for it, and takes nothing.
#[cfg(unix)]
pub fn has_data() -> bool {
    use rustix::event::{PollFd, PollFlags, poll};
    use std::io::Seek as _;
    let Ok(mut file) = stdin() else {
        return false;
    };
    if let Ok(metadata) = file.metadata().as_ref()
        && metadata.is_file()
    {
        return file.stream_position().is_ok_and(|at| at < metadata.len());
    }
    let polled = poll(&mut [PollFd::new(&file, PollFlags::IN)], None);
    polled.is_ok() && rustix::io::ioctl_fionread(&file).is_ok_and(|bytes| bytes > 0)
}

/// Whether there is anything to read from standard input. Here that cannot be known.
#[cfg(not(unix))]
pub fn has_data() -> bool {
    false
}
