//! Tests that had nothing to work on: they pass, so a run has to say how many they were.

use std::collections::BTreeMap;
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::PathBuf;
use std::{env, process, thread};

/// Names a file for the notes, which the caller reads and removes.
const SHARED: &str = "BLOSCPACK_IDLE_TESTS";

/// A file that all test programs of one run share. By default it is next to the programs, under the number of the process that runs them
/// all.
fn notes() -> Option<PathBuf> {
    if let Some(path) = env::var_os(SHARED) {
        return Some(path.into());
    }
    #[cfg(unix)]
    let run = std::os::unix::process::parent_id();
    #[cfg(not(unix))]
    let run = 0;
    let program = env::current_exe().ok()?;
    Some(program.parent()?.join(format!("idle-tests-{run}")))
}

/// Notes that the test which runs on this thread has nothing to work on, and why.
pub fn note(reason: &str) {
    println!("nothing to work on: {reason}");
    let thread = thread::current();
    let program = env::current_exe().unwrap_or_default();
    let program = program.file_stem().unwrap_or_default().to_string_lossy();
    let test = thread.name().unwrap_or("a thread of it");
    let line = format!("{program} {test}\t{reason}\n");
    let written = notes().map(|path| {
        let file = OpenOptions::new().create(true).append(true).open(path);
        // In one piece, since other tests write here, too.
        file.and_then(|mut file| file.write_all(line.as_bytes()))
    });
    // A test in a read-only folder has still done nothing wrong.
    if !matches!(written, Some(Ok(()))) {
        eprintln!("process {}: {line}", process::id());
    }
}

/// How many tests of this run have noted that, by reason.
pub fn report() -> String {
    let path = notes();
    let text = path.as_ref().and_then(|path| fs::read_to_string(path).ok());
    let mut reasons = BTreeMap::new();
    // A test may have noted it twice.
    for line in text.unwrap_or_default().lines() {
        if let Some((test, reason)) = line.split_once('\t') {
            reasons.insert(test.to_owned(), reason.to_owned());
        }
    }
    if let Some(path) = path
        && env::var_os(SHARED).is_none()
    {
        // It may not be there.
        let _ = fs::remove_file(path);
    }
    let mut counts = BTreeMap::<_, usize>::new();
    for reason in reasons.values() {
        *counts.entry(reason).or_default() += 1;
    }
    let mut report = match reasons.len() {
        0 => "every test had something to work on".to_owned(),
        1 => "1 test passed without anything to work on:".to_owned(),
        count => format!("{count} tests passed without anything to work on:"),
    };
    for (reason, count) in counts {
        report.push_str(&format!("\n{count:4}: {reason}"));
    }
    report
}
