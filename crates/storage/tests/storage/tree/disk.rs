//! Tests of stores in directories: several processes, killed processes, and read-only directories.
#![cfg(unix)]
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test fails by panicking"
)]

use bloscpack_storage::{
    Access, DiskStore, EntryKind, JournaledStore, Key, LockMode, LockTimeout, Store,
};
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};
use testkit::faulty::{ENOSPC, Fault, FaultyStore, Plan};
use testkit::stopwatch::HANG;

fn key(text: &str) -> Key {
    Key::parse(text).unwrap()
}

fn open(path: &Path, access: Access) -> bloscpack_storage::Result<JournaledStore> {
    JournaledStore::open(Arc::new(DiskStore::open(path).unwrap()), access)
}

/// Files that all contain the same number.
const COPIES: u64 = 12;

/// Changes all of them in one commit, and one file in place.
fn write_number(root: &JournaledStore, number: u64) -> bloscpack_storage::Result<()> {
    let bytes = number.to_le_bytes();
    for copy in 0..COPIES {
        root.put(&key(&format!("data/{copy}")), &bytes.repeat(100))?;
    }
    for place in 0..3 {
        root.patch(&key("log"), place * 5000, &bytes)?;
    }
    let end = root.read(&key("log"))?.size()?;
    root.patch(&key("log"), end, &bytes)?;
    // A new folder with a file; those of the last number are removed.
    let name = |number: u64| format!("round{number}");
    root.make_folder(&key(&name(number)))?;
    root.put(&key(&format!("{}/file", name(number))), &bytes)?;
    if let Some(last) = number.checked_sub(1) {
        root.remove(&key(&format!("{}/file", name(last))))?;
        root.remove_folder(&key(&name(last)))?;
    }
    root.put(&key("meta"), &bytes)?;
    root.commit()
}

fn number_in(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap())
}

/// The number that all files contain.
fn read_number(get: impl Fn(&str) -> Vec<u8>) -> u64 {
    let number = number_in(&get("meta"), 0);
    for copy in 0..COPIES {
        let bytes = get(&format!("data/{copy}"));
        assert_eq!(bytes, number.to_le_bytes().repeat(100), "data/{copy}");
    }
    let log = get("log");
    for place in 0..3 {
        assert_eq!(number_in(&log, place * 5000), number);
    }
    let appended = log[LOG_LEN..].chunks(8).map(|bytes| number_in(bytes, 0));
    assert_eq!(
        appended.collect::<Vec<_>>(),
        (0..=number).collect::<Vec<_>>()
    );
    assert_eq!(number_in(&get(&format!("round{number}/file")), 0), number);
    number
}

const LOG_LEN: usize = 20_000;

fn create(path: &Path) {
    let root =
        JournaledStore::open(Arc::new(DiskStore::create(path).unwrap()), Access::Write).unwrap();
    root.make_folder(&key("data")).unwrap();
    root.put(&key("log"), &[0; LOG_LEN]).unwrap();
    root.commit().unwrap();
    write_number(&root, 0).unwrap();
}

/// Writes until it is killed, and prints each number that is safe.
fn be_the_writer(path: &Path) {
    let root = open(path, Access::Write).unwrap();
    let mut number = read_number(|at| root.get(&key(at), 1 << 24).unwrap());
    loop {
        number += 1;
        write_number(&root, number).unwrap();
        println!("{number}");
        std::io::stdout().flush().unwrap();
    }
}

const WRITER: &str = "BLOSCPACK_TEST_WRITER";
const READER: &str = "BLOSCPACK_TEST_READER";

/// A process that runs this test again, in the role that the variable says.
fn child(test: &str, variable: &str, path: &Path) -> Command {
    let mut child = Command::new(std::env::current_exe().unwrap());
    child.args(["--exact", "--nocapture", &format!("tree::disk::{test}")]);
    child.env(variable, path);
    child
}

