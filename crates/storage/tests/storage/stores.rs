//! Tests that all stores behave the same: the file system's, the one in memory, and the double used by crash tests.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

use bloscpack_storage::{DiskStore, EntryKind, Key, LockMode, Memory, ReadAt, Store};
use std::io::ErrorKind;

use testkit::recorder;

use recorder::{Disk, TreeRecorder};

fn key(text: &str) -> Key {
    Key::parse(text).unwrap()
}

/// Runs a check on an empty store of each kind.
fn on_each(check: impl Fn(&dyn Store)) {
    on_each_with_locks(&check);
    if cfg!(not(unix)) {
        on_disk(&check);
    }
}

/// There are no locks of folders elsewhere than on Unix.
fn on_each_with_locks(check: &dyn Fn(&dyn Store)) {
    check(&Memory::new());
    check(&TreeRecorder::new(Disk::new()));
    check(&Plain(Memory::new()));
    if cfg!(unix) {
        on_disk(check);
    }
}

fn on_disk(check: &dyn Fn(&dyn Store)) {
    let folder = tempfile::tempdir().unwrap();
    check(&DiskStore::create(folder.path().join("set")).unwrap());
}

/// A store with only the required functions: the rest are the trait's defaults.
#[derive(Debug)]
struct Plain(Memory);

impl Store for Plain {
    fn open(&self, key: &Key) -> std::io::Result<Box<dyn ReadAt>> {
        self.0.open(key)
    }
    fn list(&self, folder: &Key) -> std::io::Result<Vec<bloscpack_storage::Entry>> {
        self.0.list(folder)
    }
    fn create(&self, key: &Key, bytes: &[u8]) -> std::io::Result<()> {
        self.0.create(key, bytes)
    }
    fn patch(&self, key: &Key, at: u64, bytes: &[u8]) -> std::io::Result<()> {
        self.0.patch(key, at, bytes)
    }
    fn rename(&self, from: &Key, to: &Key) -> std::io::Result<()> {
        self.0.rename(from, to)
    }
    fn remove(&self, key: &Key) -> std::io::Result<()> {
        self.0.remove(key)
    }
    fn make_folder(&self, key: &Key) -> std::io::Result<()> {
        self.0.make_folder(key)
    }
    fn remove_folder(&self, key: &Key) -> std::io::Result<()> {
        self.0.remove_folder(key)
    }
    fn sync(&self, key: &Key) -> std::io::Result<()> {
        self.0.sync(key)
    }
    fn try_lock(
        &self,
        folder: &Key,
        hold: LockMode,
    ) -> std::io::Result<Option<Box<dyn bloscpack_storage::StoreLock>>> {
        self.0.try_lock(folder, hold)
    }
}

fn bytes(store: &dyn Store, at: &str) -> Vec<u8> {
    all_of(&*store.open(&key(at)).unwrap())
}

fn all_of(object: &dyn ReadAt) -> Vec<u8> {
    let mut bytes = vec![0; usize::try_from(object.size().unwrap()).unwrap()];
    object.read_exact_at(0, &mut bytes).unwrap();
    bytes
}

fn names(store: &dyn Store, folder: &str) -> Vec<(String, EntryKind)> {
    let entries = store.list(&key(folder)).unwrap().into_iter();
    entries
        .map(|entry| (entry.name.into_string().unwrap(), entry.kind))
        .collect()
}

fn kind_of<T>(result: std::io::Result<T>) -> ErrorKind {
    result.err().unwrap().kind()
}

#[test]
fn files_come_and_go() {
    on_each(|store| {
        assert_eq!(kind_of(store.open(&key("a"))), ErrorKind::NotFound);
        assert_eq!(store.kind(&key("a")).unwrap(), None);
        store.create(&key("a"), b"first").unwrap();
        assert_eq!(bytes(store, "a"), b"first");
        assert_eq!(store.kind(&key("a")).unwrap(), Some(EntryKind::File));
        assert_eq!(
            kind_of(store.create(&key("a"), b"again")),
            ErrorKind::AlreadyExists
        );
        assert_eq!(bytes(store, "a"), b"first");
        store.create_like(&key("empty"), &key("a"), b"").unwrap();
        assert_eq!(bytes(store, "empty"), b"");
        store.remove(&key("a")).unwrap();
        assert_eq!(kind_of(store.remove(&key("a"))), ErrorKind::NotFound);
        assert_eq!(names(store, ""), [("empty".to_owned(), EntryKind::File)]);
        store.sync(&Key::root()).unwrap();
        store.sync(&key("empty")).unwrap();
        assert_eq!(kind_of(store.sync(&key("a"))), ErrorKind::NotFound);
    });
}

