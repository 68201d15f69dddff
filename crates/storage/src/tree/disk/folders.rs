//! [`Folders`]: opens the folder of a key from the root, without following links.

use super::{Key, NOT_A_FOLDER, invalid};
use crate::mutex::locked;
use crate::write_at::retry;
use rustix::fs::{AtFlags, Mode, OFlags, openat, statat};
use std::fs::File;
use std::io;
use std::sync::{Arc, Mutex};

/// Folders kept open.
const KEPT: usize = 8;

pub(super) const FOLDER: OFlags = OFlags::RDONLY
    .union(OFlags::DIRECTORY)
    .union(OFlags::NOFOLLOW)
    .union(OFlags::CLOEXEC);

/// The folders below a root, each opened relative to the folder above it.
#[derive(Debug)]
pub(super) struct Folders {
    root: Arc<File>,
    /// Recently used folders, the last one first. They may have been removed or moved.
    kept: Mutex<Vec<(Key, Arc<File>)>>,
}

impl Folders {
    pub(super) fn new(root: File) -> Self {
        Self {
            root: Arc::new(root),
            kept: Mutex::default(),
        }
    }

    /// Opens the folder that has this key now.
    pub(super) fn walk(&self, folder: &Key) -> io::Result<Arc<File>> {
        let mut here = Arc::clone(&self.root);
        for name in folder.names() {
            here = Arc::new(folder_in(&here, name)?);
        }
        Ok(here)
    }

    /// Reads in the folder of this key, if possible in one that was kept open. If `act` does not find something
    /// there, it is repeated in the folder that has the key now, because the kept one may have been removed.
    pub(super) fn look<T>(
        &self,
        folder: &Key,
        act: impl Fn(&File) -> io::Result<T>,
    ) -> io::Result<T> {
        if *folder == Key::root() {
            return act(&self.root);
        }
        if let Some(kept) = self.kept(folder) {
            match act(&kept) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                done => return done,
            }
        }
        let fresh = self.walk(folder)?;
        self.keep(folder, &fresh);
        act(&fresh)
    }

    fn kept(&self, folder: &Key) -> Option<Arc<File>> {
        let mut kept = locked(&self.kept);
        let number = kept.iter().position(|(key, _)| key == folder)?;
        kept.get_mut(..=number)?.rotate_right(1);
        kept.first().map(|(_, file)| Arc::clone(file))
    }

    fn keep(&self, folder: &Key, file: &Arc<File>) {
        let mut kept = locked(&self.kept);
        kept.retain(|(key, _)| key != folder);
        kept.truncate(KEPT - 1);
        kept.insert(0, (folder.clone(), Arc::clone(file)));
    }

    /// Closes all kept folders before one of them is removed.
    pub(super) fn forget(&self) {
        let mut kept = locked(&self.kept);
        kept.clear();
    }
}

/// Opens the folder of this name in another folder.
pub(super) fn folder_in(folder: &File, name: &str) -> io::Result<File> {
    let opened = retry(|| Ok(openat(folder, name, FOLDER, Mode::empty())?));
    match opened {
        Ok(fd) => Ok(fd.into()),
        // Opening a link or a device as a folder can return various errors.
        Err(error) if error.kind() != io::ErrorKind::NotFound && is_not_a_folder(folder, name) => {
            Err(invalid(NOT_A_FOLDER))
        }
        Err(error) => Err(error),
    }
}

/// Whether something other than a folder has the name. If that is unknown, the caller returns the system's
/// error.
fn is_not_a_folder(folder: &File, name: &str) -> bool {
    let there = statat(folder, name, AtFlags::SYMLINK_NOFOLLOW);
    there.is_ok_and(|stat| !rustix::fs::FileType::from_raw_mode(stat.st_mode).is_dir())
}
