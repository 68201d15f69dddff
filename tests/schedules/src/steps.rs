//! [`Steps`]: files in memory, where each operation is a step of a process that may be killed.

use shuttle::sync::atomic::AtomicUsize;
use shuttle::thread;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::io::{self, Result};
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::Ordering::SeqCst;
use storage::{
    Access, Entry, EntryKind, FileStatus, Folder, Key, Lock, LockMode, Memory, MemoryFile,
    Presence, ReadAt, Store, StoreHandle, StoreLock, WriteAt,
};

/// A process, which is killed before one of its operations.
pub struct Process {
    left: AtomicUsize,
}

impl Process {
    pub fn with_steps(steps: usize) -> Arc<Self> {
        let left = AtomicUsize::new(steps);
        Arc::new(Self { left })
    }

    pub fn immortal() -> Arc<Self> {
        Self::with_steps(usize::MAX)
    }

    pub fn is_killed(&self) -> bool {
        self.left.load(SeqCst) == 0
    }

    /// Another thread may continue here.
    fn step(&self) -> Result<()> {
        let left = self.left.load(SeqCst);
        if left == 0 {
            return Err(io::Error::other("killed"));
        }
        if left != usize::MAX {
            self.left.store(left - 1, SeqCst);
        }
        Ok(())
    }

    /// Lets others continue if they are waited for.
    fn wait_unless(&self, is_done: bool) {
        if !is_done {
            thread::yield_now();
        }
    }
}

/// Files in memory as a process has them.
#[derive(Clone)]
pub struct Steps {
    memory: Memory,
    process: Arc<Process>,
}

/// An open file or folder as a process has it.
pub struct Opened<T> {
    file: T,
    process: Arc<Process>,
}

impl Steps {
    pub fn new(memory: &Memory, process: &Arc<Process>) -> Self {
        Self {
            memory: memory.clone(),
            process: Arc::clone(process),
        }
    }

    fn opened<T>(&self, file: T) -> Opened<T> {
        let process = Arc::clone(&self.process);
        Opened { file, process }
    }
}

impl fmt::Debug for Steps {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Steps")
    }
}

impl<T: ReadAt> ReadAt for Opened<T> {
    fn read_at(&self, at: u64, buf: &mut [u8]) -> Result<usize> {
        self.process.step()?;
        self.file.read_at(at, buf)
    }

    fn size(&self) -> Result<u64> {
        self.process.step()?;
        self.file.size()
    }
}

impl<T: WriteAt> WriteAt for Opened<T> {
    fn write_at(&self, at: u64, bytes: &[u8]) -> Result<usize> {
        self.process.step()?;
        self.file.write_at(at, bytes)
    }

    fn set_len(&self, len: u64) -> Result<()> {
        self.process.step()?;
        self.file.set_len(len)
    }

    fn sync(&self) -> Result<()> {
        self.process.step()
    }
}

impl<T: Lock> Lock for Opened<T> {
    fn try_lock(&self, mode: LockMode) -> Result<bool> {
        self.process.step()?;
        let is_locked = self.file.try_lock(mode)?;
        self.process.wait_unless(is_locked);
        Ok(is_locked)
    }

    fn unlock(&self) -> Result<()> {
        self.process.step()?;
        self.file.unlock()?;
        self.process.wait_unless(false);
        Ok(())
    }

    fn presence(&self) -> Option<&dyn Presence> {
        Some(self)
    }
}

impl<T: Lock> Opened<T> {
    fn inner(&self) -> Result<&dyn Presence> {
        self.process.step()?;
        self.file
            .presence()
            .ok_or(io::ErrorKind::Unsupported.into())
    }
}

impl<T: Lock> Presence for Opened<T> {
    fn announce(&self, slot: u64) -> Result<bool> {
        self.inner()?.announce(slot)
    }

    fn withdraw(&self, slot: u64) -> Result<()> {
        self.inner()?.withdraw(slot)
    }

    fn announced(&self, slots: Range<u64>) -> Result<Option<u64>> {
        let found = self.inner()?.announced(slots)?;
        // The caller may be waiting for another one to come, to go on, or to go.
        thread::yield_now();
        Ok(found)
    }

    fn status(&self) -> Result<FileStatus> {
        self.inner()?.status()
    }
}

impl Folder for Steps {
    type File = Opened<MemoryFile>;

    fn open(&self, name: &OsStr, access: Access) -> Result<Self::File> {
        self.process.step()?;
        Ok(self.opened(Folder::open(&self.memory, name, access)?))
    }

    fn create(&self, name: &OsStr, _: Option<&Self::File>) -> Result<Self::File> {
        self.process.step()?;
        Ok(self.opened(Folder::create(&self.memory, name, None)?))
    }

    fn replace(&self, from: &OsStr, to: &OsStr) -> Result<()> {
        self.process.step()?;
        self.memory.replace(from, to)
    }

    fn remove(&self, name: &OsStr) -> Result<()> {
        self.process.step()?;
        Folder::remove(&self.memory, name)
    }

    fn list(&self) -> Result<Vec<OsString>> {
        self.process.step()?;
        Folder::list(&self.memory)
    }

    fn sync(&self) -> Result<()> {
        self.process.step()
    }

    fn leads_to(&self, name: &OsStr, file: &Self::File) -> Result<bool> {
        self.process.step()?;
        self.memory.leads_to(name, &file.file)
    }
}

impl Store for Steps {
    fn open(&self, key: &Key) -> Result<Box<dyn ReadAt>> {
        self.process.step()?;
        Ok(Box::new(self.opened(Store::open(&self.memory, key)?)))
    }

    fn handle(&self, key: &Key, access: Access) -> Result<Option<Arc<dyn StoreHandle>>> {
        self.process.step()?;
        let handle = self.memory.handle(key, access)?;
        Ok(handle.map(|handle| Arc::new(self.opened(handle)) as Arc<dyn StoreHandle>))
    }

    fn list(&self, folder: &Key) -> Result<Vec<Entry>> {
        self.process.step()?;
        Store::list(&self.memory, folder)
    }

    fn kind(&self, key: &Key) -> Result<Option<EntryKind>> {
        self.process.step()?;
        self.memory.kind(key)
    }

    fn create(&self, key: &Key, bytes: &[u8]) -> Result<()> {
        self.process.step()?;
        Store::create(&self.memory, key, bytes)
    }

    fn patch(&self, key: &Key, at: u64, bytes: &[u8]) -> Result<()> {
        self.process.step()?;
        self.memory.patch(key, at, bytes)
    }

    fn rename(&self, from: &Key, to: &Key) -> Result<()> {
        self.process.step()?;
        self.memory.rename(from, to)
    }

    fn remove(&self, key: &Key) -> Result<()> {
        self.process.step()?;
        Store::remove(&self.memory, key)
    }

    fn make_folder(&self, key: &Key) -> Result<()> {
        self.process.step()?;
        self.memory.make_folder(key)
    }

    fn remove_folder(&self, key: &Key) -> Result<()> {
        self.process.step()?;
        self.memory.remove_folder(key)
    }

    /// Threads of the crate itself do this, which the tool does not know.
    fn sync(&self, _: &Key) -> Result<()> {
        Ok(())
    }

    fn try_lock(&self, folder: &Key, mode: LockMode) -> Result<Option<Box<dyn StoreLock>>> {
        self.process.step()?;
        let guard = self.memory.try_lock(folder, mode)?;
        self.process.wait_unless(guard.is_some());
        Ok(guard)
    }
}
