//! Tests of Ctrl-C and termination in the middle of the work.

use std::io::Write;
use std::process::{Child, Command, Stdio};

use crate::support::{BLPK, Folder, noise, wait_for};

/// Starts a compression into `out` that waits for more input, with its temporary file there.
fn begin(folder: &Folder, args: &[&str]) -> Child {
    let mut command = Command::new(BLPK);
    command.args(args).current_dir(folder.path(""));
    command.stdin(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child
        .stdin
        .as_mut()
        .unwrap()
        .write_all(&noise(5_000_000))
        .unwrap();
    wait_for(|| {
        folder
            .names()
            .into_iter()
            .find(|name| name.ends_with(".tmp"))
    });
    child
}

/// Sends the signal and gives the exit status.
fn end(mut child: Child, signal: &str) -> i32 {
    let pid = child.id().to_string();
    let sent = Command::new("kill").args([signal, &pid]).status();
    assert!(sent.unwrap().success());
    let status = wait_for(|| child.try_wait().unwrap());
    status.code().unwrap_or(-1)
}

#[test]
fn interruption_leaves_nothing() {
    for signal in ["-INT", "-TERM"] {
        let folder = Folder::new();
        let child = begin(&folder, &["c", "-", "out"]);
        assert_eq!(end(child, signal), 130, "{signal}");
        assert!(folder.names().is_empty(), "{signal}: {:?}", folder.names());
    }
}

#[test]
fn interruption_leaves_the_old_file() {
    for signal in ["-INT", "-TERM"] {
        let folder = Folder::new();
        folder.write("out", "precious");
        let child = begin(&folder, &["-f", "c", "-", "out"]);
        assert_eq!(end(child, signal), 130, "{signal}");
        assert_eq!(folder.read("out"), b"precious");
        assert_eq!(folder.names(), ["out"], "{signal}");
    }
}

#[test]
fn interruption_of_decompression() {
    let folder = Folder::new();
    let packed = folder.compressed(&[], &noise(9_000_000));
    folder.write("out", "precious");
    let mut command = Command::new(BLPK);
    command
        .args(["-f", "d", "-", "out"])
        .current_dir(folder.path(""));
    let mut child = command.stdin(Stdio::piped()).spawn().unwrap();
    child
        .stdin
        .as_mut()
        .unwrap()
        .write_all(&packed[..packed.len() / 2])
        .unwrap();
    wait_for(|| {
        folder
            .names()
            .into_iter()
            .find(|name| name.ends_with(".tmp"))
    });
    assert_eq!(end(child, "-INT"), 130);
    assert_eq!(folder.read("out"), b"precious");
    assert_eq!(folder.names(), ["out"]);
}

#[cfg(target_os = "linux")]
#[test]
fn nohup_is_respected() {
    let folder = Folder::new();
    let script = format!("trap '' HUP; exec {BLPK} c - out.blp");
    let mut shell = Command::new("sh");
    shell.args(["-c", &script]).current_dir(folder.path(""));
    let mut child = shell.stdin(Stdio::piped()).spawn().unwrap();
    wait_for(|| {
        folder
            .names()
            .into_iter()
            .find(|name| name.ends_with(".tmp"))
    });
    let pid = child.id().to_string();
    let sent = Command::new("kill").args(["-HUP", &pid]).status();
    assert!(sent.unwrap().success());
    child
        .stdin
        .take()
        .unwrap()
        .write_all(b"some bytes")
        .unwrap();
    assert!(child.wait().unwrap().success());
    assert_eq!(folder.run(["d", "out.blp", "-"]).succeeded(), b"some bytes");
}

/// Starts a change of `a.blp` that waits for more input, and has taken some.
fn begin_change(folder: &Folder, args: &[&str]) -> Child {
    let mut command = Command::new(BLPK);
    command.args(args).current_dir(folder.path(""));
    command.stdin(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let stdin = child.stdin.as_mut().unwrap();
    stdin.write_all(&noise(1_000_000)).unwrap();
    wait_for(|| (folder.names().len() > 1).then_some(()));
    child
}

const CHANGES: [&[&str]; 2] = [&["append", "a.blp"], &["patch", "--at", "5", "a.blp"]];

#[test]
fn interruption_of_a_change_leaves_the_file_as_it_was() {
    for (signal, args) in [
        ("-INT", CHANGES[0]),
        ("-TERM", CHANGES[0]),
        ("-INT", CHANGES[1]),
    ] {
        let folder = Folder::new();
        let file = folder.compressed(&["-z", "64K"], &noise(2_000_000));
        folder.write("a.blp", &file);
        let child = begin_change(&folder, args);
        assert_eq!(end(child, signal), 130, "{args:?}");
        assert_eq!(folder.read("a.blp"), file, "{args:?}");
        assert_eq!(folder.names(), ["a.blp"], "{args:?}");
    }
}

#[test]
fn interruption_while_waiting_for_readers() {
    let folder = Folder::new();
    let file = folder.compressed(&["-z", "64K"], &noise(2_000_000));
    folder.write("a.blp", &file);
    folder.write("more", noise(100));
    // As readers of earlier versions do.
    let reader = std::fs::File::open(folder.path("a.blp")).unwrap();
    reader.lock_shared().unwrap();
    let mut command = Command::new(BLPK);
    command
        .args(["append", "a.blp", "more"])
        .current_dir(folder.path(""));
    let child = command.stderr(Stdio::piped()).spawn().unwrap();
    let journal = folder.path("a.blp.blpk-journal");
    // The head alone has 32 bytes.
    wait_for(|| {
        std::fs::metadata(&journal)
            .is_ok_and(|it| it.len() > 32)
            .then_some(())
    });
    assert_eq!(end(child, "-INT"), 130);
    drop(reader);
    assert_eq!(folder.read("a.blp"), file);
    assert_eq!(folder.names(), ["a.blp", "more"]);
}

#[test]
fn killing_a_change_leaves_a_file_that_is_whole() {
    for (signal, args) in [("-KILL", CHANGES[0]), ("-KILL", CHANGES[1])] {
        let folder = Folder::new();
        let plain = noise(2_000_000);
        folder.write("a.blp", folder.compressed(&["-z", "64K"], &plain));
        let child = begin_change(&folder, args);
        assert_eq!(end(child, signal), -1);
        // Readers do not see it.
        assert_eq!(folder.run(["-q", "cat", "a.blp"]).succeeded(), plain);
        folder.run_with(["append", "a.blp"], "more").succeeded();
        assert_eq!(folder.names(), ["a.blp"], "{args:?}");
        let all = folder.run(["cat", "a.blp"]).succeeded();
        assert_eq!(all, [&plain[..], b"more"].concat());
    }
}
