//! Tests that arrays and tables created and changed in any order have the content of vectors, also for readers built
//! from the documents alone.
//!
//! `BLOSCPACK_MODEL_CASES=100000` tries more of each.

use crate::dataset_model::{Flushed, Step, array, table};
use crate::documents::real::{Relaxed, read as read_real};
use crate::documents::{Read, bcolz, blz, blz_document, carray_document};
use crate::layouts;
use bloscpack_datasets::DatasetLayout;
use bloscpack_storage::{EntryKind, Key, Store};
use proptest::prelude::*;
use std::path::Path;

/// Writes the content of a store into a folder, except for files that are not in any document: our own file beside
/// the others, and files kept on the user's request.
fn write(flushed: &Flushed<'_>, folder: &Key, to: &Path) {
    for entry in flushed.store.list(folder).unwrap() {
        let name = entry.name.to_str().unwrap();
        let key = folder.join(name).unwrap();
        // A later column may be in the folder of one whose files were kept, beside its superchunks.
        let is_kept = kept(flushed).any(|kept| key.as_str() == kept);
        let in_kept = kept(flushed).any(|kept| folder.as_str() == kept);
        let kept = match entry.kind {
            EntryKind::Folder => is_kept && !has_leaf_below(flushed, &key),
            _ => is_kept || in_kept,
        };
        // A writer has its own folder there as long as it is at work.
        if kept || key.as_str() == ".blpk" {
            continue;
        }
        let path = to.join(name);
        match entry.kind {
            EntryKind::Folder => {
                std::fs::create_dir(&path).unwrap();
                write(flushed, &key, &path);
            }
            _ if key.as_str() == "meta/superchunksize" => {}
            _ => std::fs::write(path, flushed.store.bytes(&key).unwrap()).unwrap(),
        }
    }
}

/// Whether a column is somewhere below this folder.
fn has_leaf_below(flushed: &Flushed<'_>, folder: &Key) -> bool {
    let below = format!("{folder}/");
    let mut leaves = flushed.leaves.iter();
    leaves.any(|leaf| folder_of(flushed, &leaf.name).starts_with(&below))
}

/// The folder of a column.
fn folder_of(flushed: &Flushed<'_>, name: &str) -> String {
    match flushed.layout {
        DatasetLayout::BlzDocument | DatasetLayout::CarrayDocument => {
            format!("data/{}", name.replace('.', "/"))
        }
        DatasetLayout::Bcolz | DatasetLayout::Blz => name.to_owned(),
    }
}

/// The folders of removed columns whose files were kept.
fn kept<'a>(flushed: &'a Flushed<'_>) -> impl Iterator<Item = String> + 'a {
    let kept = flushed.kept.iter();
    kept.map(move |kept| folder_of(flushed, kept))
}

/// Removes the folders around removed columns whose files were kept, and nothing else.
fn clear(flushed: &Flushed<'_>, root: &Path) {
    for kept in kept(flushed) {
        let around = Path::new(&kept).ancestors().skip(1);
        let leaves = flushed
            .leaves
            .iter()
            .map(|leaf| leaf.name.replace('.', "/"));
        let leaves: Vec<_> = leaves.map(|leaf| Path::new("data").join(leaf)).collect();
        let around = around.filter(|around| around.components().count() > 1);
        let around = around.take_while(|around| !leaves.iter().any(|leaf| leaf == around));
        around.for_each(|around| drop(std::fs::remove_dir(root.join(around))));
    }
}

fn read(layout: DatasetLayout, root: &Path, relaxed: Relaxed) -> Read {
    match layout {
        DatasetLayout::Bcolz => read_real(root, bcolz::SINCE_1_1, relaxed),
        DatasetLayout::Blz => read_real(root, blz::V0_6, relaxed),
        DatasetLayout::BlzDocument => blz_document::read(root),
        DatasetLayout::CarrayDocument => carray_document::read(root),
    }
}

/// The documents' readers see the flushed state.
fn judge(flushed: &Flushed<'_>) {
    let folder = tempfile::tempdir().unwrap();
    write(flushed, &Key::root(), folder.path());
    clear(flushed, folder.path());
    let read = read(flushed.layout, folder.path(), Relaxed::default());
    assert_eq!(
        read.attributes, flushed.attributes,
        "attributes, as documented"
    );
    assert_eq!(
        read.leaves.len(),
        flushed.leaves.len(),
        "{:?}",
        read.names()
    );
    for (found, leaf) in read.leaves.iter().zip(&flushed.leaves) {
        assert_eq!((&found.name, &found.shape), (&leaf.name, &leaf.shape));
        assert!(
            found.bytes == leaf.bytes,
            "elements of {:?}, as documented",
            leaf.name
        );
        if let Some(attributes) = &leaf.attributes {
            assert_eq!(found.attributes, *attributes);
        }
    }
}

fn config() -> ProptestConfig {
    ProptestConfig {
        cases: testkit::effort::models(400),
        max_shrink_iters: 4000,
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

fn layout() -> impl Strategy<Value = DatasetLayout> {
    prop::sample::select(layouts())
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    prop::collection::vec(any::<Step>(), 1..12)
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn an_array_is_as_a_vector(layout in layout(), making: [u8; 32], steps in steps()) {
        array::run(layout, &making, &steps, &mut judge);
    }

    #[test]
    fn a_table_is_as_vectors(layout in layout(), making: [u8; 32], steps in steps()) {
        table::run(layout, &making, &steps, &mut judge);
    }
}

/// A case once found at random: a column in the folder of a removed one whose files were kept.
#[test]
fn a_column_in_the_folder_of_one_that_was_left_behind() {
    let mut making = [0; 32];
    (making[3], making[4]) = (4, 70);
    let steps: [Step; 4] = [
        [7, 0, 3, 0, 0, 0],
        [210, 0, 115, 55, 0, 0],
        [87, 0, 82, 0, 0, 0],
        [0; 6],
    ];
    table::run(DatasetLayout::BlzDocument, &making, &steps, &mut judge);
}
