//! Tests that journals that are damaged, forged, or of another store are refused, and change nothing.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test fails by panicking"
)]

use super::crash::seen;
use super::model::{self, Model, changes};
use bloscpack_storage::{Access, EntryKind, Error, JournaledStore, Key, Memory, Store};
use sha2::{Digest, Sha256};
use std::sync::Arc;
use testkit::crash::{Depth, for_each_state};
use testkit::golden::Random;
use testkit::recorder::{Disk, Found, Op, TreeRecorder};

const JOURNAL: &str = ".blpk/journal";

fn key(text: &str) -> Key {
    Key::parse(text).unwrap()
}

fn open(store: &TreeRecorder, access: Access) -> bloscpack_storage::Result<JournaledStore> {
    model::open(store.clone(), access)
}

/// A state in which a commit was interrupted, with the content before and after the commit.
#[derive(Clone)]
struct Interrupted {
    left: Found,
    before: Found,
    after: Found,
}

/// Interrupted states of some commits, each with a journal.
fn interrupted(count: usize, random: &mut Random) -> Vec<Interrupted> {
    let mut all = Vec::new();
    while all.len() < count {
        let before = Model::at_random(random).found;
        let mut model = Model::new(before.clone());
        let changes = changes(&mut model, random);
        let recorder = TreeRecorder::new(Disk::of(&before));
        let root = open(&recorder, Access::Write).unwrap();
        changes
            .iter()
            .for_each(|change| change.make(&root).unwrap());
        root.commit().unwrap();
        drop(root);
        let (depth, mut states) = (
            Depth {
                exhaustive: 0,
                random: 1,
            },
            Vec::new(),
        );
        for_each_state(&recorder.log(), &[], depth, random, |_, disk| {
            if disk.found().contains_key(JOURNAL) {
                states.push(disk.found());
            }
        });
        let pick = |left: Found| Interrupted {
            left,
            before: before.clone(),
            after: model.found.clone(),
        };
        all.extend(states.into_iter().step_by(3).take(4).map(pick));
    }
    all
}

/// Asserts that this is refused, for reading and for writing, and not changed.
fn assert_refused(left: &Found, why: &str) {
    let recorder = TreeRecorder::new(Disk::of(left));
    for access in [Access::Read, Access::Write] {
        let error = match open(&recorder, access) {
            Err(error) => error,
            Ok(_) => panic!("{why}: {access:?} was granted"),
        };
        assert!(matches!(error, Error::Interrupted { .. }), "{why}: {error}");
    }
    assert_eq!(
        recorder.disk().found(),
        *left,
        "{why}: something was touched"
    );
}

fn journal(left: &Found) -> Vec<u8> {
    left[JOURNAL].clone().unwrap()
}

fn with_journal(left: &Found, bytes: &[u8]) -> Found {
    let mut left = left.clone();
    left.insert(JOURNAL.to_owned(), Some(bytes.to_vec()));
    left
}

#[test]
fn each_damaged_byte_of_a_journal_is_found() {
    let random = &mut Random::new(11);
    for state in interrupted(6, random) {
        let whole = journal(&state.left);
        for at in 0..whole.len() {
            let mut bytes = whole.clone();
            bytes[at] ^= 1 << random.below(8);
            assert_refused(&with_journal(&state.left, &bytes), &format!("byte {at}"));
        }
        for len in 0..whole.len() {
            let cut = with_journal(&state.left, &whole[..len]);
            assert_refused(&cut, &format!("cut at {len}"));
        }
        let longer = [&whole[..], b"!"].concat();
        assert_refused(&with_journal(&state.left, &longer), "longer");
    }
}

/// The length of the head, whose checksum is made right again after a forgery.
const HEAD_LEN: usize = 68;

fn signed(mut bytes: Vec<u8>) -> Vec<u8> {
    let crc = crc32fast::hash(&bytes[..HEAD_LEN - 4]).to_le_bytes();
    bytes[HEAD_LEN - 4..HEAD_LEN].copy_from_slice(&crc);
    let end = bytes.len() - 4;
    let crc = crc32fast::hash(&bytes[..end]).to_le_bytes();
    bytes[end..].copy_from_slice(&crc);
    bytes
}

