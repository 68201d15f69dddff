//! Datasets, Bloscpack files and frames below a directory.

use std::collections::BTreeMap;
use std::fs::{self, DirEntry, FileType};
use std::io;
use std::path::{Path, PathBuf};

use bloscpack::{Category, Error};
use bloscpack_open::{Family, Options, probe};

use crate::container::Opened;
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
    /// A dataset or a sparse frame, with an error that names its file.
    Directory(PathBuf, Option<Error>),
    /// A Bloscpack file or a frame.
    File(PathBuf),
    /// A folder that cannot be listed.
    Hidden(PathBuf, io::Error),
}

impl Found {
    pub fn path(&self) -> &Path {
        match self {
            Self::Directory(path, _) | Self::File(path) | Self::Hidden(path, _) => path,
        }
    }
}

/// Looks for everything that can be opened. Nothing is looked for inside of a dataset, and links are not followed.
pub fn below(root: &Path) -> Result<Below, Failure> {
    let mut datasets = BTreeMap::new();
    let walked = bloscpack_open::datasets::walk(root, |path, error| {
        datasets.insert(join(root, path), Some(error));
    });
    let walked = walked.about(root)?;
    datasets.extend(walked.into_iter().map(|one| (join(root, &one.path), None)));
    let mut walk = Walk {
        datasets,
        below: Below {
            found: Vec::new(),
            others: 0,
        },
    };
    walk.folder(root.to_owned());
    // A dataset that only its own walk has seen.
    let missed = std::mem::take(&mut walk.datasets).into_iter();
    let Below { mut found, others } = walk.below;
    found.extend(missed.map(|(path, error)| Found::Directory(path, error)));
    found.sort_by(|one, other| one.path().cmp(other.path()));
    Ok(Below { found, others })
}

struct Walk {
    /// Datasets whose folders have not been reached.
    datasets: BTreeMap<PathBuf, Option<Error>>,
    below: Below,
}

impl Walk {
    /// Visits a folder and all below it.
    fn folder(&mut self, root: PathBuf) {
        let mut open = vec![root];
        while let Some(path) = open.pop() {
            if let Some(error) = self.datasets.remove(&path) {
                self.below.found.push(Found::Directory(path, error));
                continue;
            }
            let listed = fs::read_dir(&path).and_then(Iterator::collect::<io::Result<Vec<_>>>);
            let entries = match listed {
                Ok(entries) => entries,
                Err(error) => {
                    self.below.found.push(Found::Hidden(path, error));
                    continue;
                }
            };
            for entry in entries {
                let below = join(&path, Path::new(&entry.file_name()));
                match entry.file_type() {
                    Ok(kind) if kind.is_dir() && !is_sparse_frame(&below) => open.push(below),
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
            Err(error) => self.below.found.push(Found::Hidden(path, error)),
            Ok(kind) if kind.is_dir() => self.below.found.push(Found::Directory(path, None)),
            Ok(kind) if kind.is_file() && !name.starts_with("._") && is_ours(&path) => {
                self.below.found.push(Found::File(path));
            }
            Ok(_) => self.below.others += 1,
        }
    }
}

impl Below {
    /// Notes how many files were skipped.
    pub fn note_others(&self, root: &Path, session: &Session) {
        let others = match self.others {
            0 => return,
            1 => "1 file of another kind was".to_owned(),
            others => format!("{others} files of other kinds were"),
        };
        session.note(format_args!("{}: {others} not looked at", quoted(root)));
    }
}

fn is_sparse_frame(path: &Path) -> bool {
    probe(path).is_ok_and(|probed| {
        matches!(
            probed.family,
            Some(Family::Frame | Family::Store | Family::Zarr)
        )
    })
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

/// Opens a dataset or a sparse frame. An error that names no file says less than that of the walk.
pub fn open(path: &Path, walked: Option<Error>, session: &Session) -> bloscpack::Result<Opened> {
    match (Opened::directory(path, session), walked) {
        (Err(vague), Some(error)) if vague.path().is_none() => Err(error),
        (opened, _) => opened,
    }
}

/// The path of something below a directory. `.` is left out.
fn join(folder: &Path, below: &Path) -> PathBuf {
    match (below.as_os_str().is_empty(), folder == Path::new(".")) {
        (true, _) => folder.to_owned(),
        (false, true) => below.to_owned(),
        (false, false) => folder.join(below),
    }
}

/// Datasets, and files whose names are those of ours, below a URL.
#[cfg(feature = "remote")]
pub fn below_url(path: &Path, session: &Session) -> Result<Below, Failure> {
    use crate::{failure::Directory, input::has_known_ending};
    use bloscpack_open::frames::wire::METADATA_FILE;
    let base = path.to_string_lossy();
    let base = base.trim_end_matches('/');
    let store = session.remote()?.store(base);
    let store = store.about(&Directory(path))?;
    let url = |below: &Path| {
        if below.as_os_str().is_empty() {
            base.into()
        } else {
            format!("{base}/{}", below.to_string_lossy()).into()
        }
    };
    let mut found = Vec::new();
    let mut damaged = Vec::new();
    let walked = bloscpack_open::datasets::walk_in(store.clone(), |below, error| {
        damaged.push(Found::Directory(url(below), Some(error)));
    });
    let walked = walked.about(&Directory(path))?;
    found.extend(
        walked
            .iter()
            .map(|one| Found::Directory(url(&one.path), None)),
    );
    found.extend(damaged);
    // The directories of sparse frames are known by one of their files.
    let sparse = store
        .paths()
        .map(Path::new)
        .filter(|file| file.ends_with(METADATA_FILE));
    let sparse = sparse.filter_map(Path::parent).map(url);
    found.extend(sparse.map(|folder| Found::Directory(folder, None)));
    let folders: Vec<String> = found
        .iter()
        .map(|one| format!("{}/", one.path().to_string_lossy()))
        .collect();
    let mut others = 0;
    for file in store.paths() {
        let file = Path::new(file);
        let full = url(file);
        let is_inside = folders
            .iter()
            .any(|folder| full.to_string_lossy().starts_with(folder));
        if is_inside {
            continue;
        }
        if has_known_ending(file) {
            found.push(Found::File(full));
        } else {
            others += 1;
        }
    }
    found.sort_by(|one, other| one.path().cmp(other.path()));
    Ok(Below { found, others })
}

/// Datasets and files below a URL, in a build that cannot read it.
#[cfg(not(feature = "remote"))]
pub fn below_url(path: &Path, _: &Session) -> Result<Below, Failure> {
    Err(crate::remote::not_built(path))
}
