//! Tests of the guarantees of a journaled store while nothing fails.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test fails by panicking"
)]

use super::pending::Pending;
use super::*;
use crate::{Access, LockTimeout, Memory, ReadAt};
use std::io::ErrorKind;
use std::sync::Arc;
use std::time::Duration;

fn key(text: &str) -> Key {
    Key::parse(text).unwrap()
}

fn writer(store: &Memory) -> JournaledStore {
    JournaledStore::open(Arc::new(store.clone()), Access::Write).unwrap()
}

fn reader(store: &Memory) -> JournaledStore {
    JournaledStore::open(Arc::new(store.clone()), Access::Read).unwrap()
}

fn names(root: &JournaledStore, folder: &str) -> Vec<String> {
    let entries = root.list(&key(folder)).unwrap().into_iter();
    entries
        .map(|entry| entry.name.into_string().unwrap())
        .collect()
}

#[test]
fn changes_are_seen_here_at_once_and_elsewhere_after_the_commit() {
    let store = Memory::from([
        ("meta/sizes", b"old".to_vec()),
        ("data/0", b"0123456789".to_vec()),
    ]);
    let root = writer(&store);
    root.put(&key("data/1"), b"one").unwrap();
    root.patch(&key("data/1"), 3, b"!").unwrap();
    root.patch(&key("data/0"), 8, b"abc").unwrap();
    root.patch(&key("data/0"), 4, b"xyz").unwrap();
    root.patch(&key("data/0"), 5, b"-").unwrap();
    root.put(&key("meta/sizes"), b"new").unwrap();
    root.make_folder(&key("col")).unwrap();
    root.make_folder(&key("col/data")).unwrap();
    root.put(&key("col/data/0"), b"deep").unwrap();
    let see = |root: &JournaledStore| {
        let get = |at: &str| root.get(&key(at), 100).unwrap();
        assert_eq!(get("data/1"), b"one!");
        assert_eq!(get("data/0"), b"0123x-z7abc");
        assert_eq!(get("meta/sizes"), b"new");
        assert_eq!(get("col/data/0"), b"deep");
        assert_eq!(names(root, ""), ["col", "data", "meta"]);
        assert_eq!(names(root, "data"), ["0", "1"]);
        assert_eq!(names(root, "col/data"), ["0"]);
    };
    see(&root);
    let before = reader(&store);
    assert_eq!(before.get(&key("meta/sizes"), 100).unwrap(), b"old");
    assert_eq!(names(&before, ""), ["data", "meta"]);
    assert_eq!(before.kind(&key("data/1")).unwrap(), None);
    drop(before);
    root.commit().unwrap();
    see(&root);
    see(&reader(&store));
    drop(root);
    see(&reader(&store));
    assert_eq!(store.kind(&key(".blpk")).unwrap(), None);
    let keys: Vec<_> = store.keys().iter().map(ToString::to_string).collect();
    assert_eq!(keys, ["col/data/0", "data/0", "data/1", "meta/sizes"]);
}

#[test]
fn what_was_not_committed_was_never_there() {
    let store = Memory::from([("a", b"old".to_vec())]);
    for give_up in [true, false] {
        let root = writer(&store);
        root.put(&key("a"), b"new").unwrap();
        root.put(&key("b"), b"new").unwrap();
        root.make_folder(&key("c")).unwrap();
        if give_up {
            root.rollback().unwrap();
            assert_eq!(root.get(&key("a"), 9).unwrap(), b"old");
            assert_eq!(
                root.get(&key("b"), 9).unwrap_err().kind(),
                ErrorKind::NotFound
            );
            assert_eq!(names(&root, ""), ["a"]);
        }
        drop(root);
        assert_eq!(store.keys(), [key("a")]);
        assert_eq!(store.bytes("a").as_deref(), Some(&b"old"[..]));
        assert_eq!(store.list(&Key::root()).unwrap().len(), 1);
    }
}

#[test]
fn a_directory_is_changed_as_a_whole() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("set");
    let store = Arc::new(DiskStore::create(&path).unwrap());
    let root = JournaledStore::open(Arc::clone(&store) as Arc<dyn Store>, Access::Write).unwrap();
    let again = Arc::new(DiskStore::open(&path).unwrap());
    let timeout = LockTimeout::new(Duration::from_millis(20));
    let second = JournaledStore::open_with(again, Access::Write, timeout);
    let error = second.unwrap_err().to_string();
    assert!(
        error.ends_with(" process is writing to this store"),
        "{error}"
    );
    root.make_folder(&key("data")).unwrap();
    for number in 0..20 {
        root.put(&key(&format!("data/{number}")), &[number; 1000])
            .unwrap();
    }
    root.commit().unwrap();
    root.patch(&key("data/7"), 1000, b"more").unwrap();
    root.remove(&key("data/8")).unwrap();
    root.commit().unwrap();
    drop(root);
    let read = |name: &str| std::fs::read(path.join(name)).ok();
    assert_eq!(read("data/7").map(|bytes| bytes.len()), Some(1004));
    assert_eq!(read("data/8"), None);
    assert_eq!(read("data/19"), Some(vec![19; 1000]));
    assert_eq!(std::fs::read_dir(&path).unwrap().count(), 1);
}

/// Otherwise many patches of one file, also of one that is read in between, would take quadratic time.
#[test]
fn a_patch_is_laid_where_the_others_are() {
    let store = Memory::from([("a", vec![0; 100])]);
    let root = JournaledStore::open(Arc::new(store), Access::Write).unwrap();
    let at = Key::parse("a").unwrap();
    let place = || match root.state().get(&at) {
        Some(Pending::Patch(patch)) => Arc::as_ptr(patch),
        other => panic!("{other:?}"),
    };
    root.patch(&at, 0, b"x").unwrap();
    let first = place();
    for step in 1..10 {
        root.patch(&at, 10 * step, b"y").unwrap();
        assert_eq!(place(), first);
        assert_eq!(root.get(&at, 100).unwrap().len(), 100);
    }
    // Objects that were read before do not change.
    let held = root.read(&at).unwrap();
    root.patch(&at, 5, b"z").unwrap();
    let (mut old, mut new) = ([0], [0]);
    held.read_exact_at(5, &mut old).unwrap();
    root.read(&at).unwrap().read_exact_at(5, &mut new).unwrap();
    assert_eq!((old, new), ([0], [b'z']));
}

#[test]
fn patches_spill_into_a_staged_file_and_are_committed_from_there() {
    let store = Memory::from([("a", vec![0; 100]), ("b", vec![0; 100])]);
    let root = writer(&store);
    root.set_patch_memory(50);
    let staged = || store.list(&key(".blpk")).unwrap().len();
    root.patch(&key("a"), 0, &[1; 50]).unwrap();
    assert_eq!(staged(), 0);
    root.patch(&key("b"), 90, &[2; 20]).unwrap();
    assert_eq!(staged(), 1);
    // One piece over a spilled one, and more that are appended to the staged file.
    root.patch(&key("a"), 40, &[3; 20]).unwrap();
    root.patch(&key("b"), 110, &[4; 60]).unwrap();
    assert_eq!(staged(), 1);
    let a = [[1; 40].as_slice(), &[3; 20], &[0; 40]].concat();
    let b = [[0; 90].as_slice(), &[2; 20], &[4; 60]].concat();
    let see = |root: &JournaledStore| {
        assert_eq!(root.get(&key("a"), 200).unwrap(), a);
        assert_eq!(root.get(&key("b"), 200).unwrap(), b);
    };
    see(&root);
    root.commit().unwrap();
    see(&root);
    assert_eq!(staged(), 0);
    see(&reader(&store));
}
