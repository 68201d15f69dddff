//! Tests of records over a TCP socket: flushed records arrive at once, and a cut is detected.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use bloscpack::{
    Category, FormatVersion, Options,
    records::{RecordReader, RecordWriter, RecordWriterBuilder},
};
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::thread;
use std::time::Duration;

/// Only a record that does not arrive takes so long.
const PATIENCE: Duration = testkit::stopwatch::HANG;

fn pair() -> (TcpStream, TcpStream) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let near = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    let (far, _) = listener.accept().unwrap();
    near.set_read_timeout(Some(PATIENCE)).unwrap();
    far.set_read_timeout(Some(PATIENCE)).unwrap();
    (near, far)
}

fn records() -> Vec<Vec<u8>> {
    let lengths = [0, 1, 5, 200, 0, 5000, 300_000, 3, 70_000, 2];
    let record = |(number, len): (usize, &usize)| vec![u8::try_from(number).unwrap(); *len];
    lengths.iter().enumerate().map(record).collect()
}

/// Each record is sent only after the receiver has acknowledged the one before it: if a record remained in a buffer,
/// both sides would wait forever.
fn one_by_one(builder: RecordWriterBuilder, threads: usize, finish: bool) {
    let (near, far) = pair();
    let receiver = thread::spawn(move || {
        let mut answers = far.try_clone().unwrap();
        let mut reader = RecordReader::with_options(far, Options::new().threads(threads));
        let mut received = Vec::new();
        loop {
            match reader.next_record() {
                Ok(Some(record)) => {
                    received.push(record.to_vec());
                    answers.write_all(&[1]).unwrap();
                }
                Ok(None) => return (received, None),
                Err(error) => return (received, Some(error.category())),
            }
        }
    });
    let mut answers = near.try_clone().unwrap();
    let mut writer = builder.threads(threads).write_to(near).unwrap();
    for record in records() {
        writer.push(&record).unwrap();
        writer.flush().unwrap();
        answers.read_exact(&mut [0]).unwrap();
    }
    let cut = if finish {
        drop(writer.finish().unwrap());
        None
    } else {
        drop(writer);
        Some(Category::CutShort)
    };
    drop(answers);
    let (received, end) = receiver.join().unwrap();
    assert_eq!(received, records());
    assert_eq!(end, cut);
}

#[test]
fn what_is_flushed_arrives_and_a_cut_is_noticed() {
    for threads in 1..4 {
        for finish in [true, false] {
            for layout in [FormatVersion::V2, FormatVersion::V3] {
                let plain = RecordWriter::builder().version(layout);
                one_by_one(plain.clone(), threads, finish);
                one_by_one(plain.clone().packed(1 << 16), threads, finish);
                one_by_one(plain.small(), threads, finish);
            }
        }
    }
}

/// With a number promised, the last record is what makes the stream whole, so that it arrives with
/// `finish`.
#[test]
fn of_a_promised_number_all_but_the_last_arrive() {
    let (near, far) = pair();
    let mut writer = RecordWriter::builder().count(3).write_to(near).unwrap();
    let mut reader = RecordReader::new(far);
    for record in ["one", "two"] {
        writer.push(record).unwrap();
        writer.flush().unwrap();
        assert_eq!(reader.next_record().unwrap(), Some(record.as_bytes()));
    }
    writer.push("three").unwrap();
    writer.flush().unwrap();
    drop(writer);
    let error = reader.next_record().unwrap_err();
    assert_eq!(error.category(), Category::CutShort);
}
