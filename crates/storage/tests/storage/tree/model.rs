//! Tests of random changes against a model of a store, which is a map.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test fails by panicking"
)]

use bloscpack_storage::{Access, JournaledStore, Key, LockTimeout, Store};
use std::io;
use std::sync::Arc;
use std::time::Duration;
use testkit::golden::Random;
use testkit::recorder::Found;

/// Bytes of patches kept in memory here, so that many changes spill into a staged file.
pub(super) const PATCH_MEMORY: u64 = 1 << 10;

/// Opens a store whose larger patches spill.
pub(super) fn open(
    store: impl Store + 'static,
    access: Access,
) -> bloscpack_storage::Result<JournaledStore> {
    open_with(store, access, Duration::from_secs(10))
}

/// Opens a store whose larger patches spill, and whose commits wait this long for readers.
pub(super) fn open_with(
    store: impl Store + 'static,
    access: Access,
    timeout: Duration,
) -> bloscpack_storage::Result<JournaledStore> {
    let timeout = LockTimeout::new(timeout);
    let root = JournaledStore::open_with(Arc::new(store), access, timeout)?;
    root.set_patch_memory(PATCH_MEMORY);
    Ok(root)
}

/// The content that a store should have.
#[derive(Debug, Clone)]
pub(super) struct Model {
    pub found: Found,
}

/// One call that changes a store.
#[derive(Debug, Clone)]
pub enum Change {
    Put(String, Vec<u8>),
    Patch(String, usize, Vec<u8>),
    Remove(String),
    MakeFolder(String),
    RemoveFolder(String),
}

const FOLDERS: [&str; 4] = ["", "data/", "meta/", "data/col/"];
const NAMES: [&str; 4] = ["0", "1", "sizes", "deep"];

impl Change {
    pub(super) fn make(&self, root: &JournaledStore) -> io::Result<()> {
        let key = |key: &String| Key::parse(key).unwrap();
        match self {
            Self::Put(at, bytes) => root.put(&key(at), bytes),
            Self::Patch(at, place, bytes) => root.patch(&key(at), *place as u64, bytes),
            Self::Remove(at) => root.remove(&key(at)),
            Self::MakeFolder(at) => root.make_folder(&key(at)),
            Self::RemoveFolder(at) => root.remove_folder(&key(at)),
        }
    }
}

fn bytes(random: &mut Random) -> Vec<u8> {
    let len = [3, 40, 700, 1400][random.below(4)] + random.below(3);
    let mut byte = u8::try_from(random.below(256)).unwrap();
    let step = u8::try_from(1 + random.below(9)).unwrap();
    let mut next = || {
        byte = byte.wrapping_add(step);
        byte
    };
    (0..len).map(|_| next()).collect()
}

impl Model {
    pub(super) fn new(found: Found) -> Self {
        Self { found }
    }

    /// A few files in a few folders.
    pub(super) fn at_random(random: &mut Random) -> Self {
        let mut model = Self::new(Found::new());
        for _ in 0..random.below(3) {
            changes(&mut model, random);
        }
        model
    }

    /// Makes a change here, if a store accepts it; whether it does.
    fn make(&mut self, change: &Change) -> bool {
        let there = |key: &str| self.found.get(key);
        let has_folder = |key: &str| match key.rsplit_once('/') {
            Some((folder, _)) => there(folder) == Some(&None),
            None => true,
        };
        match change {
            Change::Put(key, bytes) if has_folder(key) && there(key) != Some(&None) => {
                self.found.insert(key.clone(), Some(bytes.clone()));
            }
            Change::Patch(key, at, bytes) => {
                let Some(Some(all)) = self.found.get_mut(key) else {
                    return false;
                };
                if *at > all.len() {
                    return false;
                }
                all.resize(all.len().max(at + bytes.len()), 0);
                all[*at..][..bytes.len()].copy_from_slice(bytes);
            }
            Change::Remove(key) if matches!(there(key), Some(Some(_))) => {
                self.found.remove(key);
            }
            Change::MakeFolder(key) if has_folder(key) && there(key).is_none() => {
                self.found.insert(key.clone(), None);
            }
            Change::RemoveFolder(key) if there(key) == Some(&None) => {
                let inside = format!("{key}/");
                if self.found.keys().any(|key| key.starts_with(&inside)) {
                    return false;
                }
                self.found.remove(key);
            }
            _ => return false,
        }
        true
    }
}

fn at_random(found: &Found, random: &mut Random) -> Change {
    let file = |random: &mut Random| {
        let folder = FOLDERS[random.below(FOLDERS.len())];
        format!("{folder}{}", NAMES[random.below(NAMES.len())])
    };
    let folder = |random: &mut Random| {
        let folder = FOLDERS[1 + random.below(FOLDERS.len() - 1)];
        folder.trim_end_matches('/').to_owned()
    };
    match random.below(11) {
        0..=3 => Change::Put(file(random), bytes(random)),
        // Half of the patches are of a file and within it or at its end; the others mostly refused.
        4..=6 if random.below(2) == 0 => {
            let mut files = found
                .iter()
                .filter_map(|(key, file)| Some((key, file.as_ref()?.len())));
            let count = files.clone().count().max(1);
            match files.nth(random.below(count)) {
                Some((key, len)) => {
                    Change::Patch(key.clone(), random.below(len + 1), bytes(random))
                }
                None => Change::Put(file(random), bytes(random)),
            }
        }
        4..=6 => Change::Patch(file(random), random.below(1500), bytes(random)),
        7 | 8 => Change::Remove(file(random)),
        9 => Change::MakeFolder(folder(random)),
        _ => Change::RemoveFolder(folder(random)),
    }
}

/// Random changes, which are made here, too.
pub(super) fn changes(model: &mut Model, random: &mut Random) -> Vec<Change> {
    let count = [1, 1, 3, 8, 20][random.below(5)];
    let mut all = Vec::new();
    for _ in 0..count {
        let change = at_random(&model.found, random);
        if model.make(&change) {
            all.push(change);
        }
    }
    all
}
