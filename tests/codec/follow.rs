//! Readers that refresh, and followers.

use bloscpack::edit::{Editor, RecordEditor};
use bloscpack::follow::FollowOptions;
use bloscpack::indexed::IndexedReader;
use bloscpack::records::{IndexedRecordReader, RecordWriter};
use bloscpack::storage::{
    Folder, Memory, MemoryFile, ReadAt, Refresh, Refreshed, Result, Snapshot, StopSignal,
};
use bloscpack::{Encoder, FormatVersion};
use std::fs;
use std::io::{self, Cursor, ErrorKind, Read, Write};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

const NAME: &str = "a.blp";

/// A snapshot that counts calls and bytes since the last refresh.
struct Counted {
    snapshot: Snapshot<MemoryFile>,
    read: Arc<Mutex<(u64, usize)>>,
}

impl Counted {
    fn of(folder: &Memory) -> (Self, Arc<Mutex<(u64, usize)>>) {
        let snapshot = Snapshot::open_in(folder, NAME.as_ref()).unwrap();
        let read = Arc::default();
        let counter = Arc::clone(&read);
        (Self { snapshot, read }, counter)
    }
}

impl ReadAt for Counted {
    fn read_at(&self, at: u64, buf: &mut [u8]) -> io::Result<usize> {
        let len = self.snapshot.read_at(at, buf)?;
        let mut read = self.read.lock().unwrap();
        *read = (read.0 + 1, read.1 + len);
        Ok(len)
    }

    fn size(&self) -> io::Result<u64> {
        self.snapshot.size()
    }
}

impl Refresh for Counted {
    fn refresh(&mut self) -> Result<Refreshed> {
        *self.read.lock().unwrap() = (0, 0);
        Refresh::refresh(&mut self.snapshot)
    }
}

/// Numbers as content, in chunks of 100 bytes.
fn numbers(chunks: u32) -> Memory {
    let builder = Encoder::builder().chunk_size(100).max_app_chunks(100_000);
    let mut encoder = builder.write_to_file(Cursor::new(Vec::new())).unwrap();
    let content: Vec<u8> = (0..chunks * 25).flat_map(u32::to_le_bytes).collect();
    encoder.write_all(&content).unwrap();
    let file = encoder.finish().unwrap().into_inner();
    Memory::from([(NAME, file)])
}

fn append(editor: &mut Editor<Memory>, content: &[u8]) {
    let mut appender = editor.append().unwrap();
    appender.write_all(content).unwrap();
    appender.finish().unwrap();
}

/// A log of packed records.
fn log(layout: FormatVersion, records: u64) -> Memory {
    let builder = RecordWriter::builder().version(layout).packed(1000);
    let builder = builder.max_app_chunks(100_000);
    let mut writer = builder.write_to_file(Cursor::new(Vec::new())).unwrap();
    for record in 0..records {
        writer.push(format!("record {record}")).unwrap();
    }
    Memory::from([(NAME, writer.finish().unwrap().into_inner())])
}

fn push(editor: &mut RecordEditor<Memory>, records: u64) {
    let first = editor.len();
    let mut appender = editor.append().unwrap();
    for record in first..first + records {
        appender.push(format!("record {record}")).unwrap();
    }
    appender.finish().unwrap();
}

#[test]
fn a_refresh_costs_what_is_new() {
    let folder = numbers(20_000);
    let (source, read) = Counted::of(&folder);
    let mut reader = IndexedReader::open(source).unwrap();
    let table = 8 * 20_000;
    assert!(read.lock().unwrap().1 > table);
    let mut editor = Editor::open_in(folder, NAME.as_ref()).unwrap();
    for round in 0..10 {
        append(&mut editor, &[round; 1000]);
        let before = 2_000_000 + 1000 * u64::from(round);
        let found = reader.refresh().unwrap();
        assert_eq!(found, Refreshed::Changed(before..before + 1000));
        let (calls, bytes) = *read.lock().unwrap();
        // The header and the metadata are read with what follows them: 16 KiB.
        assert!(calls < 10 && bytes < 17_000, "{calls} {bytes}");
        let mut new = [0; 1000];
        reader.read_exact_at(before, &mut new).unwrap();
        assert_eq!(new, [round; 1000]);
    }
    assert_eq!(reader.refresh().unwrap(), Refreshed::Unchanged);
    assert_eq!(*read.lock().unwrap(), (0, 0));
}