/// Whatever a journal with right checksums says: no panic, no hang, no memory for bytes that do not
/// exist, and only keys below the root.
#[test]
fn forged_journals_are_refused_or_obeyed_within_the_store() {
    let random = &mut Random::new(12);
    let (mut refused, mut tried) = (0, 0);
    for state in interrupted(60, random) {
        let whole = journal(&state.left);
        for _ in 0..60 {
            let mut bytes = whole.clone();
            for _ in 0..1 + random.below(3) {
                let at = 12 + random.below(bytes.len() - 16);
                match random.below(4) {
                    0 => bytes[at] = u8::try_from(random.below(256)).unwrap(),
                    1 => bytes[at] = 0xff,
                    2 => {
                        let end = bytes.len().min(at + 8);
                        bytes[at..end].fill([0, 0xff, 0x7f][random.below(3)]);
                    }
                    _ => bytes[at] = bytes[at].wrapping_add(1),
                }
            }
            let left = with_journal(&state.left, &signed(bytes));
            for access in [Access::Read, Access::Write] {
                let recorder = TreeRecorder::new(Disk::of(&left));
                tried += 1;
                match open(&recorder, access) {
                    Ok(root) => {
                        let _ = seen(&root);
                    }
                    Err(_) => refused += 1,
                }
            }
        }
    }
    println!("{refused} of {tried} refused");
    assert!(refused > tried / 2);
}

/// A journal made by hand, with one step.
fn forged(step: &[u8]) -> Vec<u8> {
    let mut bytes = b"blpktree\x01\0\0\0".to_vec();
    bytes.extend_from_slice(&[9; 16]);
    bytes.extend_from_slice(&(step.len() as u64).to_le_bytes());
    bytes.extend_from_slice(&[0; 8 + 20 + 4]);
    bytes.extend_from_slice(step);
    bytes.extend_from_slice(&[0; 4]);
    signed(bytes)
}

fn step(kind: u8, at: &str, rest: &[u8]) -> Vec<u8> {
    let len = u16::try_from(at.len()).unwrap().to_le_bytes();
    [&[kind], &len[..], at.as_bytes(), rest].concat()
}

#[test]
fn journals_name_only_keys_below_the_root_that_are_not_ours() {
    let left = |bytes: Vec<u8>| {
        Found::from([
            (".blpk".to_owned(), None),
            (JOURNAL.to_owned(), Some(bytes)),
            ("meta".to_owned(), Some(b"x".to_vec())),
        ])
    };
    for at in [
        "..",
        "../x",
        "a/../../x",
        "/etc",
        "a//b",
        "",
        ".",
        "a\0b",
        "a\\b",
        ".blpk",
        ".blpk/x",
        ".BLPK/y",
    ] {
        assert_refused(&left(forged(&step(4, at, &[]))), at);
    }
    for wrong in [
        step(0, "a", &[]),
        step(6, "a", &[]),
        step(4, "a", b"more"),
        [step(4, "a", &[]), step(5, "a", &[])].concat(),
        vec![4, 0xff, 0xff, b'a'],
        step(2, "meta", &[0xff; 200]),
        step(1, "meta", &[0xff; 60]),
        step(3, "meta", &[0; 16]),
        step(4, "meta", &[]),
    ] {
        assert_refused(&left(forged(&wrong)), &format!("{wrong:?}"));
    }
    // These journals are refused for their keys and steps, not for the way they are made.
    let store = TreeRecorder::new(Disk::of(&left(forged(&step(4, "a", &[])))));
    let root = open(&store, Access::Write).unwrap();
    assert!(root.was_interrupted());
    assert_eq!(root.kind(&key("a")).unwrap(), Some(EntryKind::Folder));
}

