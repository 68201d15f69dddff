//! Readers and writers of one store at the same time.

use bloscpack_storage::{
    Access, DiskStore, EntryKind, JournaledStore, Key, LockMode, LockTimeout, Memory, Presence,
    ReadAt, Result, Store,
};
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};
use testkit::stopwatch::HANG;

fn key(text: &str) -> Key {
    Key::parse(text).unwrap()
}

/// The files of a store after this many commits: one that is replaced, one that is patched and
/// becomes longer and shorter, some that come and go, and a folder that does, too.
fn content(commits: u64) -> BTreeMap<String, Vec<u8>> {
    let numbers = |count| -> Vec<u8> { (0..count).flat_map(|_| commits.to_be_bytes()).collect() };
    let mut files = BTreeMap::from([
        ("count".to_owned(), numbers(1)),
        ("data/whole".to_owned(), numbers(500 + commits % 9)),
        ("data/patched".to_owned(), numbers(1000 + commits)),
    ]);
    for number in 0..commits % 4 {
        files.insert(format!("data/{number}"), numbers(100 + number));
    }
    if commits.is_multiple_of(3) {
        files.insert("more/last".to_owned(), numbers(40));
    }
    files
}

/// Changes the content after some number of commits to the next one.
fn change(store: &JournaledStore, commits: u64) -> Result<()> {
    let (old, new) = (content(commits - 1), content(commits));
    for (name, bytes) in &new {
        let key = key(name);
        match (name.as_str(), old.get(name)) {
            ("data/patched", Some(_)) => store.patch(&key, 0, bytes)?,
            (_, Some(_)) => store.put(&key, bytes)?,
            (_, None) => {
                let (folder, _) = key.split().unwrap();
                store.make_folder(&folder)?;
                store.put(&key, bytes)?;
            }
        }
    }
    for name in old.keys().filter(|name| !new.contains_key(*name)) {
        store.remove(&key(name))?;
        if name.starts_with("more/") {
            store.remove_folder(&key("more"))?;
        }
    }
    store.commit()
}

/// Commits each of these numbers, by one writer.
fn write(store: &Arc<dyn Store>, numbers: Range<u64>, commits: &AtomicU64) -> Result<()> {
    let timeout = LockTimeout::new(HANG);
    let writer = JournaledStore::open_with(Arc::clone(store), Access::Write, timeout)?;
    for number in numbers {
        change(&writer, number)?;
        commits.store(number, Ordering::SeqCst);
    }
    Ok(())
}

fn create(store: &Arc<dyn Store>) {
    let writer = JournaledStore::open(Arc::clone(store), Access::Write).unwrap();
    for (name, bytes) in content(0) {
        let key = key(&name);
        writer.make_folder(&key.split().unwrap().0).unwrap();
        writer.put(&key, &bytes).unwrap();
    }
    writer.commit().unwrap();
}

/// All files below a folder.
fn files_below(store: &JournaledStore, folder: &Key, files: &mut BTreeMap<String, Vec<u8>>) {
    for entry in store.list(folder).unwrap() {
        let key = folder.join(entry.name.to_str().unwrap()).unwrap();
        assert_eq!(store.kind(&key).unwrap(), Some(entry.kind));
        match entry.kind {
            EntryKind::Folder => files_below(store, &key, files),
            _ => drop(files.insert(key.to_string(), store.get(&key, 1 << 20).unwrap())),
        }
    }
}

/// The number of the commit whose content this is.
fn number_of(store: &JournaledStore) -> u64 {
    let count = store.get(&key("count"), 8).unwrap();
    let number = u64::from_be_bytes(count.try_into().unwrap());
    let mut files = BTreeMap::new();
    files_below(store, &Key::root(), &mut files);
    let expected = content(number);
    assert_eq!(
        files.keys().collect::<Vec<_>>(),
        expected.keys().collect::<Vec<_>>(),
        "{number}"
    );
    for (name, bytes) in &files {
        assert!(bytes == &expected[name], "torn: {name} of {number}");
    }
    number
}

fn open(store: &Arc<dyn Store>) -> JournaledStore {
    JournaledStore::open(Arc::clone(store), Access::Read).unwrap()
}

