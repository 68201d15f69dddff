//! Tests that writers keep an index up to date, and write nothing for an array without one.

use super::{assert_current, builder, holding, index, indexed, numbers, put, without_index};
use bloscpack::Options;
use bloscpack_datasets::{CArray, CTable, Dataset, DatasetLayout, RepairOptions, Uncounted};
use bloscpack_dtype::DType;
use bloscpack_error::Code;
use bloscpack_storage::Memory;
use proptest::prelude::*;

#[derive(Debug, Clone)]
enum Step {
    Append(i64),
    Trim(u64),
    Resize(u64),
    Set(u64, u64),
    Read,
    Flush,
    Reopen,
    Update,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        3 => (0..260i64).prop_map(Step::Append),
        1 => (0..400u64).prop_map(Step::Trim),
        1 => (0..500u64).prop_map(Step::Resize),
        2 => (0..500u64, 1..150u64).prop_map(|(at, len)| Step::Set(at, len)),
        1 => Just(Step::Read),
        3 => Just(Step::Flush),
        1 => Just(Step::Reopen),
        1 => Just(Step::Update),
    ];
    prop::collection::vec(step, 1..25)
}

fn make(array: &mut CArray, step: &Step, seed: i64) {
    let rows = array.rows();
    match *step {
        Step::Append(count) => array.append_values(&numbers(count, seed)).unwrap(),
        Step::Trim(to) => array.trim(to.min(rows)).unwrap(),
        Step::Resize(to) => array.resize(to).unwrap(),
        Step::Set(at, len) => {
            let (from, to) = (at.min(rows), (at + len).min(rows));
            let values = numbers((to - from) as i64, seed + 1);
            array.set(&[from..to], &values).unwrap();
        }
        Step::Read => drop(array.read_rows(0..rows).unwrap()),
        Step::Flush | Step::Reopen => array.flush().unwrap(),
        Step::Update => {}
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(testkit::effort::cases(150, 10) as u32))]

    /// With an index or without, the other files are the same.
    #[test]
    fn an_index_is_current_after_each_flush(steps in steps()) {
        let (with, without) = (Memory::new(), Memory::new());
        let mut array = builder().index(true).create_in(with.clone()).unwrap();
        let mut other = builder().create_in(without.clone()).unwrap();
        for (seed, step) in (0..).zip(&steps) {
            make(&mut array, step, seed);
            make(&mut other, step, seed);
            if let Step::Update = step {
                array.update_index(|_| Ok(())).unwrap();
            }
            if matches!(step, Step::Flush | Step::Reopen) {
                assert_current(&with);
                assert_eq!(without_index(&with), without_index(&without));
            }
            if let Step::Reopen = step {
                drop(array);
                array = CArray::edit_in(with.clone()).unwrap();
            }
        }
        array.flush().unwrap();
        assert_current(&with);
        assert!(without.bytes("meta/index").is_none());
    }
}

#[test]
fn an_index_is_removed_for_good() {
    let store = indexed();
    let mut array = CArray::edit_in(store.clone()).unwrap();
    assert!(array.remove_index().unwrap());
    assert!(!array.remove_index().unwrap());
    assert!(store.bytes("meta/index").is_some());
    array.append_values(&[1i64]).unwrap();
    array.flush().unwrap();
    assert!(store.bytes("meta/index").is_none());
    array.append_values(&[1i64]).unwrap();
    array.flush().unwrap();
    assert!(store.bytes("meta/index").is_none());
}

#[test]
fn changes_that_are_dropped_leave_the_index() {
    let store = indexed();
    let before = store.bytes("meta/index").unwrap();
    let mut array = CArray::edit_in(store.clone()).unwrap();
    array.append_values(&numbers(500, 3)).unwrap();
    array.update_index(|_| Ok(())).unwrap();
    drop(array);
    assert_eq!(store.bytes("meta/index").unwrap(), before);
    assert_eq!(holding(&store), [true; 4]);
    let error = CArray::open_in(store).unwrap().update_index(|_| Ok(()));
    assert!(
        error
            .unwrap_err()
            .to_string()
            .contains("opened for reading")
    );
}

