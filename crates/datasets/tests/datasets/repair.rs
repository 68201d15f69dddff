//! Tests that inconsistencies left by real programs are repaired, and nothing else is touched.

use crate::datasets;
use crate::disk::{files, folder};
use bloscpack_datasets::{CArray, Dataset, DatasetLayout, Remedy, RepairOptions, Uncounted};
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::path::{Path, PathBuf};

fn hex(bytes: &[u8]) -> String {
    Sha256::digest(bytes)
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

#[test]
fn rows_that_were_never_flushed_are_counted() {
    let chosen = datasets::chosen();
    let root = chosen.path().join("bcolz/crash_never_flushed");
    let manifest = std::fs::read_to_string(chosen.path().join("bcolz/manifest.json")).unwrap();
    let manifest = manifest
        .replace("-Infinity", "0")
        .replace("Infinity", "0")
        .replace("NaN", "0");
    let manifest: Value = serde_json::from_str(&manifest).unwrap();
    let entry = manifest["datasets"]
        .as_array()
        .unwrap()
        .iter()
        .find(|entry| entry["name"] == "crash_never_flushed")
        .unwrap();

    let before = files(&root);
    RepairOptions::new().dry_run(true).repair(&root).unwrap();
    assert_eq!(files(&root), before, "a dry run changes nothing");
    RepairOptions::new()
        .uncounted(Uncounted::Drop)
        .dry_run(true)
        .repair(&root)
        .unwrap();
    assert_eq!(files(&root), before, "a dry run changes nothing");

    RepairOptions::new().repair(&root).unwrap();
    let array = CArray::open(&root).unwrap();
    assert_eq!(Some(array.rows()), entry["recoverable_rows"].as_u64());
    assert_eq!(
        hex(&array.read_rows(0..array.rows()).unwrap()),
        entry["recoverable_sha256_le"].as_str().unwrap()
    );
    drop(array);
    assert_eq!(
        RepairOptions::new().repair(&root).unwrap(),
        [],
        "nothing is left to repair"
    );
}

#[test]
fn a_stale_superchunk_of_a_trimmed_array_is_removed() {
    let chosen = datasets::chosen();
    let root = chosen
        .path()
        .join("bcolz-legacy/v012_trimmed_to_boundary_stale_file");
    let array = CArray::open(&root).unwrap();
    let (rows, bytes) = (array.rows(), array.read_rows(0..array.rows()).unwrap());
    let stale = root.join(format!("data/__{}.blp", array.chunks()));
    drop(array);
    assert!(stale.is_file());
    // It may as well hold rows that were appended and never counted.
    let found = RepairOptions::new().repair(&root).unwrap();
    assert!(
        found.iter().any(|finding| finding.message.contains("stale")
            && matches!(finding.remedy, Remedy::Left(_)))
    );
    assert!(stale.is_file());
    RepairOptions::new()
        .uncounted(Uncounted::Drop)
        .repair(&root)
        .unwrap();
    assert!(!stale.exists());
    let array = CArray::open(&root).unwrap();
    assert_eq!(
        (array.rows(), array.read_rows(0..rows).unwrap()),
        (rows, bytes)
    );
}

/// Counted values stay unchanged in every state that real programs left.
#[test]
fn repairing_keeps_all_counted_values() {
    let chosen = datasets::chosen();
    let mut repaired = 0;
    for dataset in ["bcolz", "bcolz-legacy", "blz", "carray05"]
        .iter()
        .flat_map(|corpus| {
            bloscpack_datasets::walk(chosen.path().join(corpus), |_, _| {})
                .unwrap()
                .into_iter()
                .map(move |found| (corpus, found))
        })
    {
        let root = chosen.path().join(dataset.0).join(&dataset.1.path);
        if dataset.1.path.ends_with("crash_never_flushed") {
            continue;
        }
        let Ok(before) = values(&root) else { continue };
        let found = RepairOptions::new()
            .repair(&root)
            .unwrap_or_else(|error| panic!("{}: {error}", root.display()));
        let after = values(&root).unwrap();
        let kept = after
            .iter()
            .zip(&before)
            .all(|(after, before)| after.starts_with(before));
        assert!(
            kept && after.len() == before.len(),
            "{}: {found:?}",
            root.display()
        );
        let report = Dataset::open(&root).unwrap().verify(|_| {});
        assert!(
            report.is_sound(),
            "{}: {:?}",
            root.display(),
            report.damages
        );
        repaired += 1;
    }
    assert!(repaired > 100, "{repaired}");
}

fn values(root: &Path) -> bloscpack_error::Result<Vec<Vec<u8>>> {
    match Dataset::open(root)? {
        Dataset::Array(array) => Ok(vec![array.read_rows(0..array.rows())?]),
        Dataset::Table(table) => {
            let rows = table.rows()?;
            table.read_rows(table.names(), 0..rows)
        }
    }
}

#[test]
fn lost_counts_and_attributes_are_written_anew() {
    let chosen = datasets::chosen();
    let root = chosen.path().join("bcolz/py2_int64");
    let before = values(&root).unwrap();
    std::fs::write(root.join("meta/sizes"), "").unwrap();
    std::fs::remove_file(root.join("__attrs__")).unwrap();
    assert!(Dataset::open(&root).is_err());
    let found = RepairOptions::new()
        .uncounted(Uncounted::Keep)
        .repair(&root)
        .unwrap();
    assert!(found.len() >= 2, "{found:?}");
    assert!(values(&root).unwrap() == before);
    assert_eq!(std::fs::read(root.join("__attrs__")).unwrap(), b"{}\n");
}

#[test]
fn missing_superchunks_at_the_end_are_cut_off_when_asked() {
    let chosen = datasets::chosen();
    let root = chosen.path().join("bcolz/py2_int64");
    let array = CArray::open(&root).unwrap();
    let (chunk, before) = (array.chunk_shape()[0], values(&root).unwrap());
    let last = array.chunks() - 1;
    drop(array);
    std::fs::remove_file(root.join(format!("data/__{last}.blp"))).unwrap();
    let found = RepairOptions::new().repair(&root).unwrap();
    assert!(
        matches!(&found[0].remedy, Remedy::Left(advice) if advice.contains("cutting")),
        "{found:?}"
    );
    assert!(values(&root).is_err());
    RepairOptions::new().cut(true).repair(&root).unwrap();
    let kept = (last * chunk) as usize * 8;
    assert!(values(&root).unwrap()[0] == before[0][..kept]);
}

#[test]
fn litter_goes_and_strangers_stay() {
    let chosen = datasets::chosen();
    let root = chosen.path().join("bcolz/table_mixed");
    for name in ["._id", "id/data/.___0.blp", "id/meta/._sizes"] {
        std::fs::write(root.join(name), "litter").unwrap();
    }
    std::fs::write(root.join("notes.txt"), "mine").unwrap();
    // These folders do not belong to the dataset.
    let others = ["backup/._keep", "id/data/old/._keep", "id/old/._keep"];
    for name in others {
        std::fs::create_dir_all(root.join(name).parent().unwrap()).unwrap();
        std::fs::write(root.join(name), "mine").unwrap();
    }
    RepairOptions::new().repair(&root).unwrap();
    let left: Vec<_> = files(&root)
        .into_keys()
        .filter(|path| path.to_string_lossy().contains("._"))
        .collect();
    assert_eq!(left, others.map(PathBuf::from));
    assert!(root.join("notes.txt").is_file());
}

/// bcolz empties a file before it writes it: a file left empty by a crash is not taken for an empty array.
#[test]
fn rows_whose_counts_are_lost_are_never_removed() {
    let chosen = datasets::chosen();
    let root = chosen.path().join("bcolz/py2_int64");
    let before = files(&root.join("data"));
    std::fs::write(root.join("meta/sizes"), "").unwrap();
    let found = RepairOptions::new().repair(&root).unwrap();
    assert!(
        found
            .iter()
            .any(|finding| matches!(finding.remedy, Remedy::Left(_))),
        "{found:?}"
    );
    assert!(files(&root.join("data")) == before);
}

#[test]
fn where_a_superchunk_is_damaged_no_other_is_removed() {
    let chosen = datasets::chosen();
    let root = chosen.path().join("bcolz/crash_never_flushed");
    std::fs::write(root.join("data/__0.blp"), "damaged").unwrap();
    let before = files(&root.join("data"));
    for uncounted in [Uncounted::Report, Uncounted::Keep] {
        RepairOptions::new()
            .uncounted(uncounted)
            .repair(&root)
            .unwrap();
        assert!(files(&root.join("data")) == before, "{uncounted:?}");
    }
}

/// A column that lost its counts must not take the rows of the others with it.
#[test]
fn an_undecided_column_does_not_shorten_its_table() {
    let chosen = datasets::chosen();
    let root = chosen.path().join("bcolz/table_mixed");
    let before = files(&root.join("id/data"));
    std::fs::write(
        root.join("price/meta/sizes"),
        br#"{"shape": [0], "nbytes": 0, "cbytes": 0}"#,
    )
    .unwrap();
    RepairOptions::new().repair(&root).unwrap();
    assert!(files(&root.join("id/data")) == before);
    RepairOptions::new()
        .uncounted(Uncounted::Keep)
        .repair(&root)
        .unwrap();
    assert!(files(&root.join("id/data")) == before);
    assert_eq!(
        bloscpack_datasets::CTable::open(&root)
            .unwrap()
            .rows()
            .unwrap(),
        700
    );
}

/// An array of 25 rows in chunks of 10, whose writer died after it had appended 17 more, before it counted them: the last superchunk
/// has 10 rows instead of 5, and two more follow, of which the last has 2.
fn appended_and_not_counted(root: &Path) {
    let mut array = CArray::of::<i32>()
        .layout(DatasetLayout::Bcolz)
        .chunk_rows(10)
        .create(root)
        .unwrap();
    let values: Vec<i32> = (0..42).collect();
    array.append_values(&values[..25]).unwrap();
    array.flush().unwrap();
    let counted = std::fs::read(root.join("meta/sizes")).unwrap();
    array.append_values(&values[25..]).unwrap();
    array.flush().unwrap();
    drop(array);
    std::fs::write(root.join("meta/sizes"), counted).unwrap();
}

fn told(found: &[bloscpack_datasets::Finding], part: &str) -> bool {
    let is_it = |remedy: &Remedy| matches!(remedy, Remedy::Done(what) if what.contains(part));
    found.iter().any(|finding| is_it(&finding.remedy))
}

fn to_vec(root: &Path) -> Vec<i32> {
    let array = CArray::open(root).unwrap();
    array.to_vec(0..array.rows()).unwrap()
}

#[test]
fn what_was_appended_and_not_counted_goes_or_stays_as_one_says() {
    for (uncounted, rows, remedy) in [
        (
            Uncounted::Drop,
            25,
            "cut the last superchunk off after 25 rows",
        ),
        // Two rows in a superchunk of their own may also have been cut off.
        (Uncounted::Report, 40, "counted all 40 rows"),
        (Uncounted::Keep, 42, "counted all 42 rows"),
    ] {
        let folder = folder();
        let root = folder.path().join("array");
        appended_and_not_counted(&root);
        assert_eq!(to_vec(&root), Vec::from_iter(0..25));
        let how = RepairOptions::new().uncounted(uncounted);
        let found = how.repair(&root).unwrap();
        assert!(told(&found, remedy), "{uncounted:?}: {found:?}");
        assert_eq!(to_vec(&root), Vec::from_iter(0..rows), "{uncounted:?}");
        if uncounted != Uncounted::Report {
            assert_eq!(how.repair(&root).unwrap(), [], "{uncounted:?}");
        }
    }
}

#[test]
fn rows_that_are_not_sound_are_not_counted() {
    for uncounted in [Uncounted::Report, Uncounted::Keep] {
        let folder = folder();
        let root = folder.path().join("array");
        appended_and_not_counted(&root);
        let damaged = root.join("data/__3.blp");
        let mut bytes = std::fs::read(&damaged).unwrap();
        // Its header is as it was: that there are rows is known, and no more.
        let cut = bytes.len() - 3;
        bytes.truncate(cut);
        std::fs::write(&damaged, bytes).unwrap();
        let before = files(&root.join("data"));
        RepairOptions::new()
            .uncounted(uncounted)
            .repair(&root)
            .unwrap();
        assert!(files(&root.join("data")) == before, "{uncounted:?}");
        let values = to_vec(&root);
        assert!(values.len() < 40, "{uncounted:?}");
        assert_eq!(values, Vec::from_iter(0..values.len() as i32));
    }
}
