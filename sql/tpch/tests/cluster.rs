//! The 22 queries of TPC-H on a cluster.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

#[path = "../../cluster/tests/harness/mod.rs"]
mod harness;

use harness::Cluster;
use std::process::Command;
use tempfile::TempDir;

fn run(arguments: &[&str]) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_bloscpack-tpch"));
    let ran = command.args(arguments).output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let out = text(&ran.stdout);
    assert!(ran.status.success(), "{out}{}", text(&ran.stderr));
    out
}

#[test]
fn all_answers_are_those_of_one_process_over_parquet() {
    let folder = TempDir::new().unwrap();
    let dir = folder.path().to_str().unwrap();
    run(&["make", "--scale", "0.01", dir]);
    let cluster = Cluster::start();
    let shown = run(&["check", "--cluster", &cluster.url(), dir]);
    assert_eq!(shown.matches("equal").count(), 22, "{shown}");
    for executor in &cluster.executors {
        assert!(executor.has_worked(), "an executor has had no task");
    }
}
