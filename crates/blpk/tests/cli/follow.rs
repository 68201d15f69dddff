//! Tests of `--follow`: what others append arrives, all of it and once.

use std::fs::{self, File};
use std::io::{Read, Write as _};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

use testkit::stopwatch::HANG;

use bloscpack::edit::{Editor, RecordEditor};
use bloscpack::storage::{Disk, JournaledFile};

use crate::support::{BLPK, Folder, shell_status, wait_for, with_default_signals};

/// A follower in a process of its own, and what it has printed.
struct Follower {
    child: Child,
    pieces: Receiver<Vec<u8>>,
    printed: Vec<u8>,
}

impl Follower {
    fn start(folder: &Folder, args: &[&str]) -> Self {
        let mut command = with_default_signals(BLPK);
        command.args(args).current_dir(folder.path(""));
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut output = child.stdout.take().unwrap();
        let (sender, pieces) = channel();
        thread::spawn(move || {
            let mut piece = vec![0; 1 << 16];
            while let Ok(len @ 1..) = output.read(&mut piece)
                && sender.send(piece[..len].to_vec()).is_ok()
            {}
        });
        Self {
            child,
            pieces,
            printed: Vec::new(),
        }
    }

    /// Waits until it has printed this, and nothing else.
    #[track_caller]
    fn prints(&mut self, expected: impl AsRef<[u8]>) {
        let expected = expected.as_ref();
        let deadline = Instant::now() + HANG;
        while self.printed.len() < expected.len() {
            let left = deadline.saturating_duration_since(Instant::now());
            match self.pieces.recv_timeout(left) {
                Ok(piece) => self.printed.extend(piece),
                Err(_) => break,
            }
        }
        let (found, expected) = (lossy(&self.printed), lossy(expected));
        assert!(found == expected, "{found:?} in place of {expected:?}");
    }

    /// Kills it, and returns all that it has printed.
    fn kill(mut self) -> Vec<u8> {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
        self.printed.extend(self.pieces.iter().flatten());
        self.printed
    }

    /// Waits for its end: the status, and what it has said.
    fn end(mut self) -> (i32, String) {
        let status = wait_for(|| self.child.try_wait().unwrap());
        let mut text = String::new();
        let mut errors = self.child.stderr.take().unwrap();
        errors.read_to_string(&mut text).unwrap();
        (shell_status(status), text)
    }
}

fn lossy(bytes: &[u8]) -> String {
    let tail = bytes.len().saturating_sub(200);
    format!("{} bytes, {}", bytes.len(), bytes[tail..].escape_ascii())
}

/// A file of records, in a format that grows or in one that is rewritten.
fn log(folder: &Folder, format: &str, records: &str) {
    let args = [
        "records",
        "pack",
        "--one-per-chunk",
        "-f",
        "--format",
        format,
        "-",
        "log",
    ];
    folder.run_with(args, records).succeeded();
}

fn append(folder: &Folder, records: &str) {
    let args = ["records", "append", "log"];
    folder.run_with(args, records).succeeded();
}

#[test]
fn records_arrive_when_they_are_committed() {
    for format in ["2", "3"] {
        let folder = Folder::new();
        log(&folder, format, "one\ntwo\n");
        let mut follower = Follower::start(&folder, &["records", "unpack", "-F", "log"]);
        let from = ["records", "unpack", "--follow", "--from", "1", "-0", "log"];
        let mut from = Follower::start(&folder, &from);
        let mut expected = "one\ntwo\n".to_owned();
        for number in 0..20 {
            follower.prints(&expected);
            from.prints(expected[4..].replace('\n', "\0"));
            let more = format!("record {number}\nand {number}\n");
            append(&folder, &more);
            expected += &more;
        }
        follower.prints(&expected);
        from.prints(expected[4..].replace('\n', "\0"));
        assert_eq!(follower.kill(), expected.as_bytes(), "{format}");
        assert_eq!(from.kill().len(), expected.len() - 4, "{format}");
    }
}

#[test]
fn a_follower_that_is_killed_goes_on_by_its_number() {
    const COMMITS: u64 = 400;
    const BATCH: u64 = 250;
    let folder = Folder::new();
    log(&folder, "3", "");
    let path = folder.path("log");
    let writing = thread::spawn(move || {
        let mut editor = RecordEditor::open(path).unwrap();
        for commit in 0..COMMITS {
            let mut appender = editor.append().unwrap();
            for record in commit * BATCH..(commit + 1) * BATCH {
                appender.push(record.to_string()).unwrap();
            }
            appender.finish().unwrap();
            thread::sleep(Duration::from_millis(commit % 11));
        }
    });
    let (mut next, mut followers, mut seed, mut more) = (0_u64, 0, 1_u64, 0);
    while next < COMMITS * BATCH {
        let from = next.to_string();
        let args = ["records", "unpack", "-F", "--from", &from, "log"];
        let follower = Follower::start(&folder, &args);
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        thread::sleep(Duration::from_millis(5 + (seed >> 33) % 60 + more));
        let printed = follower.kill();
        // The last line may be cut.
        let end = printed.iter().rposition(|byte| *byte == b'\n');
        // On a busy machine it may have been killed before it began.
        more = if end.is_some() { 0 } else { more + 20 };
        let lines = str::from_utf8(&printed[..end.unwrap_or(0)]).unwrap();
        for line in lines.lines() {
            assert_eq!(line, next.to_string(), "after {followers} followers");
            next += 1;
        }
        followers += 1;
    }
    writing.join().unwrap();
    assert_eq!(next, COMMITS * BATCH);
    assert!(followers > 10, "{followers}");
}

