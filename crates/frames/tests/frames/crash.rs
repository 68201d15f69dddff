//! Tests that a crash at any moment and an error in any operation leave the old array or the new one, in one file and
//! in a directory.
//!
//! The operations of a writer are recorded; then the power fails after each operation, and any part of the unsynced
//! data may be on the disk (`crates/testkit/src/crash.rs`).

use bloscpack::Options;
use bloscpack_error::{Category, Error, Result, Side};
use bloscpack_frames::{ArrayKind, Frame, NdArray, NdArrayBuilder};
use bloscpack_storage::{Folder, Memory, Snapshot};
use std::ffi::OsStr;
use std::ops::Range;
use std::sync::Arc;
use testkit::crash::{Depth, Files, for_each_files, for_each_state};
use testkit::effort;
use testkit::faulty::{EIO, ENOSPC, Fault, Faulty, FaultyStore, Plan};
use testkit::golden::Random;
use testkit::recorder::{Disk, Log, Recorder, TreeRecorder};

const NAME: &str = "array";
/// From one in this many states the recovery crashes, too.
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

fn options() -> Options {
    Options::new().threads(1).cache(700)
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

/// Where an array is.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Home {
    File,
    Directory,
}

/// An array in a file or a directory, which remembers what was done to it.
enum Place {
    File(Recorder),
    Directory(TreeRecorder),
}

impl Home {
    fn depth(self) -> Depth {
        match self {
            Self::File => Depth {
                exhaustive: 10,
                random: 8,
            },
            Self::Directory => Depth {
                exhaustive: 8,
                random: 4,
            },
        }
    }

    fn place(self, disk: &Disk) -> Place {
        match self {
            Self::File => Place::File(Recorder::new(&disk.to_files())),
            Self::Directory => Place::Directory(TreeRecorder::new(disk.clone())),
        }
    }

    /// The first content of an array.
    fn first(self, kind: ArrayKind) -> Disk {
        let place = self.place(&Disk::new());
        let builder = builder(kind);
        let array = match &place {
            Place::File(folder) => builder.create_in(folder.clone(), OsStr::new(NAME)),
            Place::Directory(store) => builder.create_in_store(store.clone()),
        };
        begin(array.unwrap());
        place.disk()
    }

    /// The content that a reader sees, through the journal if necessary.
    fn seen(self, disk: &Disk) -> Result<Content> {
        self.place(disk).seen()
    }

    /// Makes a change with a fault: how it went, what it left, and how many faults came.
    fn fail(self, before: &Disk, what: &str, plan: Plan) -> (Option<Error>, Disk, usize) {
        match self {
            Self::File => {
                let memory: Memory = before.to_files().into_iter().collect();
                let folder = Faulty::new(memory.clone(), plan);
                let error = failed(edit_in(folder.clone()), what);
                let names = memory.list().unwrap().into_iter();
                let files: Files = names
                    .map(|name| (name.clone(), memory.bytes(&name).unwrap()))
                    .collect();
                (error, Disk::of_files(&files), folder.faults())
            }
            Self::Directory => {
                let store = TreeRecorder::new(before.clone());
                let folder = FaultyStore::new(Arc::new(store.clone()), plan);
                let error = failed(edit_store(folder.clone()), what);
                (error, store.disk(), folder.faults())
            }
        }
    }
}

impl Place {
    fn edit(&self) -> Result<NdArray> {
        match self {
            Self::File(folder) => edit_in(folder.clone()),
            Self::Directory(store) => edit_store(store.clone()),
        }
    }

    fn seen(&self) -> Result<Content> {
        let frame = match self {
            Self::File(folder) => {
                Frame::read_with(Snapshot::open_in(folder, OsStr::new(NAME))?, &options())?
            }
            Self::Directory(store) => Frame::open_store(store.clone(), &options())?,
        };
        content(&NdArray::of(frame)?)
    }

    fn log(&self) -> Log {
        match self {
            Self::File(folder) => folder.log(),
            Self::Directory(store) => store.log(),
        }
    }

    fn done(&self) -> usize {
        self.log().ops.len()
    }

    fn disk(&self) -> Disk {
        match self {
            Self::File(folder) => folder.disk(),
            Self::Directory(store) => store.disk(),
        }
    }
}

