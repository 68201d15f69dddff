//! Tests from 1 to 64 threads, with damage, errors and panics in the middle, and dropped at any point: all give the
//! same result, no thread waits forever, and none outlives its owner.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by panicking, and so does what is planted here"
)]
#![allow(clippy::cast_possible_truncation, reason = "lengths here are small")]

use bloscpack::storage::{Memory, ReadAt};
use bloscpack::{
    Code, Decoder, Encoder, EncoderBuilder, Options,
    records::{RecordReader, RecordWriter},
    verify::{verify, verify_at},
};
use bloscpack_open::datasets::{CArray, Dataset};
use bloscpack_open::frames::{Frame, NdArray};
use std::fmt::Debug;
use std::io::{self, Cursor, Read, Write};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::process::Command;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;
use testkit::damages::recover;

use golden::{Random, sensor};
use testkit::golden;
use testkit::stopwatch::HANG;

const THREADS: [usize; 6] = [1, 2, 3, 7, 16, 64];

/// Large enough that each chunk is a job of its own.
const CHUNK: usize = 131_072;

/// One test at a time, so that each can count its own threads.
fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The number of pipeline threads, if the system reports it.
fn pipeline_threads() -> usize {
    let Ok(tasks) = std::fs::read_dir("/proc/self/task") else {
        return 0;
    };
    tasks
        .filter_map(|task| std::fs::read_to_string(task.ok()?.path().join("comm")).ok())
        .filter(|name| name.trim() == "bloscpack")
        .count()
}

/// A thread that was waited for is on the system's list for a moment longer.
#[track_caller]
fn assert_no_threads() {
    let begun = Instant::now();
    while pipeline_threads() > 0 {
        assert!(begun.elapsed() < HANG, "a thread is left");
        std::thread::yield_now();
    }
}

/// The kind of failure at the call with this number, counted from 0, and at all later ones.
#[derive(Clone, Copy, Debug, PartialEq)]
enum How {
    Fails,
    Panics,
}

struct Fuse {
    how: How,
    left: AtomicUsize,
    blown: AtomicBool,
}

impl Fuse {
    fn new(how: How, calls: usize) -> Self {
        Self {
            how,
            left: AtomicUsize::new(calls),
            blown: AtomicBool::new(false),
        }
    }

    /// So many more calls pass.
    fn set(&self, calls: usize) {
        self.left.store(calls, Ordering::SeqCst);
        self.blown.store(false, Ordering::SeqCst);
    }

    fn is_blown(&self) -> bool {
        self.blown.load(Ordering::SeqCst)
    }

    fn pass(&self) -> io::Result<()> {
        let one_less = |left: usize| left.checked_sub(1);
        let passed = self
            .left
            .fetch_update(Ordering::SeqCst, Ordering::SeqCst, one_less);
        self.blown.fetch_or(passed.is_err(), Ordering::SeqCst);
        match (passed, self.how) {
            (Ok(_), _) => Ok(()),
            (Err(_), How::Fails) => Err(io::Error::other("planted")),
            // Without the message that `panic!` prints.
            (Err(_), How::Panics) => resume_unwind(Box::new("planted")),
        }
    }
}

/// A target or a source with a fuse.
struct Fused<T>(T, Fuse);

impl<T: Write> Write for Fused<T> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.1.pass()?;
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.1.pass()?;
        self.0.flush()
    }
}

impl<T: Read> Read for Fused<T> {
    fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        self.1.pass()?;
        self.0.read(room)
    }
}

impl<T: ReadAt> ReadAt for Fused<T> {
    fn read_at(&self, at: u64, room: &mut [u8]) -> io::Result<usize> {
        self.1.pass()?;
        self.0.read_at(at, room)
    }

    fn size(&self) -> io::Result<u64> {
        self.0.size()
    }
}

/// How something ended: well, with an error, or with a panic.
#[derive(Debug, PartialEq)]
enum End<T> {
    Well(T),
    Error(String),
    Panic,
}

/// Does something that may panic; nothing of it is used afterwards.
fn end<T>(act: impl FnOnce() -> bloscpack::Result<T>) -> End<T> {
    match catch_unwind(AssertUnwindSafe(act)) {
        Ok(Ok(done)) => End::Well(done),
        Ok(Err(error)) => End::Error(error.to_string()),
        Err(_) => End::Panic,
    }
}

