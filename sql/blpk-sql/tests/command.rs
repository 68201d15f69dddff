//! The command as users type it: formats of results, exit statuses, and errors.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

mod prices;

use prices::{chunk, folder, run, text};
use std::fs;
use std::process::Command;
use std::time::Duration;

#[test]
fn results_have_the_form_that_was_asked_for() {
    let folder = folder();
    let query = "SELECT id, close FROM 'prices' WHERE id = 1 ORDER BY day LIMIT 2";
    let of = |arguments: &[&str]| {
        let ran = run(folder.path(), arguments);
        assert!(ran.status.success(), "{}", text(&ran.stderr));
        text(&ran.stdout).to_owned()
    };
    assert_eq!(of(&[query]), "id,close\n1,60867\n1,59267\n");
    assert_eq!(
        of(&["--format", "jsonl", query]),
        "{\"id\":1,\"close\":60867}\n{\"id\":1,\"close\":59267}\n"
    );
    assert!(of(&["--format", "table", query]).ends_with("2 rows\n"));
    assert_eq!(
        of(&["--table", "p=prices", "SELECT count(*) AS n FROM p"]),
        "n\n920\n"
    );
    for name in ["out.parquet", "out.arrow", "out.csv", "out.jsonl"] {
        assert_eq!(of(&["-o", name, query]), "");
        assert!(
            folder.path().join(name).metadata().unwrap().len() > 20,
            "{name}"
        );
    }
    of(&["-o", "out.tsv", query]);
    let lines = fs::read_to_string(folder.path().join("out.tsv")).unwrap();
    assert_eq!(lines, "id\tclose\n1\t60867\n1\t59267\n");
    assert_eq!(
        of(&["-o", "copy", "--format", "ctable", "SELECT * FROM 'prices'"]),
        ""
    );
    let different = "SELECT count(*) AS n FROM 'prices' a JOIN 'copy' b ON a.id = b.id AND a.day = b.day WHERE a.close <> b.close";
    assert_eq!(of(&[different]), "n\n0\n");
    assert_eq!(of(&["SELECT 1 AS a; SELECT NULL AS b"]), "a\n1\nb\n\"\"\n");
}

#[cfg(target_os = "linux")]
#[test]
fn an_output_that_is_full_is_status_1() {
    let folder = folder();
    for arguments in [
        &["--help"][..],
        &["--version"],
        &["SELECT 1"],
        &["--format", "table", "SELECT 1"],
        &["--format", "tsv", "SELECT 1"],
        &["--format", "jsonl", "SELECT 1"],
        &["--format", "arrow", "SELECT 1"],
        &["--format", "parquet", "SELECT 1"],
    ] {
        let full = fs::OpenOptions::new().write(true).open("/dev/full");
        let mut command = Command::new(env!("CARGO_BIN_EXE_blpk-sql"));
        command.args(arguments).current_dir(folder.path());
        let ran = command.stdout(full.unwrap()).output().unwrap();
        let message = text(&ran.stderr);
        assert_eq!(ran.status.code(), Some(1), "{arguments:?}: {message}");
        assert!(
            message.contains("No space left"),
            "{arguments:?}: {message}"
        );
    }
}

#[test]
fn mistakes_have_statuses_and_reasons() {
    let folder = folder();
    let failed = |arguments: &[&str], status: i32, reason: &str| {
        let ran = run(folder.path(), arguments);
        let message = text(&ran.stderr);
        assert_eq!(ran.status.code(), Some(status), "{arguments:?}: {message}");
        assert!(message.contains(reason), "{arguments:?}: {message}");
    };
    failed(
        &["SELECT clsoe FROM 'prices'"],
        2,
        "Did you mean 'prices.close'?",
    );
    failed(&["SELEC 1"], 2, "Column: 1");
    failed(&["SELECT * FROM 'nowhere'"], 2, "no file or directory");
    failed(
        &["--table", "p=nowhere", "SELECT 1"],
        1,
        "nowhere: No such file",
    );
    failed(&["--table", "p", "SELECT 1"], 2, "NAME=PATH");
    failed(&["--memory", "much", "SELECT 1"], 2, "0.5K or 1M");
    failed(&[""], 2, "no statement");
    failed(&["--format", "ctable", "SELECT 1"], 2, "-o DIRECTORY");
    for (name, what) in [
        ("q.npy", "of the format .npy, which blpk sql does not write"),
        ("q.zarr", "a Zarr array or group, which"),
        ("q.b2z", "a store of python-blosc2, which"),
        ("q.csv.gz", "a gzip file, which"),
        ("q.h5", "an HDF5 file, which"),
    ] {
        failed(&["-o", name, "SELECT 1 AS a"], 2, what);
        failed(&["-o", name, "--format", "csv", "SELECT 1 AS a"], 2, what);
        assert!(!folder.path().join(name).exists(), "{name}");
    }
    let contradicted = ["-o", "q.csv", "--format", "parquet", "SELECT 1 AS a"];
    failed(&contradicted, 2, "omit --format");
    failed(
        &["SELECT * FROM 's3://bucket/prices'"],
        1,
        "AWS_ACCESS_KEY_ID",
    );
    fs::write(folder.path().join("out.csv"), "mine").unwrap();
    failed(&["-o", "out.csv", "SELECT 1"], 2, "-f replaces it");
    assert_eq!(fs::read(folder.path().join("out.csv")).unwrap(), b"mine");
    fs::write(folder.path().join("text"), "only text").unwrap();
    failed(&["SELECT * FROM './text'"], 5, "./text: header (byte 0)");
    // An error keeps the old file, and leaves no other file.
    failed(&["-f", "-o", "out.csv", "SELECT nothing"], 2, "nothing");
    assert_eq!(fs::read(folder.path().join("out.csv")).unwrap(), b"mine");
}