fn edit_in(folder: impl Folder<File: 'static> + 'static) -> Result<NdArray> {
    NdArray::of(Frame::edit_in(folder, OsStr::new(NAME), &options())?)
}

fn edit_store(store: impl bloscpack_storage::Store + 'static) -> Result<NdArray> {
    NdArray::of(Frame::edit_store(store, &options())?)
}

/// The contents that may be found after this many operations.
fn allowed<'a>(contents: &'a [Content], acked: &[usize], done: usize) -> &'a [Content] {
    let promised = acked.iter().filter(|acked| **acked <= done).count();
    &contents[promised..contents.len().min(promised + 2)]
}

/// The state after a crash is read, recovered, and changed again.
fn check_state(home: Home, disk: &Disk, allowed: &[Content], why: &str) -> Content {
    let found = seen_state(home, disk, allowed, why);
    let place = home.place(disk);
    let mut array = place
        .edit()
        .unwrap_or_else(|error| panic!("{why}: {error}"));
    assert!(
        content(&array).unwrap() == found,
        "{why}: recovered to something else"
    );
    let mut expected = found.clone();
    expected
        .layers
        .push(("after".to_owned(), b"the crash".to_vec()));
    array.set_vlmetalayer("after", b"the crash").unwrap();
    array.flush().unwrap();
    let report = array.frame().verify(|_| {});
    assert!(report.is_sound(), "{why}: {:?}", report.damages);
    drop(array);
    assert!(place.seen().unwrap() == expected, "{why}: changed again");
    if home == Home::File {
        let names: Vec<_> = place.disk().found().into_keys().collect();
        assert_eq!(names, [NAME], "{why}: litter");
    }
    found
}

/// The state after a crash is read.
fn seen_state(home: Home, disk: &Disk, allowed: &[Content], why: &str) -> Content {
    let found = home.seen(disk);
    let found = found.unwrap_or_else(|error| panic!("{why}: {error}"));
    assert!(
        allowed.contains(&found),
        "{why}: neither the old nor the new"
    );
    found
}

