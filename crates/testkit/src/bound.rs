//! [`Bound`]: a folder as on Windows, where locks bind every handle, and nobody announces readers.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use bloscpack::storage::{Access, Folder, Lock, LockMode, Memory, MemoryFile, ReadAt, WriteAt};
use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

/// The locks of a file: the number of a handle, and how it has locked the file. A handle may have both.
type Locks = Arc<Mutex<Vec<(usize, LockMode)>>>;

/// A folder in memory with mandatory locks: while a file is locked for writing, only the holder of the lock can read it; while
/// a file is locked for reading, no one can write it. Clones share it.
#[derive(Debug, Clone)]
pub struct Bound {
    memory: Memory,
    locks: Arc<Mutex<HashMap<OsString, Locks>>>,
}

#[derive(Debug)]
pub struct BoundFile {
    file: MemoryFile,
    number: usize,
    locks: Locks,
}

impl Bound {
    /// This folder with such locks.
    pub fn new(memory: Memory) -> Self {
        let locks = Arc::default();
        Self { memory, locks }
    }

    fn file(&self, name: &OsStr, file: MemoryFile) -> BoundFile {
        static NUMBERS: AtomicUsize = AtomicUsize::new(0);
        let mut locks = self.locks.lock().unwrap();
        BoundFile {
            file,
            number: NUMBERS.fetch_add(1, Ordering::Relaxed),
            locks: Arc::clone(locks.entry(name.to_owned()).or_default()),
        }
    }
}

impl Folder for Bound {
    type File = BoundFile;

    fn open(&self, name: &OsStr, access: Access) -> io::Result<BoundFile> {
        Ok(self.file(name, Folder::open(&self.memory, name, access)?))
    }

    fn create(&self, name: &OsStr, like: Option<&BoundFile>) -> io::Result<BoundFile> {
        let file = Folder::create(&self.memory, name, like.map(|like| &like.file))?;
        self.locks.lock().unwrap().remove(name);
        Ok(self.file(name, file))
    }

    fn replace(&self, from: &OsStr, to: &OsStr) -> io::Result<()> {
        self.memory.replace(from, to)?;
        let mut locks = self.locks.lock().unwrap();
        let moved = locks.remove(from).unwrap_or_default();
        locks.insert(to.to_owned(), moved);
        Ok(())
    }

    fn remove(&self, name: &OsStr) -> io::Result<()> {
        Folder::remove(&self.memory, name)
    }

    fn list(&self) -> io::Result<Vec<OsString>> {
        Folder::list(&self.memory)
    }

    fn sync(&self) -> io::Result<()> {
        Folder::sync(&self.memory)
    }

    fn leads_to(&self, name: &OsStr, file: &BoundFile) -> io::Result<bool> {
        self.memory.leads_to(name, &file.file)
    }
}

impl BoundFile {
    /// Refuses what one of the locks excludes.
    fn unless(&self, excludes: impl Fn(bool, LockMode) -> bool) -> io::Result<()> {
        let locks = self.locks.lock().unwrap();
        let mut locks = locks.iter().map(|(by, mode)| (*by == self.number, *mode));
        if locks.any(|(is_own, mode)| excludes(is_own, mode)) {
            Err(io::ErrorKind::ResourceBusy.into())
        } else {
            Ok(())
        }
    }

    fn check_write(&self) -> io::Result<()> {
        // A file that is locked for reading is not written, not even by the one that locked it.
        self.unless(|is_own, mode| !is_own || mode == LockMode::Shared)
    }
}

impl ReadAt for BoundFile {
    fn read_at(&self, at: u64, buf: &mut [u8]) -> io::Result<usize> {
        self.unless(|is_own, mode| !is_own && mode == LockMode::Exclusive)?;
        self.file.read_at(at, buf)
    }

    fn size(&self) -> io::Result<u64> {
        self.file.size()
    }
}

impl WriteAt for BoundFile {
    fn write_at(&self, at: u64, bytes: &[u8]) -> io::Result<usize> {
        self.check_write()?;
        self.file.write_at(at, bytes)
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.file.set_len(len)
    }

    fn sync(&self) -> io::Result<()> {
        self.file.sync()
    }
}

impl Lock for BoundFile {
    fn try_lock(&self, mode: LockMode) -> io::Result<bool> {
        let excluded = match mode {
            LockMode::Exclusive => self.unless(|_, _| true),
            LockMode::Shared => {
                self.unless(|is_own, other| !is_own && other == LockMode::Exclusive)
            }
        };
        if excluded.is_ok() {
            self.locks.lock().unwrap().push((self.number, mode));
        }
        Ok(excluded.is_ok())
    }

    fn unlock(&self) -> io::Result<()> {
        let mut locks = self.locks.lock().unwrap();
        let mut own = locks
            .iter()
            .enumerate()
            .filter(|(_, lock)| lock.0 == self.number);
        match own.next().map(|(at, _)| at) {
            Some(at) => drop(locks.remove(at)),
            // ERROR_NOT_LOCKED
            None => return Err(io::Error::from_raw_os_error(158)),
        }
        Ok(())
    }
}

impl Drop for BoundFile {
    fn drop(&mut self) {
        let mut locks = self.locks.lock().unwrap();
        locks.retain(|(by, _)| *by != self.number);
    }
}