#[test]
fn damage_in_a_scan_has_a_place_and_a_status() {
    let folder = folder();
    let damaged = chunk(folder.path(), "close");
    let mut bytes = fs::read(&damaged).unwrap();
    let end = bytes.len() - 30;
    bytes[end..].fill(0xff);
    fs::write(&damaged, bytes).unwrap();
    let ran = run(folder.path(), &["-o", "out.csv", "SELECT * FROM 'prices'"]);
    assert_eq!(ran.status.code(), Some(3));
    let message = text(&ran.stderr);
    assert!(
        message.contains("'prices': close/data/__0.blp: chunk 0 (byte "),
        "{message}"
    );
    assert!(!folder.path().join("out.csv").exists());
    assert_eq!(
        fs::read_dir(folder.path()).unwrap().count(),
        1,
        "nothing is left over"
    );

    fs::remove_file(&damaged).unwrap();
    let ran = run(folder.path(), &["SELECT sum(close) FROM 'prices'"]);
    assert_ne!(ran.status.code(), Some(0));
    assert!(
        text(&ran.stderr).contains("close/data/__0.blp"),
        "{}",
        text(&ran.stderr)
    );
    assert!(
        run(folder.path(), &["SELECT sum(open) FROM 'prices'"])
            .status
            .success()
    );
}

#[cfg(unix)]
#[test]
fn ctrl_c_ends_a_query() {
    use std::os::unix::process::ExitStatusExt as _;
    let folder = folder();
    let query = "SELECT count(*) FROM 'prices' a, 'prices' b, 'prices' c, 'prices' d WHERE a.close + b.close < c.open + d.open";
    // SIGINT is ignored if a script runs the tests in the background, and the command inherits that.
    let mut child = Command::new("env")
        .args(["--default-signal=INT", env!("CARGO_BIN_EXE_blpk-sql")])
        .current_dir(folder.path())
        .args(["-o", "out.csv", query])
        .spawn()
        .unwrap();
    std::thread::sleep(Duration::from_secs(2));
    assert!(
        child.try_wait().unwrap().is_none(),
        "the query takes longer"
    );
    let id = child.id().to_string();
    assert!(
        Command::new("kill")
            .args(["-INT", &id])
            .status()
            .unwrap()
            .success()
    );
    let ended = (0..12_000).find_map(|_| {
        std::thread::sleep(Duration::from_millis(10));
        child.try_wait().unwrap()
    });
    assert_eq!(
        ended.expect("it goes on after two minutes").signal(),
        Some(2)
    );
    assert_eq!(
        fs::read_dir(folder.path()).unwrap().count(),
        1,
        "nothing is left over"
    );
}

#[test]
fn a_table_appears_whole_or_not_at_all() {
    let folder = folder();
    let of = |query: &str| {
        let ran = run(folder.path(), &["-o", "out", "--format", "ctable", query]);
        let names = fs::read_dir(folder.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name());
        let mut names: Vec<_> = names.collect();
        names.sort();
        (ran.status.success(), names)
    };
    // The second row does not fit the table; this is found after the first row was read.
    let failing = of("SELECT * FROM (VALUES (1), (NULL)) AS t(a)");
    assert_eq!(failing, (false, vec!["prices".into()]));
    assert_eq!(
        of("SELECT 1 AS a"),
        (true, vec!["out".into(), "prices".into()])
    );
}