fn encoder(threads: usize) -> EncoderBuilder {
    let builder = Encoder::builder().chunk_size(CHUNK as u32).level(1);
    builder.threads(threads)
}

fn encoded(data: &[u8]) -> Vec<u8> {
    let mut encoder = encoder(1).write_to(Vec::new()).unwrap();
    encoder.write_all(data).unwrap();
    encoder.finish().unwrap()
}

/// A file with a bit flipped at each of these places, in hundredths of its length.
fn damaged(file: &[u8], places: &[usize]) -> Vec<u8> {
    let mut file = file.to_vec();
    for place in places {
        let at = file.len() / 100 * place;
        file[at] ^= 0x10;
    }
    file
}

/// All data that comes before an error, and the error.
fn decoded(threads: usize, file: &[u8]) -> (Vec<u8>, String) {
    let mut decoder = Decoder::with_options(file, Options::new().threads(threads));
    let mut data = Vec::new();
    let result = decoder.copy_to(&mut data);
    (
        data,
        result.map_or_else(|error| error.to_string(), |_| String::new()),
    )
}

/// As with one thread, whatever the number of them.
fn same<T: Debug + PartialEq>(what: &str, act: impl Fn(usize) -> T) {
    let expected = act(THREADS[0]);
    for threads in &THREADS[1..] {
        let found = act(*threads);
        assert!(found == expected, "{what}, {threads} threads");
        assert_no_threads();
    }
}

#[test]
fn files_are_written_and_read_by_any_number_of_threads() {
    let _alone = alone();
    // More chunks than there are threads.
    let data = sensor(70 * CHUNK + 100, 1);
    let file = encoded(&data);
    for threads in THREADS {
        let mut encoder = encoder(threads).write_to(Vec::new()).unwrap();
        encoder.write_all(&data).unwrap();
        assert!(encoder.finish().unwrap() == file);
        assert!(decoded(threads, &file) == (data.clone(), String::new()));
        assert_no_threads();
    }
}

#[test]
fn damage_in_the_middle_is_told_in_the_same_words() {
    let _alone = alone();
    let data = sensor(12 * CHUNK + 100, 2);
    let whole = encoded(&data);
    for places in [&[][..], &[50], &[30, 31, 60], &[1, 99]] {
        let file = damaged(&whole, places);
        let what = format!("{places:?}");
        same(&what, |threads| decoded(threads, &file));
        same(&what, |threads| {
            let report = verify(
                file.as_slice(),
                &Options::new().threads(threads),
                |_| Ok(()),
            );
            let report_at = verify_at(&file, &Options::new().threads(threads), |_| Ok(()));
            [report, report_at].map(|report| format!("{report:?}"))
        });
        same(&what, |threads| {
            let (mut target, options) = (Cursor::new(Vec::new()), Options::new());
            let recovery = recover(&file, &mut target, &options.threads(threads));
            (format!("{recovery:?}"), target.into_inner())
        });
    }
}

#[test]
fn records_are_told_alike_up_to_the_damage() {
    let _alone = alone();
    let data = sensor(8 * CHUNK, 3);
    for packed in [false, true] {
        let write = |threads| {
            let mut builder = RecordWriter::builder().threads(threads).level(1);
            if packed {
                builder = builder.packed(CHUNK as u32);
            }
            let mut writer = builder.write_to(Vec::new()).unwrap();
            let mut random = Random::new(4);
            let mut rest = data.as_slice();
            while !rest.is_empty() {
                let (record, behind) = rest.split_at(rest.len().min(random.below(20_000)));
                writer.push(record).unwrap();
                rest = behind;
            }
            writer.finish().unwrap()
        };
        same("written", write);
        let file = write(1);
        for places in [&[][..], &[50], &[30, 80]] {
            let file = damaged(&file, places);
            same(&format!("{places:?}"), |threads| {
                let builder = Options::new().threads(threads);
                let (mut reader, mut records) = (
                    RecordReader::with_options(file.as_slice(), builder),
                    Vec::new(),
                );
                loop {
                    match reader.next_record() {
                        Ok(Some(record)) => records.push(record.to_vec()),
                        Ok(None) => return (records, String::new()),
                        Err(error) => return (records, error.to_string()),
                    }
                }
            });
        }
    }
}

