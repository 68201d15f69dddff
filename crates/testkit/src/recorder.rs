//! [`Recorder`]: a folder that remembers, in one order, all that was done to it and to its files.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use bloscpack::storage::{
    Access, Folder, Lock, LockMode, Memory, MemoryFile, Presence, ReadAt, WriteAt,
};
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::io;
use std::sync::{Arc, Mutex, MutexGuard};

/// One thing done that a disk has to remember. Files have numbers, since names change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Op {
    Write {
        file: usize,
        at: u64,
        bytes: Vec<u8>,
    },
    SetLen {
        file: usize,
        len: u64,
    },
    Sync {
        file: usize,
    },
    Create {
        file: usize,
        name: OsString,
    },
    Replace {
        file: usize,
        from: OsString,
        to: OsString,
    },
    Remove {
        name: OsString,
    },
    SyncFolder,
}

/// The initial content, safe on the disk, and the operations since. The initial files have the first numbers, ordered
/// by name.
#[derive(Debug, Clone)]
pub struct Log {
    pub before: Vec<(OsString, Vec<u8>)>,
    pub ops: Vec<Op>,
}

#[derive(Debug)]
struct Book {
    log: Log,
    names: BTreeMap<OsString, usize>,
    files: usize,
}

/// A folder in memory that keeps a [`Log`]. Clones share both.
#[derive(Debug, Clone)]
pub struct Recorder {
    memory: Memory,
    book: Arc<Mutex<Book>>,
}

#[derive(Debug)]
pub struct RecordedFile {
    file: MemoryFile,
    number: usize,
    book: Arc<Mutex<Book>>,
}

impl Recorder {
    /// A folder with these files.
    pub fn new(files: &[(OsString, Vec<u8>)]) -> Self {
        let mut before = files.to_vec();
        before.sort();
        let numbered = before.iter().enumerate();
        let names = numbered.map(|(number, (name, _))| (name.clone(), number));
        Self {
            memory: files.iter().cloned().collect(),
            book: Arc::new(Mutex::new(Book {
                names: names.collect(),
                files: before.len(),
                log: Log {
                    before,
                    ops: Vec::new(),
                },
            })),
        }
    }

    /// How much was done so far.
    pub fn done(&self) -> usize {
        locked(&self.book).log.ops.len()
    }

    /// All that was done so far.
    pub fn log(&self) -> Log {
        locked(&self.book).log.clone()
    }

    fn file(&self, file: MemoryFile, number: usize) -> RecordedFile {
        RecordedFile {
            file,
            number,
            book: Arc::clone(&self.book),
        }
    }
}

impl Folder for Recorder {
    type File = RecordedFile;

    fn open(&self, name: &OsStr, access: Access) -> io::Result<RecordedFile> {
        let book = locked(&self.book);
        let file = self.memory.open(name, access)?;
        Ok(self.file(file, book.names[name]))
    }

    fn create(&self, name: &OsStr, like: Option<&RecordedFile>) -> io::Result<RecordedFile> {
        let mut book = locked(&self.book);
        let file = self.memory.create(name, like.map(|like| &like.file))?;
        let number = book.files;
        book.files += 1;
        book.names.insert(name.to_owned(), number);
        book.log.ops.push(Op::Create {
            file: number,
            name: name.to_owned(),
        });
        Ok(self.file(file, number))
    }

    fn replace(&self, from: &OsStr, to: &OsStr) -> io::Result<()> {
        let mut book = locked(&self.book);
        self.memory.replace(from, to)?;
        let file = book.names.remove(from).unwrap();
        book.names.insert(to.to_owned(), file);
        let (from, to) = (from.to_owned(), to.to_owned());
        book.log.ops.push(Op::Replace { file, from, to });
        Ok(())
    }

    fn remove(&self, name: &OsStr) -> io::Result<()> {
        let mut book = locked(&self.book);
        self.memory.remove(name)?;
        book.names.remove(name);
        book.log.ops.push(Op::Remove {
            name: name.to_owned(),
        });
        Ok(())
    }

    fn list(&self) -> io::Result<Vec<OsString>> {
        self.memory.list()
    }

    fn sync(&self) -> io::Result<()> {
        locked(&self.book).log.ops.push(Op::SyncFolder);
        Ok(())
    }

    fn leads_to(&self, name: &OsStr, file: &RecordedFile) -> io::Result<bool> {
        self.memory.leads_to(name, &file.file)
    }
}

impl RecordedFile {
    fn record(&self, op: Op) {
        locked(&self.book).log.ops.push(op);
    }
}

impl ReadAt for RecordedFile {
    fn read_at(&self, at: u64, buf: &mut [u8]) -> io::Result<usize> {
        self.file.read_at(at, buf)
    }

    fn size(&self) -> io::Result<u64> {
        self.file.size()
    }
}

impl WriteAt for RecordedFile {
    fn write_at(&self, at: u64, bytes: &[u8]) -> io::Result<usize> {
        let len = self.file.write_at(at, bytes)?;
        let (file, bytes) = (self.number, bytes[..len].to_vec());
        self.record(Op::Write { file, at, bytes });
        Ok(len)
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.file.set_len(len)?;
        self.record(Op::SetLen {
            file: self.number,
            len,
        });
        Ok(())
    }

    fn sync(&self) -> io::Result<()> {
        self.record(Op::Sync { file: self.number });
        Ok(())
    }
}

impl Lock for RecordedFile {
    fn try_lock(&self, hold: LockMode) -> io::Result<bool> {
        self.file.try_lock(hold)
    }

    fn unlock(&self) -> io::Result<()> {
        self.file.unlock()
    }

    fn presence(&self) -> Option<&dyn Presence> {
        self.file.presence()
    }
}

fn locked(book: &Arc<Mutex<Book>>) -> MutexGuard<'_, Book> {
    book.lock().unwrap()
}
