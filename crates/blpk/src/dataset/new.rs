//! A new dataset or sparse frame, which appears under its name only when it is complete.

use std::fs::{self, Permissions};
use std::io;
use std::path::Path;

use bloscpack::{Category, Error, error::Side};
use bloscpack_open::{
    Family,
    datasets::{CArray, CArrayBuilder, CTable, CTableBuilder},
    frames::{Frame, FrameOptions},
    probe,
    stores::EMBED_FILE,
};
use same_file::is_same_file;
use tempfile::TempDir;

use super::{is_directory, options};
use crate::edit::{do_not_repeat, whole};
use crate::failure::{Failure, io_error, is_busy};
use crate::input::is_sparse_frame;
use crate::interrupt::{self, Deferred};
use crate::output::{
    check_name, is_standard_output, not_written, parent, sync_folder, temporary, unchanged,
    without_path,
};
use crate::remote;
use crate::session::{LOCK_TIMEOUT, Session};
use crate::status::Status;
use crate::text::quoted;
use crate::url;

/// A directory that becomes a dataset or a sparse frame. While this lives, Ctrl-C asks the work to stop.
#[derive(Debug)]
pub struct NewDataset<'a> {
    path: &'a Path,
    /// The directory in which it is made; `None` if the library replaces a dataset in a single change.
    made: Option<TempDir>,
    /// Whether it trades places with an existing frame in the end.
    swaps: bool,
    /// Whether it is put into a bucket in the end.
    is_remote: bool,
    _deferred: Deferred,
}

impl<'a> NewDataset<'a> {
    /// Begins a dataset at `path`, made from what is at `input`. If that is private, so is the dataset.
    pub fn begin(path: &'a Path, input: &Path, session: &Session) -> Result<Self, Failure> {
        let _deferred = Deferred::begin();
        if url::is_url(path) {
            return Self::remote(path, session, _deferred);
        }
        match is_replaced(path, input, session)? {
            true if is_sparse_frame(path)? => Err(in_the_way(path, "a Blosc2 frame")),
            true if is_zarr(path) => Err(in_the_way(path, "a Zarr array or group")),
            true => Ok(Self {
                path,
                made: None,
                swaps: false,
                is_remote: false,
                _deferred,
            }),
            false => Self::beside(path, input, false, _deferred),
        }
    }

    /// Begins a sparse frame at `path`, in the same way.
    pub fn begin_frame(path: &'a Path, input: &Path, session: &Session) -> Result<Self, Failure> {
        Self::begin_other(path, input, session, is_sparse_frame, "not a sparse frame")
    }

    /// Begins a Zarr array or group at `path`, in the same way.
    pub fn begin_zarr(path: &'a Path, input: &Path, session: &Session) -> Result<Self, Failure> {
        let is_zarr = |path: &Path| Ok(is_zarr(path));
        Self::begin_other(path, input, session, is_zarr, "not a Zarr array or group")
    }

    /// Begins a store of python-blosc2 at `path`, in the same way.
    pub fn begin_store(path: &'a Path, input: &Path, session: &Session) -> Result<Self, Failure> {
        let is_store = |path: &Path| Ok(path.join(EMBED_FILE).is_file());
        Self::begin_other(
            path,
            input,
            session,
            is_store,
            "not a store of python-blosc2",
        )
    }

    /// Begins what replaces only its like.
    fn begin_other(
        path: &'a Path,
        input: &Path,
        session: &Session,
        is_like: fn(&Path) -> Result<bool, Failure>,
        other: &str,
    ) -> Result<Self, Failure> {
        let deferred = Deferred::begin();
        if url::is_url(path) {
            return Self::remote(path, session, deferred);
        }
        let swaps = is_replaced(path, input, session)?;
        if swaps && !is_like(path)? {
            return Err(in_the_way(path, other));
        }
        Self::beside(path, input, swaps, deferred)
    }

    /// Begins a store that replaces the one at `path`, which it is made from.
    pub fn replace_store(path: &'a Path) -> Result<Self, Failure> {
        Self::beside(path, path, true, Deferred::begin())
    }

    /// Makes a directory in the folder of `path`.
    fn beside(
        path: &'a Path,
        input: &Path,
        swaps: bool,
        _deferred: Deferred,
    ) -> Result<Self, Failure> {
        let mut builder = temporary();
        if let Some(permissions) = permissions(input) {
            builder.permissions(permissions);
        }
        let mut pending = interrupt::pending();
        let made = builder.tempdir_in(parent(path));
        let made = made.map_err(|error| Failure::io(quoted(path), &without_path(&error)))?;
        pending.push(made.path().to_owned());
        Ok(Self {
            path,
            made: Some(made),
            swaps,
            is_remote: false,
            _deferred,
        })
    }

