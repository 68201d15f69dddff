//! [`MemoryFile`]: an open file in memory.

use super::lock::{MemoryGuard, MemoryLock};
use crate::convert::{to_u64, to_usize};
use crate::error::bug;
use crate::mutex::locked;
use crate::{Access, FileStatus, Lock, LockMode, Presence, ReadAt, WriteAt};
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

/// An open file of a [`Memory`](crate::Memory). It keeps its bytes after it is removed or replaced.
///
/// Writing through a handle opened with [`Access::Read`] is
/// [`PermissionDenied`](io::ErrorKind::PermissionDenied). A length that cannot be allocated is
/// [`StorageFull`](io::ErrorKind::StorageFull) or [`FileTooLarge`](io::ErrorKind::FileTooLarge).
/// [`sync`](WriteAt::sync) does nothing.
#[derive(Debug)]
pub struct MemoryFile {
    pub(super) node: Arc<FileNode>,
    access: Access,
    /// The lock of this handle.
    guard: Mutex<Option<MemoryGuard>>,
    /// The slots in which this handle is announced.
    slots: Mutex<BTreeSet<u64>>,
}

#[derive(Debug)]
pub(super) struct FileNode {
    pub bytes: Mutex<Vec<u8>>,
    pub lock: Arc<MemoryLock>,
    /// How many handles are announced in each slot.
    announced: Mutex<BTreeMap<u64, usize>>,
    /// The number of writes: the file's stamp.
    writes: AtomicU64,
    pub has_name: AtomicBool,
}

impl FileNode {
    pub(super) fn new(bytes: Vec<u8>) -> Arc<Self> {
        Arc::new(Self {
            bytes: Mutex::new(bytes),
            lock: Arc::default(),
            announced: Mutex::default(),
            writes: AtomicU64::new(0),
            has_name: AtomicBool::new(true),
        })
    }

    /// Changes the stamp.
    pub(super) fn touch(&self) {
        self.writes.fetch_add(1, Ordering::SeqCst);
    }

    /// Withdraws one of the handles that are announced in a slot.
    fn withdraw(&self, slot: u64) {
        let mut announced = locked(&self.announced);
        match announced.get_mut(&slot) {
            Some(handles @ 2..) => *handles -= 1,
            _ => drop(announced.remove(&slot)),
        }
    }
}

impl MemoryFile {
    pub(super) fn new(node: Arc<FileNode>, access: Access) -> Self {
        Self {
            node,
            access,
            guard: Mutex::new(None),
            slots: Mutex::default(),
        }
    }

    fn for_writing(&self) -> io::Result<MutexGuard<'_, Vec<u8>>> {
        match self.access {
            Access::Write => {
                let bytes = locked(&self.node.bytes);
                self.node.touch();
                Ok(bytes)
            }
            Access::Read => Err(io::ErrorKind::PermissionDenied.into()),
        }
    }
}

impl ReadAt for MemoryFile {
    fn read_at(&self, at: u64, buf: &mut [u8]) -> io::Result<usize> {
        locked(&self.node.bytes).read_at(at, buf)
    }

    fn size(&self) -> io::Result<u64> {
        locked(&self.node.bytes).size()
    }
}

impl WriteAt for MemoryFile {
    fn write_at(&self, at: u64, bytes: &[u8]) -> io::Result<usize> {
        let mut all = self.for_writing()?;
        let from = to_usize(at).map_err(|_| io::ErrorKind::FileTooLarge)?;
        let end = from.checked_add(bytes.len());
        let end = end.ok_or(io::ErrorKind::FileTooLarge)?;
        if all.len() < end {
            resize(&mut all, end)?;
        }
        let place = all.get_mut(from..end);
        let place = place.ok_or_else(|| bug(format!("no bytes {from}..{end} after resizing")))?;
        place.copy_from_slice(bytes);
        Ok(bytes.len())
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        let len = to_usize(len).map_err(|_| io::ErrorKind::FileTooLarge)?;
        resize(&mut *self.for_writing()?, len)
    }

    fn sync(&self) -> io::Result<()> {
        Ok(())
    }
}

impl Lock for MemoryFile {
    fn try_lock(&self, mode: LockMode) -> io::Result<bool> {
        let mut guard = locked(&self.guard);
        *guard = None;
        *guard = self.node.lock.try_lock(mode);
        Ok(guard.is_some())
    }

    fn unlock(&self) -> io::Result<()> {
        *locked(&self.guard) = None;
        Ok(())
    }

    fn presence(&self) -> Option<&dyn Presence> {
        Some(self)
    }
}

impl Presence for MemoryFile {
    fn announce(&self, slot: u64) -> io::Result<bool> {
        if locked(&self.slots).insert(slot) {
            *locked(&self.node.announced).entry(slot).or_default() += 1;
        }
        Ok(true)
    }

    fn withdraw(&self, slot: u64) -> io::Result<()> {
        if locked(&self.slots).remove(&slot) {
            self.node.withdraw(slot);
        }
        Ok(())
    }

    fn announced(&self, slots: Range<u64>) -> io::Result<Option<u64>> {
        let own = locked(&self.slots);
        let announced = locked(&self.node.announced);
        let mut others = announced.range(slots);
        let other = others.find(|(slot, handles)| **handles > usize::from(own.contains(slot)));
        Ok(other.map(|(slot, _)| *slot))
    }

    fn status(&self) -> io::Result<FileStatus> {
        let node = Arc::as_ptr(&self.node);
        Ok(FileStatus {
            identity: u128::from(to_u64(node.addr())),
            stamp: self.node.writes.load(Ordering::SeqCst).into(),
            is_recent: false,
            len: self.size()?,
            has_name: self.node.has_name.load(Ordering::SeqCst),
            owner: 0,
        })
    }
}

impl Drop for MemoryFile {
    fn drop(&mut self) {
        for slot in &*locked(&self.slots) {
            self.node.withdraw(*slot);
        }
    }
}

/// Truncates bytes, or extends them with zeros if there is enough memory.
fn resize(bytes: &mut Vec<u8>, len: usize) -> io::Result<()> {
    // Reserves nothing if it becomes shorter.
    let more = len.saturating_sub(bytes.len());
    bytes
        .try_reserve(more)
        .map_err(|_| io::ErrorKind::StorageFull)?;
    bytes.resize(len, 0);
    Ok(())
}
