//! Files that must be neither read nor changed.

use std::collections::BTreeMap;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// A snapshot of a folder's entries other than one dataset.
pub struct Canary {
    temp: PathBuf,
    /// The dataset, by its own path and by the one that refers to it.
    within: [PathBuf; 2],
    found: BTreeMap<PathBuf, Found>,
    /// Whether this file system notes when a file is read.
    notes_reading: bool,
}

#[derive(Debug, PartialEq)]
enum Found {
    Folder,
    /// Its content, when it was changed, and when it was read.
    File(Vec<u8>, SystemTime, Option<SystemTime>),
    /// The target of the link.
    Link(PathBuf),
    Other,
}

/// Such times that reading is noted also where only the first after a change is.
fn long_ago() -> (SystemTime, SystemTime) {
    let read = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000);
    (read, read + Duration::from_secs(100_000_000))
}

impl Canary {
    pub fn around(temp: &Path, root: &Path) -> Self {
        let temp = &temp.canonicalize().unwrap();
        let probe = temp.join("probe");
        std::fs::write(&probe, b"probe").unwrap();
        let (long_ago_read, long_ago_changed) = long_ago();
        set_times(&probe, long_ago_read, long_ago_changed);
        std::fs::read(&probe).unwrap();
        let notes_reading = read_at(&probe) != long_ago_read;
        std::fs::remove_file(probe).unwrap();

        let real = root.canonicalize().unwrap_or_default();
        let mut canary = Self {
            temp: temp.to_owned(),
            within: [root.to_owned(), real],
            found: BTreeMap::new(),
            notes_reading,
        };
        canary.found = canary.look();
        for (path, found) in &mut canary.found {
            if let Found::File(_, changed, read) = found {
                set_times(path, long_ago_read, long_ago_changed);
                *changed = long_ago_changed;
                *read = read.map(|_| long_ago_read);
            }
        }
        canary
    }

    /// Panics if anything has been read, changed, added or taken away.
    pub fn check(&self) {
        let found = self.look();
        let names = |found: &BTreeMap<PathBuf, Found>| found.keys().cloned().collect::<Vec<_>>();
        assert_eq!(names(&found), names(&self.found), "outside of the dataset");
        for (path, found) in &found {
            assert_eq!(*found, self.found[path], "{}", path.display());
        }
    }

    fn look(&self) -> BTreeMap<PathBuf, Found> {
        let mut found = BTreeMap::new();
        let mut folders = vec![self.temp.clone()];
        while let Some(folder) = folders.pop() {
            for entry in folder.read_dir().unwrap() {
                let path = entry.unwrap().path();
                if self.within.contains(&path) {
                    continue;
                }
                let what = self.look_at(&path);
                if what == Found::Folder {
                    folders.push(path.clone());
                }
                found.insert(path, what);
            }
        }
        found
    }

    fn look_at(&self, path: &Path) -> Found {
        let metadata = path.symlink_metadata().unwrap();
        if metadata.is_dir() {
            return Found::Folder;
        }
        if metadata.is_symlink() {
            return Found::Link(path.read_link().unwrap());
        }
        if !metadata.is_file() {
            return Found::Other;
        }
        // A file with a second name within the dataset may be read there.
        let alone = self.notes_reading && metadata.nlink() == 1;
        let (read, changed) = (read_at(path), metadata.modified().unwrap());
        let bytes = std::fs::read(path).unwrap();
        set_times(path, read, changed);
        Found::File(bytes, changed, alone.then_some(read))
    }
}

fn read_at(path: &Path) -> SystemTime {
    path.symlink_metadata().unwrap().accessed().unwrap()
}

fn set_times(path: &Path, read: SystemTime, changed: SystemTime) {
    let times = std::fs::FileTimes::new();
    let times = times.set_accessed(read).set_modified(changed);
    let file = std::fs::File::options().write(true).open(path).unwrap();
    file.set_times(times).unwrap();
}
