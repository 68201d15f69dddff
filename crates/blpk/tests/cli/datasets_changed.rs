//! Tests of `blpk dataset ...`: arrays and tables changed in place.

use std::fs;

use serde_json::json;

use crate::datasets::{copied, object};
use crate::support::Folder;

/// Three rows of a table.
fn table(layout: &str) -> Folder {
    let folder = Folder::new();
    folder.write("a.csv", "a,b\n1,1.5\n2,2.5\n3,3.5\n");
    folder
        .run([
            "import",
            "a.csv",
            "t",
            "--layout",
            layout,
            "--chunklen",
            "2",
        ])
        .succeeded();
    folder
}

fn csv(folder: &Folder, path: &str) -> String {
    folder
        .run(["export", path, "-", "--to", "csv"])
        .text()
        .to_owned()
}

const LAYOUTS: [&str; 4] = ["bcolz", "blz", "blz-doc", "carray-doc"];

#[test]
fn rows_come_and_go() {
    for layout in LAYOUTS {
        let folder = table(layout);
        // In another order: columns are found by their names.
        folder.write("more.csv", "b,a\n4.5,4\n5.5,5\n");
        folder
            .run(["dataset", "append", "t", "more.csv"])
            .succeeded();
        assert_eq!(
            csv(&folder, "t"),
            "a,b\n1,1.5\n2,2.5\n3,3.5\n4,4.5\n5,5.5\n",
            "{layout}"
        );
        folder.run(["dataset", "trim", "t", "2"]).succeeded();
        assert_eq!(csv(&folder, "t"), "a,b\n1,1.5\n2,2.5\n", "{layout}");
        folder.run(["dataset", "resize", "t", "3"]).succeeded();
        assert_eq!(csv(&folder, "t"), "a,b\n1,1.5\n2,2.5\n0,0.0\n", "{layout}");
        folder.run(["dataset", "resize", "t", "1"]).succeeded();
        assert_eq!(csv(&folder, "t"), "a,b\n1,1.5\n", "{layout}");
        folder.run(["verify", "t"]).succeeded();
        assert!(!folder.path("t/.blpk").exists());
    }
}

#[test]
fn what_does_not_fit_changes_nothing() {
    let folder = table("bcolz");
    let before = csv(&folder, "t");
    folder.write("other.csv", "a,c\n1,2\n");
    folder.write("text.csv", "a,b\n1,x\n");
    folder.write("file", "text");
    for (args, status, words) in [
        (&["append", "t", "other.csv"][..], 2, "\"b\""),
        (&["append", "t", "none.csv"], 1, "none.csv"),
        (&["append", "t", "file"], 2, "--from"),
        (&["trim", "t", "4"], 2, "has only 3 rows"),
        (&["trim", "t/a", "1"], 2, "as many rows as its table"),
        (&["trim", "t", "-1"], 2, "whole number"),
        (&["resize", "file", "1"], 2, "is not a directory"),
        (&["resize", "nowhere", "1"], 1, "nowhere"),
        (&["set", "t", "file"], 2, "--slice or --rows"),
        (&["set", "t", "--rows", "0..1", "file"], 2, "columns: a, b"),
        (
            &["set", "t", "--column", "a", "--rows", "0..1", "file"],
            2,
            "fewer bytes than the 8",
        ),
        (
            &["set", "t", "--column", "a", "--rows", "0..9", "file"],
            2,
            "has 3 rows",
        ),
        (&["attrs", "t", "key", "text"], 2, "double quotes"),
        (&["attrs", "t", "key"], 2, "no attribute 'key'"),
        (&["attrs", "t", "--remove", "key"], 2, "no attribute 'key'"),
        (&["delete-column", "t", "c"], 2, "a, b"),
        (&["delete-column", "t/a", "c"], 2, "no columns"),
        (&["add-column", "t", "a", "a.csv"], 2, "2 columns"),
    ] {
        let ran = folder.run([&["dataset"], args].concat());
        assert_eq!(ran.status, status, "{args:?}: {}", ran.stderr);
        assert!(ran.stderr.contains(words), "{args:?}: {}", ran.stderr);
    }
    let ran = folder
        .run(["dataset", "append", "t", "text.csv"])
        .failed(3, "'text.csv': CSV: line 2");
    assert!(ran.stderr.contains("'t' is unchanged"), "{}", ran.stderr);
    assert_eq!(csv(&folder, "t"), before);
    assert!(!folder.path("t/.blpk").exists());
}

