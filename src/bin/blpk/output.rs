//! Where bytes go: whole files that appear under their name only when complete, devices and pipes,
//! standard output.

use std::fs::{self, File, Metadata, OpenOptions, Permissions};
use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};

use same_file::Handle;
use tempfile::{Builder, TempPath};

use crate::input::{Input, STANDARD};
use crate::interrupt;
use crate::message::{Failure, quoted};
use crate::session::Session;
use crate::status::Status;

/// How messages call it.
const STANDARD_OUTPUT: &str = "standard output";

/// Symbolic links followed before giving up, as in Linux.
const MAX_LINKS: usize = 40;

/// An output that was begun.
#[derive(Debug)]
pub struct Output {
    name: String,
    sink: Sink,
    failed: bool,
}

#[derive(Debug)]
enum Sink {
    Whole(Box<Whole>),
    Stream(Stream),
}

impl Output {
    /// Begins the output at `path`, or standard output for `-`.
    ///
    /// `inputs` are those that it may not be the same file as.
    pub fn create(path: &Path, inputs: &[&Input], session: &Session) -> Result<Self, Failure> {
        if is_standard_output(path) {
            return Self::standard(inputs, session);
        }
        let name = quoted(path);
        let failed = |error: io::Error| Failure::io(&name, &error);
        let sink = match Target::find(path).map_err(failed)? {
            Target::New(place) => Sink::Whole(Whole::begin(place, None).map_err(failed)?.into()),
            Target::Regular(place, old) => {
                refuse_same_file(&name, Handle::from_path(&place).ok(), inputs)?;
                if !session.force {
                    return Err(exists(&name));
                }
                Sink::Whole(Whole::begin(place, Some(old)).map_err(failed)?.into())
            }
            Target::Special(old) if old.is_dir() => {
                return Err(Failure::usage(format!("output {name} is a directory")));
            }
            Target::Special(old) if is_block_device(&old) && !session.force => {
                return Err(exists(&name));
            }
            Target::Special(_) => {
                let file = OpenOptions::new().write(true).open(path).map_err(failed)?;
                Sink::Stream(Stream::new(file, session))
            }
        };
        Ok(Self {
            name,
            sink,
            failed: false,
        })
    }

    /// Standard output.
    fn standard(inputs: &[&Input], session: &Session) -> Result<Self, Failure> {
        let name = STANDARD_OUTPUT.to_owned();
        let failed = |error: io::Error| Failure::io(STANDARD_OUTPUT, &error);
        let file = stdout().map_err(failed)?;
        if file.metadata().map_err(failed)?.is_file() {
            refuse_same_file(&name, Handle::stdout().ok(), inputs)?;
        }
        let sink = Sink::Stream(Stream::new(file, session));
        Ok(Self {
            name,
            sink,
            failed: false,
        })
    }

    /// How messages call it.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether both would end up in the same file.
    pub fn is_same_place(&self, other: &Self) -> bool {
        let place = |output: &Self| match &output.sink {
            Sink::Whole(whole) => whole.place(),
            Sink::Stream(_) if output.name == STANDARD_OUTPUT => Some(STANDARD.into()),
            Sink::Stream(_) => None,
        };
        let here = place(self);
        here.is_some() && here == place(other)
    }

    /// The file, where it can be read back and written at any place.
    pub fn seekable(&self) -> Option<&File> {
        match &self.sink {
            Sink::Whole(whole) => Some(&whole.file),
            Sink::Stream(_) => None,
        }
    }

    /// Whether what is written shows on a terminal.
    pub fn is_terminal(&self) -> bool {
        matches!(&self.sink, Sink::Stream(stream) if stream.terminal)
    }

    /// Whether writing failed. An error of the library does not tell.
    pub fn has_failed(&self) -> bool {
        self.failed
    }

    /// Says why nothing whole was written: `failure`, unless the reader of a pipe has gone or a
    /// terminal was to be spared.
    pub fn explain(&self, failure: Failure) -> Failure {
        match &self.sink {
            Sink::Stream(stream) if stream.broken => Failure::broken_pipe(),
            Sink::Stream(stream) if stream.refused => spare_terminal("binary data"),
            Sink::Stream(_) => failure,
            Sink::Whole(whole) if whole.replaced.is_some() => {
                failure.detail(format!("{} is left as it was", self.name))
            }
            Sink::Whole(_) => failure.detail(format!("{} is not written", self.name)),
        }
    }

