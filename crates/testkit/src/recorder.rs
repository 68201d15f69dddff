//! [`Recorder`] and [`TreeRecorder`]: a folder and a store that remember, in one order, all that was done to them.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    reason = "a test fails by panicking"
)]

use bloscpack::storage::{
    Access, Entry, EntryKind, Folder, Key, Lock, LockMode, Memory, MemoryFile, Presence, ReadAt,
    Store, StoreLock, WriteAt,
};
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::io;
use std::ops::Deref;
use std::sync::{Arc, Mutex, MutexGuard};

/// The file or folder that a name refers to. Files and folders have numbers, since names change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Node {
    File(usize),
    Folder(usize),
}

/// Files, and folders with names in them. The first folder is the root.
#[derive(Debug, Clone)]
pub struct Disk {
    pub files: Vec<Vec<u8>>,
    pub folders: Vec<BTreeMap<String, Node>>,
}

/// One thing done that a disk has to remember.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Op {
    Write {
        file: usize,
        at: usize,
        bytes: Vec<u8>,
    },
    SetLen {
        file: usize,
        len: usize,
    },
    Sync {
        file: usize,
    },
    SyncFolder {
        folder: usize,
    },
    /// A name refers to a new entry.
    Create {
        folder: usize,
        name: String,
        node: Node,
    },
    Rename {
        file: usize,
        from: (usize, String),
        to: (usize, String),
    },
    Remove {
        folder: usize,
        name: String,
    },
}

/// The initial content, safe on the disk, and the operations since.
#[derive(Debug, Clone)]
pub struct Log {
    pub before: Disk,
    pub ops: Vec<Op>,
}

/// Files by name.
pub type Files = Vec<(OsString, Vec<u8>)>;

fn text(name: &OsStr) -> String {
    name.to_str().unwrap().to_owned()
}

/// The content of a store: the bytes of files, and `None` for folders.
pub type Found = BTreeMap<String, Option<Vec<u8>>>;

impl Disk {
    pub fn new() -> Self {
        Self {
            files: Vec::new(),
            folders: vec![BTreeMap::new()],
        }
    }

    /// These files and folders.
    pub fn of(found: &Found) -> Self {
        let recorder = TreeRecorder::new(Self::new());
        for (key, bytes) in found {
            let key = Key::parse(key).unwrap();
            match bytes {
                Some(bytes) => recorder.create(&key, bytes).unwrap(),
                None => recorder.make_folder(&key).unwrap(),
            }
        }
        recorder.disk()
    }

    /// These files in the root.
    pub fn of_files(files: &[(OsString, Vec<u8>)]) -> Self {
        let mut files = files.to_vec();
        files.sort();
        let mut disk = Self::new();
        for (number, (name, bytes)) in files.into_iter().enumerate() {
            disk.folders[0].insert(text(&name), Node::File(number));
            disk.files.push(bytes);
        }
        disk
    }

    /// The files in the root.
    pub fn to_files(&self) -> Files {
        let nodes = self.folders[0].iter();
        nodes
            .filter_map(|(name, node)| match node {
                Node::File(file) => Some((name.into(), self.files[*file].clone())),
                Node::Folder(_) => None,
            })
            .collect()
    }

    /// Whatever can be reached from the root.
    pub fn found(&self) -> Found {
        let mut found = Found::new();
        self.gather(0, "", &mut found);
        found
    }

    fn gather(&self, folder: usize, way: &str, found: &mut Found) {
        for (name, node) in &self.folders[folder] {
            let key = format!("{way}{name}");
            match node {
                Node::File(file) => {
                    found.insert(key, Some(self.files[*file].clone()));
                }
                Node::Folder(folder) => {
                    self.gather(*folder, &format!("{key}/"), found);
                    found.insert(key, None);
                }
            }
        }
    }

    pub fn write(&mut self, file: usize, at: usize, bytes: &[u8]) {
        let file = &mut self.files[file];
        file.resize(file.len().max(at + bytes.len()), 0);
        file[at..][..bytes.len()].copy_from_slice(bytes);
    }

    fn folder(&self, key: &Key) -> io::Result<usize> {
        let mut here = 0;
        for name in key.names() {
            here = match self.folders[here].get(name) {
                Some(Node::Folder(folder)) => *folder,
                Some(Node::File(_)) => return Err(io::ErrorKind::InvalidInput.into()),
                None => return Err(io::ErrorKind::NotFound.into()),
            };
        }
        Ok(here)
    }

