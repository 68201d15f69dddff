//! Tests of descriptions with too much, too little, or the same twice: their result, its memory, and that nothing is
//! written that cannot be read.

use crate::counting::peak_of;
use crate::disk::folder;
use crate::stopwatch::grows_evenly;
use bloscpack_datasets::{CArray, CTable, Dataset, DatasetLayout};
use bloscpack_dtype::DType;
use bloscpack_error::{Category, Result};
use std::fs;
use std::path::Path;

const MIB: usize = 1 << 20;

#[track_caller]
fn refused<T>(result: Result<T>, category: Category) -> String {
    let error = result.err().unwrap();
    assert_eq!(error.category(), category, "{error}");
    error.to_string()
}

/// A bcolz table of columns of integers, without rows.
fn table(root: &Path, names: &[&str]) {
    let mut table = CTable::builder();
    for name in names {
        table = table.column(*name, CArray::of::<i32>());
    }
    table.create(root).unwrap().flush().unwrap();
}

fn carray(root: &Path, storage: &str, shape: &str) {
    fs::create_dir_all(root.join("meta")).unwrap();
    fs::create_dir_all(root.join("data")).unwrap();
    fs::write(root.join("meta/storage"), storage).unwrap();
    fs::write(root.join("meta/shape"), shape).unwrap();
}

/// A BLZ document's dataset without rows.
fn blz_document(root: &Path, dtype: &str, default: &str) {
    fs::create_dir_all(root.join("meta")).unwrap();
    fs::create_dir_all(root.join("data")).unwrap();
    let storage = format!(
        "{{\"dtype\": {dtype}, \"cparams\": {{\"shuffle\": true, \"clevel\": 5}}, \"chunklen\": 1, \"dflt\": {default}, \"expectedlen\": 1}}\n"
    );
    fs::write(root.join("meta/storage"), storage).unwrap();
    let sizes = "{\"shape\": [0], \"nbytes\": 0, \"cbytes\": 0}\n";
    fs::write(root.join("meta/sizes"), sizes).unwrap();
    fs::write(root.join("meta/attributes"), "{}\n").unwrap();
}

#[test]
fn two_columns_in_one_folder_are_refused() {
    let folder = folder();
    let root = folder.path().join("table");
    table(&root, &["a", "b"]);
    for dirs in [
        r#"{"a": "a", "b": "a"}"#,
        r#"{"a": "/x/a", "b": "/y/a"}"#,
        // There is no such folder, so that its own name counts.
        r#"{"a": "gone", "b": "a"}"#,
    ] {
        let text = format!("{{\"dirs\": {dirs}, \"names\": [\"a\", \"b\"]}}");
        fs::write(root.join("__rootdirs__"), text).unwrap();
        refused(Dataset::open(&root), Category::Damaged);
        refused(Dataset::edit(&root), Category::Damaged);
    }
    let text = r#"{"dirs": {"a": "b", "b": "a"}, "names": ["a", "b"]}"#;
    fs::write(root.join("__rootdirs__"), text).unwrap();
    Dataset::open(&root).unwrap();
}

#[test]
fn a_length_in_a_dtype_takes_no_memory() {
    let folder = folder();
    let long = folder.path().join("carray");
    let columns: String = (0..20).map(|n| format!("  c{n}: S2000000000\n")).collect();
    carray(
        &long,
        &format!("dtype:\n{columns}chunkshape: (1,)\ndflt: \"\"\n"),
        "(0,)",
    );
    let document = folder.path().join("blz");
    blz_document(&document, "\"|V2000000000\"", "0");
    let real = folder.path().join("bcolz");
    drop(CArray::of::<i32>().create(&real).unwrap().flush());
    let storage = "{\"dtype\": \"|S2000000000\", \"cparams\": {\"clevel\": 5, \"shuffle\": 1, \"cname\": \"lz4\", \"quantize\": 0}, \"chunklen\": 1, \"expectedlen\": 1, \"dflt\": \"a\"}\n";
    fs::write(real.join("meta/storage"), storage).unwrap();
    for root in [long, document, real] {
        let (opened, peak) = peak_of(|| Dataset::open(&root).unwrap());
        assert!(peak < 8 * MIB, "{}: {peak} bytes of memory", root.display());
        let (_, peak) = peak_of(|| match &opened {
            Dataset::Array(array) => assert_eq!(array.default_element(), None),
            Dataset::Table(table) => assert_eq!(table.rows().unwrap(), 0),
        });
        assert!(peak < 8 * MIB, "{}: {peak} bytes of memory", root.display());
    }
}

