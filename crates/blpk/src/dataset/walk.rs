//! Datasets, Bloscpack files and frames below a directory.

use std::fs::{self, DirEntry, FileType};
use std::io;
use std::path::{Path, PathBuf};

use bloscpack::Category;
use bloscpack_open::{Family, Options, probe};

use crate::failure::{About as _, Failure};
use crate::input::look;
use crate::session::Session;
use crate::text::quoted;

/// The inputs below a directory.
pub struct Below {
    /// Sorted by path.
    pub found: Vec<Found>,
    /// The number of skipped entries: files of other kinds, links and devices.
    pub others: u64,
}

/// An input, or a folder that cannot be listed.
pub enum Found {
    /// A dataset, or another input that is a directory.
    Directory(PathBuf),
    /// A Bloscpack file or a frame.
    File(PathBuf),
    /// A folder that cannot be listed, or an entry of unknown type.
    Hidden(PathBuf, io::Error),
}

impl Found {
    pub fn path(&self) -> &Path {
        match self {
            Self::Directory(path) | Self::File(path) | Self::Hidden(path, _) => path,
        }
    }
}

/// Finds all inputs below a directory. Does not descend into datasets, and does not follow links.
pub fn below(root: &Path) -> Result<Below, Failure> {
    root.read_dir().about(root)?;
    let mut below = Below {
        found: Vec::new(),
        others: 0,
    };
    below.folder(root.to_owned());
    let one_by_path = |one: &Found, other: &Found| one.path().cmp(other.path());
    below.found.sort_by(one_by_path);
    Ok(below)
}

impl Below {
    /// Visits a folder and everything below it.
    fn folder(&mut self, root: PathBuf) {
        let mut open = vec![root];
        while let Some(path) = open.pop() {
            let listed = fs::read_dir(&path).and_then(Iterator::collect::<io::Result<Vec<_>>>);
            let entries = match listed {
                Ok(entries) => entries,
                Err(error) => {
                    self.found.push(Found::Hidden(path, error));
                    continue;
                }
            };
            for entry in entries {
                let below = join(&path, Path::new(&entry.file_name()));
                match entry.file_type() {
                    Ok(kind) if kind.is_dir() && is_plain(&below) => open.push(below),
                    kind => self.entry(&entry, kind, below),
                }
            }
        }
    }

    /// Visits an entry of a folder.
    fn entry(&mut self, entry: &DirEntry, kind: io::Result<FileType>, path: PathBuf) {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        // A journal belongs to the file that is read through it.
        if name.ends_with(".blpk-journal") {
            return;
        }
        match kind {
            Err(error) => self.found.push(Found::Hidden(path, error)),
            Ok(kind) if kind.is_dir() => self.found.push(Found::Directory(path)),
            Ok(kind) if kind.is_file() && !name.starts_with("._") && is_ours(&path) => {
                self.found.push(Found::File(path));
            }
            Ok(_) => self.others += 1,
        }
    }
}

/// Reports the number of skipped files below a folder.
pub fn note_others(others: u64, root: &Path, session: &Session) {
    let others = match others {
        0 => return,
        1 => "1 file of another kind was".to_owned(),
        others => format!("{others} files of other kinds were"),
    };
    session.note(format_args!("{}: {others} skipped", quoted(root)));
}

/// Whether a directory is an ordinary folder, and not a dataset, frame, store or Zarr.
fn is_plain(path: &Path) -> bool {
    probe(path).is_ok_and(|probed| probed.family == Some(Family::Directory))
}

/// Whether a file has the first bytes or the ending of one of our formats, and is not a ZIP archive of other files. True for an
/// unreadable file: opening it reports the error.
fn is_ours(path: &Path) -> bool {
    let is_known = look(path).map_or(true, |look| look.is_ours);
    let is_archive = || probe(path).is_ok_and(|probed| probed.family == Some(Family::Archive));
    let opened = || bloscpack_open::open(path, &Options::new());
    let is_other = || opened().is_err_and(|error| error.category() == Category::Unsupported);
    is_known && !(is_archive() && is_other())
}

/// The path of an entry below a directory, without a leading `.`.
pub fn join(folder: &Path, below: &Path) -> PathBuf {
    match (below.as_os_str().is_empty(), folder == Path::new(".")) {
        (true, _) => folder.to_owned(),
        (false, true) => below.to_owned(),
        (false, false) => folder.join(below),
    }
}
