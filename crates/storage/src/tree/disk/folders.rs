//! [`Ways`]: from the root to the folder of a key, without following a link.

use super::{Key, NO_FOLDER, invalid};
use crate::write_at::retry;
use rustix::fs::{AtFlags, Mode, OFlags, openat, statat};
use std::fs::File;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};

/// So many folders are kept open.
const KEPT: usize = 8;

pub(super) const FOLDER: OFlags = OFlags::RDONLY
    .union(OFlags::DIRECTORY)
    .union(OFlags::NOFOLLOW)
    .union(OFlags::CLOEXEC);

/// Folders below a root, each reached from the one that it lies in.
#[derive(Debug)]
pub(super) struct Ways {
    root: Arc<File>,
    /// Folders used last, the last of them in front. They may have been removed or moved since.
    kept: Mutex<Vec<(Key, Arc<File>)>>,
}

impl Ways {
    pub(super) fn new(root: File) -> Self {
        Self {
            root: Arc::new(root),
            kept: Mutex::default(),
        }
    }

    /// The folder of this key as it is now.
    pub(super) fn walk(&self, folder: &Key) -> io::Result<Arc<File>> {
        let mut here = Arc::clone(&self.root);
        for name in folder.names() {
            here = Arc::new(folder_in(&here, name)?);
        }
        Ok(here)
    }

    /// Does something that changes nothing in the folder of this key: one that was kept open, unless what is looked
    /// for is not there. It may have been removed and made again.
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
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let number = kept.iter().position(|(key, _)| key == folder)?;
        kept.get_mut(..=number)?.rotate_right(1);
        kept.first().map(|(_, file)| Arc::clone(file))
    }

    fn keep(&self, folder: &Key, file: &Arc<File>) {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.retain(|(key, _)| key != folder);
        kept.truncate(KEPT - 1);
        kept.insert(0, (folder.clone(), Arc::clone(file)));
    }

    /// What was kept may have been removed.
    pub(super) fn forget(&self) {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.clear();
    }
}

/// The folder of this name in another.
pub(super) fn folder_in(folder: &File, name: &str) -> io::Result<File> {
    let opened = retry(|| Ok(openat(folder, name, FOLDER, Mode::empty())?));
    match opened {
        Ok(fd) => Ok(fd.into()),
        // A link gives one of several errors, and a device may give any.
        Err(error) if error.kind() != io::ErrorKind::NotFound && is_no_folder(folder, name) => {
            Err(invalid(NO_FOLDER))
        }
        Err(error) => Err(error),
    }
}

/// Whether something else is there; where nothing is, or nobody can tell, it was the system that failed.
fn is_no_folder(folder: &File, name: &str) -> bool {
    let there = statat(folder, name, AtFlags::SYMLINK_NOFOLLOW);
    there.is_ok_and(|stat| !rustix::fs::FileType::from_raw_mode(stat.st_mode).is_dir())
}
