//! Tests that every I/O error from a public function has the side on which it happened.
//!
//! Each entry point runs again and again: with its first operation on one side failing, with its second, and so on until
//! none is left to fail.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

use bloscpack::error::Side;
use bloscpack::storage::{Memory, ReadAt};
use bloscpack::{
    Decoder, Encoder, EncoderBuilder, Error, FormatVersion, Metadata, Options,
    edit::{Editor, RecordEditor},
    indexed::IndexedReader,
    records::{IndexedRecordReader, RecordReader, RecordWriter, RecordWriterBuilder},
    survey::Survey,
    verify::{verify, verify_at},
};
use std::io::{self, Cursor, Read, Seek, SeekFrom, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use testkit::damages::recover;
use testkit::faulty::{EIO, Fault, Faulty, Plan};

type Result<T = ()> = std::result::Result<T, Error>;

/// Counts operations down to the one that fails, as all after it do.
#[derive(Clone)]
struct Fuse(Arc<AtomicUsize>);

impl Fuse {
    fn of(operations: usize) -> Self {
        Self(Arc::new(AtomicUsize::new(operations)))
    }

    fn pass(&self) -> io::Result<()> {
        let left = self
            .0
            .fetch_update(Relaxed, Relaxed, |left| left.checked_sub(1));
        left.map(|_| ())
            .map_err(|_| io::Error::from_raw_os_error(EIO))
    }

    fn is_blown(&self) -> bool {
        self.0.load(Relaxed) == 0
    }
}

/// Bytes to read from, by position or in order, and to write to.
#[derive(Clone)]
struct Flaky {
    bytes: Cursor<Vec<u8>>,
    fuse: Fuse,
}

impl Read for Flaky {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        self.fuse.pass()?;
        self.bytes.read(buf)
    }
}

impl Write for Flaky {
    fn write(&mut self, buf: &[u8]) -> io::Result<usize> {
        self.fuse.pass()?;
        self.bytes.write(buf)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.fuse.pass()
    }
}

impl Seek for Flaky {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.fuse.pass()?;
        self.bytes.seek(to)
    }
}

impl ReadAt for Flaky {
    fn read_at(&self, at: u64, buf: &mut [u8]) -> io::Result<usize> {
        self.fuse.pass()?;
        self.bytes.get_ref().read_at(at, buf)
    }

    fn size(&self) -> io::Result<u64> {
        self.fuse.pass()?;
        self.bytes.get_ref().size()
    }
}

/// The fuses of both sides.
struct Fuses {
    source: Fuse,
    target: Fuse,
}

impl Fuses {
    fn from(&self, bytes: &[u8]) -> Flaky {
        let bytes = Cursor::new(bytes.to_vec());
        let fuse = self.source.clone();
        Flaky { bytes, fuse }
    }

    fn to(&self) -> Flaky {
        let bytes = Cursor::default();
        let fuse = self.target.clone();
        Flaky { bytes, fuse }
    }
}

/// Runs with every operation of one side failing in turn.
fn fails(name: &str, side: Side, run: impl Fn(&Fuses) -> Result) {
    for operations in 0.. {
        let good = Fuse::of(usize::MAX);
        let bad = Fuse::of(operations);
        let (source, target) = match side {
            Side::Source => (bad.clone(), good),
            Side::Target => (good, bad.clone()),
        };
        match run(&Fuses { source, target }) {
            Ok(()) => {
                assert!(!bad.is_blown() || operations > 0, "{name}: nothing failed");
                break;
            }
            Err(error) => check(&format!("{name}, {operations}"), side, &error),
        }
    }
}

fn check(name: &str, side: Side, error: &Error) {
    assert!(
        error.io_error().is_some(),
        "{name}: not an I/O error: {error:?}"
    );
    assert_eq!(error.side(), Some(side), "{name}: {error:?}");
}

fn fails_on_both(name: &str, run: impl Fn(&Fuses) -> Result) {
    fails(name, Side::Source, &run);
    fails(name, Side::Target, &run);
}

/// Data that cannot be compressed much, of several chunks of [`CHUNK`] bytes.
fn noise() -> Vec<u8> {
    let numbers = 0..100_000u32;
    numbers
        .flat_map(|number| number.wrapping_mul(2_654_435_761).to_le_bytes())
        .collect()
}

const CHUNK: u32 = 40_000;

fn options() -> EncoderBuilder {
    Encoder::builder().chunk_size(CHUNK)
}

fn file() -> Vec<u8> {
    let mut encoder = options().write_to_file(Cursor::new(Vec::new())).unwrap();
    encoder.write_all(&noise()).unwrap();
    encoder.finish().unwrap().into_inner()
}

fn stream() -> Vec<u8> {
    let mut encoder = options().write_to(Vec::new()).unwrap();
    encoder.write_all(&noise()).unwrap();
    encoder.finish().unwrap()
}

