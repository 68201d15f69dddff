//! Tests of hostile directories: reading and changing them touches nothing outside, does not hang, and takes no more
//! memory than the files justify.

use crate::counting::peak_of;
use crate::documents::unless_it_panics;
use crate::hostile_dirs::{Case, Leaves, Sound, hurried, some};
use bloscpack::Options;
use bloscpack_datasets::{CArray, CTable, Dataset};
use bloscpack_error::{Category, Error, Result};
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

/// On the thread that asks, whose memory is counted.
fn options() -> Options {
    Options::new().threads(1)
}

fn all_of(root: &Path) -> Result<Leaves> {
    all_in(&Dataset::open_with(root, &options())?)
}

fn all_in(dataset: &Dataset) -> Result<Leaves> {
    let _ = dataset.attributes().to_value();
    match dataset {
        Dataset::Array(array) => {
            let _ = array.warnings().len();
            Ok(vec![(String::new(), array.read_rows(0..array.rows())?)])
        }
        Dataset::Table(table) => {
            let column = |name: &String| {
                let array = table.column(name)?;
                let _ = array.attributes().to_value();
                // All columns have the rows that the table has.
                Ok((name.clone(), array.read_rows(0..table.rows()?)?))
            };
            table.names().iter().map(column).collect()
        }
    }
}

/// Bytes on the disk below a folder, links not followed.
fn on_disk(path: &Path) -> u64 {
    let Ok(metadata) = path.symlink_metadata() else {
        return 0;
    };
    let mut bytes = metadata.blocks() * 512;
    if metadata.is_dir() {
        let entries = path.read_dir().into_iter().flatten();
        bytes += entries
            .map(|entry| on_disk(&entry.unwrap().path()))
            .sum::<u64>();
    }
    bytes
}

fn bounded<T>(root: &Path, work: impl FnOnce() -> T) -> T {
    let most = (64 << 20) + 2 * on_disk(root);
    let (done, peak) = peak_of(work);
    assert!(
        peak as u64 <= most,
        "{peak} bytes of memory, more than {most}"
    );
    done
}

/// All that is wrong with any of the cases.
fn for_all(mut test: impl FnMut(&Case)) {
    let all = some(3);
    let wrong: Vec<_> = all
        .iter()
        .filter(|case| {
            std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| test(case))).is_err()
        })
        .map(|case| &case.name)
        .collect();
    assert!(
        wrong.is_empty(),
        "{} of {}: {wrong:#?}",
        wrong.len(),
        all.len()
    );
}

#[test]
fn what_is_read_of_them_is_what_is_expected() {
    for_all(|case| {
        let temp = tempfile::tempdir().unwrap();
        let built = case.build(temp.path());
        let root = built.root.clone();
        let found = hurried(&case.name, move || bounded(&root, || all_of(&root)));
        case.expected.judge(&case.name, found);
        built.canary.check();
    });
}

/// One row more in each column.
fn append(dataset: &mut Dataset) -> Result<()> {
    match dataset {
        Dataset::Array(array) => array.append(&vec![0; array.row_bytes()]),
        Dataset::Table(table) => append_to_table(table),
    }
}

fn append_to_table(table: &mut CTable) -> Result<()> {
    let names = table.names().to_vec();
    let row = |name: &String| Ok(vec![0; table.column(name)?.row_bytes()]);
    let rows = names.iter().map(row).collect::<Result<Vec<_>>>()?;
    let rows: Vec<&[u8]> = rows.iter().map(Vec::as_slice).collect();
    table.append(&rows)
}

fn trim(dataset: &mut Dataset, rows: u64) -> Result<()> {
    match dataset {
        Dataset::Array(array) => array.trim(rows),
        Dataset::Table(table) => table.trim(rows),
    }
}

fn resize(dataset: &mut Dataset, rows: u64) -> Result<()> {
    match dataset {
        Dataset::Array(array) => array.resize(rows),
        Dataset::Table(table) => table.resize(rows),
    }
}

fn set_attribute(dataset: &mut Dataset) -> Result<()> {
    match dataset {
        Dataset::Array(array) => array.set_attribute("new", &1.into()),
        Dataset::Table(table) => table.set_attribute("new", &1.into()),
    }
}

fn flush(dataset: &mut Dataset) -> Result<()> {
    match dataset {
        Dataset::Array(array) => array.flush(),
        Dataset::Table(table) => table.flush(),
    }
}