/// Readers that refresh, that open again, and that stay with what they have, while there are commits.
fn together(store: &Arc<dyn Store>, readers: usize, time: Duration) {
    create(store);
    let (commits, opened) = (AtomicU64::new(0), AtomicU64::new(0));
    let is_over = AtomicBool::new(false);
    thread::scope(|scope| {
        for reader in 0..readers {
            let (commits, is_over, opened) = (&commits, &is_over, &opened);
            scope.spawn(move || {
                let mut snapshot = open(store);
                let mut last = number_of(&snapshot);
                while !is_over.load(Ordering::Relaxed) {
                    let before = commits.load(Ordering::SeqCst);
                    match reader % 3 {
                        0 => drop(snapshot.refresh().unwrap()),
                        1 => snapshot = open(store),
                        _ => {
                            let object = snapshot.read(&key("data/patched")).unwrap();
                            // An old snapshot stays as it is.
                            for _ in 0..20 {
                                assert_eq!(number_of(&snapshot), last);
                                let mut number = [0; 8];
                                object.read_exact_at(80, &mut number).unwrap();
                                assert_eq!(u64::from_be_bytes(number), last);
                                thread::sleep(Duration::from_millis(1));
                            }
                            snapshot.refresh().unwrap();
                        }
                    }
                    last = number_of(&snapshot);
                    assert!(last >= before, "{last} after {before} commits");
                    opened.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
        let begun = Instant::now();
        let mut number: u64 = 1;
        let is_enough = |number| number > 6 && opened.load(Ordering::Relaxed) > 5;
        while begun.elapsed() < time || (!is_enough(number) && begun.elapsed() < HANG) {
            let end = number + 1 + (number / 7) % 20;
            write(store, number..end, &commits).unwrap();
            number = end;
        }
        is_over.store(true, Ordering::Relaxed);
    });
    let number = commits.load(Ordering::Relaxed);
    let opened = opened.load(Ordering::Relaxed);
    println!("{number} commits and {opened} snapshots in {time:?}");
    assert!(number > 5 && opened > 5);
    // Nothing is left once the next writer is done.
    write(store, number + 1..number + 2, &commits).unwrap();
    assert_eq!(store.kind(&key(".blpk")).unwrap(), None);
}

#[test]
fn in_memory() {
    let store: Arc<dyn Store> = Arc::new(Memory::new());
    together(&store, 6, Duration::from_secs(2));
}

/// Whether handles of this store see one another.
fn is_seen(store: &dyn Store) -> bool {
    let root = store.handle(&Key::root(), Access::Read).unwrap();
    root.is_some_and(|root| {
        let presence: Option<&dyn Presence> = root.presence();
        presence.is_some_and(|root| root.announce(9).unwrap())
    })
}

#[test]
fn on_disk() {
    let folder = tempfile::tempdir().unwrap();
    let store: Arc<dyn Store> = Arc::new(DiskStore::open(folder.path()).unwrap());
    if !is_seen(&*store) {
        println!("on this file system writers wait for readers");
        return;
    }
    together(&store, 6, Duration::from_secs(3));
}

#[test]
fn readers_keep_what_they_have_when_writers_come_and_go() {
    let store: Arc<dyn Store> = Arc::new(Memory::new());
    create(&store);
    let commits = AtomicU64::new(0);
    let mut readers = vec![open(&store)];
    for number in 1..12 {
        write(&store, number..number + 1, &commits).unwrap();
        readers.push(open(&store));
        for (expected, reader) in readers.iter().enumerate() {
            assert_eq!(number_of(reader), expected as u64);
        }
    }
    assert!(readers[0].refresh().unwrap());
    assert!(!readers[11].refresh().unwrap());
    assert_eq!(number_of(&readers[0]), 11);
    drop(readers);
    write(&store, 12..13, &commits).unwrap();
    assert_eq!(store.kind(&key(".blpk")).unwrap(), None);
}

#[test]
fn a_writer_of_an_earlier_version_is_noticed() {
    let store: Arc<dyn Store> = Arc::new(Memory::new());
    create(&store);
    let reader = open(&store);
    // It locks the root and its own folder, puts files in their places, and keeps no history.
    store.make_folder(&key(".blpk")).unwrap();
    let guard = store.try_lock(&Key::root(), LockMode::Exclusive).unwrap();
    assert!(guard.is_some());
    store.create(&key(".blpk/new"), b"another").unwrap();
    store.rename(&key(".blpk/new"), &key("data/whole")).unwrap();
    store.remove_folder(&key(".blpk")).unwrap();
    drop(guard);
    let error = reader.get(&key("data/whole"), 1 << 20).unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::StaleNetworkFileHandle);
    assert_eq!(
        open(&store).get(&key("data/whole"), 1 << 20).unwrap(),
        b"another"
    );
}

#[test]
fn a_killed_writer_leaves_readers_with_what_they_have_or_an_error() {
    let store: Arc<dyn Store> = Arc::new(Memory::new());
    create(&store);
    let reader = open(&store);
    let writer = JournaledStore::open(Arc::clone(&store), Access::Write).unwrap();
    change(&writer, 1).unwrap();
    assert_eq!(number_of(&reader), 0);
    // Its locks and announcements stay, as if it were stopped.
    std::mem::forget(writer);
    assert_eq!(number_of(&reader), 0);
    assert_eq!(number_of(&open(&store)), 1);
}