    /// The folder that contains a key, the key's name there, and the entry with that name.
    fn place(&self, key: &Key) -> io::Result<(usize, String, Option<Node>)> {
        let (folder, name) = key.split().ok_or(io::ErrorKind::InvalidInput)?;
        let folder = self.folder(&folder)?;
        let node = self.folders[folder].get(name).copied();
        Ok((folder, name.to_owned(), node))
    }

    fn file(&self, key: &Key) -> io::Result<usize> {
        match self.place(key)?.2 {
            Some(Node::File(file)) => Ok(file),
            Some(Node::Folder(_)) => Err(io::ErrorKind::InvalidInput.into()),
            None => Err(io::ErrorKind::NotFound.into()),
        }
    }

    /// Names in folders that were removed do not count.
    fn names_of(&self, file: usize) -> usize {
        let (mut count, mut open) = (0, vec![0]);
        while let Some(folder) = open.pop() {
            for node in self.folders[folder].values() {
                match node {
                    Node::File(there) => count += usize::from(*there == file),
                    Node::Folder(inside) => open.push(*inside),
                }
            }
        }
        count
    }
}

#[derive(Debug)]
struct Book {
    disk: Disk,
    log: Log,
    /// Every operation from this number on fails, as if the process had been killed.
    dies_at: Option<usize>,
    /// By the number of a folder: how many share it, and whether one has it alone.
    holds: BTreeMap<usize, (usize, bool)>,
}

/// A store in memory that keeps a [`Log`]. Clones share both.
#[derive(Debug, Clone)]
pub struct TreeRecorder {
    book: Arc<Mutex<Book>>,
}

impl TreeRecorder {
    pub fn new(disk: Disk) -> Self {
        let log = Log {
            before: disk.clone(),
            ops: Vec::new(),
        };
        let holds = BTreeMap::new();
        Self {
            book: Arc::new(Mutex::new(Book {
                disk,
                log,
                dies_at: None,
                holds,
            })),
        }
    }

    /// Fails every operation from this number on, as if the process had been killed; `None` ends that.
    pub fn die_at(&self, operations: Option<usize>) {
        self.locked().dies_at = operations;
    }

    /// The current content.
    pub fn disk(&self) -> Disk {
        self.locked().disk.clone()
    }

    /// How much was done so far.
    pub fn done(&self) -> usize {
        self.locked().log.ops.len()
    }

    /// All that was done so far.
    pub fn log(&self) -> Log {
        self.locked().log.clone()
    }

    fn locked(&self) -> MutexGuard<'_, Book> {
        self.book.lock().unwrap()
    }
}

impl Book {
    /// Does something, unless the process is dead by now.
    fn act(&mut self, op: Op) -> io::Result<()> {
        if self.dies_at.is_some_and(|dies| dies <= self.log.ops.len()) {
            return Err(io::Error::other("killed"));
        }
        match &op {
            Op::Create { folder, name, node } => {
                match node {
                    Node::File(_) => self.disk.files.push(Vec::new()),
                    Node::Folder(_) => self.disk.folders.push(BTreeMap::new()),
                }
                self.disk.folders[*folder].insert(name.clone(), *node);
            }
            Op::Write { file, at, bytes } => self.disk.write(*file, *at, bytes),
            Op::SetLen { file, len } => self.disk.files[*file].resize(*len, 0),
            Op::Rename { file, from, to } => {
                self.disk.folders[from.0].remove(&from.1);
                self.disk.folders[to.0].insert(to.1.clone(), Node::File(*file));
            }
            Op::Remove { folder, name } => drop(self.disk.folders[*folder].remove(name)),
            Op::Sync { .. } | Op::SyncFolder { .. } => {}
        }
        self.log.ops.push(op);
        Ok(())
    }

    /// The number of a file in the root.
    fn number(&self, name: &OsStr) -> usize {
        match self.disk.folders[0][name.to_str().unwrap()] {
            Node::File(file) => file,
            Node::Folder(_) => panic!("{name:?} is a folder"),
        }
    }

    fn write(&mut self, file: usize, at: usize, bytes: &[u8]) -> io::Result<()> {
        let bytes = bytes.to_vec();
        self.act(Op::Write { file, at, bytes })
    }
}

