//! Tests of `import`, `export` and `convert`: datasets from files of other formats, to them, and into each other.

use std::fs;

use serde_json::json;

use crate::datasets::{copied, object};
use crate::support::{Folder, ramp};

/// A file of NumPy, version 1.0, as its document has it.
pub fn npy(descr: &str, shape: &str, elements: &[u8]) -> Vec<u8> {
    let mut header = format!("{{'descr': {descr}, 'fortran_order': False, 'shape': {shape}, }}");
    let len = (10 + header.len() + 1).next_multiple_of(64) - 10;
    header = format!("{header:<width$}\n", width = len - 1);
    let mut file = b"\x93NUMPY\x01\x00".to_vec();
    file.extend(u16::try_from(len).unwrap().to_le_bytes());
    file.extend(header.as_bytes());
    file.extend(elements);
    file
}

const LAYOUTS: [&str; 4] = ["bcolz", "blz", "blz-doc", "carray-doc"];
const PRICES: &str = "day,price,n\n2024-01-02,1.5,3\n2024-01-03,2.25,-4\n2024-01-04,,5\n";

#[test]
fn an_array_of_numpy_goes_in_and_comes_out() {
    let folder = Folder::new();
    let elements = ramp(100 * 3 * 8);
    folder.write("a.npy", npy("'<i8'", "(100, 3)", &elements));
    for layout in LAYOUTS {
        let args = [
            "import",
            "a.npy",
            layout,
            "--layout",
            layout,
            "--chunklen",
            "30",
            "-c",
            "zlib",
        ];
        folder.run(args).succeeded();
        let info = object(&folder.run(["info", "--json", layout]), 0);
        assert_eq!(info["layout"], layout);
        assert_eq!(
            (&info["dtype"], &info["shape"]),
            (&json!("int64"), &json!([100, 3]))
        );
        assert_eq!(info["chunkshape"], json!([30, 3]), "{layout}");
        assert_eq!(info["codecs"], json!(["zlib"]), "{layout}");
        assert_eq!(
            folder.run(["cat", layout]).succeeded(),
            elements,
            "{layout}"
        );
        folder.run(["verify", layout]).succeeded();
        let out = format!("{layout}.npy");
        folder.run(["export", layout, &out]).succeeded();
        assert!(folder.read(&out).ends_with(&elements), "{layout}");
        let bytes = folder.run(["export", layout, "-", "--to", "bin", "--rows", "1..3"]);
        assert_eq!(bytes.succeeded(), elements[24..72], "{layout}");
    }
    let args = [
        "import",
        "a.npy",
        "grid",
        "--layout",
        "carray-doc",
        "--chunkshape",
        "40,2",
    ];
    folder.run(args).succeeded();
    let info = object(&folder.run(["info", "--json", "grid"]), 0);
    assert_eq!(
        (&info["chunkshape"], &info["nchunks"]),
        (&json!([40, 2]), &json!(6))
    );
    assert_eq!(folder.run(["cat", "grid"]).succeeded(), elements);
}

