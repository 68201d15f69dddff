//! [`Memory`]: a folder that is gone when the program ends.

use crate::convert::to_usize;
use crate::error::bug;
use crate::memory_lock::{MemoryGuard, MemoryLock};
use crate::mutex::locked;
use crate::{Access, Folder, Lock, LockMode, ReadAt, WriteAt};
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::io;
use std::sync::{Arc, Mutex, MutexGuard};

/// A folder in memory, for tests and for files that need not outlive the process. Clones share it.
///
/// ```
/// use bloscpack_storage::{Access, Folder, Memory, ReadAt};
/// let folder = Memory::from([("greeting", b"hello".to_vec())]);
/// assert_eq!(folder.open("greeting".as_ref(), Access::Read)?.size()?, 5);
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct Memory {
    files: Arc<Mutex<BTreeMap<OsString, Arc<Node>>>>,
}

/// An open file of a [`Memory`]. It keeps its bytes after it is removed or replaced.
#[derive(Debug)]
pub struct MemoryFile {
    node: Arc<Node>,
    access: Access,
    /// The lock of this handle.
    guard: Mutex<Option<MemoryGuard>>,
}

#[derive(Debug, Default)]
struct Node {
    bytes: Mutex<Vec<u8>>,
    lock: Arc<MemoryLock>,
}

impl Memory {
    /// An empty folder.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// A copy of the bytes of a file; `None` if there is no file of this name.
    #[must_use]
    pub fn bytes(&self, name: impl AsRef<OsStr>) -> Option<Vec<u8>> {
        let node = locked(&self.files).get(name.as_ref()).map(Arc::clone)?;
        let bytes = locked(&node.bytes).clone();
        Some(bytes)
    }

    fn node(&self, name: &OsStr) -> io::Result<Arc<Node>> {
        let node = locked(&self.files).get(name).map(Arc::clone);
        node.ok_or_else(|| io::ErrorKind::NotFound.into())
    }
}

impl<N: Into<OsString>, const COUNT: usize> From<[(N, Vec<u8>); COUNT]> for Memory {
    fn from(files: [(N, Vec<u8>); COUNT]) -> Self {
        files.into_iter().collect()
    }
}

impl<N: Into<OsString>> FromIterator<(N, Vec<u8>)> for Memory {
    fn from_iter<I: IntoIterator<Item = (N, Vec<u8>)>>(files: I) -> Self {
        let node = |bytes| Node {
            bytes: Mutex::new(bytes),
            ..Node::default()
        };
        let files = files.into_iter();
        let files = files.map(|(name, bytes)| (name.into(), Arc::new(node(bytes))));
        Self {
            files: Arc::new(Mutex::new(files.collect())),
        }
    }
}

impl Folder for Memory {
    type File = MemoryFile;

    fn open(&self, name: &OsStr, access: Access) -> io::Result<MemoryFile> {
        Ok(MemoryFile::new(self.node(name)?, access))
    }

    fn create(&self, name: &OsStr, _: Option<&MemoryFile>) -> io::Result<MemoryFile> {
        let mut files = locked(&self.files);
        if files.contains_key(name) {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        let node = Arc::new(Node::default());
        files.insert(name.to_owned(), Arc::clone(&node));
        Ok(MemoryFile::new(node, Access::Write))
    }

    fn replace(&self, from: &OsStr, to: &OsStr) -> io::Result<()> {
        let mut files = locked(&self.files);
        let node = files.remove(from).ok_or(io::ErrorKind::NotFound)?;
        files.insert(to.to_owned(), node);
        Ok(())
    }

    fn remove(&self, name: &OsStr) -> io::Result<()> {
        let removed = locked(&self.files).remove(name);
        removed
            .map(|_| ())
            .ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    fn list(&self) -> io::Result<Vec<OsString>> {
        Ok(locked(&self.files).keys().cloned().collect())
    }

    fn sync(&self) -> io::Result<()> {
        Ok(())
    }

    fn leads_to(&self, name: &OsStr, file: &MemoryFile) -> io::Result<bool> {
        let there = locked(&self.files).get(name).map(Arc::clone);
        Ok(there.is_some_and(|node| Arc::ptr_eq(&node, &file.node)))
    }
}

impl MemoryFile {
    fn new(node: Arc<Node>, access: Access) -> Self {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn readers_share_and_writers_do_not() {
        let folder = Memory::from([("a", Vec::new())]);
        let open = || folder.open("a".as_ref(), Access::Read).unwrap();
        let (one, two, three) = (open(), open(), open());
        assert!(one.try_lock(LockMode::Shared).unwrap() && two.try_lock(LockMode::Shared).unwrap());
        assert!(!three.try_lock(LockMode::Exclusive).unwrap());
        drop(one);
        two.unlock().unwrap();
        assert!(three.try_lock(LockMode::Exclusive).unwrap());
        assert!(!two.try_lock(LockMode::Shared).unwrap());
    }

    #[test]
    fn a_handle_replaces_its_own_lock() {
        let folder = Memory::from([("a", Vec::new())]);
        let open = || folder.open("a".as_ref(), Access::Read).unwrap();
        let (one, two) = (open(), open());
        assert!(one.try_lock(LockMode::Exclusive).unwrap());
        assert!(one.try_lock(LockMode::Shared).unwrap());
        assert!(two.try_lock(LockMode::Shared).unwrap());
        assert!(!one.try_lock(LockMode::Exclusive).unwrap());
    }

    #[test]
    fn a_length_that_no_memory_has_is_an_error() {
        let file = Memory::new().create("a".as_ref(), None).unwrap();
        for len in [1 << 50, 1 << 62, u64::MAX] {
            assert!(file.set_len(len).is_err());
            assert!(file.write_at(len - 1, b"!").is_err());
        }
        assert_eq!(file.size().unwrap(), 0);
    }

    #[test]
    fn an_open_file_outlives_its_name() {
        let folder = Memory::from([("a", b"old".to_vec()), ("b", b"new".to_vec())]);
        let old = folder.open("a".as_ref(), Access::Read).unwrap();
        folder.replace("b".as_ref(), "a".as_ref()).unwrap();
        let mut bytes = [0; 3];
        old.read_exact_at(0, &mut bytes).unwrap();
        assert_eq!(&bytes, b"old");
        assert!(!folder.leads_to("a".as_ref(), &old).unwrap());
        assert_eq!(folder.list().unwrap(), ["a"]);
    }
}
