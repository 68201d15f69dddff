//! Folders that appear under their names when they are complete, and the rules for replacing existing folders.

use std::fs::{self, Permissions};
use std::io;
use std::path::Path;

use bloscpack::Options;
use bloscpack_open::{Family, frames::Frame, probe, stores::EMBED_FILE};
use same_file::is_same_file;
use tempfile::TempDir;

use super::file::check_name;
use super::temporary::{make_folder, parent, sync_folder, temporary, without_path};
use super::{is_standard_output, not_written, unchanged};
use crate::failure::{About as _, Failure, is_busy};
use crate::input::is_sparse_frame;
use crate::interrupt;
use crate::remote;
use crate::session::{LOCK_TIMEOUT, Session};
use crate::status::Status;
use crate::text::{is_url, quoted};

/// The content of a folder. A folder replaces only a folder of the same kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FolderKind {
    Dataset,
    Frame,
    Store,
    Zarr,
    /// Folders of datasets.
    Tree,
}

impl FolderKind {
    /// A description of the folder at `path`, if it is of another kind.
    fn other(self, path: &Path) -> Result<Option<&'static str>, Failure> {
        Ok(match self {
            Self::Dataset if is_sparse_frame(path)? => Some("a Blosc2 frame"),
            Self::Dataset if is_zarr(path) => Some("a Zarr array or group"),
            Self::Frame if !is_sparse_frame(path)? => Some("not a sparse frame"),
            Self::Store if !path.join(EMBED_FILE).is_file() => Some("not a store of python-blosc2"),
            Self::Tree => Some("a folder"),
            Self::Zarr if !is_zarr(path) => Some("not a Zarr array or group"),
            _ => None,
        })
    }
}

/// Begins a folder at `path`, made from `input`: returns a temporary folder that is as private as the input, or `None` if the
/// library itself replaces a dataset in a single change. Also returns whether the folder replaces an existing one.
pub fn begin(
    path: &Path,
    kind: FolderKind,
    input: &Path,
    session: &Session,
) -> Result<(Option<TempDir>, bool), Failure> {
    if is_url(path) {
        if remote::has_objects(path, session)? {
            let title = format!("{}: there are objects below this URL", quoted(path));
            let hint = "a dataset in a bucket cannot be replaced, since a bucket changes one object at a time; choose another URL";
            return Err(Failure::new(Status::Failed, title).hint(hint));
        }
        let made = make_folder(None, None).about(path)?;
        return Ok((Some(made), false));
    }
    if !is_replaced(path, input, session)? {
        return Ok((Some(beside(path, input)?), false));
    }
    if let Some(other) = kind.other(path)? {
        return Err(in_the_way(path, other));
    }
    let is_dataset = kind == FolderKind::Dataset;
    let made = (!is_dataset).then(|| beside(path, input));
    Ok((made.transpose()?, true))
}

/// Moves the temporary folder to its path, unless the user has stopped the work.
pub fn put(
    made: TempDir,
    path: &Path,
    (name, replaces): (&str, bool),
    session: &Session,
) -> Result<(), Failure> {
    let check = || {
        interrupt::check().map_err(|error| {
            Failure::from(error).detail(if replaces {
                unchanged(name)
            } else {
                not_written(name)
            })
        })
    };
    if is_url(path) {
        check()?;
        return remote::upload(made.path(), path, session);
    }
    let replaced = replaces
        .then(|| Replaced::begin(path, session))
        .transpose()?;
    let failed = |error: io::Error| match error.kind() {
        io::ErrorKind::AlreadyExists | io::ErrorKind::DirectoryNotEmpty => exists(name),
        _ => Failure::from(error).named(name),
    };
    let mut pending = interrupt::pending();
    check()?;
    let put = match &replaced {
        Some(replaced) => replaced.swap(made.path(), path),
        None => fs::rename(made.path(), path),
    };
    put.map_err(failed)?;
    let here = made.keep();
    pending.retain(|path| *path != here);
    drop(pending);
    sync_folder(path).map_err(failed)
}

/// Makes a temporary folder beside `path`, as private as `input`.
pub fn beside(path: &Path, input: &Path) -> Result<TempDir, Failure> {
    let made = make_folder(Some(parent(path)), folder_permissions(input));
    made.about(path)
}

/// The folder that a new one replaces. A sparse frame is locked against other changes.
struct Replaced {
    /// `None` if the folder is damaged or not a frame.
    _locked: Option<Frame>,
    dir: TempDir,
}

impl Replaced {
    fn begin(path: &Path, session: &Session) -> Result<Self, Failure> {
        let options = Options::new()
            .limits(session.limits)
            .lock_timeout(LOCK_TIMEOUT)
            .while_waiting(|_| !interrupt::is_requested());
        let locked = match Frame::edit_with(path, &options) {
            Err(error) if is_busy(&error) => return Err(error).about(path),
            locked => locked.ok(),
        };
        // The signal handler must not remove this folder: for a moment it contains the only copy.
        let dir = temporary().tempdir_in(parent(path));
        let dir = dir.map_err(|error| without_path(&error)).about(path)?;
        // Windows renames no directory in which a file is open.
        let _locked = locked.filter(|_| !cfg!(windows));
        Ok(Self { _locked, dir })
    }

    /// Gives the path to the new folder, and keeps the old folder until this is dropped.
    fn swap(&self, new: &Path, path: &Path) -> io::Result<()> {
        let old = self.dir.path().join("old");
        if exchange(new, path).is_ok() {
            // If this fails, the old folder is left over, but nothing is lost.
            let _ = fs::rename(new, old);
            return Ok(());
        }
        // If the system cannot exchange two names, neither folder has the name for a moment.
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

/// Whether `path` is an existing directory to replace. Refuses everything that cannot be replaced.
fn is_replaced(path: &Path, input: &Path, session: &Session) -> Result<bool, Failure> {
    if is_standard_output(path) {
        let title = "a dataset or sparse frame is a directory, and cannot go to standard output";
        return Err(Failure::usage(title).hint("name a directory"));
    }
    check_name(path).about(path)?;
    refuse_within(path, input)?;
    match fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error).about(path),
        Ok(_) if !session.force => Err(exists(&quoted(path))),
        Ok(_) if !path.is_dir() => Err(in_the_way(path, "not a directory")),
        Ok(_) => Ok(true),
    }
}

/// The refusal to replace something that `-f` does not replace.
fn in_the_way(path: &Path, what: &str) -> Failure {
    let title = format!("output {} already exists and is {what}", quoted(path));
    Failure::new(Status::Failed, title).hint("-f does not replace it; choose another name")
}

/// Refuses an output that is the input, under any name, or is inside it.
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
    let relation = if is_same {
        "is"
    } else if input.is_dir() && real_output.starts_with(&real_input) {
        "is inside"
    } else {
        return Ok(());
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
fn folder_permissions(input: &Path) -> Option<Permissions> {
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

/// The most permissions for a directory made from `input`. On this system the parent folder decides.
#[cfg(not(unix))]
fn folder_permissions(_: &Path) -> Option<Permissions> {
    None
}

/// The same for a file made from a dataset.
#[cfg(not(unix))]
pub fn file_permissions(_: &Path) -> Option<Permissions> {
    None
}
