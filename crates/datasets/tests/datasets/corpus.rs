//! Tests that datasets written by bcolz, BLZ and carray give the content that their manifests describe.

use bloscpack_datasets::{CArray, CTable, Dataset};
use bloscpack_error::Category;
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::path::Path;

fn text(bytes: impl AsRef<[u8]>) -> String {
    bytes
        .as_ref()
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

fn sha256(bytes: &[u8]) -> String {
    text(Sha256::digest(bytes))
}

/// The elements of a `.npy` file, which follow its header up to the end.
fn npy(path: &Path, len: usize) -> Vec<u8> {
    let bytes = std::fs::read(path).unwrap();
    bytes[bytes.len() - len..].to_vec()
}

/// Compares an array with what the manifest says of it.
fn compare_array(
    array: &CArray,
    expected: &Value,
    compare: Option<&str>,
    folder: &Path,
) -> Result<(), String> {
    let shape: Vec<u64> = expected["shape"]
        .as_array()
        .unwrap()
        .iter()
        .map(|len| len.as_u64().unwrap())
        .collect();
    if array.shape() != shape {
        return Err(format!("shape {:?}, expected {shape:?}", array.shape()));
    }
    if array.attributes().to_value() != expected["attrs"] {
        return Err(format!(
            "attributes {}, expected {}",
            array.attributes().to_value(),
            expected["attrs"]
        ));
    }
    let bytes = array
        .read_rows(0..array.rows())
        .map_err(|error| error.to_string())?;
    if compare == Some("fields") {
        return compare_fields(
            array,
            &bytes,
            &npy(&folder.join(expected["npy"].as_str().unwrap()), bytes.len()),
        );
    }
    if sha256(&bytes) != expected["sha256_native"] {
        return Err("other bytes than the manifest".to_owned());
    }
    let mut little = bytes.clone();
    array.dtype().to_little(&mut little);
    if sha256(&little) != expected["sha256_le"] {
        return Err("other little-endian bytes than the manifest".to_owned());
    }
    compare_parts(array, &bytes)
}

/// Padding between fields is arbitrary.
fn compare_fields(array: &CArray, found: &[u8], expected: &[u8]) -> Result<(), String> {
    let size = array.dtype().itemsize() as usize;
    for (found, expected) in found.chunks(size).zip(expected.chunks(size)) {
        for field in array.dtype().fields().unwrap() {
            let range = field.offset as usize..(field.offset + field.dtype.itemsize()) as usize;
            if found[range.clone()] != expected[range] {
                return Err(format!("field {} differs", field.name));
            }
        }
    }
    Ok(())
}

/// Any rows are those of the whole: each at its own, around the borders of chunks, and block by block.
fn compare_parts(array: &CArray, whole: &[u8]) -> Result<(), String> {
    let (row, rows, chunk) = (array.row_bytes(), array.rows(), array.chunk_shape()[0]);
    let part = |start: u64, end: u64| &whole[start as usize * row..end as usize * row];
    let mut ranges = vec![(0, rows), (rows / 3, rows / 2), (rows, rows)];
    ranges.extend((0..rows.min(40)).map(|at| (at * rows / 40, (at * rows / 40 + 1).min(rows))));
    for border in [chunk, 2 * chunk, rows / chunk * chunk] {
        ranges.push((border.saturating_sub(3).min(rows), (border + 3).min(rows)));
    }
    for (start, end) in ranges {
        let found = array
            .read_rows(start..end)
            .map_err(|error| error.to_string())?;
        if found != part(start, end) {
            return Err(format!("rows {start}..{end} differ"));
        }
    }
    let mut blocks = Vec::new();
    for block in array.blocks(0..rows, 3 * row * chunk as usize / 2) {
        blocks.extend(block.map_err(|error| error.to_string())?.1);
    }
    if blocks != whole {
        return Err("the blocks differ".to_owned());
    }
    Ok(())
}

fn compare_table(table: &CTable, expected: &Value, folder: &Path) -> Result<(), String> {
    let names: Vec<&str> = expected["names"]
        .as_array()
        .unwrap()
        .iter()
        .map(|name| name.as_str().unwrap())
        .collect();
    if table.names() != names {
        return Err(format!("columns {:?}, expected {names:?}", table.names()));
    }
    if table.attributes().to_value() != expected["attrs"] {
        return Err("other attributes than the manifest".to_owned());
    }
    for column in expected["columns"].as_array().unwrap() {
        let name = column["name"].as_str().unwrap();
        let array = table.column(name).map_err(|error| error.to_string())?;
        compare_array(array, column, None, folder)
            .map_err(|what| format!("column {name}: {what}"))?;
    }
    Ok(())
}

/// Compares a dataset with its manifest; an error describes the difference.
fn compare(folder: &Path, expected: &Value) -> Result<(), String> {
    let path = folder.join(expected["name"].as_str().unwrap());
    let opened = Dataset::open(&path);
    if expected.get("writer_error").is_some() {
        return match opened {
            Err(error)
                if error.category() == Category::CutShort
                    || error.category() == Category::Damaged =>
            {
                assert!(
                    error.path().is_some_and(|path| path.starts_with("meta")
                        || path.to_string_lossy().contains("/meta/")),
                    "{error}"
                );
                Ok(())
            }
            Err(error) => Err(format!(
                "an error of the category {:?}: {error}",
                error.category()
            )),
            Ok(_) => Err("its writer died, but it opens".to_owned()),
        };
    }
    match opened.map_err(|error| error.to_string())? {
        Dataset::Array(array) if array.dtype().is_object() => match array.read_rows(0..1) {
            Err(error) if error.category() == Category::Unsupported => Ok(()),
            _ => Err("pickles are read".to_owned()),
        },
        Dataset::Array(array) => compare_array(
            &array,
            expected,
            expected.get("compare").and_then(Value::as_str),
            folder,
        ),
        Dataset::Table(table) => compare_table(&table, expected, folder),
    }
}

/// Compares all datasets of a folder; returns how many they are.
fn walk(folder: &Path) -> usize {
    let manifest = std::fs::read_to_string(folder.join("manifest.json")).unwrap();
    // Python's numbers that are not JSON; attributes have null for them.
    let manifest = ["-Infinity", "Infinity", "NaN"]
        .iter()
        .fold(manifest, |text, word| text.replace(word, "null"));
    let manifest: Value = serde_json::from_str(&manifest).unwrap();
    let datasets = manifest["datasets"].as_array().unwrap();
    let mut wrong = Vec::new();
    for expected in datasets {
        if let Err(what) = compare(folder, expected) {
            wrong.push(format!("{}: {what}", expected["name"]));
        }
    }
    assert!(
        wrong.is_empty(),
        "{} of {}:\n{}",
        wrong.len(),
        datasets.len(),
        wrong.join("\n")
    );
    datasets.len()
}

/// Parts of the corpus.
const PARTS: [&str; 4] = ["bcolz", "bcolz-legacy", "blz", "carray05"];

#[test]
fn the_whole_corpus_reads_as_its_manifests_say() {
    let Some(corpus) = testkit::corpus::parts(PARTS) else {
        return;
    };
    let seen: usize = PARTS.map(|name| walk(&corpus.join(name))).iter().sum();
    assert_eq!(seen, 507);
}

#[test]
fn the_chosen_part_reads_as_its_manifests_say() {
    let chosen = crate::datasets::chosen();
    let seen: usize = PARTS
        .map(|name| walk(&chosen.path().join(name)))
        .iter()
        .sum();
    assert_eq!(seen, 149);
}