#[test]
fn a_refresh_of_records_keeps_what_was_unpacked() {
    let folder = log(FormatVersion::V3, 10_000);
    let (source, read) = Counted::of(&folder);
    let mut records = IndexedRecordReader::open(source).unwrap();
    for record in records.iter() {
        record.unwrap();
    }
    let mut editor = RecordEditor::open_in(folder, NAME.as_ref()).unwrap();
    for round in 0..10 {
        push(&mut editor, 7);
        let before = 10_000 + 7 * round;
        let found = records.refresh().unwrap();
        assert_eq!(found, Refreshed::Changed(before..before + 7));
        let (calls, bytes) = *read.lock().unwrap();
        assert!(calls < 10 && bytes < 18_000, "{calls} {bytes}");
        for record in 0..records.len() {
            assert_eq!(records.get(record).unwrap(), format!("record {record}"));
        }
        let all = read.lock().unwrap().0;
        assert!(all < calls + 3, "{all} {calls}");
    }
}

#[test]
fn a_refresh_sees_patches_and_other_files() {
    let folder = numbers(100);
    let (source, _) = Counted::of(&folder);
    let mut reader = IndexedReader::open(source).unwrap();
    let word = |reader: &IndexedReader<Counted>| {
        let mut word = [0; 4];
        // Twice, so that the chunk is kept.
        reader.read_exact_at(400, &mut word).unwrap();
        reader.read_exact_at(400, &mut word).unwrap();
        word
    };
    assert_eq!(word(&reader), 100_u32.to_le_bytes());
    let mut editor = Editor::open_in(folder.clone(), NAME.as_ref()).unwrap();
    editor.patch(400, b"here".as_slice()).unwrap();
    assert_eq!(word(&reader), 100_u32.to_le_bytes());
    let found = reader.refresh().unwrap();
    let same = [Refreshed::Changed(10_000..10_000), Refreshed::Replaced];
    assert!(same.contains(&found), "{found:?}");
    assert_eq!(word(&reader), *b"here");
    drop(editor);

    let replace = |file: &[u8]| {
        let new = folder.create("new".as_ref(), None).unwrap();
        bloscpack::storage::WriteAt::write_all_at(&new, 0, file).unwrap();
        folder.replace("new".as_ref(), NAME.as_ref()).unwrap();
    };
    replace(b"blpk, but no file");
    assert!(reader.refresh().is_err());
    assert_eq!((reader.content_len(), reader.chunks()), (0, 0));
    replace(&bloscpack::compress(&[7; 5000]).unwrap());
    assert_eq!(reader.refresh().unwrap(), Refreshed::Replaced);
    assert_eq!((reader.content_len(), word(&reader)), (5000, [7; 4]));
}

#[test]
fn a_refresh_of_records_that_were_rewritten() {
    let folder = log(FormatVersion::V2, 100);
    let (source, _) = Counted::of(&folder);
    let mut records = IndexedRecordReader::open(source).unwrap();
    let mut editor = RecordEditor::open_in(folder, NAME.as_ref()).unwrap();
    push(&mut editor, 100);
    assert_eq!(records.refresh().unwrap(), Refreshed::Replaced);
    assert_eq!(records.len(), 200);
    assert_eq!(records.get(199).unwrap(), "record 199");
}

// Elsewhere a reader keeps writers away.
#[cfg(all(target_os = "linux", target_pointer_width = "64"))]
#[test]
fn a_file_that_another_program_overwrites_is_read_again() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(NAME);
    fs::write(&path, log(FormatVersion::V3, 100).bytes(NAME).unwrap()).unwrap();
    thread::sleep(Duration::from_millis(50));
    let mut records = IndexedRecordReader::open(Snapshot::open(&path).unwrap()).unwrap();
    assert!(records.iter().all(|record| record.is_ok()));

    let other = log(FormatVersion::V3, 100).bytes(NAME).unwrap();
    fs::write(&path, &other).unwrap();
    let mut editor = RecordEditor::open(&path).unwrap();
    let mut appender = editor.append().unwrap();
    appender.push("record 100").unwrap();
    appender.finish().unwrap();
    assert_eq!(records.refresh().unwrap(), Refreshed::Replaced);
    assert_eq!(records.len(), 101);
}

