//! [`Memory`]: files and folders in memory.

mod file;
mod lock;

use crate::mutex::locked;
use crate::tree::errors::{A_FILE, HOLE, NOT_A_FILE, invalid};
use crate::{Access, Folder, LockMode, ReadAt, WriteAt};
use crate::{Entry, EntryKind, Key, Store, StoreHandle, StoreLock};
use file::FileNode;
pub use file::MemoryFile;
use lock::MemoryGuard;
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::io;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};

/// Files in folders, in memory, for tests and for data that need not outlive the process. Clones share the
/// files.
///
/// It is a [`Store`], and as a [`Folder`] it contains the files in its root. Handles see one another on every
/// platform ([`Lock::presence`](crate::Lock::presence)), so readers and writers do not wait for each other.
///
/// ```
/// use bloscpack_storage::{Access, Folder, Key, Memory, ReadAt, Store};
/// let memory = Memory::from([("greeting", b"hello".to_vec())]);
/// assert_eq!(Folder::open(&memory, "greeting".as_ref(), Access::Read)?.size()?, 5);
/// memory.make_folder(&Key::parse("data")?)?;
/// Store::create(&memory, &Key::parse("data/__0.blp")?, b"chunk")?;
/// assert_eq!(memory.bytes("data/__0.blp").as_deref(), Some(&b"chunk"[..]));
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Memory {
    nodes: Arc<Mutex<Nodes>>,
    /// The root, which is not among the nodes.
    root: Arc<FileNode>,
}

type Nodes = BTreeMap<Key, Node>;

#[derive(Debug, Clone)]
enum Node {
    File(Arc<FileNode>),
    Folder(Arc<FileNode>),
}

impl Node {
    fn folder() -> Self {
        Self::Folder(FileNode::new(Vec::new()))
    }

    fn kind(&self) -> EntryKind {
        match self {
            Self::File(_) => EntryKind::File,
            Self::Folder(_) => EntryKind::Folder,
        }
    }
}

impl Memory {
    /// An empty root.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// A copy of a file's bytes; `None` if no file has this name or key.
    #[must_use]
    pub fn bytes(&self, key: impl AsRef<OsStr>) -> Option<Vec<u8>> {
        let node = self.node(&parse(key.as_ref()).ok()?).ok()?;
        let bytes = locked(&node.bytes).clone();
        Some(bytes)
    }

    /// The keys of all files, sorted. Folders are not included.
    ///
    /// ```
    /// use bloscpack_storage::Memory;
    ///
    /// let memory = Memory::from([("b", Vec::new()), ("a/c", Vec::new())]);
    /// let keys: Vec<_> = memory.keys().iter().map(ToString::to_string).collect();
    /// assert_eq!(keys, ["a/c", "b"]);
    /// ```
    #[must_use]
    pub fn keys(&self) -> Vec<Key> {
        let nodes = locked(&self.nodes);
        let files = nodes
            .iter()
            .filter(|(_, node)| node.kind() == EntryKind::File);
        files.map(|(key, _)| key.clone()).collect()
    }

    /// Changes the stamp of a key's folder.
    fn touch(&self, key: &Key) {
        let nodes = locked(&self.nodes);
        match key.split().map(|(folder, _)| folder) {
            Some(folder) if folder != Key::root() => {
                if let Some(Node::Folder(node)) = nodes.get(&folder) {
                    node.touch();
                }
            }
            _ => self.root.touch(),
        }
    }

    fn node(&self, key: &Key) -> io::Result<Arc<FileNode>> {
        match locked(&self.nodes).get(key) {
            Some(Node::File(node)) => Ok(Arc::clone(node)),
            Some(Node::Folder(_)) => Err(invalid(key, NOT_A_FILE)),
            None => Err(io::ErrorKind::NotFound.into()),
        }
    }
}

impl<N: AsRef<OsStr>, const COUNT: usize> From<[(N, Vec<u8>); COUNT]> for Memory {
    fn from(files: [(N, Vec<u8>); COUNT]) -> Self {
        files.into_iter().collect()
    }
}

/// Makes the files and their folders. Skips names that are not valid keys.
impl<N: AsRef<OsStr>> FromIterator<(N, Vec<u8>)> for Memory {
    fn from_iter<I: IntoIterator<Item = (N, Vec<u8>)>>(files: I) -> Self {
        let mut nodes = Nodes::new();
        for (name, bytes) in files {
            let Ok(key) = parse(name.as_ref()) else {
                continue;
            };
            let mut folder = key.split().map(|(folder, _)| folder);
            while let Some(key) = folder.filter(|folder| *folder != Key::root()) {
                folder = key.split().map(|(folder, _)| folder);
                nodes.insert(key, Node::folder());
            }
            nodes.insert(key, Node::File(FileNode::new(bytes)));
        }
        Self {
            nodes: Arc::new(Mutex::new(nodes)),
            ..Self::default()
        }
    }
}

