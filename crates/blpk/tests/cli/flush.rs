//! Tests of `blpk c --flush-every`: what is written arrives at the other end of a socket while both processes go on.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Duration;

use crate::support::{BLPK, Folder, fields, noise, ramp};

/// Only bytes that do not arrive take so long.
const PATIENCE: Duration = testkit::stopwatch::HANG;

fn tcp() -> (OwnedFd, OwnedFd) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let near = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    let (far, _) = listener.accept().unwrap();
    (near.into(), far.into())
}

fn unix() -> (OwnedFd, OwnedFd) {
    let (near, far) = UnixStream::pair().unwrap();
    (near.into(), far.into())
}

fn blpk(args: &[&str], stdin: Stdio, stdout: Stdio) -> Child {
    let mut command = Command::new(BLPK);
    command.args(args).stdin(stdin).stdout(stdout);
    command.spawn().unwrap()
}

/// `blpk c` and `blpk d` at the two ends of a socket.
struct Line {
    packer: Child,
    unpacker: Child,
    pieces: Receiver<Vec<u8>>,
    received: Vec<u8>,
}

impl Line {
    fn new((near, far): (OwnedFd, OwnedFd), every: &str, threads: &str) -> Self {
        let args = ["c", "-n", threads, "--flush-every", every];
        let packer = blpk(&args, Stdio::piped(), near.into());
        let mut unpacker = blpk(&["d", "-n", threads], far.into(), Stdio::piped());
        let mut output = unpacker.stdout.take().unwrap();
        let (sender, pieces) = channel();
        thread::spawn(move || {
            let mut buffer = vec![0; 1 << 16];
            while let Ok(len @ 1..) = output.read(&mut buffer) {
                let _ = sender.send(buffer[..len].to_vec());
            }
        });
        Self {
            packer,
            unpacker,
            pieces,
            received: Vec::new(),
        }
    }

    /// Writes a message and waits until all of it has come out at the other end.
    fn pass(&mut self, message: &[u8]) {
        let input = self.packer.stdin.as_mut().unwrap();
        input.write_all(message).unwrap();
        while self.received.len() < message.len() {
            let piece = self.pieces.recv_timeout(PATIENCE);
            self.received.extend(piece.unwrap());
        }
        assert_eq!(self.received, message);
        self.received.clear();
    }

    fn close(mut self) {
        drop(self.packer.stdin.take());
        assert!(self.packer.wait().unwrap().success());
        assert!(self.unpacker.wait().unwrap().success());
        assert!(self.pieces.recv().is_err(), "more came out than went in");
    }
}

#[test]
fn after_a_time_each_message_arrives_before_the_next_is_written() {
    for threads in ["1", "2", "3", "4"] {
        for pair in [tcp, unix] {
            let mut line = Line::new(pair(), "5ms", threads);
            for len in [10, 1, 100, 1000, 10_000, 65_536, 100_000] {
                line.pass(&noise(len));
                line.pass(&ramp(len));
            }
            line.close();
        }
    }
}

#[test]
fn after_a_number_of_bytes_each_message_arrives_before_the_next_is_written() {
    for threads in ["1", "2", "3", "4"] {
        for len in [10, 1000, 100_000] {
            let mut line = Line::new(tcp(), &len.to_string(), threads);
            for _ in 0..5 {
                line.pass(&noise(len));
            }
            line.close();
        }
    }
}

#[test]
fn the_output_is_a_stream_of_uneven_chunks_that_every_command_reads() {
    let folder = Folder::new();
    let plain = ramp(3_000_000);
    folder.write("plain", &plain);
    for (every, chunks) in [("700000", 5), ("2M", 3), ("10000s", 3)] {
        let args = ["c", "--flush-every", every, "-f", "plain", "out.blp"];
        folder.run(args).succeeded();
        let header = fields(&folder.read("out.blp"));
        assert_eq!((header.version, header.options), (3, 0));
        assert_eq!((header.chunk_size, header.last_chunk), (-1, -1));
        assert_eq!((header.nchunks, header.max_app_chunks), (-1, 0));
        assert_eq!(folder.run(["d", "out.blp", "-"]).succeeded(), plain);
        folder.run(["verify", "out.blp"]).succeeded();
        let info = folder.run(["info", "--json", "out.blp"]).succeeded();
        let info = String::from_utf8(info).unwrap();
        assert!(info.contains(&format!("\"chunks\": {chunks}")), "{info}");
        let through = folder.run_with(["c", "--flush-every", every], &plain);
        let through = folder.run_with(["d"], through.succeeded());
        assert_eq!(through.succeeded(), plain);
    }
    for every in ["700000", "1s"] {
        let auto = folder.run_with(["c", "--auto", "--flush-every", every], &plain);
        assert_eq!(folder.run_with(["d"], auto.succeeded()).succeeded(), plain);
        let empty = folder.run_with(["c", "--flush-every", every], b"");
        assert!(
            folder
                .run_with(["d"], empty.succeeded())
                .succeeded()
                .is_empty()
        );
    }
}

#[test]
fn wrong_values_and_versions_are_wrong_usage() {
    let folder = Folder::new();
    for wrong in ["", "0", "0s", "0ms", "1h", "s", "-1", "1.5s", "x"] {
        let ran = folder.run_with(["c", "--flush-every", wrong], b"x");
        ran.failed(2, "--flush-every");
    }
    for other in [["--format", "2"], ["--format", "1"], ["--size", "1"]] {
        let args = [&["c", "--flush-every", "1s"], &other[..]].concat();
        folder.run_with(args, b"x").failed(2, "--flush-every");
    }
}