#[test]
fn a_killed_writer_leaves_the_old_or_the_new() {
    if let Some(path) = std::env::var_os(WRITER) {
        return be_the_writer(Path::new(&path));
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("set");
    create(&path);
    let (mut interrupted, mut last) = (0, 0);
    for round in 0..30u64 {
        let name = "a_killed_writer_leaves_the_old_or_the_new";
        let mut child = child(name, WRITER, &path)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut told = lines
            .map_while(Result::ok)
            .filter_map(|line| line.parse().ok());
        // At least one change, and then a few moments.
        let mut safe: u64 = told.next().unwrap();
        thread::sleep(Duration::from_micros(round * 7919 % 90_000));
        child.kill().unwrap();
        child.wait().unwrap();
        safe = told.last().unwrap_or(safe);
        let reader = open(&path, Access::Read).unwrap();
        let read = read_number(|at| reader.get(&key(at), 1 << 24).unwrap());
        drop(reader);
        assert!(
            read == safe || read == safe + 1,
            "{safe} was safe, found {read}"
        );
        assert!(read > last);
        let root = open(&path, Access::Write).unwrap();
        interrupted += usize::from(root.was_interrupted());
        drop(root);
        // Now any program sees the same, and nothing else is there.
        let again = read_number(|at| fs::read(path.join(at)).unwrap());
        assert_eq!(again, read);
        assert_eq!(fs::read_dir(&path).unwrap().count(), 4);
        last = read;
    }
    println!("{interrupted} of 30 were interrupted after the journal, {last} changes");
}

/// Everything below a folder, with its modes and times.
fn snapshot(path: &Path) -> Vec<(String, u32, i64, i64, u64)> {
    let mut all = Vec::new();
    let mut folders = vec![path.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            let meta = fs::symlink_metadata(&path).unwrap();
            let name = path.to_string_lossy().into_owned();
            all.push((
                name,
                meta.mode(),
                meta.mtime(),
                meta.mtime_nsec(),
                meta.len(),
            ));
            if meta.is_dir() {
                folders.push(path);
            }
        }
    }
    all.sort();
    all
}

/// Leaves a commit of which only the journal is there, because the disk failed then.
fn leave_interrupted(path: &Path) {
    for first in 0.. {
        let plan = Plan {
            fault: Fault::Error(ENOSPC),
            first,
            lasting: true,
        };
        let store = FaultyStore::new(Arc::new(DiskStore::open(path).unwrap()), plan);
        let _ = change_all(store);
        if path.join(".blpk/journal").exists() {
            return;
        }
    }
}

fn change_all(store: FaultyStore) -> bloscpack_storage::Result<()> {
    let root = JournaledStore::open(Arc::new(store), Access::Write)?;
    root.put(&key("data/0"), b"new")?;
    root.put(&key("data/new"), b"new")?;
    root.patch(&key("log"), 0, b"patched")?;
    root.make_folder(&key("late"))?;
    root.put(&key("meta"), b"changed")?;
    root.commit()
}

#[test]
fn what_others_put_in_the_way_is_noticed_before_anything_is_done() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("set");
    create(&path);
    let root = open(&path, Access::Write).unwrap();
    root.put(&key("data/0"), b"new").unwrap();
    root.put(&key("data/new"), b"new").unwrap();
    root.make_folder(&key("late")).unwrap();
    fs::write(path.join("late"), b"theirs").unwrap();
    root.commit().unwrap_err();
    fs::remove_file(path.join("late")).unwrap();
    fs::create_dir(path.join("data/new")).unwrap();
    root.commit().unwrap_err();
    fs::remove_dir(path.join("data/new")).unwrap();
    symlink("0", path.join("data/new")).unwrap();
    root.commit().unwrap_err();
    fs::remove_file(path.join("data/new")).unwrap();
    assert_eq!(fs::read(path.join("data/0")).unwrap(), [0; 800]);
    root.commit().unwrap();
    assert_eq!(fs::read(path.join("data/0")).unwrap(), b"new");
    assert!(path.join("late").is_dir());
}

