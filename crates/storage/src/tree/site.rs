//! [`StoreSite`]: a store and the history in its staging folder.

use super::staging::Staging;
use super::{Key, Store, StoreHandle};
use crate::error::bug;
use crate::history::{Site, status_of};
use crate::{Access, FileStatus};
use std::io;
use std::sync::Arc;

/// A store with the handle of its root.
pub(super) struct StoreSite<'a> {
    pub store: &'a dyn Store,
    pub staging: &'a Staging,
    pub root: &'a Arc<dyn StoreHandle>,
}

impl Site for StoreSite<'_> {
    type File = Arc<dyn StoreHandle>;

    fn handle(&self) -> &Arc<dyn StoreHandle> {
        self.root
    }

    fn status(&self) -> io::Result<FileStatus> {
        status(self.store, self.staging, self.root)
    }

    fn open_history(&self, access: Access) -> io::Result<Arc<dyn StoreHandle>> {
        open_history(self.store, self.staging, access)
    }

    fn create_history(&self) -> io::Result<Arc<dyn StoreHandle>> {
        self.store.create(&self.staging.history, &[])?;
        self.open_history(Access::Write)
    }

    fn remove_history(&self) -> io::Result<()> {
        self.store.remove(&self.staging.history)
    }
}

pub(super) fn open_history(
    store: &dyn Store,
    staging: &Staging,
    access: Access,
) -> io::Result<Arc<dyn StoreHandle>> {
    let opened = store.handle(&staging.history, access)?;
    opened.ok_or_else(|| bug("a store with a handle of its root alone"))
}

/// The status of a store. Its stamp combines those of the root and of the staging folder: a writer changes one
/// of them when it opens the store, stages a file, or removes the folder.
pub(super) fn status(
    store: &dyn Store,
    staging: &Staging,
    root: &Arc<dyn StoreHandle>,
) -> io::Result<FileStatus> {
    let mut status = status_of(root)?;
    let folder = match folder_status(store, &staging.folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        found => Some(found?),
    };
    status.is_recent |= folder.is_some_and(|folder| folder.is_recent);
    let folder = folder.map_or(0, |folder| packed(folder.stamp));
    status.stamp = u128::from(packed(status.stamp)) << 64 | u128::from(folder);
    Ok(status)
}

fn folder_status(store: &dyn Store, folder: &Key) -> io::Result<FileStatus> {
    let handle = store.handle(folder, Access::Read)?;
    status_of(&handle.ok_or(io::ErrorKind::NotFound)?)
}

/// Packs a stamp of seconds and nanoseconds into half as many bits.
#[expect(
    clippy::cast_possible_truncation,
    reason = "30 bits are enough for nanoseconds"
)]
fn packed(stamp: u128) -> u64 {
    ((stamp >> 64) as u64) << 30 ^ stamp as u64
}