impl Default for Memory {
    fn default() -> Self {
        Self {
            nodes: Arc::default(),
            root: FileNode::new(Vec::new()),
        }
    }
}

/// The key with these names.
fn parse(name: &OsStr) -> io::Result<Key> {
    Key::parse(name.to_str().ok_or(io::ErrorKind::InvalidFilename)?)
}

/// The key of a name in the root.
fn in_root(name: &OsStr) -> io::Result<Key> {
    Key::root().join(name.to_str().ok_or(io::ErrorKind::InvalidFilename)?)
}

/// Checks that a folder exists.
fn check_folder(nodes: &Nodes, key: &Key) -> io::Result<()> {
    match nodes.get(key) {
        _ if *key == Key::root() => Ok(()),
        Some(Node::Folder(_)) => Ok(()),
        Some(Node::File(_)) => Err(invalid(key, A_FILE)),
        None => {
            check_parent(nodes, key)?;
            Err(io::ErrorKind::NotFound.into())
        }
    }
}

/// Checks that the key is not the root and that its folder exists.
fn check_parent(nodes: &Nodes, key: &Key) -> io::Result<()> {
    match key.split() {
        Some((folder, _)) => check_folder(nodes, &folder),
        None => Err(invalid(key, "the root always exists")),
    }
}

/// Makes a file with this key.
fn create(nodes: &mut Nodes, key: &Key, bytes: &[u8]) -> io::Result<Arc<FileNode>> {
    check_parent(nodes, key)?;
    if nodes.contains_key(key) {
        return Err(io::ErrorKind::AlreadyExists.into());
    }
    let node = FileNode::new(bytes.to_vec());
    nodes.insert(key.clone(), Node::File(Arc::clone(&node)));
    Ok(node)
}

/// Everything below a folder.
fn below<'a>(nodes: &'a Nodes, folder: &Key) -> impl Iterator<Item = (&'a Key, &'a Node)> {
    let folder = folder.as_str().to_owned();
    nodes.iter().filter(move |(key, _)| {
        let rest = key.as_str().strip_prefix(&folder);
        folder.is_empty() || rest.is_some_and(|rest| rest.starts_with('/'))
    })
}

impl Store for Memory {
    fn open(&self, key: &Key) -> io::Result<Box<dyn ReadAt>> {
        check_parent(&locked(&self.nodes), key)?;
        Ok(Box::new(MemoryFile::new(self.node(key)?, Access::Read)))
    }

    fn list(&self, folder: &Key) -> io::Result<Vec<Entry>> {
        let nodes = locked(&self.nodes);
        check_folder(&nodes, folder)?;
        let inside = below(&nodes, folder).filter_map(|(key, node)| {
            let (there, name) = key.split()?;
            let (name, kind) = (name.into(), node.kind());
            (there == *folder).then_some(Entry { name, kind })
        });
        let mut entries: Vec<_> = inside.collect();
        entries.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(entries)
    }

    fn kind(&self, key: &Key) -> io::Result<Option<EntryKind>> {
        let nodes = locked(&self.nodes);
        let Some((folder, _)) = key.split() else {
            return Ok(Some(EntryKind::Folder));
        };
        match check_folder(&nodes, &folder) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            done => done?,
        }
        Ok(nodes.get(key).map(Node::kind))
    }

    fn handle(&self, key: &Key, access: Access) -> io::Result<Option<Arc<dyn StoreHandle>>> {
        let node = match locked(&self.nodes).get(key) {
            _ if *key == Key::root() => Arc::clone(&self.root),
            Some(Node::File(node) | Node::Folder(node)) => Arc::clone(node),
            None => return Err(io::ErrorKind::NotFound.into()),
        };
        Ok(Some(Arc::new(MemoryFile::new(node, access))))
    }

    fn create(&self, key: &Key, bytes: &[u8]) -> io::Result<()> {
        create(&mut locked(&self.nodes), key, bytes)?;
        self.touch(key);
        Ok(())
    }

    fn patch(&self, key: &Key, at: u64, bytes: &[u8]) -> io::Result<()> {
        let file = MemoryFile::new(self.node(key)?, Access::Write);
        if at <= file.size()? {
            file.write_all_at(at, bytes)
        } else {
            Err(invalid(key, HOLE))
        }
    }

    fn rename(&self, from: &Key, to: &Key) -> io::Result<()> {
        let node = self.node(from)?;
        let mut nodes = locked(&self.nodes);
        check_parent(&nodes, to)?;
        if matches!(nodes.get(to), Some(Node::Folder(_))) {
            return Err(io::ErrorKind::IsADirectory.into());
        }
        nodes.remove(from);
        if let Some(Node::File(old)) = nodes.insert(to.clone(), Node::File(node)) {
            old.has_name.store(false, Ordering::SeqCst);
        }
        drop(nodes);
        self.touch(from);
        self.touch(to);
        Ok(())
    }

    fn remove(&self, key: &Key) -> io::Result<()> {
        let node = self.node(key)?;
        locked(&self.nodes).remove(key);
        node.has_name.store(false, Ordering::SeqCst);
        self.touch(key);
        Ok(())
    }

    fn make_folder(&self, key: &Key) -> io::Result<()> {
        let mut nodes = locked(&self.nodes);
        if *key == Key::root() {
            return Ok(());
        }
        check_parent(&nodes, key)?;
        match nodes.get(key) {
            Some(Node::File(_)) => return Err(io::ErrorKind::AlreadyExists.into()),
            Some(Node::Folder(_)) => {}
            None => {
                nodes.insert(key.clone(), Node::folder());
                drop(nodes);
                self.touch(key);
            }
        }
        Ok(())
    }

    fn remove_folder(&self, key: &Key) -> io::Result<()> {
        let mut nodes = locked(&self.nodes);
        check_parent(&nodes, key)?;
        check_folder(&nodes, key)?;
        if below(&nodes, key).next().is_some() {
            return Err(io::ErrorKind::DirectoryNotEmpty.into());
        }
        nodes.remove(key);
        drop(nodes);
        self.touch(key);
        Ok(())
    }

    fn sync(&self, key: &Key) -> io::Result<()> {
        match Store::kind(self, key)? {
            Some(_) => Ok(()),
            None => Err(io::ErrorKind::NotFound.into()),
        }
    }

    fn try_lock(&self, folder: &Key, mode: LockMode) -> io::Result<Option<Box<dyn StoreLock>>> {
        let node = match locked(&self.nodes).get(folder) {
            _ if *folder == Key::root() => Arc::clone(&self.root),
            Some(Node::Folder(node)) => Arc::clone(node),
            Some(Node::File(_)) => return Err(invalid(folder, A_FILE)),
            None => return Err(io::ErrorKind::NotFound.into()),
        };
        let guard = node.lock.try_lock(mode);
        Ok(guard.map(|guard| Box::new(guard) as Box<dyn StoreLock>))
    }
}

