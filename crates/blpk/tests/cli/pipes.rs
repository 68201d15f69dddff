//! Tests of standard input and output, known and unknown lengths, and readers that close the pipe.

use std::fs::{self, File};
use std::io::Read;
use std::process::{Command, Stdio};

use crate::support::{BLPK, Folder, OFFSETS, Ran, fields, noise, ramp};

/// The end mark of a stream, which its crc32 follows.
const END_MARK: [u8; 16] = [2, 1, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 16, 0, 0, 0];

fn ends_with_mark(packed: &[u8]) -> bool {
    packed[packed.len() - 20..][..16] == END_MARK
}

#[test]
fn a_pipe_of_unknown_length_gives_a_stream_with_an_end_mark() {
    let folder = Folder::new();
    for len in [0, 1, 1 << 20, 3_000_000] {
        let packed = folder.run_with(["c"], ramp(len)).succeeded();
        let header = fields(&packed);
        assert_eq!((header.version, header.options, header.checksum), (3, 0, 2));
        assert_eq!((header.chunk_size, header.last_chunk), (1 << 20, -1));
        assert_eq!((header.nchunks, header.max_app_chunks), (-1, 0));
        assert!(ends_with_mark(&packed));
        assert_eq!(folder.run_with(["d"], packed).succeeded(), ramp(len));
    }
}

#[cfg(target_os = "linux")]
#[test]
fn pipes_are_enlarged_and_never_made_smaller() {
    use rustix::pipe::{fcntl_getpipe_size, fcntl_setpipe_size};
    use std::io::{Write, pipe};
    use std::os::fd::AsFd;

    let folder = Folder::new();
    for before in [4 << 10, 2 << 20] {
        // The system may refuse a size: this pipe shows what it allows.
        let (model, _end) = pipe().unwrap();
        _ = fcntl_setpipe_size(&model, before);
        let begun = fcntl_getpipe_size(&model).unwrap();
        _ = fcntl_setpipe_size(&model, 1 << 20);
        let expected = begun.max(fcntl_getpipe_size(&model).unwrap());
        let (input, mut data) = pipe().unwrap();
        let (mut packed, output) = pipe().unwrap();
        for end in [input.as_fd(), packed.as_fd()] {
            _ = fcntl_setpipe_size(end, before);
        }
        data.write_all(b"data").unwrap();
        drop(data);
        let mut command = Command::new(BLPK);
        command.arg("c").stdin(input.try_clone().unwrap());
        let status = command.stdout(output).status().unwrap();
        assert!(status.success());
        for end in [input.as_fd(), packed.as_fd()] {
            assert_eq!(fcntl_getpipe_size(end).unwrap(), expected, "{before}");
        }
        drop(command);
        let mut stream = Vec::new();
        packed.read_to_end(&mut stream).unwrap();
        assert_eq!(folder.run_with(["d"], stream).succeeded(), b"data");
    }
}

#[test]
fn a_length_given_beforehand_gives_a_complete_header() {
    let folder = Folder::new();
    let plain = ramp(3_000_000);
    let packed = folder
        .run_with(["c", "--size", "3000000"], &plain)
        .succeeded();
    let header = fields(&packed);
    assert_eq!(header.options & OFFSETS, 0);
    assert_eq!((header.chunk_size, header.last_chunk), (1 << 20, 902_848));
    assert_eq!((header.nchunks, header.max_app_chunks), (3, 0));
    assert!(!ends_with_mark(&packed));
    assert_eq!(folder.run_with(["d"], packed).succeeded(), plain);
}

#[test]
fn a_wrong_length_is_status_1() {
    let folder = Folder::new();
    for wrong in ["2999999", "3000001", "0", "1T"] {
        for output in ["-", "out"] {
            let ran = folder.run_with(["c", "--size", wrong, "-", output], ramp(3_000_000));
            ran.failed(1, "wrong --size: expected");
        }
    }
    assert!(folder.names().is_empty());
}

#[test]
fn a_right_length_into_a_file() {
    let folder = Folder::new();
    let plain = ramp(3_000_000);
    folder
        .run_with(["c", "--size", "3000000", "-", "out"], &plain)
        .succeeded();
    assert_eq!(fields(&folder.read("out")).nchunks, 3);
    assert_eq!(folder.run(["d", "-e", "out", "-"]).succeeded(), plain);
}

#[test]
fn a_pipe_into_a_file_leaves_nothing_unknown() {
    let folder = Folder::new();
    let plain = ramp(3_000_000);
    folder.run_with(["c", "-", "out"], &plain).succeeded();
    let header = fields(&folder.read("out"));
    assert_eq!(header.options, OFFSETS);
    assert_eq!(
        (header.chunk_size, header.last_chunk, header.nchunks),
        (1 << 20, 902_848, 3)
    );
    assert_eq!(folder.run(["d", "-e", "out", "-"]).succeeded(), plain);
}

/// Runs a script in the folder, with `blpk` as `$BLPK`.
#[cfg(target_os = "linux")]
fn shell(folder: &Folder, script: &str) -> Ran {
    let mut command = Command::new("sh");
    command
        .args(["-c", script])
        .env("BLPK", BLPK)
        .current_dir(folder.path(""));
    command.output().unwrap().into()
}

