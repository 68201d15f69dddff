//! Tests of `convert` into Zarr and back, and of the other commands on Zarr.

use bloscpack::blosc;
use serde_json::{Value, json};
use std::fs;

use crate::datasets_exchanged::npy;
use crate::support::{Folder, ramp};

fn run_json<const N: usize>(folder: &Folder, arguments: [&str; N]) -> Value {
    serde_json::from_slice(&folder.run(arguments).succeeded()).unwrap()
}

/// A table of 1000 rows in chunks of 300: three of each column are whole.
fn table(folder: &Folder) {
    let rows: String = (0..1000)
        .map(|row| format!("{row},{}\n", row * 3 % 17))
        .collect();
    folder.write("t.csv", format!("id,n\n{rows}"));
    folder
        .run(["import", "t.csv", "t", "--chunklen", "300"])
        .succeeded();
}

fn csv(folder: &Folder, path: &str) -> Vec<u8> {
    folder.run(["export", path, "-", "--to", "csv"]).succeeded()
}

#[test]
fn a_table_goes_to_zarr_and_back() {
    let folder = Folder::new();
    table(&folder);
    for (layout, chunk) in [("zarr2", "id/1"), ("zarr3", "id/c/1"), ("zarr", "id/c/1")] {
        let out = format!("{layout}.zarr");
        let report = run_json(
            &folder,
            ["convert", "t", &out, "--layout", layout, "--json"],
        );
        assert_eq!(report["chunks_taken"], 6);
        assert_eq!(report["chunks_compressed"], 2);
        // 16 bytes precede the chunk in the file of the dataset.
        let taken = folder.read(&format!("{out}/{chunk}"));
        assert_eq!(folder.read("t/id/data/__1.blp").get(16..).unwrap(), taken);
        assert_eq!(csv(&folder, &out), csv(&folder, "t"));
        folder.run(["verify", &out]).succeeded();
        let info = run_json(&folder, ["info", "--json", &out]);
        assert_eq!(
            (&info["rows"], &info["columns"]),
            (&json!(1000), &json!(["id", "n"]))
        );
        let back = format!("back-{layout}");
        folder.run(["convert", &out, &back]).succeeded();
        assert_eq!(csv(&folder, &back), csv(&folder, "t"));
    }
}

#[test]
fn an_array_goes_to_zarr_and_into_everything_else() {
    let folder = Folder::new();
    table(&folder);
    folder
        .run(["convert", "t", "n.zarr", "--column", "n", "-c", "zstd"])
        .succeeded();
    let wanted = folder.run(["cat", "t", "--column", "n"]).succeeded();
    for out in ["n.b2nd", "n.bcolz", "n.blp", "again.zarr"] {
        folder.run(["-q", "convert", "n.zarr", out]).succeeded();
        assert_eq!(folder.run(["cat", out]).succeeded(), wanted, "{out}");
    }
    folder
        .run(["-q", "convert", "n.blp", "file.zarr"])
        .succeeded();
    assert_eq!(folder.run(["cat", "file.zarr"]).succeeded(), wanted);
    let shards = [
        "convert",
        "t",
        "s.zarr",
        "--column",
        "n",
        "--chunks-per-superchunk",
        "2",
        "--json",
    ];
    assert_eq!(run_json(&folder, shards)["chunks_taken"], 3);
    assert_eq!(folder.run(["cat", "s.zarr"]).succeeded(), wanted);
}

#[test]
fn only_zarr_is_replaced_and_only_with_f() {
    let folder = Folder::new();
    table(&folder);
    folder
        .run(["convert", "t", "a.zarr"])
        .noted("6 chunks copied");
    let before = folder.read("a.zarr/id/c/0");
    folder
        .run(["convert", "t", "a.zarr"])
        .failed(1, "already exists");
    folder
        .run(["-f", "convert", "a.zarr", "t", "--layout", "zarr"])
        .failed(1, "not a Zarr array");
    folder
        .run(["-f", "convert", "t", "a.zarr", "-c", "zstd"])
        .succeeded();
    assert_ne!(folder.read("a.zarr/id/c/0"), before);
    assert_eq!(csv(&folder, "a.zarr"), csv(&folder, "t"));
    folder
        .run(["convert", "t", "b.zarr", "--layout", "bcolz"])
        .failed(2, "Zarr");
    folder
        .run(["convert", "t", "b.blp", "--layout", "zarr"])
        .failed(2, "Bloscpack");
    folder
        .run(["convert", "t", "b.zarr", "-k", "sha256"])
        .failed(2, "checksums");
    assert_eq!(folder.names(), ["a.zarr", "t", "t.csv"]);
}