#[test]
fn what_nobody_may_write_is_read_without_a_trace() {
    if let Some(path) = std::env::var_os(READER) {
        let root = open(Path::new(&path), Access::Read).unwrap();
        assert_eq!(root.get(&key("meta"), 100).unwrap(), b"changed");
        assert_eq!(root.get(&key("data/new"), 100).unwrap(), b"new");
        assert_eq!(&root.get(&key("log"), 1 << 20).unwrap()[..7], b"patched");
        assert_eq!(root.kind(&key("late")).unwrap(), Some(EntryKind::Folder));
        assert!(root.was_interrupted());
        let refused = open(Path::new(&path), Access::Write);
        println!("writing: {}", refused.is_ok());
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("set");
    create(&path);
    leave_interrupted(&path);
    let folders: Vec<_> = ["", "data", ".blpk"].map(|name| path.join(name)).into();
    for folder in &folders {
        fs::set_permissions(folder, fs::Permissions::from_mode(0o555)).unwrap();
    }
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
    let before = snapshot(&path);
    let root = open(&path, Access::Read).unwrap();
    assert_eq!(root.get(&key("meta"), 100).unwrap(), b"changed");
    drop(root);
    // The superuser may write everywhere, so another user has to try.
    let mut other = child(
        "what_nobody_may_write_is_read_without_a_trace",
        READER,
        &path,
    );
    if fs::metadata("/proc/self").is_ok_and(|own| own.uid() == 0) {
        other.uid(65534).gid(65534);
    }
    match other.output() {
        Ok(output) => {
            let text = String::from_utf8_lossy(&output.stdout);
            assert!(output.status.success(), "{text}");
            assert!(text.contains("writing: false"), "{text}");
        }
        // That user may not run this program.
        Err(error) => assert_eq!(error.kind(), std::io::ErrorKind::PermissionDenied),
    }
    assert_eq!(snapshot(&path), before);
    for folder in &folders {
        fs::set_permissions(folder, fs::Permissions::from_mode(0o755)).unwrap();
    }
    let root = open(&path, Access::Write).unwrap();
    assert!(root.was_interrupted());
    drop(root);
    assert_eq!(fs::read(path.join("meta")).unwrap(), b"changed");
    assert!(path.join("late").is_dir());
    assert!(!path.join(".blpk").exists());
}

#[test]
fn there_is_one_writer() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("set");
    create(&path);
    let root = open(&path, Access::Write).unwrap();
    let begun = Instant::now();
    let store = Arc::new(DiskStore::open(&path).unwrap());
    let timeout = LockTimeout::new(Duration::from_millis(20));
    let error = JournaledStore::open_with(store, Access::Write, timeout).unwrap_err();
    let text = error.to_string();
    assert!(
        text.ends_with(" process is writing to this store"),
        "{text}"
    );
    assert!(begun.elapsed() < HANG);
    drop(root);
    drop(open(&path, Access::Write).unwrap());
    // Writers that come and go: each has its turn.
    thread::scope(|scope| {
        let work = |_| {
            scope.spawn(|| {
                for _ in 0..12 {
                    let root = open(&path, Access::Write).unwrap();
                    let number = number_in(&root.get(&key("meta"), 8).unwrap(), 0);
                    write_number(&root, number + 1).unwrap();
                }
            })
        };
        let all: Vec<_> = (0..4).map(work).collect();
        all.into_iter().for_each(|one| one.join().unwrap());
    });
    let reader = open(&path, Access::Read).unwrap();
    let number = read_number(|at| reader.get(&key(at), 1 << 24).unwrap());
    assert_eq!(number, 48);
}

#[test]
fn a_writer_waits_for_readers_of_an_earlier_version() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("set");
    create(&path);
    let root = open(&path, Access::Write).unwrap();
    root.set_lock_timeout(LockTimeout::new(Duration::from_secs(60)));
    thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                let mut last = 0;
                while last < 20 {
                    let reader = open(&path, Access::Read).unwrap();
                    let number = read_number(|at| reader.get(&key(at), 1 << 24).unwrap());
                    assert!(number >= last);
                    last = number;
                    drop(reader);
                    thread::sleep(Duration::from_millis(1));
                }
            });
        }
        for number in 1..=20 {
            write_number(&root, number).unwrap();
        }
    });
    // Such a reader locks the root as long as it exists.
    let reader = DiskStore::open(&path).unwrap();
    let reader = reader.try_lock(&Key::root(), LockMode::Shared).unwrap();
    assert!(reader.is_some());
    root.set_lock_timeout(LockTimeout::new(Duration::from_millis(30)));
    let begun = Instant::now();
    root.put(&key("meta"), &21u64.to_le_bytes()).unwrap();
    let error = root.commit().unwrap_err();
    assert!(error.to_string().contains("reading"), "{error}");
    assert!(begun.elapsed() >= Duration::from_millis(30));
    drop(reader);
    root.rollback().unwrap();
    assert_eq!(number_in(&root.get(&key("meta"), 8).unwrap(), 0), 20);
}

