//! Tests that refused edits change nothing.

use crate::edit::golden::sensor;
use crate::edit::{NAME, append, name, names};
use bloscpack::storage::Memory;
use bloscpack::{Category, Encoder, Filter, FormatVersion, Metadata, Options, edit::Editor};
use std::io::{Cursor, Read, Write};

fn file(options: bloscpack::EncoderBuilder, data: &[u8]) -> Vec<u8> {
    let mut encoder = options.write_to_file(Cursor::new(Vec::new())).unwrap();
    encoder.write_all(data).unwrap();
    encoder.finish().unwrap().into_inner()
}

fn open(bytes: Vec<u8>) -> bloscpack::Result<Editor<Memory>> {
    Editor::open_in(Memory::from([(NAME, bytes)]), name())
}

#[test]
fn a_damaged_last_chunk_gets_no_new_digest() {
    let mut bytes = file(Encoder::builder().chunk_size(1000), &sensor(2500, 1));
    let last = bytes.len() - 20;
    bytes[last] ^= 1;
    let folder = Memory::from([(NAME, bytes.clone())]);
    let mut editor = Editor::open_in(folder.clone(), name()).unwrap();
    let error = editor.append().map(|_| ()).unwrap_err();
    assert_eq!(error.category(), Category::Damaged);
    assert_eq!(error.position().unwrap().chunk, Some(2));
    // Nor a partial patch of it; a complete one repairs it.
    assert_eq!(
        editor.patch(2100, [1].as_slice()).unwrap_err().category(),
        Category::Damaged
    );
    assert_eq!(folder.bytes(NAME).unwrap(), bytes);
    editor.patch(2000, &sensor(2500, 1)[2000..]).unwrap();
    drop(editor);
    let whole = bloscpack::decompress(&folder.bytes(NAME).unwrap()).unwrap();
    assert_eq!(whole, sensor(2500, 1));
}

#[test]
fn members_records_and_halves_are_not_changed() {
    let one = file(Encoder::builder(), b"one");
    let two = [one.clone(), one.clone()].concat();
    assert_eq!(open(two).unwrap_err().category(), Category::Unsupported);

    let mut unfinished = Encoder::builder()
        .size(5000)
        .chunk_size(1000)
        .write_to_file(Cursor::new(Vec::new()))
        .unwrap();
    unfinished.write_all(&sensor(3000, 2)).unwrap();
    unfinished.flush().unwrap();
    let unfinished = unfinished.get_ref().get_ref().clone();
    assert_eq!(open(unfinished).unwrap_err().category(), Category::CutShort);

    let cut = one[..one.len() - 1].to_vec();
    assert_eq!(open(cut).unwrap_err().category(), Category::CutShort);
    assert_eq!(
        open(b"PK\x03\x04".to_vec()).unwrap_err().category(),
        Category::Unsupported
    );
    assert_eq!(open(Vec::new()).unwrap_err().category(), Category::CutShort);
}

/// A change would cut them off, and with them what `recover` can still save.
#[test]
fn sound_chunks_behind_the_last_one_are_not_cut_off() {
    let one = file(Encoder::builder().chunk_size(1000), &sensor(2500, 1));
    for gone in [1, 32, 100] {
        let two = [one.clone(), one[gone..].to_vec()].concat();
        let folder = Memory::from([(NAME, two.clone())]);
        let error = Editor::open_in(folder.clone(), name()).unwrap_err();
        assert_eq!(error.category(), Category::Damaged, "{error}");
        assert_eq!(folder.bytes(NAME).unwrap(), two);
        assert_eq!(names(&folder), [NAME]);
    }
}

#[test]
fn a_patch_behind_the_end_changes_nothing() {
    let data = sensor(5000, 3);
    let folder = Memory::from([(NAME, file(Encoder::builder().chunk_size(1000), &data))]);
    let before = folder.bytes(NAME);
    let mut editor = Editor::open_in(folder.clone(), name()).unwrap();
    for (at, len) in [(5001, 0), (5000, 1), (4000, 1001), (0, 5001)] {
        let error = editor.patch(at, vec![1; len].as_slice()).unwrap_err();
        assert_eq!(error.category(), Category::Usage, "{at} {len}");
    }
    assert_eq!(editor.patch(5000, [].as_slice()).unwrap(), 0);
    drop(editor);
    assert_eq!(folder.bytes(NAME), before);
    assert_eq!(names(&folder), [NAME]);
}