#[test]
fn folders_come_and_go() {
    on_each(|store| {
        assert_eq!(kind_of(store.list(&key("a"))), ErrorKind::NotFound);
        assert_eq!(kind_of(store.make_folder(&key("a/b"))), ErrorKind::NotFound);
        assert_eq!(
            kind_of(store.create(&key("a/b"), b"x")),
            ErrorKind::NotFound
        );
        assert_eq!(store.kind(&key("a/b/c")).unwrap(), None);
        store.make_folder(&key("a")).unwrap();
        store.make_folder(&key("a")).unwrap();
        store.make_folder(&key("a/b")).unwrap();
        store.create(&key("a/b/file"), b"deep").unwrap();
        store.create(&key("a/another"), b"").unwrap();
        assert_eq!(bytes(store, "a/b/file"), b"deep");
        assert_eq!(
            names(store, "a"),
            [
                ("another".to_owned(), EntryKind::File),
                ("b".to_owned(), EntryKind::Folder)
            ]
        );
        assert_eq!(names(store, ""), [("a".to_owned(), EntryKind::Folder)]);
        store.sync(&key("a/b")).unwrap();
        for folder in ["a", "a/b"] {
            assert_eq!(
                kind_of(store.remove_folder(&key(folder))),
                ErrorKind::DirectoryNotEmpty
            );
        }
        store.remove(&key("a/b/file")).unwrap();
        store.remove_folder(&key("a/b")).unwrap();
        assert_eq!(
            kind_of(store.remove_folder(&key("a/b"))),
            ErrorKind::NotFound
        );
        assert_eq!(store.kind(&key("a/b/file")).unwrap(), None);
        assert_eq!(store.kind(&Key::root()).unwrap(), Some(EntryKind::Folder));
        store.make_folder(&Key::root()).unwrap();
    });
}

#[test]
fn files_are_no_folders_and_folders_no_files() {
    on_each(|store| {
        store.make_folder(&key("folder")).unwrap();
        store.create(&key("file"), b"file").unwrap();
        let wrong = [
            store.open(&key("folder")).err(),
            store.open(&Key::root()).err(),
            store.list(&key("file")).err(),
            store.create(&key("file/x"), b"").err(),
            store.create(&Key::root(), b"").err(),
            store.kind(&key("file/x")).err(),
            store.open(&key("file/x")).err(),
            store.patch(&key("folder"), 0, b"x").err(),
            store.remove(&key("folder")).err(),
            store.remove_folder(&key("file")).err(),
            store.remove_folder(&Key::root()).err(),
            store.rename(&key("folder"), &key("moved")).err(),
            store.make_folder(&key("file/x")).err(),
        ];
        for (number, error) in wrong.into_iter().enumerate() {
            let error = error.unwrap_or_else(|| panic!("{number} was done"));
            assert_eq!(error.kind(), ErrorKind::InvalidInput, "{number}: {error}");
        }
        assert_eq!(
            kind_of(store.make_folder(&key("file"))),
            ErrorKind::AlreadyExists
        );
        store.rename(&key("file"), &key("folder")).unwrap_err();
        assert_eq!(bytes(store, "file"), b"file");
        assert_eq!(store.kind(&key("folder")).unwrap(), Some(EntryKind::Folder));
    });
}

#[test]
fn bytes_lie_where_they_were_put() {
    on_each(|store| {
        store.create(&key("a"), b"0123").unwrap();
        store.patch(&key("a"), 1, b"xy").unwrap();
        assert_eq!(bytes(store, "a"), b"0xy3");
        store.patch(&key("a"), 3, b"abc").unwrap();
        store.patch(&key("a"), 6, b"!").unwrap();
        assert_eq!(bytes(store, "a"), b"0xyabc!");
        // An empty patch at a valid position succeeds.
        store.patch(&key("a"), 0, b"").unwrap();
        assert_eq!(
            kind_of(store.patch(&key("a"), 8, b"hole")),
            ErrorKind::InvalidInput
        );
        assert_eq!(
            kind_of(store.patch(&key("a"), u64::MAX, b"hole")),
            ErrorKind::InvalidInput
        );
        assert_eq!(
            kind_of(store.patch(&key("b"), 0, b"x")),
            ErrorKind::NotFound
        );
        assert_eq!(bytes(store, "a"), b"0xyabc!");
        let object = store.open(&key("a")).unwrap();
        assert_eq!(object.read_at(7, &mut [0; 3]).unwrap(), 0);
        assert_eq!(object.read_at(u64::MAX, &mut [0; 3]).unwrap_or(0), 0);
    });
}

