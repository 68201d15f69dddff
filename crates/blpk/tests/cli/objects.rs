//! Tests of frames with objects of Python, as python-blosc2 has written them: they are tables of one column.

use serde_json::{Value, json};

use crate::support::Folder;

fn text(name: &str) -> String {
    let path = testkit::testdata("plug_ins").join(name);
    path.into_os_string().into_string().unwrap()
}

#[test]
fn objects_are_read_as_python_blosc2_reads_them() {
    let folder = Folder::new();
    let manifest: Value =
        serde_json::from_str(&std::fs::read_to_string(text("manifest.json")).unwrap()).unwrap();
    let all = manifest["objects"].as_object().unwrap();
    assert_eq!(all.len(), 4);
    for (name, expected) in all {
        let path = text(name);
        let shown = folder
            .run(["export", &path, "-", "--to", "jsonl"])
            .succeeded();
        let lines = String::from_utf8(shown).unwrap();
        let found: Vec<Value> = lines
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        let expected: Vec<_> = expected
            .as_array()
            .unwrap()
            .iter()
            .map(|value| json!({ "value": value }))
            .collect();
        assert_eq!(found, expected, "{name}");
        let facts: Value =
            serde_json::from_slice(&folder.run(["info", "--json", &path]).succeeded()).unwrap();
        assert_eq!(
            (&facts["layout"], &facts["rows"]),
            (&json!("objects"), &json!(expected.len())),
            "{name}"
        );
        folder.run(["verify", &path]).succeeded();
    }
}

#[test]
fn a_frame_within_a_value_is_named() {
    let folder = Folder::new();
    let path = text("frame.b2frame");
    folder
        .run(["export", &path, "-", "--to", "jsonl"])
        .failed(5, "a frame within a value");
    folder.run(["verify", &path]).succeeded();
}
