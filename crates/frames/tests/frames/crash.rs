//! Tests that a crash at any moment and an error in any operation leave the old array or the new one, in one file and
//! in a directory.
//!
//! The operations of a writer are recorded; then the power fails after each operation, and any part of the unsynced
//! data may be on the disk (`crates/testkit/src/crash.rs`, `crates/testkit/src/tree_crash.rs`).

use crate::crash_states::{Depth, Files, for_each_state};
use crate::faulty::{EIO, ENOSPC, Fault, Faulty, Plan};
use crate::golden::Random;
use crate::recorder::Recorder;
use crate::tree_crash;
use crate::tree_faulty::{self, FaultyStore};
use crate::tree_recorder::{Disk, TreeRecorder};
use bloscpack_error::{Category, Error, Result, Side};
use bloscpack_frames::{ArrayKind, FrameOptions, NdArray, NdArrayBuilder};
use bloscpack_storage::{Folder, Memory, Snapshot};
use std::ffi::OsStr;
use std::ops::Range;
use std::sync::Arc;
use testkit::effort;

const NAME: &str = "array";
const DEPTH: Depth = Depth {
    exhaustive: true,
    random: 8,
};
const AGAIN: Depth = Depth {
    exhaustive: true,
    random: 2,
};
/// From one in so many states the recovery crashes, too.
const RECOVERED: usize = 29;

/// The changes of an array.
const CHANGES: [&str; 16] = [
    "write a slice",
    "fill",
    "grow",
    "shrink",
    "grow and shrink",
    "empty",
    "append",
    "insert chunks",
    "insert anywhere",
    "delete chunks",
    "delete anywhere",
    "a layer as long",
    "a longer layer",
    "a layer behind",
    "write all again and again",
    "several at once",
];

/// All that can be read of an array.
#[derive(Debug, Clone, PartialEq)]
struct Content {
    shape: Vec<u64>,
    elements: Vec<u8>,
    layers: Vec<(String, Vec<u8>)>,
}

fn options() -> FrameOptions {
    FrameOptions::new().threads(1).buffer(700)
}

fn content(array: &NdArray) -> Result<Content> {
    let whole: Vec<Range<u64>> = array.shape().iter().map(|len| 0..*len).collect();
    let frame = array.frame();
    let own = array.kind().name();
    let layers = frame.metalayers().iter().filter(|(name, _)| *name != own);
    let mut layers: Vec<_> = layers
        .map(|(name, bytes)| (name.to_owned(), bytes.to_vec()))
        .collect();
    for name in frame.vlmetalayers() {
        layers.push((name.to_owned(), frame.vlmetalayer(name)?.unwrap()));
    }
    Ok(Content {
        shape: array.shape().to_vec(),
        elements: array.read_slice(&whole)?,
        layers,
    })
}

/// Numbers that do not compress to nothing.
fn noise(seed: u32, count: usize) -> Vec<u8> {
    let numbers = (0..count as u32).map(|at| (at + seed * 7919).wrapping_mul(2_654_435_761));
    numbers.flat_map(u32::to_le_bytes).collect()
}

fn builder(kind: ArrayKind) -> NdArrayBuilder {
    NdArray::builder(&[7, 30], 4)
        .kind(kind)
        .chunk_shape(&[3, 8])
        .block_shape(&[2, 4])
        .metalayer("unit", *b"metres")
        .vlmetalayer("history", *b"made")
        .options(options())
}

/// Gives an array its first content.
fn begin(mut array: NdArray) {
    array
        .write_slice(&[0..7, 0..26], &noise(1, 7 * 26))
        .unwrap();
    array.flush().unwrap();
}

