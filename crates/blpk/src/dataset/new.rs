//! A new dataset, which appears under its name only when it is whole.

use std::fs::{self, Permissions};
use std::io;
use std::path::Path;

use bloscpack::{
    Error,
    frame::{Frame, FrameOptions},
    storage::{Disk, Folder as _},
};
use same_file::is_same_file;
use tempfile::{Builder, TempDir};

use super::edit::is_ended;
use super::is_directory;
use crate::change::PATIENCE;
use crate::input::is_busy;
use crate::interrupt::{self, Orderly};
use crate::message::{Failure, quoted};
use crate::output::is_standard_output;
use crate::session::Session;
use crate::status::Status;
use crate::what::is_sparse_frame;

/// A directory on its way to becoming a dataset.
#[derive(Debug)]
pub struct New<'a> {
    path: &'a Path,
    /// Where it is made meanwhile; nothing where it takes the place of another, which is one change.
    made: Option<TempDir>,
    /// Whether it changes places with what is there in the end.
    swaps: bool,
    _orderly: Orderly,
}

impl<'a> New<'a> {
    /// Begins a dataset at `path`, made of what is at `input`: what is made of something private is private.
    pub fn begin(path: &'a Path, input: &Path, session: &Session) -> Result<Self, Failure> {
        let orderly = Orderly::begin();
        match is_there(path, input, session)? {
            true if is_sparse_frame(path)? => Err(in_the_way(path, "a Blosc2 frame")),
            true => Ok(Self {
                path,
                made: None,
                swaps: false,
                _orderly: orderly,
            }),
            false => Self::beside(path, input, orderly),
        }
    }

    /// Begins a sparse frame at `path`, in the same way.
    pub fn begin_frame(path: &'a Path, input: &Path, session: &Session) -> Result<Self, Failure> {
        let orderly = Orderly::begin();
        let swaps = is_there(path, input, session)?;
        if swaps && !is_sparse_frame(path)? {
            return Err(in_the_way(path, "no sparse frame"));
        }
        let new = Self::beside(path, input, orderly)?;
        Ok(Self { swaps, ..new })
    }

    /// A directory in the folder of `path`.
    fn beside(path: &'a Path, input: &Path, orderly: Orderly) -> Result<Self, Failure> {
        let name = quoted(path);
        let mut builder = Builder::new();
        builder.prefix(".blpk-").suffix(".tmp");
        if let Some(permissions) = permissions(input) {
            builder.permissions(permissions);
        }
        let mut pending = interrupt::pending();
        let made = builder.tempdir_in(parent(path));
        let made = made.map_err(|error| Failure::io(&name, &without_path(&error)))?;
        pending.push(made.path().to_owned());
        Ok(Self {
            path,
            made: Some(made),
            swaps: false,
            _orderly: orderly,
        })
    }

    /// How messages call it.
    pub fn name(&self) -> String {
        quoted(self.path)
    }

    /// Where it is to be created.
    pub fn folder(&self) -> &Path {
        self.made.as_ref().map_or(self.path, TempDir::path)
    }

    /// Whether it takes the place of one that is there.
    pub fn replaces(&self) -> bool {
        self.made.is_none()
    }

    /// Why nothing came of it: the fault of what was read, or else of what was written.
    pub fn explain(&self, error: &Error, read: Option<Failure>) -> Failure {
        if interrupt::is_asked() && is_ended(error) {
            return self.undone(Failure::interrupted());
        }
        self.undone(read.unwrap_or_else(|| Failure::library(self.name(), error)))
    }

    /// Adds that nothing came of it.
    pub fn undone(&self, failure: Failure) -> Failure {
        failure.detail(match self.replaces() || self.swaps {
            true => format!("{} is left as it was", self.name()),
            false => format!("{} is not written", self.name()),
        })
    }

    /// Gives it its name, since all of it is there.
    pub fn commit(self, session: &Session) -> Result<(), Failure> {
        let name = self.name();
        let Some(made) = self.made else { return Ok(()) };
        let aside = match self.swaps {
            true => Some(Aside::begin(self.path, session)?),
            false => None,
        };
        let failed = |error: io::Error| match error.kind() {
            io::ErrorKind::AlreadyExists | io::ErrorKind::DirectoryNotEmpty => exists(&name),
            _ => Failure::io(&name, &error),
        };
        let mut pending = interrupt::pending();
        if interrupt::is_asked() {
            return Err(Failure::interrupted().detail(format!("{name} is not written")));
        }
        let put = match &aside {
            Some(aside) => aside.replace(made.path(), self.path),
            None => fs::rename(made.path(), self.path),
        };
        put.map_err(failed)?;
        let here = made.keep();
        pending.retain(|path| *path != here);
        drop(pending);
        sync(self.path).map_err(failed)
    }
}

/// Makes the name of what was made safe.
fn sync(path: &Path) -> io::Result<()> {
    match Disk::new(parent(path)).sync() {
        // A folder to which files may be added, but which may not be looked at.
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => Ok(()),
        done => done,
    }
}

/// The sparse frame that a new one takes the place of, which nobody else changes meanwhile.
struct Aside {
    /// Nothing where what is there is damaged.
    _held: Option<Frame>,
    dir: TempDir,
}

