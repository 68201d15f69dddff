//! Tests of all possible changes to files that real tools wrote.

use crate::edit::golden::sensor;
use crate::edit::manifest::Manifest;
use crate::edit::{NAME, append, name, names};
use bloscpack::storage::Memory;
use bloscpack::{Category, FormatVersion, Options, edit::Editor, verify::verify};
use std::path::Path;

#[test]
fn real_files_grow_and_change() {
    change_all(&testkit::testdata("bloscpack"));
    if let Some(corpus) = testkit::corpus::part("bloscpack") {
        change_all(&corpus);
    }
}

fn change_all(folder: &Path) {
    let (mut changed, mut refused) = (0, Vec::new());
    let manifest = Manifest::read(folder);
    for expected in testkit::effort::sample(&manifest.files, 5) {
        let bytes = std::fs::read(folder.join(&expected.file)).unwrap();
        let mut model = bloscpack::decompress(&bytes).unwrap();
        let disk = Memory::from([(NAME, bytes)]);
        let mut editor = match Editor::open_in(disk.clone(), name()) {
            Ok(editor) => editor,
            Err(error) => {
                let read_only = matches!(
                    expected.header.layout,
                    FormatVersion::V0 | FormatVersion::Dev2012
                );
                assert_eq!(
                    error.category(),
                    Category::Unsupported,
                    "{}: {error}",
                    expected.file
                );
                assert!(
                    read_only || expected.file.contains("concat"),
                    "{}: {error}",
                    expected.file
                );
                refused.push(&expected.file);
                continue;
            }
        };
        let half = model.len() / 2;
        let patch = sensor(100.min(model.len() - half), 1);
        editor.patch(half as u64, patch.as_slice()).unwrap();
        model[half..half + patch.len()].copy_from_slice(&patch);
        // A number of rows for every shape that occurs.
        let more = sensor(720_720, 2);
        match append(&mut editor, &more) {
            Ok(_) => model.extend_from_slice(&more),
            Err(error) => {
                assert_eq!(
                    error.category(),
                    Category::Usage,
                    "{}: {error}",
                    expected.file
                );
                refused.push(&expected.file);
            }
        }
        drop(editor);
        let bytes = disk.bytes(NAME).unwrap();
        assert!(
            bloscpack::decompress(&bytes).unwrap() == model,
            "{}",
            expected.file
        );
        let report = verify(bytes.as_slice(), &Options::new(), |_| Ok(())).unwrap();
        assert!(report.is_sound(), "{}: {report:?}", expected.file);
        assert_eq!(names(&disk), [NAME], "{}", expected.file);
        changed += 1;
    }
    println!("{changed} changed; refused: {refused:?}");
    assert!(changed > testkit::effort::cases(200, 6));
}