/// Does one of [`CHANGES`], and flushes it, some more than once.
fn change(array: &mut NdArray, what: &str, flushed: &mut dyn FnMut(&NdArray)) -> Result<()> {
    match what {
        "write a slice" => array.write_slice(&[1..6, 5..20], &noise(2, 75))?,
        "fill" => array.fill_slice(&[0..7, 2..30], b"fill")?,
        "grow" => array.resize(&[10, 33])?,
        "shrink" => array.resize(&[4, 11])?,
        "grow and shrink" => array.resize(&[11, 9])?,
        "empty" => array.resize(&[0, 30])?,
        "append" => array.append(0, &noise(3, 60))?,
        "insert chunks" => array.insert(1, 8, &noise(4, 7 * 8))?,
        "insert anywhere" => array.insert(1, 5, &noise(5, 7 * 3))?,
        "delete chunks" => array.delete(1, 8..24)?,
        "delete anywhere" => array.delete(0, 2..4)?,
        "a layer as long" => array.set_metalayer("unit", b"inches".to_vec())?,
        "a longer layer" => array.set_metalayer("unit", b"nautical miles".to_vec())?,
        "a layer behind" => array.set_vlmetalayer("history", &noise(6, 100))?,
        "write all again and again" => {
            for seed in 10..13 {
                array.write_slice(&[0..7, 0..30], &noise(seed, 210))?;
                array.flush()?;
                flushed(array);
            }
            return Ok(());
        }
        _ => {
            array.resize(&[9, 30])?;
            array.write_slice(&[6..9, 0..30], &noise(7, 90))?;
            array.delete(1, 3..5)?;
            array.set_metalayer("new", vec![1; 40])?;
            assert!(array.remove_vlmetalayer("history")?);
        }
    }
    array.flush()?;
    flushed(array);
    Ok(())
}

fn edit_in(
    folder: impl Folder<File: Send + Sync + 'static> + Send + Sync + 'static,
) -> Result<NdArray> {
    NdArray::of(options().edit_in(folder, OsStr::new(NAME))?)
}

fn first_file(kind: ArrayKind) -> Files {
    let memory = Memory::new();
    begin(
        builder(kind)
            .create_in(memory.clone(), OsStr::new(NAME))
            .unwrap(),
    );
    vec![(NAME.into(), memory.bytes(NAME).unwrap())]
}

/// The content that a reader sees, through the journal if necessary.
fn seen(files: &Files) -> Result<Content> {
    let memory: Memory = files.iter().cloned().collect();
    seen_in(&memory)
}

fn seen_in(memory: &Memory) -> Result<Content> {
    let snapshot = Snapshot::open_in(memory, OsStr::new(NAME))?;
    content(&NdArray::of(options().read(snapshot)?)?)
}

/// The contents that may be found after so many operations.
fn allowed<'a>(contents: &'a [Content], acked: &[usize], done: usize) -> &'a [Content] {
    let promised = acked.iter().filter(|acked| **acked <= done).count();
    &contents[promised..contents.len().min(promised + 2)]
}

/// The state after a crash is read, recovered, and changed again.
fn check_state(files: &Files, allowed: &[Content], why: &str) -> Content {
    let found = seen(files).unwrap_or_else(|error| panic!("{why}: {error}"));
    assert!(
        allowed.contains(&found),
        "{why}: neither the old nor the new"
    );
    let memory: Memory = files.iter().cloned().collect();
    let mut array = edit_in(memory.clone()).unwrap_or_else(|error| panic!("{why}: {error}"));
    assert!(
        content(&array).unwrap() == found,
        "{why}: recovered to something else"
    );
    assert!(array.frame().verify(|_| {}).is_sound(), "{why}");
    let mut expected = found.clone();
    expected
        .layers
        .push(("after".to_owned(), b"the crash".to_vec()));
    array.set_vlmetalayer("after", b"the crash").unwrap();
    array.flush().unwrap();
    drop(array);
    assert!(
        seen_in(&memory).unwrap() == expected,
        "{why}: changed again"
    );
    assert_eq!(memory.list().unwrap(), [NAME], "{why}: litter");
    found
}

/// Crashes one change of a file everywhere; how many states there were, and how many of them were interrupted changes.
fn crash(kind: ArrayKind, what: &str, random: &mut Random) -> (usize, usize) {
    let before = first_file(kind);
    let recorder = Recorder::new(&before);
    let mut contents = vec![seen(&before).unwrap()];
    let mut acked = Vec::new();
    let mut array = edit_in(recorder.clone()).unwrap();
    change(&mut array, what, &mut |array| {
        acked.push(recorder.done());
        contents.push(content(array).unwrap());
    })
    .unwrap();
    drop(array);
    assert!(contents.windows(2).all(|pair| pair[0] != pair[1]), "{what}");
    let (mut states, mut interrupted, mut recover) = (0, 0, Vec::new());
    for_each_state(&recorder.log(), &acked, DEPTH, random, |done, files| {
        let why = format!("{what}, after operation {done}");
        let memory: Memory = files.iter().cloned().collect();
        let snapshot = Snapshot::open_in(&memory, OsStr::new(NAME)).unwrap();
        interrupted += usize::from(snapshot.is_interrupted());
        drop(snapshot);
        let found = check_state(files, allowed(&contents, &acked, done), &why);
        if states % RECOVERED == 0 {
            recover.push((files.clone(), found));
        }
        states += 1;
    });
    for (files, found) in recover {
        let recorder = Recorder::new(&files);
        drop(edit_in(recorder.clone()).unwrap());
        for_each_state(&recorder.log(), &[], AGAIN, random, |done, files| {
            let why = format!("{what}, while recovering, after operation {done}");
            check_state(files, std::slice::from_ref(&found), &why);
            states += 1;
        });
    }
    (states, interrupted)
}

