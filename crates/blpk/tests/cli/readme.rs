//! Tests that the README's console examples run as printed.
//!
//! `$ command` is run by `sh` in one folder for each block; the lines below it are what it must
//! print, and `? N` the status with which it must exit.
#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::Path;
use std::process::{Command, Output};

#[test]
fn console_examples_print_what_they_say() {
    let readme = include_str!("../../../../README.md");
    let blocks: Vec<_> = readme
        .split("```console\n")
        .skip(1)
        .map(|rest| rest.split("```").next().unwrap())
        .collect();
    assert!(blocks.len() >= 3, "the README has lost its examples");
    for block in blocks {
        let folder = tempfile::tempdir().unwrap();
        for example in block.split("$ ").filter(|example| !example.is_empty()) {
            check(example, folder.path());
        }
    }
}

fn check(example: &str, folder: &Path) {
    let (command, expected) = example.split_once('\n').unwrap();
    let (expected, status) = match expected.split_once("? ") {
        Some((printed, status)) => (printed, status.trim().parse().unwrap()),
        None => (expected, 0),
    };
    let output = run(command, folder);
    assert_eq!(
        String::from_utf8_lossy(&output.stdout),
        expected,
        "$ {command}"
    );
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(status), "$ {command}\n{errors}");
}

fn run(command: &str, folder: &Path) -> Output {
    let blpk = Path::new(env!("CARGO_BIN_EXE_blpk"));
    let path = std::env::var("PATH").unwrap();
    let path = format!("{}:{path}", blpk.parent().unwrap().display());
    Command::new("sh")
        .args(["-c", command])
        .current_dir(folder)
        .env("PATH", path)
        .output()
        .unwrap()
}