#[test]
fn damage_is_reported_with_the_file() {
    let folder = Folder::new();
    table(&folder);
    folder
        .run(["convert", "t", "a.zarr"])
        .noted("6 chunks copied");
    folder.write("a.zarr/n/c/1", b"not a chunk, but text".as_slice());
    let ran = folder.run(["verify", "a.zarr"]).status_is(3);
    let said = format!("{}{}", ran.text(), ran.stderr);
    assert!(said.contains("n/c/1"), "{said}");
    // Nothing is left of a conversion that fails.
    folder
        .run(["convert", "a.zarr", "half", "--layout", "bcolz"])
        .failed(3, "n/c/1");
    assert!(!folder.path("half").exists());
    folder.write(
        "a.zarr/n/zarr.json",
        "{\"zarr_format\": 3, \"node_type\": \"array\", \"shape\": [-1]}",
    );
    folder.run(["info", "a.zarr/n"]).failed(3, "zarr.json");
}

/// `.zarray` or `zarr.json` of three elements in chunks of two, with this dtype and fill value.
fn of_three(folder: &Folder, path: &str, dtype: &str, fill: &str) {
    let (name, text) = if path.ends_with('2') {
        let text = format!(
            "{{\"zarr_format\": 2, \"shape\": [3], \"chunks\": [2], \"dtype\": {dtype}, \"compressor\": null, \
             \"filters\": null, \"order\": \"C\", \"fill_value\": {fill}}}"
        );
        (".zarray", text)
    } else {
        let text = format!(
            "{{\"zarr_format\": 3, \"node_type\": \"array\", \"shape\": [3], \"data_type\": {dtype}, \
             \"chunk_grid\": {{\"name\": \"regular\", \"configuration\": {{\"chunk_shape\": [2]}}}}, \
             \"chunk_key_encoding\": \"default\", \"fill_value\": {fill}, \
             \"codecs\": [{{\"name\": \"bytes\", \"configuration\": {{\"endian\": \"little\"}}}}]}}"
        );
        ("zarr.json", text)
    };
    fs::create_dir_all(folder.path(path)).unwrap();
    folder.write(&format!("{path}/{name}"), text);
}

/// What zarr-python 3.1.6 and 3.4.2 read, to the bit.
#[test]
fn fill_values_that_only_python_writes_are_read_and_converted() {
    let folder = Folder::new();
    for (dtype, fill, element) in [
        ("<f4", "NaN", f32::NAN.to_le_bytes().to_vec()),
        ("<f8", "Infinity", f64::INFINITY.to_le_bytes().to_vec()),
        ("<f8", "-Infinity", f64::NEG_INFINITY.to_le_bytes().to_vec()),
        ("<f8", "1e400", f64::INFINITY.to_le_bytes().to_vec()),
    ] {
        let name = if dtype == "<f4" {
            "\"float32\""
        } else {
            "\"float64\""
        };
        for (path, dtype) in [("v2", format!("\"{dtype}\"")), ("v3", name.to_owned())] {
            of_three(&folder, path, &dtype, fill);
            let wanted = element.repeat(3);
            assert_eq!(
                folder.run(["cat", path]).succeeded(),
                wanted,
                "{path} {fill}"
            );
            folder.run(["verify", path]).succeeded();
            for to in ["b.b2nd", "b.npy", "b.zarr", "b2.zarr"] {
                let layout: &[&str] = if to == "b2.zarr" {
                    &["--layout", "zarr2"]
                } else {
                    &[]
                };
                let verb = if to == "b.npy" { "export" } else { "convert" };
                let args = [&["-q", "-f", verb, path, to][..], layout].concat();
                folder.run(args).succeeded();
                let bytes = if to == "b.npy" {
                    folder.read(to).split_off(128)
                } else {
                    folder.run(["cat", to]).succeeded()
                };
                assert_eq!(bytes, wanted, "{path} {fill} {to}");
                let _ = fs::remove_dir_all(folder.path(to));
            }
        }
    }
    for (path, dtype) in [("v2", "\"<i4\""), ("v3", "\"int32\"")] {
        for fill in ["NaN", "Infinity", "1e400"] {
            of_three(&folder, path, dtype, fill);
            folder.run(["cat", path]).failed(3, "fill_value: found");
            folder.run(["verify", path]).status_is(3);
        }
    }
}

/// As zarr-python 3.1.6 and 3.4.2 read it.
#[test]
fn times_without_a_fill_value_are_no_times() {
    let folder = Folder::new();
    of_three(&folder, "t2", "\"<M8[s]\"", "null");
    let nat = i64::MIN.to_le_bytes().repeat(3);
    assert_eq!(folder.run(["cat", "t2"]).succeeded(), nat);
    folder.run(["-q", "convert", "t2", "t3.zarr"]).succeeded();
    assert_eq!(folder.run(["cat", "t3.zarr"]).succeeded(), nat);
    let meta: Value = serde_json::from_slice(&folder.read("t3.zarr/zarr.json")).unwrap();
    assert_eq!(meta["fill_value"], i64::MIN);
    let csv = folder.run(["export", "t2", "-", "--to", "csv"]).succeeded();
    assert_eq!(
        String::from_utf8(csv).unwrap().trim_end(),
        "value\n\"\"\n\"\"\n\"\""
    );
}

