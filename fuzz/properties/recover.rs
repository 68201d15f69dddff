//! Any bytes: recovered files decode, a sound file is recovered with its content, and verification by position finds
//! damage where verification in order does.

use bloscpack::{
    Decoder, Limits, Options,
    records::RecordReader,
    verify::{verify, verify_at},
};
use std::io::{Cursor, Read};
use testkit::damages::{Recovered, recover};

const LIMITS: Limits = Limits::new()
    .chunk(1 << 20)
    .block(1 << 18)
    .metadata(1 << 16)
    .offsets(1 << 20);

/// More data than this is not worth the time.
const ENOUGH: u64 = 8 << 20;

/// The content of a file.
#[derive(Debug, PartialEq)]
enum Held {
    Content(Vec<u8>),
    Records(Vec<Vec<u8>>),
}

/// All of an input in order within these limits, and whether nothing about it was odd; nothing if it is too much.
fn read(input: &[u8], limits: Limits) -> Option<(bloscpack::Result<Held>, bool)> {
    let mut reader = RecordReader::with_options(input, Options::new().limits(limits));
    if reader.read_header().is_ok_and(|header| header.varlen) {
        let (mut records, mut len) = (Vec::new(), 0);
        loop {
            match reader.next_record() {
                Ok(Some(record)) => records.push(record.to_vec()),
                Ok(None) => {
                    return Some((Ok(Held::Records(records)), reader.warnings().is_empty()));
                }
                Err(error) => return Some((Err(error), false)),
            }
            len += records.last().map_or(0, Vec::len) as u64 + 16;
            if len >= ENOUGH {
                return None;
            }
        }
    }
    let mut data = Vec::new();
    let mut decoder = Decoder::with_options(input, Options::new().limits(limits));
    let result = decoder.by_ref().take(ENOUGH).read_to_end(&mut data);
    if data.len() as u64 == ENOUGH {
        return None;
    }
    let is_plain = decoder.warnings().is_empty();
    Some((
        result.map(|_| Held::Content(data)).map_err(Into::into),
        is_plain,
    ))
}

/// A new file is sound, and contains everything that the recovery reports.
fn check_new(file: &[u8], recovery: &Recovered) -> Option<Held> {
    // Limits are for the input: the recovered file has chunks with other blocks.
    let held = read(file, Limits::default())?
        .0
        .expect("a new file is sound");
    match &held {
        Held::Content(content) => {
            assert_eq!(content.len() as u64, recovery.bytes + recovery.filled);
        }
        Held::Records(records) => assert!(records.len() as u64 >= recovery.records),
    }
    Some(held)
}

pub fn check(input: &[u8]) {
    let Some((in_order, is_plain)) = read(input, LIMITS) else {
        return;
    };
    let by_position =
        verify_at(input, &Options::new().limits(LIMITS), |_| Ok(())).expect("no source that fails");
    let report =
        verify(input, &Options::new().limits(LIMITS), |_| Ok(())).expect("no reader that fails");
    if report.warnings.is_empty() {
        assert_eq!(report.is_sound(), by_position.is_sound());
    } else {
        // A reader in order ignores bytes after the last chunk; by position, chunks are found among them.
        assert!(report.is_sound() || !by_position.is_sound());
    }
    if by_position.is_sound() {
        assert_eq!(report.bytes, by_position.bytes);
    }

    let mut target = Cursor::new(Vec::new());
    let options = Options::new().limits(LIMITS);
    match recover(input, &mut target, &options) {
        Ok(recovery) => {
            assert_eq!(recovery.filled, 0);
            let Some(held) = check_new(target.get_ref(), &recovery) else {
                return;
            };
            match in_order {
                Err(_) => assert!(!recovery.damages.is_empty() || !recovery.is_complete()),
                // The remnants of an old append can also be missing chunks.
                Ok(whole) if is_plain => assert!(held == whole, "{recovery:?}"),
                Ok(_) => {}
            }
        }
        Err(error) => {
            assert!(target.get_ref().is_empty());
            assert!(in_order.is_err(), "{error}");
        }
    }
    if input.len().is_multiple_of(16) {
        let mut target = Cursor::new(Vec::new());
        let filled = recover(input, &mut target, &options.fill(true).threads(2));
        if let Ok(recovery) = filled.as_ref()
            && recovery.filled < ENOUGH
        {
            check_new(target.get_ref(), recovery);
        }
    }
}