#[test]
fn elements_are_overwritten() {
    let folder = copied();
    let path = "bcolz/shape3d";
    let mut whole = folder.run(["cat", path]).succeeded();
    let new: Vec<u8> = (0..7 * 3 * 2).collect();
    let args = ["dataset", "set", path, "--slice", "20:27,:,-1"];
    folder.run_with(args, &new).succeeded();
    for (number, two) in new.chunks(2).enumerate() {
        let at = ((20 + number / 3) * 12 + number % 3 * 4 + 3) * 2;
        whole[at..at + 2].copy_from_slice(two);
    }
    assert_eq!(folder.run(["cat", path]).succeeded(), whole);
    let args = ["dataset", "set", path, "--rows", "96.."];
    folder
        .run_with(args, [7; 25])
        .failed(2, "more bytes than the 24");
    assert_eq!(folder.run(["cat", path]).succeeded(), whole);
    // `set` accepts the output of `cat`.
    folder.write("rows", &whole[..48]);
    folder
        .run(["dataset", "set", path, "--rows", "50..52", "rows"])
        .succeeded();
    whole.copy_within(..48, 50 * 24);
    assert_eq!(folder.run(["cat", path]).succeeded(), whole);
    folder
        .run(["export", path, "part.npy", "--rows", "3..4"])
        .succeeded();
    folder
        .run(["dataset", "set", path, "--rows", "0..1", "part.npy"])
        .succeeded();
    whole.copy_within(3 * 24..4 * 24, 0);
    assert_eq!(folder.run(["cat", path]).succeeded(), whole);
    folder
        .run(["export", "bcolz/be_int32", "be.npy", "--rows", "0..6"])
        .succeeded();
    folder
        .run(["dataset", "set", path, "--rows", "0..1", "be.npy"])
        .failed(2, "elements of type >i4");
}

