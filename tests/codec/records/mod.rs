//! Tests of records against `Vec<Vec<u8>>`: written records are read back, in order and by number, and other files
//! are refused.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]
#![allow(
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    reason = "lengths and numbers here are small"
)]

use bloscpack::{
    Error,
    records::{IndexedRecordReader, RecordReader},
};
use std::io::Read;

mod cuts;
mod document;
mod edited;
mod failing;
mod flips;
mod hostile;
mod large;
mod model;
mod samples;
mod typed;

use testkit::counting;

use testkit::map;
use testkit::records_by_hand;
use testkit::tally;
use testkit::trickle;

type Records = Vec<Vec<u8>>;

/// The output of a reader.
#[derive(Debug, PartialEq)]
struct Told {
    records: Records,
    metadata: Option<String>,
}

/// Records read in order, as far as they come, and how that ends.
fn in_order(input: impl Read) -> (Records, Result<Option<String>, Error>) {
    let (mut reader, mut records) = (RecordReader::new(input), Vec::new());
    let result = loop {
        match reader.next_record() {
            Ok(Some(record)) => records.push(record.to_vec()),
            Ok(None) => break Ok(()),
            Err(error) => break Err(error),
        }
    };
    assert_eq!(reader.records(), records.len() as u64);
    if result.is_err() {
        assert!(reader.next_record().is_err(), "an error stays");
    }
    let metadata = result.map(|()| {
        let metadata = reader.read_metadata().unwrap();
        metadata.map(|metadata| metadata.text().to_owned())
    });
    (records, metadata)
}

/// Records got one by one, the last one first.
fn by_number(file: &[u8]) -> Result<Told, Error> {
    let reader = IndexedRecordReader::open(file)?;
    let mut records = Vec::new();
    for number in (0..reader.len()).rev() {
        records.push(reader.get(number)?.to_vec());
    }
    records.reverse();
    let metadata = reader.metadata();
    Ok(Told {
        records,
        metadata: metadata.map(|metadata| metadata.text().to_owned()),
    })
}
