//! Tests of `convert` into Zarr and back, and of the other commands on Zarr.

use serde_json::{Value, json};

use crate::support::Folder;

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
        let back = format!("{layout}.back");
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
        .noted("0 chunks taken as they are, 4 compressed anew");
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
        .noted("6 chunks taken");
    let before = folder.read("a.zarr/id/c/0");
    folder
        .run(["convert", "t", "a.zarr"])
        .failed(1, "already exists");
    folder
        .run(["-f", "convert", "a.zarr", "t", "--layout", "zarr"])
        .failed(1, "not a Zarr array");
    folder
        .run(["-f", "convert", "t", "a.zarr", "-c", "zstd"])
        .noted("0 chunks taken");
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
        .noted("6 chunks taken");
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