#[derive(Debug)]
struct Recorded {
    book: Arc<Mutex<Book>>,
    file: usize,
}

impl ReadAt for Recorded {
    fn read_at(&self, at: u64, buf: &mut [u8]) -> io::Result<usize> {
        self.book.lock().unwrap().disk.files[self.file].read_at(at, buf)
    }

    fn size(&self) -> io::Result<u64> {
        self.book.lock().unwrap().disk.files[self.file].size()
    }
}

#[derive(Debug)]
struct Held {
    book: Arc<Mutex<Book>>,
    folder: usize,
    hold: LockMode,
}

impl StoreLock for Held {}

impl Drop for Held {
    fn drop(&mut self) {
        let mut book = self.book.lock().unwrap();
        let (shared, alone) = book.holds.get_mut(&self.folder).unwrap();
        match self.hold {
            LockMode::Shared => *shared -= 1,
            LockMode::Exclusive => *alone = false,
        }
    }
}

impl Store for TreeRecorder {
    fn open(&self, key: &Key) -> io::Result<Box<dyn ReadAt>> {
        let file = self.locked().disk.file(key)?;
        let book = Arc::clone(&self.book);
        Ok(Box::new(Recorded { book, file }))
    }

    fn list(&self, folder: &Key) -> io::Result<Vec<Entry>> {
        let book = self.locked();
        let folder = book.disk.folder(folder)?;
        let names = book.disk.folders[folder].iter();
        let entries = names.map(|(name, node)| Entry {
            name: name.into(),
            kind: match node {
                Node::File(_) => EntryKind::File,
                Node::Folder(_) => EntryKind::Folder,
            },
        });
        Ok(entries.collect())
    }

