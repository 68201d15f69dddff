//! [`Counted`]: a source or a store that counts how it is read.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use bloscpack::storage::{Entry, EntryKind, Key, LockMode, Memory, ReadAt, Store, StoreLock};
use std::io;
use std::sync::{Arc, Mutex};
use std::thread::{self, ThreadId};

/// The calls that a source or a store has received.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Reads {
    /// Calls of `read_at` and of `read_ranges`.
    pub calls: u64,
    /// Ranges that were asked for: several of them may be in one call of `read_ranges`.
    pub ranges: u64,
    /// Bytes that they returned.
    pub bytes: u64,
    /// Calls of the thread that asks for these figures. They come one after the other.
    pub own: u64,
    /// Files that were opened, folders that were listed, and entries whose kind was asked for.
    pub opens: u64,
}

#[derive(Debug)]
struct Log {
    reads: Mutex<Reads>,
    owner: ThreadId,
}

impl Log {
    fn add(&self, change: impl FnOnce(&mut Reads)) {
        change(&mut self.reads.lock().unwrap());
    }

    fn read(&self, ranges: usize, bytes: usize) {
        let own = u64::from(thread::current().id() == self.owner);
        self.add(|reads| {
            reads.calls += 1;
            reads.ranges += ranges as u64;
            reads.own += own;
            reads.bytes += bytes as u64;
        });
    }
}

/// Passes everything on, and counts it. Clones count together.
#[derive(Debug, Clone)]
pub struct Counted<S> {
    inner: S,
    log: Arc<Log>,
}

impl<S> Counted<S> {
    pub fn new(inner: S) -> Self {
        let log = Log {
            reads: Mutex::default(),
            owner: thread::current().id(),
        };
        Self {
            inner,
            log: log.into(),
        }
    }

    /// The figures since the last call.
    pub fn take(&self) -> Reads {
        std::mem::take(&mut self.log.reads.lock().unwrap())
    }
}

impl<S: ReadAt> ReadAt for Counted<S> {
    fn read_at(&self, at: u64, buf: &mut [u8]) -> io::Result<usize> {
        let len = self.inner.read_at(at, buf)?;
        self.log.read(1, len);
        Ok(len)
    }

    fn read_ranges(&self, ranges: &mut [(u64, &mut [u8])]) -> io::Result<()> {
        self.inner.read_ranges(ranges)?;
        let bytes = ranges.iter().map(|(_, buf)| buf.len()).sum();
        self.log.read(ranges.len(), bytes);
        Ok(())
    }

    fn size(&self) -> io::Result<u64> {
        self.inner.size()
    }
}

impl Store for Counted<Memory> {
    fn open(&self, key: &Key) -> io::Result<Box<dyn ReadAt>> {
        self.log.add(|reads| reads.opens += 1);
        let inner = Store::open(&self.inner, key)?;
        let log = Arc::clone(&self.log);
        Ok(Box::new(Counted { inner, log }))
    }

    fn list(&self, folder: &Key) -> io::Result<Vec<Entry>> {
        self.log.add(|reads| reads.opens += 1);
        Store::list(&self.inner, folder)
    }

    fn kind(&self, key: &Key) -> io::Result<Option<EntryKind>> {
        self.log.add(|reads| reads.opens += 1);
        self.inner.kind(key)
    }

    fn create(&self, key: &Key, bytes: &[u8]) -> io::Result<()> {
        Store::create(&self.inner, key, bytes)
    }

    fn patch(&self, key: &Key, at: u64, bytes: &[u8]) -> io::Result<()> {
        self.inner.patch(key, at, bytes)
    }

    fn rename(&self, from: &Key, to: &Key) -> io::Result<()> {
        self.inner.rename(from, to)
    }

    fn remove(&self, key: &Key) -> io::Result<()> {
        Store::remove(&self.inner, key)
    }

    fn make_folder(&self, key: &Key) -> io::Result<()> {
        self.inner.make_folder(key)
    }

    fn remove_folder(&self, key: &Key) -> io::Result<()> {
        self.inner.remove_folder(key)
    }

    fn sync(&self, key: &Key) -> io::Result<()> {
        Store::sync(&self.inner, key)
    }

    fn try_lock(&self, folder: &Key, mode: LockMode) -> io::Result<Option<Box<dyn StoreLock>>> {
        Store::try_lock(&self.inner, folder, mode)
    }
}