impl Aside {
    fn begin(path: &Path, session: &Session) -> Result<Self, Failure> {
        let options = FrameOptions::new()
            .limits(session.limits)
            .patience(PATIENCE);
        let held = match options.while_waiting(|_| !interrupt::is_asked()).edit(path) {
            Err(error) if is_busy(&error) => return Err(Failure::library(quoted(path), &error)),
            held => held.ok(),
        };
        // The handler is not told of it: what lies in it is the only one for a moment.
        let dir = Builder::new()
            .prefix(".blpk-")
            .suffix(".tmp")
            .tempdir_in(parent(path));
        let dir = dir.map_err(|error| Failure::io(quoted(path), &without_path(&error)))?;
        Ok(Self { _held: held, dir })
    }

    /// Gives the name to the new one, and keeps the old one until this is dropped.
    fn replace(&self, new: &Path, path: &Path) -> io::Result<()> {
        let old = self.dir.path().join("old");
        if exchange(new, path).is_ok() {
            // If it stays where it is, there is litter, but nothing is lost.
            let _ = fs::rename(new, old);
            return Ok(());
        }
        // Where two names cannot change places, there is a moment without one.
        fs::rename(path, &old)?;
        fs::rename(new, path).inspect_err(|_| {
            let _ = fs::rename(&old, path);
        })
    }
}

/// Lets two names change places at once, where the system can.
#[cfg(any(target_os = "linux", target_os = "android", target_vendor = "apple"))]
fn exchange(one: &Path, other: &Path) -> io::Result<()> {
    use rustix::fs::{CWD, RenameFlags, renameat_with};
    Ok(renameat_with(CWD, one, CWD, other, RenameFlags::EXCHANGE)?)
}

/// Lets two names change places at once, where the system can.
#[cfg(not(any(target_os = "linux", target_os = "android", target_vendor = "apple")))]
fn exchange(_: &Path, _: &Path) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Whether something is at `path`, and is to be replaced.
fn is_there(path: &Path, input: &Path, session: &Session) -> Result<bool, Failure> {
    // So is a sparse frame.
    if is_standard_output(path) {
        return Err(Failure::usage("a dataset is a directory: name it"));
    }
    refuse_within(path, input)?;
    match fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(Failure::io(quoted(path), &error)),
        Ok(_) if !session.force => Err(exists(&quoted(path))),
        Ok(_) if !is_directory(path) => Err(in_the_way(path, "no directory")),
        Ok(_) => Ok(true),
    }
}

/// What is not replaced, even if one insists.
fn in_the_way(path: &Path, what: &str) -> Failure {
    let title = format!("output {} is there and {what}", quoted(path));
    Failure::new(Status::Failed, title).hint("remove it first")
}

/// Refuses an output that is the input, under whatever name, or lies within it.
pub fn refuse_within(output: &Path, input: &Path) -> Result<(), Failure> {
    let real = |path: &Path| {
        let folder = parent(path).canonicalize().ok()?;
        path.canonicalize()
            .ok()
            .or_else(|| Some(folder.join(path.file_name()?)))
    };
    let (Some(out), Some(inside)) = (real(output), real(input)) else {
        return Ok(());
    };
    let is_same = out == inside || is_same_file(output, input).unwrap_or(false);
    if is_same || is_directory(input) && out.starts_with(&inside) {
        let title = format!(
            "output {} is the input {}, or lies in it",
            quoted(output),
            quoted(input)
        );
        return Err(Failure::usage(title).hint("write to another place, then rename it"));
    }
    Ok(())
}

fn exists(name: &str) -> Failure {
    Failure::new(Status::Failed, format!("output {name} exists"))
        .hint("-f replaces a dataset, as one change")
}

/// The folder that holds `path`.
fn parent(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

/// The error without the name of the temporary directory, which means nothing to the user.
fn without_path(error: &io::Error) -> io::Error {
    let text = error.to_string();
    let text = text
        .split_once(" at path ")
        .map_or(text.as_str(), |(text, _)| text);
    io::Error::new(error.kind(), text)
}

/// What a directory made of `input` may be at most: who may not read that may not look into it.
#[cfg(unix)]
fn permissions(input: &Path) -> Option<Permissions> {
    use std::os::unix::fs::PermissionsExt;
    let readable = readable(input)?;
    let all = readable | readable >> 1 | readable >> 2;
    Some(Permissions::from_mode(all))
}

/// The same for a file made of a dataset.
#[cfg(unix)]
pub fn file_permissions(dataset: &Path) -> Option<Permissions> {
    use std::os::unix::fs::PermissionsExt;
    let readable = readable(dataset)?;
    Some(Permissions::from_mode(readable | readable >> 1))
}

/// Who may read it, and its owner.
#[cfg(unix)]
fn readable(path: &Path) -> Option<u32> {
    use std::os::unix::fs::PermissionsExt;
    let mode = fs::metadata(path).ok()?.permissions().mode();
    Some((mode & 0o444) | 0o400)
}

/// What a directory made of `input` may be at most. Here the folder decides.
#[cfg(not(unix))]
fn permissions(_: &Path) -> Option<Permissions> {
    None
}

/// The same for a file made of a dataset.
#[cfg(not(unix))]
pub fn file_permissions(_: &Path) -> Option<Permissions> {
    None
}