#[test]
fn csv_goes_in_and_comes_out() {
    let folder = Folder::new();
    folder.write("prices.csv", PRICES);
    let types = ["--types", "day=datetime64[D],n=i2"];
    for layout in LAYOUTS {
        folder
            .run(
                [
                    &["import", "prices.csv", layout, "--layout", layout][..],
                    &types,
                ]
                .concat(),
            )
            .warned("read as null: price (1)");
        let info = object(&folder.run(["info", "--json", layout]), 0);
        assert_eq!(info["kind"], "ctable");
        let dtypes = info["columns"].as_array().unwrap().iter();
        let dtypes: Vec<_> = dtypes
            .map(|column| column["dtype"].as_str().unwrap())
            .collect();
        assert_eq!(dtypes, ["datetime64[D]", "float64", "int16"], "{layout}");
        let n = folder.run(["cat", "--column", "n", layout]).succeeded();
        assert_eq!(n, [3, 0, 252, 255, 5, 0], "{layout}");
        let text = folder.run([
            "export",
            layout,
            "-",
            "--to",
            "csv",
            "--columns",
            "n,day",
            "--rows",
            "1..",
        ]);
        assert_eq!(
            text.text(),
            "n,day\n-4,2024-01-03\n5,2024-01-04\n",
            "{layout}"
        );
    }
    let ran = folder.run_with(
        [&["import", "-", "piped", "--from", "csv"][..], &types].concat(),
        PRICES,
    );
    ran.warned("standard input: missing values");
    assert_eq!(
        folder
            .run(["export", "piped", "-", "--to", "jsonl", "--columns", "n"])
            .text(),
        "{\"n\":3}\n{\"n\":-4}\n{\"n\":5}\n"
    );
    folder
        .run(["import", "prices.csv", "other"])
        .warned("price (1)");
    folder.write("semicolons.csv", "a;b\n1;2\n");
    folder
        .run(["import", "semicolons.csv", "s", "--delimiter", ";"])
        .succeeded();
    assert_eq!(folder.run(["cat", "s/b"]).succeeded(), 2i64.to_le_bytes());
}

#[test]
fn fields_become_columns_and_columns_fields() {
    let folder = Folder::new();
    let rows: Vec<u8> = (0..10u8).flat_map(|n| [n, 2 * n, 0, 100 + n]).collect();
    folder.write(
        "a.npy",
        npy("[('a', '|u1'), ('b', '<u2'), ('c', '|u1')]", "(10,)", &rows),
    );
    // bcolz does not open an array of such elements.
    for (layout, kind) in [("bcolz", "ctable"), ("blz-doc", "carray")] {
        let import = ["import", "a.npy", layout, "--layout", layout];
        folder.run(import).succeeded();
        let info = object(&folder.run(["info", "--json", layout]), 0);
        assert_eq!(info["kind"], kind);
    }
    folder
        .run(["import", "--table", "a.npy", "table", "--layout", "blz-doc"])
        .succeeded();
    assert_eq!(
        folder.run(["cat", "--column", "c", "table"]).succeeded(),
        (100..110).collect::<Vec<u8>>()
    );
    folder.run(["export", "table", "b.npy"]).succeeded();
    assert!(folder.read("b.npy").ends_with(&rows));
    folder.write("plain.npy", npy("'|u1'", "(3,)", &[1, 2, 3]));
    folder
        .run(["import", "--table", "plain.npy", "no"])
        .failed(2, "no fields");
    assert!(!folder.path("no").exists());
}

/// As `DataFrame.to_csv` writes it by default.
#[test]
fn the_index_of_pandas_gets_a_name() {
    let folder = Folder::new();
    folder.write("frame.csv", ",a,b\n0,1,2\n1,3,4\n");
    folder
        .run(["import", "frame.csv", "frame"])
        .warned("is called index");
    let rows = folder.run(["cat", "frame"]).succeeded();
    assert_eq!(rows, b"index,a,b\n0,1,2\n1,3,4\n");
}

