//! The readers that judge datasets, judged: by all datasets of the real programs, and by datasets of
//! the documents' layouts that were put together by hand.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test")]

#[path = "documents/mod.rs"]
mod documents;
#[path = "oracle/mod.rs"]
mod oracle;

use documents::real::{Relaxed, Rules};
use documents::{Leaf, Read, bcolz, blz, blz_document, carray_document, handmade};
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::path::{Path, PathBuf};

/// Datasets of each corpus, where it is whole.
const WHOLE: [(&str, usize); 4] = [
    ("bcolz", 252),
    ("bcolz-legacy", 53),
    ("blz", 124),
    ("carray05", 78),
];

#[test]
fn the_whole_corpus_is_what_its_programs_say() {
    for (corpus, datasets) in WHOLE {
        let folder = corpus_folder().join(corpus);
        if !folder.join("manifest.json").is_file() {
            println!("skipped: no corpus in {}", folder.display());
            continue;
        }
        assert_eq!(walk(&folder), datasets, "{corpus}");
    }
}

fn corpus_folder() -> PathBuf {
    let unpacked = Path::new(env!("CARGO_MANIFEST_DIR")).join("target/corpus");
    std::env::var_os("BLOSCPACK_CORPUS").map_or(unpacked, PathBuf::from)
}

