//! [`FaultyStore`]: a store whose N-th operation fails.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use bloscpack::storage::{Entry, EntryKind, Guard, Key, LockMode, Object, ReadAt, Store};
use std::fmt::Debug;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// How an operation fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// Nothing is done.
    Error,
    /// It is done all the same.
    ErrorAfter,
    /// Half of the bytes are written; anything else fails at once.
    ErrorHalfway,
    /// Only syncs fail.
    Sync,
    /// Another process holds the folder.
    Busy,
}

/// A call on a store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Call {
    Sync,
    Lock,
    Other,
}

impl Fault {
    fn concerns(self, call: Call) -> bool {
        match self {
            Self::Error | Self::ErrorAfter | Self::ErrorHalfway => true,
            Self::Sync => call == Call::Sync,
            Self::Busy => call == Call::Lock,
        }
    }
}

/// The operations from `first` on, counted from 0 among those that it concerns, have the fault: one of them, or all.
#[derive(Debug, Clone, Copy)]
pub struct Plan {
    pub fault: Fault,
    pub first: usize,
    pub lasting: bool,
}

#[derive(Debug)]
struct Switch {
    plan: Plan,
    calls: AtomicUsize,
    faults: AtomicUsize,
}

/// A store with a [`Plan`]. Clones share both.
#[derive(Debug, Clone)]
pub struct FaultyStore {
    store: Arc<dyn Store>,
    switch: Arc<Switch>,
}

impl Switch {
    fn comes(&self, call: Call) -> Option<Fault> {
        let Plan {
            fault,
            first,
            lasting,
        } = self.plan;
        if !fault.concerns(call) {
            return None;
        }
        let number = self.calls.fetch_add(1, Ordering::Relaxed);
        let comes = number == first || (lasting && number > first);
        self.faults.fetch_add(usize::from(comes), Ordering::Relaxed);
        comes.then_some(fault)
    }

    fn pass<T>(&self, call: Call, act: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
        match self.comes(call) {
            Some(Fault::ErrorAfter) => act().and_then(|_| Err(broken())),
            Some(Fault::Error | Fault::ErrorHalfway | Fault::Sync) => Err(broken()),
            Some(Fault::Busy) | None => act(),
        }
    }
}

fn broken() -> io::Error {
    io::Error::new(io::ErrorKind::StorageFull, "broken for a test")
}

impl FaultyStore {
    pub fn new(store: Arc<dyn Store>, plan: Plan) -> Self {
        let (calls, faults) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let switch = Switch {
            plan,
            calls,
            faults,
        };
        Self {
            store,
            switch: Arc::new(switch),
        }
    }

    /// How many faults came.
    pub fn faults(&self) -> usize {
        self.switch.faults.load(Ordering::Relaxed)
    }

    fn other<T>(&self, act: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
        self.switch.pass(Call::Other, act)
    }
}

struct FaultyObject {
    object: Box<dyn Object>,
    switch: Arc<Switch>,
}

impl ReadAt for FaultyObject {
    fn read_at(&self, at: u64, buf: &mut [u8]) -> io::Result<usize> {
        self.switch
            .pass(Call::Other, || self.object.read_at(at, buf))
    }

    fn size(&self) -> io::Result<u64> {
        self.switch.pass(Call::Other, || self.object.size())
    }
}

impl Store for FaultyStore {
    fn open(&self, key: &Key) -> io::Result<Box<dyn Object>> {
        let object = self.other(|| self.store.open(key))?;
        let switch = Arc::clone(&self.switch);
        Ok(Box::new(FaultyObject { object, switch }))
    }

    fn list(&self, folder: &Key) -> io::Result<Vec<Entry>> {
        self.other(|| self.store.list(folder))
    }

    fn kind(&self, key: &Key) -> io::Result<Option<EntryKind>> {
        self.other(|| self.store.kind(key))
    }

    fn create(&self, key: &Key, bytes: &[u8]) -> io::Result<()> {
        match self.switch.comes(Call::Other) {
            Some(Fault::ErrorHalfway) => {
                self.store.create(key, &bytes[..bytes.len() / 2])?;
                Err(broken())
            }
            Some(Fault::ErrorAfter) => self.store.create(key, bytes).and(Err(broken())),
            Some(_) => Err(broken()),
            None => self.store.create(key, bytes),
        }
    }

    fn patch(&self, key: &Key, at: u64, bytes: &[u8]) -> io::Result<()> {
        match self.switch.comes(Call::Other) {
            Some(Fault::ErrorHalfway) => {
                self.store.patch(key, at, &bytes[..bytes.len() / 2])?;
                Err(broken())
            }
            Some(Fault::ErrorAfter) => self.store.patch(key, at, bytes).and(Err(broken())),
            Some(_) => Err(broken()),
            None => self.store.patch(key, at, bytes),
        }
    }

    fn rename(&self, from: &Key, to: &Key) -> io::Result<()> {
        self.other(|| self.store.rename(from, to))
    }

    fn remove(&self, key: &Key) -> io::Result<()> {
        self.other(|| self.store.remove(key))
    }

    fn make_folder(&self, key: &Key) -> io::Result<()> {
        self.other(|| self.store.make_folder(key))
    }

    fn remove_folder(&self, key: &Key) -> io::Result<()> {
        self.other(|| self.store.remove_folder(key))
    }

    fn sync(&self, key: &Key) -> io::Result<()> {
        self.switch.pass(Call::Sync, || self.store.sync(key))
    }

    fn try_lock(&self, folder: &Key, hold: LockMode) -> io::Result<Option<Box<dyn Guard>>> {
        match self.switch.comes(Call::Lock) {
            Some(Fault::Busy) => Ok(None),
            Some(_) => Err(broken()),
            None => self.store.try_lock(folder, hold),
        }
    }
}