#[test]
fn an_import_that_fails_leaves_nothing() {
    let folder = Folder::new();
    folder.write("prices.csv", PRICES);
    folder.write("ragged.csv", "a,b\n1,2\n3\n");
    folder.write("text", PRICES);
    fs::create_dir(folder.path("other")).unwrap();
    folder.write("other/file", "precious");
    for (args, status, words) in [
        (&["import", "ragged.csv", "out"][..], 3, "ragged.csv"),
        (&["import", "text", "out"], 2, "--from"),
        (
            &["import", "prices.csv", "out", "--types", "n=float77"],
            2,
            "float77",
        ),
        (
            &["import", "prices.csv", "out", "--types", "n=u1"],
            2,
            "out of range",
        ),
        (&["import", "prices.csv", "out", "-k", "md5"], 2, "blz-doc"),
        (
            &["import", "prices.csv", "out", "--spare", "1K"],
            2,
            "spare",
        ),
        (
            &["import", "prices.csv", "out", "--layout", "hdf5"],
            2,
            "carray-doc",
        ),
        (
            &["import", "prices.csv", "out", "--chunkshape", "2,2"],
            2,
            "use chunklen",
        ),
        (
            &["import", "prices.csv", "-"],
            2,
            "cannot go to standard output",
        ),
        (&["import", "prices.csv", "prices.csv"], 2, "is the input"),
        (&["import", "prices.csv", "other"], 1, "exists"),
        (
            &["-f", "import", "prices.csv", "other"],
            1,
            "is not a dataset",
        ),
        (&["import", "none.csv", "out"], 1, "none.csv"),
        (&["import", "other", "out"], 5, "other"),
    ] {
        let ran = folder.run(args);
        assert_eq!(ran.status, status, "{args:?}: {}", ran.stderr);
        assert!(ran.stderr.contains(words), "{args:?}: {}", ran.stderr);
    }
    assert_eq!(
        folder.names(),
        ["other", "prices.csv", "ragged.csv", "text"]
    );
    assert_eq!(fs::read_dir(folder.path("other")).unwrap().count(), 1);
}

#[test]
fn an_old_dataset_is_replaced_as_a_whole() {
    let folder = Folder::new();
    folder.write("one.csv", "a\n1\n");
    folder.write("two.csv", "b\n2\n");
    folder.write("bad.csv", "b\n2\n3,4\n");
    folder.run(["import", "one.csv", "out"]).succeeded();
    folder
        .run(["import", "two.csv", "out"])
        .failed(1, "use -f to replace");
    folder
        .run(["-f", "import", "bad.csv", "out"])
        .failed(3, "is unchanged");
    assert_eq!(
        folder.run(["export", "out", "-", "--to", "csv"]).text(),
        "a\n1\n"
    );
    folder.run(["-f", "import", "two.csv", "out"]).succeeded();
    assert_eq!(
        folder.run(["export", "out", "-", "--to", "csv"]).text(),
        "b\n2\n"
    );
    folder.run(["verify", "out"]).succeeded();
    assert!(!folder.path("out/a").exists() && !folder.path("out/.blpk").exists());
}

#[test]
fn an_export_appears_when_it_is_whole() {
    let folder = copied();
    let table = "bcolz/table_mixed";
    fs::remove_file(folder.path("bcolz/table_mixed/price/data/__3.blp")).unwrap();
    folder
        .run(["export", table, "out.csv"])
        .failed(3, "price/data/__3.blp");
    assert!(!folder.path("out.csv").exists());
    folder
        .run(["export", table, "out.csv", "--columns", "id"])
        .succeeded();
    folder
        .run(["export", table, "out.csv", "--columns", "id"])
        .failed(1, "exists");
    let before = folder.read("out.csv");
    folder
        .run(["-f", "export", table, "out.csv"])
        .failed(3, "is unchanged");
    assert_eq!(folder.read("out.csv"), before);
    assert_eq!(before.iter().filter(|byte| **byte == b'\n').count(), 701);
    for (args, status, words) in [
        (&["export", table, "-"][..], 2, "--to"),
        (&["export", table, "out.xls"], 2, "--to"),
        (
            &["export", table, "x.csv", "--columns", "nix"],
            2,
            "id, price, sym",
        ),
        (
            &["export", table, "x.csv", "--slice", "1:2"],
            2,
            "single column",
        ),
        (
            &["export", table, "x.csv", "--rows", "1..9999"],
            2,
            "has 700 rows",
        ),
        (
            &[
                "-f",
                "export",
                table,
                "bcolz/table_mixed/__attrs__",
                "--to",
                "csv",
            ],
            2,
            "is inside the input",
        ),
        (
            &["export", "bcolz/shape3d", "x.csv", "--columns", "a"],
            2,
            "no columns",
        ),
    ] {
        let ran = folder.run(args);
        assert_eq!(ran.status, status, "{args:?}: {}", ran.stderr);
        assert!(ran.stderr.contains(words), "{args:?}: {}", ran.stderr);
    }
}