/// A step that puts the staged file of this number, with these bytes, under a key that is free.
fn put_step(at: &str, number: u64, bytes: &[u8]) -> Vec<u8> {
    let len = bytes.len() as u64;
    // The first and the last 4 KiB, both of which are all of a short file.
    let hash = Sha256::new().chain_update(bytes).chain_update(bytes);
    let mut rest = number.to_le_bytes().to_vec();
    rest.extend_from_slice(&crc32fast::hash(bytes).to_le_bytes());
    rest.extend_from_slice(&len.to_le_bytes());
    rest.extend_from_slice(&hash.finalize()[..8]);
    rest.extend_from_slice(&[0; 17]);
    step(1, at, &rest)
}

/// Otherwise each step would read the whole file, and the second rename would fail.
#[test]
fn a_staged_file_goes_to_one_place() {
    let left = |places: [u64; 2]| {
        let steps = [
            put_step("a", places[0], b"new"),
            put_step("b", places[1], b"new"),
        ];
        let staged = |number: u64| format!(".blpk/{}-{number}", "09".repeat(16));
        Found::from([
            (".blpk".to_owned(), None),
            (JOURNAL.to_owned(), Some(forged(&steps.concat()))),
            (staged(1), Some(b"new".to_vec())),
            (staged(2), Some(b"new".to_vec())),
        ])
    };
    assert_refused(&left([1, 1]), "a number twice");
    let store = TreeRecorder::new(Disk::of(&left([1, 2])));
    let root = open(&store, Access::Write).unwrap();
    assert_eq!(root.kind(&key("b")).unwrap(), Some(EntryKind::File));
}

/// The content of a store without its staging folder.
fn content(left: &Found) -> Found {
    let own = |key: &str| key == ".blpk" || key.starts_with(".blpk/");
    let all = left.iter().filter(|(key, _)| !own(key));
    all.map(|(key, bytes)| (key.clone(), bytes.clone()))
        .collect()
}

/// The staging folder of one store, copied into another.
#[test]
fn a_journal_of_another_store_is_not_obeyed() {
    let random = &mut Random::new(13);
    // Salts are random, and decide which states are equal: there are 3000 to 6000 pairs.
    let all = interrupted(160, random);
    let mut pairs = 0;
    for one in &all {
        let changed: Vec<_> = one
            .before
            .keys()
            .chain(one.after.keys())
            .filter(|key| one.before.get(*key) != one.after.get(*key))
            .collect();
        for other in &all {
            let there = content(&other.before);
            // A journal only identifies the files that its steps change.
            let fits = |key: &&&String| {
                let there = there.get(**key);
                there == one.before.get(**key) || there == one.after.get(**key)
            };
            let folder_less = |key: &&&String| match key.rsplit_once('/') {
                Some((folder, _)) => !there.contains_key(folder),
                None => false,
            };
            if changed.iter().all(|key| fits(&key)) || changed.iter().any(|key| folder_less(&key)) {
                continue;
            }
            let mut left = there.clone();
            let own = one.left.iter().filter(|(key, _)| key.starts_with(".blpk"));
            left.extend(own.map(|(key, bytes)| (key.clone(), bytes.clone())));
            assert_refused(&left, "another store's");
            pairs += 1;
        }
    }
    println!("{pairs} pairs");
    assert!(pairs > 1000);
}

/// Staged files that a journal refers to are missing or damaged.
#[test]
fn a_journal_without_what_was_staged_is_refused() {
    let random = &mut Random::new(14);
    let mut gone = 0;
    for state in interrupted(60, random) {
        let staged = |key: &&String| key.starts_with(".blpk/") && *key != JOURNAL;
        for key in state.left.keys().filter(staged) {
            let Some(bytes) = state.left[key].clone() else {
                continue;
            };
            // A second name of a file that is already in its place is not needed.
            let in_place = state
                .after
                .values()
                .any(|there| there.as_ref() == Some(&bytes));
            let needed = in_place
                && !content(&state.left)
                    .values()
                    .any(|there| there.as_ref() == Some(&bytes));
            if !needed {
                continue;
            }
            let mut left = state.left.clone();
            left.remove(key);
            assert_refused(&left, "staged file gone");
            let (mut left, mut damaged) = (state.left.clone(), bytes);
            damaged[0] ^= 1;
            left.insert(key.clone(), Some(damaged));
            assert_refused(&left, "staged file damaged");
            gone += 1;
        }
    }
    assert!(gone > 30, "{gone}");
}

