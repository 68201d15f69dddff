//! Tests that change metadata and content together, and that writers wait for readers.

use crate::edit::{NAME, name};
use bloscpack::storage::Memory;
use bloscpack::{Encoder, Metadata, Options, edit::Editor, survey::Survey};
use std::io::{Cursor, Write};

/// Files of some content and metadata, and the folder that they are in.
fn with_metadata(content: &[u8], metadata: &str) -> Memory {
    let metadata = Metadata::from_json(metadata.as_bytes().to_vec()).unwrap();
    let options = Encoder::builder().metadata(metadata).chunk_size(1000);
    let mut encoder = options.write_to_file(Cursor::new(Vec::new())).unwrap();
    encoder.write_all(content).unwrap();
    Memory::from([(NAME, encoder.finish().unwrap().into_inner())])
}

fn metadata_and_content(folder: &Memory) -> (String, Vec<u8>) {
    let file = folder.bytes(NAME).unwrap();
    let survey = Survey::of(file.as_slice(), &Options::new()).unwrap();
    let metadata = survey.members[0].metadata.as_ref().unwrap();
    (
        metadata.text().to_owned(),
        bloscpack::decompress(&file).unwrap(),
    )
}

#[test]
fn metadata_and_content_change_together_or_not_at_all() {
    let array = r#"{"dtype":"'<f8'","shape":[3],"order":"C","container":"numpy"}"#;
    for new in ["{}".to_owned(), format!("[{}0]", "0,".repeat(3000))] {
        for more in [0, 1, 5000] {
            let folder = with_metadata(&[7; 24], array);
            let mut editor = Editor::open_in(folder.clone(), name()).unwrap();
            let metadata = Metadata::from_json(new.clone().into_bytes()).unwrap();

            let mut dropped = editor.append().unwrap();
            dropped.set_metadata(&metadata).unwrap();
            dropped.write_all(&vec![8; more]).unwrap();
            drop(dropped);
            assert_eq!(
                metadata_and_content(&folder),
                (array.to_owned(), vec![7; 24])
            );

            let mut appender = editor.append().unwrap();
            appender.set_metadata(&metadata).unwrap();
            appender.write_all(&vec![8; more]).unwrap();
            // The given metadata is stored even if the content does not end with a complete row.
            assert_eq!(appender.finish().unwrap(), more as u64);
            assert_eq!(editor.metadata(), Some(&metadata));
            let model = [vec![7; 24], vec![8; more]].concat();
            assert_eq!(metadata_and_content(&folder), (new.clone(), model));
        }
    }
}

#[test]
fn who_waits_for_readers_is_asked_and_may_give_up() {
    use bloscpack::storage::{Access, Folder, Lock, LockMode};
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU32, Ordering};
    let folder = with_metadata(b"some bytes", "{}");
    let asked = Arc::new(AtomicU32::new(0));
    let count = Arc::clone(&asked);
    let options = Options::new()
        .lock_timeout(std::time::Duration::MAX)
        .while_waiting(move |_| count.fetch_add(1, Ordering::Relaxed) < 3);
    let builder = Editor::builder().options(options);
    let mut editor = builder.open_in(folder.clone(), name()).unwrap();
    // As readers of earlier versions do.
    let reader = Folder::open(&folder, name(), Access::Read).unwrap();
    assert!(reader.try_lock(LockMode::Shared).unwrap());
    let error = editor.patch(0, b"SOME".as_slice()).unwrap_err();
    assert!(error.to_string().contains("reading this file"), "{error}");
    assert_eq!(asked.load(Ordering::Relaxed), 4);
    assert_eq!(metadata_and_content(&folder).1, b"some bytes");
    drop(reader);
    drop(editor);
    let mut editor = Editor::open_in(folder.clone(), name()).unwrap();
    editor.patch(0, b"SOME".as_slice()).unwrap();
    assert_eq!(metadata_and_content(&folder).1, b"SOME bytes");
}
