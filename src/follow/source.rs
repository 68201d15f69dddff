//! [`FollowedFile`]: the file at a path, as a source that is closed while its follower waits.

use crate::records::Rotation;
use bloscpack_storage::{Lock as _, ReadAt, Refresh, Refreshed, Result, Snapshot};
use std::fs::File;
use std::io;
use std::path::PathBuf;

/// A file as of the last refresh.
pub(super) struct FollowedFile {
    path: PathBuf,
    /// The part of a log that is read instead of the newest.
    part: Option<Rotation>,
    /// `None` between a release and the next refresh.
    snapshot: Option<Snapshot>,
    /// The same file without a lock. While it is open, no other file can get its identity.
    held: Option<File>,
}

impl FollowedFile {
    pub(super) fn open(path: PathBuf) -> Result<Self> {
        let mut file = Self {
            path,
            part: None,
            snapshot: None,
            held: None,
        };
        file.refresh()?;
        Ok(file)
    }

    /// Turns to a part of a log that rotates, or with `None` to the newest.
    pub(super) fn turn_to(&mut self, part: Option<Rotation>) {
        self.part = part;
    }

    fn current_path(&self) -> PathBuf {
        match (self.part, self.path.file_name()) {
            (Some(part), Some(name)) => self.path.with_file_name(part.name(name)),
            _ => self.path.clone(),
        }
    }

    /// Closes the snapshot, so that no writer waits for it.
    pub(super) fn release(&mut self) {
        self.snapshot = None;
    }

    fn snapshot(&self) -> io::Result<&Snapshot> {
        let gone = || io::Error::from(io::ErrorKind::StaleNetworkFileHandle);
        self.snapshot.as_ref().ok_or_else(gone)
    }
}

impl ReadAt for FollowedFile {
    fn read_at(&self, at: u64, buf: &mut [u8]) -> io::Result<usize> {
        self.snapshot()?.read_at(at, buf)
    }

    fn size(&self) -> io::Result<u64> {
        self.snapshot()?.size()
    }
}

impl Refresh for FollowedFile {
    fn refresh(&mut self) -> Result<Refreshed> {
        let path = self.current_path();
        let snapshot = Snapshot::open(&path)?;
        let found = identity(snapshot.get_ref());
        let is_found = |file: &File| found.is_some() && identity(file) == found;
        let refreshed = if self.held.as_ref().is_some_and(is_found) {
            Refreshed::Changed(0..snapshot.size()?)
        } else {
            Refreshed::Replaced
        };
        if refreshed == Refreshed::Replaced {
            // It may have been replaced once more.
            self.held = File::open(&path).ok().filter(is_found);
        }
        self.snapshot = Some(snapshot);
        Ok(refreshed)
    }
}

/// The identity of an open file, if the system has one for files.
fn identity(file: &File) -> Option<u128> {
    Some(file.presence()?.status().ok()?.identity)
}
