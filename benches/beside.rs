//! Counts the commits of one writer beside readers that take a new snapshot without pause, and measures how long a
//! follower waits for a commit.
//!
//!     cargo bench --bench beside -- [SECONDS [READERS [FOLDER [KIND]]]]
//!     cargo bench --bench beside -- follow [COMMITS [FOLDER]]
//!
//! For content, records, arrays, tables and sparse frames: without readers, beside threads, and beside processes, each
//! for some seconds; and beside processes that read another file, which shows how much is due to the processors alone.
//! Every reader reads what was written last, and checks it. The table has the commits a second, their
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
use bloscpack_open::datasets::{CArray, CTable};
use bloscpack_open::frames::NdArray;
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
    CArray,
    CTable,
    Frame,
}

impl Kind {
    const ALL: [(&str, Self); 5] = [
        ("content", Self::Content),
        ("records", Self::Records),
        ("carray", Self::CArray),
        ("ctable", Self::CTable),
        ("frame", Self::Frame),
    ];

    /// A new file or directory with one piece.
    fn create(self, path: &Path) {
        match self {
            Self::Content => {
                let mut file = File::create(path).unwrap();
                let packed = bloscpack::compress(&piece(0)).unwrap();
                file.write_all(&packed).unwrap();
            }
            Self::Records => {
                let file = File::create(path).unwrap();
                let mut writer = RecordWriter::builder().write_to_file(file).unwrap();
                writer.push(piece(0)).unwrap();
                writer.finish().unwrap();
            }
            Self::CArray => {
                let mut array = CArray::of::<u8>().create(path).unwrap();
                array.append(&piece(0)).unwrap();
                array.flush().unwrap();
            }
            Self::CTable => {
                let table = CTable::builder().column("a", CArray::of::<u8>());
                let mut table = table.column("b", CArray::of::<u8>()).create(path).unwrap();
                table.append(&[&piece(0), &piece(0)]).unwrap();
                table.flush().unwrap();
            }
            Self::Frame => {
                let array = NdArray::of_type::<u8>(&[64, LEN as u64]);
                let array = array.chunk_shape(&[1, u32::try_from(LEN).unwrap()]);
                array.create_sparse(path).unwrap().flush().unwrap();
            }
        }
    }

    /// Reads the last piece of a new snapshot.
    fn read(self, path: &Path) {
        let last = match self {
            Self::Content => {
                let reader = IndexedReader::open(Snapshot::open(path).unwrap()).unwrap();
                let mut last = vec![0; LEN];
                let at = reader.content_len() - LEN as u64;
                reader.read_exact_at(at, &mut last).unwrap();
                last
            }
            Self::Records => {
                let reader = IndexedRecordReader::open(Snapshot::open(path).unwrap()).unwrap();
                reader.get(reader.len() - 1).unwrap().to_vec()
            }
            Self::CArray => {
                let array = CArray::open(path).unwrap();
                let rows = array.rows();
                array.read_rows(rows - LEN as u64..rows).unwrap()
            }
            Self::CTable => {
                let table = CTable::open(path).unwrap();
                let rows = table.rows().unwrap();
                let last = table.read_rows(&["a", "b"], rows - LEN as u64..rows);
                last.unwrap().concat()
            }
            Self::Frame => {
                let array = NdArray::open(path).unwrap();
                array.to_vec::<u8>(&[0..64, 0..LEN as u64]).unwrap()
            }
        };
        assert!(last.iter().all(|byte| *byte == last[0]), "a torn piece");
    }
}

fn remove(path: &Path) {
    let removed = if path.is_dir() {
        std::fs::remove_dir_all(path)
    } else {
        std::fs::remove_file(path)
    };
    assert!(removed.is_ok() || !path.exists());
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
        Kind::CArray => {
            let mut array = CArray::edit(path).unwrap();
            repeat(time, |piece| {
                array.append(piece).unwrap();
                array.flush().unwrap();
            })
        }
        Kind::CTable => {
            let mut table = CTable::edit(path).unwrap();
            repeat(time, |piece| {
                table.append(&[piece, piece]).unwrap();
                table.flush().unwrap();
            })
        }
        Kind::Frame => {
            let mut array = NdArray::edit(path).unwrap();
            repeat(time, |piece| {
                let all = [piece; 64].concat();
                array.write(&[0..64, 0..LEN as u64], &all).unwrap();
                array.flush().unwrap();
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
    (path, read): (&Path, &Path),
    readers: usize,
    time: Duration,
) -> (u64, Duration, Duration) {
    let children = processes(name, read, readers);
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
    let builder = RecordWriter::builder().version(FormatVersion::V3);
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
    println!("| | median, ms | 99th percentile, ms |\n|---|--:|--:|");
    let print = |name, mut times: Vec<Duration>| {
        times.sort();
        let at = |part: usize| times[times.len() * part / 100].as_secs_f64() * 1e3;
        println!("| {name} | {:.2} | {:.2} |", at(50), at(99));
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
    println!("| file | readers | commits/s | share | slowest commit, ms | slowest snapshot, ms |");
    println!("|---|---|--:|--:|--:|--:|");
    let wanted = |name: &str| args.get(3).is_none_or(|kind| kind == name);
    for (name, kind) in Kind::ALL.into_iter().filter(|(name, _)| wanted(name)) {
        let path = folder.path().join(name);
        let other = folder.path().join(format!("{name}-elsewhere"));
        kind.create(&other);
        let mut alone = 0;
        for beside in ["none", "threads", "processes", "elsewhere"] {
            remove(&path);
            kind.create(&path);
            let (commits, slowest, read) = match beside {
                "none" => beside_threads(kind, &path, 0, time),
                "threads" => beside_threads(kind, &path, readers, time),
                "processes" => beside_processes(name, kind, (&path, &path), readers, time),
                _ => beside_processes(name, kind, (&path, &other), readers, time),
            };
            alone = alone.max(if beside == "none" { commits } else { 0 });
            let readers = match beside {
                "none" => beside.to_owned(),
                _ => format!("{readers} {beside}"),
            };
            println!(
                "| {name} | {readers} | {:.1} | {:.0} % | {:.0} | {:.0} |",
                commits as f64 / time.as_secs_f64(),
                100.0 * commits as f64 / alone as f64,
                slowest.as_secs_f64() * 1e3,
                read.as_secs_f64() * 1e3,
            );
        }
    }
}