    /// Gives the output its name, since all of it is there, and tells its length.
    pub fn commit(self) -> Result<u64, Failure> {
        match self.sink {
            Sink::Stream(stream) => Ok(stream.written),
            Sink::Whole(whole) => whole.commit().map_err(|error| match error.kind() {
                io::ErrorKind::AlreadyExists => exists(&self.name),
                _ => Failure::io(&self.name, &error),
            }),
        }
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let done = match &mut self.sink {
            Sink::Whole(whole) => whole.file.write(bytes),
            Sink::Stream(stream) => stream.write(bytes),
        };
        let interrupted = |error: &io::Error| error.kind() == io::ErrorKind::Interrupted;
        self.failed |= done.as_ref().is_err_and(|error| !interrupted(error));
        done
    }

    fn flush(&mut self) -> io::Result<()> {
        // Neither kind holds bytes back.
        Ok(())
    }
}

/// A report, on standard output.
pub fn print(text: &str) -> Result<(), Failure> {
    let mut stdout = anstream::stdout();
    let done = stdout
        .write_all(text.as_bytes())
        .and_then(|()| stdout.flush());
    done.map_err(|error| match error.kind() {
        io::ErrorKind::BrokenPipe => Failure::broken_pipe(),
        _ => Failure::io(STANDARD_OUTPUT, &error),
    })
}

/// Whether the argument means standard output.
pub fn is_standard_output(path: &Path) -> bool {
    ["-", "/dev/stdout", "/dev/fd/1"]
        .iter()
        .any(|name| path == Path::new(name))
}

/// Refuses to upset a terminal.
pub fn spare_terminal(what: &str) -> Failure {
    Failure::usage(format!("{what} is not written to a terminal"))
        .hint("name an output file, redirect standard output, or insist with -f")
}

fn exists(name: &str) -> Failure {
    Failure::new(Status::Failed, format!("output file {name} exists")).hint("overwrite it with -f")
}

fn refuse_same_file(name: &str, output: Option<Handle>, inputs: &[&Input]) -> Result<(), Failure> {
    for input in inputs {
        // Only a regular file loses by it; terminals and /dev/null are often both.
        let regular = input.length().is_some();
        let handle = input.file().try_clone().and_then(Handle::from_file).ok();
        if regular && handle.is_some() && handle == output {
            let title = format!("input {} and output {name} are the same file", input.name());
            return Err(Failure::usage(title).hint("write to another file, then rename it"));
        }
    }
    Ok(())
}

/// What an output path names, symbolic links followed.
enum Target {
    /// Nothing yet.
    New(PathBuf),
    /// A regular file.
    Regular(PathBuf, Metadata),
    /// A device, a FIFO, a directory: whatever is not replaced.
    Special(Metadata),
}

impl Target {
    fn find(path: &Path) -> io::Result<Self> {
        match fs::metadata(path) {
            Ok(metadata) if metadata.is_file() => Ok(Self::Regular(follow(path)?, metadata)),
            Ok(metadata) => Ok(Self::Special(metadata)),
            // Also a symbolic link to a file that is not there: that file will be made.
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Self::New(follow(path)?)),
            Err(error) => Err(error),
        }
    }
}

/// The path that the symbolic links at the end of `path` lead to.
fn follow(path: &Path) -> io::Result<PathBuf> {
    let mut place = path.to_owned();
    for _ in 0..MAX_LINKS {
        match fs::read_link(&place) {
            Ok(link) => place = parent(&place).join(link),
            // No link, or nothing there.
            Err(_) => return Ok(place),
        }
    }
    Err(io::Error::other("too many levels of symbolic links"))
}

