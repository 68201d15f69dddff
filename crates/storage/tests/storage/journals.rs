//! Tests that changes which an older version left interrupted are read through and completed: `testdata/journals`
//! contains its files and journals, byte by byte.

use crate::tree::crash::seen;
use bloscpack_storage::{Access, Folder, JournaledFile, JournaledStore, LockTimeout};
use bloscpack_storage::{Memory, ReadAt, Snapshot};
use std::sync::Arc;
use std::time::Duration;
use testkit::recorder::{Disk, Found, TreeRecorder};

/// The files that were left, and those that they have to become.
struct Case {
    name: String,
    left: Found,
    after: Found,
}

/// Lines are `case NAME`, then `left` and `after` with a key and its bytes in hexadecimal, or `KEY/` for a folder.
fn cases(file: &str) -> Vec<Case> {
    let path = testkit::root().join("testdata/journals").join(file);
    let text = std::fs::read_to_string(path).unwrap();
    let mut cases: Vec<Case> = Vec::new();
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let (word, rest) = line.split_once(' ').unwrap();
        if word == "case" {
            cases.push(Case {
                name: rest.to_owned(),
                left: Found::new(),
                after: Found::new(),
            });
            continue;
        }
        let case = cases.last_mut().unwrap();
        let found = match word {
            "left" => &mut case.left,
            "after" => &mut case.after,
            _ => panic!("{line}"),
        };
        match rest.split_once(' ') {
            Some((key, hex)) => found.insert(key.to_owned(), Some(bytes(hex))),
            None => found.insert(rest.trim_end_matches('/').to_owned(), None),
        };
    }
    cases
}

fn bytes(hex: &str) -> Vec<u8> {
    let pairs = hex.as_bytes().chunks(2);
    pairs
        .map(|pair| u8::from_str_radix(str::from_utf8(pair).unwrap(), 16).unwrap())
        .collect()
}

#[test]
fn journals_of_files_are_completed() {
    for Case { name, left, after } in cases("file.txt") {
        let files = left
            .iter()
            .map(|(key, bytes)| (key, bytes.clone().unwrap()));
        let folder: Memory = files.collect();
        let now = || -> Found {
            let names = Folder::list(&folder).unwrap().into_iter();
            let found = names.map(|name| (name.to_str().unwrap().to_owned(), folder.bytes(&name)));
            found.collect()
        };
        let snapshot = Snapshot::open_in(&folder, "log".as_ref()).unwrap();
        let mut seen = vec![0; usize::try_from(snapshot.size().unwrap()).unwrap()];
        snapshot.read_exact_at(0, &mut seen).unwrap();
        assert_eq!(Some(seen), after["log"], "{name}: read");
        drop(snapshot);
        assert_eq!(now(), left, "{name}: reading has changed something");
        let timeout = LockTimeout::new(Duration::ZERO);
        drop(JournaledFile::open(folder.clone(), "log".as_ref(), &timeout).unwrap());
        assert_eq!(now(), after, "{name}: completed");
    }
}

#[test]
fn journals_of_stores_are_completed() {
    for Case { name, left, after } in cases("store.txt") {
        let recorder = TreeRecorder::new(Disk::of(&left));
        let open = |access| JournaledStore::open(Arc::new(recorder.clone()), access).unwrap();
        let reader = open(Access::Read);
        assert!(reader.was_interrupted());
        assert_eq!(seen(&reader).unwrap(), after, "{name}: read");
        drop(reader);
        assert_eq!(
            recorder.disk().found(),
            left,
            "{name}: reading has changed something"
        );
        drop(open(Access::Write));
        assert_eq!(recorder.disk().found(), after, "{name}: completed");
    }
}