fn record_options() -> [RecordWriterBuilder; 2] {
    [
        RecordWriter::builder(),
        RecordWriter::builder().packed(4096),
    ]
}

fn records(options: RecordWriterBuilder) -> Vec<u8> {
    let mut writer = options.write_to_file(Cursor::new(Vec::new())).unwrap();
    for record in noise().chunks(997) {
        writer.push(record).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

#[test]
fn encoders() {
    use bloscpack::blosc::Aim;
    let data = noise();
    let len = data.len() as u64;
    let all = [
        options(),
        options().threads(2),
        options().auto(Aim::Balance),
        options().size(len),
    ];
    for (number, options) in all.into_iter().enumerate() {
        fails_on_both(&format!("Encoder::read_from {number}"), |fuses| {
            let mut encoder = options.clone().write_to(fuses.to())?;
            encoder.read_from(fuses.from(&data))?;
            encoder.finish().map(|_| ())
        });
        fails_on_both(&format!("Encoder::read_at {number}"), |fuses| {
            let mut encoder = options.clone().write_to(fuses.to())?;
            encoder.read_at(Arc::new(fuses.from(&data)), 0..len)?;
            encoder.finish().map(|_| ())
        });
        fails_on_both(&format!("SeekEncoder::read_from {number}"), |fuses| {
            let mut encoder = options.clone().write_to_file(fuses.to())?;
            encoder.read_from(fuses.from(&data))?;
            encoder.finish().map(|_| ())
        });
        fails_on_both(&format!("SeekEncoder::read_at {number}"), |fuses| {
            let mut encoder = options.clone().write_to_file(fuses.to())?;
            encoder.read_at(Arc::new(fuses.from(&data)), 0..len)?;
            encoder.finish().map(|_| ())
        });
        fails(&format!("tune {number}"), Side::Target, |fuses| {
            let mut encoder = options.clone().write_to(fuses.to())?;
            encoder.read_from(&data[..100])?;
            encoder.tune().map(|_| ())?;
            let mut encoder = options.clone().write_to_file(fuses.to())?;
            encoder.read_from(&data[..100])?;
            encoder.tune().map(|_| ())
        });
    }
}

/// An offset for each chunk does not fit into the first table, so that all chunks are moved.
#[test]
fn a_table_that_grows() {
    let data = [7; 3000];
    fails("grow", Side::Target, |fuses| {
        let mut encoder = Encoder::builder()
            .chunk_size(1)
            .level(0)
            .write_to_file(fuses.to())?;
        // Shortly before the table is full.
        encoder.read_from(&data[..])?;
        encoder.finish().map(|_| ())
    });
}

#[test]
fn record_writers() {
    let data = noise();
    for (number, options) in record_options().into_iter().enumerate() {
        fails(&format!("RecordWriter {number}"), Side::Target, |fuses| {
            let mut writer = options.clone().write_to(fuses.to())?;
            for record in data.chunks(30_000) {
                writer.push(record)?;
                writer.push_as(&record)?;
            }
            writer.flush()?;
            writer.push("more")?;
            writer.finish().map(|_| ())
        });
        fails(
            &format!("SeekRecordWriter {number}"),
            Side::Target,
            |fuses| {
                let mut writer = options.clone().write_to_file(fuses.to())?;
                for record in data.chunks(30_000) {
                    writer.push(record)?;
                    writer.push_as(&record)?;
                }
                writer.flush()?;
                writer.push("more")?;
                writer.finish().map(|_| ())
            },
        );
    }
}

#[test]
fn decoders() {
    for file in [file(), stream()] {
        for threads in [1, 2] {
            let builder = || Options::new().threads(threads);
            fails_on_both("Decoder::copy_to", |fuses| {
                let mut decoder = Decoder::with_options(fuses.from(&file), builder());
                decoder.copy_to(&mut fuses.to()).map(|_| ())
            });
            fails_on_both("Decoder::read_at", |fuses| {
                let mut decoder = Decoder::from_source(Arc::new(fuses.from(&file)), 0, builder())?;
                decoder.copy_to(&mut fuses.to()).map(|_| ())
            });
            fails("Decoder::read_header", Side::Source, |fuses| {
                let mut decoder = Decoder::with_options(fuses.from(&file), builder());
                decoder.read_header().map(|_| ())
            });
            fails("Decoder::read_metadata", Side::Source, |fuses| {
                let mut decoder = Decoder::with_options(fuses.from(&file), builder());
                decoder.read_metadata().map(|_| ())?;
                decoder.read_metadata_header().map(|_| ())
            });
        }
    }
}

#[test]
fn record_readers() {
    for options in record_options() {
        let file = records(options);
        fails("RecordReader::next_record", Side::Source, |fuses| {
            let mut reader = RecordReader::new(fuses.from(&file));
            reader.read_header()?;
            reader.read_metadata()?;
            while reader.next_record()?.is_some() {}
            Ok(())
        });
        fails("RecordReader::next_as", Side::Source, |fuses| {
            let mut reader = RecordReader::new(fuses.from(&file));
            while reader.next_as::<Vec<u8>>()?.is_some() {}
            Ok(())
        });
        fails("RecordReader as an iterator", Side::Source, |fuses| {
            RecordReader::new(fuses.from(&file)).try_for_each(|record| record.map(|_| ()))
        });
        fails("IndexedRecordReader", Side::Source, |fuses| {
            let reader =
                IndexedRecordReader::with_options(fuses.from(&file), Options::new().cache(0))?;
            reader.get(3)?;
            reader.get_as::<Vec<u8>>(reader.len() / 2)?;
            reader
                .range(0..2)
                .try_for_each(|record| record.map(|_| ()))?;
            reader
                .range_as::<Vec<u8>>(5..7)
                .try_for_each(|record| record.map(|_| ()))?;
            reader.chunk_range(1).map(|_| ())
        });
    }
}

#[test]
fn indexed_readers() {
    for file in [file(), stream()] {
        fails("IndexedReader::open", Side::Source, |fuses| {
            IndexedReader::open(fuses.from(&file)).map(|_| ())
        });
        fails("IndexedReader", Side::Source, |fuses| {
            let reader = IndexedReader::with_options(fuses.from(&file), Options::new().cache(0))?;
            reader.chunk_range(1)?;
            reader.read_chunk(2)?;
            reader.read_at(50_000, &mut [0; 100])?;
            reader.read_exact_at(90_000, &mut [0; 50_000])
        });
        fails_on_both("IndexedReader::copy_range", |fuses| {
            let reader = IndexedReader::open(fuses.from(&file))?;
            reader.copy_range(10..200_000, &mut fuses.to()).map(|_| ())
        });
    }
}

#[test]
fn surveys_and_verification() {
    let mut torn = file();
    torn[60_000..60_016].fill(0xff);
    let mut behind = file();
    behind.extend_from_slice(&[1; 70_000]);
    for file in [file(), stream(), torn, behind] {
        fails("Survey::of", Side::Source, |fuses| {
            no_matter(Survey::of(fuses.from(&file), &Options::new()))
        });
        fails("Survey::of_file", Side::Source, |fuses| {
            no_matter(Survey::of_file(fuses.from(&file), &Options::new()))
        });
        fails("verify", Side::Source, |fuses| {
            verify(fuses.from(&file), &Options::new(), |_| Ok(())).map(|_| ())
        });
        fails("verify_at", Side::Source, |fuses| {
            verify_at(&fuses.from(&file), &Options::new().threads(2), |_| Ok(())).map(|_| ())
        });
    }
}

/// Damage is not what these cases are about.
fn no_matter<T>(result: Result<T>) -> Result {
    match result {
        Err(error) if error.is_format() => Ok(()),
        result => result.map(|_| ()),
    }
}

#[test]
fn recovery() {
    let damaged = |mut file: Vec<u8>| {
        let middle = file.len() / 2;
        file[middle..middle + 16].fill(0xff);
        file
    };
    let mut inputs = vec![damaged(file()), damaged(stream())];
    inputs.extend(record_options().map(|options| damaged(records(options))));
    for input in inputs {
        fails_on_both("recover", |fuses| {
            let options = Options::new().fill(true);
            recover(&fuses.from(&input), fuses.to(), &options).map(|_| ())
        });
    }
}

/// Runs on a folder in which one operation after the other fails, and all after it.
fn fails_in_folder(name: &str, file: &[u8], run: impl Fn(Faulty) -> Result) {
    for first in 0.. {
        let plan = Plan {
            fault: Fault::Error(EIO),
            first,
            lasting: true,
        };
        let memory = Memory::from([("a.blp", file.to_vec())]);
        let folder = Faulty::new(memory, plan);
        match run(folder.clone()) {
            Ok(()) if folder.faults() == 0 => break,
            // Such as a lock that cannot be given back.
            Ok(()) => {}
            Err(error) => check(&format!("{name}, {first}"), Side::Target, &error),
        }
    }
}

fn small(version: FormatVersion) -> Vec<u8> {
    let options = Encoder::builder().version(version).chunk_size(1000);
    let mut encoder = options.write_to_file(Cursor::new(Vec::new())).unwrap();
    encoder.write_all(&noise()[..4500]).unwrap();
    encoder.finish().unwrap().into_inner()
}

/// A file whose table is still to be filled in.
fn unindexed() -> Vec<u8> {
    let mut file = small(FormatVersion::V3);
    let survey = Survey::of(file.as_slice(), &Options::new()).unwrap();
    let chunks_at = survey.members[0].first_chunk_at.unwrap();
    file[32..usize::try_from(chunks_at).unwrap()].fill(0xff);
    file
}

#[test]
fn editors() {
    let data = noise();
    let metadata = Metadata::from_json(r#"{"a": 1}"#).unwrap();
    for version in [FormatVersion::V2, FormatVersion::V3] {
        let file = small(version);
        fails_in_folder("open and reader", &file, |folder| {
            Editor::open_in(folder, "a.blp".as_ref()).map(|_| ())
        });
        fails_in_folder("append", &file, |folder| {
            let mut editor = Editor::open_in(folder, "a.blp".as_ref())?;
            let mut appender = editor.append()?;
            appender.read_from(&data[..5000])?;
            appender.set_metadata(&metadata)?;
            appender.finish().map(|_| ())
        });
        fails_in_folder("patch", &file, |folder| {
            let mut editor = Editor::open_in(folder, "a.blp".as_ref())?;
            editor.patch(500, &data[7000..9000]).map(|_| ())
        });
        fails_in_folder("set_metadata", &file, |folder| {
            let mut editor = Editor::open_in(folder, "a.blp".as_ref())?;
            editor.set_metadata(&metadata)
        });
        fails_in_folder("reindex", &file, |folder| {
            let mut editor = Editor::open_in(folder, "a.blp".as_ref())?;
            editor.reindex().map(|_| ())
        });
        fails("Appender::read_from", Side::Source, |fuses| {
            let folder = Memory::from([("a.blp", file.clone())]);
            let mut editor = Editor::open_in(folder, "a.blp".as_ref())?;
            let mut appender = editor.append()?;
            appender.read_from(fuses.from(&data[..5000]))?;
            appender.finish().map(|_| ())
        });
        fails("Editor::patch", Side::Source, |fuses| {
            let folder = Memory::from([("a.blp", file.clone())]);
            let mut editor = Editor::open_in(folder, "a.blp".as_ref())?;
            editor.patch(500, fuses.from(&data[..2000])).map(|_| ())
        });
    }
    fails_in_folder("reindex an unfilled table", &unindexed(), |folder| {
        let mut editor = Editor::open_in(folder, "a.blp".as_ref())?;
        assert!(editor.reindex()?);
        Ok(())
    });
}

#[test]
fn record_editors() {
    let data = noise();
    let metadata = Metadata::from_json(r#"{"a": 1}"#).unwrap();
    for options in record_options() {
        let mut writer = options.write_to_file(Cursor::new(Vec::new())).unwrap();
        for record in data[..8000].chunks(300) {
            writer.push(record).unwrap();
        }
        let file = writer.finish().unwrap().into_inner();
        fails_in_folder("append records", &file, |folder| {
            let mut editor = RecordEditor::open_in(folder, "a.blp".as_ref())?;
            editor.reader()?;
            let mut appender = editor.append()?;
            for record in data.chunks(30_000) {
                appender.push(record)?;
                appender.push_as(&record)?;
            }
            appender.finish().map(|_| ())
        });
        fails_in_folder("set metadata of records", &file, |folder| {
            let mut editor = RecordEditor::open_in(folder, "a.blp".as_ref())?;
            editor.set_metadata(&metadata)?;
            editor.reindex().map(|_| ())
        });
    }
}

/// A path that leads nowhere is that of the file to be changed.
#[test]
fn opening_by_path() {
    let path = "does/not/exist.blp";
    check("open", Side::Target, &Editor::open(path).unwrap_err());
    check("open", Side::Target, &RecordEditor::open(path).unwrap_err());
}

/// An adapter through `std::io` drops the side, and the call around it knows.
#[test]
fn one_inside_another() {
    let file = file();
    fails_on_both("decoder into encoder", |fuses| {
        let mut encoder = options().write_to(fuses.to())?;
        Decoder::new(fuses.from(&file)).copy_to(&mut encoder)?;
        encoder.finish().map(|_| ())
    });
    fails_on_both("encoder from decoder", |fuses| {
        let mut encoder = options().write_to(fuses.to())?;
        encoder.read_from(Decoder::new(fuses.from(&file)))?;
        encoder.finish().map(|_| ())
    });
}

#[test]
fn a_path_that_cannot_be_opened_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("none");
    let editor = Editor::builder().open(&path);
    let records = Editor::builder().open_records(&path);
    let dataset = bloscpack_open::datasets::Dataset::open(&path);
    let frame = bloscpack_open::frames::Frame::open(&path);
    for error in [
        editor.map(drop).unwrap_err(),
        records.map(drop).unwrap_err(),
        dataset.map(drop).unwrap_err(),
        frame.map(drop).unwrap_err(),
    ] {
        assert_eq!(error.path(), Some(path.as_path()), "{error}");
    }
}
