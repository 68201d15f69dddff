//! Tests of frames and tables whose elements are not, or not all, in them: read right, or refused with the reason.

use std::path::PathBuf;

use serde_json::json;

use crate::datasets::object;
use crate::support::Folder;

/// Files that python-blosc2 has written.
fn file(name: &str) -> PathBuf {
    testkit::testdata("virtual").join(name)
}

fn text(name: &str) -> String {
    file(name).into_os_string().into_string().unwrap()
}

/// What each of these frames says that it is.
const ALL: [(&str, &str); 8] = [
    (
        "expression.b2nd",
        r#"the lazy expression "(o1 + (o0 * 2))" of o0 = "b.b2nd", o1 = "a.b2nd""#,
    ),
    (
        "expression_sparse",
        r#"the lazy expression "(o1 + (o0 * 2))""#,
    ),
    (
        "expression_old.b2nd",
        r#"the lazy expression "(o1 + (o0 * 2))""#,
    ),
    (
        "kernel.b2nd",
        r#"the user function "kernel" of o0 = "a.b2nd""#,
    ),
    (
        "function.b2nd",
        r#"the user function "function" of o0 = "a.b2nd""#,
    ),
    (
        "server.b2nd",
        r#"the remote array of "https://example.org/api/@public/x.b2nd""#,
    ),
    (
        "proxy_none.b2nd",
        r#"chunk 0 was not fetched: the frame is the proxy of "a.b2nd""#,
    ),
    ("tree.b2e/lazy", r#"the lazy expression "(o1 + (o0 * 2))""#),
];

#[test]
fn what_is_not_there_is_refused_by_every_command() {
    let folder = Folder::new();
    let more = [("tree.b2z/lazy", r#"the lazy expression "(o1 + (o0 * 2))""#)];
    for (name, words) in ALL.into_iter().chain(more) {
        let path = text(name);
        folder.run(["cat", &path]).failed(5, words);
        for out in ["o.npy", "o.csv", "o.jsonl", "o.bin"] {
            folder.run(["export", &path, out]).failed(5, words);
        }
        for out in ["o.zarr", "o.b2z", "o.b2nd", "o.bcolz"] {
            let layout = if out == "o.bcolz" {
                &["--layout", "bcolz"][..]
            } else {
                &[]
            };
            let run = [&["convert", &path, out][..], layout].concat();
            folder.run(run).failed(5, words);
        }
        let ran = folder.run(["verify", &path]);
        assert!(
            ran.stderr
                .contains("are not in the frame, and were not checked"),
            "{name}: {ran:?}"
        );
        assert!(
            ran.status == 0 && ran.text_lossy().contains("ok, 0 chunks, 0 bytes"),
            "{name}: {ran:?}"
        );
        assert_eq!(folder.names(), [""; 0], "{name}");
    }
}

#[test]
fn info_shows_the_definition() {
    let folder = Folder::new();
    let info = object(&folder.run(["info", "--json", &text("expression.b2nd")]), 0);
    let expected = json!({
        "kind": "lazy expression", "name": null, "definition": "(o1 + (o0 * 2))",
        "operands": {"o0": "b.b2nd", "o1": "a.b2nd"}, "present_chunks": 0,
    });
    assert_eq!(info["virtual"], expected);
    let info = object(&folder.run(["info", "--json", &text("a.b2nd")]), 0);
    assert!(info["virtual"].is_null());
    for (name, lines) in [
        (
            "kernel.b2nd",
            &[
                "virtual:             user function kernel",
                "def kernel(x, y):",
                "o0 = a.b2nd",
            ][..],
        ),
        (
            "proxy_chunk.b2nd",
            &[
                "virtual:             proxy",
                "source = a.b2nd",
                "present:             1 of 4 chunks",
            ],
        ),
        ("tree.b2z", &["lazy  frame  lazy expression  float64"]),
        (
            "remote.b2z",
            &[r#"nothing of it was fetched from "memory://bucket/source.b2z/b""#],
        ),
    ] {
        let info = String::from_utf8(folder.run(["info", &text(name)]).succeeded()).unwrap();
        for line in lines {
            assert!(info.contains(line), "{name}: {line}: {info}");
        }
    }
    let all = folder.run(["ls", &text("")]).text_lossy();
    assert!(
        all.contains("proxy_all.b2nd  frame  proxy  float64  (10, 14)"),
        "{all}"
    );
}

#[test]
fn what_was_fetched_is_read() {
    let folder = Folder::new();
    let csv = |name: &str, slice: &str| {
        folder.run(["export", &text(name), "-", "--to", "csv", "--slice", slice])
    };
    let rows = |ran: crate::support::Ran| {
        String::from_utf8(ran.succeeded())
            .unwrap()
            .lines()
            .skip(1)
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    assert_eq!(
        rows(csv("proxy_chunk.b2nd", "2:4,12:14")),
        ["41.0,42.0", "55.0,56.0"]
    );
    assert_eq!(
        rows(csv("proxy_blocks.b2nd", "0:2,3:5")),
        ["4.0,5.0", "18.0,19.0"]
    );
    let words = r#"was not fetched: the frame is the proxy of "memory://bucket/a.b2nd""#;
    csv("proxy_blocks.b2nd", "0:2,3:7").failed(5, words);
    csv("proxy_chunk.b2nd", "2:4,7:9").failed(5, "chunk 0 was not fetched");
    // An interrupted program may have left a wrong bitmap.
    csv("proxy_dirty.b2nd", "0:1,0:1").failed(5, "chunk 0 was not fetched");
    let original = folder.run(["cat", &text("a.b2nd")]).succeeded();
    for name in ["proxy_all.b2nd", "remote_all.b2nd"] {
        assert_eq!(folder.run(["cat", &text(name)]).succeeded(), original);
        folder.run(["convert", &text(name), "own.b2nd"]).succeeded();
        assert_eq!(folder.run(["cat", "own.b2nd"]).succeeded(), original);
        let info = object(&folder.run(["info", "--json", "own.b2nd"]), 0);
        assert!(info["virtual"].is_null());
        std::fs::remove_file(folder.path("own.b2nd")).unwrap();
    }
}

#[test]
fn computed_columns_are_named() {
    let folder = Folder::new();
    let table = text("table.b2z");
    let info = object(&folder.run(["info", "--json", &table]), 0);
    let computed = json!([{"name": "total", "definition": "(price * count)"}]);
    assert_eq!(info["computed_columns"], computed);
    let info = String::from_utf8(folder.run(["info", &table]).succeeded()).unwrap();
    assert!(info.contains("total = (price * count)"), "{info}");
    let words = "column total is left out: it is computed as (price * count), and its values are not stored";
    for out in ["o.csv", "o.npy"] {
        folder.run(["export", &table, out]).warned(words);
    }
    assert_eq!(folder.read("o.csv"), b"price,count\n1.5,2\n2.5,4\n3.0,10\n");
    folder.run(["convert", &table, "o.b2z"]).warned(words);
    folder.run(["convert", &table, "o"]).warned(words);
    let ran = folder.run(["export", &table, "-", "--to", "csv", "--columns", "price"]);
    assert!(!ran.stderr.contains("warning"), "{}", ran.stderr);
    folder
        .run(["export", &table, "-", "--to", "csv", "--columns", "total"])
        .failed(5, r#"column total: computed as "(price * count)""#);
}

#[test]
fn a_stale_column_is_named() {
    let folder = Folder::new();
    let table = text("stale.b2z");
    let info = object(&folder.run(["info", "--json", &table]), 0);
    let stale = info["columns"].as_array().unwrap().iter();
    let stale: Vec<_> = stale.map(|column| column["stale"] == json!(true)).collect();
    assert_eq!(stale, [false, false, true]);
    let words = "column total is stale: the columns that it was computed from have changed since";
    let csv = folder
        .run(["export", &table, "-", "--to", "csv"])
        .warned(words);
    // What python-blosc2's read_stale() returns.
    let expected = "price,count,total\n100.0,2,3.0\n2.5,4,10.0\n3.0,10,30.0\n";
    assert_eq!(String::from_utf8(csv).unwrap(), expected);
    folder
        .run([
            "export",
            &table,
            "-",
            "--to",
            "csv",
            "--columns",
            "price,count",
        ])
        .succeeded();
}