/// The folder that holds `path`.
fn parent(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

/// A temporary file on its way to becoming `target`.
#[derive(Debug)]
struct Whole {
    file: File,
    temporary: TempPath,
    target: PathBuf,
    replaced: Option<Metadata>,
}

impl Whole {
    fn begin(target: PathBuf, replaced: Option<Metadata>) -> io::Result<Self> {
        let mut builder = Builder::new();
        builder.prefix(".blpk-").suffix(".tmp");
        // A new file gets what the umask leaves. One that takes the place of a private file is
        // private from its first byte; it gets the permissions of the old one when it is whole.
        if let (None, Some(usual)) = (&replaced, usual_permissions()) {
            builder.permissions(usual);
        }
        let mut pending = interrupt::pending();
        let (file, temporary) = builder.tempfile_in(parent(&target))?.into_parts();
        pending.push(temporary.to_path_buf());
        Ok(Self {
            file,
            temporary,
            target,
            replaced,
        })
    }

    /// The one path of the target that any two ways to spell it share.
    fn place(&self) -> Option<PathBuf> {
        let folder = parent(&self.target).canonicalize().ok()?;
        Some(folder.join(self.target.file_name()?))
    }

    fn commit(self) -> io::Result<u64> {
        let length = self.file.metadata()?.len();
        if let Some(old) = &self.replaced {
            keep_permissions(&self.file, old)?;
            // Otherwise a crash may leave the new name and neither content.
            self.file.sync_all()?;
        }
        let mut pending = interrupt::pending();
        let here = self.temporary.to_path_buf();
        let done = if self.replaced.is_some() {
            self.temporary.persist(&self.target)
        } else {
            self.temporary.persist_noclobber(&self.target)
        };
        match done {
            Ok(()) => {
                pending.retain(|path| *path != here);
                Ok(length)
            }
            // Some file systems can only rename. The file was not there a moment ago.
            Err(error) if cannot_link(&error.error) && !self.target.exists() => {
                error.path.persist(&self.target)?;
                pending.retain(|path| *path != here);
                Ok(length)
            }
            Err(error) => Err(error.error),
        }
    }
}

fn cannot_link(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::Unsupported | io::ErrorKind::PermissionDenied
    )
}

/// Something written as it comes: standard output, a device, a FIFO.
#[derive(Debug)]
struct Stream {
    file: File,
    terminal: bool,
    /// Whether binary data may pass to the terminal.
    force: bool,
    written: u64,
    broken: bool,
    refused: bool,
}

impl Stream {
    fn new(file: File, session: &Session) -> Self {
        Self {
            terminal: file.is_terminal(),
            file,
            force: session.force,
            written: 0,
            broken: false,
            refused: false,
        }
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.terminal && !self.force && bytes.iter().any(is_binary) {
            self.refused = true;
            return Err(io::ErrorKind::InvalidData.into());
        }
        let done = self.file.write(bytes);
        match &done {
            Ok(count) => self.written += u64::try_from(*count).unwrap_or(0),
            Err(error) => self.broken |= error.kind() == io::ErrorKind::BrokenPipe,
        }
        done
    }
}

/// Bytes that occur in no text, and may upset a terminal.
fn is_binary(byte: &u8) -> bool {
    matches!(byte, 0..=6 | 14..=26 | 28..=31 | 127)
}

/// Standard output without the buffer that the standard library puts before it.
#[cfg(unix)]
fn stdout() -> io::Result<File> {
    use std::os::fd::AsFd;
    Ok(File::from(io::stdout().as_fd().try_clone_to_owned()?))
}

#[cfg(windows)]
fn stdout() -> io::Result<File> {
    use std::os::windows::io::AsHandle;
    Ok(File::from(io::stdout().as_handle().try_clone_to_owned()?))
}

#[cfg(unix)]
fn usual_permissions() -> Option<Permissions> {
    use std::os::unix::fs::PermissionsExt;
    Some(Permissions::from_mode(0o666))
}

#[cfg(not(unix))]
fn usual_permissions() -> Option<Permissions> {
    None
}

/// Gives `file` the owner, the group and the mode of `old`, as far as the user may.
#[cfg(unix)]
fn keep_permissions(file: &File, old: &Metadata) -> io::Result<()> {
    use std::os::unix::fs::{MetadataExt, PermissionsExt, fchown};
    let new = file.metadata()?;
    let mut mode = old.mode() & 0o7777;
    if new.uid() != old.uid() && fchown(file, Some(old.uid()), None).is_err() {
        // The new owner has not earned what the file did in the name of the old one.
        mode &= 0o1777;
    }
    if new.gid() != old.gid() && fchown(file, None, Some(old.gid())).is_err() {
        // What the old group was allowed is not the business of the new one, beyond what all are.
        mode &= 0o5707 | (mode & 0o007) << 3;
    }
    file.set_permissions(Permissions::from_mode(mode))
}

#[cfg(not(unix))]
fn keep_permissions(file: &File, old: &Metadata) -> io::Result<()> {
    file.set_permissions(old.permissions())
}

#[cfg(unix)]
fn is_block_device(metadata: &Metadata) -> bool {
    use std::os::unix::fs::FileTypeExt;
    metadata.file_type().is_block_device()
}

#[cfg(not(unix))]
fn is_block_device(_: &Metadata) -> bool {
    false
}
