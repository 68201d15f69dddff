//! Tests of what a target cannot store: `convert`, `import` and `export` carry it, warn, or refuse.

use serde_json::{Value, json};

use crate::datasets_exchanged::npy;
use crate::support::Folder;

fn info(folder: &Folder, path: &str) -> Value {
    serde_json::from_slice(&folder.run(["info", "--json", path]).succeeded()).unwrap()
}

fn csv(folder: &Folder, path: &str) -> String {
    let ran = folder.run(["export", path, "-", "--to", "csv"]);
    String::from_utf8(ran.succeeded()).unwrap()
}

/// Every target that stores one array, and its option.
const ONE_ARRAY: [(&str, &[&str]); 6] = [
    ("x.b2nd", &[]),
    ("x.b2frame", &[]),
    ("x", &["--layout", "caterva"]),
    ("x", &["--layout", "b2nd", "--sparse"]),
    ("x.blp", &[]),
    ("x", &["--format", "3"]),
];

#[test]
fn a_table_does_not_become_an_array_of_its_first_column() {
    let folder = Folder::new();
    folder.write("o.csv", "ts,close\n1,2.5\n2,3.25\n");
    let sources = ["o.b2z", "o.b2d", "bcolz", "doc", "two.zarr", "three.zarr"];
    for source in ["o.b2z", "o.b2d", "bcolz"] {
        folder.run(["import", "o.csv", source]).succeeded();
    }
    for (out, layout) in [
        ("doc", "blz-doc"),
        ("two.zarr", "zarr2"),
        ("three.zarr", "zarr3"),
    ] {
        folder
            .run(["-q", "convert", "bcolz", out, "--layout", layout])
            .succeeded();
    }
    let before = folder.names();
    let floats = [2.5f64, 3.25].map(f64::to_le_bytes).concat();
    for source in sources {
        for (out, options) in ONE_ARRAY {
            let words = format!("'{source}': this is a table; columns: ");
            let table = [&["convert", source, out], options].concat();
            folder.run(&table).failed(2, &words);
            assert_eq!(folder.names(), before, "{table:?}");
            let column = [&table[..], &["--column", "close"]].concat();
            folder.run(&column).succeeded();
            assert_eq!(folder.run(["cat", out]).succeeded(), floats, "{column:?}");
            match folder.path(out).is_dir() {
                true => std::fs::remove_dir_all(folder.path(out)).unwrap(),
                false => std::fs::remove_file(folder.path(out)).unwrap(),
            }
        }
        // A table among several arrays.
        let column = ["convert", source, "c.b2nd", "--column", "close"];
        folder.run(column).succeeded();
        folder
            .run(["convert", "c.b2nd", source, "x.b2z"])
            .failed(2, "this is a table; columns: ");
        std::fs::remove_file(folder.path("c.b2nd")).unwrap();
        assert_eq!(folder.names(), before);
    }
    for command in ["cat o.b2z", "export o.b2z x.bin"] {
        let ran = folder.run(command.split(' '));
        ran.failed(2, "ts, close");
    }
}

#[test]
fn a_missing_value_does_not_become_zero() {
    let folder = Folder::new();
    folder.write("n.csv", "i,f,s\n1,1.5,a\n,,\n3,3.5,ccc\n");
    folder.run(["import", "n.csv", "n.b2z"]).succeeded();
    let before = folder.names();
    for (out, options) in ONE_ARRAY
        .into_iter()
        .chain([("x", &[][..]), ("x.b2z", &[])])
    {
        let convert = [&["convert", "n.b2z", out, "--column", "i"], options].concat();
        let words = "column \"i\" has missing values, and int64 has none for them";
        folder.run(&convert).failed(2, words);
        assert_eq!(folder.names(), before, "{convert:?}");
    }
    for (column, expected) in [
        ("f", "value\n1.5\nnan\n3.5\n"),
        ("s", "value\na\n\"\"\nccc\n"),
    ] {
        for out in ["b2nd", "blp", "bcolz"] {
            let out = format!("{column}.{out}");
            let convert = ["convert", "n.b2z", &out, "--column", column];
            folder.run(convert).succeeded();
            assert_eq!(csv(&folder, &out), expected, "{out}");
        }
    }
}

#[test]
fn an_array_without_axes_gets_none() {
    let folder = Folder::new();
    let element = 7.5f64.to_le_bytes();
    folder.write("s.npy", npy("'<f8'", "()", &element));
    // As the specification of Zarr 2 has it: one chunk, named 0.
    std::fs::create_dir(folder.path("s.zarr")).unwrap();
    let meta = json!({"zarr_format": 2, "shape": [], "chunks": [], "dtype": "<f8", "compressor": null,
        "fill_value": 0.0, "order": "C", "filters": null});
    folder.write("s.zarr/.zarray", meta.to_string());
    folder.write("s.zarr/0", element);
    folder.run(["import", "s.npy", "npy.b2nd"]).succeeded();
    folder.run(["import", "s.npy", "npy.blp"]).succeeded();
    folder.run(["c", "s.npy", "packed.blp"]).succeeded();
    let sources = ["s.zarr", "npy.b2nd", "npy.blp", "packed.blp"];
    for source in sources {
        folder.run(["export", source, "out.npy"]).succeeded();
        assert_eq!(folder.read("out.npy"), folder.read("s.npy"), "{source}");
        for (out, options) in [
            ("out.b2nd", &[][..]),
            ("out.blp", &[]),
            ("out2.zarr", &["--layout", "zarr2"]),
            ("out3.zarr", &[]),
        ] {
            // The command makes no file of a frame, nor of what is NumPy's file within one.
            if out == "out.blp" && ["npy.b2nd", "packed.blp"].contains(&source) {
                continue;
            }
            let convert = [&["-f", "-q", "convert", source, out], options].concat();
            folder.run(&convert).succeeded();
            assert_eq!(folder.run(["cat", out]).succeeded(), element);
            folder.run(["-f", "export", out, "out.npy"]).succeeded();
            assert_eq!(
                folder.read("out.npy"),
                folder.read("s.npy"),
                "{source} {out}"
            );
        }
        folder
            .run(["convert", source, "out.cat", "--layout", "caterva"])
            .failed(2, "at least one axis");
        folder
            .run(["-f", "convert", source, "out.bcolz", "--layout", "bcolz"])
            .warned("its shape () becomes (1,)");
        std::fs::remove_file(folder.path("out.npy")).unwrap();
    }
    folder
        .run(["import", "s.npy", "one"])
        .warned("its shape () becomes (1,)");
    assert_eq!(info(&folder, "one")["shape"], json!([1]));
}