    /// Makes a temporary directory for a dataset that is put into a bucket.
    fn remote(path: &'a Path, session: &Session, _deferred: Deferred) -> Result<Self, Failure> {
        if remote::has_objects(path, session)? {
            let title = format!("{}: there are objects below this URL", url::name(path));
            let hint = "a dataset in a bucket cannot be replaced, since a bucket changes one object at a time; choose another URL";
            return Err(Failure::new(Status::Failed, title).hint(hint));
        }
        let mut pending = interrupt::pending();
        let made = temporary().tempdir();
        let made = made.map_err(|error| Failure::io(url::name(path), &without_path(&error)))?;
        pending.push(made.path().to_owned());
        Ok(Self {
            path,
            made: Some(made),
            swaps: false,
            is_remote: true,
            _deferred,
        })
    }

    /// Its name in messages.
    pub fn name(&self) -> String {
        quoted(self.path)
    }

    /// The directory in which it is to be created.
    pub fn folder(&self) -> &Path {
        self.made.as_ref().map_or(self.path, TempDir::path)
    }

    /// Whether it replaces a dataset that is there.
    pub fn replaces(&self) -> bool {
        self.made.is_none()
    }

    /// Creates an array there.
    pub fn array(&self, builder: CArrayBuilder, session: &Session) -> Result<CArray, Failure> {
        let builder = builder.replace(self.replaces()).options(options(session));
        let array = builder.create(self.folder());
        array.map_err(|error| self.failed(&error))
    }

    /// Creates a table there.
    pub fn table(&self, builder: CTableBuilder, session: &Session) -> Result<CTable, Failure> {
        let builder = builder.replace(self.replaces()).options(options(session));
        let table = builder.create(self.folder());
        table.map_err(|error| self.failed(&error))
    }

    /// The failure to create it.
    pub fn failed(&self, error: &Error) -> Failure {
        self.failed_from(&self.name(), error)
    }

    /// The failure to fill it from `source`, by the side of the error.
    pub fn failed_from(&self, source: &str, error: &Error) -> Failure {
        if self.replaces() && error.side() != Some(Side::Source) {
            let failure = || Failure::library(self.name(), error);
            if error.category() == Category::Committed {
                return failure().hint(do_not_repeat(&self.name()));
            }
            // The library does not know whether it has replaced the dataset.
            if io_error(error).is_some_and(|error| error.kind() == io::ErrorKind::Other) {
                return failure().detail(whole(&self.name()));
            }
        }
        self.unfinished(Failure::between(error, source, &self.name()))
    }

    /// Adds to a failure what has become of the output.
    pub fn unfinished(&self, failure: Failure) -> Failure {
        failure.detail(if self.replaces() || self.swaps {
            unchanged(&self.name())
        } else {
            not_written(&self.name())
        })
    }

    /// Gives it its name, since it is complete.
    pub fn commit(self, session: &Session) -> Result<(), Failure> {
        let name = self.name();
        let Some(made) = self.made else { return Ok(()) };
        if self.is_remote {
            if interrupt::is_requested() {
                return Err(Failure::interrupted().detail(not_written(&name)));
            }
            return remote::upload(made.path(), self.path, session);
        }
        let replaced = if self.swaps {
            Some(ReplacedFrame::begin(self.path, session)?)
        } else {
            None
        };
        let failed = |error: io::Error| match error.kind() {
            io::ErrorKind::AlreadyExists | io::ErrorKind::DirectoryNotEmpty => exists(&name),
            _ => Failure::io(&name, &error),
        };
        let mut pending = interrupt::pending();
        if interrupt::is_requested() {
            return Err(Failure::interrupted().detail(not_written(&name)));
        }
        let put = match &replaced {
            Some(replaced) => replaced.swap(made.path(), self.path),
            None => fs::rename(made.path(), self.path),
        };
        put.map_err(failed)?;
        let here = made.keep();
        pending.retain(|path| *path != here);
        drop(pending);
        sync_folder(self.path).map_err(failed)
    }
}

/// The sparse frame that a new one replaces, locked against other changes.
struct ReplacedFrame {
    /// `None` if it is damaged.
    _locked: Option<Frame>,
    dir: TempDir,
}

impl ReplacedFrame {
    fn begin(path: &Path, session: &Session) -> Result<Self, Failure> {
        let options = FrameOptions::new()
            .limits(session.limits)
            .lock_timeout(LOCK_TIMEOUT);
        let locked = match options
            .while_waiting(|_| !interrupt::is_requested())
            .edit(path)
        {
            Err(error) if is_busy(&error) => return Err(Failure::library(quoted(path), &error)),
            locked => locked.ok(),
        };
        // The signal handler must not know this directory: for a moment it contains the only copy.
        let dir = temporary().tempdir_in(parent(path));
        let dir = dir.map_err(|error| Failure::io(quoted(path), &without_path(&error)))?;
        // Windows renames no directory in which a file is open.
        let _locked = locked.filter(|_| !cfg!(windows));
        Ok(Self { _locked, dir })
    }

