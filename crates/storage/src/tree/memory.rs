//! [`MemoryStore`]: a store that is gone when the program ends.

use super::errors::{HOLE, NOT_A_FILE, invalid};
use super::{Entry, EntryKind, Guard, Key, Object, Store};
use crate::memory_lock::{MemoryGuard, MemoryLock};
use crate::mutex::locked;
use crate::{LockMode, ReadAt};
use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, Mutex};

/// Files in folders, in memory, for tests and for data that need not outlive the process. Clones
/// share them.
///
/// ```
/// use bloscpack_storage::{Key, MemoryStore, ReadAt, Store};
/// let store = MemoryStore::from([("meta/sizes", b"{}".to_vec())]);
/// assert_eq!(store.open(&Key::parse("meta/sizes")?)?.size()?, 2);
/// store.make_folder(&Key::parse("data")?)?;
/// store.create(&Key::parse("data/__0.blp")?, b"chunk")?;
/// assert_eq!(store.bytes("data/__0.blp").as_deref(), Some(&b"chunk"[..]));
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct MemoryStore {
    nodes: Arc<Mutex<BTreeMap<Key, Node>>>,
    /// The lock of the root, which is not a node.
    root: Arc<MemoryLock>,
}

#[derive(Debug, Clone)]
enum Node {
    File(FileBytes),
    Folder(Arc<MemoryLock>),
}

/// The bytes of a file, which objects that have it open keep when its name is gone.
#[derive(Debug, Clone, Default)]
struct FileBytes(Arc<Mutex<Vec<u8>>>);

impl MemoryStore {
    /// An empty store.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// A copy of the bytes of a file; `None` if no file has this key.
    #[must_use]
    pub fn bytes(&self, key: impl AsRef<str>) -> Option<Vec<u8>> {
        let key = Key::parse(key.as_ref()).ok()?;
        match locked(&self.nodes).get(&key)? {
            Node::File(bytes) => Some(locked(&bytes.0).clone()),
            Node::Folder(_) => None,
        }
    }

    /// The keys of all files, sorted.
    #[must_use]
    pub fn keys(&self) -> Vec<Key> {
        let nodes = locked(&self.nodes);
        let files = nodes
            .iter()
            .filter(|(_, node)| matches!(node, Node::File(_)));
        files.map(|(key, _)| key.clone()).collect()
    }

    fn file(&self, key: &Key) -> io::Result<FileBytes> {
        match locked(&self.nodes).get(key) {
            Some(Node::File(bytes)) => Ok(bytes.clone()),
            Some(Node::Folder(_)) => Err(invalid(key, NOT_A_FILE)),
            None => Err(io::ErrorKind::NotFound.into()),
        }
    }
}

/// Makes the folders of these files, too. Texts that are not valid keys are left out.
impl<const COUNT: usize> From<[(&str, Vec<u8>); COUNT]> for MemoryStore {
    fn from(files: [(&str, Vec<u8>); COUNT]) -> Self {
        let mut nodes = BTreeMap::new();
        for (key, bytes) in files {
            let Ok(key) = Key::parse(key) else { continue };
            let mut parent = Key::root();
            for name in key.split().iter().flat_map(|(folder, _)| folder.names()) {
                let Ok(folder) = parent.join(name) else { break };
                nodes.insert(folder.clone(), Node::Folder(Arc::default()));
                parent = folder;
            }
            nodes.insert(key, Node::File(FileBytes(Arc::new(Mutex::new(bytes)))));
        }
        Self {
            nodes: Arc::new(Mutex::new(nodes)),
            root: Arc::default(),
        }
    }
}

const A_FILE: &str = "a file, not a folder";

/// Checks that a folder exists.
fn check_folder(nodes: &BTreeMap<Key, Node>, key: &Key) -> io::Result<()> {
    match nodes.get(key) {
        _ if *key == Key::root() => Ok(()),
        Some(Node::Folder(_)) => Ok(()),
        Some(Node::File(_)) => Err(invalid(key, A_FILE)),
        None => match key.split() {
            Some((folder, _)) => {
                check_folder(nodes, &folder)?;
                Err(io::ErrorKind::NotFound.into())
            }
            None => Ok(()),
        },
    }
}

/// Checks that this is not the root, and that its folder exists.
fn check_parent(nodes: &BTreeMap<Key, Node>, key: &Key) -> io::Result<()> {
    match key.split() {
        Some((folder, _)) => check_folder(nodes, &folder),
        None => Err(invalid(key, "the root always exists")),
    }
}

