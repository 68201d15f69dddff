//! Tests of records as values: an invalid value is reported with its number.

use bloscpack::{
    Category, Code,
    records::{IndexedRecordReader, RecordReader, RecordWriter},
};
use std::io::Cursor;

/// A file of these records, packed or not.
fn file(packed: bool, records: &[&[u8]]) -> Vec<u8> {
    let mut builder = RecordWriter::builder().dtype("varchar");
    if packed {
        builder = builder.packed(64);
    }
    let mut writer = builder.write_to_file(Cursor::new(Vec::new())).unwrap();
    for record in records {
        writer.push_as(record).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

#[track_caller]
fn told(error: bloscpack::Error, number: u64) {
    assert_eq!(error.category(), Category::Failed);
    assert_eq!(error.code(), Code::RecordValue);
    let text = error.to_string();
    assert!(text.starts_with(&format!("record {number}: ")), "{text}");
}

#[test]
fn text_that_is_no_utf8_is_told_by_its_number() {
    let records: [&[u8]; 6] = [
        b"one",
        b"\xff",
        "zw\u{f6}lf".as_bytes(),
        b"",
        b"\xed\xa0\x80",
        b"six",
    ];
    for packed in [false, true] {
        let file = file(packed, &records);
        let reader = IndexedRecordReader::open(&file).unwrap();
        for (number, record) in (0_u64..).zip(records) {
            match (reader.get_as::<String>(number), std::str::from_utf8(record)) {
                (Ok(found), Ok(text)) => assert_eq!(found, text),
                (Err(error), Err(_)) => told(error, number),
                other => panic!("{number}: {other:?}"),
            }
        }
        let found: Vec<_> = reader.range_as::<String>(2..5).collect();
        assert_eq!(found.len(), 3);
        assert_eq!(found[0].as_ref().unwrap(), "zw\u{f6}lf");
        told(found.into_iter().nth(2).unwrap().unwrap_err(), 4);

        // When reading in order, a record that is not text does not prevent reading the next.
        let two = [file.clone(), file].concat();
        let mut reader = RecordReader::new(two.as_slice());
        for (number, record) in (0_u64..).zip(records.iter().chain(&records)) {
            match reader.next_as::<String>() {
                Ok(found) => assert_eq!(found.unwrap().as_bytes(), *record),
                Err(error) => {
                    assert!(std::str::from_utf8(record).is_err());
                    told(error, number);
                }
            }
        }
        assert!(reader.next_as::<String>().unwrap().is_none());
        assert_eq!(reader.records(), 12);
    }
}

#[test]
fn bytes_share_the_memory_of_their_chunk() {
    let reader = IndexedRecordReader::open(file(true, &[b"abc", b"", b"defg"])).unwrap();
    let [first, last] = [0, 2].map(|number| reader.get_as::<bytes::Bytes>(number).unwrap());
    assert_eq!((&first[..], &last[..]), (&b"abc"[..], &b"defg"[..]));
    assert_eq!(first.as_ptr().wrapping_add(3), last.as_ptr());
    drop(reader);
    assert_eq!(last, "defg");
}

#[cfg(feature = "serde")]
mod serde {
    use super::told;
    use bloscpack::records::{IndexedRecordReader, Json, MessagePack, RecordReader, RecordWriter};
    use std::collections::BTreeMap;

    type Row = (String, Option<i64>, Vec<f64>, BTreeMap<String, bool>);

    fn rows() -> Vec<Row> {
        let flags = |n: i64| [(format!("\u{e4}{n}"), n % 2 == 0)].into();
        let row = |n: i64| {
            let name = "line\n\"".repeat(n.unsigned_abs() as usize % 4);
            (
                name,
                (n % 3 != 0).then_some(i64::MIN + n),
                vec![0.1 * n as f64; 2],
                flags(n),
            )
        };
        (0..50).map(row).collect()
    }

    #[test]
    fn values_of_serde_come_back() {
        let builder = || RecordWriter::builder().packed(500);
        let (mut json, mut msgpack) = (
            builder().dtype("json").write_to(Vec::new()).unwrap(),
            builder().dtype("msgpack").write_to(Vec::new()).unwrap(),
        );
        for row in rows() {
            json.push_as(&Json(&row)).unwrap();
            msgpack.push_as(&MessagePack(&row)).unwrap();
        }
        let (json, msgpack) = (json.finish().unwrap(), msgpack.finish().unwrap());
        let (json, msgpack) = (
            IndexedRecordReader::open(json).unwrap(),
            IndexedRecordReader::open(msgpack).unwrap(),
        );
        for (number, row) in (0..).zip(rows()) {
            assert_eq!(json.get_as::<Json<Row>>(number).unwrap().0, row);
            assert_eq!(msgpack.get_as::<MessagePack<Row>>(number).unwrap().0, row);
            // A line of JSON is a line, and what another JSON reader reads.
            let line = json.get(number).unwrap();
            assert!(!line.contains(&b'\n'));
            let value: serde_json::Value = serde_json::from_slice(&line).unwrap();
            assert_eq!(value[0], row.0.as_str());
        }
    }

    #[test]
    fn what_is_no_such_value_is_told() {
        let records: [&[u8]; 5] = [b"1", b"\"a\"", b"", b"1 2", b"\xc1"];
        let file = super::file(true, &records);
        let reader = IndexedRecordReader::open(&file).unwrap();
        assert_eq!(reader.get_as::<Json<u8>>(0).unwrap().0, 1);
        for number in 1..5 {
            told(reader.get_as::<Json<u8>>(number).unwrap_err(), number);
        }
        told(reader.get_as::<MessagePack<u8>>(2).unwrap_err(), 2);
        told(reader.get_as::<MessagePack<u8>>(4).unwrap_err(), 4);
        let mut reader = RecordReader::new(file.as_slice());
        let results = std::iter::repeat_with(|| reader.next_as::<Json<u8>>());
        let good: Vec<bool> = results.take(5).map(|result| result.is_ok()).collect();
        assert_eq!(good, [true, false, false, false, false]);
    }

    #[test]
    fn bytes_behind_a_value_of_messagepack_are_told() {
        let file = super::file(false, &[b"\x01\x02"]);
        let reader = IndexedRecordReader::open(&file).unwrap();
        told(reader.get_as::<MessagePack<u8>>(0).unwrap_err(), 0);
    }

    #[test]
    fn a_value_that_cannot_be_written_is_left_out() {
        let mut writer = RecordWriter::new(Vec::new()).unwrap();
        writer.push_as(&Json(1)).unwrap();
        let keys: BTreeMap<(u8, u8), u8> = [((1, 2), 3)].into();
        told(writer.push_as(&Json(keys)).unwrap_err(), 1);
        writer.push_as(&Json(2)).unwrap();
        let file = writer.finish().unwrap();
        let reader = RecordReader::new(file.as_slice());
        assert_eq!(reader.map(Result::unwrap).collect::<Vec<_>>(), ["1", "2"]);
    }
}

/// Numbers in tagged and untagged values, which `serde` keeps in between.
#[cfg(feature = "serde")]
#[test]
fn tagged_and_untagged_values_come_back_as_json_and_as_messagepack() {
    use ::serde::{Deserialize, Serialize};
    use bloscpack::records::{Json, MessagePack};

    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
    #[serde(tag = "kind")]
    enum Event {
        Reading { value: f64, number: u64 },
        Note { text: String },
    }
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
    #[serde(untagged)]
    enum Cell {
        Number(f64),
        Text(String),
    }
    let reading = Event::Reading {
        value: 0.1,
        number: u64::MAX,
    };
    let note = Event::Note {
        text: "a\nb".to_owned(),
    };
    let cells = vec![Cell::Number(1.5), Cell::Text("x".to_owned())];
    let mut writer = RecordWriter::builder()
        .packed(64)
        .write_to(Vec::new())
        .unwrap();
    for event in [&reading, &note] {
        writer.push_as(&Json(event)).unwrap();
        writer.push_as(&MessagePack(event)).unwrap();
    }
    writer.push_as(&Json(&cells)).unwrap();
    writer.push_as(&MessagePack(&cells)).unwrap();
    let records = IndexedRecordReader::open(writer.finish().unwrap()).unwrap();
    for (number, event) in [(0, &reading), (2, &note)] {
        assert_eq!(&records.get_as::<Json<Event>>(number).unwrap().0, event);
        assert_eq!(
            &records.get_as::<MessagePack<Event>>(number + 1).unwrap().0,
            event
        );
    }
    assert_eq!(records.get_as::<Json<Vec<Cell>>>(4).unwrap().0, cells);
    assert_eq!(
        records.get_as::<MessagePack<Vec<Cell>>>(5).unwrap().0,
        cells
    );
}
