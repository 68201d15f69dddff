//! [`MemoryStore`]: a store that is gone when the program ends.

use super::{Entry, EntryKind, Guard, Key, Object, Store};
use crate::{LockMode, ReadAt};
use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Files in folders, in memory, for tests and for what never has to outlive the process. Clones share them.
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
    /// Who holds the root, which is no node.
    root: Arc<Mutex<Holders>>,
}

#[derive(Debug, Clone)]
enum Node {
    File(Bytes),
    Folder(Arc<Mutex<Holders>>),
}

/// The bytes of a file, which outlive its name as long as somebody has it open.
#[derive(Debug, Clone, Default)]
struct Bytes(Arc<Mutex<Vec<u8>>>);

#[derive(Debug, Default)]
struct Holders {
    shared: usize,
    exclusive: bool,
}

#[derive(Debug)]
struct Held {
    holders: Arc<Mutex<Holders>>,
    hold: LockMode,
}

impl MemoryStore {
    /// Without any files.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The bytes of a file.
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

    fn file(&self, key: &Key) -> io::Result<Bytes> {
        match locked(&self.nodes).get(key) {
            Some(Node::File(bytes)) => Ok(bytes.clone()),
            Some(Node::Folder(_)) => Err(invalid(key, "a folder, not a file")),
            None => Err(io::ErrorKind::NotFound.into()),
        }
    }
}

/// Folders on the way are there, too. What cannot be a key is left out.
impl<const COUNT: usize> From<[(&str, Vec<u8>); COUNT]> for MemoryStore {
    fn from(files: [(&str, Vec<u8>); COUNT]) -> Self {
        let mut nodes = BTreeMap::new();
        for (key, bytes) in files {
            let Ok(key) = Key::parse(key) else { continue };
            let mut way = Key::root();
            for name in key.split().iter().flat_map(|(folder, _)| folder.names()) {
                let Ok(folder) = way.join(name) else { break };
                nodes.insert(folder.clone(), Node::Folder(Arc::default()));
                way = folder;
            }
            nodes.insert(key, Node::File(Bytes(Arc::new(Mutex::new(bytes)))));
        }
        Self {
            nodes: Arc::new(Mutex::new(nodes)),
            root: Arc::default(),
        }
    }
}

/// Whether a folder is there.
fn check_folder(nodes: &BTreeMap<Key, Node>, key: &Key) -> io::Result<()> {
    match nodes.get(key) {
        _ if *key == Key::root() => Ok(()),
        Some(Node::Folder(_)) => Ok(()),
        Some(Node::File(_)) => Err(invalid(key, "a file, not a folder")),
        None => match key.split() {
            Some((folder, _)) => check_folder(nodes, &folder).and(Err(not_found())),
            None => Ok(()),
        },
    }
}

/// Whether the folder of a key, which is not the root, is there.
fn check_way(nodes: &BTreeMap<Key, Node>, key: &Key) -> io::Result<()> {
    match key.split() {
        Some((folder, _)) => check_folder(nodes, &folder),
        None => Err(invalid(key, "the root")),
    }
}

/// All that lies below a folder.
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
        check_way(&nodes, key)?;
        if nodes.contains_key(key) {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        let bytes = Bytes(Arc::new(Mutex::new(bytes.to_vec())));
        nodes.insert(key.clone(), Node::File(bytes));
        Ok(())
    }

    fn patch(&self, key: &Key, at: u64, bytes: &[u8]) -> io::Result<()> {
        let file = self.file(key)?;
        let mut all = locked(&file.0);
        let at = usize::try_from(at).ok().filter(|at| *at <= all.len());
        let at = at.ok_or_else(|| invalid(key, "a patch behind the end would leave a hole"))?;
        let inside = all.len().saturating_sub(at).min(bytes.len());
        let (over, behind) = bytes.split_at_checked(inside).unwrap_or((bytes, &[]));
        if let Some(place) = all.get_mut(at..at.saturating_add(inside)) {
            place.copy_from_slice(over);
        }
        all.extend_from_slice(behind);
        Ok(())
    }

    fn rename(&self, from: &Key, to: &Key) -> io::Result<()> {
        let file = self.file(from)?;
        let mut nodes = locked(&self.nodes);
        check_way(&nodes, to)?;
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
        check_way(&nodes, key)?;
        match nodes.get(key) {
            Some(Node::File(_)) => return Err(io::ErrorKind::AlreadyExists.into()),
            Some(Node::Folder(_)) => {}
            None => drop(nodes.insert(key.clone(), Node::Folder(Arc::default()))),
        }
        Ok(())
    }

    fn remove_folder(&self, key: &Key) -> io::Result<()> {
        let mut nodes = locked(&self.nodes);
        check_way(&nodes, key)?;
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

    fn try_lock(&self, folder: &Key, hold: LockMode) -> io::Result<Option<Box<dyn Guard>>> {
        let holders = match locked(&self.nodes).get(folder) {
            _ if *folder == Key::root() => Arc::clone(&self.root),
            Some(Node::Folder(holders)) => Arc::clone(holders),
            Some(Node::File(_)) => return Err(invalid(folder, "a file, not a folder")),
            None => return Err(not_found()),
        };
        let mut now = locked(&holders);
        if now.exclusive || (hold == LockMode::Exclusive && now.shared > 0) {
            return Ok(None);
        }
        match hold {
            LockMode::Shared => now.shared = now.shared.saturating_add(1),
            LockMode::Exclusive => now.exclusive = true,
        }
        drop(now);
        Ok(Some(Box::new(Held { holders, hold })))
    }
}

impl Guard for Held {}

impl Drop for Held {
    fn drop(&mut self) {
        let mut now = locked(&self.holders);
        match self.hold {
            LockMode::Shared => now.shared = now.shared.saturating_sub(1),
            LockMode::Exclusive => now.exclusive = false,
        }
    }
}

impl ReadAt for Bytes {
    fn read_at(&self, at: u64, buf: &mut [u8]) -> io::Result<usize> {
        locked(&self.0).read_at(at, buf)
    }

    fn size(&self) -> io::Result<u64> {
        locked(&self.0).size()
    }
}

fn not_found() -> io::Error {
    io::ErrorKind::NotFound.into()
}

fn invalid(key: &Key, what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, format!("{key}: {what}"))
}

/// A panic elsewhere leaves nothing half done that would matter here.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
