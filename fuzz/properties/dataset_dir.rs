//! Any directory as a dataset gives an error or data, the same in slices as in whole; if verification finds it sound,
//! it can be read; a dry run of a repair changes nothing; and changes and repairs keep the other content.
//!
//! The input says which directory to begin with, and what to do to its files: `directory/edits.rs`.

use bloscpack::storage::Memory;
use bloscpack::{Limits, Options, Result};
use bloscpack_open::datasets::{CArray, Dataset, RepairOptions};

#[path = "directory/bases.rs"]
mod bases;
#[path = "directory/edits.rs"]
mod edits;
#[path = "directory/files.rs"]
mod files;

use files::Files;

/// More bytes than this are not worth the time, nor are more rows of nothing.
const ENOUGH: u64 = 1 << 20;

/// The columns, or the array itself: names and bytes.
type Leaves = Vec<(String, Vec<u8>)>;

fn options() -> Options {
    let limits = Limits::new()
        .chunk(1 << 20)
        .block(1 << 18)
        .metadata(1 << 16)
        .offsets(1 << 16);
    Options::new().threads(1).cache(1 << 16).limits(limits)
}

fn arrays(dataset: &Dataset) -> Vec<(&str, Result<&CArray>)> {
    match dataset {
        Dataset::Array(array) => vec![("", Ok(array))],
        Dataset::Table(table) => {
            let names = table.names().iter();
            names
                .map(|name| (name.as_str(), table.column(name)))
                .collect()
        }
    }
}

fn is_small(array: &CArray) -> bool {
    array.nbytes() <= ENOUGH && array.rows() <= ENOUGH && array.chunks() <= 4096
}

/// All that it holds; nothing where that is too much.
fn whole(dataset: &Dataset) -> Option<Result<Leaves>> {
    let mut leaves = Vec::new();
    for (name, array) in arrays(dataset) {
        let array = match array {
            Ok(array) => array,
            Err(error) => return Some(Err(error)),
        };
        if !is_small(array) {
            return None;
        }
        match array.read_rows(0..array.rows()) {
            Ok(bytes) => leaves.push((name.to_owned(), bytes)),
            Err(error) => return Some(Err(error)),
        }
    }
    Some(match dataset {
        Dataset::Table(table) => table.rows().map(|_| leaves),
        Dataset::Array(_) => Ok(leaves),
    })
}

fn opened(files: &Files) -> Result<Dataset> {
    Dataset::open_in(files.store(), &options())
}

/// All that a directory holds; nothing where that cannot be said.
fn held(files: &Files) -> Option<Leaves> {
    whole(&opened(files).ok()?)?.ok()
}

/// Slices are parts of the whole; if the whole cannot be read, slices do no harm.
fn slices(dataset: &Dataset, choice: u64) {
    for (_, array) in arrays(dataset) {
        let Ok(array) = array else { continue };
        let (rows, row) = (array.rows(), array.row_bytes() as u64);
        assert!(array.shape().first() == Some(&rows));
        let all = if is_small(array) {
            array.read_rows(0..rows).ok()
        } else {
            None
        };
        let most = (4096 / row.max(1)).max(1).min(rows);
        if row > ENOUGH {
            continue;
        }
        for from in [0, choice % (rows + 1), rows - most] {
            let to = rows.min(from.saturating_add(most));
            let part = array.read_rows(from..to);
            let Some(all) = &all else { continue };
            let expected = &all[(from * row) as usize..(to * row) as usize];
            assert!(part.expect("the whole can be read") == expected);
        }
    }
}

