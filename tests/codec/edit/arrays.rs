//! Tests that files with a NumPy array keep a correct shape: released readers abort if it is stale.

use crate::edit::{NAME, append, check, name};
use bloscpack::storage::Memory;
use bloscpack::{Category, Encoder, Metadata, edit::Editor};
use std::io::{Cursor, Write};

fn array(metadata: &str, data: &[u8]) -> Memory {
    let options = Encoder::builder()
        .metadata(Metadata::from_json(metadata).unwrap())
        .chunk_size(64);
    let mut encoder = options.write_to_file(Cursor::new(Vec::new())).unwrap();
    encoder.write_all(data).unwrap();
    let file = encoder.finish().unwrap().into_inner();
    Memory::from([(NAME, file)])
}

fn open(folder: &Memory) -> Editor<Memory> {
    Editor::open_in(folder.clone(), name()).unwrap()
}

#[test]
fn rows_appended_to_an_array_count_in_its_shape() {
    let cases = [
        (
            r#"{"dtype": "'<f8'", "shape": [10], "order": "C", "container": "numpy"}"#,
            80,
            24,
            r#"{"dtype": "'<f8'", "shape": [13], "order": "C", "container": "numpy"}"#,
        ),
        (
            r#"{"shape": [5, 4], "dtype": "'<i4'", "order": "C", "container": "numpy"}"#,
            80,
            32,
            r#"{"shape": [7, 4], "dtype": "'<i4'", "order": "C", "container": "numpy"}"#,
        ),
        (
            r#"{"shape": [4, 5], "dtype": "'<i4'", "order": "F", "container": "numpy"}"#,
            80,
            32,
            r#"{"shape": [4, 7], "dtype": "'<i4'", "order": "F", "container": "numpy"}"#,
        ),
        (
            r#"{"own": NaN, "dtype": "[('a', '<i2'), ('b', '|S6')]", "shape": [9], "order": "C", "container": "numpy"}"#,
            72,
            8 * 991,
            r#"{"own": NaN, "dtype": "[('a', '<i2'), ('b', '|S6')]", "shape": [1000], "order": "C", "container": "numpy"}"#,
        ),
        (
            r#"{"dtype": "'|u1'", "shape": [0], "order": "C", "container": "numpy"}"#,
            0,
            7,
            r#"{"dtype": "'|u1'", "shape": [7], "order": "C", "container": "numpy"}"#,
        ),
    ];
    for (before, old, new, after) in cases {
        let folder = array(before, &vec![1; old]);
        assert_eq!(
            append(&mut open(&folder), &vec![2; new]).unwrap(),
            new as u64
        );
        let model = [vec![1; old], vec![2; new]].concat();
        // The spacing of a shape is free.
        let found = open(&folder).metadata().unwrap().text().replace(' ', "");
        assert_eq!(found.trim_end(), after.replace(' ', ""));
        let text = open(&folder).metadata().unwrap().text().to_owned();
        check(&folder, &model, Some(text.trim_end()));
    }
}

#[test]
fn what_is_no_whole_row_is_refused_and_changes_nothing() {
    let cases = [
        (
            r#"{"dtype": "'<f8'", "shape": [10], "order": "C", "container": "numpy"}"#,
            80,
            7,
        ),
        (
            r#"{"dtype": "'<i4'", "shape": [5, 4], "order": "C", "container": "numpy"}"#,
            80,
            8,
        ),
        (
            r#"{"dtype": "'<f8'", "shape": [], "order": "C", "container": "numpy"}"#,
            8,
            8,
        ),
        (
            r#"{"dtype": "'<f8'", "shape": [3, 0], "order": "C", "container": "numpy"}"#,
            0,
            8,
        ),
    ];
    for (metadata, old, new) in cases {
        let folder = array(metadata, &vec![1; old]);
        let before = folder.bytes(NAME);
        let error = append(&mut open(&folder), &vec![2; new]).unwrap_err();
        assert_eq!(error.category(), Category::Usage, "{metadata}: {error}");
        assert_eq!(folder.bytes(NAME), before, "{metadata}");
    }
}
