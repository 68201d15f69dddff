//! Tests of Ctrl-C and termination in the middle of the work.

use std::io::{self, Write};
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, Stdio};

use crate::support::{BLPK, Folder, noise, shell_status, wait_for, with_default_signals};

/// Starts a compression into `out` that waits for more input, with its temporary file there.
fn begin(folder: &Folder, args: &[&str]) -> Child {
    let mut command = with_default_signals(BLPK);
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
    shell_status(status)
}

/// The status with which the shell reports the end by a signal.
fn ended_by(signal: &str) -> i32 {
    match signal {
        "-HUP" => 129,
        "-INT" => 130,
        _ => 143,
    }
}

#[test]
fn the_process_ends_by_the_signal_itself() {
    let folder = Folder::new();
    let mut child = begin(&folder, &["c", "-", "out"]);
    let pid = child.id().to_string();
    let sent = Command::new("kill").args(["-INT", &pid]).status();
    assert!(sent.unwrap().success());
    let status = wait_for(|| child.try_wait().unwrap());
    assert_eq!((status.signal(), status.code()), (Some(2), None));
}

#[test]
fn interruption_leaves_nothing() {
    for signal in ["-INT", "-TERM", "-HUP"] {
        let folder = Folder::new();
        let child = begin(&folder, &["c", "-", "out"]);
        assert_eq!(end(child, signal), ended_by(signal), "{signal}");
        assert!(folder.names().is_empty(), "{signal}: {:?}", folder.names());
    }
}

/// A shell that a signal reaches, too, goes on with its loop unless the program says that it ended by the signal.
#[test]
fn a_loop_of_the_shell_stops() {
    use std::os::unix::process::CommandExt;

    for (shell, signal) in [("bash", "-INT"), ("sh", "-INT")] {
        let folder = Folder::new();
        let script = format!("for i in 1 2 3; do echo round $i; {BLPK} c - out; done");
        let mut command = with_default_signals(shell);
        command.args(["-c", &script]).current_dir(folder.path(""));
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.process_group(0).spawn().unwrap();
        // Its end would complete the output.
        let _input = child.stdin.take();
        wait_for(|| {
            folder
                .names()
                .into_iter()
                .find(|name| name.ends_with(".tmp"))
        });
        let group = format!("-{}", child.id());
        let sent = Command::new("kill").args([signal, "--", &group]).status();
        assert!(sent.unwrap().success());
        let status = wait_for(|| child.try_wait().unwrap());
        let printed = io::read_to_string(child.stdout.unwrap()).unwrap();
        assert_eq!(printed, "round 1\n", "{shell}");
        assert_eq!(status.signal(), Some(2), "{shell}");
        assert!(folder.names().is_empty());
    }
}

#[test]
fn what_a_killed_run_leaves_is_removed_by_a_later_one() {
    let folder = Folder::new();
    folder.write("data", "some bytes");
    assert_eq!(end(begin(&folder, &["c", "-", "out"]), "-KILL"), 137);
    let left = folder
        .names()
        .into_iter()
        .find(|name| name.ends_with(".tmp"));
    let left = left.unwrap();
    let age = |name: &str| {
        let then = std::time::SystemTime::now() - std::time::Duration::from_secs(100);
        let file = std::fs::File::options().write(true).open(folder.path(name));
        file.unwrap().set_modified(then).unwrap();
    };
    // It may be new.
    folder.run(["c", "data"]).succeeded();
    assert!(folder.path(&left).exists());
    // This one is still written to, however old it seems.
    let child = begin_another(&folder, &left);
    age(&left);
    let names = folder.names().into_iter();
    let written = names.filter(|name| name.ends_with(".tmp") && *name != left);
    written.for_each(|name| age(&name));
    // A file of this name belongs to a journal.
    let other = ".blpk-0123456789abcdef.tmp";
    folder.write(other, "of a change");
    age(other);
    folder.run(["c", "-f", "data"]).noted(&left);
    assert!(!folder.path(&left).exists());
    std::fs::remove_file(folder.path(other)).unwrap();
    assert_eq!(end(child, "-INT"), 130);
    assert_eq!(folder.names(), ["data", "data.blp"]);
}

