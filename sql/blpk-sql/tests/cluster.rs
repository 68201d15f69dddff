//! `--cluster` has the same results, exit statuses and errors.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]
#![cfg(feature = "cluster")]

#[path = "../../cluster/tests/harness/mod.rs"]
mod harness;

mod prices;

use harness::{Cluster, Process};
use prices::{chunk, folder, run, text};
use std::fs;

#[test]
fn results_are_those_of_one_process() {
    let (folder, cluster) = (folder(), Cluster::start());
    let url = cluster.url();
    let query = "SELECT id, close FROM 'prices' WHERE id = 1 ORDER BY day LIMIT 2";
    let named = ["--table", "p=prices", "SELECT count(*) AS n FROM p"];
    let created =
        ["CREATE EXTERNAL TABLE c STORED AS BCOLZ LOCATION 'prices'; SELECT max(close) FROM c"];
    for arguments in [
        &[query][..],
        &["--format", "jsonl", query],
        &["--format", "table", query],
        &named,
        &created,
        &["--table", "p=prices", "SHOW TABLES"],
        &["SELECT 1 AS one"],
        &["SELECT id FROM 'prices' WHERE id < 0"],
    ] {
        let alone = run(folder.path(), arguments);
        let together = run(folder.path(), &[&["--cluster", &url], arguments].concat());
        assert!(
            together.status.success(),
            "{arguments:?}: {}",
            text(&together.stderr)
        );
        assert_eq!(text(&together.stdout), text(&alone.stdout), "{arguments:?}");
    }
    let copied = [
        "--cluster",
        &url,
        "-o",
        "copy",
        "--format",
        "ctable",
        "SELECT * FROM 'prices'",
    ];
    let copied = run(folder.path(), &copied);
    assert!(copied.status.success(), "{}", text(&copied.stderr));
    let rows = run(folder.path(), &["SELECT count(*) FROM 'copy'"]);
    assert!(text(&rows.stdout).ends_with("\n920\n"));
    let explained = [
        "--cluster",
        &url,
        "EXPLAIN ANALYZE SELECT max(close) FROM 'prices'",
    ];
    let explained = run(folder.path(), &explained);
    assert!(
        text(&explained.stdout).contains("rows_read="),
        "{}",
        text(&explained.stderr)
    );
}

#[test]
fn failures_have_the_statuses_of_one_process() {
    let (folder, cluster) = (folder(), Cluster::start());
    let url = cluster.url();
    let failed = |arguments: &[&str], status: i32, message: &str| {
        let ran = run(folder.path(), arguments);
        let said = text(&ran.stderr);
        assert_eq!(ran.status.code(), Some(status), "{arguments:?}: {said}");
        assert!(said.contains(message), "{arguments:?}: {said}");
    };
    failed(&["--cluster", &url, "SELEKT 1"], 2, "");
    failed(
        &["--cluster", &url, "SELECT * FROM 'nowhere'"],
        2,
        "no file or directory",
    );
    failed(&["--cluster", &url, "SELECT none FROM 'prices'"], 2, "none");
    failed(
        &["--cluster", &url, "--memory", "1G", "SELECT 1"],
        2,
        "--memory",
    );
    failed(
        &["--cluster", "here", "SELECT 1"],
        2,
        "df://127.0.0.1:50050",
    );
    let close = chunk(folder.path(), "close");
    let mut bytes = fs::read(&close).unwrap();
    let end = bytes.len() - 30;
    bytes[end..].fill(0xff);
    fs::write(&close, bytes).unwrap();
    failed(
        &["--cluster", &url, "SELECT sum(close) FROM 'prices'"],
        3,
        "blpk verify",
    );
    let alone = Process::start(&["scheduler", "--port", "0"]);
    let address = alone.address.clone();
    let url = format!("df://{address}");
    let starts = format!("blpk-cluster executor --scheduler {address}");
    failed(&["--cluster", &url, "SELECT 1"], 1, &starts);
    drop(alone);
    failed(
        &["--cluster", &url, "SELECT 1"],
        1,
        "blpk-cluster scheduler starts one",
    );
}