#[test]
fn a_reader_that_fails_halfway_changes_nothing() {
    struct Fails(usize);
    impl Read for Fails {
        fn read(&mut self, buf: &mut [u8]) -> std::io::Result<usize> {
            let len = self.0.min(buf.len());
            self.0 -= len;
            if len == 0 {
                Err(std::io::Error::other("gone"))
            } else {
                Ok(len)
            }
        }
    }
    let data = sensor(5000, 4);
    let folder = Memory::from([(NAME, file(Encoder::builder().chunk_size(1000), &data))]);
    let before = folder.bytes(NAME);
    let mut editor = Editor::open_in(folder.clone(), name()).unwrap();
    let mut appender = editor.append().unwrap();
    assert_eq!(
        appender.read_from(Fails(9000)).unwrap_err().category(),
        Category::Failed
    );
    drop(appender);
    assert_eq!(
        editor.patch(10, Fails(3000)).unwrap_err().category(),
        Category::Failed
    );
    drop(editor);
    assert_eq!(folder.bytes(NAME), before);
    assert_eq!(names(&folder), [NAME]);
    // Readers do not see appended data before it is closed.
    let mut editor = Editor::open_in(folder.clone(), name()).unwrap();
    let mut appender = editor.append().unwrap();
    appender.write_all(&sensor(9000, 5)).unwrap();
    let now = folder.bytes(NAME).unwrap();
    assert_eq!(bloscpack::decompress(&now).unwrap(), data);
}

#[test]
fn there_is_one_writer_at_a_time() {
    let folder = Memory::from([(NAME, file(Encoder::builder(), b"data"))]);
    let first = Editor::open_in(folder.clone(), name()).unwrap();
    let options = Options::new().lock_timeout(std::time::Duration::from_millis(20));
    let waiting = Editor::builder().options(options);
    let error = waiting.open_in(folder.clone(), name()).unwrap_err();
    assert_eq!(error.category(), Category::Failed);
    assert!(
        error.to_string().contains("this process is writing"),
        "{error}"
    );
    drop(first);
    let mut second = Editor::open_in(folder.clone(), name()).unwrap();
    append(&mut second, b" and more").unwrap();
}

#[test]
fn the_first_layout_has_no_place_for_metadata() {
    let bytes = file(Encoder::builder().version(FormatVersion::V1), b"data");
    let mut editor = open(bytes).unwrap();
    let metadata = Metadata::from_json("1").unwrap();
    assert_eq!(
        editor.set_metadata(&metadata).unwrap_err().category(),
        Category::Usage
    );
    assert_eq!(editor.reindex().unwrap_err().category(), Category::Usage);
}

/// Otherwise the change would be made, and the next reader of the file would report an error.
#[test]
fn what_the_limits_forbid_to_read_is_not_written() {
    let data = sensor(3000, 1);
    for layout in [FormatVersion::V2, FormatVersion::V3] {
        let options = || Encoder::builder().version(layout).chunk_size(1000);
        for (limits, chunk_size) in [
            (bloscpack::Limits::new().metadata(100), None),
            (bloscpack::Limits::new().chunk(3000), Some(4000)),
            (bloscpack::Limits::new().chunk(3000), None),
        ] {
            let data = if limits.chunk == 3000 {
                &data[..900]
            } else {
                &data
            };
            let folder = Memory::from([(NAME, file(options(), data))]);
            let before = folder.bytes(NAME);
            let mut builder = Editor::builder().options(Options::new().limits(limits));
            if let Some(bytes) = chunk_size {
                builder = builder.chunk_size(bytes);
            }
            let mut editor = builder.open_in(folder.clone(), name()).unwrap();
            let long = Metadata::from_json(format!("[{}1]", "1,".repeat(99))).unwrap();
            if limits.metadata == 100 {
                let error = editor.set_metadata(&long).unwrap_err();
                assert_eq!(error.category(), Category::OverLimit, "{error}");
                let mut appender = editor.append().unwrap();
                let error = appender.set_metadata(&long).unwrap_err();
                assert_eq!(error.category(), Category::OverLimit, "{error}");
            } else if chunk_size.is_some() {
                let error = append(&mut editor, &sensor(9000, 2)).unwrap_err();
                assert_eq!(error.category(), Category::OverLimit, "{error}");
            } else {
                append(&mut editor, &sensor(9000, 2)).unwrap();
                continue;
            }
            assert_eq!(folder.bytes(NAME), before);
            // And the editor is none the worse for it.
            editor.patch(0, b"!".as_slice()).unwrap();
        }
    }
}

