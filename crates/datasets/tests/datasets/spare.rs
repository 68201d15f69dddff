//! Tests that chunks that fit into their reserved space are changed in place, and nothing else is.

use crate::disk::{files, folder, seen_by};
use crate::documents::{blz_document, carray_document};
use blosc1::Compressor;
use bloscpack_datasets::{CArray, DatasetLayout};
use bloscpack_wire::Checksum;
use std::collections::BTreeMap;
use std::num::NonZeroU64;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

const CHUNK_ROWS: u64 = 100;
const PER_FILE: u64 = 4;

/// 1000 rows: two full superchunks of four chunks, and one of two.
fn create(root: &Path, layout: DatasetLayout, spare: u32) -> Vec<i64> {
    let values: Vec<i64> = (0..1000).map(|row| row * row % 313).collect();
    let mut array = CArray::of::<i64>()
        .layout(layout)
        .chunk_rows(CHUNK_ROWS)
        .compressor(Compressor::Lz4)
        .checksum(Checksum::Sha256)
        .spare(spare)
        .superchunk(NonZeroU64::new(PER_FILE).unwrap())
        .create(root)
        .unwrap();
    array.append_values(&values).unwrap();
    array.flush().unwrap();
    values
}

/// Which file it is, and when it was written.
#[cfg(unix)]
fn identities(root: &Path) -> BTreeMap<PathBuf, (u64, u64, SystemTime)> {
    use std::os::unix::fs::MetadataExt;
    let identity = |name: PathBuf| {
        let found = std::fs::metadata(root.join(&name)).unwrap();
        (name, (found.ino(), found.len(), found.modified().unwrap()))
    };
    files(root).into_keys().map(identity).collect()
}

/// All files were written long ago.
fn age(root: &Path) {
    let long_ago = SystemTime::now() - Duration::from_secs(100_000);
    for name in files(root).into_keys() {
        let file = std::fs::File::options().write(true).open(root.join(name));
        file.unwrap().set_modified(long_ago).unwrap();
    }
}

/// Where the chunks of a superchunk begin and end, by the table in its file.
fn places(layout: DatasetLayout, file: &[u8]) -> Vec<Range<usize>> {
    let count_at = if layout == DatasetLayout::BlzDocument {
        16
    } else {
        24
    };
    let number = |at: usize| u64::from_le_bytes(file[at..at + 8].try_into().unwrap()) as usize;
    let mut borders: Vec<usize> = (0..number(count_at))
        .map(|entry| number(32 + 8 * entry))
        .collect();
    borders.push(file.len());
    borders.windows(2).map(|pair| pair[0]..pair[1]).collect()
}

fn compare(layout: DatasetLayout, root: &Path, values: &[i64]) {
    let reader = match layout {
        DatasetLayout::BlzDocument => blz_document::read,
        _ => carray_document::read,
    };
    let expected: Vec<u8> = values
        .iter()
        .flat_map(|value| value.to_le_bytes())
        .collect();
    assert!(seen_by(reader, root).bytes() == expected, "{layout:?}");
}

/// Files that are not as they were, or not where they were.
#[cfg(unix)]
fn touched(root: &Path, values: &mut [i64], row: usize, value: i64) -> Vec<String> {
    age(root);
    let before = identities(root);
    let mut array = CArray::edit(root).unwrap();
    array.set(&[row as u64..row as u64 + 1], &[value]).unwrap();
    array.flush().unwrap();
    drop(array);
    values[row] = value;
    let after = identities(root);
    assert!(before.keys().eq(after.keys()), "files come or go");
    let touched = after
        .iter()
        .filter(|(name, identity)| before[*name] != **identity);
    touched
        .map(|(name, _)| name.display().to_string())
        .collect()
}

#[cfg(unix)]
#[test]
fn an_element_changes_the_bytes_of_its_chunk_and_nothing_else() {
    for layout in [DatasetLayout::BlzDocument, DatasetLayout::CarrayDocument] {
        let folder = folder();
        let root = folder.path().join("array");
        let mut values = create(&root, layout, 100);
        // One chunk of each superchunk; the last one is at the end of the dataset.
        for (row, file, chunk) in [
            (42, 1, 0),
            (350, 1, 3),
            (512, 2, 1),
            (733, 2, 3),
            (850, 3, 0),
        ] {
            let name = format!("data/__{file}__.bin");
            let (before, identity) = (files(&root), identities(&root));
            let touched = touched(&root, &mut values, row, -1 << 40);
            let after = files(&root);
            // The document's count of compressed bytes may be another.
            let mut expected = vec![name.clone()];
            let sizes = Path::new("meta/sizes");
            if before.get(sizes) != after.get(sizes) {
                expected.push("meta/sizes".to_owned());
            }
            assert_eq!(touched, expected, "{layout:?} row {row}");
            let name = Path::new(&name);
            let (old, new) = (&before[name], &after[name]);
            assert_eq!(identity[name].0, identities(&root)[name].0, "another file");
            assert_eq!(old.len(), new.len());
            let place = places(layout, old)[chunk].clone();
            assert_ne!(old[place.clone()], new[place.clone()]);
            assert_eq!(old[..place.start], new[..place.start], "before its chunk");
            assert_eq!(old[place.end..], new[place.end..], "behind its chunk");
            compare(layout, &root, &values);
        }
    }
}

#[cfg(unix)]
#[test]
fn what_does_not_fit_is_written_anew_and_nothing_else() {
    for layout in [DatasetLayout::BlzDocument, DatasetLayout::CarrayDocument] {
        let folder = folder();
        let root = folder.path().join("array");
        let mut values = create(&root, layout, 0);
        // Noise in all of a chunk but the last element, so that this one cannot be shorter.
        let noise = |row: u64| row.wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(23) as i64;
        let mut array = CArray::edit(&root).unwrap();
        let chunk: Vec<i64> = (0..100).map(noise).collect();
        age(&root);
        let before = identities(&root);
        array.set(&[400..500], &chunk).unwrap();
        array.flush().unwrap();
        drop(array);
        values[400..500].copy_from_slice(&chunk);
        compare(layout, &root, &values);
        let after = identities(&root);
        let changed: Vec<_> = after
            .keys()
            .filter(|name| before[*name] != after[*name])
            .collect();
        let changed: Vec<_> = changed.iter().map(|name| name.to_str().unwrap()).collect();
        let data: Vec<_> = changed
            .iter()
            .filter(|name| name.starts_with("data"))
            .collect();
        assert_eq!(data, [&"data/__2__.bin"], "{layout:?}");
        assert_ne!(
            before[Path::new("data/__2__.bin")].1,
            after[Path::new("data/__2__.bin")].1
        );
    }
}