type Change = (&'static str, fn(&mut Dataset) -> Result<()>);

const CHANGES: [Change; 4] = [
    ("append", append),
    ("trim", |dataset| {
        trim(dataset, dataset.rows()?.saturating_sub(1))
    }),
    ("resize", |dataset| resize(dataset, dataset.rows()? + 2)),
    ("attribute", set_attribute),
];

/// Changes it if it lets itself be changed; nothing if not.
fn changed(root: &Path, change: Change) -> Option<()> {
    let mut dataset = Dataset::edit_with(root, &options()).ok()?;
    // A wrong shape is not a valid start.
    if dataset.rows().is_ok_and(|rows| rows > 1000) {
        return None;
    }
    change.1(&mut dataset).ok()?;
    flush(&mut dataset).ok()
}

/// Whether the content after a change is the content before with this change applied.
fn is_right(before: &Leaves, after: &Leaves, (what, _): Change) -> bool {
    let fits = |(before, after): (&Vec<u8>, &Vec<u8>)| match what {
        "trim" => before.starts_with(after),
        "attribute" => before == after,
        _ => after.starts_with(before) && after[before.len()..].iter().all(|byte| *byte == 0),
    };
    let names = |leaves: &Leaves| {
        leaves
            .iter()
            .map(|(name, _)| name.clone())
            .collect::<Vec<_>>()
    };
    let bytes = before
        .iter()
        .zip(after)
        .map(|(before, after)| (&before.1, &after.1));
    names(before) == names(after) && bytes.into_iter().all(fits)
}

#[test]
fn what_is_changed_of_them_is_theirs_and_stays_readable() {
    let (mut changed_some, mut turn) = (0, 0);
    for_all(|case| {
        // One change each, in turn.
        turn += 1;
        let change = CHANGES[turn % CHANGES.len()];
        let temp = tempfile::tempdir().unwrap();
        let built = case.build(temp.path());
        let root = built.root.clone();
        let (before, done, after) = hurried(&case.name, move || {
            let before = all_of(&root);
            let done = bounded(&root, || changed(&root, change));
            (before, done, all_of(&root))
        });
        built.canary.check();
        let told = format!("{}, {}", case.name, change.0);
        match (&before, done) {
            (Ok(before), Some(())) => {
                let after = after.unwrap_or_else(|error| panic!("{told}: then {error}"));
                assert!(
                    is_right(before, &after, change),
                    "{told}: {before:?}, then {after:?}"
                );
                changed_some += 1;
            }
            (Ok(before), None) => {
                let after = after.unwrap_or_else(|error| panic!("{told}: refused, then {error}"));
                assert_eq!(after, *before, "{told}: refused, and changed");
            }
            // An unreadable dataset may become readable, but never with wrong content.
            (Err(_), _) => {}
        }
    });
    assert!(
        changed_some > testkit::effort::cases(25, 3),
        "{changed_some} changed"
    );
}

/// Other elements in all superchunks, which have no checksum.
fn spoil(folder: &Path) {
    for entry in folder.read_dir().unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            spoil(&path);
        } else if path
            .file_name()
            .unwrap()
            .as_encoded_bytes()
            .starts_with(b"__")
        {
            let mut bytes = std::fs::read(&path).unwrap();
            if let Some(last) = bytes.last_mut().filter(|_| path.extension().is_some()) {
                *last ^= 0x55;
            }
            std::fs::write(&path, bytes).unwrap();
        }
    }
}

/// A sound dataset beside what is outside of it, and the same under another name outside.
struct Place {
    temp: tempfile::TempDir,
}

impl Place {
    fn new(sound: Sound) -> Self {
        let temp = tempfile::tempdir().unwrap();
        for name in ["root", "outside"] {
            sound.write(&temp.path().join(name));
        }
        spoil(&temp.path().join("outside"));
        Self { temp }
    }

    fn path(&self, at: &str) -> std::path::PathBuf {
        self.temp.path().join(at)
    }

    /// Another thing in the place of a file or a folder.
    fn put(&self, at: &str, make: impl FnOnce(&Path)) {
        let new = self.path("new");
        make(&new);
        let at = self.path(at);
        if at
            .symlink_metadata()
            .is_ok_and(|metadata| metadata.is_dir())
        {
            std::fs::rename(&at, self.path("old")).unwrap();
        }
        std::fs::rename(new, at).unwrap();
    }
}

