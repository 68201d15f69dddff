//! Tests of the readers that judge datasets, with all datasets of the real programs, and with datasets of the
//! documents' layouts that were built by hand.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test")]

use testkit::documents;

use testkit::datasets;

use datasets::{Dataset, WHOLE};
use documents::real::{Relaxed, Rules};
use documents::{
    Leaf, Read, bcolz, blz, blz_document, carray_document, handmade, unless_it_panics,
};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

#[test]
fn the_chosen_datasets_are_what_their_programs_say() {
    let folder = datasets::chosen();
    let chosen = datasets::datasets(folder.path());
    assert!(chosen.len() > 140, "manifests cut short");
    compare(&chosen);
}

#[test]
fn the_whole_corpora_are_what_their_programs_say() {
    let Some(folder) = datasets::whole() else {
        return;
    };
    let whole = datasets::datasets(&folder);
    assert_eq!(whole.len(), WHOLE.iter().map(|(_, len)| len).sum::<usize>());
    compare(&whole);
}

fn compare(datasets: &[Dataset]) {
    let wrong = |one: &&Dataset| catch_unwind(AssertUnwindSafe(|| compare_one(one))).is_err();
    let wrong = datasets.iter().filter(wrong);
    let wrong: Vec<_> = wrong
        .map(|one| format!("{} of {}", one.name(), one.corpus))
        .collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

fn compare_one(dataset: &Dataset) {
    let (root, expected) = (&dataset.root, &dataset.entry);
    if expected.get("writer_error").is_some() {
        assert!(root.join("meta/storage").is_file() && !root.join("meta/sizes").exists());
        return;
    }
    let read = documents::real::read(root, rules(dataset.text("writer")), relaxed(dataset));
    assert_eq!(read.attributes, expected["attrs"]);
    let names = expected.get("names").cloned().unwrap_or(json!([""]));
    assert_eq!(json!(read.names()), names);
    let arrays = dataset.arrays();
    assert_eq!(read.leaves.len(), arrays.len());
    for (leaf, array) in read.leaves.iter().zip(arrays) {
        if expected["compare"] == "fields" {
            same_fields(&dataset.folder, leaf, expected);
        } else {
            same(leaf, array);
        }
    }
}

fn same(leaf: &Leaf, expected: &Value) {
    assert_eq!(leaf.dtype, expected["dtype"]);
    assert_eq!(leaf.attributes, expected["attrs"]);
    assert_eq!(json!(leaf.shape), expected["shape"]);
    if leaf.dtype == "object" {
        // Four pickles, each of which ends with a full stop; the manifest has no digest of them.
        assert!(leaf.bytes.ends_with(b"."));
        return;
    }
    let digest = Sha256::digest(&leaf.bytes);
    let digest: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(digest, expected["sha256_native"]);
}

/// The fields are a byte, seven bytes of padding, and a float64.
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

fn rules(writer: &str) -> Rules {
    match writer.split_once(' ').unwrap() {
        ("blz", _) => blz::V0_6,
        ("carray", _) => bcolz::CARRAY_0_5,
        ("bcolz", "0.12.1") => bcolz::V0_12,
        ("bcolz", "1.0.0") => bcolz::V1_0,
        ("bcolz", _) => bcolz::SINCE_1_1,
        _ => panic!("written by {writer}"),
    }
}

/// Deviations that the manifest reports of a program.
fn relaxed(dataset: &Dataset) -> Relaxed {
    let says = |word| dataset.says(word);
    let unflushed = says("unflushed");
    Relaxed {
        superchunks: says("stale") || says("crash") || unflushed,
        long_chunk: unflushed,
        cbytes: says("trimmed") || says("resized_down") || unflushed || says("crash"),
        columns: says("not listed in __rootdirs__") || says("table_delcol"),
    }
}

/// Deviations that a real reader would ignore are detected.
#[test]
fn a_deviation_from_what_a_program_writes_is_seen() {
    type Harm = (&'static str, &'static str, fn(Vec<u8>) -> Vec<u8>);
    fn word(bytes: &[u8], from: &str, to: &str) -> Vec<u8> {
        let text = String::from_utf8(bytes.to_vec()).unwrap();
        assert!(text.contains(from), "{from} in {text}");
        text.replacen(from, to, 1).into_bytes()
    }
    fn byte(mut bytes: Vec<u8>, at: usize, to: u8) -> Vec<u8> {
        assert_ne!(bytes[at], to);
        bytes[at] = to;
        bytes
    }
    let harms: [Harm; 26] = [
        ("bcolz/be_int32", "__attrs__", |_| b"{}".to_vec()),
        ("bcolz/be_int32", "__attrs__", |_| b"{}\n\n".to_vec()),
        ("bcolz/be_int32", "__attrs__", |_| {
            "{\"a\": \"\u{e9}\"}\n".into()
        }),
        ("bcolz/be_int32", "__rootdirs__", |_| {
            b"{\"names\": []}\n".to_vec()
        }),
        ("bcolz/be_int32", "journal", |_| Vec::new()),
        ("bcolz/be_int32", "meta/attributes", |_| b"{}\n".to_vec()),
        ("bcolz/be_int32", "data/__4.blp", |_| Vec::new()),
        ("bcolz/be_int32", "data/__1.blp", |file| byte(file, 4, 2)),
        ("bcolz/be_int32", "data/__1.blp", |file| byte(file, 8, 2)),
        ("bcolz/be_int32", "data/__1.blp", |file| byte(file, 19, 1)),
        ("bcolz/be_int32", "data/__1.blp", |file| {
            [file, vec![0]].concat()
        }),
        ("bcolz/be_int32", "meta/sizes", |file| {
            word(&file, "\"cbytes\": 2", "\"cbytes\": 3")
        }),
        ("bcolz/be_int32", "meta/sizes", |file| {
            word(&file, "4000", "4001")
        }),
        ("bcolz/be_int32", "meta/sizes", |file| {
            word(&file, "1000", "999")
        }),
        ("bcolz/be_int32", "meta/storage", |file| {
            word(&file, "\"cname\": \"lz4\", ", "")
        }),
        ("bcolz/be_int32", "meta/storage", |file| {
            word(&file, "cparams", "bparams")
        }),
        ("bcolz/be_int32", "meta/storage", |file| {
            word(&file, "\"dflt\": 0", "\"dflt\": 0.5")
        }),
        ("bcolz/shape3d", "meta/storage", |file| {
            word(&file, "\"dflt\": 0", "\"dflt\": [0]")
        }),
        ("bcolz/table_addcol", "__rootdirs__", |file| {
            word(&file, "added", "a")
        }),
        ("bcolz/table_addcol", "__rootdirs__", |_| {
            b"{\"dirs\": {}, \"names\": [\"first\", \"a\", \"b\", \"added\"]}\n".to_vec()
        }),
        ("blz/be_int32", "meta/storage", |file| {
            word(&file, "true", "1")
        }),
        ("blz/be_int32", "meta/storage", |file| {
            word(&file, "true", "true, \"cname\": \"lz4\"")
        }),
        ("blz/be_int32", "data/__1.blp", |file| byte(file, 18, 0x05)),
        ("blz/be_int32", "data/__1.blp", |file| byte(file, 18, 0x11)),
        ("blz/table_addcol", "__rootdirs__", |file| {
            word(&file, "dirs", "names2")
        }),
        ("blz/table_addcol", "__rootdirs__", |file| {
            word(&file, "\"a\": \"a\"", "\"a\": \"/x/a\"")
        }),
    ];
    let folder = datasets::chosen();
    for (number, (name, path, harm)) in harms.into_iter().enumerate() {
        let root = folder.path().join(name);
        let read = || match name.split_once('/').unwrap().0 {
            "blz" => blz::read(&root),
            _ => bcolz::read(&root),
        };
        read();
        let sound = std::fs::read(root.join(path));
        let harmed = harm(sound.as_ref().cloned().unwrap_or_default());
        std::fs::write(root.join(path), harmed).unwrap();
        assert_eq!(unless_it_panics(read), None, "{number}: {path} of {name}");
        match sound {
            Ok(sound) => std::fs::write(root.join(path), sound).unwrap(),
            Err(_) => std::fs::remove_file(root.join(path)).unwrap(),
        }
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
    let testdata = testkit::testdata("datasets/documents");
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

/// Bytes with a checksum, or with only one valid spelling, cannot change undetected; in these datasets this covers
/// every bit of a superchunk.
#[test]
fn a_changed_bit_of_a_superchunk_is_seen() {
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
            for bit in testkit::effort::sample(0..8 * bytes.len(), 11) {
                let mut changed = bytes.clone();
                changed[bit / 8] ^= 1 << (bit % 8);
                std::fs::write(folder.path().join(path), changed).unwrap();
                let read = || read_document(document.name, folder.path());
                if unless_it_panics(read).is_some() {
                    unseen.push(format!("{} {path}: bit {bit}", document.name));
                }
            }
            std::fs::write(folder.path().join(path), bytes).unwrap();
        }
    }
    assert!(unseen.is_empty(), "{unseen:#?}");
}

#[test]
fn a_changed_word_of_the_metadata_is_seen() {
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
        unless_it_panics(|| read_document(name, folder.path())).is_none()
    };
    let unseen: Vec<_> = changes.iter().filter(|change| !seen(change)).collect();
    assert!(unseen.is_empty(), "{unseen:#?}");
}