#[test]
fn a_renamed_file_replaces_another_which_can_still_be_read() {
    on_each(|store| {
        store.make_folder(&key("data")).unwrap();
        store.create(&key("new"), b"new").unwrap();
        store.create(&key("data/0"), b"old").unwrap();
        let (old, new) = (
            store.open(&key("data/0")).unwrap(),
            store.open(&key("new")).unwrap(),
        );
        store.rename(&key("new"), &key("data/0")).unwrap();
        assert_eq!(bytes(store, "data/0"), b"new");
        assert_eq!(kind_of(store.open(&key("new"))), ErrorKind::NotFound);
        assert_eq!(
            (all_of(&*old), all_of(&*new)),
            (b"old".to_vec(), b"new".to_vec())
        );
        assert_eq!(
            kind_of(store.rename(&key("new"), &key("data/0"))),
            ErrorKind::NotFound
        );
        assert_eq!(
            kind_of(store.rename(&key("data/0"), &key("no/0"))),
            ErrorKind::NotFound
        );
        store.remove(&key("data/0")).unwrap();
        assert_eq!(all_of(&*new), b"new");
    });
}

#[test]
fn a_folder_that_is_made_again_is_another_one() {
    on_each(|store| {
        store.make_folder(&key("data")).unwrap();
        for round in 0..3u8 {
            store.create(&key("data/0"), &[round]).unwrap();
            assert_eq!(bytes(store, "data/0"), [round]);
            assert_eq!(store.kind(&key("data/1")).unwrap(), None);
            store.remove(&key("data/0")).unwrap();
            store.remove_folder(&key("data")).unwrap();
            assert_eq!(kind_of(store.open(&key("data/0"))), ErrorKind::NotFound);
            store.make_folder(&key("data")).unwrap();
        }
    });
}

#[test]
fn those_who_read_share_and_those_who_write_do_not() {
    on_each_with_locks(&|store| {
        store.make_folder(&key("own")).unwrap();
        for folder in [Key::root(), key("own")] {
            let hold = |hold| store.try_lock(&folder, hold).unwrap();
            let (one, two) = (hold(LockMode::Shared), hold(LockMode::Shared));
            assert!(one.is_some() && two.is_some());
            assert!(hold(LockMode::Exclusive).is_none());
            drop((one, two));
            let alone = hold(LockMode::Exclusive);
            assert!(alone.is_some());
            assert!(hold(LockMode::Shared).is_none() && hold(LockMode::Exclusive).is_none());
            drop(alone);
            assert!(hold(LockMode::Exclusive).is_some());
        }
        // Each folder has its own.
        let root = store.try_lock(&Key::root(), LockMode::Exclusive).unwrap();
        let own = store.try_lock(&key("own"), LockMode::Exclusive).unwrap();
        assert!(root.is_some() && own.is_some());
        assert_eq!(
            kind_of(store.try_lock(&key("no"), LockMode::Shared)),
            ErrorKind::NotFound
        );
    });
}

#[test]
fn a_memory_store_is_made_of_files() {
    let store = Memory::from([
        ("a/b/c", b"deep".to_vec()),
        ("a/d", Vec::new()),
        ("../up", b"no key".to_vec()),
    ]);
    assert_eq!(store.keys(), [key("a/b/c"), key("a/d")]);
    assert_eq!(store.bytes("a/b/c").as_deref(), Some(&b"deep"[..]));
    assert_eq!(store.bytes(key("a/b")), None);
    assert_eq!(store.kind(&key("a/b")).unwrap(), Some(EntryKind::Folder));
    let other = store.clone();
    other.remove(&key("a/d")).unwrap();
    assert_eq!(store.keys(), [key("a/b/c")]);
}

#[test]
fn keys_lead_nowhere_else() {
    for text in [
        "..", ".", "a/..", "../a", "a//b", "/a", "a/", "a/./b", "a\\b", "a\0b", "/", "a/../b",
    ] {
        assert_eq!(
            kind_of(Key::parse(text)),
            ErrorKind::InvalidInput,
            "{text:?}"
        );
    }
    assert_eq!(
        kind_of(Key::root().join(&"n".repeat(256))),
        ErrorKind::InvalidInput
    );
    assert_eq!(Key::parse("").unwrap(), Key::root());
    assert_eq!(key("a/b").names().collect::<Vec<_>>(), ["a", "b"]);
}