fn fifo(at: &Path) {
    let made = std::process::Command::new("mkfifo").arg(at).status();
    assert!(made.unwrap().success());
}

#[test]
fn what_takes_the_place_of_a_superchunk_after_opening_is_not_followed() {
    let superchunks = [
        (Sound::Array, "root/data/__1.blp", "outside/data/__1.blp"),
        (
            Sound::Document,
            "root/data/__2__.bin",
            "outside/data/__2__.bin",
        ),
        (
            Sound::Proposal,
            "root/data/__2__.bin",
            "outside/data/__2__.bin",
        ),
        (
            Sound::Table,
            "root/b/data/__1.blp",
            "outside/b/data/__1.blp",
        ),
        (Sound::Array, "root/data", "outside/data"),
        (Sound::Nested, "root/data/b", "outside/data/b"),
    ];
    for (sound, at, outside) in superchunks {
        for pipe in [false, true] {
            let place = Place::new(sound);
            let dataset = Dataset::open_with(place.path("root"), &options()).unwrap();
            if pipe {
                place.put(at, fifo)
            } else {
                place.put(at, |new| {
                    std::os::unix::fs::symlink(place.path(outside), new).unwrap();
                })
            }
            let found = hurried(at, move || all_in(&dataset));
            // A folder that is kept open is still read after it was moved away.
            let is_itself = found.as_ref().is_ok_and(|found| *found == sound.leaves());
            let is_folder = !at.contains("__");
            assert!(
                found.is_err() || (is_itself && is_folder),
                "{at}, pipe {pipe}: {found:?}"
            );
        }
    }
}

/// The entry alternates all the time between the superchunk and a link to another one: the reader gets the
/// superchunk, or nothing.
#[test]
fn a_superchunk_that_changes_all_the_time_is_read_as_itself_or_not_at_all() {
    let place = Place::new(Sound::Array);
    let file = std::fs::read(place.path("root/data/__1.blp")).unwrap();
    let (stop, root) = (AtomicBool::new(false), place.path("root"));
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !stop.load(Ordering::Relaxed) {
                place.put("root/data/__1.blp", |new| {
                    std::os::unix::fs::symlink(place.path("outside/data/__1.blp"), new).unwrap();
                });
                place.put("root/data/__1.blp", |new| {
                    std::fs::write(new, &file).unwrap()
                });
            }
        });
        for _ in 0..1000 {
            if let Ok(found) = all_of(&root)
                && found != Sound::Array.leaves()
            {
                stop.store(true, Ordering::Relaxed);
                panic!("{found:?}");
            }
        }
        stop.store(true, Ordering::Relaxed);
    });
    // The writer ends with the file in its place.
    assert_eq!(all_of(&root).unwrap(), Sound::Array.leaves());
}

/// A table whose columns lie outside of it by what an array is opened for.
#[test]
fn a_column_is_opened_through_its_table_and_not_through_links() {
    let place = Place::new(Sound::Table);
    let column = CArray::open(place.path("root/b")).unwrap();
    assert_eq!(column.rows(), 5);
    place.put("root/b", |new| {
        std::os::unix::fs::symlink(place.path("outside/b"), new).unwrap();
    });
    let table = CTable::open(place.path("root")).unwrap();
    let refused: Result<()> = table.column("b").map(drop);
    let refused: Error = refused.unwrap_err();
    assert!(refused.to_string().contains('b'), "{refused}");
    assert!(unless_it_panics(|| table.rows().is_err()).unwrap());
}

/// Reading, checking and looking it over all say that it is damaged.
#[test]
fn a_link_in_the_place_of_a_superchunk_is_damage() {
    let place = Place::new(Sound::Array);
    let outside = place.path("outside/data/__1.blp");
    place.put("root/data/__1.blp", |new| {
        std::os::unix::fs::symlink(outside, new).unwrap();
    });
    let array = CArray::open(place.path("root")).unwrap();
    let read = array.read_rows(0..array.rows()).unwrap_err();
    let mut told = array.verify(|_| {}).damages;
    let surveyed = array.survey(1000).unwrap();
    assert_eq!((told.len(), surveyed.missing), (1, 0));
    for error in [read, told.remove(0), surveyed.trouble.unwrap()] {
        assert_eq!(error.category(), Category::Damaged, "{error}");
        assert_eq!(error.path(), Some(Path::new("data/__1.blp")), "{error}");
    }
}
