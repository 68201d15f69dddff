//! Tests that a crash while a log rotates loses no record that was promised, and leaves none twice.

use bloscpack::FormatVersion;
use bloscpack::edit::{Editor, RecordEditor};
use bloscpack::records::{RecordWriter, Rotation};
use bloscpack::storage::Memory;
use std::ffi::OsStr;
use std::io::Cursor;
use testkit::crash::{Depth, Files, for_each_files};
use testkit::golden::Random;
use testkit::recorder::Recorder;

const NAME: &str = "app.log.blp";
const DEPTH: Depth = Depth {
    exhaustive: 10,
    random: 24,
};

fn record(number: u64) -> String {
    format!("record {number}")
}

/// Appends the next records of the log.
fn append<F: bloscpack::storage::Folder>(editor: &mut RecordEditor<F>, count: u64) {
    let first = editor.rotation().first + editor.len();
    let mut appender = editor.append().unwrap();
    (first..first + count).for_each(|number| appender.push(record(number)).unwrap());
    appender.finish().unwrap();
}

/// The number of records in all parts that count, each of which must be as expected.
fn records_of(files: &Files) -> u64 {
    let folder: Memory = files.iter().cloned().collect();
    let open = |name: &OsStr| RecordEditor::open_in(folder.clone(), name).unwrap();
    let newest = open(NAME.as_ref());
    let mut found = 0;
    for part in 1..=newest.rotation().part {
        let name = Rotation { part, first: 0 }.name(NAME.as_ref());
        let older = (part < newest.rotation().part).then(|| open(&name));
        let editor = older.as_ref().unwrap_or(&newest);
        assert_eq!(editor.rotation(), Rotation { part, first: found });
        for one in editor.reader().unwrap().iter() {
            assert_eq!(one.unwrap(), record(found));
            found += 1;
        }
    }
    // It goes on from here.
    drop(newest);
    let mut newest = open(NAME.as_ref());
    append(&mut newest, 1);
    newest.rotate().unwrap();
    assert_eq!(newest.rotation().first, found + 1);
    found
}

#[test]
fn no_record_is_lost_or_doubled() {
    let (mut states, mut random) = (0, Random::new(45));
    for version in [FormatVersion::V2, FormatVersion::V3] {
        for packed in [None, Some(64)] {
            let builder = RecordWriter::builder().version(version).max_app_chunks(4);
            let builder = match packed {
                Some(size) => builder.packed(size),
                None => builder,
            };
            let mut writer = builder.write_to_file(Cursor::new(Vec::new())).unwrap();
            (0..3).for_each(|number| writer.push(record(number)).unwrap());
            let file = writer.finish().unwrap().into_inner();
            let recorder = Recorder::new(&[(NAME.into(), file)]);
            let builder = Editor::builder().max_app_chunks(4);
            let mut editor = builder
                .open_records_in(recorder.clone(), NAME.as_ref())
                .unwrap();
            let mut promised = vec![(0, 3)];
            for count in [2, 0, 5, 1] {
                append(&mut editor, count);
                promised.push((recorder.done(), promised.last().unwrap().1 + count));
                editor.rotate().unwrap();
                promised.push((recorder.done(), promised.last().unwrap().1));
            }
            drop(editor);
            let acked: Vec<_> = promised.iter().map(|(done, _)| *done).collect();
            for_each_files(
                &recorder.log(),
                &acked,
                DEPTH,
                &mut random,
                |done, files| {
                    let last = promised.iter().rposition(|(acked, _)| *acked <= done);
                    let last = last.unwrap();
                    let allowed = promised.iter().skip(last).take(2).map(|(_, count)| *count);
                    let found = records_of(files);
                    assert!(
                        allowed.clone().any(|count| count == found),
                        "{found} after {done}"
                    );
                    states += 1;
                },
            );
        }
    }
    assert!(states > 500, "{states}");
}
