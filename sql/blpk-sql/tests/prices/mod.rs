//! The command, and data for it.

#![allow(dead_code, reason = "not every test needs all of it")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use tempfile::TempDir;

pub fn prices() -> String {
    let path = testkit::testdata("datasets/bcolz/zipline_daily_equities.bcolz");
    path.into_os_string().into_string().unwrap()
}

pub fn run(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_blpk-sql"));
    command.current_dir(folder).args(arguments);
    command.env_remove("AWS_ACCESS_KEY_ID").output().unwrap()
}

pub fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap()
}

/// A folder with a copy of the prices.
pub fn folder() -> TempDir {
    let folder = TempDir::new().unwrap();
    copy(Path::new(&prices()), &folder.path().join("prices"));
    folder
}

pub fn copy(from: &Path, to: &Path) {
    fs::create_dir(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let to = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &to)
        } else {
            fs::copy(entry.path(), to).unwrap();
        }
    }
}

/// A file of a column's data.
pub fn chunk(folder: &Path, column: &str) -> PathBuf {
    folder.join("prices").join(column).join("data/__0.blp")
}