#[test]
fn the_columns_of_a_table_that_can_be_indexed_are() {
    let structured = || CArray::builder(DType::parse("[('x', '<i4')]").unwrap());
    let builder = || {
        CTable::builder()
            .chunk_rows(10)
            .column("a", CArray::of::<i32>())
            .column("s", structured())
            .column("t", CArray::builder(DType::parse("S3").unwrap()))
    };
    let store = Memory::new();
    let mut table = builder().index(true).create_in(store.clone()).unwrap();
    let rows: Vec<i32> = (0..25).collect();
    let rows: &[u8] = bytemuck::cast_slice(&rows);
    let texts = b"abc".repeat(25);
    table.append(&[rows, rows, &texts]).unwrap();
    table.flush().unwrap();
    assert!(store.bytes("s/meta/index").is_none());
    for name in ["a", "t"] {
        let check = table.column(name).unwrap().check_index(|_| Ok(()));
        assert_eq!(
            (check.as_ref().unwrap().holding, check.unwrap().is_current()),
            (3, true)
        );
    }
    let error = table.update_index("s", |_| Ok(())).unwrap_err();
    assert_eq!(error.code(), Code::NoIndex);
    // Columns that are opened when they are changed.
    drop(table);
    let mut table = CTable::edit_in(store.clone()).unwrap();
    table
        .append(&[&rows[..40], &rows[..40], &texts[..30]])
        .unwrap();
    table.flush().unwrap();
    let check = table.column("a").unwrap().check_index(|_| Ok(()));
    assert_eq!(check.unwrap().holding, 4);
    // A column that is deleted, with its files and without.
    table.delete_column("a", false).unwrap();
    table.delete_column("t", true).unwrap();
    table.flush().unwrap();
    assert!(store.bytes("a/meta/index").is_none());
    assert!(store.bytes("t/meta/index").is_some());
    let data = vec![0; 35 * 4];
    table
        .add_column("t", CArray::of::<i32>(), &data, None)
        .unwrap();
    table
        .add_column("b", CArray::of::<i32>().index(true), &data, None)
        .unwrap();
    table.flush().unwrap();
    assert!(store.bytes("t/meta/index").is_none());
    assert!(
        table
            .column("b")
            .unwrap()
            .check_index(|_| Ok(()))
            .unwrap()
            .is_current()
    );
    for name in ["b", "t", "s"] {
        assert!(table.column(name).unwrap().rows() == 35);
    }
    // A table in the place of another one.
    drop(table);
    let mut table = builder().replace(true).create_in(store.clone()).unwrap();
    table.flush().unwrap();
    assert!(
        store
            .keys()
            .iter()
            .all(|key| !key.as_str().ends_with("index"))
    );
}

#[test]
fn the_layouts_of_the_documents_have_none() {
    for layout in crate::layouts() {
        let array = builder()
            .layout(layout)
            .index(true)
            .create_in(Memory::new());
        let table = CTable::builder().layout(layout).column("a", builder());
        let table = table.index(true).create_in(Memory::new());
        let has_one = matches!(layout, DatasetLayout::Bcolz | DatasetLayout::Blz);
        assert_eq!(
            (array.is_ok(), table.is_ok()),
            (has_one, has_one),
            "{layout}"
        );
        let store = Memory::new();
        let mut array = builder().layout(layout).create_in(store.clone()).unwrap();
        array.append_values(&numbers(30, 1)).unwrap();
        array.flush().unwrap();
        assert!(array.index().unwrap().is_none());
        assert_eq!(array.update_index(|_| Ok(())).is_ok(), has_one);
    }
}

#[test]
fn a_repaired_array_has_a_current_index() {
    let store = indexed();
    // As a writer leaves it that dies before it counts: 350 of 400 rows.
    let more = Memory::new();
    let mut array = builder().create_in(more.clone()).unwrap();
    array.append_values(&numbers(400, 1)).unwrap();
    array.flush().unwrap();
    put(&store, "data/__3.blp", &more.bytes("data/__3.blp").unwrap());
    assert_eq!(holding(&store), [true, true, true, false]);
    let repair = RepairOptions::new().uncounted(Uncounted::Keep);
    repair.repair_in(store.clone()).unwrap();
    let array = CArray::open_in(store.clone()).unwrap();
    assert_eq!(array.rows(), 400);
    drop(array);
    // The repair writes no superchunk, and drops what it does not know.
    assert_eq!(holding(&store), [true, true, true, false]);
    assert!(index(&store).unwrap().entry(3).is_none());
    let mut array = CArray::edit_in(store.clone()).unwrap();
    assert_eq!(array.update_index(|_| Ok(())).unwrap().computed, 1);
    array.flush().unwrap();
    drop(array);
    assert_current(&store);
}

#[test]
fn work_on_an_index_can_be_stopped() {
    let store = indexed();
    let mut array = CArray::edit_in(store.clone()).unwrap();
    let mut bytes = 0;
    let stopped = array.update_index(|more| {
        bytes += more;
        if bytes > 800 {
            Err(bloscpack_error::Error::usage("enough"))
        } else {
            Ok(())
        }
    });
    assert!(stopped.unwrap_err().to_string().contains("enough"));
    assert_eq!(bytes, 1600);
    array.append_values(&[1i64]).unwrap();
    array.flush().unwrap();
    assert!(array.check_index(|_| Ok(())).unwrap().is_current());
}

#[test]
fn a_damaged_superchunk_has_no_statistics() {
    let store = Memory::new();
    let mut array = builder().create_in(store.clone()).unwrap();
    array.append_values(&numbers(350, 1)).unwrap();
    array.flush().unwrap();
    drop(array);
    put(&store, "data/__2.blp", b"blpk");
    let options = Options::new().threads(2);
    let Ok(Dataset::Array(mut array)) = Dataset::edit_in(store.clone(), &options) else {
        panic!("an array");
    };
    let error = array.update_index(|_| Ok(())).unwrap_err();
    assert!(error.to_string().contains("data/__2.blp"), "{error}");
    array.flush().unwrap();
    assert!(store.bytes("meta/index").is_none());
}