#[test]
fn long_elements_are_written_so_that_they_are_read_again() {
    let folder = folder();
    for (number, layout) in DatasetLayout::ALL.into_iter().enumerate() {
        for dtype in ["|V12000000", "[('a', '|V12000000'), ('b', 'i4')]"] {
            let root = folder.path().join(format!("{number}{}", dtype.len()));
            let dtype = DType::parse(dtype).unwrap();
            let array = CArray::builder(dtype).layout(layout).chunk_rows(1);
            // A document's fields would be columns.
            let Ok(mut array) = array.create(&root) else {
                continue;
            };
            array.flush().unwrap();
            drop(array);
            assert!(fs::metadata(root.join("meta/storage")).unwrap().len() < 1000);
            let array = Dataset::open(&root).unwrap().into_array().unwrap();
            assert_eq!(array.default_element(), None);
            assert!(array.warnings().is_empty());
        }
    }
    let long = CArray::builder(DType::bytes(2_000_000).unwrap())
        .default_element(&[b'x'; 2_000_000])
        .create(folder.path().join("long"));
    refused(long, Category::Usage);
}

#[test]
fn arrays_of_nothing_within_an_element_are_not_counted() {
    assert!(DType::parse("[('a', '|S0', (2000000000, 2)), ('b', 'i1')]").is_err());
    let folder = folder();
    let dtype = DType::parse("[('a', '|S0', (2000000000,)), ('b', 'i1')]").unwrap();
    let root = folder.path().join("array");
    let (mut array, peak) = peak_of(|| CArray::builder(dtype).create(&root).unwrap());
    assert!(peak < 8 * MIB, "{peak} bytes of memory");
    array.flush().unwrap();
    Dataset::open(&root).unwrap();
}