#[test]
fn dropped_at_any_point_they_leave_no_thread() {
    let _alone = alone();
    let data = sensor(20 * CHUNK, 5);
    let (file, mut random) = (encoded(&data), Random::new(6));
    for threads in THREADS {
        for _ in 0..12 {
            let builder = Options::new().threads(threads);
            let mut decoder = Decoder::with_options(file.as_slice(), builder);
            let mut some = vec![0; random.below(data.len())];
            decoder.read_exact(&mut some).unwrap();
            assert!(some == data[..some.len()]);
            drop(decoder);
            assert_no_threads();

            let mut encoder = encoder(threads).write_to(Vec::new()).unwrap();
            encoder.write_all(&some).unwrap();
            drop(encoder);
            let builder = RecordWriter::builder().threads(threads);
            let mut writer = builder.write_to(Vec::new()).unwrap();
            writer.push(&some).unwrap();
            drop(writer);
            assert_no_threads();
        }
    }
}

#[test]
fn targets_that_fail_or_panic_at_any_call() {
    let _alone = alone();
    let data = sensor(6 * CHUNK + 1, 7);
    let expected = encoded(&data);
    for threads in THREADS {
        for how in [How::Fails, How::Panics] {
            for calls in 0.. {
                let mut written = Vec::new();
                let target = Fused(&mut written, Fuse::new(how, calls));
                let end = end(|| {
                    let mut encoder = encoder(threads).write_to(target)?;
                    encoder.write_all(&data)?;
                    encoder.finish().map(drop)
                });
                assert_no_threads();
                assert!(expected.starts_with(&written), "{threads} {how:?} {calls}");
                match (end, how) {
                    (End::Well(()), _) => {
                        assert!(calls > 6 && written == expected);
                        break;
                    }
                    (End::Error(_), How::Fails) | (End::Panic, How::Panics) => {}
                    (end, _) => panic!("{threads} {how:?} {calls}: {end:?}"),
                }
            }
        }
    }
}

#[test]
fn an_encoder_whose_target_panicked_does_not_go_on() {
    let _alone = alone();
    let data = sensor(6 * CHUNK, 8);
    for threads in THREADS {
        let target = Fused(Vec::new(), Fuse::new(How::Panics, 3));
        let mut encoder = encoder(threads).write_to(target).unwrap();
        let panic = catch_unwind(AssertUnwindSafe(|| {
            encoder.write_all(&data).and_then(|()| encoder.flush())
        }));
        assert!(panic.is_err());
        // Something may be missing in the middle.
        assert!(
            encoder
                .write_all(&data)
                .and_then(|()| encoder.flush())
                .is_err()
        );
        assert!(encoder.finish().is_err());
        assert_no_threads();
    }
}

#[test]
fn sources_that_fail_or_panic_at_any_call() {
    let _alone = alone();
    let data = sensor(6 * CHUNK + 1, 9);
    let file = encoded(&data);
    for threads in THREADS {
        for how in [How::Fails, How::Panics] {
            for calls in 0.. {
                let source = Fused(file.as_slice(), Fuse::new(how, calls));
                let mut found = Vec::new();
                let mut decoder = Decoder::with_options(source, Options::new().threads(threads));
                let end = end(|| decoder.copy_to(&mut found));
                drop(decoder);
                assert_no_threads();
                assert!(data.starts_with(&found));
                match (end, how) {
                    (End::Well(_), _) => {
                        assert!(calls > 0 && found == data);
                        break;
                    }
                    (End::Error(_), How::Fails) | (End::Panic, How::Panics) => {}
                    (end, _) => panic!("{threads} {how:?} {calls}: {end:?}"),
                }
            }
        }
    }
}

