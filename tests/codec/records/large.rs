//! Tests of records at the limits of the format, and beyond.

use crate::records::counting::peak_of;
use crate::records::in_order;
use bloscpack::{
    Category, Compressor,
    records::{IndexedRecordReader, RecordWriter, RecordWriterBuilder},
};
use std::io::Cursor;

/// The most bytes of a chunk.
const MOST: usize = 2_147_483_631;

fn builders() -> [RecordWriterBuilder; 2] {
    let builder = || RecordWriter::builder().compressor(Compressor::Lz4);
    [builder(), builder().packed(1 << 20)]
}

#[test]
fn a_record_that_is_too_long_is_refused_and_left_out() {
    // Never touched, and so never there.
    let huge = vec![0_u8; MOST + 1];
    for (builder, most) in builders().into_iter().zip([MOST, MOST - 20]) {
        let mut writer = builder.write_to(Vec::new()).unwrap();
        writer.push("before").unwrap();
        let (error, peak) = peak_of(|| writer.push(&huge[..=most]).unwrap_err());
        assert!(peak < 1 << 20, "{peak}");
        assert_eq!(error.category(), Category::Usage);
        let text = error.to_string();
        let says = [format!("record 1 has {} bytes", most + 1), most.to_string()];
        assert!(says.iter().all(|part| text.contains(part)), "{text}");
        writer.push("behind").unwrap();
        let (records, end) = in_order(writer.finish().unwrap().as_slice());
        end.unwrap();
        assert_eq!(records, [b"before", b"behind"]);
    }
}

#[test]
fn records_of_more_than_64_mib_come_back() {
    let large: Vec<u8> = (0..(70 << 20) + 3_u32).map(|at| (at >> 9) as u8).collect();
    for builder in builders() {
        let mut writer = builder.write_to_file(Cursor::new(Vec::new())).unwrap();
        for record in [b"one", large.as_slice(), b"", large.as_slice(), b"five"] {
            writer.push(record).unwrap();
        }
        let file = writer.finish().unwrap().into_inner();
        let reader = IndexedRecordReader::open(&file).unwrap();
        assert_eq!(reader.len(), 5);
        for (number, record) in [
            (4, &b"five"[..]),
            (3, &large),
            (2, b""),
            (1, &large),
            (0, b"one"),
        ] {
            assert!(reader.get(number).unwrap() == record, "{number}");
        }
        let (records, end) = in_order(file.as_slice());
        end.unwrap();
        assert!(records == [b"one", large.as_slice(), b"", large.as_slice(), b"five"]);
    }
}
