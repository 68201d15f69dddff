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
            // Only a dataset notes that NaN stands for a missing value.
            let expected = if out == "f.bcolz" {
                expected.replace("nan", "\"\"")
            } else {
                expected.to_owned()
            };
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

#[test]
fn an_ending_is_obeyed_or_refused() {
    let folder = Folder::new();
    folder.write("t.csv", "a\n1\n");
    folder.run(["import", "t.csv", "t"]).succeeded();
    folder.write("a.npy", npy("'<i8'", "(1,)", &1i64.to_le_bytes()));
    folder.run(["import", "a.npy", "a.b2nd"]).succeeded();
    folder.run(["import", "a.npy", "a.blp"]).succeeded();
    let before = folder.names();
    let others = [
        "csv", "tsv", "npy", "npz", "jsonl", "parquet", "arrow", "arrows", "bin", "h5", "nc",
        "json", "zip", "csv.gz", "7z", "b2e", "CSV",
    ];
    for ending in others {
        let out = format!("x.{ending}");
        for source in ["t", "a.b2nd", "a.blp"] {
            let words = format!("the name of '{out}' is that of ");
            folder.run(["convert", source, &out]).failed(2, &words);
            let layout = ["convert", source, &out, "--layout", "bcolz"];
            folder.run(layout).failed(2, &words);
        }
        folder
            .run(["import", "t.csv", &out])
            .failed(2, "which blpk import does not make");
    }
    // What only convert and import make, and what contradicts --to.
    for out in ["x.b2nd", "x.b2z", "x.zarr", "x.blp", "x.h5", "x.csv.gz"] {
        folder.run(["export", "t", out]).failed(2, "is that of ");
        let given = ["export", "t", out, "--to", "csv"];
        folder.run(given).failed(2, "is that of ");
    }
    folder
        .run(["export", "t", "x.csv.gz"])
        .failed(2, "blpk export 't' - --to csv | gzip > 'x.csv.gz'");
    folder
        .run(["export", "t", "x.csv", "--to", "parquet"])
        .failed(2, "omit --to");
    folder
        .run([
            "dataset", "set", "t", "--column", "a", "--rows", "0..1", "t.csv",
        ])
        .failed(2, "is that of a file of the format CSV");
    assert_eq!(folder.names(), before);
    // A dataset, whatever it is made of.
    for source in ["t", "a.b2nd", "a.blp"] {
        for (out, layout) in [("x.bcolz", "bcolz"), ("x.blz", "blz")] {
            folder.run(["convert", source, out]).succeeded();
            assert_eq!(info(&folder, out)["layout"], layout, "{source} {out}");
            std::fs::remove_dir_all(folder.path(out)).unwrap();
        }
    }
    folder
        .run(["convert", "a.blp", "x.bcolz", "--layout", "b2nd"])
        .failed(2, "a dataset of the layout bcolz");
    // A name with a dot that stands for nothing.
    folder.run(["import", "t.csv", "t-2024.01"]).succeeded();
    folder
        .run(["export", "t", "t.txt", "--to", "csv"])
        .succeeded();
    assert_eq!(folder.read("t.txt"), b"a\n1\n");
}
