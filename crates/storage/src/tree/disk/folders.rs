//! [`Folders`]: from the root to the folder of a key, without following a link.

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

/// The folders below a root, each opened from the folder that it is in.
#[derive(Debug)]
pub(super) struct Folders {
    root: Arc<File>,
    /// The folders used last, the last of them first. They may have been removed or moved since.
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

    /// Reads in the folder of this key. That may be one that was kept open; if something is not found
    /// there, the folder that has this key now, because the other one may have been removed.
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

    /// Closes all folders, one of which is about to be removed.
    pub(super) fn forget(&self) {
        let mut kept = locked(&self.kept);
        kept.clear();
    }
}

/// Opens the folder of this name in another.
pub(super) fn folder_in(folder: &File, name: &str) -> io::Result<File> {
    let opened = retry(|| Ok(openat(folder, name, FOLDER, Mode::empty())?));
    match opened {
        Ok(fd) => Ok(fd.into()),
        // A link gives one of several errors, and a device any error.
        Err(error) if error.kind() != io::ErrorKind::NotFound && is_not_a_folder(folder, name) => {
            Err(invalid(NOT_A_FOLDER))
        }
        Err(error) => Err(error),
    }
}

/// Whether something else has the name. If nothing has, or it cannot be found out, the error is that
/// of the system.
fn is_not_a_folder(folder: &File, name: &str) -> bool {
    let there = statat(folder, name, AtFlags::SYMLINK_NOFOLLOW);
    there.is_ok_and(|stat| !rustix::fs::FileType::from_raw_mode(stat.st_mode).is_dir())
}
