//! Tests of what a target cannot store: `convert`, `import` and `export` carry it, warn, or refuse.

use std::fs;

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
            if folder.path(out).is_dir() {
                fs::remove_dir_all(folder.path(out)).unwrap()
            } else {
                fs::remove_file(folder.path(out)).unwrap()
            }
        }
        // A table among several arrays.
        let column = ["convert", source, "c.b2nd", "--column", "close"];
        folder.run(column).succeeded();
        folder
            .run(["convert", "c.b2nd", source, "x.b2z"])
            .failed(2, "this is a table; columns: ");
        fs::remove_file(folder.path("c.b2nd")).unwrap();
        assert_eq!(folder.names(), before);
    }
    let ran = folder.run(["export", "o.b2z", "x.bin"]);
    ran.failed(2, "ts, close");
}

#[test]
fn a_column_that_is_asked_for_is_an_array_in_every_format() {
    let folder = Folder::new();
    folder.write("o.csv", "ts,close\n1,2.5\n2,3.25\n");
    let floats = [2.5f64, 3.25].map(f64::to_le_bytes).concat();
    for source in ["o.csv", "o.b2z", "o.bcolz"] {
        if source != "o.csv" {
            folder.run(["convert", "o.csv", source]).succeeded();
        }
        let column = |out| ["convert", "-f", source, out, "--column", "close"];
        folder.run(column("x.npy")).succeeded();
        // The header of NumPy's own `save` for float64, without a field.
        let made = folder.read("x.npy");
        let header = b"{'descr': '<f8', 'fortran_order': False, 'shape': (2,), }";
        assert!(made[10..].starts_with(header), "{source}");
        assert!(made.ends_with(&floats), "{source}");
        folder.run(column("x.jsonl")).succeeded();
        assert_eq!(folder.read("x.jsonl"), b"2.5\n3.25\n", "{source}");
        // The second time it replaces an archive, which begins as a store does.
        folder.run(column("x.npz")).succeeded();
        assert_eq!(info(&folder, "x.npz")["dtype"], "float64", "{source}");
    }
}

