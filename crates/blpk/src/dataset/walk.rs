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
    /// In the order of the paths.
    pub found: Vec<Found>,
    /// Files of other kinds, links and devices, which are skipped.
    pub others: u64,
}

/// Something that can be opened, or the reason why not.
pub enum Found {
    /// A dataset, or anything else that is a directory.
    Directory(PathBuf),
    /// A Bloscpack file or a frame.
    File(PathBuf),
    /// A folder that cannot be listed.
    Hidden(PathBuf, io::Error),
}

impl Found {
    pub fn path(&self) -> &Path {
        match self {
            Self::Directory(path) | Self::File(path) | Self::Hidden(path, _) => path,
        }
    }
}

/// Looks for everything that can be opened. Nothing is looked for inside of a dataset, and links are not followed.
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
    /// Visits a folder and all below it.
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
        // The file is read through its journal.
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

/// Notes how many files below a folder were skipped.
pub fn note_others(others: u64, root: &Path, session: &Session) {
    let others = match others {
        0 => return,
        1 => "1 file of another kind was".to_owned(),
        others => format!("{others} files of other kinds were"),
    };
    session.note(format_args!("{}: {others} not looked at", quoted(root)));
}

/// Whether a directory is only a folder, which cannot be opened as a dataset, frame, store or Zarr.
fn is_plain(path: &Path) -> bool {
    probe(path).is_ok_and(|probed| probed.family == Some(Family::Directory))
}

/// Whether a file begins as one of ours, or has a name like one, and is no ZIP archive of anything else. Opening a file that cannot
/// be read reports that.
fn is_ours(path: &Path) -> bool {
    let is_known = look(path).map_or(true, |look| look.is_ours);
    let is_archive = || probe(path).is_ok_and(|probed| probed.family == Some(Family::Archive));
    let opened = || bloscpack_open::open(path, &Options::new());
    let is_other = || opened().is_err_and(|error| error.category() == Category::Unsupported);
    is_known && !(is_archive() && is_other())
}

/// The path of something below a directory. `.` is left out.
pub fn join(folder: &Path, below: &Path) -> PathBuf {
    match (below.as_os_str().is_empty(), folder == Path::new(".")) {
        (true, _) => folder.to_owned(),
        (false, true) => below.to_owned(),
        (false, false) => folder.join(below),
    }
}