/// Attributes that Python writes: as they are where that is possible, by name in JSON for all.
#[test]
fn attributes_that_only_python_writes_are_no_null() {
    let folder = Folder::new();
    of_three(&folder, "a2", "\"|u1\"", "7");
    folder.write(
        "a2/.zattrs",
        "{\"_FillValue\": NaN, \"range\": [-Infinity, 1e400], \"none\": null}",
    );
    let named = json!({"_FillValue": "NaN", "range": ["-Infinity", "Infinity"], "none": null});
    let info = folder.run(["info", "--json", "a2"]).succeeded();
    let shown = String::from_utf8(info)
        .unwrap()
        .replace("1e400", "\"Infinity\"");
    let info: Value = serde_json::from_str(&shown).unwrap();
    assert_eq!(info["attributes"], named);
    folder.run(["-q", "convert", "a2", "a3.zarr"]).succeeded();
    let meta = String::from_utf8(folder.read("a3.zarr/zarr.json")).unwrap();
    let meta: Value = serde_json::from_str(&meta.replace("1e400", "\"Infinity\"")).unwrap();
    assert_eq!(meta["attributes"], named);
    folder.run(["-q", "convert", "a2", "d"]).succeeded();
    assert!(
        String::from_utf8(folder.read("d/__attrs__"))
            .unwrap()
            .contains("\"_FillValue\": NaN")
    );
    let value = folder
        .run(["dataset", "attrs", "d", "_FillValue"])
        .succeeded();
    assert_eq!(value, b"\"NaN\"\n");
    folder.run(["-q", "convert", "d", "d.blp"]).succeeded();
    let metadata = folder
        .run(["d", "d.blp", "out", "--metadata-out", "-"])
        .succeeded();
    assert!(
        String::from_utf8(metadata)
            .unwrap()
            .contains("\"_FillValue\": NaN")
    );
}

/// Whatever makes `cat` fail is damage for `verify`.
#[cfg(unix)]
#[test]
fn chunks_that_are_no_files_are_damage() {
    let folder = Folder::new();
    table(&folder);
    for (layout, spoil) in [
        ("zarr2", "mv 1 away && ln -s away 1"),
        ("zarr2", "rm 1 && ln -s nowhere 1"),
        ("zarr2", "rm 1 && mkdir 1"),
        ("zarr3", "mv c/1 away && ln -s ../away c/1"),
        ("zarr3", "rm c/1 && mkdir c/1"),
        ("zarr3", "rm c/1 && mkfifo c/1"),
        ("zarr3", "mv c away && ln -s away c"),
        ("zarr3", "mv c away && touch c"),
    ] {
        let make = [
            "-q", "convert", "t", "n", "--column", "n", "--layout", layout,
        ];
        folder.run(make).succeeded();
        let mut shell = std::process::Command::new("sh");
        let spoiled = shell
            .args(["-c", spoil])
            .current_dir(folder.path("n"))
            .status();
        assert!(spoiled.unwrap().success(), "{spoil}");
        let ran = folder.run(["verify", "n"]).status_is(3);
        assert!(
            ran.text().contains("not a regular file"),
            "{spoil}: {}",
            ran.text()
        );
        folder.run(["cat", "n"]).failed(3, "not a regular file");
        folder.run(["info", "n"]).succeeded();
        fs::remove_dir_all(folder.path("n")).unwrap();
    }
}