#[test]
fn a_writer_that_is_killed_in_a_commit_is_followed() {
    let folder = Folder::new();
    log(&folder, "3", "begin\n");
    let mut follower = Follower::start(&folder, &["records", "unpack", "-F", "log"]);
    follower.prints("begin\n");
    for round in 0..60 {
        let lines: String = (0..50).map(|line| format!("{round} {line}\n")).collect();
        folder.write("lines", lines);
        let mut command = Command::new(BLPK);
        command.args(["records", "append", "-q", "log", "lines"]);
        let mut writer = command.current_dir(folder.path("")).spawn().unwrap();
        thread::sleep(Duration::from_millis(round % 20));
        // It may be done.
        let _ = writer.kill();
        writer.wait().unwrap();
    }
    let mut editor = RecordEditor::open(folder.path("log")).unwrap();
    let mut appender = editor.append().unwrap();
    appender.push("end").unwrap();
    appender.finish().unwrap();
    let all = folder.run(["records", "unpack", "log"]).succeeded();
    follower.prints(&all);
    assert_eq!(follower.kill(), all);
}

#[test]
fn content_is_followed_and_patches_are_not_repeated() {
    let folder = Folder::new();
    folder.write("a.blp", folder.compressed(&[], b"some content"));
    let mut follower = Follower::start(&folder, &["cat", "--follow", "a.blp"]);
    let mut from = Follower::start(&folder, &["cat", "-F", "--range", "5..", "a.blp"]);
    follower.prints("some content");
    from.prints("content");
    let mut editor = Editor::open(folder.path("a.blp")).unwrap();
    for number in 0..20_u64 {
        editor.patch(0, b"SOME".as_slice()).unwrap();
        let mut appender = editor.append().unwrap();
        std::io::Write::write_all(&mut appender, &number.to_le_bytes()).unwrap();
        appender.finish().unwrap();
    }
    let expected: Vec<u8> = (0..20).flat_map(u64::to_le_bytes).collect();
    follower.prints([b"some content", expected.as_slice()].concat());
    from.prints([b"content", expected.as_slice()].concat());
    let content = folder.run(["cat", "a.blp"]).succeeded();
    assert_eq!(content, [b"SOME content", expected.as_slice()].concat());
}

#[test]
fn a_file_that_takes_the_place_goes_on_or_begins_anew() {
    let folder = Folder::new();
    log(&folder, "3", "one\ntwo\n");
    fs::copy(folder.path("log"), folder.path("longer")).unwrap();
    let mut follower = Follower::start(&folder, &["records", "unpack", "-F", "log"]);
    follower.prints("one\ntwo\n");
    // Gone for some time, and back with more.
    fs::rename(folder.path("log"), folder.path("old")).unwrap();
    let args = ["records", "append", "longer"];
    folder.run_with(args, "three\n").succeeded();
    thread::sleep(Duration::from_millis(300));
    fs::rename(folder.path("longer"), folder.path("log")).unwrap();
    follower.prints("one\ntwo\nthree\n");
    append(&folder, "four\n");
    follower.prints("one\ntwo\nthree\nfour\n");

    for other in ["x\n", "1\n2\n3\n4\n5\n6\n"] {
        let args = ["records", "pack", "-f", "-", "other"];
        folder.run_with(args, other).succeeded();
        fs::copy(folder.path("old"), folder.path("log")).unwrap();
        let mut follower = Follower::start(&folder, &["records", "unpack", "-F", "log"]);
        follower.prints("one\ntwo\n");
        // A log that is rotated, as `tail -F` follows it.
        fs::rename(folder.path("other"), folder.path("log")).unwrap();
        follower.prints(format!("one\ntwo\n{other}"));
        append(&folder, "more\n");
        follower.prints(format!("one\ntwo\n{other}more\n"));
        follower.kill();
    }
}

#[test]
fn a_file_that_is_not_there_yet_is_waited_for() {
    let folder = Folder::new();
    let mut follower = Follower::start(&folder, &["records", "unpack", "-F", "log"]);
    thread::sleep(Duration::from_millis(300));
    log(&folder, "3", "one\n");
    follower.prints("one\n");
    append(&folder, "two\n");
    follower.prints("one\ntwo\n");
    follower.kill();
}

