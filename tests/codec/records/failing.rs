//! Tests of targets and sources that fail in the middle, and of writers that are dropped: their remnants are never
//! taken for complete, and contain no wrong record.

use crate::records::samples::{Kind, few};
use crate::records::{Records, by_number, in_order};
use bloscpack::storage::ReadAt;
use bloscpack::{
    Category, Checksum, Code, Error, Options,
    records::{IndexedRecordReader, RecordReader},
    verify::verify,
};
use std::cell::{Cell, RefCell};
use std::io::{self, Cursor, ErrorKind as Io, Read, Seek, SeekFrom, Write};
use std::rc::Rc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// A target that outlives its writer, and fails from an operation on.
#[derive(Clone)]
struct Target {
    content: Rc<RefCell<Cursor<Vec<u8>>>>,
    left: Rc<Cell<usize>>,
    /// A single byte is taken at a time.
    short: bool,
}

impl Target {
    fn failing_after(operations: usize) -> Self {
        Self {
            content: Rc::default(),
            left: Rc::new(Cell::new(operations)),
            short: false,
        }
    }

    fn content(&self) -> Vec<u8> {
        self.content.borrow().get_ref().clone()
    }

    fn pass(&self) -> io::Result<()> {
        match self.left.get().checked_sub(1) {
            Some(left) => self.left.set(left),
            None => return Err(Io::StorageFull.into()),
        }
        Ok(())
    }
}

impl Write for Target {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.pass()?;
        let few = if self.short { 1 } else { bytes.len() };
        self.content
            .borrow_mut()
            .write(&bytes[..few.min(bytes.len())])
    }

    fn flush(&mut self) -> io::Result<()> {
        self.pass()
    }
}

impl Read for Target {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        self.pass()?;
        self.content.borrow_mut().read(buf)
    }
}

impl Seek for Target {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.pass()?;
        self.content.borrow_mut().seek(to)
    }
}

/// Enough to go beyond what a writer holds back, and to fill several batches.
fn many() -> Records {
    let noise = |seed: u32, len: u32| {
        let byte = |i: u32| (i.wrapping_mul(2_654_435_761).wrapping_add(seed) >> 13) as u8;
        (0..len).map(byte).collect::<Vec<u8>>()
    };
    (0..12).map(|i| noise(i, 30_000 + i)).chain(few()).collect()
}

/// Writes records, flushing after every third, and finishes unless `stop` ends it before.
fn write(
    kind: Kind,
    records: &[Vec<u8>],
    target: Target,
    stop: Option<usize>,
) -> Result<(), Error> {
    let builder = kind.builder(records.len());
    macro_rules! push_all {
        ($writer:expr) => {{
            let mut writer = $writer?;
            for (number, record) in records.iter().enumerate() {
                if stop == Some(number) {
                    return Ok(());
                }
                if let Err(error) = writer.push(record) {
                    // Behind a gap there is no way on.
                    assert!(writer.push(b"more").is_err());
                    assert!(writer.finish().is_err());
                    return Err(error);
                }
                if number % 3 == 2 {
                    writer.flush()?;
                }
            }
            if stop.is_none() {
                writer.finish()?;
            }
            Ok(())
        }};
    }
    if kind.seek {
        push_all!(builder.write_to_file(target))
    } else {
        push_all!(builder.write_to(target))
    }
}

/// The remaining file gives sequential readers a prefix of the records, and is not complete.
#[track_caller]
fn not_whole(place: &str, file: &[u8], records: &[Vec<u8>]) {
    let (found, end) = in_order(file);
    assert!(records.starts_with(&found), "{place}");
    assert!(end.is_err(), "{place}: read in order");
    assert!(by_number(file).is_err(), "{place}: by number");
    assert!(
        !verify(file, &Options::new(), |_| Ok(()))
            .unwrap()
            .is_sound(),
        "{place}"
    );
}

#[test]
fn what_a_dropped_writer_leaves_is_never_whole() {
    for records in [few(), many()] {
        for kind in Kind::all(Checksum::Crc32) {
            for stop in 0..=records.len() {
                let target = Target::failing_after(usize::MAX);
                write(kind, &records, target.clone(), Some(stop)).unwrap();
                let place = format!("{kind:?} dropped after {stop} of {}", records.len());
                not_whole(&place, &target.content(), &records);
            }
        }
    }
}

#[test]
fn what_a_failed_target_has_is_whole_or_told() {
    let mut failures = 0;
    for records in [few(), many(), Vec::new()] {
        for kind in Kind::all(Checksum::Crc32) {
            for operations in 0.. {
                let target = Target::failing_after(operations);
                let result = write(kind, &records, target.clone(), None);
                let file = target.content();
                let Err(error) = result else {
                    assert_eq!(by_number(&file).unwrap().records, records);
                    break;
                };
                failures += 1;
                assert_eq!(error.code(), Code::Io, "{error}");
                let place = format!("{kind:?} failed at {operations}: {} bytes", file.len());
                let (found, end) = in_order(file.as_slice());
                assert!(records.starts_with(&found), "{place}");
                // All may be there but for what fails last: the seal, a flush.
                if end.is_ok() {
                    assert_eq!(found, records, "{place}");
                }
                if let Ok(told) = by_number(&file) {
                    assert_eq!(told.records, records, "{place}");
                }
            }
        }
    }
    println!("{failures} failures");
    assert!(failures > 300);
}