#[test]
fn a_changed_name_is_seen() {
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
        let read = unless_it_panics(|| read_document(name, folder.path()));
        assert_eq!(read, None, "{name}: {from} as {to}");
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

/// The check values that are published for these nine bytes.
#[test]
fn checksums_are_those_of_zlib_and_hashlib() {
    let published = [
        "",
        "091e01de",
        "cbf43926",
        "25f9e794323b453885f5181f1b624d0b",
        "f7c3bc1d808e04732adf679965ccc34ca7ae3441",
        "9b3e61bf29f17c75572fae2e86e17809a4513d07c8a18152acf34521",
        "15e2b0d3c33891ebb0f1ef609ec419420c20e320ce94c65fbc8c3312448eb225",
        "eb455d56d2c1a69de64e832011f3393d45f3fa31d6842f21af92d2fe469c499da5e3179847334a18479c8d1dedea1be3",
        "d9e6762dd1c8eaf6d61b3c6192fc408d4d6d5f1176d0c29169bc24e71c3f274ad27fcd5811b313d681f7e55ec02d73d499c95455b6b5bb503acf574fba8ffe85",
    ];
    for (checksum, published) in (0..).zip(published) {
        let mut digest = documents::digest::digest(checksum, b"123456789");
        if checksum <= 2 {
            // The two numbers are written with the lowest byte first.
            digest.reverse();
        }
        let digest: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(digest, published);
    }
}

#[test]
fn yaml_is_what_both_versions_of_it_agree_on() {
    use documents::yaml::map;
    let agreed = [
        ("a: 1\n", json!({"a": 1})),
        ("a: -1.5e+300\n", json!({"a": -1.5e300})),
        ("a: 'it''s: # x'  # y\n", json!({"a": "it's: # x"})),
        ("a: \"\\u00e9\\n\"\n", json!({"a": "\u{e9}\n"})),
        ("'1': a b\n\"n\": null\n", json!({"1": "a b", "n": null})),
        (
            "a: [1, [two, 'th,ree'], []]\n",
            json!({"a": [1, ["two", "th,ree"], []]}),
        ),
        ("a: .nan\nb: -.inf\n", json!({"a": "NaN", "b": "-Infinity"})),
        (
            "a:\n  b:\n    c: true\n  d: {}\n",
            json!({"a": {"b": {"c": true}, "d": {}}}),
        ),
        ("# nothing\n", json!({})),
    ];
    for (text, value) in agreed {
        assert_eq!(map(text), value, "{text}");
    }
    let disputed = [
        "a: yes\n",
        "a: No\n",
        "on: 1\n",
        "a: 1e5\n",
        "a: 0o17\n",
        "a: 017\n",
        "a: 1_000\n",
        "a: 12:30:45\n",
        "a: 2001-12-14\n",
        "a: ~\n",
        "a: True\n",
        "a: &b 1\n",
        "a: *b\n",
        "a: !!str 1\n",
        "a: b: c\n",
        "a: |\n",
        "a: x\ny\n",
        "a:\n",
        "a: 1\na: 2\n",
        "a:\n   b: 1\n",
        "a:\n\tb: 1\n",
        "- 1\n",
        "a: {b: 1}\n",
        "a: [1\n",
        "a: 'x\n",
        "a: 1",
        "a: x#\"\n  b: 1\n",
        "--- \na: 1\n",
        "a: @x\n",
        "a: %x\n",
        "a: -\n",
    ];
    let agreed: Vec<_> = disputed
        .iter()
        .filter(|text| unless_it_panics(|| map(text)).is_some())
        .collect();
    assert!(agreed.is_empty(), "{agreed:?}");
}

#[test]
fn what_python_writes_is_read() {
    use documents::python::{json as json_of, literal};
    assert_eq!(
        json_of(r#"{"NaN": [NaN, -Infinity, "\"NaN", "\\", Infinity, -1]}"#),
        json!({"NaN": ["NaN", "-Infinity", "\"NaN", "\\", "Infinity", -1]})
    );
    assert_eq!(literal("(300, 200)"), json!([300, 200]));
    assert_eq!(literal("(5,)"), json!([5]));
    assert_eq!(literal("()"), json!([]));
    assert_eq!(
        literal("[('a', '<i4'), ('b', '<f8', (2,))]"),
        json!([["a", "<i4"], ["b", "<f8", [2]]])
    );
    let aligned = "{'names':['a'], 'offsets': [0], 'aligned':True}";
    assert_eq!(
        literal(aligned),
        json!({"names": ["a"], "offsets": [0], "aligned": true})
    );
    for text in ["(5)", "(5", "(5,) 6", "(1 2)", "f()", "[1,,2]", "'a"] {
        assert_eq!(unless_it_panics(|| literal(text)), None, "{text}");
    }
}
