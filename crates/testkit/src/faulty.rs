//! [`Faulty`] and [`FaultyStore`]: a folder and a store whose N-th operation fails.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use bloscpack::storage::{
    Access, Entry, EntryKind, Folder, Key, Lock, LockMode, Memory, MemoryFile, Presence, ReadAt,
    Store, StoreLock, WriteAt,
};
use std::ffi::{OsStr, OsString};
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// How an operation fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// With this error of the system, and nothing is done.
    Error(i32),
    /// With this error, although it is done.
    ErrorAfter(i32),
    /// A write that puts half of its bytes down and then fails; anything else fails at once.
    ErrorHalfway(i32),
    /// A sync, with this error.
    Sync(i32),
    /// A signal comes first: reads, writes and locks, which their callers have to try again.
    Interrupted,
    /// A single byte of a file is read or written.
    Short,
    /// Another process holds the file.
    Busy,
}

pub const EIO: i32 = 5;
pub const ENOSPC: i32 = 28;

/// A call on a folder or a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Call {
    Read,
    Write,
    Sync,
    Lock,
    Other,
}

impl Fault {
    fn concerns(self, call: Call) -> bool {
        match self {
            Self::Error(_) | Self::ErrorAfter(_) | Self::ErrorHalfway(_) => true,
            Self::Sync(_) => call == Call::Sync,
            Self::Interrupted => matches!(call, Call::Read | Call::Write | Call::Lock),
            Self::Short => matches!(call, Call::Read | Call::Write),
            Self::Busy => call == Call::Lock,
        }
    }
}

/// The operations from `first` on, counted from 0 among those that it concerns, have the fault:
/// one of them, or all.
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

/// A folder in memory with a [`Plan`]. Clones share both.
#[derive(Debug, Clone)]
pub struct Faulty {
    memory: Memory,
    switch: Arc<Switch>,
}

#[derive(Debug)]
pub struct FaultyFile {
    file: MemoryFile,
    switch: Arc<Switch>,
}

impl Switch {
    fn new(plan: Plan) -> Arc<Self> {
        let (calls, faults) = (AtomicUsize::new(0), AtomicUsize::new(0));
        Arc::new(Self {
            plan,
            calls,
            faults,
        })
    }

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

    /// Does something, or fails.
    fn pass<T>(&self, call: Call, act: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
        match self.comes(call) {
            Some(Fault::Error(code) | Fault::ErrorHalfway(code) | Fault::Sync(code)) => {
                Err(io::Error::from_raw_os_error(code))
            }
            Some(Fault::ErrorAfter(code)) => {
                act()?;
                Err(io::Error::from_raw_os_error(code))
            }
            Some(Fault::Interrupted) => Err(io::ErrorKind::Interrupted.into()),
            Some(Fault::Short | Fault::Busy) | None => act(),
        }
    }

    /// Writes all of the bytes, some of them, or fails.
    fn write<T>(&self, bytes: &[u8], act: impl FnOnce(&[u8]) -> io::Result<T>) -> io::Result<T> {
        match self.plan.fault {
            Fault::Short if self.comes(Call::Write).is_some() => act(&bytes[..bytes.len().min(1)]),
            Fault::ErrorHalfway(code) if self.comes(Call::Write).is_some() => {
                act(&bytes[..bytes.len() / 2])?;
                Err(io::Error::from_raw_os_error(code))
            }
            Fault::Short | Fault::ErrorHalfway(_) => act(bytes),
            _ => self.pass(Call::Write, || act(bytes)),
        }
    }
}

impl Faulty {
    /// This folder with faults.
    pub fn new(memory: Memory, plan: Plan) -> Self {
        let switch = Switch::new(plan);
        Self { memory, switch }
    }

    /// The actual content.
    pub fn memory(&self) -> &Memory {
        &self.memory
    }

    /// How many faults there were so far.
    pub fn faults(&self) -> usize {
        self.switch.faults.load(Ordering::Relaxed)
    }

    fn file(&self, file: MemoryFile) -> FaultyFile {
        FaultyFile {
            file,
            switch: Arc::clone(&self.switch),
        }
    }

    fn pass<T>(&self, act: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
        self.switch.pass(Call::Other, act)
    }
}

impl Folder for Faulty {
    type File = FaultyFile;