#[test]
fn a_follower_waits_as_long_as_it_may() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(NAME);
    let file = log(FormatVersion::V3, 3).bytes(NAME).unwrap();
    fs::write(&path, file).unwrap();
    let stop = StopSignal::default();
    let options = FollowOptions::new().stop(&stop);
    let begun = Instant::now();
    let follower = options.clone().timeout(Duration::from_millis(300));
    let mut follower = follower.from(1).records(&path).unwrap();
    assert_eq!(follower.by_ref().count(), 2);
    assert!(begun.elapsed() >= Duration::from_millis(300));
    assert_eq!(follower.number(), 3);
    follower.seek(0).unwrap();
    assert_eq!(follower.try_next().unwrap().unwrap(), "record 0");
    assert_eq!(follower.number(), 1);
    assert!(follower.seek(4).is_err());

    let mut follower = options.records(&path).unwrap();
    let waiting = thread::spawn(move || follower.by_ref().count());
    thread::sleep(Duration::from_millis(100));
    assert!(!waiting.is_finished());
    stop.stop();
    assert_eq!(waiting.join().unwrap(), 3);
}

// Elsewhere a reader keeps writers away.
#[cfg(all(target_os = "linux", target_pointer_width = "64"))]
#[test]
fn a_follower_does_not_take_another_file_for_its_own() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(NAME);
    fs::write(&path, log(FormatVersion::V3, 3).bytes(NAME).unwrap()).unwrap();
    let options = FollowOptions::new().timeout(Duration::from_millis(400));
    let mut follower = options.records(&path).unwrap();
    assert_eq!(follower.by_ref().count(), 3);

    let other = folder.path().join("other");
    let writer = RecordWriter::builder().version(FormatVersion::V3);
    let mut writer = writer
        .write_to_file(fs::File::create_new(&other).unwrap())
        .unwrap();
    for record in 0..10 {
        writer.push(format!("other {record}")).unwrap();
    }
    writer.finish().unwrap();
    fs::rename(other, &path).unwrap();
    // However often it is asked, and however long the other file becomes.
    for _ in 0..3 {
        let error = follower.wait(Some(Duration::from_secs(20))).unwrap_err();
        assert!(
            error.to_string().contains("does not go on from record 3"),
            "{error}"
        );
        assert_eq!(follower.try_next().unwrap(), None);
        let mut editor = RecordEditor::open(&path).unwrap();
        let mut appender = editor.append().unwrap();
        appender.push("more").unwrap();
        appender.finish().unwrap();
    }
    follower.seek(0).unwrap();
    let records: bloscpack::Result<Vec<_>> = follower.collect();
    assert_eq!(records.unwrap().len(), 13);
}

#[test]
fn content_is_read_as_it_comes() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(NAME);
    fs::write(&path, bloscpack::compress(b"one").unwrap()).unwrap();
    let stop = StopSignal::default();
    let options = FollowOptions::new().stop(&stop);
    let mut follower = options.content(&path).unwrap();
    let reading = thread::spawn(move || {
        let mut content = Vec::new();
        follower.read_to_end(&mut content).unwrap();
        content
    });
    let mut at_once = options.timeout(Duration::ZERO).content(&path).unwrap();
    let mut content = Vec::new();
    let error = at_once.read_to_end(&mut content).unwrap_err();
    assert_eq!(
        (error.kind(), content.as_slice()),
        (ErrorKind::WouldBlock, b"one".as_slice())
    );

    let mut editor = Editor::open(&path).unwrap();
    let mut expected = b"one".to_vec();
    for number in 0..50_u8 {
        let mut appender = editor.append().unwrap();
        appender.write_all(&[number; 100]).unwrap();
        appender.finish().unwrap();
        expected.extend([number; 100]);
    }
    let error = at_once.read_to_end(&mut content).unwrap_err();
    assert_eq!((error.kind(), &content), (ErrorKind::WouldBlock, &expected));
    assert_eq!(at_once.position(), 5003);
    thread::sleep(Duration::from_millis(500));
    stop.stop();
    assert_eq!(reading.join().unwrap(), expected);
}
