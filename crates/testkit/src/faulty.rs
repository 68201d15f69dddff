//! [`Faulty`]: a folder whose N-th operation fails.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use bloscpack::storage::{
    Access, Folder, Lock, LockMode, Memory, MemoryFile, Presence, ReadAt, WriteAt,
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
    /// A single byte is read or written.
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
}

impl Faulty {
    /// This folder with faults.
    pub fn new(memory: Memory, plan: Plan) -> Self {
        let (calls, faults) = (AtomicUsize::new(0), AtomicUsize::new(0));
        Self {
            memory,
            switch: Arc::new(Switch {
                plan,
                calls,
                faults,
            }),
        }
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
        self.pass(|| self.memory.open(name, access))
            .map(|file| self.file(file))
    }

    fn create(&self, name: &OsStr, like: Option<&FaultyFile>) -> io::Result<FaultyFile> {
        let like = like.map(|like| &like.file);
        self.pass(|| self.memory.create(name, like))
            .map(|file| self.file(file))
    }

    fn replace(&self, from: &OsStr, to: &OsStr) -> io::Result<()> {
        self.pass(|| self.memory.replace(from, to))
    }

    fn remove(&self, name: &OsStr) -> io::Result<()> {
        self.pass(|| self.memory.remove(name))
    }

    fn list(&self) -> io::Result<Vec<OsString>> {
        self.pass(|| self.memory.list())
    }

    fn sync(&self) -> io::Result<()> {
        self.switch.pass(Call::Sync, || self.memory.sync())
    }

    fn leads_to(&self, name: &OsStr, file: &FaultyFile) -> io::Result<bool> {
        self.pass(|| self.memory.leads_to(name, &file.file))
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
        match self.switch.plan.fault {
            Fault::Short => {
                let few = self.switch.comes(Call::Write).is_some();
                let len = if few { bytes.len().min(1) } else { bytes.len() };
                self.file.write_at(at, &bytes[..len])
            }
            Fault::ErrorHalfway(code) if self.switch.comes(Call::Write).is_some() => {
                self.file.write_at(at, &bytes[..bytes.len() / 2])?;
                Err(io::Error::from_raw_os_error(code))
            }
            Fault::ErrorHalfway(_) => self.file.write_at(at, bytes),
            _ => self
                .switch
                .pass(Call::Write, || self.file.write_at(at, bytes)),
        }
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