#[test]
fn a_group_with_a_damaged_member_says_so() {
    let folder = Folder::new();
    table(&folder);
    folder.run(["-q", "convert", "t", "g.zarr"]).succeeded();
    folder.write("g.zarr/n/zarr.json", "{");
    let out = ["x.csv", "x.b2z", "x.blp", "x.zarr"];
    for args in [
        vec!["cat", "g.zarr"],
        vec!["cat", "g.zarr", "--column", "id"],
        vec!["export", "g.zarr", out[0]],
        vec!["convert", "g.zarr", out[1]],
        vec!["convert", "g.zarr", out[2]],
        vec!["convert", "g.zarr", "d", "--layout", "bcolz"],
    ] {
        folder.run(args).failed(3, "n/zarr.json: not JSON");
    }
    folder.run(["info", "g.zarr"]).succeeded();
    assert_eq!(folder.names(), ["g.zarr", "t", "t.csv"]);
    let ran = folder.run(["verify", "g.zarr/n"]).status_is(3);
    assert!(
        ran.stderr.contains("consolidated metadata"),
        "{}",
        ran.stderr
    );
    assert!(!ran.stderr.contains("dataset repair"), "{}", ran.stderr);
    // What the hint says works.
    let group: Value = serde_json::from_slice(&folder.read("g.zarr/zarr.json")).unwrap();
    let copy = group["consolidated_metadata"]["metadata"]["n"].to_string();
    folder.write("g.zarr/n/zarr.json", copy);
    assert_eq!(csv(&folder, "g.zarr"), csv(&folder, "t"));
    // A group of another kind is no table, damaged or not.
    fs::create_dir(folder.path("g.zarr/sub")).unwrap();
    folder.write(
        "g.zarr/sub/zarr.json",
        "{\"zarr_format\": 3, \"node_type\": \"group\"}",
    );
    folder.run(["cat", "g.zarr"]).failed(2, "not a table");
}

/// A member that is a link is not left out of a table without a word.
#[cfg(unix)]
#[test]
fn a_member_that_is_a_link_is_damage() {
    let folder = Folder::new();
    table(&folder);
    for layout in ["zarr2", "zarr3"] {
        folder
            .run(["-q", "convert", "t", "g", "--layout", layout])
            .succeeded();
        fs::rename(folder.path("g/n"), folder.path("n")).unwrap();
        std::os::unix::fs::symlink("../n", folder.path("g/n")).unwrap();
        folder
            .run(["export", "g", "-", "--to", "csv"])
            .failed(3, "links are not followed");
        folder.run(["verify", "g"]).status_is(3);
        fs::remove_dir_all(folder.path("g")).unwrap();
        fs::remove_dir_all(folder.path("n")).unwrap();
    }
}

#[test]
fn references_lead_to_chunks() {
    let folder = Folder::new();
    let elements = ramp(8000);
    folder.write("a.npy", npy("'<i8'", "(1000,)", &elements));
    let import = ["import", "a.npy", "a", "--chunklen", "300"];
    folder.run(import).succeeded();
    let text = folder
        .run(["refs", "a", "--root", "x://host/a/"])
        .succeeded();
    let found: Value = serde_json::from_slice(&text).unwrap();
    assert_eq!(found["templates"]["u"], "x://host/a");
    for chunk in 0..3 {
        let place = &found["refs"][format!("a/{chunk}")];
        assert_eq!(place[0], format!("{{{{u}}}}/data/__{chunk}.blp"));
        let number = |at: usize| usize::try_from(place[at].as_u64().unwrap()).unwrap();
        let file = folder.read(&format!("a/data/__{chunk}.blp"));
        let data = blosc::decompress(&file[number(1)..][..number(2)]).unwrap();
        assert_eq!(data, elements[chunk * 2400..][..2400]);
    }
    // The last 100 elements are copied, padded to a whole chunk.
    let tail = found["refs"]["a/3"].as_str().unwrap();
    assert!(tail.starts_with("base64:"), "{tail}");
    let meta: Value = serde_json::from_str(found["refs"]["a/.zarray"].as_str().unwrap()).unwrap();
    assert_eq!(
        (&meta["fill_value"], &meta["chunks"]),
        (&Value::Null, &json!([300]))
    );
    folder.run(["refs", "a", "a.json"]).succeeded();
    let own = format!("file://{}", folder.path("a").display());
    let found: Value = serde_json::from_slice(&folder.read("a.json")).unwrap();
    assert_eq!(found["templates"]["u"], own);
}

#[test]
fn what_zarr_cannot_read_in_place_is_not_referenced() {
    let folder = Folder::new();
    folder.write("a.npy", npy("'<i8'", "(1000,)", &ramp(8000)));
    let snappy = [
        "--layout",
        "carray-doc",
        "--chunklen",
        "300",
        "-c",
        "snappy",
    ];
    let import = [&["import", "a.npy", "a"], &snappy[..]].concat();
    folder.run(import).succeeded();
    folder.run(["import", "a.npy", "a.b2nd"]).succeeded();
    folder.write("a.csv", "a\n1\n");
    for (path, why) in [
        (
            "a",
            "chunk [0] has 2400 bytes by snappy, which readers of Zarr do not decode",
        ),
        ("a.b2nd", "its chunks are not Blosc 1 chunks of whole rows"),
        ("a.csv", "it is not stored in chunks of arrays"),
        ("a.npy", "its chunks are not Blosc 1 chunks of whole rows"),
    ] {
        folder.run(["refs", path, "out.json"]).failed(2, why);
        assert!(!folder.path("out.json").exists(), "{path}");
    }
}
