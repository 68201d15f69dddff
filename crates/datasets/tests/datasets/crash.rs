//! Tests that a crash at any moment leaves the old dataset or the new one, for every operation in every layout.
//!
//! The operations of a writer are recorded; then the power fails after each operation of the store, and any part of
//! the unsynced data may be on the disk (`crates/testkit/src/tree_crash.rs`).

use bloscpack_datasets::{CArray, CTable, Dataset, DatasetLayout};
use bloscpack_error::{Category, Result};
use serde_json::{Value, json};
use std::num::NonZeroU64;
use testkit::crash::{Depth, for_each_state};
use testkit::golden::Random;
use testkit::recorder::{Disk, TreeRecorder};

const DEPTH: Depth = Depth {
    exhaustive: 8,
    random: 6,
};

/// All that can be read of a dataset: its attributes, and each column with its bytes.
type Seen = Option<(Value, Vec<(String, Vec<u8>)>)>;

fn seen(store: &TreeRecorder) -> Result<Seen> {
    let options = bloscpack::Options::new().threads(1);
    let dataset = match Dataset::open_in(store.clone(), &options) {
        // Nothing is there yet.
        Err(error) if error.category() == Category::Unsupported => return Ok(None),
        dataset => dataset?,
    };
    let columns = match &dataset {
        Dataset::Array(array) => {
            check_index(array)?;
            vec![(String::new(), array.read_rows(0..array.rows())?)]
        }
        Dataset::Table(table) => {
            let rows = table.rows()?;
            let read = table.read_rows(table.names(), 0..rows)?;
            for name in table.names() {
                assert_eq!(
                    table.column(name)?.rows(),
                    rows,
                    "columns of different lengths"
                );
            }
            table.names().iter().cloned().zip(read).collect()
        }
    };
    Ok(Some((dataset.attributes().to_value(), columns)))
}

/// An index is that of the last flush, in all of its entries.
fn check_index(array: &CArray) -> Result<()> {
    let Some(index) = array.index()? else {
        return Ok(());
    };
    assert!(array.check_index(|_| Ok(()))?.is_current());
    for number in 0..index.len() {
        let rows = number * 10..array.rows().min(number * 10 + 10);
        let (least, entry) = (
            array.to_vec::<u32>(rows)?.into_iter().min(),
            index.entry(number),
        );
        let least = least.map(|row| row.to_le_bytes().to_vec());
        assert_eq!(entry.and_then(|entry| entry.min.clone()), least);
    }
    Ok(())
}

/// Numbers that do not compress to nothing.
fn rows(from: u32, count: u32) -> Vec<u8> {
    (from..from + count)
        .flat_map(|row| row.wrapping_mul(2_654_435_761).to_le_bytes())
        .collect()
}

fn array(layout: DatasetLayout, replace: bool) -> bloscpack_datasets::CArrayBuilder {
    let options = bloscpack::Options::new().threads(1);
    CArray::of::<u32>()
        .layout(layout)
        .chunk_rows(10)
        .superchunk(NonZeroU64::new(3).unwrap())
        .spare(20)
        .replace(replace)
        .options(options)
}

/// An array of 47 rows, and the operations on it.
fn change_array(store: TreeRecorder, layout: DatasetLayout, what: &str) {
    if what == "replace" {
        let mut array = array(layout, true).chunk_rows(7).create_in(store).unwrap();
        array.append(&rows(900, 23)).unwrap();
        return array.flush().unwrap();
    }
    let mut array = CArray::edit_in(store).unwrap();
    match what {
        "append" => array.append(&rows(47, 38)).unwrap(),
        "trim" => array.trim(18).unwrap(),
        "trim to a border" => array.trim(20).unwrap(),
        "set" => array.set_slice(&[8..33], &rows(5000, 25)).unwrap(),
        "resize" => array.resize(71).unwrap(),
        "attribute" => array.set_attribute("unit", &json!("EUR")).unwrap(),
        "append and trim" => {
            array.append(&rows(47, 60)).unwrap();
            array.trim(55).unwrap();
            array.set_attribute("n", &json!(1)).unwrap();
        }
        _ => unreachable!("{what}"),
    }
    array.flush().unwrap();
}