#[test]
fn a_slice_is_exported() {
    let folder = copied();
    let whole = folder.run(["cat", "bcolz/shape3d"]).succeeded();
    folder
        .run(["export", "bcolz/shape3d", "s.npy", "--slice", "5:7,:,:"])
        .succeeded();
    let file = folder.read("s.npy");
    assert!(file.ends_with(&whole[5 * 24..7 * 24]));
    let header = String::from_utf8_lossy(&file[..128]).into_owned();
    assert!(
        header.contains("(2, 3, 4)") && header.contains("<i2"),
        "{header}"
    );
    let column = [
        "export",
        "bcolz/table_mixed",
        "-",
        "--to",
        "bin",
        "--columns",
        "price",
        "--slice",
        "-2:",
    ];
    let price = folder.run(["cat", "bcolz/table_mixed/price"]).succeeded();
    assert_eq!(folder.run(column).succeeded(), price[698 * 8..]);
}

#[cfg(unix)]
#[test]
fn what_is_made_of_something_private_is_private() {
    use std::os::unix::fs::{MetadataExt, PermissionsExt};
    let folder = Folder::new();
    folder.write("a.csv", "a\n1\n");
    let private = fs::Permissions::from_mode(0o600);
    fs::set_permissions(folder.path("a.csv"), private).unwrap();
    folder.run(["import", "a.csv", "a"]).succeeded();
    let mode = |name: &str| fs::metadata(folder.path(name)).unwrap().mode() & 0o777;
    assert_eq!(mode("a"), 0o700);
    folder.run(["export", "a", "b.csv"]).succeeded();
    assert_eq!(mode("b.csv"), 0o600);
    folder.run(["convert", "a", "b"]).succeeded();
    assert_eq!(mode("b"), 0o700);
}

#[test]
fn a_table_goes_through_all_layouts() {
    let folder = copied();
    let mut from = "bcolz/table_mixed".to_owned();
    let price = folder.run(["cat", "--column", "price", &from]).succeeded();
    let pair = folder.run(["cat", "--column", "pair", &from]).succeeded();
    for layout in ["blz-doc", "blz", "bcolz"] {
        let to = format!("to_{layout}");
        let args = [
            "-q",
            "convert",
            &from,
            &to,
            "--layout",
            layout,
            "-c",
            "zlib",
            "--chunklen",
            "150",
        ];
        folder.run(args).succeeded();
        let info = object(&folder.run(["info", "--json", &to]), 0);
        assert_eq!(info["layout"], layout);
        assert_eq!(info["attributes"], json!({"n": [1, 2], "source": "gen"}));
        assert_eq!(info["columns"][0]["chunkshape"], json!([150]));
        assert_eq!(
            folder.run(["cat", "--column", "price", &to]).succeeded(),
            price
        );
        assert_eq!(
            folder.run(["cat", "--column", "pair", &to]).succeeded(),
            pair
        );
        folder.run(["verify", &to]).succeeded();
        from = to;
    }
    let prices = "bcolz/zipline_daily_equities.bcolz";
    folder
        .run(["convert", prices, "prices", "--layout", "carray-doc"])
        .succeeded();
    for column in ["id", "close"] {
        let old = folder.run(["cat", "--column", column, prices]).succeeded();
        assert_eq!(
            folder
                .run(["cat", "--column", column, "prices"])
                .succeeded(),
            old
        );
    }
    let ran = folder.run([
        "convert",
        "bcolz/table_mixed",
        "doc",
        "--layout",
        "carray-doc",
    ]);
    ran.failed(2, "the same shape");
    let ran = folder.run(["convert", "bcolz/table_mixed", "doc", "--layout", "blz-doc"]);
    ran.warned("the attributes of column price are dropped");
    let args = [
        "convert",
        "bcolz/table_mixed",
        "price",
        "--column",
        "price",
        "--layout",
        "carray-doc",
        "-k",
        "sha256",
    ];
    folder.run(args).succeeded();
    let info = object(&folder.run(["info", "--json", "price"]), 0);
    assert_eq!(
        (&info["kind"], &info["checksum"]),
        (&json!("carray"), &json!("sha256"))
    );
    assert_eq!(folder.run(["cat", "price"]).succeeded(), price);
}

