//! Tests of indexes: their statistics are those of the elements, and are never believed after a superchunk has changed.

mod kept;
mod measured;
mod stale;

use bloscpack_datasets::{CArray, CArrayBuilder, CTable, Index, IndexState};
use bloscpack_storage::{Key, Memory, Store};

/// Rows of a superchunk in these tests.
const ROWS: u64 = 100;

fn builder() -> CArrayBuilder {
    CArray::of::<i64>().chunk_rows(ROWS)
}

/// Numbers without an order.
fn numbers(count: i64, seed: i64) -> Vec<i64> {
    let number = |row: i64| (row + seed).wrapping_mul(0x5851_f42d_4c95_7f2d) >> 20;
    (0..count).map(number).collect()
}

/// An array of 350 rows with an index.
fn indexed() -> Memory {
    let store = Memory::new();
    let mut array = builder().index(true).create_in(store.clone()).unwrap();
    array.append_values(&numbers(350, 1)).unwrap();
    array.flush().unwrap();
    store
}

fn index(store: &Memory) -> Option<Index> {
    CArray::open_in(store.clone()).unwrap().index().unwrap()
}

/// Which superchunks the index in the store describes as they are.
fn holding(store: &Memory) -> Vec<bool> {
    let array = CArray::open_in(store.clone()).unwrap();
    let Some(index) = array.index().unwrap() else {
        return Vec::new();
    };
    let longest = index.len().max(array.superchunks());
    let holds = |number| array.index_holds(&index, number).unwrap();
    (0..longest).map(holds).collect()
}

/// The reason the index in the store cannot be used.
fn problem(store: &Memory) -> Option<String> {
    let array = CArray::open_in(store.clone()).unwrap();
    match array.find_index().unwrap() {
        IndexState::Unusable(error) => Some(error.to_string()),
        IndexState::Absent | IndexState::Usable(_) => None,
    }
}

/// Writes a file as another program does.
fn put(store: &Memory, key: &str, bytes: &[u8]) {
    let at = Key::parse(key).unwrap();
    if store.bytes(key).is_some() {
        store.remove(&at).unwrap();
    }
    store.create(&at, bytes).unwrap();
}

/// All files but those of the index.
fn without_index(store: &Memory) -> Vec<(String, Vec<u8>)> {
    let keys = store.keys().into_iter().map(|key| key.as_str().to_owned());
    let keys = keys.filter(|key| !key.ends_with("meta/index"));
    keys.filter_map(|key| Some((key.clone(), store.bytes(&key)?)))
        .collect()
}

/// Asserts that the index has the statistics of a newly computed one.
fn assert_current(store: &Memory) {
    let array = CArray::open_in(store.clone()).unwrap();
    let check = array.check_index(|_| Ok(())).unwrap();
    assert!(check.is_current(), "{check:?}");
    let found = array.index().unwrap().unwrap();
    assert_eq!(found.len(), array.superchunks());
    drop(array);
    let copy = Memory::new();
    for (key, bytes) in without_index(store) {
        let at = Key::parse(&key).unwrap();
        let folders: Vec<_> = at.names().collect();
        for count in 1..folders.len() {
            let _ = copy.make_folder(&Key::parse(&folders[..count].join("/")).unwrap());
        }
        copy.create(&at, &bytes).unwrap();
    }
    let _ = copy.make_folder(&Key::parse("data").unwrap());
    let mut array = CArray::edit_in(copy).unwrap();
    array.update_index(|_| Ok(())).unwrap();
    assert_eq!(array.index().unwrap().unwrap(), found);
}

#[test]
fn arrays_and_indexes_are_shared_by_threads() {
    fn is_shared<T: Send + Sync>() {}
    is_shared::<CArray>();
    is_shared::<CTable>();
    is_shared::<Index>();
    let array = CArray::open_in(indexed()).unwrap();
    let index = array.index().unwrap().unwrap();
    std::thread::scope(|scope| {
        for number in 0..4 {
            let (array, index) = (&array, &index);
            scope.spawn(move || assert!(array.index_holds(index, number).unwrap()));
        }
    });
}