#[test]
fn a_crash_leaves_the_old_file_or_the_new() {
    let random = &mut Random::new(11);
    let (mut states, mut interrupted) = (0, 0);
    for what in CHANGES {
        for kind in [ArrayKind::Caterva, ArrayKind::B2nd] {
            let (some, marked) = crash(kind, what, random);
            assert!(some > effort::cases(10, 5), "{what}: {some} states");
            states += some;
            interrupted += marked;
        }
    }
    println!("{states} states, {interrupted} of them interrupted");
    assert!(
        states > effort::cases(10_000, 12) && interrupted > effort::cases(200, 12),
        "{states} {interrupted}"
    );
}

/// A file that is being created is absent, refused, or complete.
#[test]
fn a_crash_while_creating_shows_nothing_wrong() {
    let recorder = Recorder::new(&[]);
    let array = builder(ArrayKind::B2nd);
    let mut array = array.create_in(recorder.clone(), OsStr::new(NAME)).unwrap();
    let created = recorder.done();
    let mut contents = vec![content(&array).unwrap()];
    array.write_slice(&[0..7, 0..30], &noise(1, 210)).unwrap();
    array.flush().unwrap();
    let flushed = recorder.done();
    contents.push(content(&array).unwrap());
    drop(array);
    let (random, mut states, mut refused) = (&mut Random::new(12), 0, 0);
    for_each_state(
        &recorder.log(),
        &[created, flushed],
        DEPTH,
        random,
        |done, files| {
            let why = format!("after operation {done}");
            states += 1;
            match seen(files) {
                Ok(found) if done < created => assert!(found == contents[0], "{why}"),
                Ok(_) => drop(check_state(
                    files,
                    allowed(&contents, &[flushed], done),
                    &why,
                )),
                Err(error) => {
                    refused += 1;
                    assert!(done < created, "{why}: {error}");
                }
            }
        },
    );
    println!("{states} states, {refused} of them refused");
    assert!(states > effort::cases(300, 6), "{states}");
}

fn edit_store(store: impl bloscpack_storage::Store + 'static) -> Result<NdArray> {
    NdArray::of(options().edit_store(store)?)
}

fn seen_store(store: impl bloscpack_storage::Store + 'static) -> Result<Content> {
    content(&NdArray::of(options().open_store(store)?)?)
}

fn first_disk(kind: ArrayKind) -> Disk {
    let store = TreeRecorder::new(Disk::new());
    begin(builder(kind).create_in_store(store.clone()).unwrap());
    store.disk()
}