    fn open(&self, name: &OsStr, access: Access) -> io::Result<FaultyFile> {
        self.pass(|| Folder::open(&self.memory, name, access))
            .map(|file| self.file(file))
    }

    fn create(&self, name: &OsStr, like: Option<&FaultyFile>) -> io::Result<FaultyFile> {
        let like = like.map(|like| &like.file);
        self.pass(|| Folder::create(&self.memory, name, like))
            .map(|file| self.file(file))
    }

    fn replace(&self, from: &OsStr, to: &OsStr) -> io::Result<()> {
        self.pass(|| Folder::replace(&self.memory, from, to))
    }

    fn remove(&self, name: &OsStr) -> io::Result<()> {
        self.pass(|| Folder::remove(&self.memory, name))
    }

    fn list(&self) -> io::Result<Vec<OsString>> {
        self.pass(|| Folder::list(&self.memory))
    }

    fn sync(&self) -> io::Result<()> {
        self.switch.pass(Call::Sync, || Folder::sync(&self.memory))
    }

    fn leads_to(&self, name: &OsStr, file: &FaultyFile) -> io::Result<bool> {
        self.pass(|| Folder::leads_to(&self.memory, name, &file.file))
    }
}

impl ReadAt for FaultyFile {
    fn read_at(&self, at: u64, buf: &mut [u8]) -> io::Result<usize> {
        if self.switch.plan.fault != Fault::Short {
            return self.switch.pass(Call::Read, || self.file.read_at(at, buf));
        }
        let few = self.switch.comes(Call::Read).is_some();
        let len = if few { buf.len().min(1) } else { buf.len() };
        self.file.read_at(at, &mut buf[..len])
    }

    fn size(&self) -> io::Result<u64> {
        self.switch.pass(Call::Other, || self.file.size())
    }
}

impl WriteAt for FaultyFile {
    fn write_at(&self, at: u64, bytes: &[u8]) -> io::Result<usize> {
        self.switch
            .write(bytes, |bytes| self.file.write_at(at, bytes))
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.switch.pass(Call::Other, || self.file.set_len(len))
    }

    fn sync(&self) -> io::Result<()> {
        self.switch.pass(Call::Sync, || self.file.sync())
    }
}

impl Lock for FaultyFile {
    fn try_lock(&self, hold: LockMode) -> io::Result<bool> {
        if self.switch.plan.fault == Fault::Busy {
            return Ok(self.switch.comes(Call::Lock).is_none() && self.file.try_lock(hold)?);
        }
        self.switch.pass(Call::Lock, || self.file.try_lock(hold))
    }

    fn unlock(&self) -> io::Result<()> {
        self.switch.pass(Call::Other, || self.file.unlock())
    }

    fn presence(&self) -> Option<&dyn Presence> {
        self.file.presence()
    }
}

/// A store with a [`Plan`]. Clones share both.
#[derive(Debug, Clone)]
pub struct FaultyStore {
    store: Arc<dyn Store>,
    switch: Arc<Switch>,
}

impl FaultyStore {
    pub fn new(store: Arc<dyn Store>, plan: Plan) -> Self {
        let switch = Switch::new(plan);
        Self { store, switch }
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
    object: Box<dyn ReadAt>,
    switch: Arc<Switch>,
}

impl ReadAt for FaultyObject {
    fn read_at(&self, at: u64, buf: &mut [u8]) -> io::Result<usize> {
        self.switch
            .pass(Call::Read, || self.object.read_at(at, buf))
    }

    fn size(&self) -> io::Result<u64> {
        self.switch.pass(Call::Other, || self.object.size())
    }
}

impl Store for FaultyStore {
    fn open(&self, key: &Key) -> io::Result<Box<dyn ReadAt>> {
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
        self.switch
            .write(bytes, |bytes| self.store.create(key, bytes))
    }

    fn patch(&self, key: &Key, at: u64, bytes: &[u8]) -> io::Result<()> {
        self.switch
            .write(bytes, |bytes| self.store.patch(key, at, bytes))
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

    fn try_lock(&self, folder: &Key, hold: LockMode) -> io::Result<Option<Box<dyn StoreLock>>> {
        match self.switch.plan.fault {
            Fault::Busy if self.switch.comes(Call::Lock).is_some() => Ok(None),
            Fault::Busy => self.store.try_lock(folder, hold),
            _ => self
                .switch
                .pass(Call::Lock, || self.store.try_lock(folder, hold)),
        }
    }
}