    /// Gives the name to the new frame, and keeps the old one until this is dropped.
    fn swap(&self, new: &Path, path: &Path) -> io::Result<()> {
        let old = self.dir.path().join("old");
        if exchange(new, path).is_ok() {
            // If this fails, the old frame is left over, but nothing is lost.
            let _ = fs::rename(new, old);
            return Ok(());
        }
        // Where two names cannot be exchanged, there is a moment without either.
        fs::rename(path, &old)?;
        fs::rename(new, path).inspect_err(|_| {
            let _ = fs::rename(&old, path);
        })
    }
}

/// Exchanges two names atomically, where the system can.
#[cfg(any(target_os = "linux", target_os = "android", target_vendor = "apple"))]
fn exchange(one: &Path, other: &Path) -> io::Result<()> {
    use rustix::fs::{CWD, RenameFlags, renameat_with};
    Ok(renameat_with(CWD, one, CWD, other, RenameFlags::EXCHANGE)?)
}

/// Exchanges two names atomically, where the system can.
#[cfg(not(any(target_os = "linux", target_os = "android", target_vendor = "apple")))]
fn exchange(_: &Path, _: &Path) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

fn is_zarr(path: &Path) -> bool {
    probe(path).is_ok_and(|probed| probed.family == Some(Family::Zarr))
}

/// Whether there is something at `path` that is to be replaced.
fn is_replaced(path: &Path, input: &Path, session: &Session) -> Result<bool, Failure> {
    if is_standard_output(path) {
        let title = "a dataset or sparse frame is a directory, and cannot go to standard output";
        return Err(Failure::usage(title).hint("name a directory"));
    }
    check_name(path).map_err(|error| Failure::io(quoted(path), &error))?;
    refuse_within(path, input)?;
    match fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(Failure::io(quoted(path), &error)),
        Ok(_) if !session.force => Err(exists(&quoted(path))),
        Ok(_) if !is_directory(path) => Err(in_the_way(path, "not a directory")),
        Ok(_) => Ok(true),
    }
}

/// The failure to replace something that -f does not replace.
fn in_the_way(path: &Path, what: &str) -> Failure {
    let title = format!("output {} already exists and is {what}", quoted(path));
    Failure::new(Status::Failed, title).hint("-f does not replace it; choose another name")
}

/// Refuses an output that is the input, under whatever name, or is inside it.
pub fn refuse_within(output: &Path, input: &Path) -> Result<(), Failure> {
    let real = |path: &Path| {
        let folder = parent(path).canonicalize().ok()?;
        path.canonicalize()
            .ok()
            .or_else(|| Some(folder.join(path.file_name()?)))
    };
    let (Some(real_output), Some(real_input)) = (real(output), real(input)) else {
        return Ok(());
    };
    let is_same = real_output == real_input || is_same_file(output, input).unwrap_or(false);
    let relation = match is_directory(input) && real_output.starts_with(&real_input) {
        _ if is_same => "is",
        true => "is inside",
        false => return Ok(()),
    };
    let (output, input) = (quoted(output), quoted(input));
    Err(
        Failure::usage(format!("output {output} {relation} the input {input}"))
            .hint("write elsewhere, then rename the result"),
    )
}

fn exists(name: &str) -> Failure {
    Failure::new(Status::Failed, format!("output {name} already exists"))
        .hint("use -f to replace a dataset, a frame or a Zarr array")
}

/// The most permissive mode for a directory made from `input`: users who cannot read the input cannot enter the
/// directory.
#[cfg(unix)]
fn permissions(input: &Path) -> Option<Permissions> {
    use std::os::unix::fs::PermissionsExt;
    let readable = readable(input)?;
    let all = readable | readable >> 1 | readable >> 2;
    Some(Permissions::from_mode(all))
}

/// The same for a file made from a dataset.
#[cfg(unix)]
pub fn file_permissions(dataset: &Path) -> Option<Permissions> {
    use std::os::unix::fs::PermissionsExt;
    let readable = readable(dataset)?;
    Some(Permissions::from_mode(readable | readable >> 1))
}

/// Mode bits of the users allowed to read `path`, always including its owner.
#[cfg(unix)]
fn readable(path: &Path) -> Option<u32> {
    use std::os::unix::fs::PermissionsExt;
    let mode = fs::metadata(path).ok()?.permissions().mode();
    Some((mode & 0o444) | 0o400)
}

/// The permissions that a directory made from `input` may have at most. Here the folder decides.
#[cfg(not(unix))]
fn permissions(_: &Path) -> Option<Permissions> {
    None
}

/// The same for a file made from a dataset.
#[cfg(not(unix))]
pub fn file_permissions(_: &Path) -> Option<Permissions> {
    None
}