/// One row more in each column, one less, an attribute.
fn change(dataset: &mut Dataset, kind: u64) -> Result<()> {
    let rows = dataset.rows()?;
    match (dataset, kind % 4) {
        (Dataset::Array(array), 0) => array.append(&vec![0; array.row_bytes()]),
        (Dataset::Array(array), 1) => array.trim(rows.saturating_sub(1)),
        (Dataset::Array(array), 2) => array.resize(rows + 2),
        (Dataset::Array(array), _) => array.set_attribute("new", &1.into()),
        (Dataset::Table(table), 0) => {
            let row = |name: &String| Ok(vec![0; table.column(name)?.row_bytes()]);
            let rows = table.names().iter().map(row).collect::<Result<Vec<_>>>()?;
            table.append(&rows.iter().map(Vec::as_slice).collect::<Vec<_>>())
        }
        (Dataset::Table(table), 1) => table.trim(rows.saturating_sub(1)),
        (Dataset::Table(table), 2) => table.resize(rows + 2),
        (Dataset::Table(table), _) => table.set_attribute("new", &1.into()),
    }
}

/// Nothing if it does not let itself be changed.
fn changed(store: Memory, kind: u64) -> Option<()> {
    let mut dataset = Dataset::edit_in(store, &options()).ok()?;
    // A wrong shape is not a valid start.
    if !arrays(&dataset)
        .iter()
        .all(|(_, array)| array.as_ref().is_ok_and(|array| is_small(array)))
    {
        return None;
    }
    change(&mut dataset, kind).ok()?;
    match &mut dataset {
        Dataset::Array(array) => array.flush().ok(),
        Dataset::Table(table) => table.flush().ok(),
    }
}

fn names(leaves: &Leaves) -> Vec<&str> {
    leaves.iter().map(|(name, _)| name.as_str()).collect()
}

/// A change keeps all other content.
fn keeps_what_was(before: &Leaves, after: &Leaves, kind: u64) {
    assert_eq!(names(before), names(after));
    for ((name, before), (_, after)) in before.iter().zip(after) {
        match kind % 4 {
            1 => assert!(before.starts_with(after), "{name:?}"),
            3 => assert!(before == after, "{name:?}"),
            _ => assert!(after.starts_with(before), "{name:?}"),
        }
    }
}

fn changing(files: &Files, before: Option<&Leaves>, kind: u64) {
    let store = files.store();
    let done = changed(store.clone(), kind);
    let after = Files::of(&store);
    let Some(before) = before else { return };
    let after = held(&after).expect("what could be read can be read after a change or without it");
    match done {
        Some(()) => keeps_what_was(before, &after, kind),
        None => assert!(after == *before, "it was refused and changed"),
    }
}

fn repairing(files: &Files, before: Option<&Leaves>) {
    let store = files.store();
    let dry = RepairOptions::new()
        .options(options())
        .dry_run(true)
        .repair_in(store.clone());
    if !files.is_interrupted() {
        assert!(
            Files::of(&store) == *files,
            "a dry run has changed something"
        );
    }
    let store = files.store();
    let real = RepairOptions::new()
        .options(options())
        .repair_in(store.clone());
    if let (Ok(dry), Ok(real)) = (&dry, &real) {
        assert_eq!(dry.len(), real.len(), "{dry:?}, then {real:?}");
    }
    let Some(before) = before else { return };
    // Rows that were not counted may have come to it.
    let after = Files::of(&store);
    if let Some(Ok(after)) = opened(&after).ok().and_then(|dataset| whole(&dataset)) {
        keeps_what_was(before, &after, 0);
    } else {
        assert!(real.is_err(), "it could be read before it was repaired");
    }
}

pub fn check(input: &[u8]) {
    let Some(files) = edits::files(input) else {
        return;
    };
    let choice = input.iter().fold(0, |sum: u64, byte| {
        sum.wrapping_mul(31).wrapping_add((*byte).into())
    });
    let mut before = None;
    if let Ok(dataset) = opened(&files) {
        let _ = (dataset.attributes().to_value(), dataset.layout());
        let read = whole(&dataset);
        slices(&dataset, choice);
        if let Some(read) = read {
            let report = dataset.verify(|_| {});
            let has_objects = arrays(&dataset)
                .iter()
                .any(|(_, array)| array.as_ref().is_ok_and(|array| array.dtype().has_object()));
            if report.is_sound() && !has_objects {
                read.as_ref().expect("verified");
            }
            before = read.ok();
        }
    }
    changing(&files, before.as_ref(), choice >> 8);
    repairing(&files, before.as_ref());
}
