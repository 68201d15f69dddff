//! `sql`: runs the program beside `blpk`, or the one on the path.

use crate::support::Folder;
use std::fs;
use std::os::unix::fs::PermissionsExt;

/// A program that prints its arguments, and ends with a status of its own.
const ECHO: &str = "#!/bin/sh\nprintf '%s|' \"$@\"\nexit 5\n";

#[test]
fn arguments_go_to_the_other_program_as_they_are() {
    let folder = Folder::new();
    fs::create_dir(folder.path("bin")).unwrap();
    fs::write(folder.path("bin/blpk-sql"), ECHO).unwrap();
    fs::set_permissions(
        folder.path("bin/blpk-sql"),
        PermissionsExt::from_mode(0o755),
    )
    .unwrap();
    let path = format!("{}:/usr/bin:/bin", folder.path("bin").display());
    let run = |args: &[&str]| {
        let mut command = folder.command();
        let output = command.args(args).env("PATH", &path).output().unwrap();
        (
            output.status.code(),
            String::from_utf8(output.stdout).unwrap(),
        )
    };
    let given = ["sql", "-q", "--help", "-o", "x.csv", "select 1"];
    assert_eq!(
        run(&given),
        (Some(5), "-q|--help|-o|x.csv|select 1|".to_owned())
    );
    assert_eq!(
        run(&["-n", "1", "-f", "sql", "--memory", "1M"]),
        (Some(5), "-n|1|-f|--memory|1M|".to_owned())
    );
}

#[test]
fn without_the_other_program_its_installation_is_named() {
    let folder = Folder::new();
    let mut command = folder.command();
    let output = command
        .args(["sql", "select 1"])
        .env("PATH", "/nowhere")
        .output()
        .unwrap();
    let message = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{message}");
    assert!(
        message.contains("cargo install") && message.contains("sql/blpk-sql"),
        "{message}"
    );
}
