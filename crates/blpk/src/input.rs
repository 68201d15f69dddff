//! Inputs: a file, standard input, or a URL.

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

/// Bytes of one copy. Large reads of an object become large requests.
const PIECE: usize = 1 << 20;

/// Bytes that a pipe should hold.
#[cfg(target_os = "linux")]
const PIPE_LEN: usize = 1 << 20;

/// Advice for a directory where a file is needed.
const DIRECTORIES: &str = "read a dataset with blpk info, cat, verify, export or convert, any other folder with tar -c FOLDER | blpk c";

/// An open input.
pub struct Input {
    bytes: Arc<Bytes>,
    /// `None` for standard input.
    path: Option<PathBuf>,
    /// The part of a regular file or an object that was unread when it was opened.
    extent: Option<Extent>,
    /// Whether it is an object or a copy of one.
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
        enlarge_pipe(&file);
        let metadata = metadata_of(&file).about(&name)?;
        if metadata.as_ref().is_some_and(fs::Metadata::is_dir) {
            return Err(directory(&name));
        }
        let mut extent = None;
        if let Some(metadata) = metadata.filter(fs::Metadata::is_file) {
            // Other processes may have read from a shared standard input before, even past the end.
            let start = file.stream_position().about(&name)?;
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
                session.warning(format_args!("{title}; reading the file without it"));
                Self::open(path, session)
            }
            opened => opened,
        }
    }

    /// The same input for work that reads it twice. Copies an object into a temporary file.
    pub fn readable_twice(mut self, session: &Session) -> Result<Self, Failure> {
        if matches!(*self.bytes, Bytes::Object(_)) {
            self.bytes = Arc::new(Bytes::Plain(self.copied(session)?));
        }
        Ok(self)
    }

    /// The same input, readable at any position. Copies a pipe into a temporary file.
    pub fn whole(mut self, session: &Session) -> Result<Self, Failure> {
        if self.extent.is_none() {
            let copy = self.copied(session)?;
            let length = copy.metadata().about(&self.name())?.len();
            self.extent = Some(Extent { start: 0, length });
            self.bytes = Arc::new(Bytes::Plain(copy));
        }
        Ok(self)
    }

    /// The whole input as a file that can be read at any position: the file itself, or a temporary copy of standard input or an
    /// object.
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

    /// The identity of its file; `None` for an object.
    pub fn handle(&self) -> Option<Handle> {
        Handle::from_file(self.bytes.file()?.try_clone().ok()?).ok()
    }

    /// The metadata of a regular file.
    fn metadata(&self) -> Option<fs::Metadata> {
        let file = self.bytes.file().filter(|_| !self.is_remote)?;
        self.extent.and_then(|_| file.metadata().ok())
    }

    /// The most permissions for a file made from this one: those of a regular file, without set-user-ID and similar bits.
    #[cfg(unix)]
    pub fn permissions(&self) -> Option<Permissions> {
        use std::os::unix::fs::PermissionsExt;
        let mode = self.metadata()?.permissions().mode();
        Some(Permissions::from_mode(mode & 0o777))
    }

    /// The most permissions for a file made from this one. On this system the folder decides.
    #[cfg(not(unix))]
    pub fn permissions(&self) -> Option<Permissions> {
        None
    }

    /// The modification time of a named regular file.
    pub fn modified(&self) -> Option<SystemTime> {
        self.path.as_ref()?;
        self.metadata()?.modified().ok()
    }

    /// Bytes left in a regular file or an object when it was opened. The length may be wrong: files below `/proc` report 0, and a
    /// log may grow.
    pub fn length(&self) -> Option<u64> {
        self.extent.map(|extent| extent.length)
    }

    /// The bytes by position, if the input is a regular file or an object that was opened at its first byte.
    pub fn by_position(&self) -> Option<&dyn ReadAt> {
        self.extent
            .is_some_and(|extent| extent.start == 0)
            .then(|| self.bytes.positions())
    }

    /// Whether it shows the result of an interrupted change, read in part from the journal.
    pub fn is_interrupted(&self) -> bool {
        matches!(&*self.bytes, Bytes::Snapshot(snapshot) if snapshot.is_interrupted())
    }

    /// Whether it is an object of a store, or a file of a web server.
    pub fn is_remote(&self) -> bool {
        self.is_remote
    }

    /// The bytes of a regular file or an object by position, from the position at which it was opened. Reads count as progress.
    pub fn source(&self, progress: Option<&Progress>) -> Option<Rest> {
        let bytes = Arc::clone(&self.bytes);
        self.extent
            .map(|extent| Rest::new(bytes, extent.start, progress.cloned()))
    }

    /// The same with the length, if that is known and not 0.
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

    /// Seeks to the position at which it was opened. Fails for pipes.
    pub fn rewind(&self) -> io::Result<()> {
        match (self.bytes.file(), self.extent) {
            (Some(mut file), Some(extent)) => file.seek(SeekFrom::Start(extent.start)).map(|_| ()),
            (None, Some(_)) => Ok(()),
            (_, None) => Err(io::ErrorKind::NotSeekable.into()),
        }
    }

    /// Seeks to the end after reads by position: other processes may share standard input.
    pub fn seek_to_end(&self) -> io::Result<()> {
        if let (Bytes::Plain(file), Some(Extent { start, length })) = (&*self.bytes, self.extent) {
            (&mut &*file).seek(SeekFrom::Start(start.saturating_add(length)))?;
        }
        Ok(())
    }

    /// Reads it from the current position. Reads count as progress.
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