#[test]
fn a_default_that_is_none_is_noted() {
    let folder = folder();
    let carray_root = folder.path().join("carray");
    carray(
        &carray_root,
        "dtype: int32\nchunkshape: (10,)\ndflt: many\n",
        "(0,)",
    );
    let blz_root = folder.path().join("blz");
    blz_document(&blz_root, "\"int32\"", "\"many\"");
    let long_root = folder.path().join("long");
    blz_document(
        &long_root,
        "\"int32\"",
        &format!("[{}0]", "1,".repeat(4_000_000)),
    );
    for root in [carray_root, blz_root, long_root] {
        let (array, peak) = peak_of(|| Dataset::open(&root).unwrap().into_array().unwrap());
        // The text itself, some times.
        assert!(
            peak < 64 * MIB,
            "{}: {peak} bytes of memory",
            root.display()
        );
        assert_eq!(array.default_element(), None);
        let warnings = array.warnings();
        assert_eq!(warnings.len(), 1, "{warnings:?}");
        assert!(
            warnings[0].contains("new elements are zeros"),
            "{warnings:?}"
        );
        assert!(warnings[0].len() < 200, "{warnings:?}");
    }
    let root = folder.path().join("table");
    blz_document(&root, r#"[["n", "int32"], ["s", "|S3"]]"#, "0");
    let table = Dataset::open(&root).unwrap().into_table().unwrap();
    assert!(table.warnings().is_empty());
}

#[test]
fn many_attributes_are_read_in_one_go() {
    let folder = folder();
    let root = folder.path().join("array");
    carray(&root, "dtype: int32\nchunkshape: (10,)\n", "(0,)");
    assert!(grows_evenly(|factor| {
        let count = factor * 5000;
        let text: String = (0..count).map(|n| format!("k{n}: {n}\n")).collect();
        fs::write(root.join("meta/attributes"), text).unwrap();
        let dataset = Dataset::open(&root).unwrap();
        let last = format!("k{}", count - 1);
        assert!(dataset.attributes().get(&last).is_some());
    }));
}

#[test]
fn many_columns_are_found_in_one_go() {
    let folder = folder();
    let root = folder.path().join("table");
    table(&root, &["a"]);
    assert!(grows_evenly(|factor| {
        let names: Vec<_> = (0..factor * 7500).map(|n| format!("\"c{n}\"")).collect();
        let dirs: Vec<_> = names.iter().map(|name| format!("{name}: {name}")).collect();
        let (names, dirs) = (names.join(", "), dirs.join(", "));
        let text = format!("{{\"dirs\": {{{dirs}}}, \"names\": [\"a\", {names}]}}");
        fs::write(root.join("__rootdirs__"), text).unwrap();
        // A column is looked for among all of them.
        let array = Dataset::open(root.join("a")).unwrap();
        assert_eq!(array.rows().unwrap(), 0);
    }));
}

#[test]
fn columns_are_not_nested_without_end() {
    let folder = folder();
    let root = folder.path().join("table");
    // As deep as YAML may be, with leaves that would have copied all their names at each level.
    let name = "n".repeat(100);
    let mut dtype = (0..2000)
        .map(|n| format!("{name}{n}: i1"))
        .collect::<Vec<_>>()
        .join(", ");
    for _ in 0..120 {
        dtype = format!("{name}: {{{dtype}}}");
    }
    carray(
        &root,
        &format!("dtype: {{{dtype}}}\nchunkshape: (1,)\n"),
        "(0,)",
    );
    let (message, peak) = peak_of(|| refused(Dataset::open(&root), Category::OverLimit));
    assert!(message.contains("16 deep"), "{message}");
    assert!(peak < 32 * MIB, "{peak} bytes of memory");
}

#[test]
fn names_of_columns_that_cannot_be_are_refused_as_what_they_are() {
    let folder = folder();
    let root = folder.path().join("table");
    let of = |dtype: &str| format!("dtype: {{{dtype}}}\nchunkshape: (1,)\n");
    let long = format!("{}: i1, b: i1", "n".repeat(256));
    for (dtype, category) in [
        ("a.b: i1, c: i1", Category::Unsupported),
        (long.as_str(), Category::Damaged),
        ("x/y: i1, b: i1", Category::Damaged),
    ] {
        carray(&root, &of(dtype), "(0,)");
        refused(Dataset::open(&root), category);
    }
    let root = folder.path().join("blz");
    blz_document(&root, r#"[["a.b", "int32"], ["c", "int32"]]"#, "0");
    refused(Dataset::open(&root), Category::Unsupported);
    let root = folder.path().join("bcolz");
    table(&root, &["a"]);
    fs::write(root.join("__rootdirs__"), r#"{"names": [".blpk"]}"#).unwrap();
    refused(Dataset::open(&root), Category::Damaged);
}

#[test]
fn small_files_that_are_not_small_are_over_the_limit() {
    let folder = folder();
    for name in ["meta/storage", "meta/sizes", "__attrs__"] {
        let root = folder.path().join(name.replace('/', "-"));
        let mut array = CArray::of::<i32>().create(&root).unwrap();
        array.flush().unwrap();
        drop(array);
        let file = fs::File::options()
            .write(true)
            .open(root.join(name))
            .unwrap();
        file.set_len((64 << 20) + 1).unwrap();
        let (_, peak) = peak_of(|| refused(Dataset::open(&root), Category::OverLimit));
        assert!(peak < 8 * MIB, "{name}: {peak} bytes of memory");
    }
}
