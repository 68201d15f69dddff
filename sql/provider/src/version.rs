//! [`Version`]: identifies the state of an input's bytes.

use bloscpack::{Error, Result};
use sha2::{Digest as _, Sha256};
use std::collections::HashSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Two changes of a file within this time may have the same timestamp.
const STEP: Duration = Duration::from_millis(50);

/// A digest of the names, lengths, and times or tags of all files of an input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Version(pub [u8; 32]);

impl Version {
    /// The version of an input with these files, in this order.
    pub(crate) fn of(files: impl IntoIterator<Item = String>) -> Self {
        let mut hasher = Sha256::new();
        for file in files {
            hasher.update(file.len().to_le_bytes());
            hasher.update(file);
        }
        Self(hasher.finalize().into())
    }

    /// The version of a file, or of all files in a directory. After a very recent change, this waits until the next change
    /// would have a later timestamp.
    ///
    /// # Errors
    /// Returns errors of the file system.
    pub(crate) fn of_path(path: &Path) -> Result<Self> {
        let failed = |error: io::Error| Error::from(error).in_file(path);
        let mut found = Files::below(path).map_err(failed)?;
        if found.are_recent() {
            thread::sleep(STEP);
            found = Files::below(path).map_err(failed)?;
        }
        found.files.sort_unstable();
        Ok(Self::of(found.files))
    }
}

/// The files of a directory.
#[derive(Default)]
struct Files {
    /// Their paths, lengths and modification times.
    files: Vec<String>,
    /// The latest of these times.
    last: Option<SystemTime>,
    /// The listed directories. A link may lead to one of them again.
    listed: HashSet<PathBuf>,
}

impl Files {
    fn below(path: &Path) -> io::Result<Self> {
        let mut files = Self::default();
        let mut left = vec![path.to_owned()];
        while let Some(next) = left.pop() {
            let found = fs::metadata(&next)?;
            if !found.is_dir() {
                files.add(next.strip_prefix(path).unwrap_or(&next), &found)?;
            } else if files.listed.insert(next.canonicalize()?) {
                for entry in fs::read_dir(&next)? {
                    left.push(entry?.path());
                }
            }
        }
        Ok(files)
    }

    fn add(&mut self, name: &Path, found: &fs::Metadata) -> io::Result<()> {
        let modified = found.modified()?;
        let since = modified.duration_since(UNIX_EPOCH).unwrap_or_default();
        let (name, len) = (name.display(), found.len());
        self.files
            .push(format!("{name} {len} {}", since.as_nanos()));
        self.last = self.last.max(Some(modified));
        Ok(())
    }

    /// Whether the next change may have the same timestamp as the last. A time in the future counts as recent.
    fn are_recent(&self) -> bool {
        let age = self.last.map(|last| last.elapsed().unwrap_or_default());
        age.is_some_and(|age| age < STEP)
    }
}