/// Reads the JSON file at `path` as the metadata of a new file. `data` is the path of the data.
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
    // A wrong file is wrong usage, whatever the category of the error.
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

/// The metadata of a file; `None` for a pipe, a terminal or a device, which have none on Windows. Under wine, a file that a Unix
/// shell has opened has none either.
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

/// Lets a pipe hold more bytes, so that its two ends wait for each other less often. The system may refuse. Any other file stays
/// as it is, and so does a larger pipe.
#[cfg(target_os = "linux")]
pub fn enlarge_pipe(file: &File) {
    use rustix::pipe::{fcntl_getpipe_size, fcntl_setpipe_size};
    if fcntl_getpipe_size(file).is_ok_and(|len| len < PIPE_LEN) {
        _ = fcntl_setpipe_size(file, PIPE_LEN);
    }
}

/// Lets a pipe hold more bytes, which this system does not support.
#[cfg(not(target_os = "linux"))]
pub fn enlarge_pipe(_: &File) {}

/// Endings of files that contain compressed data.
const ENDINGS: [&str; 4] = ["blp", "b2nd", "b2frame", "b2z"];
/// Bytes that identify a file. Fewer bytes could be the beginning of any text.
const MAGIC_LEN: usize = 4;
/// The length of the probed beginning.
pub const LOOK: u64 = 16;

/// The kind of a file according to its name and its first bytes.
pub struct Look {
    pub is_empty: bool,
    /// Whether it has the ending or the first bytes of a file with compressed data.
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

/// Whether a file has one of these endings.
pub fn has_known_ending(path: &Path) -> bool {
    let ending = path.extension().and_then(|ending| ending.to_str());
    ending.is_some_and(|ending| {
        ENDINGS
            .iter()
            .any(|known| ending.eq_ignore_ascii_case(known))
    })
}

/// Whether a path leads to a Blosc2 frame: a file, or the directory of a sparse frame. Reads nothing from a pipe.
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

/// Whether a path leads to a directory. False if it does not exist: opening it reports that.
pub fn is_directory(path: &Path) -> Result<bool, Failure> {
    internal::is_directory(path).about(path)
}

/// Whether standard input has data. Waits until data arrives or the input ends, and reads nothing.
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

/// Whether standard input has data. This system does not tell.
#[cfg(not(unix))]
pub fn has_data() -> bool {
    false
}