    fn create(&self, key: &Key, bytes: &[u8]) -> io::Result<()> {
        let mut book = self.locked();
        let (folder, name, node) = book.disk.place(key)?;
        if node.is_some() {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        let file = book.disk.files.len();
        let node = Node::File(file);
        book.act(Op::Create { folder, name, node })?;
        book.write(file, 0, bytes)
    }

    fn patch(&self, key: &Key, at: u64, bytes: &[u8]) -> io::Result<()> {
        let mut book = self.locked();
        let file = book.disk.file(key)?;
        let at = usize::try_from(at).unwrap();
        if at > book.disk.files[file].len() || book.disk.names_of(file) > 1 {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        if bytes.is_empty() {
            Ok(())
        } else {
            book.write(file, at, bytes)
        }
    }

    /// If both names refer to the same file, both stay, as POSIX demands.
    fn rename(&self, from: &Key, to: &Key) -> io::Result<()> {
        let mut book = self.locked();
        let file = book.disk.file(from)?;
        let (old_folder, old, _) = book.disk.place(from)?;
        let (folder, name, node) = book.disk.place(to)?;
        match node {
            Some(Node::Folder(_)) => return Err(io::ErrorKind::IsADirectory.into()),
            Some(Node::File(there)) if there == file => return Ok(()),
            _ => {}
        }
        let (from, to) = ((old_folder, old), (folder, name));
        book.act(Op::Rename { file, from, to })
    }

    fn remove(&self, key: &Key) -> io::Result<()> {
        let mut book = self.locked();
        book.disk.file(key)?;
        let (folder, name, _) = book.disk.place(key)?;
        book.act(Op::Remove { folder, name })
    }

    fn make_folder(&self, key: &Key) -> io::Result<()> {
        let mut book = self.locked();
        if *key == Key::root() {
            return Ok(());
        }
        let (folder, name, node) = book.disk.place(key)?;
        match node {
            Some(Node::Folder(_)) => return Ok(()),
            Some(Node::File(_)) => return Err(io::ErrorKind::AlreadyExists.into()),
            None => {}
        }
        let node = Node::Folder(book.disk.folders.len());
        book.act(Op::Create { folder, name, node })
    }

    fn remove_folder(&self, key: &Key) -> io::Result<()> {
        let mut book = self.locked();
        let (folder, name, node) = book.disk.place(key)?;
        match node {
            Some(Node::Folder(inside)) if book.disk.folders[inside].is_empty() => {}
            Some(Node::Folder(_)) => return Err(io::ErrorKind::DirectoryNotEmpty.into()),
            Some(Node::File(_)) => return Err(io::ErrorKind::InvalidInput.into()),
            None => return Err(io::ErrorKind::NotFound.into()),
        }
        book.act(Op::Remove { folder, name })
    }

    fn sync(&self, key: &Key) -> io::Result<()> {
        let mut book = self.locked();
        let node = match key.split() {
            None => Some(Node::Folder(0)),
            Some(_) => book.disk.place(key)?.2,
        };
        let op = match node.ok_or(io::ErrorKind::NotFound)? {
            Node::File(file) => Op::Sync { file },
            Node::Folder(folder) => Op::SyncFolder { folder },
        };
        book.act(op)
    }

    fn try_lock(&self, folder: &Key, hold: LockMode) -> io::Result<Option<Box<dyn StoreLock>>> {
        let mut book = self.locked();
        let folder = book.disk.folder(folder)?;
        let (shared, alone) = book.holds.entry(folder).or_default();
        if *alone || (hold == LockMode::Exclusive && *shared > 0) {
            return Ok(None);
        }
        match hold {
            LockMode::Shared => *shared += 1,
            LockMode::Exclusive => *alone = true,
        }
        let book = Arc::clone(&self.book);
        Ok(Some(Box::new(Held { book, folder, hold })))
    }
}

/// A folder in memory that keeps a [`Log`]. Clones share both.
#[derive(Debug, Clone)]
pub struct Recorder {
    memory: Memory,
    tree: TreeRecorder,
}

#[derive(Debug)]
pub struct RecordedFile {
    file: MemoryFile,
    number: usize,
    book: Arc<Mutex<Book>>,
}

impl Deref for Recorder {
    type Target = TreeRecorder;

    fn deref(&self) -> &TreeRecorder {
        &self.tree
    }
}

impl Recorder {
    /// A folder with these files.
    pub fn new(files: &[(OsString, Vec<u8>)]) -> Self {
        Self {
            memory: files.iter().cloned().collect(),
            tree: TreeRecorder::new(Disk::of_files(files)),
        }
    }

    fn file(&self, file: MemoryFile, number: usize) -> RecordedFile {
        let book = Arc::clone(&self.tree.book);
        RecordedFile { file, number, book }
    }
}

impl Folder for Recorder {
    type File = RecordedFile;

    fn open(&self, name: &OsStr, access: Access) -> io::Result<RecordedFile> {
        let book = self.locked();
        let file = Folder::open(&self.memory, name, access)?;
        Ok(self.file(file, book.number(name)))
    }

    fn create(&self, name: &OsStr, like: Option<&RecordedFile>) -> io::Result<RecordedFile> {
        let mut book = self.locked();
        let file = Folder::create(&self.memory, name, like.map(|like| &like.file))?;
        let number = book.disk.files.len();
        book.act(Op::Create {
            folder: 0,
            name: text(name),
            node: Node::File(number),
        })?;
        Ok(self.file(file, number))
    }

    fn replace(&self, from: &OsStr, to: &OsStr) -> io::Result<()> {
        let mut book = self.locked();
        Folder::replace(&self.memory, from, to)?;
        let file = book.number(from);
        let (from, to) = ((0, text(from)), (0, text(to)));
        book.act(Op::Rename { file, from, to })
    }

    fn remove(&self, name: &OsStr) -> io::Result<()> {
        let mut book = self.locked();
        Folder::remove(&self.memory, name)?;
        let (folder, name) = (0, text(name));
        book.act(Op::Remove { folder, name })
    }

    fn list(&self) -> io::Result<Vec<OsString>> {
        Folder::list(&self.memory)
    }

    fn sync(&self) -> io::Result<()> {
        self.locked().act(Op::SyncFolder { folder: 0 })
    }

    fn leads_to(&self, name: &OsStr, file: &RecordedFile) -> io::Result<bool> {
        Folder::leads_to(&self.memory, name, &file.file)
    }
}

impl RecordedFile {
    fn record(&self, op: Op) -> io::Result<()> {
        self.book.lock().unwrap().act(op)
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
        self.record(Op::Write {
            file: self.number,
            at: at as usize,
            bytes: bytes[..len].to_vec(),
        })?;
        Ok(len)
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.file.set_len(len)?;
        self.record(Op::SetLen {
            file: self.number,
            len: len as usize,
        })
    }

    fn sync(&self) -> io::Result<()> {
        self.record(Op::Sync { file: self.number })
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