/// Crashes one change everywhere; how many states there were, and how many of them were interrupted changes of a file.
fn crash(home: Home, kind: ArrayKind, what: &str, random: &mut Random) -> (usize, usize) {
    let before = home.first(kind);
    let mut contents = vec![home.seen(&before).unwrap()];
    let (place, mut acked) = (home.place(&before), Vec::new());
    let mut array = place.edit().unwrap();
    change(&mut array, what, &mut |array| {
        acked.push(place.done());
        contents.push(content(array).unwrap());
    })
    .unwrap();
    drop(array);
    assert!(contents.windows(2).all(|pair| pair[0] != pair[1]), "{what}");
    let (mut states, mut interrupted, mut recover) = (0, 0, Vec::new());
    for_each_state(&place.log(), &acked, home.depth(), random, |done, disk| {
        let why = format!("{what}, after operation {done}");
        let allowed = allowed(&contents, &acked, done);
        if let Place::File(folder) = home.place(disk) {
            let snapshot = Snapshot::open_in(&folder, OsStr::new(NAME)).unwrap();
            interrupted += usize::from(snapshot.is_interrupted());
        }
        // Directories take longer, and have more states.
        if home == Home::Directory && states % 3 > 0 {
            seen_state(home, disk, allowed, &why);
        } else {
            let found = check_state(home, disk, allowed, &why);
            if states % RECOVERED == 0 {
                recover.push((disk.clone(), found));
            }
        }
        states += 1;
    });
    for (disk, found) in recover {
        let place = home.place(&disk);
        drop(place.edit().unwrap());
        let depth = Depth {
            random: 2,
            ..home.depth()
        };
        for_each_state(&place.log(), &[], depth, random, |done, disk| {
            let why = format!("{what}, while recovering, after operation {done}");
            check_state(home, disk, std::slice::from_ref(&found), &why);
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
            let (some, marked) = crash(Home::File, kind, what, random);
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

#[test]
fn a_crash_leaves_the_old_directory_or_the_new() {
    let (random, mut states) = (&mut Random::new(13), 0);
    for (number, what) in (0..).zip(CHANGES) {
        let kind = [ArrayKind::Caterva, ArrayKind::B2nd][number % 2];
        states += crash(Home::Directory, kind, what, random).0;
    }
    println!("{states} states");
    assert!(states > effort::cases(4000, 12), "{states}");
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
        Home::File.depth(),
        random,
        |done, disk| {
            let why = format!("after operation {done}");
            states += 1;
            match Home::File.seen(disk) {
                Ok(found) if done < created => assert!(found == contents[0], "{why}"),
                Ok(_) => drop(check_state(
                    Home::File,
                    disk,
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

/// Whether reading or writing the frame that is changed has failed, and nothing else.
fn is_of_the_system(error: &Error) -> bool {
    matches!(error.category(), Category::Failed | Category::Committed)
        && error.side() == Some(Side::Target)
}

/// The error of a change in which something fails. Half of it does not become permanent by a flush.
fn failed(array: Result<NdArray>, what: &str) -> Option<Error> {
    let mut array = match array {
        Ok(array) => array,
        Err(error) => return Some(error),
    };
    let done = change(&mut array, what, &mut |array| {
        let _ = content(array);
    });
    let _ = array.flush();
    done.err()
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

/// Lets each operation of every change fail, once or from then on; how many faults there were.
fn fail_everywhere(home: Home, kind: ArrayKind, lasting: &[fn(usize) -> bool]) -> usize {
    let before = home.first(kind);
    let mut faults = 0;
    for what in CHANGES {
        let contents = contents_of(home.place(&before).edit().unwrap(), what);
        for fault in [
            Fault::Error(EIO),
            Fault::ErrorAfter(EIO),
            Fault::ErrorHalfway(ENOSPC),
            Fault::Sync(EIO),
        ] {
            for lasting in lasting {
                for first in effort::sample(0.., 3) {
                    let plan = Plan {
                        fault,
                        first,
                        lasting: lasting(first),
                    };
                    let (error, left, came) = home.fail(&before, what, plan);
                    if let Some(error) = &error {
                        assert!(is_of_the_system(error), "{what}, {plan:?}: {error}");
                    }
                    let why = format!("{what}, {plan:?}, {error:?}");
                    let found = seen_state(home, &left, &contents, &why);
                    let is_new = error.is_none();
                    assert!(!is_new || Some(&found) == contents.last(), "{why}: lost");
                    let array = home.place(&left).edit();
                    let array = array.unwrap_or_else(|error| panic!("{why}: {error}"));
                    assert!(
                        content(&array).unwrap() == found,
                        "{why}: recovered to something else"
                    );
                    faults += 1;
                    if came == 0 {
                        break;
                    }
                }
            }
        }
    }
    println!("{faults} faults");
    faults
}

#[test]
fn an_error_at_any_operation_leaves_the_old_file_or_the_new() {
    let faults = fail_everywhere(Home::File, ArrayKind::B2nd, &[|_| false, |_| true]);
    assert!(faults > effort::cases(5000, 6), "{faults}");
}

#[test]
fn an_error_at_any_operation_leaves_the_old_directory_or_the_new() {
    let every_other: &[fn(usize) -> bool] = &[|first| first % 2 == 1];
    let faults = fail_everywhere(Home::Directory, ArrayKind::Caterva, every_other);
    assert!(faults > effort::cases(2000, 6), "{faults}");
}

/// The path of a file in which a change was interrupted leads to the new content.
#[test]
fn an_interrupted_file_is_opened_through_its_journal() {
    let before = Home::File.first(ArrayKind::B2nd);
    let (old, mut opened) = (Home::File.seen(&before).unwrap(), 0);
    for what in [
        "insert anywhere",
        "write a slice",
        "grow",
        "shrink",
        "a layer behind",
    ] {
        let place = Home::File.place(&before);
        let mut array = place.edit().unwrap();
        change(&mut array, what, &mut |_| {}).unwrap();
        let new = content(&array).unwrap();
        drop(array);
        let random = &mut Random::new(14);
        for_each_files(&place.log(), &[], Home::File.depth(), random, |_, files| {
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
    let array = NdArray::open_with(&path, &options()).unwrap();
    let found = content(&array).unwrap();
    assert!(found == *new && found != *old);
    drop(array);
    // Reading has changed nothing.
    assert_eq!(std::fs::read(&path).unwrap(), file.1);
    // Without its journal it is refused, and not misread.
    std::fs::remove_file(folder.path().join(format!("{NAME}.blpk-journal"))).unwrap();
    let error = NdArray::open_with(&path, &options()).unwrap_err();
    assert_eq!(error.category(), Category::CutShort, "{error}");
    true
}
