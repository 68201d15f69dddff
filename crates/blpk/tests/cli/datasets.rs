//! Tests `info`, `cat`, `ls` and `verify` of datasets against their manifests.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::corpora;
use crate::support::{Folder, Ran};

/// A folder with the datasets of `testdata`, which may be changed.
pub fn copied() -> Folder {
    let folder = Folder::new();
    let chosen = corpora::chosen();
    corpora::copy(chosen.path(), &folder.path(""));
    folder
}

/// The answer, whose status it must be.
pub fn object(ran: &Ran, status: i32) -> Value {
    assert_eq!(ran.status, status, "{}", ran.stderr);
    serde_json::from_slice(&ran.stdout).unwrap()
}

/// The datasets of the manifests that their writer could write, and whose elements are not pickles.
fn sound(folder: &Folder) -> Vec<corpora::Dataset> {
    let mut all = corpora::datasets(&folder.path(""));
    all.retain(|one| {
        let pickled = one.arrays().iter().any(|array| array["dtype"] == "object");
        one.root.is_dir() && !one.arrays().is_empty() && !pickled
    });
    assert!(all.len() > 100, "{}", all.len());
    all
}

fn sha256(bytes: &[u8]) -> String {
    let digest = Sha256::digest(bytes);
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Bytes of the superchunks with these numbers.
fn superchunk_bytes(array: &Path, chunks: u64) -> u64 {
    let names = (0..chunks).map(|number| array.join(format!("data/__{number}.blp")));
    names.map(|name| fs::metadata(name).unwrap().len()).sum()
}

#[test]
fn cat_gives_the_bytes_that_the_writer_had() {
    let folder = copied();
    let mut seen = 0;
    for dataset in sound(&folder) {
        let root = dataset.root.to_str().unwrap();
        for array in dataset.arrays() {
            let mut args = vec!["cat", root];
            if let Some(name) = array["name"].as_str().filter(|_| array["names"].is_null())
                && dataset.entry["columns"].is_array()
            {
                args.extend(["--column", name]);
            }
            // Some of the tools that made the manifests do not keep the padding between fields.
            let Some(expected) = array["sha256_native"].as_str() else {
                continue;
            };
            if dataset.name().contains("aligned") {
                continue;
            }
            let bytes = folder.run(&args).succeeded();
            assert_eq!(sha256(&bytes), expected, "{args:?}");
            seen += 1;
        }
    }
    assert!(seen > 100, "{seen}");
}

#[test]
fn info_tells_what_the_manifest_tells() {
    let folder = copied();
    for dataset in sound(&folder) {
        let root = dataset.root.to_str().unwrap();
        let ran = folder.run(["info", "--json", root]);
        let info = object(&ran, 0);
        let is_table = dataset.entry["columns"].is_array();
        assert_eq!(
            info["kind"],
            if is_table { "ctable" } else { "carray" },
            "{root}"
        );
        let layout = if dataset.corpus == "blz" {
            "blz"
        } else {
            "bcolz"
        };
        let is_empty = dataset.arrays().is_empty();
        assert!(is_empty || info["layout"] == layout, "{root}");
        let arrays = if is_table {
            info["columns"].as_array().unwrap().clone()
        } else {
            vec![info.clone()]
        };
        assert_eq!(arrays.len(), dataset.arrays().len(), "{root}");
        for (found, said) in arrays.iter().zip(dataset.arrays()) {
            assert_eq!(found["shape"], said["shape"], "{root}");
            assert_eq!(
                found["chunkshape"][0], said["storage"]["chunklen"],
                "{root}"
            );
            let (rows, chunk) = (&found["shape"][0], &found["chunkshape"][0]);
            let chunks = rows.as_u64().unwrap().div_ceil(chunk.as_u64().unwrap());
            assert_eq!(found["nchunks"], chunks, "{root}");
            assert_eq!(
                found["uncompressed_bytes"], said["sizes"]["nbytes"],
                "{root}"
            );
            let at = if is_table {
                dataset.root.join(said["name"].as_str().unwrap())
            } else {
                dataset.root.clone()
            };
            assert_eq!(
                found["compressed_bytes"],
                superchunk_bytes(&at, chunks),
                "{root}"
            );
        }
    }
}

#[test]
fn info_has_all_keys_and_null_for_what_is_not_there() {
    let folder = copied();
    let keys = [
        "kind",
        "layout",
        "format_version",
        "checksum",
        "typesize",
        "chunk_size",
        "last_chunk",
        "nchunks",
        "max_app_chunks",
        "metadata",
        "uncompressed_bytes",
        "compressed_bytes",
        "codecs",
        "state",
        "dtype",
        "shape",
        "chunkshape",
        "blockshape",
        "attributes",
        "columns",
    ];
    for path in ["bcolz/shape3d", "bcolz/table_mixed", "documents/blz_nested"] {
        let info = object(&folder.run(["info", "--json", path]), 0);
        for key in keys {
            assert!(info.get(key).is_some(), "{path}: {key}");
        }
    }
    let info = object(&folder.run(["info", "--json", "bcolz/shape3d"]), 0);
    for (key, value) in [
        ("dtype", json!("int16")),
        ("shape", json!([97, 3, 4])),
        ("chunkshape", json!([25, 3, 4])),
        ("chunk_size", json!(25 * 3 * 4 * 2)),
        ("last_chunk", json!(22 * 3 * 4 * 2)),
        ("codecs", json!(["lz4"])),
        ("checksum", json!("None")),
        ("columns", Value::Null),
        ("state", json!("complete")),
        ("notes", json!([])),
    ] {
        assert_eq!(info[key], value, "{key}");
    }
    let info = object(&folder.run(["info", "--json", "bcolz/table_mixed"]), 0);
    assert_eq!(info["attributes"], json!({"n": [1, 2], "source": "gen"}));
    assert_eq!(info["rows"], 700);
    assert_eq!(info["dtype"], Value::Null);
    let names = info["columns"].as_array().unwrap().iter();
    let names: Vec<_> = names
        .map(|column| column["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["id", "price", "sym", "flag", "ts", "pair"]);
    assert_eq!(info["columns"][1]["attributes"], json!({"unit": "EUR"}));
    let column = object(
        &folder.run(["info", "--json", "bcolz/table_mixed/price"]),
        0,
    );
    assert_eq!(column["dtype"], "float64");
    assert_eq!(column["attributes"], json!({"unit": "EUR"}));
}

#[test]
fn info_notes_what_is_not_as_it_should_be() {
    let folder = copied();
    let notes = |path: &str, status| {
        let info = object(&folder.run(["info", "--json", path]), status);
        (info["notes"].to_string(), info["state"].clone())
    };
    let (told, state) = notes("blz/trimmed_to_boundary_stale_file", 0);
    assert!(told.contains("1 stale superchunk "), "{told}");
    assert_eq!(state, "complete");
    fs::write(folder.path("bcolz/shape3d/data/.___0.blp"), "mac").unwrap();
    fs::remove_file(folder.path("bcolz/shape3d/__attrs__")).unwrap();
    let (told, _) = notes("bcolz/shape3d", 0);
    assert!(
        told.contains("__attrs__") && told.contains("other file"),
        "{told}"
    );
    fs::remove_file(folder.path("bcolz/shape3d/data/__2.blp")).unwrap();
    let (told, state) = notes("bcolz/shape3d", 4);
    assert!(told.contains("1 of 4 superchunks missing"), "{told}");
    assert_eq!(state, "unfinished");
    let text = folder
        .run(["info", "bcolz/shape3d"])
        .status_is(4)
        .text_lossy();
    assert!(text.contains("note: "), "{text}");
}

#[test]
fn cat_takes_a_part() {
    let folder = copied();
    let path = "bcolz/shape3d";
    let whole = folder.run(["cat", path]).succeeded();
    assert_eq!(whole.len(), 97 * 3 * 4 * 2);
    let element = |i: usize, j: usize, k: usize| {
        let at = ((i * 3 + j) * 4 + k) * 2;
        [whole[at], whole[at + 1]]
    };
    let part = |option: &str, value: &str| folder.run(["cat", option, value, path]).succeeded();
    assert_eq!(part("--rows", "2..5"), whole[48..120]);
    assert_eq!(part("--rows", "95.."), whole[95 * 24..]);
    assert_eq!(part("--rows", "4..4"), b"");
    assert_eq!(part("--range", "3..700"), whole[3..700]);
    assert_eq!(part("--range", "2000.."), whole[2000..]);
    // Chunks have 25 rows.
    assert_eq!(part("--chunk", "1"), whole[600..1200]);
    assert_eq!(part("--chunk", "3"), whole[1800..]);
    let mut expected = Vec::new();
    for i in 20..27 {
        for j in 0..3 {
            expected.extend(element(i, j, 3));
        }
    }
    assert_eq!(part("--slice", "20:27,:,-1"), expected);
    assert_eq!(part("--slice", "-77:-70,:,3:"), expected);
    assert_eq!(part("--slice", "-1,1:2,1"), element(96, 1, 1));
    assert_eq!(part("--slice", "90:1000"), whole[90 * 24..]);
    for (option, value, words) in [
        ("--rows", "90..98", "has 97 rows"),
        ("--rows", "x", "expected a range"),
        ("--slice", "97", "no position 97 along axis 0"),
        ("--slice", "0,0,0,0", "4 axes"),
        ("--slice", "::-2", "a step below 1"),
        ("--chunk", "4", "no chunk 4"),
        ("--range", "0..3000", "2328 bytes of it exist"),
        ("--column", "a", "no columns"),
    ] {
        folder.run(["cat", option, value, path]).failed(2, words);
    }
    folder
        .run(["cat", "--rows", "1..2", "--slice", ":", path])
        .failed(2, "cannot be used with");
}

#[test]
fn cat_of_a_grid_of_chunks() {
    let folder = copied();
    let path = "bcolz/shape3d";
    folder.run(["export", path, "a.npy"]).succeeded();
    let args = [
        "import",
        "a.npy",
        "grid",
        "--layout",
        "carray-doc",
        "--chunkshape",
        "40,2,4",
    ];
    folder.run(args).succeeded();
    let whole = folder.run(["cat", path]).succeeded();
    assert_eq!(folder.run(["cat", "grid"]).succeeded(), whole);
    // Two chunks side by side, so that number 3 has the second part of rows 40 to 80.
    let chunk = folder.run(["cat", "--chunk", "3", "grid"]).succeeded();
    let rows = whole.chunks(24).skip(40).take(40);
    let expected: Vec<u8> = rows.flat_map(|row| row[16..].to_vec()).collect();
    assert_eq!(chunk, expected);
    let slice = ["cat", "--slice", "35:45,1:,:2"];
    let expected = folder.run([&slice[..], &[path]].concat()).succeeded();
    assert_eq!(
        folder.run([&slice[..], &["grid"]].concat()).succeeded(),
        expected
    );
}

#[test]
fn cat_prints_rows_of_a_table_or_the_bytes_of_a_column() {
    let folder = copied();
    let ran = folder.run(["cat", "bcolz/table_mixed"]);
    let rows = ran.text();
    assert!(rows.starts_with("id,price,sym,flag,ts,pair"), "{rows}");
    assert_eq!(rows.lines().count(), 701);
    let export = ["export", "bcolz/table_mixed", "-", "--to", "csv"];
    assert_eq!(rows, folder.run(export).text());
    let some = folder.run(["cat", "--rows", "-2..", "bcolz/table_mixed"]);
    assert_eq!(
        some.text().lines().skip(1).collect::<Vec<_>>(),
        rows.lines().skip(699).collect::<Vec<_>>()
    );
    let ran = folder.run(["cat", "--column", "prices", "bcolz/table_mixed"]);
    assert!(ran.failed(2, "prices").stderr.contains("id, price, sym"));
    let by_name = folder
        .run(["cat", "--column", "price", "bcolz/table_mixed"])
        .succeeded();
    let by_path = folder.run(["cat", "bcolz/table_mixed/price"]).succeeded();
    assert_eq!(by_name, by_path);
    assert_eq!(by_name.len(), 700 * 8);
    folder.write("plain", "text");
    folder
        .run(["cat", "--column", "a", "plain"])
        .failed(2, "is not a table");
}

#[test]
fn pickles_are_never_opened() {
    let folder = copied();
    folder
        .run(["cat", "bcolz/object_pickled"])
        .failed(5, "pickles");
    let info = object(&folder.run(["info", "--json", "bcolz/object_pickled"]), 0);
    assert_eq!(info["dtype"], "object");
}

#[test]
fn a_directory_of_datasets_is_none_itself() {
    let folder = copied();
    let path = "bcolz/zipline_minute_equities.bcolz";
    for command in [&["info"][..], &["cat"], &["export"], &["dataset", "trim"]] {
        let args = match command {
            ["export"] => vec!["export", path, "out.csv"],
            ["dataset", _] => vec!["dataset", "trim", path, "0"],
            _ => vec![command[0], path],
        };
        let ran = folder.run(&args).failed(5, "not a dataset");
        assert!(ran.stderr.contains("blpk ls "), "{}", ran.stderr);
    }
    assert!(!folder.path("out.csv").exists());
}

#[test]
fn ls_finds_the_datasets_below() {
    let folder = copied();
    let path = "bcolz/zipline_minute_equities.bcolz";
    let others = "1 file of another kind was skipped";
    let text = folder.run(["ls", path]).noted(others);
    let text = String::from_utf8(text).unwrap();
    let line = format!(
        "{path}/00/00/000002.bcolz  ctable  bcolz  open,high,low,close,volume  1950 rows  "
    );
    assert!(text.starts_with(&line), "{text}");
    assert_eq!(text.lines().count(), 1);

    fs::remove_dir_all(folder.path("documents/carray_empty")).unwrap();
    let found = object(&folder.run(["ls", "--json", "documents"]), 0);
    let found = found["datasets"].as_array().unwrap().clone();
    let names: Vec<_> = found
        .iter()
        .map(|one| one["path"].as_str().unwrap())
        .collect();
    let mut expected: Vec<String> = fs::read_dir(folder.path("documents"))
        .unwrap()
        .map(|entry| entry.unwrap())
        .filter(|entry| entry.path().is_dir())
        .map(|entry| format!("documents/{}", entry.file_name().into_string().unwrap()))
        .collect();
    expected.sort();
    assert_eq!(names, expected);
    let nested = found
        .iter()
        .find(|one| one["path"] == "documents/blz_nested")
        .unwrap();
    assert_eq!(nested["kind"], "ctable");
    assert_eq!(nested["layout"], "blz-doc");
    assert_eq!(nested["dtype"], Value::Null);
    assert!(nested["columns"].to_string().contains("at.x"));
    let line = found
        .iter()
        .find(|one| one["path"] == "documents/carray_line")
        .unwrap();
    assert_eq!(line["columns"], Value::Null);
    assert!(line["uncompressed_bytes"] == 10);
    // A column belongs to its table; the dataset itself is listed, too.
    let text = folder.run(["ls", "bcolz/table_mixed"]).succeeded();
    assert_eq!(String::from_utf8(text).unwrap().lines().count(), 1);
}

#[test]
fn ls_tells_what_it_cannot_open_and_goes_on() {
    let folder = Folder::new();
    let chosen = corpora::chosen();
    corpora::copy(&chosen.path().join("bcolz/shape3d"), &folder.path("good"));
    corpora::copy(&chosen.path().join("bcolz/shape3d"), &folder.path("bad"));
    fs::write(folder.path("bad/meta/storage"), "").unwrap();
    let ran = folder.run(["ls"]).failed(4, "'bad': meta/storage");
    assert!(ran.text().starts_with("good  carray"), "{}", ran.text());
    let all = object(&folder.run(["ls", "--json"]), 4);
    assert_eq!(all["datasets"][0]["status"], 4);
    assert_eq!(all["datasets"][1]["status"], 0);
    folder.write("file", "text");
    folder.run(["ls", "file"]).failed(5, "not a Bloscpack file");
    folder.run(["ls", "nowhere"]).failed(1, "nowhere");
}

#[cfg(unix)]
#[test]
fn ls_follows_no_links() {
    let folder = Folder::new();
    let chosen = corpora::chosen();
    corpora::copy(
        &chosen.path().join("bcolz/shape3d"),
        &folder.path("below/array"),
    );
    std::os::unix::fs::symlink(folder.path("below"), folder.path("below/loop")).unwrap();
    let text = folder.run(["ls"]).noted("1 file of another kind");
    assert_eq!(String::from_utf8(text).unwrap().lines().count(), 1);
}

#[test]
fn verify_reads_all_datasets_below_a_directory() {
    let folder = copied();
    for dataset in sound(&folder) {
        let root = dataset.root.to_str().unwrap();
        let report = object(&folder.run(["verify", "--json", root]), 0);
        assert_eq!(report["files"][0]["ok"], true, "{root}");
    }
    let path = "bcolz/z113_zipline_minute_equities.bcolz";
    let text = folder.run(["verify", path]).noted("1 file of another kind");
    let text = String::from_utf8(text).unwrap();
    // Five columns, each of one chunk.
    let line = format!("{path}/00/00/000001.bcolz: ok, 5 chunks, 39000 bytes\n");
    assert_eq!(text, line);
    fs::create_dir(folder.path("empty")).unwrap();
    folder.run(["verify", "empty"]).failed(5, "not a dataset");
}

#[test]
fn verify_names_file_chunk_and_byte() {
    let folder = copied();
    let path = folder.path("documents/blz_checksums/data/__9__.bin");
    let mut bytes = fs::read(&path).unwrap();
    let last = bytes.len() - 20;
    bytes[last] ^= 0x40;
    fs::write(&path, bytes).unwrap();
    let report = object(
        &folder.run(["verify", "--json", "documents/blz_checksums"]),
        3,
    );
    let damages = report["files"][0]["damages"].as_array().unwrap();
    assert_eq!(damages.len(), 1);
    assert_eq!(damages[0]["file"], "data/__9__.bin");
    assert_eq!(damages[0]["status"], 3);
    assert!(damages[0]["chunk"].is_u64(), "{}", damages[0]);
    assert!(damages[0]["byte"].as_u64().unwrap() > 0, "{}", damages[0]);
    fs::remove_dir_all(folder.path("documents/carray_empty")).unwrap();
    let ran = folder.run(["verify", "documents"]).status_is(3);
    let text = ran.text_lossy();
    assert!(
        text.contains("documents/blz_checksums: damaged: data/__9__.bin: chunk "),
        "{text}"
    );
    assert!(text.contains("documents/carray_grid: ok, "), "{text}");
}

#[test]
fn verify_tells_of_every_missing_superchunk() {
    let folder = copied();
    for number in [1, 3] {
        let name = format!("bcolz/shape3d/data/__{number}.blp");
        fs::remove_file(folder.path(name)).unwrap();
    }
    let report = object(&folder.run(["verify", "--json", "bcolz/shape3d"]), 3);
    let files: Vec<_> = report["files"][0]["damages"]
        .as_array()
        .unwrap()
        .iter()
        .map(|damage| damage["file"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(files, ["data/__1.blp", "data/__3.blp"]);
}

#[test]
fn litter_and_rows_that_were_never_flushed_are_warnings() {
    let folder = copied();
    folder
        .run(["verify", "blz/trimmed_to_boundary_stale_file"])
        .warned("stale");
    folder
        .run(["verify", "carray05/appended_unflushed"])
        .warned("never flushed");
    fs::write(folder.path("bcolz/shape3d/data/.___0.blp"), "mac").unwrap();
    folder
        .run(["verify", "bcolz/shape3d"])
        .warned("data/.___0.blp");
    let report = object(&folder.run(["verify", "--json", "bcolz/shape3d"]), 0);
    assert_eq!(report["files"][0]["warnings"].as_array().unwrap().len(), 1);
}

#[test]
fn files_of_numpy_have_rows_and_slices() {
    let folder = Folder::new();
    let elements: Vec<u8> = (0..60i16).flat_map(i16::to_le_bytes).collect();
    folder.write("data", &elements);
    let meta = |order: &str| {
        format!(
            r#"{{"dtype": "'<i2'", "shape": [5, 12], "order": "{order}", "container": "numpy"}}"#
        )
    };
    folder.write("c.json", meta("C"));
    folder.write("f.json", meta("F"));
    for order in ["c", "f"] {
        let (json, to) = (format!("{order}.json"), format!("{order}.blp"));
        folder.run(["c", "-m", &json, "data", &to]).succeeded();
    }
    let numbers = |args: &[&str]| -> Vec<i16> {
        let bytes = folder.run(args).succeeded();
        bytes
            .chunks(2)
            .map(|two| i16::from_le_bytes([two[0], two[1]]))
            .collect()
    };
    assert_eq!(
        numbers(&["cat", "--slice", "1:3,-2:", "c.blp"]),
        [22, 23, 34, 35]
    );
    assert_eq!(
        numbers(&["cat", "--rows", "4..", "c.blp"]),
        (48..60).collect::<Vec<_>>()
    );
    // In Fortran's order element (i, j) is number i + 5 j.
    assert_eq!(
        numbers(&["cat", "--slice", "1:3,-2:", "f.blp"]),
        [51, 56, 52, 57]
    );
    folder
        .run(["cat", "--rows", "4..6", "c.blp"])
        .failed(2, "extend past the end");
    folder.run(["c", "data", "plain.blp"]).succeeded();
    folder
        .run(["cat", "--rows", "0..1", "plain.blp"])
        .failed(2, "does not describe a NumPy array");
}

/// Names and attributes with what a terminal would obey, and attributes that would be long when laid out.
#[test]
fn what_is_told_of_a_dataset_is_plain_and_no_longer_than_it_is() {
    let folder = Folder::new();
    let root = folder.path("table");
    let mut table = bloscpack_open::datasets::CTable::builder()
        .column(
            "a\u{1b}[31m\u{9b}m",
            bloscpack_open::datasets::CArray::of::<i32>(),
        )
        .create(&root)
        .unwrap();
    let deep = format!(
        "{}{}{}",
        "[".repeat(100),
        "[],".repeat(300_000) + "1",
        "]".repeat(100)
    );
    let deep: Value = serde_json::from_str(&deep).unwrap();
    table.set_attribute("b\u{9b}31m\u{7f}", &json!(1)).unwrap();
    table.flush().unwrap();
    let is_plain = |text: &str| !text.contains(|c: char| c.is_control() && c != '\n');
    for args in [
        vec!["info", "table"],
        vec!["info", "--json", "table"],
        vec!["ls", "."],
        vec!["ls", "--json", "."],
    ] {
        let ran = folder.run(&args);
        assert!(
            is_plain(&ran.text_lossy()),
            "{args:?}: {}",
            ran.text_lossy()
        );
        assert!(is_plain(&ran.stderr), "{args:?}: {}", ran.stderr);
    }
    let ran = folder.run(["info", "--json", "table"]);
    let told = object(&ran, 0);
    assert_eq!(told["attributes"]["b\u{9b}31m\u{7f}"], 1);
    assert_eq!(told["columns"][0]["name"], "a\u{1b}[31m\u{9b}m");
    table.set_attribute("deep", &deep).unwrap();
    table.flush().unwrap();
    drop(table);
    for args in [vec!["info", "table"], vec!["info", "--json", "table"]] {
        let ran = folder.run(&args).succeeded();
        assert!(ran.len() < 2 << 20, "{args:?}: {} bytes", ran.len());
    }
}

#[test]
fn a_table_without_a_column_is_told_as_such() {
    let folder = Folder::new();
    let root = folder.path("table");
    let mut table = bloscpack_open::datasets::CTable::builder()
        .column("a", bloscpack_open::datasets::CArray::of::<i32>())
        .column("b", bloscpack_open::datasets::CArray::of::<i32>())
        .create(&root)
        .unwrap();
    table.flush().unwrap();
    drop(table);
    fs::remove_dir_all(root.join("b")).unwrap();
    let told = object(&folder.run(["ls", "--json", "."]), 3);
    let entry = &told["datasets"][0];
    assert_eq!(
        (&entry["shape"], &entry["status"]),
        (&Value::Null, &json!(3))
    );
    assert!(entry["error"].is_string(), "{entry}");
    let ran = folder.run(["ls", "."]).status_is(3);
    assert!(ran.text().contains("unknown rows"), "{}", ran.text());
}

/// Only what describes the array has to be what JSON is everywhere.
#[test]
fn a_file_with_numbers_of_python_in_its_metadata_is_exported() {
    let folder = Folder::new();
    let metadata = "{\"x\": NaN, \"container\": \"numpy\", \"dtype\": \"'|u1'\", \"shape\": [4], \"order\": \"C\"}";
    folder.write("meta.json", metadata);
    let file = folder.compressed_with_metadata("meta.json", &[1, 2, 3, 4]);
    folder.write("a.blp", file);
    let rows = folder.run(["cat", "--rows", "1..3", "a.blp"]).succeeded();
    assert_eq!(rows, [2, 3]);
}