/// Reads each dataset of a manifest, and gives their number.
fn walk(folder: &Path) -> usize {
    let manifest = std::fs::read_to_string(folder.join("manifest.json")).unwrap();
    let manifest = documents::python::json(&manifest);
    let datasets = manifest["datasets"].as_array().unwrap();
    let mut wrong = Vec::new();
    for expected in datasets {
        let read = std::panic::catch_unwind(|| compared(folder, expected));
        if read.is_err() {
            wrong.push(expected["name"].as_str().unwrap());
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    datasets.len()
}

fn compared(folder: &Path, expected: &Value) {
    let root = folder.join(expected["name"].as_str().unwrap());
    if expected.get("writer_error").is_some() {
        assert!(root.join("meta/storage").is_file() && !root.join("meta/sizes").exists());
        return;
    }
    let read = documents::real::read(&root, rules(expected), relaxed(expected));
    assert_eq!(read.attributes, expected["attrs"]);
    match expected["columns"].as_array() {
        None if expected["compare"] == "fields" => same_fields(folder, &read.leaves[0], expected),
        None => same(&read.leaves[0], expected),
        Some(columns) => {
            let names = expected["names"].as_array().unwrap();
            assert_eq!(
                read.names(),
                names
                    .iter()
                    .map(|n| n.as_str().unwrap())
                    .collect::<Vec<_>>()
            );
            for (leaf, column) in read.leaves.iter().zip(columns) {
                same(leaf, column);
            }
        }
    }
}

fn same(leaf: &Leaf, expected: &Value) {
    assert_eq!(leaf.dtype, expected["dtype"]);
    assert_eq!(leaf.attributes, expected["attrs"]);
    assert_eq!(serde_json::json!(leaf.shape), expected["shape"]);
    if leaf.dtype == "object" {
        // Four pickles, each of which ends with a full stop; the manifest has no digest of them.
        assert!(leaf.bytes.ends_with(b"."));
        return;
    }
    let digest: String = Sha256::digest(&leaf.bytes)
        .iter()
        .map(|b| format!("{b:02x}"))
        .collect();
    assert_eq!(digest, expected["sha256_native"]);
}

/// Of a byte, seven bytes that mean nothing, and a float64.
fn same_fields(folder: &Path, leaf: &Leaf, expected: &Value) {
    assert_eq!(leaf.dtype, expected["dtype"]);
    assert!(
        leaf.dtype
            .contains("'formats':['i1','<f8'], 'offsets':[0,8]")
    );
    let array = std::fs::read(folder.join(expected["npy"].as_str().unwrap())).unwrap();
    let array = &array[array.len() - leaf.bytes.len()..];
    for (found, expected) in leaf.bytes.chunks(16).zip(array.chunks(16)) {
        assert_eq!((found[0], &found[8..]), (expected[0], &expected[8..]));
    }
}

fn rules(expected: &Value) -> Rules {
    let writer = expected["writer"].as_str().unwrap();
    match writer.split_once(' ').unwrap() {
        ("blz", _) => blz::V0_6,
        ("carray", _) => bcolz::CARRAY_0_5,
        ("bcolz", "0.12.1") => bcolz::V0_12,
        ("bcolz", "1.0.0") => bcolz::V1_0,
        ("bcolz", _) => bcolz::SINCE_1_1,
        _ => panic!("written by {writer}"),
    }
}

/// What the manifest says a program left behind.
fn relaxed(expected: &Value) -> Relaxed {
    let says = |word: &str| {
        let field = |key: &str| {
            expected[key]
                .as_str()
                .is_some_and(|text| text.contains(word))
        };
        field("name") || field("note")
    };
    let unflushed = says("unflushed");
    Relaxed {
        superchunks: says("stale") || says("crash") || unflushed,
        long_chunk: unflushed,
        cbytes: says("trimmed") || says("resized_down") || unflushed || says("crash"),
        columns: says("not listed in __rootdirs__") || says("table_delcol"),
    }
}

fn read_document(name: &str, root: &Path) -> Read {
    match name.split_once('_').unwrap().0 {
        "blz" => blz_document::read(root),
        "carray" => carray_document::read(root),
        _ => panic!("which document: {name}"),
    }
}

#[test]
fn datasets_of_the_documents_are_read() {
    for document in handmade::all() {
        let folder = tempfile::tempdir().unwrap();
        document.write(folder.path());
        let read = read_document(document.name, folder.path());
        assert_eq!(read, document.read, "{}", document.name);
    }
}

/// Set this to have them written.
const WRITE: &str = "BLOSCPACK_WRITE_DOCUMENTS";

#[test]
fn the_datasets_of_the_documents_in_testdata_are_these() {
    let testdata = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/datasets/documents");
    for document in handmade::all() {
        let root = testdata.join(document.name);
        if std::env::var_os(WRITE).is_some() {
            document.write(&root);
        }
        for (path, bytes) in document.files {
            let found = std::fs::read(root.join(&path));
            assert_eq!(found.ok(), Some(bytes), "{path} in {}", root.display());
        }
    }
}

/// The first superchunk of `blz_vector`, by the tables of the document.
#[test]
fn a_superchunk_of_the_blz_document_byte_by_byte() {
    let mut expected = vec![
        0x62, 0x6c, 0x70, 0x6b, // blpk
        2, 0x01, 2, 4, // version, offsets, crc32, typesize
        12, 0, 0, 0, 12, 0, 0, 0, // chunk-size, last-chunk
        2, 0, 0, 0, 0, 0, 0, 0, // nchunks
        0, 0, 0, 0, 0, 0, 0, 0, // meta-size, reserved
        48, 0, 0, 0, 0, 0, 0, 0, 80, 0, 0, 0, 0, 0, 0, 0, // offsets
    ];
    let chunks: [&[u8]; 2] = [
        b"\x02\x01\x02\x04\x0c\0\0\0\x0c\0\0\0\x1c\0\0\0\xfd\xff\xff\xff\xe5\x03\0\0\xcd\x07\0\0",
        b"\x02\x01\x02\x04\x0c\0\0\0\x0c\0\0\0\x1c\0\0\0\xb5\x0b\0\0\x9d\x0f\0\0\x85\x13\0\0",
    ];
    for chunk in chunks {
        expected.extend(chunk);
        expected.extend(crc32fast::hash(chunk).to_le_bytes());
    }
    assert_eq!(file_of("blz_vector", "data/__1__.bin"), expected);
}

/// The last superchunk of a column of `carray_grid`, by the tables of the proposal: one chunk, in
/// which only the first of six elements is not beyond an edge.
#[test]
fn a_superchunk_of_the_carray_proposal_byte_by_byte() {
    let mut expected = vec![
        0x62, 0x6c, 0x70, 0x6b, // blpk
        4, 2, 1, 0, // version, crc32, indexes, reserved
        6, 0, 0, 0, 0, 0, 0, 0, // chunk-size, reserved
        66, 0, 0, 0, 0, 0, 0, 0, // file-size
        1, 0, 0, 0, 0, 0, 0, 0, // nchunks
        40, 0, 0, 0, 0, 0, 0, 0, // index
    ];
    let chunk = b"\x02\x01\x02\x01\x06\0\0\0\x06\0\0\0\x16\0\0\0\x6f\0\0\0\0\0";
    expected.extend(chunk);
    expected.extend(crc32fast::hash(chunk).to_le_bytes());
    assert_eq!(file_of("carray_grid", "data/col1/__2__.bin"), expected);
}

fn file_of(name: &str, path: &str) -> Vec<u8> {
    let all = handmade::all();
    let document = all.iter().find(|document| document.name == name).unwrap();
    let file = document.files.iter().find(|(found, _)| found == path);
    file.unwrap().1.clone()
}

/// What a checksum covers, or one way of writing is laid down for, cannot change unseen: of these no
/// bit of a superchunk is free.
#[test]
fn a_changed_bit_of_a_superchunk_is_seen() {
    quiet();
    let mut unseen = Vec::new();
    for document in handmade::all() {
        if !["blz_vector", "blz_room", "carray_grid"].contains(&document.name) {
            continue;
        }
        let folder = tempfile::tempdir().unwrap();
        document.write(folder.path());
        for (path, bytes) in document
            .files
            .iter()
            .filter(|(path, _)| path.ends_with(".bin"))
        {
            for bit in 0..8 * bytes.len() {
                let mut changed = bytes.clone();
                changed[bit / 8] ^= 1 << (bit % 8);
                std::fs::write(folder.path().join(path), changed).unwrap();
                let read = || read_document(document.name, folder.path());
                if std::panic::catch_unwind(read).is_ok() {
                    unseen.push(format!("{} {path}: bit {bit}", document.name));
                }
            }
            std::fs::write(folder.path().join(path), bytes).unwrap();
        }
    }
    assert!(unseen.is_empty(), "{unseen:#?}");
}

/// This thread panics thousands of times from here on, and nobody has to read of it.
fn quiet() {
    let (hook, this) = (std::panic::take_hook(), std::thread::current().id());
    std::panic::set_hook(Box::new(move |info| {
        if std::thread::current().id() != this {
            hook(info);
        }
    }));
}

#[test]
fn a_changed_word_of_the_metadata_is_seen() {
    quiet();
    let changes = [
        ("blz_vector", "meta/sizes", "[10]", "[9]"),
        ("blz_vector", "meta/sizes", "[10]", "[13]"),
        ("blz_vector", "meta/sizes", "\"nbytes\":40", "\"nbytes\":41"),
        ("blz_vector", "meta/sizes", "}\n", "}"),
        ("blz_vector", "meta/sizes", "cbytes", "cBytes"),
        ("blz_vector", "meta/storage", "int32", "int64"),
        (
            "blz_vector",
            "meta/storage",
            "\"chunklen\":3",
            "\"chunklen\":4",
        ),
        ("blz_vector", "meta/storage", "cparams", "bparams"),
        ("blz_vector", "meta/attributes", "\"Celsius\"", "Celsius"),
        ("blz_nested", "meta/storage", "\"id\"", "\"no\""),
        ("blz_nested", "meta/storage", "<f4", "<f8"),
        ("carray_line", "meta/shape", "(5,)", "(5)"),
        ("carray_line", "meta/shape", "(5,)", "(7,)"),
        ("carray_line", "meta/storage", "(2,)", "(3,)"),
        (
            "carray_line",
            "meta/storage",
            "superchunksize: 1",
            "superchunksize: 2",
        ),
        ("carray_line", "meta/storage", "  level: 0", "    level: 0"),
        ("carray_line", "meta/storage", "level: 0", "level: yes"),
        ("carray_grid", "meta/storage", "order: C", "order: F"),
        ("carray_grid", "meta/storage", "big", "middle"),
        ("carray_grid", "meta/storage", "col1", "col3"),
        ("carray_grid", "meta/attributes", "[1,3,6,10]", "[1,3,6,10"),
        ("carray_grid", "meta/attributes", "23.5", "1e5"),
    ];
    let seen = |(name, path, from, to): &(&str, &str, &str, &str)| {
        let all = handmade::all();
        let document = all.iter().find(|document| document.name == *name).unwrap();
        let folder = tempfile::tempdir().unwrap();
        document.write(folder.path());
        let text = String::from_utf8(file_of(name, path)).unwrap();
        assert!(text.contains(from), "{from} in {text}");
        std::fs::write(folder.path().join(path), text.replacen(from, to, 1)).unwrap();
        std::panic::catch_unwind(|| read_document(name, folder.path())).is_err()
    };
    let unseen: Vec<_> = changes.iter().filter(|change| !seen(change)).collect();
    assert!(unseen.is_empty(), "{unseen:#?}");
}

#[test]
fn a_changed_name_is_seen() {
    quiet();
    let changes = [
        ("blz_vector", "data/__2__.bin", "data/__3__.bin"),
        ("blz_vector", "data/__2__.bin", "data/__02__.bin"),
        ("blz_vector", "data/__2__.bin", "__2__.bin"),
        ("blz_nested", "data/at", "data/to"),
        ("blz_nested", "data/at/x", "data/x"),
        ("carray_line", "meta/attributes", "__attrs__"),
    ];
    for (name, from, to) in changes {
        let all = handmade::all();
        let document = all.iter().find(|document| document.name == name).unwrap();
        let folder = tempfile::tempdir().unwrap();
        document.write(folder.path());
        std::fs::rename(folder.path().join(from), folder.path().join(to)).unwrap();
        let read = std::panic::catch_unwind(|| read_document(name, folder.path()));
        assert!(read.is_err(), "{name}: {from} as {to}");
    }
}

/// "and read as anything"
#[test]
fn the_proposal_for_carray_has_no_number_for_its_version() {
    let all = handmade::all();
    let document = all.iter().find(|one| one.name == "carray_grid").unwrap();
    let folder = tempfile::tempdir().unwrap();
    document.write(folder.path());
    for path in ["data/col1/__1__.bin", "data/col2/__2__.bin"] {
        let mut file = file_of("carray_grid", path);
        file[4] = 1;
        std::fs::write(folder.path().join(path), file).unwrap();
    }
    let read = carray_document::read_version(folder.path(), None);
    assert_eq!(read, document.read);
}
