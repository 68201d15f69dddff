//! Any bytes: what is recovered decodes, a sound file is recovered as it decodes, and a verification
//! by position finds damage where one in order does.
#![no_main]

use bloscpack::{Decoder, Limits, RecoverOptions, decompress, recover, verify, verify_at};
use libfuzzer_sys::fuzz_target;
use std::io::{Cursor, Read};

const LIMITS: Limits = Limits {
    chunk: 1 << 20,
    block: 1 << 18,
    metadata: 1 << 16,
    offsets: 1 << 20,
};

/// More data than this is not worth the time.
const ENOUGH: u64 = 8 << 20;

fuzz_target!(|input: &[u8]| {
    let mut data = Vec::new();
    let mut decoder = Decoder::builder().limits(LIMITS).read_from(input);
    let in_order = decoder.by_ref().take(ENOUGH).read_to_end(&mut data);
    if data.len() as u64 == ENOUGH {
        return;
    }
    let by_position = verify_at(input, LIMITS, 1).expect("no source that fails");
    let report = verify(input, LIMITS, 1).expect("no reader that fails");
    if report.warnings.is_empty() {
        assert_eq!(report.is_sound(), by_position.is_sound());
    } else {
        // In order, bytes behind the last chunk are only passed over; by position, chunks are
        // found among them.
        assert!(report.is_sound() || !by_position.is_sound());
    }
    if by_position.is_sound() {
        assert_eq!(report.bytes, by_position.bytes);
    }

    let mut target = Cursor::new(Vec::new());
    let options = RecoverOptions::default().limits(LIMITS);
    match recover(input, &mut target, &options) {
        Ok(recovery) => {
            let content = decompress(target.get_ref()).expect("a new file is sound");
            assert_eq!(content.len() as u64, recovery.bytes);
            assert_eq!(recovery.filled, 0);
            if in_order.is_err() {
                assert!(!recovery.damages.is_empty() || !recovery.is_complete());
            } else if decoder.warnings().is_empty() {
                // What an old append may leave behind can also be chunks that went missing.
                assert!(content == data, "{recovery:?}");
            }
        }
        Err(error) => {
            assert!(target.get_ref().is_empty());
            let has_records = error.to_string().contains("records");
            assert!(in_order.is_err() || has_records, "{error}");
        }
    }
    if input.len() % 16 == 0 {
        let mut target = Cursor::new(Vec::new());
        let filled = recover(input, &mut target, &options.fill(true).threads(2));
        if let Ok(recovery) = filled.as_ref()
            && recovery.filled < ENOUGH
        {
            let content = decompress(target.get_ref()).expect("a new file is sound");
            assert_eq!(content.len() as u64, recovery.bytes + recovery.filled);
        }
    }
});