/// Here the workers do the reading, so that a panic is theirs.
#[test]
fn sources_read_by_workers_that_fail_or_panic_at_any_call() {
    let _alone = alone();
    let data = sensor(6 * CHUNK + 1, 10);
    let file = encoded(&data);
    // It is read in windows of a MiB.
    let long = sensor(12 << 20, 10);
    let long_file = encoded(&long);
    for threads in THREADS {
        for how in [How::Fails, How::Panics] {
            for calls in 0.. {
                let source = Arc::new(Fused(data.clone(), Fuse::new(how, calls)));
                let mut encoder = encoder(threads).write_to(Vec::new()).unwrap();
                let done = end(|| encoder.read_at(source, 0..data.len() as u64));
                let is_over = done == End::Well(data.len() as u64);
                // Where it is the caller's thread that could not read the end, the rest could still be given.
                match encoder.finish() {
                    Ok(found) if is_over => assert!(found == file),
                    Ok(found) => assert!(data.starts_with(&decoded(1, &found).0)),
                    Err(error) => assert!(!is_over, "{threads} {how:?} {calls}: {error}"),
                }
                assert_no_threads();
                if is_over {
                    assert!(calls > 6);
                    break;
                }
            }
            for calls in 0.. {
                let source = Arc::new(Fused(long_file.clone(), Fuse::new(how, calls)));
                let mut found = Vec::new();
                let done = end(|| {
                    let builder = Options::new().threads(threads);
                    Decoder::from_source(source, 0, builder)?.copy_to(&mut found)
                });
                assert_no_threads();
                assert!(long.starts_with(&found));
                if matches!(done, End::Well(_)) {
                    assert!(found == long, "{} bytes", found.len());
                    assert!(calls > 6, "{calls} calls");
                    break;
                }
            }
        }
    }
}

/// An array of 64 chunks in a frame.
fn array(threads: usize) -> NdArray {
    let options = Options::new().threads(threads).cache(1 << 20);
    let builder = NdArray::of_type::<i32>(&[512, 512])
        .chunk_shape(&[64, 64])
        .block_shape(&[16, 16])
        .level(1)
        .options(options);
    let mut array = builder.in_memory().unwrap();
    let numbers: Vec<i32> = (0..512 * 512).map(|n| n * 7 % 1000).collect();
    array.write(&[0..512, 0..512], &numbers).unwrap();
    array
}

#[test]
fn arrays_in_frames_come_to_the_same() {
    let _alone = alone();
    let whole = array(1).to_bytes().unwrap();
    same("written", |threads| array(threads).to_bytes().unwrap());
    for places in [&[][..], &[50], &[20, 40, 60, 80]] {
        let file = damaged(&whole, places);
        same(&format!("{places:?}"), |threads| {
            let options = Options::new().threads(threads);
            let frame = Frame::read_with(file.clone(), &options).unwrap();
            let report = format!("{:?}", frame.verify(|_| ()));
            let array = NdArray::of(frame).unwrap();
            let all = array.read_slice(&[0..512, 0..512]);
            (report, all.map_err(|error| error.to_string()))
        });
    }
}

#[test]
fn frames_whose_source_fails_or_panics_at_any_call() {
    let _alone = alone();
    let bytes = array(1).to_bytes().unwrap();
    let expected = array(1).read_slice(&[0..512, 0..512]).unwrap();
    for threads in [1, 2, 7] {
        for how in [How::Fails, How::Panics] {
            for calls in (0..).step_by(3) {
                let source = Fused(bytes.clone(), Fuse::new(how, usize::MAX));
                let source = Arc::new(source);
                let options = Options::new().threads(threads);
                let frame = Frame::read_with(Arc::clone(&source), &options).unwrap();
                source.1.set(calls);
                let done = end(|| Ok(frame.verify(|_| ()).is_sound()));
                let over = !source.1.is_blown();
                // A chunk whose check failed or panicked is not sound; what only the caller's thread reads may panic there.
                let may_panic = how == How::Panics && !over && done == End::Panic;
                let what = format!("{threads} {how:?} {calls}");
                assert!(done == End::Well(over) || may_panic, "{what}: {done:?}");
                source.1.set(calls);
                let array = NdArray::of(frame).unwrap();
                let read = || array.read_slice(&[0..512, 0..512]);
                match (catch_unwind(AssertUnwindSafe(read)), how) {
                    (Ok(Ok(found)), _) => assert!(found == expected),
                    (Ok(Err(error)), How::Panics) => {
                        assert_eq!(error.code(), Code::Panicked, "{error}");
                    }
                    (Ok(Err(error)), How::Fails) => assert!(error.to_string().contains("planted")),
                    // What the caller's thread reads may panic there.
                    (Err(_), how) => assert_eq!(how, How::Panics),
                }
                if over {
                    break;
                }
            }
        }
    }
}

