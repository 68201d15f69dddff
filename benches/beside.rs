//! Counts the commits of one writer beside readers that take a new snapshot without pause, and measures how long a
//! follower waits for a commit.
//!
//!     cargo bench --bench beside -- [SECONDS [READERS [FOLDER]]]
//!     cargo bench --bench beside -- follow [COMMITS [FOLDER]]
//!
//! For content and for records: without readers, beside threads, and beside processes, each for some seconds on one file.
//! Every reader reads the last record, or the last bytes, and checks them. The table has the commits a second, their
//! share of those without readers, the slowest commit, and the slowest snapshot.
#![allow(
    clippy::unwrap_used,
    clippy::cast_precision_loss,
    reason = "a benchmark"
)]

use bloscpack::FormatVersion;
use bloscpack::edit::{Editor, RecordEditor};
use bloscpack::follow::FollowOptions;
use bloscpack::indexed::IndexedReader;
use bloscpack::records::{IndexedRecordReader, RecordWriter};
use bloscpack::storage::Snapshot;
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// Bytes of a commit.
const LEN: usize = 1000;

#[derive(Clone, Copy)]
enum Kind {
    Content,
    Records,
}

impl Kind {
    const ALL: [(&str, Self); 2] = [("content", Self::Content), ("records", Self::Records)];

    /// A new file with one piece.
    fn create(self, path: &Path) {
        let mut file = File::create(path).unwrap();
        match self {
            Self::Content => {
                let packed = bloscpack::compress(&piece(0)).unwrap();
                file.write_all(&packed).unwrap();
            }
            Self::Records => {
                let mut writer = RecordWriter::builder().write_to_file(file).unwrap();
                writer.push(piece(0)).unwrap();
                writer.finish().unwrap();
            }
        }
    }

    /// Reads the last piece of a new snapshot.
    fn read(self, path: &Path) {
        let snapshot = Snapshot::open(path).unwrap();
        let last = match self {
            Self::Content => {
                let reader = IndexedReader::open(snapshot).unwrap();
                let mut last = vec![0; LEN];
                let at = reader.content_len() - LEN as u64;
                reader.read_exact_at(at, &mut last).unwrap();
                last
            }
            Self::Records => {
                let reader = IndexedRecordReader::open(snapshot).unwrap();
                reader.get(reader.len() - 1).unwrap().to_vec()
            }
        };
        assert!(last.iter().all(|byte| *byte == last[0]), "a torn piece");
    }
}

fn piece(number: u64) -> Vec<u8> {
    vec![number.to_le_bytes()[0]; LEN]
}

/// Takes snapshots until it is over, and returns the time of the slowest.
fn read_on(kind: Kind, path: &Path, is_over: impl Fn() -> bool) -> Duration {
    let mut slowest = Duration::ZERO;
    while !is_over() {
        let begun = Instant::now();
        kind.read(path);
        slowest = slowest.max(begun.elapsed());
    }
    slowest
}

/// Commits for some time, and returns how often, and the time of the slowest.
fn write_on(kind: Kind, path: &Path, time: Duration) -> (u64, Duration) {
    match kind {
        Kind::Content => {
            let mut editor = Editor::open(path).unwrap();
            repeat(time, |piece| {
                let mut appender = editor.append().unwrap();
                appender.write_all(piece).unwrap();
                appender.finish().unwrap();
            })
        }
        Kind::Records => {
            let mut editor = RecordEditor::open(path).unwrap();
            repeat(time, |piece| {
                let mut appender = editor.append().unwrap();
                appender.push(piece).unwrap();
                appender.finish().unwrap();
            })
        }
    }
}

fn repeat(time: Duration, mut commit: impl FnMut(&[u8])) -> (u64, Duration) {
    let (begun, mut number, mut slowest) = (Instant::now(), 0, Duration::ZERO);
    while begun.elapsed() < time {
        number += 1;
        let before = Instant::now();
        commit(&piece(number));
        slowest = slowest.max(before.elapsed());
    }
    (number, slowest)
}

fn processes(kind: &str, path: &Path, readers: usize) -> Vec<Child> {
    let program = std::env::current_exe().unwrap();
    let start = |_| {
        let mut command = Command::new(&program);
        command.args(["read", kind]).arg(path);
        let command = command.stdin(Stdio::piped()).stdout(Stdio::piped());
        command.spawn().unwrap()
    };
    (0..readers).map(start).collect()
}

/// Closes the standard input of readers, which ends them, and returns the time of the slowest.
fn end(children: Vec<Child>) -> Duration {
    let outputs = children
        .into_iter()
        .map(|child| child.wait_with_output().unwrap());
    let slowest = outputs.map(|output| {
        assert!(output.status.success(), "a reader failed");
        let text = String::from_utf8(output.stdout).unwrap();
        Duration::from_secs_f64(text.trim().parse().unwrap())
    });
    slowest.max().unwrap_or_default()
}

fn beside_threads(
    kind: Kind,
    path: &Path,
    readers: usize,
    time: Duration,
) -> (u64, Duration, Duration) {
    let is_over = AtomicBool::new(false);
    thread::scope(|scope| {
        let start = |_| scope.spawn(|| read_on(kind, path, || is_over.load(Ordering::Relaxed)));
        let readers: Vec<_> = (0..readers).map(start).collect();
        let (commits, slowest) = write_on(kind, path, time);
        is_over.store(true, Ordering::Relaxed);
        let read = readers.into_iter().map(|reader| reader.join().unwrap());
        (commits, slowest, read.max().unwrap_or_default())
    })
}