/// Everything below a folder.
fn below<'a>(
    nodes: &'a BTreeMap<Key, Node>,
    folder: &Key,
) -> impl Iterator<Item = (&'a Key, &'a Node)> {
    let folder = folder.as_str().to_owned();
    nodes.iter().filter(move |(key, _)| {
        let rest = key.as_str().strip_prefix(&folder);
        folder.is_empty() || rest.is_some_and(|rest| rest.starts_with('/'))
    })
}

impl Store for MemoryStore {
    fn open(&self, key: &Key) -> io::Result<Box<dyn Object>> {
        if let Some((folder, _)) = key.split() {
            check_folder(&locked(&self.nodes), &folder)?;
        } else {
            return Err(invalid(key, "the root, not a file"));
        }
        Ok(Box::new(self.file(key)?))
    }

    fn list(&self, folder: &Key) -> io::Result<Vec<Entry>> {
        let nodes = locked(&self.nodes);
        check_folder(&nodes, folder)?;
        let inside = below(&nodes, folder).filter_map(|(key, node)| {
            let (there, name) = key.split()?;
            let kind = match node {
                Node::File(_) => EntryKind::File,
                Node::Folder(_) => EntryKind::Folder,
            };
            let name = name.into();
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
        Ok(nodes.get(key).map(|node| match node {
            Node::File(_) => EntryKind::File,
            Node::Folder(_) => EntryKind::Folder,
        }))
    }

    fn create(&self, key: &Key, bytes: &[u8]) -> io::Result<()> {
        let mut nodes = locked(&self.nodes);
        check_parent(&nodes, key)?;
        if nodes.contains_key(key) {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        let bytes = FileBytes(Arc::new(Mutex::new(bytes.to_vec())));
        nodes.insert(key.clone(), Node::File(bytes));
        Ok(())
    }

    fn patch(&self, key: &Key, at: u64, bytes: &[u8]) -> io::Result<()> {
        let file = self.file(key)?;
        let mut all = locked(&file.0);
        let at = usize::try_from(at).ok().filter(|at| *at <= all.len());
        let at = at.ok_or_else(|| invalid(key, HOLE))?;
        let (_, rest) = all.split_at_mut(at);
        let (over, after) = bytes.split_at(rest.len().min(bytes.len()));
        rest.split_at_mut(over.len()).0.copy_from_slice(over);
        all.extend_from_slice(after);
        Ok(())
    }

    fn rename(&self, from: &Key, to: &Key) -> io::Result<()> {
        let file = self.file(from)?;
        let mut nodes = locked(&self.nodes);
        check_parent(&nodes, to)?;
        if matches!(nodes.get(to), Some(Node::Folder(_))) {
            return Err(io::ErrorKind::IsADirectory.into());
        }
        nodes.remove(from);
        nodes.insert(to.clone(), Node::File(file));
        Ok(())
    }

    fn remove(&self, key: &Key) -> io::Result<()> {
        self.file(key)?;
        locked(&self.nodes).remove(key);
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
            None => drop(nodes.insert(key.clone(), Node::Folder(Arc::default()))),
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
        Ok(())
    }

    fn sync(&self, key: &Key) -> io::Result<()> {
        match self.kind(key)? {
            Some(_) => Ok(()),
            None => Err(io::ErrorKind::NotFound.into()),
        }
    }

    fn try_lock(&self, folder: &Key, mode: LockMode) -> io::Result<Option<Box<dyn Guard>>> {
        let lock = match locked(&self.nodes).get(folder) {
            _ if *folder == Key::root() => Arc::clone(&self.root),
            Some(Node::Folder(lock)) => Arc::clone(lock),
            Some(Node::File(_)) => return Err(invalid(folder, A_FILE)),
            None => return Err(io::ErrorKind::NotFound.into()),
        };
        let guard = lock.try_lock(mode);
        Ok(guard.map(|guard| Box::new(guard) as Box<dyn Guard>))
    }
}

impl Guard for MemoryGuard {}

impl ReadAt for FileBytes {
    fn read_at(&self, at: u64, buf: &mut [u8]) -> io::Result<usize> {
        locked(&self.0).read_at(at, buf)
    }

    fn size(&self) -> io::Result<u64> {
        locked(&self.0).size()
    }
}
