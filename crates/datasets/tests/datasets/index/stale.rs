//! Tests that an index is ignored where another program has changed the data.

use super::{assert_current, builder, holding, index, indexed, numbers, problem, put};
use crate::counting::peak_of;
use bloscpack_datasets::wire::index_digest;
use bloscpack_datasets::{CArray, Dataset, Index};
use bloscpack_storage::{Key, Memory, Store};
use proptest::prelude::*;

fn remove(store: &Memory, key: &str) {
    store.remove(&Key::parse(key).unwrap()).unwrap();
}

/// A superchunk of 100 other rows, of the same length if nothing is compressed.
fn plain(seed: i64) -> (Memory, Vec<u8>) {
    let store = Memory::new();
    let mut array = builder().level(0).index(true).create_in(store.clone());
    let array = array.as_mut().unwrap();
    array.append_values(&numbers(350, seed)).unwrap();
    array.flush().unwrap();
    let first = store.bytes("data/__0.blp").unwrap();
    (store, first)
}

#[test]
fn a_superchunk_that_was_written_again_is_noticed() {
    let ((store, old), (_, new)) = (plain(1), plain(2));
    assert_eq!(holding(&store), [true; 4]);
    assert_eq!(old.len(), new.len());
    put(&store, "data/__0.blp", &new);
    assert_eq!(holding(&store), [false, true, true, true]);
    let array = CArray::open_in(store.clone()).unwrap();
    assert_eq!(array.to_vec::<i64>(0..100).unwrap(), numbers(100, 2));
    // Only what was changed is decompressed.
    drop(array);
    let mut array = CArray::edit_in(store.clone()).unwrap();
    let update = array.update_index(|_| Ok(())).unwrap();
    assert_eq!((update.kept, update.computed), (3, 1));
    array.flush().unwrap();
    drop(array);
    assert_current(&store);
}

#[test]
fn every_change_of_a_superchunk_is_noticed() {
    let store = indexed();
    let file = store.bytes("data/__3.blp").unwrap();
    for at in 0..file.len() {
        let mut changed = file.clone();
        changed[at] ^= 1 << (at % 8);
        put(&store, "data/__3.blp", &changed);
        assert_eq!(holding(&store), [true, true, true, false], "byte {at}");
    }
    for changed in [&file[..file.len() - 1], &[&file[..], b"\0"].concat(), &[]] {
        put(&store, "data/__3.blp", changed);
        assert_eq!(holding(&store), [true, true, true, false]);
    }
    remove(&store, "data/__3.blp");
    assert_eq!(holding(&store), [true, true, true, false]);
    put(&store, "data/__3.blp", &file);
    assert_eq!(holding(&store), [true; 4]);
    // Two superchunks in the place of each other.
    let other = store.bytes("data/__1.blp").unwrap();
    let first = store.bytes("data/__0.blp").unwrap();
    put(&store, "data/__0.blp", &other);
    put(&store, "data/__1.blp", &first);
    assert_eq!(holding(&store), [false, false, true, true]);
}

#[test]
fn every_flipped_bit_and_every_cut_of_an_index_is_noticed() {
    let store = indexed();
    let file = store.bytes("meta/index").unwrap();
    assert_eq!(file.len(), 32 + 3 + 4 * (41 + 16) + 16);
    for bit in 0..file.len() * 8 {
        let mut changed = file.clone();
        changed[bit / 8] ^= 1 << (bit % 8);
        put(&store, "meta/index", &changed);
        assert!(index(&store).is_none(), "bit {bit}");
        let problem = problem(&store).unwrap();
        assert!(problem.contains("meta/index"), "{problem}");
        assert!(
            problem.contains("byte") || problem.contains("beginning"),
            "{problem}"
        );
    }
    for len in 0..file.len() {
        put(&store, "meta/index", &file[..len]);
        assert!(index(&store).is_none(), "{len} bytes");
    }
    put(&store, "meta/index", &[&file[..], b"\0"].concat());
    assert!(index(&store).is_none());
    // A writer leaves what it cannot read.
    let mut array = CArray::edit_in(store.clone()).unwrap();
    array.append_values(&[1i64]).unwrap();
    array.flush().unwrap();
    assert!(array.index().unwrap().is_none());
    array.update_index(|_| Ok(())).unwrap();
    array.flush().unwrap();
    drop(array);
    assert_current(&store);
}

#[test]
fn the_index_of_another_array_is_not_believed() {
    let store = indexed();
    let other = |builder: bloscpack_datasets::CArrayBuilder, values: &[i64]| {
        let other = Memory::new();
        let mut array = builder.index(true).create_in(other.clone()).unwrap();
        let bytes: Vec<u8> = values.iter().flat_map(|v| v.to_le_bytes()).collect();
        array.append(&bytes).unwrap();
        array.flush().unwrap();
        other.bytes("meta/index").unwrap()
    };
    // The same type, but other elements.
    put(&store, "meta/index", &other(builder(), &numbers(350, 9)));
    assert_eq!(holding(&store), [false; 4]);
    let unsigned = CArray::of::<u64>().chunk_rows(100);
    put(&store, "meta/index", &other(unsigned, &numbers(350, 1)));
    assert!(
        problem(&store)
            .unwrap()
            .contains("the index is of uint64, the array has int64")
    );
    put(
        &store,
        "meta/index",
        &other(builder().chunk_rows(50), &numbers(350, 1)),
    );
    assert!(problem(&store).unwrap().contains("superchunks of 50 rows"));
    put(&store, "meta/index", &other(builder(), &numbers(350, 1)));
    assert_eq!(holding(&store), [true; 4]);
}