#[test]
fn repacking_keeps_what_is_not_told() {
    let folder = copied();
    let from = "bcolz/codec_zlib_bitshuffle_cl5";
    folder.run(["convert", from, "same"]).succeeded();
    let (old, new) = (
        object(&folder.run(["info", "--json", from]), 0),
        object(&folder.run(["info", "--json", "same"]), 0),
    );
    for key in [
        "layout",
        "dtype",
        "shape",
        "chunkshape",
        "codecs",
        "filters",
        "attributes",
        "default",
    ] {
        assert_eq!(old[key], new[key], "{key}");
    }
    folder
        .run(["convert", from, "other", "-s", "-c", "lz4", "-l", "1"])
        .succeeded();
    let info = object(&folder.run(["info", "--json", "other"]), 0);
    assert_eq!(
        (&info["codecs"], &info["filters"]),
        (&json!(["lz4"]), &json!(["none"]))
    );
    folder
        .run(["convert", from, from])
        .failed(2, "is the input");
    folder
        .run(["convert", from, "x", "-z", "1M"])
        .failed(2, "chunklen");
    folder
        .run(["convert", "bcolz/table_trimmed", "x", "--format", "3"])
        .failed(2, "is a table");
    folder
        .run(["convert", "bcolz/codec_snappy_shuffle_cl1", "x"])
        .failed(2, "snappy");
    fs::remove_file(folder.path("bcolz/shape3d/data/__2.blp")).unwrap();
    folder
        .run(["convert", "bcolz/shape3d", "x"])
        .failed(3, "data/__2.blp");
    assert!(!folder.path("x").exists());
}

#[test]
fn files_go_from_one_header_layout_to_another() {
    let folder = Folder::new();
    folder.write(
        "meta.json",
        r#"{"unit": "mV", "n": 12345678901234567890123}"#,
    );
    folder.write("data", ramp(100_000));
    folder
        .run([
            "c",
            "-z",
            "16K",
            "-c",
            "zlib",
            "-t",
            "4",
            "-k",
            "sha256",
            "-m",
            "meta.json",
            "data",
        ])
        .succeeded();
    let mut from = "data.blp".to_owned();
    for format in ["2", "3"] {
        let to = format!("{format}.blp");
        folder
            .run(["convert", "--format", format, &from, &to])
            .succeeded();
        let info = object(&folder.run(["info", "--json", &to]), 0);
        for (key, value) in [
            ("format_version", json!(format.parse::<u8>().unwrap())),
            ("checksum", json!("sha256")),
            ("typesize", json!(4)),
            ("chunk_size", json!(16384)),
            ("codecs", json!(["zlib"])),
        ] {
            assert_eq!(info[key], value, "{to}: {key}");
        }
        folder
            .run(["d", "-f", "--metadata-out", "back.json", &to, "back"])
            .succeeded();
        assert_eq!(folder.read("back"), folder.read("data"));
        assert_eq!(folder.read("back.json"), folder.read("meta.json"));
        from = to;
    }
    folder
        .run(["convert", "--format", "1", "data.blp", "1.blp"])
        .failed(2, "has metadata");
    folder.run(["c", "data", "plain.blp"]).succeeded();
    folder
        .run([
            "convert",
            "--format",
            "1",
            "-c",
            "zstd",
            "-z",
            "10K",
            "plain.blp",
            "1.blp",
        ])
        .succeeded();
    let info = object(&folder.run(["info", "--json", "1.blp"]), 0);
    assert_eq!(
        (&info["format_version"], &info["codecs"]),
        (&json!(1), &json!(["zstd"]))
    );
    assert_eq!(folder.run(["cat", "1.blp"]).succeeded(), ramp(100_000));
    let piped = folder.run(["convert", "1.blp", "-"]).succeeded();
    folder.write("piped.blp", piped);
    assert_eq!(folder.run(["cat", "piped.blp"]).succeeded(), ramp(100_000));
    folder
        .run(["convert", "--format", "1", "-k", "md5", "plain.blp", "x"])
        .failed(2, "does not support checksums");
    folder
        .run(["convert", "plain.blp", "x", "--chunklen", "3"])
        .failed(2, "does not support chunklen");
    folder
        .run(["convert", "plain.blp", "x", "--layout", "bcolz"])
        .failed(2, "does not describe a NumPy array");
    folder.write("lines", "a\nb\n");
    folder
        .run(["records", "pack", "lines", "lines.blp"])
        .succeeded();
    folder
        .run(["convert", "lines.blp", "x"])
        .failed(5, "records");
    let cut = &folder.read("data.blp")[..3000];
    folder.write("cut.blp", cut);
    folder.run(["convert", "cut.blp", "x"]).status_is(4);
    assert!(!folder.path("x").exists());
}