/// Starts another compression beside an existing temporary file.
fn begin_another(folder: &Folder, left: &str) -> Child {
    let mut command = with_default_signals(BLPK);
    command
        .args(["c", "-", "other"])
        .current_dir(folder.path(""));
    let child = command.stdin(Stdio::piped()).spawn().unwrap();
    let is_new = |name: &String| name.ends_with(".tmp") && name != left;
    wait_for(|| folder.names().into_iter().find(is_new));
    child
}

#[test]
fn interruption_leaves_the_old_file() {
    for signal in ["-INT", "-TERM", "-HUP"] {
        let folder = Folder::new();
        let old = folder.compressed(&[], b"precious");
        folder.write("out", &old);
        let child = begin(&folder, &["-f", "c", "-", "out"]);
        assert_eq!(end(child, signal), ended_by(signal), "{signal}");
        assert_eq!(folder.read("out"), old);
        assert_eq!(folder.names(), ["out"], "{signal}");
    }
}

#[test]
fn interruption_of_decompression() {
    let folder = Folder::new();
    let packed = folder.compressed(&[], &noise(9_000_000));
    folder.write("out", "precious");
    let mut command = with_default_signals(BLPK);
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

/// As `nohup` ignores SIGHUP, and shells SIGINT of what a script starts in the background.
#[cfg(target_os = "linux")]
#[test]
fn ignored_signals_stay_ignored() {
    for signal in ["HUP", "INT", "TERM"] {
        an_ignored_signal_stays_ignored(signal);
    }
}

#[cfg(target_os = "linux")]
fn an_ignored_signal_stays_ignored(signal: &str) {
    let folder = Folder::new();
    let script = format!("trap '' {signal}; exec {BLPK} c - out.blp");
    let mut shell = with_default_signals("sh");
    shell.args(["-c", &script]).current_dir(folder.path(""));
    let mut child = shell.stdin(Stdio::piped()).spawn().unwrap();
    wait_for(|| {
        folder
            .names()
            .into_iter()
            .find(|name| name.ends_with(".tmp"))
    });
    let pid = child.id().to_string();
    let sent = Command::new("kill").args(["-s", signal, &pid]).status();
    assert!(sent.unwrap().success());
    child
        .stdin
        .take()
        .unwrap()
        .write_all(b"some bytes")
        .unwrap();
    assert!(wait_for(|| child.try_wait().unwrap()).success(), "{signal}");
    assert_eq!(folder.run(["d", "out.blp", "-"]).succeeded(), b"some bytes");
}

/// Starts a change of `a.blp` that waits for more input, and has taken some.
fn begin_change(folder: &Folder, args: &[&str]) -> Child {
    let mut command = with_default_signals(BLPK);
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
        assert_eq!(end(child, signal), ended_by(signal), "{args:?}");
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
    let mut command = with_default_signals(BLPK);
    command
        .args(["append", "a.blp", "more"])
        .current_dir(folder.path(""));
    let child = command.stderr(Stdio::piped()).spawn().unwrap();
    let journal = folder.path("a.blp.blpk-journal");
    // The head alone is 32 bytes long.
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
        assert_eq!(end(child, signal), 137);
        // Readers do not see it.
        assert_eq!(folder.run(["-q", "cat", "a.blp"]).succeeded(), plain);
        folder.run_with(["append", "a.blp"], "more").succeeded();
        assert_eq!(folder.names(), ["a.blp"], "{args:?}");
        let all = folder.run(["cat", "a.blp"]).succeeded();
        assert_eq!(all, [&plain[..], b"more"].concat());
    }
}