#[test]
fn what_is_not_ours_stays_in_our_folder() {
    let notes = [
        "notes",
        "0123-4",
        "journal.txt",
        &format!("{}-x", "a".repeat(32)),
    ];
    let store = Memory::from([("a", b"old".to_vec())]);
    store.make_folder(&key(".blpk")).unwrap();
    for name in notes {
        store
            .create(&key(&format!(".blpk/{name}")), b"mine")
            .unwrap();
    }
    let litter = key(&format!(".blpk/{}-17", "a".repeat(32)));
    store.create(&litter, b"litter").unwrap();
    let root = JournaledStore::open(Arc::new(store.clone()), Access::Write).unwrap();
    assert!(!root.was_interrupted());
    assert_eq!(root.list(&Key::root()).unwrap().len(), 1);
    root.put(&key("a"), b"new").unwrap();
    root.make_folder(&key("b")).unwrap();
    root.commit().unwrap();
    drop(root);
    for name in notes {
        assert_eq!(
            store.bytes(format!(".blpk/{name}")).as_deref(),
            Some(&b"mine"[..])
        );
    }
    assert_eq!(store.bytes(&litter), None);
    assert_eq!(store.bytes("a").as_deref(), Some(&b"new"[..]));
}

#[test]
fn something_else_in_the_place_of_our_folder_is_left_alone() {
    let store = Memory::from([(".blpk", b"my file".to_vec()), ("a", b"x".to_vec())]);
    JournaledStore::open(Arc::new(store.clone()), Access::Write).unwrap_err();
    assert_eq!(store.bytes(".blpk").as_deref(), Some(&b"my file"[..]));
    let store = Memory::from([(".blpk/journal/x", b"a folder".to_vec())]);
    JournaledStore::open(Arc::new(store.clone()), Access::Read).unwrap_err();
    JournaledStore::open(Arc::new(store.clone()), Access::Write).unwrap_err();
    assert_eq!(store.keys().len(), 1);
}

#[test]
fn our_folder_is_nobodys_to_change_or_see() {
    let store = Memory::from([("a", b"x".to_vec())]);
    let root = JournaledStore::open(Arc::new(store), Access::Write).unwrap();
    for name in [".blpk", ".blpk/journal", ".BLPK/x", ""] {
        let at = key(name);
        assert!(root.put(&at, b"x").is_err(), "{name}");
        assert!(root.patch(&at, 0, b"x").is_err(), "{name}");
        assert!(root.remove(&at).is_err(), "{name}");
        assert!(root.remove_folder(&at).is_err(), "{name}");
        assert!(name.is_empty() || root.make_folder(&at).is_err(), "{name}");
        assert!(root.read(&at).is_err(), "{name}");
        assert!(
            name.is_empty() || root.kind(&at).unwrap().is_none(),
            "{name}"
        );
    }
    assert_eq!(root.list(&Key::root()).unwrap().len(), 1);
}

/// Folders of other programs, which may be nested to any depth, are not synced.
#[test]
fn folders_deeper_than_any_dataset_are_not_gone_through() {
    let mut left = Found::from([
        (".blpk".to_owned(), None),
        (JOURNAL.to_owned(), Some(forged(&step(4, "a", &[])))),
    ]);
    let names: Vec<String> = (0..300).map(|_| "d".to_owned()).collect();
    for depth in 1..=names.len() {
        left.insert(names[..depth].join("/"), None);
    }
    let store = TreeRecorder::new(Disk::of(&left));
    let root = open(&store, Access::Write).unwrap();
    assert!(root.was_interrupted());
    let is_sync = |op: &&Op| matches!(op, Op::SyncFolder { .. });
    let log = store.log();
    let synced = log.ops.iter().filter(is_sync).count();
    assert!((64..100).contains(&synced), "{synced}");
}
