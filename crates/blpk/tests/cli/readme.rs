//! Tests that console sessions run as printed: those of the README and of the pages, and those in `sessions/`.
//!
//! `$ command` is run by `sh` in one folder for each block. The lines below it are what it must print, on standard output
//! and standard error together; `...` stands for any lines, and `? N` is the status with which it must exit.
#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::Path;
use std::process::{Command, Output, Stdio};

/// Runs all sessions in a page, of which there must be at least `least`.
fn run_page(page: &str, least: usize) {
    let blocks = page.split("```console\n").skip(1);
    let blocks: Vec<_> = blocks
        .map(|rest| rest.split("```").next().unwrap())
        .collect();
    assert!(blocks.len() >= least, "the page has lost its examples");
    for block in blocks {
        let folder = tempfile::tempdir().unwrap();
        for example in examples(block) {
            example.check(folder.path());
        }
    }
}

#[test]
fn the_readme_prints_what_it_says() {
    run_page(include_str!("../../../../README.md"), 1);
}

/// All pages, so that no example can be added without being a test.
#[cfg(target_os = "linux")]
#[test]
fn pages_print_what_they_say() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut with_examples = 0;
    for folder in ["docs", "crates/blpk", "."] {
        for entry in root.join(folder).read_dir().unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_some_and(|ending| ending == "md") {
                let page = std::fs::read_to_string(&path).unwrap();
                run_page(&page, 0);
                with_examples += usize::from(page.contains("```console\n"));
            }
        }
    }
    assert!(with_examples >= 15, "the pages have lost their examples");
}

#[cfg(target_os = "linux")]
#[test]
fn habits_of_other_programs() {
    run_page(include_str!("sessions/habits.md"), 16);
}

#[cfg(target_os = "linux")]
#[test]
fn everyday_jobs() {
    run_page(include_str!("sessions/jobs.md"), 20);
}

#[cfg(target_os = "linux")]
#[test]
fn mistakes_of_a_first_day() {
    run_page(include_str!("sessions/mistakes.md"), 7);
}

#[cfg(target_os = "linux")]
#[test]
fn a_newcomers_first_day() {
    run_page(include_str!("sessions/newcomer.md"), 5);
}

#[cfg(target_os = "linux")]
#[test]
fn first_changes() {
    run_page(include_str!("sessions/edits.md"), 4);
}

/// A command with what it must print.
#[derive(Default)]
struct Example<'a> {
    command: String,
    lines: Vec<&'a str>,
    status: i32,
}

fn examples(block: &str) -> Vec<Example<'_>> {
    let mut examples: Vec<Example<'_>> = Vec::new();
    for line in block.lines() {
        if let Some(command) = line.strip_prefix("$ ") {
            examples.push(Example {
                command: command.to_owned(),
                ..Example::default()
            });
            continue;
        }
        let example = examples.last_mut().unwrap();
        match (line.strip_prefix("? "), line.strip_prefix("> ")) {
            (Some(status), _) => example.status = status.parse().unwrap(),
            (None, Some(more)) if example.lines.is_empty() => {
                example.command += "\n";
                example.command += more;
            }
            (None, _) => example.lines.push(line),
        }
    }
    examples
}

impl Example<'_> {
    fn check(&self, folder: &Path) {
        let output = run(&self.command, folder);
        let printed = String::from_utf8_lossy(&output.stdout).into_owned();
        let found: Vec<&str> = printed.lines().collect();
        let command = &self.command;
        match self.lines.iter().position(|line| *line == "...") {
            None => assert_eq!(found, self.lines, "$ {command}"),
            Some(at) => {
                let (first, last) = (&self.lines[..at], &self.lines[at + 1..]);
                let fits = found.starts_with(first) && found[at..].ends_with(last);
                assert!(fits, "$ {command}\n{printed}");
            }
        }
        assert_eq!(
            output.status.code(),
            Some(self.status),
            "$ {command}\n{printed}"
        );
    }
}

fn run(command: &str, folder: &Path) -> Output {
    let blpk = Path::new(env!("CARGO_BIN_EXE_blpk"));
    let path = std::env::var("PATH").unwrap();
    let path = format!("{}:{path}", blpk.parent().unwrap().display());
    Command::new("sh")
        .args(["-c", &format!("exec 2>&1\n{command}")])
        .current_dir(folder)
        .env("PATH", path)
        .stdin(Stdio::null())
        .output()
        .unwrap()
}