fn beside_processes(
    name: &str,
    kind: Kind,
    path: &Path,
    readers: usize,
    time: Duration,
) -> (u64, Duration, Duration) {
    let children = processes(name, path, readers);
    let (commits, slowest) = write_on(kind, path, time);
    (commits, slowest, end(children))
}

/// The part of a reader in a process of its own: until its standard input ends.
fn reader(name: &str, path: &Path) {
    let (_, kind) = Kind::ALL
        .into_iter()
        .find(|(kind, _)| *kind == name)
        .unwrap();
    let is_over = AtomicBool::new(false);
    let slowest = thread::scope(|scope| {
        scope.spawn(|| {
            std::io::copy(&mut std::io::stdin(), &mut std::io::sink()).unwrap();
            is_over.store(true, Ordering::Relaxed);
        });
        read_on(kind, path, || is_over.load(Ordering::Relaxed))
    });
    println!("{}", slowest.as_secs_f64());
}

/// Commits records with pauses, and prints how long after the beginning and the end of each commit its record reached a
/// follower.
fn follow(commits: u64, folder: &Path) {
    let path = folder.join("a.blp");
    let builder = RecordWriter::builder().layout(FormatVersion::V3);
    let file = File::create(&path).unwrap();
    builder.write_to_file(file).unwrap().finish().unwrap();
    let follower = FollowOptions::new().records(&path).unwrap();
    let total = usize::try_from(commits).unwrap();
    let following = thread::spawn(move || {
        let arrived = follower
            .take(total)
            .map(|record| record.map(|_| Instant::now()));
        arrived.collect::<Result<Vec<_>, _>>().unwrap()
    });
    let mut editor = RecordEditor::open(&path).unwrap();
    let commit = |number| {
        thread::sleep(Duration::from_millis(number % 17));
        let mut appender = editor.append().unwrap();
        appender.push(piece(number)).unwrap();
        let begun = Instant::now();
        appender.finish().unwrap();
        (begun, Instant::now())
    };
    let made: Vec<_> = (0..commits).map(commit).collect();
    let arrived = following.join().unwrap();
    println!("{:32} {:>10} {:>10}", "", "median", "p99");
    let print = |name, mut times: Vec<Duration>| {
        times.sort();
        let at = |part: usize| times[times.len() * part / 100].as_secs_f64() * 1e3;
        println!("{name:32} {:>8.2}ms {:>8.2}ms", at(50), at(99));
    };
    let all = || made.iter().zip(&arrived);
    let (commit, since) = ("a commit", "its beginning to the follower");
    print(
        commit,
        all().map(|((begun, done), _)| *done - *begun).collect(),
    );
    print(
        since,
        all().map(|((begun, _), seen)| *seen - *begun).collect(),
    );
    // It may have been seen before the writer knew that it is safe.
    let after = all().map(|((_, done), seen)| seen.saturating_duration_since(*done));
    print("its end to the follower", after.collect());
}

fn main() {
    let args: Vec<String> = std::env::args()
        .skip(1)
        .filter(|arg| arg != "--bench")
        .collect();
    if let [role, kind, path] = args.as_slice()
        && role == "read"
    {
        return reader(kind, Path::new(path));
    }
    if args.first().is_some_and(|role| role == "follow") {
        let commits = args.get(1).map_or(1000, |commits| commits.parse().unwrap());
        let folder = args.get(2).map_or_else(std::env::temp_dir, PathBuf::from);
        return follow(commits, tempfile::tempdir_in(folder).unwrap().path());
    }
    let number = |at: usize, default| args.get(at).map_or(default, |arg| arg.parse().unwrap());
    let (time, readers) = (Duration::from_secs(number(0, 5)), number(1, 16));
    let readers = usize::try_from(readers).unwrap();
    let folder = args.get(2).map_or_else(std::env::temp_dir, PathBuf::from);
    let folder = tempfile::tempdir_in(folder).unwrap();
    println!(
        "{:8} {:>20} {:>10} {:>6} {:>15} {:>17}",
        "file", "readers", "commits/s", "share", "slowest commit", "slowest snapshot"
    );
    for (name, kind) in Kind::ALL {
        let path = folder.path().join("a.blp");
        let mut alone = 0;
        for beside in ["none", "threads", "processes"] {
            kind.create(&path);
            let (commits, slowest, read) = match beside {
                "none" => beside_threads(kind, &path, 0, time),
                "threads" => beside_threads(kind, &path, readers, time),
                _ => beside_processes(name, kind, &path, readers, time),
            };
            alone = alone.max(if beside == "none" { commits } else { 0 });
            let readers = match beside {
                "none" => beside.to_owned(),
                _ => format!("{readers} {beside}"),
            };
            println!(
                "{name:8} {readers:>20} {:>10.1} {:>5.0}% {:>13.0}ms {:>15.0}ms",
                commits as f64 / time.as_secs_f64(),
                100.0 * commits as f64 / alone as f64,
                slowest.as_secs_f64() * 1e3,
                read.as_secs_f64() * 1e3,
            );
        }
    }
}