/// Crashes one change of a sparse frame everywhere; how many states there were.
fn crash_sparse(kind: ArrayKind, what: &str, random: &mut tree_crash::Random) -> usize {
    let before = first_disk(kind);
    let recorder = TreeRecorder::new(before.clone());
    let mut contents = vec![seen_store(TreeRecorder::new(before)).unwrap()];
    let mut acked = Vec::new();
    let mut array = edit_store(recorder.clone()).unwrap();
    change(&mut array, what, &mut |array| {
        acked.push(recorder.done());
        contents.push(content(array).unwrap());
    })
    .unwrap();
    drop(array);
    let depth = tree_crash::Depth {
        exhaustive: true,
        random: 4,
    };
    let mut states = 0;
    tree_crash::for_each_state(&recorder.log(), &acked, depth, random, |done, disk| {
        states += 1;
        let why = format!("{what}, after operation {done}");
        let allowed = allowed(&contents, &acked, done);
        let found = seen_store(TreeRecorder::new(disk.clone()));
        let found = found.unwrap_or_else(|error| panic!("{why}: {error}"));
        assert!(
            allowed.contains(&found),
            "{why}: neither the old nor the new"
        );
        if states % 3 > 0 {
            return;
        }
        let left = TreeRecorder::new(disk.clone());
        let mut array = edit_store(left.clone()).unwrap_or_else(|error| panic!("{why}: {error}"));
        assert!(
            content(&array).unwrap() == found,
            "{why}: recovered to something else"
        );
        let recovered = left.log();
        let mut expected = found.clone();
        expected
            .layers
            .push(("after".to_owned(), b"the crash".to_vec()));
        array.set_vlmetalayer("after", b"the crash").unwrap();
        array.flush().unwrap();
        let report = array.frame().verify(|_| {});
        assert!(report.is_sound(), "{why}: {:?}", report.damages);
        drop(array);
        assert!(
            seen_store(left.clone()).unwrap() == expected,
            "{why}: changed again"
        );
        if states % (3 * RECOVERED) == 0 {
            let again = tree_crash::Depth {
                exhaustive: true,
                random: 1,
            };
            let random = &mut tree_crash::Random::new(states as u64);
            tree_crash::for_each_state(&recovered, &[], again, random, |done, disk| {
                let again = seen_store(TreeRecorder::new(disk.clone()));
                let again = again.unwrap_or_else(|error| panic!("{why}, then {done}: {error}"));
                assert!(again == found, "{why}, then {done}: something else");
            });
        }
    });
    states
}

#[test]
fn a_crash_leaves_the_old_directory_or_the_new() {
    let random = &mut tree_crash::Random::new(13);
    let mut states = 0;
    for (number, what) in (0..).zip(CHANGES) {
        let kind = [ArrayKind::Caterva, ArrayKind::B2nd][number % 2];
        states += crash_sparse(kind, what, random);
    }
    println!("{states} states");
    assert!(states > effort::cases(4000, 12), "{states}");
}

/// Whether reading or writing the frame that is changed has failed, and nothing else.
fn is_of_the_system(error: &Error) -> bool {
    matches!(error.category(), Category::Failed | Category::Committed)
        && error.side() == Some(Side::Target)
}

/// The result of a change in which something fails: the contents flushed before, and the error.
fn fail(array: Result<NdArray>, what: &str) -> (Vec<Content>, Option<Error>, Option<NdArray>) {
    let mut contents = Vec::new();
    let mut array = match array {
        Ok(array) => array,
        Err(error) => return (contents, Some(error), None),
    };
    let done = change(&mut array, what, &mut |array| {
        contents.extend(content(array));
    });
    (contents, done.err(), Some(array))
}

/// The contents between the flushes of a change in which nothing fails.
fn contents_of(mut array: NdArray, what: &str) -> Vec<Content> {
    let mut contents = vec![content(&array).unwrap()];
    change(&mut array, what, &mut |array| {
        contents.push(content(array).unwrap());
    })
    .unwrap();
    contents
}

/// Half of a change that failed does not become permanent by a flush.
fn flush_again(array: Option<NdArray>) {
    if let Some(mut array) = array {
        let _ = array.flush();
    }
}

#[test]
fn an_error_at_any_operation_leaves_the_old_file_or_the_new() {
    let before = first_file(ArrayKind::B2nd);
    let mut faults = 0;
    for what in CHANGES {
        let memory: Memory = before.iter().cloned().collect();
        let contents = contents_of(edit_in(memory).unwrap(), what);
        for fault in [
            Fault::Error(EIO),
            Fault::ErrorAfter(EIO),
            Fault::ErrorHalfway(ENOSPC),
            Fault::Sync(EIO),
        ] {
            for lasting in [false, true] {
                for first in effort::sample(0.., 3) {
                    let plan = Plan {
                        fault,
                        first,
                        lasting,
                    };
                    let memory: Memory = before.iter().cloned().collect();
                    let folder = Faulty::new(memory.clone(), plan);
                    let (_, error, array) = fail(edit_in(folder.clone()), what);
                    if let Some(error) = &error {
                        assert!(is_of_the_system(error), "{what}, {plan:?}: {error}");
                    }
                    let is_new = error.is_none();
                    flush_again(array);
                    let why = format!("{what}, {plan:?}, {error:?}");
                    let found = seen_in(&memory).unwrap_or_else(|error| panic!("{why}: {error}"));
                    assert!(
                        contents.contains(&found),
                        "{why}: neither the old nor the new"
                    );
                    assert!(!is_new || Some(&found) == contents.last(), "{why}: lost");
                    let array =
                        edit_in(memory.clone()).unwrap_or_else(|error| panic!("{why}: {error}"));
                    assert!(
                        content(&array).unwrap() == found,
                        "{why}: recovered to something else"
                    );
                    faults += 1;
                    if folder.faults() == 0 {
                        break;
                    }
                }
            }
        }
    }
    println!("{faults} faults");
    assert!(faults > effort::cases(5000, 6), "{faults}");
}