#[test]
fn attributes_are_printed_and_set() {
    for layout in LAYOUTS {
        let folder = table(layout);
        let attrs = |args: &[&str]| folder.run([&["dataset", "attrs", "t"], args].concat());
        assert_eq!(attrs(&[]).succeeded(), b"{}\n");
        attrs(&["unit", r#""EUR""#]).succeeded();
        attrs(&["list", "[1, 2.5]"]).succeeded();
        assert_eq!(attrs(&["unit"]).succeeded(), b"\"EUR\"\n");
        let all: serde_json::Value = serde_json::from_slice(&attrs(&[]).succeeded()).unwrap();
        assert_eq!(all, json!({"unit": "EUR", "list": [1, 2.5]}), "{layout}");
        attrs(&["--remove", "unit"]).succeeded();
        let info = object(&folder.run(["info", "--json", "t"]), 0);
        assert_eq!(info["attributes"], json!({"list": [1, 2.5]}), "{layout}");
        attrs(&["unit"]).failed(2, "attributes: list");
    }
    let folder = table("bcolz");
    let of_column = ["dataset", "attrs", "t", "--column", "b"];
    folder
        .run([&of_column[..], &["unit", "1"]].concat())
        .succeeded();
    assert_eq!(
        folder.run([&of_column[..], &["unit"]].concat()).succeeded(),
        b"1\n"
    );
    let file = fs::read_to_string(folder.path("t/b/__attrs__")).unwrap();
    assert_eq!(
        serde_json::from_str::<serde_json::Value>(&file).unwrap(),
        json!({"unit": 1})
    );
    folder
        .run([&of_column[..], &["--remove", "unit"]].concat())
        .succeeded();
    assert_eq!(folder.run(of_column).succeeded(), b"{}\n");
    let folder = table("blz-doc");
    folder
        .run([&of_column[..], &["unit", "1"]].concat())
        .failed(2, "those of the table");
}

#[test]
fn columns_come_and_go() {
    for layout in LAYOUTS {
        let folder = table(layout);
        folder.write("c.csv", "any\n7\n8\n9\n");
        folder
            .run(["dataset", "add-column", "t", "c", "c.csv", "--at", "1"])
            .succeeded();
        assert_eq!(
            csv(&folder, "t"),
            "a,c,b\n1,7,1.5\n2,8,2.5\n3,9,3.5\n",
            "{layout}"
        );
        folder
            .run(["dataset", "delete-column", "t", "a"])
            .succeeded();
        assert_eq!(csv(&folder, "t"), "c,b\n7,1.5\n8,2.5\n9,3.5\n", "{layout}");
        folder.run(["verify", "t"]).succeeded();
        folder.write("short.csv", "any\n7\n");
        let ran = folder.run(["dataset", "add-column", "t", "d", "short.csv"]);
        ran.failed(2, "3").failed(2, "is unchanged");
        assert_eq!(csv(&folder, "t"), "c,b\n7,1.5\n8,2.5\n9,3.5\n", "{layout}");
    }
}

#[test]
fn a_dataset_that_never_was_flushed_is_repaired() {
    let folder = copied();
    let path = "bcolz/crash_never_flushed";
    let before = fs::read(folder.path("bcolz/crash_never_flushed/meta/sizes")).unwrap();
    let plan = object(
        &folder.run(["dataset", "repair", "--dry-run", "--json", path]),
        0,
    );
    assert!(!plan["findings"].as_array().unwrap().is_empty(), "{plan}");
    assert_eq!(plan["findings"][0]["state"], "planned");
    let after = fs::read(folder.path("bcolz/crash_never_flushed/meta/sizes")).unwrap();
    assert_eq!(before, after);
    let text = folder.run(["dataset", "repair", path]).succeeded();
    assert!(String::from_utf8(text).unwrap().contains("done: "));
    let info = object(&folder.run(["info", "--json", path]), 0);
    assert!(info["rows"].as_u64().unwrap() > 0);
    folder.run(["verify", path]).succeeded();
    let text = folder.run(["dataset", "repair", path]).succeeded();
    assert!(
        String::from_utf8(text)
            .unwrap()
            .contains("nothing to repair")
    );
}

#[test]
fn repair_cuts_only_where_it_is_told_to() {
    let folder = copied();
    let path = "bcolz/shape3d";
    fs::remove_file(folder.path("bcolz/shape3d/data/__3.blp")).unwrap();
    let ran = folder.run(["dataset", "repair", path]).status_is(3);
    assert!(
        ran.text_lossy().contains("not repaired: "),
        "{}",
        ran.text_lossy()
    );
    folder.run(["verify", path]).status_is(3);
    folder
        .run(["dataset", "repair", "--truncate", path])
        .succeeded();
    let info = object(&folder.run(["info", "--json", path]), 0);
    assert_eq!(info["shape"], json!([75, 3, 4]));
    folder.run(["verify", path]).succeeded();
}

#[cfg(unix)]
mod interrupted {
    use std::io::Write;
    use std::process::{Child, Command, Stdio};

    use super::{csv, table};
    use crate::support::{BLPK, Folder, shell_status, wait_for, with_default_signals};

    fn begin(folder: &Folder, args: &[&str]) -> Child {
        let mut command = with_default_signals(BLPK);
        command.args(args).current_dir(folder.path(""));
        command.stdin(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        child
            .stdin
            .as_mut()
            .unwrap()
            .write_all(b"a,b\n1,2\n")
            .unwrap();
        child
    }

    fn end(mut child: Child) -> i32 {
        let pid = child.id().to_string();
        let sent = Command::new("kill").args(["-INT", &pid]).status();
        assert!(sent.unwrap().success());
        shell_status(wait_for(|| child.try_wait().unwrap()))
    }

    #[test]
    fn an_import_leaves_nothing() {
        let folder = Folder::new();
        // The import begins once all of standard input is there.
        folder.write("big.csv", format!("a,b\n{}", "1,2\n".repeat(3_000_000)));
        let child = begin(&folder, &["import", "big.csv", "out"]);
        wait_for(|| {
            folder
                .names()
                .into_iter()
                .find(|name| name.ends_with(".tmp"))
        });
        assert_eq!(end(child), 130);
        assert_eq!(folder.names(), ["big.csv"]);
    }

    #[test]
    fn a_change_leaves_the_old_dataset() {
        let folder = table("bcolz");
        let before = csv(&folder, "t");
        let child = begin(&folder, &["dataset", "append", "t", "-", "--from", "csv"]);
        wait_for(|| folder.path("t/.blpk").exists().then_some(()));
        assert_eq!(end(child), 130);
        assert_eq!(csv(&folder, "t"), before);
        assert!(!folder.path("t/.blpk").exists());
    }
}

#[test]
fn an_index_is_written_checked_kept_and_removed() {
    let folder = table("bcolz");
    folder.write("more.csv", "a,b\n4,nan\n5,5.5\n");
    let check = ["dataset", "index", "t", "--check"];
    let ran = folder.run(check).status_is(3);
    assert_eq!(ran.text(), "t: a: no index\nt: b: no index\n");
    folder.run(["dataset", "index", "t"]).succeeded();
    let current = "t: a: up to date, 2 superchunks\nt: b: up to date, 2 superchunks\n";
    assert_eq!(folder.run(check).text(), current);
    // Our own changes keep it.
    folder
        .run(["dataset", "append", "t", "more.csv"])
        .succeeded();
    let current = current.replace('2', "3");
    assert_eq!(folder.run(check).text(), current);
    // Changes by other programs do not.
    let superchunk = folder.path("t/b/data/__1.blp");
    let mut bytes = fs::read(&superchunk).unwrap();
    bytes.push(0);
    fs::write(&superchunk, bytes).unwrap();
    let ran = folder.run(check).status_is(3);
    assert!(
        ran.text()
            .ends_with("t: b: out of date, holds for 2 of 3 superchunks\n")
    );
    let found = folder.run([
        "dataset", "index", "t", "--check", "--json", "--column", "b",
    ]);
    let found = object(&found, 3);
    assert_eq!(
        found["indexes"][0],
        json!({ "column": "b", "present": true, "current": false, "superchunks": 3, "holding": 2,
            "stale": 1, "problem": null })
    );
    let found = object(&folder.run(["dataset", "index", "t", "--json"]), 0);
    let of = |name: &str, computed: u64, kept: u64| json!({ "column": name, "computed": computed, "kept": kept, "skipped": 0 });
    assert_eq!(found["indexes"], json!([of("a", 0, 3), of("b", 1, 2)]));
    let info = String::from_utf8(folder.run(["info", "t"]).succeeded()).unwrap();
    assert_eq!(info.matches("index of 3 superchunks").count(), 2);
    fs::write(folder.path("t/a/meta/index"), "text").unwrap();
    let ran = folder.run(check).status_is(3);
    assert!(
        ran.text().starts_with("t: a: the index is not used: "),
        "{}",
        ran.text()
    );
    folder
        .run(["dataset", "index", "t", "--drop", "--column", "b"])
        .succeeded();
    assert!(!folder.path("t/b/meta/index").exists());
    assert!(folder.path("t/a/meta/index").exists());
    folder.run(["verify", "t"]).warned("b/data/__1.blp");
}

#[test]
fn what_cannot_be_indexed_is_refused() {
    let folder = table("blz-doc");
    folder.write("a.csv", "a,b\n1,1.5\n");
    for (args, status, words) in [
        (
            &["dataset", "index", "t"][..],
            5,
            "the layout blz-doc has no place for one",
        ),
        (
            &["dataset", "index", "t", "--check", "--column", "a"],
            5,
            "the layout blz-doc",
        ),
        (&["dataset", "index", "nowhere"], 1, "nowhere"),
        (
            &["dataset", "index", "t", "--column", "c"],
            2,
            "found: a, b",
        ),
        (
            &["dataset", "index", "t", "--check", "--drop"],
            2,
            "cannot be used with",
        ),
        (
            &["import", "--index", "--layout", "blz-doc", "a.csv", "u"],
            5,
            "no place for one",
        ),
        (&["import", "--index", "a.csv", "u.b2nd"], 2, "an index"),
    ] {
        let ran = folder.run(args).status_is(status);
        assert!(ran.stderr.contains(words), "{args:?}: {}", ran.stderr);
    }
    folder.run(["import", "--index", "a.csv", "u"]).succeeded();
    let ran = folder.run(["dataset", "index", "u/a", "--check"]);
    assert_eq!(ran.text(), "u/a: up to date, 1 superchunk\n");
}