#[test]
fn several_threads_put_at_the_same_time() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("set");
    create(&path);
    let root = open(&path, Access::Write).unwrap();
    root.make_folder(&key("many")).unwrap();
    for round in 0..5u8 {
        thread::scope(|scope| {
            for thread in 0..6u8 {
                let root = &root;
                scope.spawn(move || {
                    for number in 0..30u8 {
                        let own = key(&format!("many/{thread}-{number}"));
                        root.put(&own, &[round; 50]).unwrap();
                        root.patch(&own, 50, &[thread]).unwrap();
                        // All threads change this one, in some order.
                        root.put(&key("many/all"), &[thread; 9]).unwrap();
                        root.patch(&key("many/all"), 3, &[thread]).unwrap();
                        assert_eq!(root.get(&own, 51).unwrap()[50], thread);
                        let all = root.get(&key("many/all"), 9).unwrap();
                        assert_eq!(all.len(), 9);
                        root.list(&key("many")).unwrap();
                    }
                });
            }
        });
        root.commit().unwrap();
    }
    drop(root);
    assert_eq!(fs::read_dir(path.join("many")).unwrap().count(), 181);
    assert_eq!(
        fs::read(path.join("many/3-7")).unwrap(),
        [&[4; 50][..], &[3]].concat()
    );
    assert!(!path.join(".blpk").exists());
}

#[test]
fn our_folder_is_no_link() {
    let folder = tempfile::tempdir().unwrap();
    let (path, outside) = (folder.path().join("set"), folder.path().join("outside"));
    create(&path);
    fs::create_dir(&outside).unwrap();
    let staged = outside.join(format!("{}-1", "a".repeat(32)));
    fs::write(&staged, b"not ours").unwrap();
    symlink(&outside, path.join(".blpk")).unwrap();
    open(&path, Access::Read).unwrap_err();
    open(&path, Access::Write).unwrap_err();
    assert_eq!(fs::read_dir(&outside).unwrap().count(), 1);
    fs::remove_file(path.join(".blpk")).unwrap();
    fs::create_dir(path.join(".blpk")).unwrap();
    symlink(&staged, path.join(".blpk/journal")).unwrap();
    open(&path, Access::Read).unwrap_err();
    open(&path, Access::Write).unwrap_err();
    assert_eq!(fs::read(&staged).unwrap(), b"not ours");
}

#[test]
fn what_cannot_be_patched_is_refused_before_anything_is_done() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("set");
    create(&path);
    let root = open(&path, Access::Write).unwrap();
    fs::hard_link(path.join("meta"), folder.path().join("other")).unwrap();
    root.patch(&key("meta"), 0, b"x").unwrap_err();
    root.patch(&key("log"), 0, b"x").unwrap();
    root.put(&key("data/0"), b"new").unwrap();
    // It gets another name after it was patched.
    fs::hard_link(path.join("log"), folder.path().join("log")).unwrap();
    root.commit().unwrap_err();
    assert_eq!(
        fs::read(path.join("data/0")).unwrap(),
        0u64.to_le_bytes().repeat(100)
    );
    fs::remove_file(folder.path().join("log")).unwrap();
    root.commit().unwrap();
    assert_eq!(fs::read(path.join("data/0")).unwrap(), b"new");
    // A file with two names can be replaced, and the other name keeps the old one.
    root.put(&key("meta"), b"mine").unwrap();
    root.commit().unwrap();
    assert_eq!(fs::read(folder.path().join("other")).unwrap(), [0; 8]);
    drop(root);
    let names: Vec<_> = fs::read_dir(&path)
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    assert!(!names.contains(&".blpk".into()), "{names:?}");
}

#[test]
fn another_program_that_changes_a_patched_file_is_noticed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("set");
    create(&path);
    let root = open(&path, Access::Write).unwrap();
    root.patch(&key("log"), 3, b"x").unwrap();
    root.put(&key("data/0"), b"new").unwrap();
    fs::write(path.join("log"), b"shorter").unwrap();
    let error = root.commit().unwrap_err();
    assert!(
        error.to_string().contains("log: another program"),
        "{error}"
    );
    root.rollback().unwrap();
    root.put(&key("data/0"), b"newer").unwrap();
    root.commit().unwrap();
    assert_eq!(fs::read(path.join("log")).unwrap(), b"shorter");
}
