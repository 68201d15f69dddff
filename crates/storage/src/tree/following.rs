//! [`Following`]: the content that a store had when a reader opened it.

use super::errors::{NOT_A_FILE, invalid, not_found};
use super::pending::with_changes;
use super::site::{open_history, status};
use super::staging::Staging;
use super::{Entry, EntryKind, Key, Store, StoreHandle};
use crate::history::{Follower, Pin, Reading, View};
use crate::{Access, ReadAt};
use std::ffi::OsString;
use std::io;
use std::sync::Arc;

/// The changes of a store since a reader opened it.
pub(super) type StoreView = View<Arc<dyn StoreHandle>>;

/// A store with the content that it had when a reader opened it, whatever writers do.
pub(super) struct Following {
    pub reading: Reading<Arc<dyn StoreHandle>>,
    /// The root's handle: announced, or locked where writers cannot see announcements.
    pub root: Arc<dyn StoreHandle>,
}

impl Following {
    /// The follower of a store with this root; `None` if writers would not see it.
    pub(super) fn follower(
        store: &Arc<dyn Store>,
        staging: &Staging,
        root: &Arc<dyn StoreHandle>,
    ) -> io::Result<Option<Follower<Arc<dyn StoreHandle>>>> {
        let (for_status, for_history) = (Arc::clone(store), Arc::clone(store));
        let (first, second) = (staging.clone(), staging.clone());
        Follower::new(
            root,
            move |root| status(&*for_status, &first, root),
            move || open_history(&*for_history, &second, Access::Read),
        )
    }

    pub(super) fn look<T>(&self, look: impl FnMut(&StoreView) -> io::Result<T>) -> io::Result<T> {
        self.reading.look(&self.root, look)
    }
}

/// The pinned kind of an entry; `None` if it is not pinned.
pub(super) fn kind_in(view: &StoreView, key: &Key) -> Option<Option<EntryKind>> {
    view.pins.get(key).map(|pin| match pin {
        Pin::Nothing => None,
        Pin::Folder => Some(EntryKind::Folder),
        Pin::File(..) => Some(EntryKind::File),
    })
}

/// The entries of a folder in the view. `listed` is the store's current listing.
pub(super) fn list_in(
    view: &StoreView,
    folder: &Key,
    listed: io::Result<Vec<Entry>>,
) -> io::Result<Vec<Entry>> {
    let listed = match (kind_in(view, folder), listed) {
        (Some(None), _) => return Err(not_found(folder)),
        (Some(Some(EntryKind::Folder)), Err(error)) if error.kind() == io::ErrorKind::NotFound => {
            Vec::new()
        }
        (_, listed) => listed?,
    };
    let inside = view.pins.keys().filter_map(|key| {
        let (home, name) = key.split()?;
        (home == *folder).then(|| (OsString::from(name), kind_in(view, key).flatten()))
    });
    Ok(with_changes(listed, inside.collect()))
}

/// Opens a file in the view. `opened` is the file that the store has now.
pub(super) fn open_in(
    view: &StoreView,
    (following, key): (&Arc<Following>, &Key),
    opened: io::Result<Box<dyn ReadAt>>,
) -> io::Result<Box<dyn ReadAt>> {
    let (base, len): (Box<dyn ReadAt>, u64) = match (view.pins.get(key), opened) {
        (Some(Pin::Nothing), _) => return Err(not_found(key)),
        (Some(Pin::Folder), _) => return Err(invalid(key, NOT_A_FILE)),
        // All of the file is pinned.
        (Some(Pin::File(len, _)), Err(error)) if error.kind() == io::ErrorKind::NotFound => {
            (Box::new(Vec::new()), *len)
        }
        (Some(Pin::File(len, _)), opened) => (opened?, *len),
        (None, opened) => {
            let base = opened?;
            let len = base.size()?;
            (base, len)
        }
    };
    Ok(Box::new(Followed {
        following: Arc::clone(following),
        key: key.clone(),
        base,
        len,
    }))
}

/// A file of a store that is followed.
struct Followed {
    following: Arc<Following>,
    key: Key,
    base: Box<dyn ReadAt>,
    len: u64,
}

impl ReadAt for Followed {
    fn read_at(&self, at: u64, buf: &mut [u8]) -> io::Result<usize> {
        let file = (&*self.base, Some(self.len));
        self.following
            .look(|view| view.read_at(&self.key, file, (at, buf)))
    }

    fn size(&self) -> io::Result<u64> {
        Ok(self.len)
    }
}
