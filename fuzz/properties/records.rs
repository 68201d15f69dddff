//! Any bytes as records: reading by number gives the same as reading in order wherever both succeed, and if records
//! can be read in order, they can be read by number.

use bloscpack::{
    Category, Limits, Options,
    records::{IndexedRecordReader, RecordReader},
    verify::verify,
};

const LIMITS: Limits = Limits::new()
    .chunk(1 << 20)
    .block(1 << 18)
    .metadata(1 << 16)
    .offsets(1 << 20);

/// More records than this, or bytes of them, are not worth the time.
const MOST: usize = 20_000;
const ENOUGH: usize = 8 << 20;

pub fn check(input: &[u8]) {
    let mut reader = RecordReader::with_options(input, Options::new().limits(LIMITS));
    let (mut records, mut bytes, mut in_order) = (Vec::new(), 0, Ok(()));
    loop {
        match reader.next_record() {
            Ok(Some(record)) => {
                bytes += record.len();
                records.push(record.to_vec());
            }
            Ok(None) => break,
            Err(error) => {
                in_order = Err(error);
                break;
            }
        }
        if records.len() > MOST || bytes > ENOUGH {
            return;
        }
    }
    if in_order.is_err() {
        assert!(reader.next_record().is_err(), "an error stays");
    } else {
        assert!(
            verify(input, &Options::new().limits(LIMITS), |_| Ok(()))
                .expect("memory")
                .is_sound()
        );
    }

    let by_number =
        IndexedRecordReader::with_options(input, Options::new().limits(LIMITS).cache(1 << 16));
    let by_number = match by_number {
        Ok(by_number) => by_number,
        // Several members with packed records are only read in order.
        Err(error) if error.category() == Category::Unsupported => return,
        Err(error) => {
            assert!(in_order.is_err(), "in order it can be read: {error}");
            return;
        }
    };
    if in_order.is_ok() {
        assert_eq!(by_number.len(), records.len() as u64);
        for (number, record) in records.iter().enumerate().rev() {
            let found = by_number
                .get(number as u64)
                .expect("in order it can be read");
            assert!(found == record, "record {number}");
        }
        assert!(
            by_number
                .iter()
                .map(|found| found.expect("again"))
                .eq(records)
        );
    } else {
        // Any input comes to an end.
        let last = by_number.len();
        for number in (0..last.min(500)).chain(last.saturating_sub(500)..last) {
            let _ = by_number.get(number);
        }
    }
}