#[cfg(target_os = "linux")]
#[test]
fn standard_output_that_is_a_new_file_becomes_a_whole_one() {
    let folder = Folder::new();
    let plain = ramp(3_000_000);
    folder.write("data", &plain);
    // Settings are given: the sample of a pipe is only its beginning.
    folder.run(["c", "-t8", "data", "named"]).succeeded();
    for script in [
        "cat data | $BLPK c -t8 > out",
        "$BLPK c -t8 data - > out",
        "$BLPK c -t8 < data > out",
        "cat data | $BLPK c -t8 - /dev/stdout > out",
        "cat data | { $BLPK c -t8; true; } > out",
    ] {
        shell(&folder, script).succeeded();
        assert!(folder.read("out") == folder.read("named"), "{script}");
    }
    folder.write("lines", "one\ntwo\n");
    folder
        .run(["records", "pack", "lines", "named"])
        .failed(1, "exists");
    folder
        .run(["records", "pack", "-f", "lines", "named"])
        .succeeded();
    shell(&folder, "cat lines | $BLPK records pack - > out").succeeded();
    assert_eq!(folder.read("out"), folder.read("named"));
}

#[cfg(target_os = "linux")]
#[test]
fn standard_output_with_something_before_it_stays_a_stream() {
    let folder = Folder::new();
    let plain = ramp(3_000_000);
    folder.write("data", &plain);
    for (script, before) in [
        (
            "{ printf before; cat data | $BLPK c; } > out",
            &b"before"[..],
        ),
        ("printf before > out; cat data | $BLPK c >> out", b"before"),
        ("rm out; cat data | $BLPK c >> out", b""),
        ("rm out; cat data | $BLPK c > out 2>&1", b""),
    ] {
        shell(&folder, script).succeeded();
        let out = folder.read("out");
        assert_eq!(&out[..before.len()], before, "{script}");
        assert_eq!(fields(&out[before.len()..]).nchunks, -1, "{script}");
        let back = folder.run_with(["d"], &out[before.len()..]).succeeded();
        assert!(back == plain, "{script}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn the_next_process_writes_after_a_redirected_file() {
    let folder = Folder::new();
    let plain = ramp(3_000_000);
    folder.write("data", &plain);
    shell(&folder, "{ cat data | $BLPK c; printf after; } > out").succeeded();
    let out = folder.read("out");
    assert!(out.ends_with(b"after"));
    assert_eq!(fields(&out).nchunks, 3);
    folder.write("out", &out[..out.len() - 5]);
    assert!(folder.run(["d", "-e", "out", "-"]).succeeded() == plain);

    // Two members, of which the second one is a stream.
    shell(&folder, "{ $BLPK c; $BLPK c; } < data > out").succeeded();
    assert_eq!(folder.run(["d", "-e", "out", "-"]).succeeded(), plain);

    // After a failure, too.
    let script = "{ $BLPK c --size 5 data - 2> errors; printf after; } > out";
    shell(&folder, script).succeeded();
    assert!(folder.read("out").ends_with(b"after"));
    folder.run(["d", "-e", "out", "-"]).status_is(4);
}

#[test]
fn a_stream_without_its_length_is_mentioned() {
    let folder = Folder::new();
    folder.write("data", ramp(100));
    let told = "the header does not contain the length";
    let ran = folder.run_with(["c", "-v"], ramp(100)).status_is(0);
    assert!(ran.stderr.contains(told), "{}", ran.stderr);
    for args in [&["c", "-v", "data"][..], &["c", "-v", "data", "-"]] {
        let ran = folder.run(args).status_is(0);
        assert!(!ran.stderr.contains(told), "{}", ran.stderr);
    }
}

#[test]
fn a_redirected_file_has_a_length_too() {
    let folder = Folder::new();
    folder.write("data", ramp(3_000_000));
    let mut command = Command::new(BLPK);
    command
        .arg("c")
        .stdin(File::open(folder.path("data")).unwrap());
    let ran: Ran = command.output().unwrap().into();
    assert_eq!(fields(&ran.succeeded()).nchunks, 3);
}

#[cfg(unix)]
#[test]
fn a_redirected_file_is_read_from_where_it_stands() {
    let folder = Folder::new();
    folder.write("data", ramp(3_000_000));
    let script = format!("{{ head -c 8 >/dev/null; {BLPK} c | {BLPK} d; }} < data");
    let mut shell = Command::new("sh");
    // `head` may read ahead and then seeks back where it can, as POSIX asks.
    shell.args(["-c", &script]).current_dir(folder.path(""));
    let ran: Ran = shell.output().unwrap().into();
    assert_eq!(ran.succeeded(), &ramp(3_000_000)[8..]);
}

#[test]
fn concatenated_streams_give_both() {
    let folder = Folder::new();
    let one = folder.run_with(["c"], "one").succeeded();
    let two = folder.compressed(&[], b"two");
    for both in [[&one[..], &two].concat(), [&two[..], &one].concat()] {
        let plain = folder.run_with(["d"], both).succeeded();
        assert!(plain == b"onetwo" || plain == b"twoone");
    }
}

#[test]
fn an_empty_input_is_a_sound_file() {
    let folder = Folder::new();
    folder.write("empty", "");
    folder.run(["c", "empty"]).succeeded();
    let packed = folder.read("empty.blp");
    let header = fields(&packed);
    assert_eq!(
        (header.chunk_size, header.last_chunk, header.nchunks),
        (0, 0, 1)
    );
    assert_eq!(folder.run(["d", "empty.blp", "-"]).succeeded(), b"");

    let piped = folder.run(["c", "empty", "-"]).succeeded();
    assert_eq!(fields(&piped).nchunks, 1);
    assert_eq!(folder.run_with(["d"], piped).succeeded(), b"");
}

#[cfg(unix)]
#[test]
fn closed_standard_input_is_an_empty_one() {
    let folder = Folder::new();
    let script = format!("{BLPK} d <&-");
    let ran: Ran = Command::new("sh")
        .args(["-c", &script])
        .output()
        .unwrap()
        .into();
    ran.failed(4, "standard input");
    let script = format!("{BLPK} c <&- | {BLPK} d");
    let ran: Ran = Command::new("sh")
        .args(["-c", &script])
        .output()
        .unwrap()
        .into();
    assert_eq!(ran.succeeded(), b"");
    assert!(folder.names().is_empty());
}

/// Reads ten bytes of the output, goes away, and gives what the command says to that.
fn reader_goes(folder: &Folder, args: &[&str]) -> Ran {
    let mut command = Command::new(BLPK);
    command.args(args).current_dir(folder.path(""));
    let mut child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdout = child.stdout.take().unwrap();
    stdout.read_exact(&mut [0; 10]).unwrap();
    drop(stdout);
    child.wait_with_output().unwrap().into()
}

#[test]
fn a_closed_pipe_ends_quietly() {
    let folder = Folder::new();
    let plain = noise(9_000_000);
    folder.write("data", &plain);
    folder.run(["c", "data"]).succeeded();
    for args in [
        &["c", "data", "-"][..],
        &["d", "data.blp", "-"],
        &["cat", "data.blp"],
    ] {
        reader_goes(&folder, args).succeeded();
    }
}

#[test]
fn reports_end_quietly_too() {
    let folder = Folder::new();
    folder.write("data.blp", folder.compressed(&[], b"some bytes"));
    // More than a pipe holds, so that the rest meets a reader that has gone.
    let many = vec!["data.blp"; 5_000];
    let args = [&["verify", "--json"][..], &many].concat();
    reader_goes(&folder, &args).succeeded();
    let args = [&["verify"][..], &many].concat();
    reader_goes(&folder, &args).succeeded();
}

#[cfg(target_os = "linux")]
#[test]
fn files_that_hide_their_length() {
    let folder = Folder::new();
    let plain = fs::read("/proc/version").unwrap();
    assert_eq!(fs::metadata("/proc/version").unwrap().len(), 0);
    assert!(!plain.is_empty());
    folder.run(["c", "/proc/version", "out"]).succeeded();
    assert_eq!(folder.run(["d", "-e", "out", "-"]).succeeded(), plain);
    let packed = folder.run(["c", "/proc/version", "-"]).succeeded();
    assert_eq!(folder.run_with(["d"], packed).succeeded(), plain);
}

#[cfg(target_os = "linux")]
#[test]
fn files_that_are_shorter_than_they_say() {
    const ONLINE: &str = "/sys/devices/system/cpu/online";
    let folder = Folder::new();
    let plain = fs::read(ONLINE).unwrap();
    assert!((plain.len() as u64) < fs::metadata(ONLINE).unwrap().len());
    // An output that can seek starts over; another has already said the length.
    folder.run(["c", ONLINE, "out"]).succeeded();
    assert_eq!(folder.run(["d", "-e", "out", "-"]).succeeded(), plain);
    folder
        .run(["c", ONLINE, "-"])
        .failed(1, "changed while being read");
}

#[cfg(unix)]
#[test]
fn a_file_that_grows_meanwhile_is_an_error_on_a_pipe() {
    use std::io::Write;

    let folder = Folder::new();
    folder.write("data", noise(9_000_000));
    let mut command = Command::new(BLPK);
    command
        .args(["c", "data", "-"])
        .current_dir(folder.path(""));
    let mut child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // The header is out, and the pipe full long before the file is read.
    let mut stdout = child.stdout.take().unwrap();
    stdout.read_exact(&mut [0; 32]).unwrap();
    let mut data = fs::OpenOptions::new()
        .append(true)
        .open(folder.path("data"))
        .unwrap();
    data.write_all(b"more").unwrap();
    let mut rest = Vec::new();
    stdout.read_to_end(&mut rest).unwrap();
    let ran: Ran = child.wait_with_output().unwrap().into();
    ran.failed(
        1,
        "changed while being read: expected 9000000 bytes, but there are more",
    );
}
