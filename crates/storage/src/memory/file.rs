//! [`MemoryFile`]: an open file in memory.

use super::lock::{MemoryGuard, MemoryLock};
use crate::convert::to_usize;
use crate::error::bug;
use crate::mutex::locked;
use crate::{Access, Lock, LockMode, ReadAt, WriteAt};
use std::io;
use std::sync::{Arc, Mutex, MutexGuard};

/// An open file of a [`Memory`](crate::Memory). It keeps its bytes after it is removed or replaced.
#[derive(Debug)]
pub struct MemoryFile {
    pub(super) node: Arc<FileNode>,
    access: Access,
    /// The lock of this handle.
    guard: Mutex<Option<MemoryGuard>>,
}

#[derive(Debug)]
pub(super) struct FileNode {
    pub bytes: Mutex<Vec<u8>>,
    lock: Arc<MemoryLock>,
}

impl FileNode {
    pub(super) fn new(bytes: Vec<u8>) -> Arc<Self> {
        let (bytes, lock) = (Mutex::new(bytes), Arc::default());
        Arc::new(Self { bytes, lock })
    }
}

impl MemoryFile {
    pub(super) fn new(node: Arc<FileNode>, access: Access) -> Self {
        Self {
            node,
            access,
            guard: Mutex::new(None),
        }
    }

    fn for_writing(&self) -> io::Result<MutexGuard<'_, Vec<u8>>> {
        match self.access {
            Access::Write => Ok(locked(&self.node.bytes)),
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
}

/// Truncates bytes, or extends them with zeros if there is memory for that.
fn resize(bytes: &mut Vec<u8>, len: usize) -> io::Result<()> {
    // Nothing to reserve where it becomes shorter.
    let more = len.saturating_sub(bytes.len());
    bytes
        .try_reserve(more)
        .map_err(|_| io::ErrorKind::StorageFull)?;
    bytes.resize(len, 0);
    Ok(())
}