impl StoreLock for MemoryGuard {}

/// The files in the root.
impl Folder for Memory {
    type File = MemoryFile;

    fn open(&self, name: &OsStr, access: Access) -> io::Result<MemoryFile> {
        Ok(MemoryFile::new(self.node(&in_root(name)?)?, access))
    }

    fn create(&self, name: &OsStr, _: Option<&MemoryFile>) -> io::Result<MemoryFile> {
        let node = create(&mut locked(&self.nodes), &in_root(name)?, &[])?;
        Ok(MemoryFile::new(node, Access::Write))
    }

    fn replace(&self, from: &OsStr, to: &OsStr) -> io::Result<()> {
        self.rename(&in_root(from)?, &in_root(to)?)
    }

    fn remove(&self, name: &OsStr) -> io::Result<()> {
        Store::remove(self, &in_root(name)?)
    }

    fn list(&self) -> io::Result<Vec<OsString>> {
        let entries = Store::list(self, &Key::root())?;
        Ok(entries.into_iter().map(|entry| entry.name).collect())
    }

    fn sync(&self) -> io::Result<()> {
        Ok(())
    }

    fn leads_to(&self, name: &OsStr, file: &MemoryFile) -> io::Result<bool> {
        let there = self.node(&in_root(name)?);
        Ok(there.is_ok_and(|node| Arc::ptr_eq(&node, &file.node)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Lock;

    #[test]
    fn readers_share_and_writers_do_not() {
        let folder = Memory::from([("a", Vec::new())]);
        let open = || Folder::open(&folder, "a".as_ref(), Access::Read).unwrap();
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
        let open = || Folder::open(&folder, "a".as_ref(), Access::Read).unwrap();
        let (one, two) = (open(), open());
        assert!(one.try_lock(LockMode::Exclusive).unwrap());
        assert!(one.try_lock(LockMode::Shared).unwrap());
        assert!(two.try_lock(LockMode::Shared).unwrap());
        assert!(!one.try_lock(LockMode::Exclusive).unwrap());
    }

    #[test]
    fn a_length_that_no_memory_has_is_an_error() {
        let file = Folder::create(&Memory::new(), "a".as_ref(), None).unwrap();
        for len in [1 << 50, 1 << 62, u64::MAX] {
            assert!(file.set_len(len).is_err());
            assert!(file.write_at(len - 1, b"!").is_err());
        }
        assert_eq!(file.size().unwrap(), 0);
    }

    #[test]
    fn an_open_file_outlives_its_name() {
        let folder = Memory::from([("a", b"old".to_vec()), ("b", b"new".to_vec())]);
        let old = Folder::open(&folder, "a".as_ref(), Access::Read).unwrap();
        folder.replace("b".as_ref(), "a".as_ref()).unwrap();
        let mut bytes = [0; 3];
        old.read_exact_at(0, &mut bytes).unwrap();
        assert_eq!(&bytes, b"old");
        assert!(!folder.leads_to("a".as_ref(), &old).unwrap());
        assert_eq!(Folder::list(&folder).unwrap(), ["a"]);
    }
}
