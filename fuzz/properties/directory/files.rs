//! [`Files`]: a directory as a map.

use bloscpack::storage::{EntryKind, Key, Memory, Store};
use std::collections::BTreeMap;

/// There is a folder for each path with files below it, and for each key without bytes.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Files(pub BTreeMap<Key, Option<Vec<u8>>>);

impl Files {
    /// All that is in a store.
    pub fn of(store: &Memory) -> Self {
        let (mut files, mut open) = (Self::default(), vec![Key::root()]);
        while let Some(folder) = open.pop() {
            for entry in store.list(&folder).expect("a folder") {
                let key = folder
                    .join(entry.name.to_str().expect("text"))
                    .expect("a name");
                if entry.kind == EntryKind::Folder {
                    files.0.insert(key.clone(), None);
                    open.push(key);
                } else {
                    let bytes = store.bytes(&key);
                    files.0.insert(key, bytes);
                }
            }
        }
        files
    }

    /// A store with all of them, as far as one excludes no other.
    pub fn store(&self) -> Memory {
        let store = Memory::new();
        for (key, bytes) in &self.0 {
            let _ = make_way(&store, key);
            let _ = match bytes {
                Some(bytes) => store.create(key, bytes),
                None => store.make_folder(key),
            };
        }
        store
    }

    /// Whether a change of ours may have to be completed.
    pub fn is_interrupted(&self) -> bool {
        self.0.keys().any(|key| key.names().next() == Some(".blpk"))
    }
}

fn make_way(store: &Memory, key: &Key) -> std::io::Result<()> {
    let Some((folder, _)) = key.split() else {
        return Ok(());
    };
    make_way(store, &folder)?;
    if folder == Key::root() {
        Ok(())
    } else {
        store.make_folder(&folder)
    }
}