#[test]
fn a_target_that_takes_a_byte_at_a_time_gets_the_same() {
    for kind in Kind::all(Checksum::Sha256) {
        let target = Target {
            short: true,
            ..Target::failing_after(usize::MAX)
        };
        let other = Target::failing_after(usize::MAX);
        write(kind, &few(), target.clone(), None).unwrap();
        write(kind, &few(), other.clone(), None).unwrap();
        assert_eq!(target.content(), other.content(), "{kind:?}");
    }
}

#[test]
fn another_number_than_promised_is_told_and_not_whole() {
    let records = few();
    for kind in Kind::all(Checksum::Crc32) {
        let kind = Kind {
            count_known: false,
            ..kind
        };
        for promised in [0, 1, 3, 5, 100] {
            let target = Target::failing_after(usize::MAX);
            let builder = kind.builder(0).count(promised);
            let result = if kind.seek {
                let mut writer = builder.write_to_file(target.clone()).unwrap();
                let pushed: Result<(), _> = records.iter().try_for_each(|one| writer.push(one));
                pushed.and_then(|()| writer.finish().map(|_| ()))
            } else {
                let mut writer = builder.write_to(target.clone()).unwrap();
                let pushed: Result<(), _> = records.iter().try_for_each(|one| writer.push(one));
                pushed.and_then(|()| writer.finish().map(|_| ()))
            };
            let error = result.unwrap_err();
            assert_eq!(error.category(), Category::Failed);
            assert_eq!(error.code(), Code::WrongCount);
            let found = if promised < 4 {
                "but there are more"
            } else {
                "got only 4"
            };
            let told = format!("expected {promised} records, {found}");
            assert_eq!(error.to_string(), told, "{kind:?}");
            // A promise of none was kept before it was broken.
            if promised > 0 {
                not_whole(&format!("{kind:?} {promised}"), &target.content(), &records);
            }
        }
    }
}

/// Gives an error before every piece.
struct Stuttering<'a> {
    bytes: &'a [u8],
    kind: Io,
    fails: bool,
}

impl Read for Stuttering<'_> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        self.fails = !self.fails;
        if self.fails {
            return Err(self.kind.into());
        }
        let most = buf.len().min(11);
        self.bytes.read(&mut buf[..most])
    }
}

#[test]
fn a_source_that_would_block_can_be_read_again() {
    for kind in Kind::all(Checksum::Crc32) {
        for error_kind in [Io::WouldBlock, Io::TimedOut, Io::Interrupted] {
            for threads in [1, 3] {
                let (records, file) = (many(), kind.write(&many()));
                let mut reader = RecordReader::with_options(
                    Stuttering {
                        bytes: &file,
                        kind: error_kind,
                        fails: false,
                    },
                    Options::new().threads(threads),
                );
                let mut found: Records = Vec::new();
                loop {
                    match reader.next_record() {
                        Ok(Some(record)) => found.push(record.to_vec()),
                        Ok(None) => break,
                        Err(error) => {
                            let found = error.io_error().map(io::Error::kind);
                            assert_eq!(found, Some(error_kind), "{kind:?}");
                        }
                    }
                }
                assert!(found == records, "{kind:?} {error_kind:?} {threads}");
            }
        }
    }
}

/// Fails at one read by position.
struct FailingAt<'a> {
    bytes: &'a [u8],
    left: AtomicUsize,
}

impl ReadAt for FailingAt<'_> {
    fn read_at(&self, at: u64, buf: &mut [u8]) -> io::Result<usize> {
        // Wraps around after the read that fails.
        if self.left.fetch_sub(1, Relaxed) == 0 {
            return Err(io::Error::other("a bad sector"));
        }
        self.bytes.read_at(at, buf)
    }

    fn size(&self) -> io::Result<u64> {
        self.bytes.size()
    }
}

#[test]
fn a_read_by_position_that_fails_leaves_nothing_wrong_behind() {
    for kind in Kind::all(Checksum::Crc32) {
        let (records, file) = (few(), kind.write(&few()));
        for operations in 0..60 {
            let source = FailingAt {
                bytes: &file,
                left: AtomicUsize::new(operations),
            };
            let reader = match IndexedRecordReader::open(source) {
                Ok(reader) => reader,
                Err(error) => {
                    assert!(error.code() == Code::Io, "{kind:?}: {error}");
                    continue;
                }
            };
            for (number, record) in records.iter().enumerate().rev() {
                let found = reader.get(number as u64);
                // Only that one read has failed.
                let found = found.or_else(|error| {
                    assert!(error.code() == Code::Io, "{kind:?}: {error}");
                    reader.get(number as u64)
                });
                assert_eq!(found.unwrap(), *record, "{kind:?} {operations}");
            }
        }
    }
}