/// An earlier version of this library, or bcolz, as far as the index is concerned.
fn without_knowing(store: &Memory, change: impl FnOnce(&mut CArray)) {
    let file = store.bytes("meta/index").unwrap();
    remove(store, "meta/index");
    let mut array = CArray::edit_in(store.clone()).unwrap();
    change(&mut array);
    array.flush().unwrap();
    drop(array);
    put(store, "meta/index", &file);
}

#[test]
fn changes_of_a_writer_that_ignores_the_index_are_noticed() {
    let store = indexed();
    without_knowing(&store, |array| {
        array.append_values(&numbers(120, 7)).unwrap()
    });
    // The last superchunk was not full, and one came.
    assert_eq!(holding(&store), [true, true, true, false, false]);
    let store = indexed();
    without_knowing(&store, |array| array.trim(250).unwrap());
    assert_eq!(holding(&store), [true, true, false, false]);
    let store = indexed();
    without_knowing(&store, |array| array.set(&[130..131], &[7i64]).unwrap());
    assert_eq!(holding(&store), [true, false, true, true]);
    // The next writer that knows it computes what it writes itself, and nothing else.
    let mut array = CArray::edit_in(store.clone()).unwrap();
    array.append_values(&[1i64]).unwrap();
    array.flush().unwrap();
    drop(array);
    assert_eq!(holding(&store), [true, false, true, true]);
    let check = CArray::open_in(store.clone())
        .unwrap()
        .check_index(|_| Ok(()));
    let check = check.unwrap();
    assert_eq!((check.superchunks, check.holding, check.stale), (4, 3, 1));
    assert!(!check.is_current());
}

/// The counts alone say that the same file has more rows than before.
#[test]
fn other_counts_are_noticed() {
    let store = indexed();
    let sizes = store.bytes("meta/sizes").unwrap();
    let sizes = String::from_utf8(sizes).unwrap();
    put(
        &store,
        "meta/sizes",
        sizes.replace("[350]", "[320]").as_bytes(),
    );
    assert_eq!(holding(&store), [true, true, true, false]);
    put(
        &store,
        "meta/sizes",
        sizes.replace("[350]", "[300]").as_bytes(),
    );
    assert_eq!(holding(&store), [true, true, true, false]);
}

proptest! {
    /// Even with a digest that fits, only possible statistics are accepted, and are written in one way.
    #[test]
    fn an_accepted_index_is_written_again_as_it_was(
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..4),
        cut in any::<prop::sample::Index>(),
        is_cut: bool,
    ) {
        let file = indexed().bytes("meta/index").unwrap();
        let mut content = file[..file.len() - 16].to_vec();
        for (at, byte) in changes {
            let at = at.index(content.len());
            content[at] = byte;
        }
        if is_cut {
            content.truncate(cut.index(content.len()));
        }
        let digest = index_digest(&content);
        content.extend_from_slice(&digest.to_le_bytes());
        if let Ok(index) = Index::parse(&content) {
            prop_assert_eq!(index.encode().unwrap(), content);
        }
    }
}

#[test]
fn an_index_that_promises_much_takes_no_memory() {
    let file = indexed().bytes("meta/index").unwrap();
    for range in [12..16, 16..24, 24..32] {
        let mut changed = file[..file.len() - 16].to_vec();
        changed[range.clone()].fill(0xfe);
        let digest = index_digest(&changed);
        changed.extend_from_slice(&digest.to_le_bytes());
        let (parsed, peak) = peak_of(|| Index::parse(&changed));
        assert!(peak < 1 << 16, "{range:?}: {peak}");
        // More rows of a superchunk are possible, but of no array with chunks of 100.
        assert_eq!(parsed.is_ok(), range == (16..24), "{parsed:?}");
    }
    // A dataset that claims more superchunks than there are files.
    let store = indexed();
    let sizes = br#"{"shape": [288230376151711744], "nbytes": 0, "cbytes": 0}"#;
    put(&store, "meta/sizes", sizes);
    let (updated, peak) = peak_of(|| {
        let mut limits = bloscpack_wire::Limits::default();
        limits.total = u64::MAX;
        let options = bloscpack::Options::new().threads(1).limits(limits);
        let array = Dataset::edit_in(store.clone(), &options)
            .unwrap()
            .into_array();
        array.unwrap().update_index(|_| Ok(()))
    });
    assert!(updated.is_err());
    let check = CArray::open_in(store.clone())
        .unwrap()
        .check_index(|_| Ok(()));
    let check = check.unwrap();
    assert_eq!((check.holding, check.is_current()), (3, false));
    assert!(peak < 4 << 20, "{peak}");
}
