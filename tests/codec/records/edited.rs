//! Tests of replacing the metadata of a file of records: `docs/format.md` names the keys that describe the records.

use crate::records::by_number;
use bloscpack::storage::Memory;
use bloscpack::{
    Category, FormatVersion, Metadata,
    edit::RecordEditor,
    records::{RecordWriter, RecordWriterBuilder},
};
use serde_json::{Value, json};
use std::io::Cursor;

const NAME: &str = "a.blp";

fn builders() -> Vec<RecordWriterBuilder> {
    [FormatVersion::V2, FormatVersion::V3]
        .into_iter()
        .flat_map(|layout| {
            let alone = RecordWriter::builder().version(layout);
            [alone.clone(), alone.packed(4096)]
        })
        .collect()
}

/// A folder with a file of two records.
fn folder(builder: RecordWriterBuilder) -> Memory {
    let mut writer = builder.write_to_file(Cursor::new(Vec::new())).unwrap();
    writer.push("one").unwrap();
    writer.push("two").unwrap();
    Memory::from([(NAME, writer.finish().unwrap().into_inner())])
}

/// The records of the reopened file, and its metadata.
fn told(folder: &Memory) -> (Vec<Vec<u8>>, Value) {
    let told = by_number(&folder.bytes(NAME).unwrap()).unwrap();
    let metadata = serde_json::from_str(&told.metadata.unwrap()).unwrap();
    (told.records, metadata)
}

#[test]
fn what_says_what_the_records_are_stays_and_the_rest_is_replaced() {
    for builder in builders() {
        let folder = folder(builder.metadata(Metadata::from_json(r#"{"gone": 1}"#).unwrap()));
        let (_, before) = told(&folder);
        let mut editor = RecordEditor::open_in(folder.clone(), NAME.as_ref()).unwrap();
        let new = r#"{"unit": "dBm", "shape": [99], "packing": null, "when": [1, 2.5]}"#;
        editor
            .set_metadata(&Metadata::from_json(new).unwrap())
            .unwrap();
        let mut expected = before;
        let keys = expected.as_object_mut().unwrap();
        assert_eq!(keys.remove("gone"), Some(json!(1)));
        keys.extend([
            ("unit".into(), json!("dBm")),
            ("when".into(), json!([1, 2.5])),
        ]);
        assert_eq!(keys["shape"], json!([2]));
        let records = vec![b"one".to_vec(), b"two".to_vec()];
        assert_eq!(told(&folder), (records.clone(), expected.clone()));

        // The user chooses the dtype, and appended records are added to the count.
        let new = Metadata::from_json(r#"{"dtype": "mine"}"#).unwrap();
        editor.set_metadata(&new).unwrap();
        let mut appender = editor.append().unwrap();
        appender.push("three").unwrap();
        assert_eq!(appender.finish().unwrap(), 1);
        let keys = expected.as_object_mut().unwrap();
        keys.retain(|key, _| key == "packing");
        keys.extend([
            ("dtype".into(), json!("mine")),
            ("shape".into(), json!([3])),
        ]);
        let records = [records, vec![b"three".to_vec()]].concat();
        assert_eq!(told(&folder), (records, expected));
    }
}

#[test]
fn metadata_that_is_no_object_is_refused_and_changes_nothing() {
    for builder in builders() {
        let folder = folder(builder);
        let before = folder.bytes(NAME);
        let mut editor = RecordEditor::open_in(folder.clone(), NAME.as_ref()).unwrap();
        for text in ["[1]", "1", "null", "\"{}\""] {
            let error = editor
                .set_metadata(&Metadata::from_json(text).unwrap())
                .unwrap_err();
            assert_eq!(error.category(), Category::Usage, "{text}");
        }
        assert_eq!(folder.bytes(NAME), before);
        assert_eq!(editor.len(), 2);
    }
}
