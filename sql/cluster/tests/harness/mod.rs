//! Clusters of child processes on the loopback interface.

#![allow(dead_code, reason = "not every test needs all of it")]

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use tempfile::TempDir;

/// A program of this workspace, built with the tests.
pub fn program(name: &str) -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let folder = test.parent().unwrap().parent().unwrap();
    let program = folder.join(name);
    assert!(program.exists(), "{}: cargo build", program.display());
    program
}

/// A scheduler or an executor. Dropping it kills the process.
pub struct Process {
    child: Child,
    /// Its standard output, which stays open.
    _out: BufReader<ChildStdout>,
    pub address: String,
}

impl Process {
    /// Starts the process, and waits until it is reachable.
    pub fn start(arguments: &[&str]) -> Self {
        let mut child = Command::new(program("blpk-cluster"))
            .args(arguments)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut out = BufReader::new(child.stdout.take().unwrap());
        let mut address = String::new();
        out.read_line(&mut address).unwrap();
        let address = address.trim_end().to_owned();
        assert!(address.starts_with("127.0.0.1:"), "{address:?}");
        Self {
            child,
            _out: out,
            address,
        }
    }

    /// Kills the process with SIGKILL, as the system does when memory runs out.
    pub fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // The process may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// An executor with a directory of its own.
pub struct Executor {
    pub process: Process,
    dir: TempDir,
}

impl Executor {
    pub fn start(scheduler: &str, more: &[&str]) -> Self {
        let dir = TempDir::new().unwrap();
        let work = dir.path().to_str().unwrap();
        let mut arguments = vec!["executor", "--scheduler", scheduler, "--work-dir", work];
        arguments.extend(["--vcores", "1"]);
        arguments.extend(more);
        Self {
            process: Process::start(&arguments),
            dir,
        }
    }

    /// Whether the executor has finished a task: each task leaves a file with its result.
    pub fn has_worked(&self) -> bool {
        has_file(self.dir.path())
    }
}

fn has_file(dir: &Path) -> bool {
    let mut entries = std::fs::read_dir(dir).unwrap().map(Result::unwrap);
    entries.any(|entry| {
        if entry.file_type().unwrap().is_dir() {
            has_file(&entry.path())
        } else {
            true
        }
    })
}

/// One scheduler and two executors.
pub struct Cluster {
    pub executors: [Executor; 2],
    pub scheduler: Process,
}

impl Cluster {
    pub fn start() -> Self {
        let scheduler = Process::start(&["scheduler", "--port", "0", "--timeout", "5"]);
        let executors = [(); 2].map(|()| Executor::start(&scheduler.address, &[]));
        Self {
            executors,
            scheduler,
        }
    }

    pub fn url(&self) -> String {
        format!("df://{}", self.scheduler.address)
    }
}