/// A table of 25 rows, and the operations on it.
fn change_table(store: TreeRecorder, layout: DatasetLayout, what: &str) {
    let mut table = CTable::edit_in(store).unwrap();
    match what {
        "append" => table.append(&[&rows(25, 17), &rows(125, 17)]).unwrap(),
        "trim" => table.trim(9).unwrap(),
        "set" => table.set_slice("b", &[3..21], &rows(700, 18)).unwrap(),
        "add a column" => table
            .add_column("c", array(layout, false), &rows(300, 25), Some(1))
            .unwrap(),
        "delete a column" => table.delete_column("a", false).unwrap(),
        "replace a column" => table.replace_column("a", &rows(400, 25)).unwrap(),
        _ => unreachable!("{what}"),
    }
    table.flush().unwrap();
}

fn new_table(store: TreeRecorder, layout: DatasetLayout) {
    let builder = CTable::builder().layout(layout).chunk_rows(10);
    let builder = builder
        .column("a", array(layout, false))
        .column("b", array(layout, false));
    let mut table = builder.create_in(store).unwrap();
    table.append(&[&rows(0, 25), &rows(100, 25)]).unwrap();
    table.flush().unwrap();
}

fn new_array(store: TreeRecorder, layout: DatasetLayout) {
    let mut array = array(layout, false).create_in(store).unwrap();
    array.append(&rows(0, 47)).unwrap();
    array.flush().unwrap();
}

/// Crashes one change everywhere; returns how many states there were.
fn crash(before: Disk, what: &str, random: &mut Random, change: impl Fn(TreeRecorder)) -> usize {
    let old = seen(&TreeRecorder::new(before.clone())).unwrap();
    let recorder = TreeRecorder::new(before);
    change(recorder.clone());
    let (log, done) = (recorder.log(), recorder.done());
    let new = seen(&recorder).unwrap();
    assert!(old != new, "{what} has changed nothing");
    let mut states = 0;
    for_each_state(&log, &[], DEPTH, random, |at, disk| {
        states += 1;
        let left = TreeRecorder::new(disk.clone());
        let found = seen(&left)
            .unwrap_or_else(|error| panic!("{what}, after operation {at} of {done}: {error}"));
        assert!(
            found == old || found == new,
            "{what}, after operation {at} of {done}: neither the old nor the new"
        );
        assert!(
            at < done || found == new,
            "{what}: lost after it was flushed"
        );
        if found.is_some() && states % 5 == 0 {
            // The next writer completes or discards an unfinished change.
            let options = bloscpack::Options::new().threads(1);
            drop(Dataset::edit_in(left.clone(), &options).unwrap());
            assert!(
                seen(&left).unwrap() == found,
                "{what}, after operation {at}: recovery gives something else"
            );
        }
    });
    states
}

/// The same with an index, of which every entry that holds is that of the rows.
fn crash_with_an_index(random: &mut Random) -> usize {
    let (mut states, layout) = (0, DatasetLayout::Bcolz);
    let create = |store| {
        let mut array = array(layout, false).index(true).create_in(store).unwrap();
        array.append(&rows(0, 47)).unwrap();
        array.flush().unwrap();
    };
    states += crash(Disk::new(), "create with an index", random, create);
    let store = TreeRecorder::new(Disk::new());
    create(store.clone());
    for what in ["append", "trim", "trim to a border", "set", "resize"] {
        let told = format!("with an index: {what}");
        states += crash(store.disk(), &told, random, |store| {
            change_array(store, layout, what)
        });
    }
    states
}

#[test]
fn a_crash_leaves_the_old_dataset_or_the_new() {
    let (random, mut states) = (&mut Random::new(5), 0);
    for layout in crate::layouts() {
        let empty = TreeRecorder::new(Disk::new());
        states += crash(empty.disk(), "create", random, |store| {
            new_array(store, layout)
        });
        states += crash(empty.disk(), "create a table", random, |store| {
            new_table(store, layout)
        });
        let store = TreeRecorder::new(Disk::new());
        new_array(store.clone(), layout);
        for what in [
            "append",
            "trim",
            "trim to a border",
            "set",
            "resize",
            "attribute",
            "append and trim",
            "replace",
        ] {
            let told = format!("{layout}: {what}");
            states += crash(store.disk(), &told, random, |store| {
                change_array(store, layout, what)
            });
        }
        let store = TreeRecorder::new(Disk::new());
        new_table(store.clone(), layout);
        for what in [
            "append",
            "trim",
            "set",
            "add a column",
            "delete a column",
            "replace a column",
        ] {
            let told = format!("{layout}: table: {what}");
            states += crash(store.disk(), &told, random, |store| {
                change_table(store, layout, what)
            });
        }
    }
    states += crash_with_an_index(random);
    println!("{states} states");
    assert!(states > testkit::effort::cases(5000, 10), "{states}");
}
