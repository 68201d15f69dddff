//! Tests of the command with hostile directories and names.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use testkit::stopwatch::HANG;

use crate::hostile_dirs::{Expected, some};
use crate::support::{BLPK, Folder};

/// The exit status; a panic is 101, a signal -1. A command that hangs is killed.
fn status(words: &[&str], root: &Path) -> i32 {
    let mut command = Command::new(BLPK);
    command
        .args(words)
        .arg(root)
        .current_dir(root.parent().unwrap());
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let (mut child, begun) = (command.spawn().unwrap(), Instant::now());
    loop {
        if let Some(status) = child.try_wait().unwrap() {
            return status.code().unwrap_or(-1);
        }
        if begun.elapsed() > HANG {
            child.kill().unwrap();
            return -2;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}

#[test]
fn hostile_directories_are_looked_at_without_harm() {
    let mut wrong = Vec::new();
    for case in some(7) {
        let temp = tempfile::tempdir().unwrap();
        let built = case.build(temp.path());
        for words in [&["verify"][..], &["ls"], &["info"]] {
            // Files and pipes are not directories, and the command waits for a pipe given by name.
            if ["a file as the root", "a pipe as the root"].contains(&case.name.as_str()) {
                continue;
            }
            let found = status(words, &built.root);
            let is_right = match (&case.expected, words[0]) {
                (Expected::Reads(_), "verify" | "info") => found == 0,
                (Expected::Refused, "verify") => found != 0,
                _ => true,
            };
            if !is_right || ![0, 1, 3, 4, 5].contains(&found) {
                wrong.push(format!("{}: {words:?}: {found}", case.name));
            }
        }
        built.canary.check();
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Names that lead elsewhere, or nowhere.
fn names() -> Vec<String> {
    let names = [
        "",
        ".",
        "..",
        "../b",
        "../../outside",
        "/tmp",
        "a/../../b",
        "a/b",
        "a\\b",
        "a\n",
        "__attrs__",
        "meta",
        ".blpk",
        "__1__.bin",
        "CON",
        "a.",
        "-",
        "\u{202e}a",
        "._a",
    ];
    let long = ["x".repeat(256), "x".repeat(4096), "x/".repeat(2048)];
    names.map(str::to_owned).into_iter().chain(long).collect()
}

/// For any name, the column becomes part of the table, or the table is unchanged; and nothing is made beside it.
#[test]
fn names_of_columns_stay_within_the_table() {
    for layout in ["bcolz", "blz", "blz-doc", "carray-doc"] {
        for name in names() {
            let folder = Folder::new();
            folder.write("t.csv", "a,b\n1,2\n3,4\n");
            folder.write("c.csv", "c\n5\n6\n");
            folder
                .run(["import", "t.csv", "t", "--layout", layout])
                .succeeded();
            let before = folder.run(["export", "t", "-", "--to", "csv"]).succeeded();
            let ran = folder.run(["dataset", "add-column", "t", "c.csv", "--", &name]);
            let ran = match ran.status {
                2 => folder.run(["dataset", "add-column", "t", &format!("./{name}"), "c.csv"]),
                _ => ran,
            };
            let place = format!("{layout} {name:?}: {} {}", ran.status, ran.stderr);
            assert!((0..6).contains(&ran.status), "{place}");
            assert_eq!(folder.names(), ["c.csv", "t", "t.csv"], "{place}");
            folder.run(["verify", "t"]).status_is(0);
            let after = folder
                .run(["export", "t", "-", "--to", "csv", "--columns", "a,b"])
                .succeeded();
            assert_eq!(after, before, "{place}");
        }
    }
}

/// Names that are only looked up are found or not.
#[test]
fn names_that_are_asked_for_lead_nowhere_else() {
    let folder = Folder::new();
    folder.write("t.csv", "a,b\n1,2\n3,4\n");
    for layout in ["bcolz", "blz", "blz-doc", "carray-doc"] {
        folder
            .run(["-f", "import", "t.csv", layout, "--layout", layout])
            .succeeded();
        folder
            .run(["-f", "import", "t.csv", "b", "--layout", layout])
            .succeeded();
        for name in names() {
            let dashed = format!("--column={name}");
            for ran in [
                folder.run(["cat", &dashed, layout]),
                folder.run(["dataset", "delete-column", layout, "--", &name]),
                folder.run(["convert", layout, "new", &dashed]),
                folder.run(["export", layout, "new.csv", &format!("--columns={name}")]),
            ] {
                assert!(
                    [1, 2, 5].contains(&ran.status),
                    "{layout} {name:?}: {} {}",
                    ran.status,
                    ran.stderr
                );
            }
        }
        let all = folder
            .run(["export", layout, "-", "--to", "csv"])
            .succeeded();
        assert_eq!(all, b"a,b\n1,2\n3,4\n");
    }
    assert_eq!(
        folder.names(),
        ["b", "bcolz", "blz", "blz-doc", "carray-doc", "t.csv"]
    );
}

/// Keys of attributes are not paths: any key is kept unchanged.
#[test]
fn keys_of_attributes_are_no_paths() {
    for layout in ["bcolz", "blz", "blz-doc", "carray-doc"] {
        let folder = Folder::new();
        folder.write("t.csv", "a,b\n1,2\n3,4\n");
        folder
            .run(["import", "t.csv", "t", "--layout", layout])
            .succeeded();
        for key in names() {
            let ran = folder.run(["dataset", "attrs", "t", "--", &key, "17"]);
            // No key of YAML is as long as that.
            if layout == "carray-doc" && key.len() > 1000 {
                ran.failed(2, "'t' is unchanged");
                continue;
            }
            ran.succeeded();
            let found = folder
                .run(["dataset", "attrs", "t", "--", &key])
                .succeeded();
            assert_eq!(found, b"17\n", "{layout} {key:?}");
        }
        assert_eq!(folder.names(), ["t", "t.csv"]);
        folder.run(["verify", "t"]).succeeded();
    }
}