#[test]
fn an_array_becomes_a_file_of_numpy_and_an_array_again() {
    let folder = copied();
    let from = "bcolz/shape3d";
    folder
        .run(["dataset", "attrs", from, "unit", r#"{"of": ["mV"]}"#])
        .succeeded();
    folder
        .run(["convert", "--format", "3", from, "a.blp"])
        .succeeded();
    let info = object(&folder.run(["info", "--json", "a.blp"]), 0);
    let expected = json!({
        "dtype": "'<i2'", "shape": [97, 3, 4], "order": "C", "container": "numpy",
        "attributes": {"unit": {"of": ["mV"]}},
    });
    assert_eq!(info["metadata"], expected);
    assert_eq!(info["typesize"], 2);
    let whole = folder.run(["cat", from]).succeeded();
    assert_eq!(folder.run(["cat", "a.blp"]).succeeded(), whole);
    folder
        .run(["convert", "a.blp", "b", "--layout", "carray-doc"])
        .succeeded();
    let info = object(&folder.run(["info", "--json", "b"]), 0);
    assert_eq!(
        (&info["dtype"], &info["shape"]),
        (&json!("int16"), &json!([97, 3, 4]))
    );
    assert_eq!(info["attributes"], json!({"unit": {"of": ["mV"]}}));
    assert_eq!(folder.run(["cat", "b"]).succeeded(), whole);
    folder
        .run(["export", "a.blp", "a.npy", "--rows", "..2"])
        .succeeded();
    assert!(folder.read("a.npy").ends_with(&whole[..48]));
    folder
        .run(["convert", "--format", "1", from, "x"])
        .failed(2, "cannot store the shape");
}

/// With the feature, Parquet can be written and read; without it, the error names the feature.
#[test]
fn parquet_takes_a_feature() {
    let folder = copied();
    let from = "bcolz/zipline_daily_equities.bcolz";
    let ran = folder.run(["export", from, "prices.parquet"]);
    if !cfg!(feature = "arrow") {
        ran.failed(5, "the feature arrow");
        folder.write("prices.arrow", "");
        folder
            .run(["import", "prices.arrow", "prices"])
            .failed(5, "the feature arrow");
        assert!(!folder.path("prices.parquet").exists() && !folder.path("prices").exists());
        return;
    }
    ran.succeeded();
    folder
        .run(["import", "prices.parquet", "prices"])
        .succeeded();
    for column in ["id", "close"] {
        let old = folder.run(["cat", "--column", column, from]).succeeded();
        let new = folder
            .run(["cat", "--column", column, "prices"])
            .succeeded();
        assert_eq!(new, old, "{column}");
    }
}