#[test]
fn settings_out_of_range_are_wrong_usage() {
    let folder = Memory::from([(
        NAME,
        file(Encoder::builder().chunk_size(1000), &sensor(2500, 1)),
    )]);
    let before = folder.bytes(NAME);
    for builder in [
        Editor::builder().level(10),
        Editor::builder().level(255),
        Editor::builder().typesize(0),
    ] {
        let mut editor = builder.open_in(folder.clone(), name()).unwrap();
        let error = append(&mut editor, b"more").unwrap_err();
        assert_eq!(error.category(), Category::Usage, "{error}");
        let error = editor.patch(10, b"more".as_slice()).unwrap_err();
        assert_eq!(error.category(), Category::Usage, "{error}");
    }
    assert_eq!(folder.bytes(NAME), before);
    let builder = Editor::builder().options(Options::new().threads(0));
    let mut editor = builder.open_in(folder.clone(), name()).unwrap();
    append(&mut editor, b"more").unwrap();
}

#[test]
fn a_table_that_leads_into_other_chunks_is_not_patched_by() {
    let data = sensor(10_000, 5);
    let options = Encoder::builder().chunk_size(1000).filter(Filter::None);
    let sound = file(options, &data);
    // A header of 32 bytes, no metadata: the table.
    let entry = 32 + 5 * 8;
    let old = i64::from_le_bytes(*sound[entry..].first_chunk().unwrap());
    for by in [-512, -8, 8, 512] {
        let mut bytes = sound.clone();
        bytes[entry..entry + 8].copy_from_slice(&(old + by).to_le_bytes());
        let folder = Memory::from([(NAME, bytes.clone())]);
        let Ok(mut editor) = Editor::open_in(folder.clone(), name()) else {
            continue;
        };
        let error = editor.patch(5000, [1; 1000].as_slice()).unwrap_err();
        let told = [Category::Damaged, Category::Unsupported];
        assert!(told.contains(&error.category()), "{by}: {error}");
        drop(editor);
        assert_eq!(folder.bytes(NAME).unwrap(), bytes, "{by}");
    }
    // The position of a chunk whose own header is damaged follows from its neighbours.
    let mut bytes = sound.clone();
    let at = usize::try_from(old).unwrap();
    bytes[at..at + 16].fill(0xee);
    let folder = Memory::from([(NAME, bytes)]);
    let mut editor = Editor::open_in(folder.clone(), name()).unwrap();
    editor.patch(5000, [1; 1000].as_slice()).unwrap();
    drop(editor);
    let mut patched = data;
    patched[5000..6000].fill(1);
    assert_eq!(
        bloscpack::decompress(&folder.bytes(NAME).unwrap()).unwrap(),
        patched
    );
}

/// Readers would look for records in a file of content.
#[test]
fn content_cannot_declare_packed_records() {
    let packed = r#"{"packing": {"name": "lengths", "version": 1, "chunk_size": 4096}}"#;
    let packed = Metadata::from_json(packed).unwrap();
    for layout in [FormatVersion::V2, FormatVersion::V3] {
        let options = Encoder::builder().version(layout).metadata(packed.clone());
        let error = options.write_to(Vec::new()).unwrap_err();
        assert_eq!(error.category(), Category::Usage, "{error}");
    }
    let sound = file(Encoder::builder(), b"content");
    let folder = Memory::from([(NAME, sound.clone())]);
    let mut editor = Editor::open_in(folder.clone(), name()).unwrap();
    let error = editor.set_metadata(&packed).unwrap_err();
    assert_eq!(error.category(), Category::Usage, "{error}");
    let mut appender = editor.append().unwrap();
    let error = appender.set_metadata(&packed).unwrap_err();
    assert_eq!(error.category(), Category::Usage, "{error}");
    drop(appender);
    drop(editor);
    assert_eq!(folder.bytes(NAME), Some(sound));
}