/// An array of 40 chunks in a directory, some of whose files are damaged, long or gone.
fn directory(damages: &[(usize, &str)]) -> Memory {
    let store = Memory::new();
    let builder = CArray::of::<i64>().chunk_rows(4096).level(1);
    let mut array = builder.create_in(store.clone()).unwrap();
    array.append(&sensor(40 * 4096 * 8, 11)).unwrap();
    array.flush().unwrap();
    drop(array);
    for (number, what) in damages {
        use bloscpack::storage::Store as _;
        let key = bloscpack::storage::Key::parse(&format!("data/__{number}.blp")).unwrap();
        let bytes = store.bytes(&key).unwrap();
        match *what {
            "gone" => store.remove(&key).unwrap(),
            "cut" => {
                store.remove(&key).unwrap();
                store.create(&key, &bytes[..bytes.len() - 9]).unwrap();
            }
            _ => store.patch(&key, 20, &[0xff; 12]).unwrap(),
        }
    }
    store
}

#[test]
fn arrays_in_directories_come_to_the_same() {
    let _alone = alone();
    for damages in [
        &[][..],
        &[(20, "bits")],
        &[(3, "gone"), (4, "cut"), (30, "bits")],
        &[(39, "cut"), (0, "bits"), (17, "gone")],
    ] {
        let store = directory(damages);
        same(&format!("{damages:?}"), |threads| {
            let options = Options::new().threads(threads);
            let array = Dataset::open_in(store.clone(), &options)
                .unwrap()
                .into_array()
                .unwrap();
            let report = format!("{:?}", array.verify(|_| ()));
            let rows = array.read_rows(0..array.rows());
            let some = array.read_rows(100..array.rows() - 5_000);
            let text = |rows: bloscpack::Result<Vec<u8>>| rows.map_err(|error| error.to_string());
            (report, text(rows), text(some))
        });
    }
}

/// If the system gives no thread at all, the caller does the work.
#[test]
fn without_a_single_thread_all_goes_on() {
    const ASKED: &str = "BLOSCPACK_WITHOUT_THREADS";
    if std::env::var_os(ASKED).is_none() {
        let _alone = alone();
        let mut other = Command::new(std::env::current_exe().unwrap());
        other.args([
            "--exact",
            "without_a_single_thread_all_goes_on",
            "--test-threads=1",
        ]);
        // No stack is as large as this, so that no thread starts.
        other.env("RUST_MIN_STACK", (1_u64 << 60).to_string());
        let told = other.env(ASKED, "1").output().unwrap();
        let text = String::from_utf8_lossy(&told.stdout);
        assert!(told.status.success() && text.contains("1 passed"), "{text}");
        return;
    }
    assert!(std::thread::Builder::new().spawn(|| ()).is_err());
    let data = sensor(6 * CHUNK, 12);
    let mut encoder = encoder(4).write_to(Vec::new()).unwrap();
    encoder.write_all(&data).unwrap();
    let file = encoder.finish().unwrap();
    assert!(decoded(4, &file).0 == data);
    assert!(
        verify(file.as_slice(), &Options::new().threads(4), |_| Ok(()))
            .unwrap()
            .is_sound()
    );
    let bytes = array(4).to_bytes().unwrap();
    let frame = Frame::from_bytes(bytes).unwrap();
    assert!(frame.verify(|_| ()).is_sound());
    let store = directory(&[]);
    let options = Options::new().threads(4);
    let array = Dataset::open_in(store, &options)
        .unwrap()
        .into_array()
        .unwrap();
    assert!(array.verify(|_| ()).is_sound());
    assert!(array.read_rows(0..array.rows()).unwrap() == sensor(40 * 4096 * 8, 11));
}