/// Records that a service sent before it was killed are in the file.
#[test]
fn records_are_appended_as_they_come() {
    let folder = Folder::new();
    log(&folder, "3", "one\n");
    let mut follower = Follower::start(&folder, &["records", "unpack", "-F", "log"]);
    follower.prints("one\n");
    let mut command = with_default_signals(BLPK);
    command.args(["records", "append", "--flush-every", "50ms", "log"]);
    command.current_dir(folder.path("")).stdin(Stdio::piped());
    let mut service = command.spawn().unwrap();
    let mut input = service.stdin.take().unwrap();
    for (lines, all) in [
        ("two\n", "one\ntwo\n"),
        ("three\nfour\n", "one\ntwo\nthree\nfour\n"),
    ] {
        input.write_all(lines.as_bytes()).unwrap();
        follower.prints(all);
    }
    service.kill().unwrap();
    service.wait().unwrap();
    follower.kill();
    let records = folder.run(["records", "unpack", "log"]);
    assert_eq!(records.text(), "one\ntwo\nthree\nfour\n");
}

#[test]
fn a_lock_of_an_earlier_version_is_waited_for() {
    let folder = Folder::new();
    log(&folder, "3", "one\n");
    let lock = File::open(folder.path("log")).unwrap();
    // A reader: it holds no other one up.
    lock.lock_shared().unwrap();
    let mut follower = Follower::start(&folder, &["records", "unpack", "-F", "log"]);
    follower.prints("one\n");
    lock.unlock().unwrap();
    // A writer in a commit, which is announced nowhere.
    lock.lock().unwrap();
    let file = File::options().append(true).open(folder.path("log"));
    file.unwrap()
        .set_modified(std::time::SystemTime::now())
        .unwrap();
    thread::sleep(Duration::from_millis(500));
    lock.unlock().unwrap();
    append(&folder, "two\n");
    follower.prints("one\ntwo\n");
    // A follower that waits holds no lock, apart from the moments in which it looks again.
    wait_for(|| lock.try_lock().ok());
    lock.unlock().unwrap();
    let (disk, name) = Disk::of(folder.path("log")).unwrap();
    drop(JournaledFile::open(disk, &name, &Default::default()).unwrap());
    append(&folder, "three\n");
    follower.prints("one\ntwo\nthree\n");
}

#[test]
fn a_follower_ends_quietly() {
    let folder = Folder::new();
    log(&folder, "3", "one\n");
    for (signal, status) in [("-INT", 130), ("-TERM", 143)] {
        for args in [
            &["cat", "-F", "log"][..],
            &["records", "unpack", "-F", "log"],
        ] {
            let mut follower = Follower::start(&folder, args);
            wait_for(|| follower.pieces.try_recv().ok());
            let pid = follower.child.id().to_string();
            let sent = Command::new("kill").args([signal, &pid]).status();
            assert!(sent.unwrap().success());
            follower.printed.clear();
            assert_eq!(follower.end(), (status, String::new()), "{args:?}");
        }
    }
    // Nobody reads its output any more, and nothing is appended.
    for args in [
        &["cat", "-F", "log"][..],
        &["records", "unpack", "-F", "log"],
    ] {
        let mut command = Command::new(BLPK);
        command.args(args).current_dir(folder.path(""));
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let mut output = child.stdout.take().unwrap();
        output.read_exact(&mut [0; 3]).unwrap();
        drop(output);
        let status = wait_for(|| child.try_wait().unwrap());
        assert!(status.success(), "{args:?}");
    }
}

#[test]
fn what_cannot_be_followed_is_refused() {
    let folder = Folder::new();
    log(&folder, "3", "one\n");
    folder.write("a.blp", folder.compressed(&[], b"content"));
    for (args, status, words) in [
        (&["cat", "-F"][..], 2, "standard input cannot be followed"),
        (&["cat", "-F", "."], 2, "'.' is not a regular file"),
        (&["cat", "-F", "nowhere/nothing"], 1, "No such file"),
        (&["cat", "-F", "--chunk", "1", "a.blp"], 2, "'--chunk <N>'"),
        (
            &["cat", "-F", "--column", "c", "a.blp"],
            2,
            "'--column <NAME>'",
        ),
        (
            &["cat", "-F", "--range", "1..2", "a.blp"],
            2,
            "--follow has no end",
        ),
        (
            &["cat", "-F", "--range", "9..", "a.blp"],
            2,
            "the file has 7",
        ),
        (
            &["records", "unpack", "-F", "a.blp"],
            5,
            "blpk cat --follow",
        ),
        (
            &["records", "unpack", "-F", "log", "out"],
            2,
            "standard output",
        ),
        (
            &["records", "unpack", "-F", "--from", "2", "log"],
            2,
            "the file has 1",
        ),
        (&["records", "unpack", "--from", "1", "log"], 2, "--follow"),
        (
            &["records", "unpack", "-F", "--allow-unterminated", "log"],
            2,
            "--allow-unterminated",
        ),
    ] {
        folder.run(args).failed(status, words);
    }
    assert_eq!(folder.names(), ["a.blp", "log"]);
}
