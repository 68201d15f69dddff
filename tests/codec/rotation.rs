//! Logs that rotate, and followers that go through their parts.

use bloscpack::edit::RecordEditor;
use bloscpack::error::{Category, Code};
use bloscpack::follow::FollowOptions;
use bloscpack::records::{IndexedRecordReader, RecordWriter, Rotation};
use bloscpack::{Checksum, Compressor, FormatVersion, Metadata};
use std::fs;
use std::path::Path;
use std::thread;
use std::time::Duration;
use testkit::golden::Random;

fn record(number: u64) -> Vec<u8> {
    format!("record {number}").into_bytes()
}

/// A log at a path, with these records.
fn log(path: &Path, packed: bool, records: u64) {
    let builder = RecordWriter::builder().version(FormatVersion::V3);
    let builder = builder
        .checksum(Checksum::Sha1)
        .compressor(Compressor::Zstd)
        .metadata(Metadata::from_json(r#"{"service": "web", "dtype": "varchar"}"#).unwrap());
    let builder = if packed { builder.packed(500) } else { builder };
    let mut writer = builder
        .write_to_file(
            fs::File::options()
                .read(true)
                .write(true)
                .create_new(true)
                .open(path)
                .unwrap(),
        )
        .unwrap();
    (0..records).for_each(|number| writer.push(record(number)).unwrap());
    writer.finish().unwrap();
}

fn append(editor: &mut RecordEditor, count: u64) {
    let first = editor.rotation().first + editor.len();
    let mut appender = editor.append().unwrap();
    (first..first + count).for_each(|number| appender.push(record(number)).unwrap());
    appender.finish().unwrap();
}

#[test]
fn a_new_part_has_the_settings_of_the_old() {
    for packed in [false, true] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("app.log.blp");
        log(&path, packed, 100);
        let mut editor = RecordEditor::open(&path).unwrap();
        let (old, packing) = (editor.header().clone(), editor.packing());
        assert_eq!(editor.rotate().unwrap(), "app.log-000001.blp");
        append(&mut editor, 7);
        assert_eq!(editor.rotate().unwrap(), "app.log-000002.blp");
        append(&mut editor, 3);
        drop(editor);
        for (name, part, first, len) in [
            ("app.log-000001.blp", 1, 0, 100),
            ("app.log-000002.blp", 2, 100, 7),
            ("app.log.blp", 3, 107, 3),
        ] {
            let reader =
                IndexedRecordReader::open(fs::File::open(folder.path().join(name)).unwrap())
                    .unwrap();
            let header = reader.header().unwrap();
            assert_eq!(
                (header.version, header.checksum, header.typesize),
                (old.version, old.checksum, old.typesize)
            );
            assert_eq!((reader.packing(), reader.len()), (packing, len));
            let metadata = reader.metadata().unwrap().value().clone();
            assert_eq!(
                (&metadata["service"], &metadata["dtype"]),
                (&"web".into(), &"varchar".into())
            );
            assert_eq!(Rotation::of(reader.metadata()), Rotation { part, first });
            assert_eq!(reader.get(0).unwrap(), record(first));
        }
    }
}

#[test]
fn a_follower_misses_and_repeats_nothing() {
    for packed in [false, true] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        log(&path, packed, 5);
        let mut follower = FollowOptions::new().records(&path).unwrap();
        let writing = thread::spawn(move || {
            let (mut random, mut all) = (Random::new(7), 5);
            for _ in 0..100 {
                let mut editor = RecordEditor::open(&path).unwrap();
                for _ in 0..random.below(4) {
                    let count = random.below(30) as u64;
                    append(&mut editor, count);
                    all += count;
                }
                editor.rotate().unwrap();
                drop(editor);
                thread::sleep(Duration::from_millis(random.below(5) as u64));
            }
            all
        });
        let mut next = 0;
        let all = loop {
            while let Some(found) = follower.try_next().unwrap() {
                assert_eq!(found, record(next));
                next += 1;
                assert_eq!(follower.number(), next);
            }
            if !follower.wait(Some(Duration::from_millis(500))).unwrap() && writing.is_finished() {
                break writing.join().unwrap();
            }
        };
        assert_eq!(next, all);
    }
}

#[test]
fn a_follower_begins_in_any_part() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("app.log.blp");
    log(&path, true, 4);
    let mut editor = RecordEditor::open(&path).unwrap();
    for count in [3, 0, 6, 2] {
        editor.rotate().unwrap();
        append(&mut editor, count);
    }
    let options = FollowOptions::new().timeout(Duration::ZERO);
    for from in 0..=15 {
        let follower = options.clone().from(from).records(&path).unwrap();
        let found: Vec<_> = follower.map(|record| record.unwrap().to_vec()).collect();
        assert_eq!(found, (from..15).map(record).collect::<Vec<_>>());
    }
    let error = options.clone().from(16).records(&path).unwrap_err();
    assert_eq!(error.category(), Category::Usage);
    // A part is removed before a slow follower has reached it.
    let mut slow = options.clone().from(5).records(&path).unwrap();
    assert_eq!(slow.try_next().unwrap().unwrap(), record(5));
    fs::remove_file(folder.path().join("app.log-000004.blp")).unwrap();
    assert_eq!(slow.try_next().unwrap().unwrap(), record(6));
    let error = loop {
        match slow.wait(Some(Duration::ZERO)) {
            Ok(true) => assert_eq!(slow.try_next().unwrap(), None),
            Ok(false) => {}
            Err(error) => break error,
        }
    };
    assert_eq!(error.code(), Code::Replaced);
    let error = options.clone().from(5).records(&path).unwrap_err();
    assert_eq!(
        error.to_string(),
        "cannot follow from record 5: the part of the log before record 13 is missing"
    );
    assert_eq!(options.from(13).records(&path).unwrap().count(), 2);
}