#[test]
fn columns_keep_their_order_through_zarr() {
    let folder = Folder::new();
    folder.write("o.csv", "ts,close,id\n1,2.5,7\n2,3.25,8\n");
    for layout in ["zarr2", "zarr3"] {
        let out = format!("{layout}.zarr");
        folder
            .run(["convert", "o.csv", &out, "--layout", layout])
            .succeeded();
        assert_eq!(csv(&folder, &out), "ts,close,id\n1,2.5,7\n2,3.25,8\n");
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
fn missing_text_is_not_empty_text() {
    let folder = Folder::new();
    let lines = "{\"i\":1,\"s\":\"a\"}\n{\"i\":null,\"s\":null}\n{\"i\":2,\"s\":\"\"}\n";
    folder.write("a.jsonl", lines);
    for command in ["convert", "export"] {
        let out = format!("{command}.jsonl");
        folder.run([command, "a.jsonl", &out]).succeeded();
        assert_eq!(folder.read(&out), lines.as_bytes(), "{command}");
    }
}

#[test]
fn an_array_without_axes_gets_none() {
    let folder = Folder::new();
    let element = 7.5f64.to_le_bytes();
    folder.write("s.npy", npy("'<f8'", "()", &element));
    // As the specification of Zarr 2 has it: one chunk, named 0.
    fs::create_dir(folder.path("s.zarr")).unwrap();
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
        fs::remove_file(folder.path("out.npy")).unwrap();
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
    let others = ["h5", "nc", "json", "zip", "csv.gz", "7z", "b2e"];
    for ending in others {
        let out = format!("x.{ending}");
        for source in ["t", "a.b2nd", "a.blp"] {
            let words = format!("'{out}': its name is that of ");
            folder.run(["convert", source, &out]).failed(2, &words);
            let layout = ["convert", source, &out, "--layout", "bcolz"];
            folder.run(layout).failed(2, &words);
        }
        folder
            .run(["import", "t.csv", &out])
            .failed(2, "which is not written");
    }
    folder
        .run(["convert", "t", "x.foo"])
        .failed(2, "the ending .foo is not known");
    // A part of a date is no ending.
    folder.run(["convert", "t", "2024.01.02"]).succeeded();
    fs::remove_dir_all(folder.path("2024.01.02")).unwrap();
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
        .failed(2, "by its ending, 't.csv' is a file of the format CSV");
    assert_eq!(folder.names(), before);
    // A dataset, whatever it is made of.
    for source in ["t", "a.b2nd", "a.blp"] {
        for (out, layout) in [("x.bcolz", "bcolz"), ("x.blz", "blz")] {
            folder.run(["convert", source, out]).succeeded();
            assert_eq!(info(&folder, out)["layout"], layout, "{source} {out}");
            fs::remove_dir_all(folder.path(out)).unwrap();
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

/// A Zarr 3 array of one chunk without codecs, as its specification has it.
fn zarr(folder: &Folder, path: &str, attributes: &Value, names: &Value) {
    fs::create_dir_all(folder.path(path).join("c")).unwrap();
    let meta = json!({"zarr_format": 3, "node_type": "array", "shape": [2], "data_type": "int64",
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [2]}},
        "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}},
        "fill_value": 0, "codecs": [{"name": "bytes", "configuration": {"endian": "little"}}],
        "attributes": attributes, "dimension_names": names});
    folder.write(&format!("{path}/zarr.json"), meta.to_string());
    let elements = [5i64, 7].map(i64::to_le_bytes).concat();
    folder.write(&format!("{path}/c/0"), elements);
}

#[test]
fn attributes_go_with_an_array() {
    let folder = Folder::new();
    let attributes = json!({"unit": "m", "of": {"a": [1, null, -2.5, "é"]}});
    zarr(&folder, "a.zarr", &attributes, &json!(["time"]));
    let mut named = attributes.clone();
    named["_ARRAY_DIMENSIONS"] = json!(["time"]);
    // Through each kind into the next, and back to Zarr.
    let chain = [
        ("a.zarr", "b.b2nd"),
        ("b.b2nd", "c.bcolz"),
        ("c.bcolz", "d.blp"),
        ("d.blp", "e.b2nd"),
        ("e.b2nd", "f.b2z"),
        ("f.b2z/e", "g.b2nd"),
        ("g.b2nd", "h.zarr"),
        ("d.blp", "i.zarr"),
        ("a.zarr", "j.blp"),
        ("a.zarr", "k.bcolz"),
        ("k.bcolz", "l.zarr"),
        ("j.blp", "m.bcolz"),
    ];
    for (from, to) in chain {
        folder.run(["-q", "convert", from, to]).succeeded();
        let info = info(&folder, to);
        match to.rsplit_once('.').unwrap().1 {
            "bcolz" => assert_eq!(info["attributes"], named, "{to}"),
            "blp" => assert_eq!(info["metadata"]["attributes"], named, "{to}"),
            "zarr" => {
                assert_eq!(info["attributes"], attributes, "{to}");
                assert_eq!(info["dimension_names"], json!(["time"]), "{to}");
            }
            _ => {}
        }
    }
    if cfg!(feature = "arrow") {
        folder.run(["export", "b.b2nd", "q.parquet"]).succeeded();
        folder.run(["import", "q.parquet", "q.bcolz"]).succeeded();
        assert_eq!(info(&folder, "q.bcolz")["attributes"], named);
    }
    // Metadata of the user beside that of NumPy.
    let metadata =
        json!({"unit": "mV", "dtype": "'<i8'", "shape": [2], "order": "C", "container": "numpy"});
    folder.write("m.json", metadata.to_string());
    folder.write("raw", [5i64, 7].map(i64::to_le_bytes).concat());
    folder
        .run(["c", "-m", "m.json", "raw", "n.blp"])
        .succeeded();
    for out in ["o.bcolz", "o.zarr", "o.b2nd"] {
        folder.run(["-q", "convert", "n.blp", out]).succeeded();
    }
    folder
        .run(["-q", "convert", "o.b2nd", "p.bcolz"])
        .succeeded();
    for made in ["o.bcolz", "o.zarr", "p.bcolz"] {
        assert_eq!(
            info(&folder, made)["attributes"],
            json!({"unit": "mV"}),
            "{made}"
        );
    }
}

#[test]
fn what_is_dropped_is_named() {
    let folder = Folder::new();
    let long = "a name of more than thirty-one bytes";
    zarr(
        &folder,
        "a.zarr",
        &json!({long: 1, "unit": "m"}),
        &json!(null),
    );
    let words = format!("its metadata \"{long}\" is dropped");
    folder.run(["convert", "a.zarr", "a.b2nd"]).warned(&words);
    folder.run(["convert", "a.b2nd", "a.bcolz"]).succeeded();
    assert_eq!(info(&folder, "a.bcolz")["attributes"], json!({"unit": "m"}));
    // As Python writes it.
    folder.write("a.bcolz/__attrs__", "{\"unit\": \"m\", \"x\": NaN}");
    folder
        .run(["convert", "a.bcolz", "b.zarr"])
        .warned("NaN and infinity among its attributes become strings");
    folder.run(["convert", "a.bcolz", "c.b2nd"]).succeeded();
    folder.run(["convert", "c.b2nd", "c.bcolz"]).succeeded();
    let attributes = String::from_utf8(folder.read("c.bcolz/__attrs__")).unwrap();
    assert!(attributes.contains("\"x\": NaN"), "{attributes}");
}

#[test]
fn attributes_go_with_a_table() {
    let folder = Folder::new();
    let attributes = json!({"who": {"n": [1, null, 2.5]}});
    fs::create_dir(folder.path("t.zarr")).unwrap();
    let group = json!({"zarr_format": 3, "node_type": "group", "attributes": attributes});
    folder.write("t.zarr/zarr.json", group.to_string());
    zarr(&folder, "t.zarr/a", &json!({"unit": "m"}), &json!(null));
    zarr(&folder, "t.zarr/b", &json!({}), &json!(null));
    folder
        .run(["convert", "t.zarr", "t.b2z"])
        .warned("the attributes of column a are dropped");
    folder.run(["convert", "t.b2z", "again.b2z"]).succeeded();
    folder.run(["convert", "again.b2z", "back"]).succeeded();
    assert_eq!(info(&folder, "back")["attributes"], attributes);
    folder.run(["convert", "t.zarr", "t.bcolz"]).succeeded();
    let made = info(&folder, "t.bcolz");
    assert_eq!(made["attributes"], attributes);
    assert_eq!(made["columns"][0]["attributes"], json!({"unit": "m"}));
    folder
        .run(["convert", "t.zarr", "doc", "--layout", "blz-doc"])
        .warned("the attributes of column a are dropped");
    folder
        .run(["convert", "t.zarr", "a.b2nd", "--column", "a"])
        .succeeded();
    folder.run(["convert", "a.b2nd", "a.bcolz"]).succeeded();
    assert_eq!(info(&folder, "a.bcolz")["attributes"], json!({"unit": "m"}));
}

#[test]
fn records_become_an_array_with_the_attributes_of_their_writer() {
    let folder = Folder::new();
    folder.write("lines", "a\nbb\nccc\n");
    folder.write("about.json", r#"{"unit": "m"}"#);
    let pack = ["records", "pack", "-m", "about.json", "lines", "r.blp"];
    folder.run(pack).succeeded();
    for made in ["a.npy", "a.bcolz", "a.blp"] {
        folder.run(["convert", "r.blp", made]).succeeded();
        assert_eq!(csv(&folder, made), "value\na\nbb\nccc\n", "{made}");
    }
    assert_eq!(info(&folder, "a.bcolz")["attributes"], json!({"unit": "m"}));
}