#[test]
fn an_error_at_any_operation_leaves_the_old_directory_or_the_new() {
    let before = first_disk(ArrayKind::Caterva);
    let mut faults = 0;
    for what in CHANGES {
        let contents = contents_of(edit_store(TreeRecorder::new(before.clone())).unwrap(), what);
        for fault in [
            tree_faulty::Fault::Error,
            tree_faulty::Fault::ErrorAfter,
            tree_faulty::Fault::ErrorHalfway,
            tree_faulty::Fault::Sync,
        ] {
            for first in effort::sample(0.., 3) {
                let plan = tree_faulty::Plan {
                    fault,
                    first,
                    lasting: first % 2 == 1,
                };
                let store = TreeRecorder::new(before.clone());
                let folder = FaultyStore::new(Arc::new(store.clone()), plan);
                let (_, error, array) = fail(edit_store(folder.clone()), what);
                if let Some(error) = &error {
                    assert!(is_of_the_system(error), "{what}, {plan:?}: {error}");
                }
                let is_new = error.is_none();
                flush_again(array);
                let why = format!("{what}, {plan:?}, {error:?}");
                let found =
                    seen_store(store.clone()).unwrap_or_else(|error| panic!("{why}: {error}"));
                assert!(
                    contents.contains(&found),
                    "{why}: neither the old nor the new"
                );
                assert!(!is_new || Some(&found) == contents.last(), "{why}: lost");
                let array = edit_store(store).unwrap_or_else(|error| panic!("{why}: {error}"));
                assert!(
                    content(&array).unwrap() == found,
                    "{why}: recovered to something else"
                );
                faults += 1;
                if folder.faults() == 0 {
                    break;
                }
            }
        }
    }
    println!("{faults} faults");
    assert!(faults > effort::cases(2000, 6), "{faults}");
}

/// The path of a file in which a change was interrupted leads to the new content.
#[test]
fn an_interrupted_file_is_opened_through_its_journal() {
    let before = first_file(ArrayKind::B2nd);
    let (old, mut opened) = (seen(&before).unwrap(), 0);
    for what in [
        "insert anywhere",
        "write a slice",
        "grow",
        "shrink",
        "a layer behind",
    ] {
        let recorder = Recorder::new(&before);
        let mut array = edit_in(recorder.clone()).unwrap();
        change(&mut array, what, &mut |_| {}).unwrap();
        let new = content(&array).unwrap();
        drop(array);
        let random = &mut Random::new(14);
        for_each_state(&recorder.log(), &[], DEPTH, random, |_, files| {
            opened += usize::from(open_interrupted(files, &old, &new));
        });
    }
    assert!(opened > effort::cases(30, 6), "{opened}");
}

/// Opens a file by its path, if it is one in which a change was interrupted.
fn open_interrupted(files: &Files, old: &Content, new: &Content) -> bool {
    let file = files.iter().find(|(name, _)| name == NAME).unwrap();
    if file.1.first() != Some(&b'!') {
        return false;
    }
    let folder = tempfile::tempdir().unwrap();
    for (name, bytes) in files {
        std::fs::write(folder.path().join(name), bytes).unwrap();
    }
    let path = folder.path().join(NAME);
    let array = options().open_array(&path).unwrap();
    let found = content(&array).unwrap();
    assert!(found == *new && found != *old);
    drop(array);
    // Reading has changed nothing.
    assert_eq!(std::fs::read(&path).unwrap(), file.1);
    // Without its journal it is refused, and not misread.
    std::fs::remove_file(folder.path().join(format!("{NAME}.blpk-journal"))).unwrap();
    let error = options().open_array(&path).unwrap_err();
    assert_eq!(error.category(), Category::CutShort, "{error}");
    true
}
