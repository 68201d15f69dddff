//! Readers and writers of one file at the same time.

use bloscpack_storage::{
    Access, Disk, Folder, JournaledFile, Lock, LockTimeout, Memory, ReadAt, Result, Snapshot,
    WriteAt,
};
use std::ffi::OsStr;
use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};
use testkit::stopwatch::HANG;

const NAME: &str = "data";
/// Numbers in a block that is patched, and bytes of it.
const BLOCK: u64 = 512;

/// A file in which every number is the number of commits, and whose length changes with it. It never begins with the
/// mark.
fn content(commits: u64) -> Vec<u8> {
    let numbers = BLOCK * (4 + commits % 4);
    (0..numbers).flat_map(|_| commits.to_be_bytes()).collect()
}

/// Commits each of these numbers, by one writer.
fn write<F: Folder + Clone>(folder: &F, numbers: Range<u64>, commits: &AtomicU64) -> Result<()> {
    let timeout = LockTimeout::new(HANG);
    let mut file = JournaledFile::open(folder.clone(), NAME.as_ref(), &timeout)?;
    for number in numbers {
        let new = content(number);
        let old_len = file.file().size()?;
        // Some of it is written after the end.
        let free = (number % 3 == 0 && to_u64(&new) > old_len).then_some(old_len);
        let mut change = file.change(free)?;
        for (index, block) in new.chunks(1000).enumerate() {
            change.put(index as u64 * 1000, block)?;
        }
        change.commit(to_u64(&new))?;
        commits.store(number, Ordering::SeqCst);
    }
    Ok(())
}

fn to_u64(bytes: &[u8]) -> u64 {
    bytes.len() as u64
}

/// The number of the commit whose content this is.
fn number_of(snapshot: &impl ReadAt) -> u64 {
    let mut all = vec![0; usize::try_from(snapshot.size().unwrap()).unwrap()];
    for (index, piece) in all.chunks_mut(700).enumerate() {
        snapshot.read_exact_at(index as u64 * 700, piece).unwrap();
    }
    let (first, _) = all.split_first_chunk().unwrap();
    let number = u64::from_be_bytes(*first);
    let expected = content(number);
    let wrong = all.iter().zip(&expected).position(|(a, b)| a != b);
    assert_eq!(wrong, None, "torn: {number}, {} bytes", all.len());
    assert!(all.len() >= expected.len(), "{number}");
    assert!(
        all[expected.len()..]
            .iter()
            .take(128)
            .all(|byte| *byte == 0)
    );
    number
}

/// Readers that refresh, that open again, and that stay with what they have, while there are commits.
fn together<F>(folder: &F, readers: usize, time: Duration)
where
    F: Folder + Clone + Send + Sync + 'static,
    F::File: Send + Sync,
{
    let (commits, opened) = (AtomicU64::new(0), AtomicU64::new(0));
    let is_over = AtomicBool::new(false);
    thread::scope(|scope| {
        for reader in 0..readers {
            let (commits, is_over, opened) = (&commits, &is_over, &opened);
            scope.spawn(move || {
                let mut snapshot = Snapshot::open_in(folder, OsStr::new(NAME)).unwrap();
                let mut last = number_of(&snapshot);
                while !is_over.load(Ordering::Relaxed) {
                    let before = commits.load(Ordering::SeqCst);
                    match reader % 3 {
                        0 => drop(snapshot.refresh().unwrap()),
                        1 => snapshot = Snapshot::open_in(folder, OsStr::new(NAME)).unwrap(),
                        _ => {
                            // An old snapshot stays as it is.
                            for _ in 0..20 {
                                assert_eq!(number_of(&snapshot), last);
                                thread::sleep(Duration::from_millis(1));
                            }
                            snapshot.refresh().unwrap();
                        }
                    }
                    last = number_of(&snapshot);
                    assert!(last >= before, "{last} after {before} commits");
                    opened.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
        let begun = Instant::now();
        let mut number: u64 = 1;
        let is_enough = |number| number > 6 && opened.load(Ordering::Relaxed) > 5;
        while begun.elapsed() < time || (!is_enough(number) && begun.elapsed() < HANG) {
            let end = number + 1 + (number / 7) % 20;
            write(folder, number..end, &commits).unwrap();
            number = end;
        }
        is_over.store(true, Ordering::Relaxed);
    });
    let number = commits.load(Ordering::Relaxed);
    let opened = opened.load(Ordering::Relaxed);
    println!("{number} commits and {opened} snapshots in {time:?}");
    assert!(number > 5 && opened > 5);
    // Nothing is left once the next writer is done.
    write(folder, number + 1..number + 2, &commits).unwrap();
    assert_eq!(folder.list().unwrap(), [NAME]);
}

#[test]
fn in_memory() {
    let folder = Memory::from([(NAME, content(0))]);
    together(&folder, 6, Duration::from_secs(2));
}

#[test]
fn on_disk() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join(NAME), content(0)).unwrap();
    let file = std::fs::File::open(folder.path().join(NAME)).unwrap();
    if !file
        .presence()
        .is_some_and(|file| file.announce(9).unwrap())
    {
        println!("on this file system writers wait for readers");
        return;
    }
    drop(file);
    together(&Disk::new(folder.path()), 6, Duration::from_secs(3));
}

fn open(folder: &Memory) -> JournaledFile<Memory> {
    let timeout = LockTimeout::new(Duration::ZERO);
    JournaledFile::open(folder.clone(), NAME.as_ref(), &timeout).unwrap()
}

fn put(file: &mut JournaledFile<Memory>, at: u64, bytes: &[u8]) {
    let len = file.file().size().unwrap().max(at + to_u64(bytes));
    let mut change = file.change(None).unwrap();
    change.put(at, bytes).unwrap();
    change.commit(len).unwrap();
}

fn read(snapshot: &impl ReadAt) -> std::io::Result<Vec<u8>> {
    let mut all = vec![0; usize::try_from(snapshot.size()?).unwrap()];
    snapshot.read_exact_at(0, &mut all)?;
    Ok(all)
}

#[test]
fn a_snapshot_outlives_writers_and_a_replacement() {
    let folder = Memory::from([(NAME, b"the old content".to_vec())]);
    let first = Snapshot::open_in(&folder, OsStr::new(NAME)).unwrap();
    put(&mut open(&folder), 4, b"new");
    let second = Snapshot::open_in(&folder, OsStr::new(NAME)).unwrap();
    let mut writer = open(&folder);
    put(&mut writer, 0, b"THE");
    let replacement = writer.change(None).unwrap().into_replacement().unwrap();
    replacement.write(0, b"another file").unwrap();
    replacement.commit().unwrap();
    let third = Snapshot::open_in(&folder, OsStr::new(NAME)).unwrap();
    put(&mut writer, 0, b"ANOTHER");
    drop(writer);
    put(&mut open(&folder), 8, b"FILE, longer");
    assert_eq!(read(&first).unwrap(), b"the old content");
    assert_eq!(read(&second).unwrap(), b"the new content");
    assert_eq!(read(&third).unwrap(), b"another file");
    drop((first, second, third));
    drop(open(&folder));
    assert_eq!(folder.list().unwrap(), [NAME]);
    assert_eq!(folder.bytes(NAME).unwrap(), b"ANOTHER FILE, longer");
}

#[test]
fn a_history_does_not_grow_for_readers_that_go_on() {
    const MIB: usize = 1 << 20;
    let folder = Memory::from([(NAME, vec![0; MIB])]);
    let mut writer = open(&folder);
    let mut snapshot = Snapshot::open_in(&folder, OsStr::new(NAME)).unwrap();
    for number in 1..40_u8 {
        put(&mut writer, 0, &vec![number; MIB]);
        assert!(
            read(&snapshot)
                .unwrap()
                .iter()
                .all(|byte| *byte == number - 1)
        );
        assert!(snapshot.refresh().unwrap());
        assert!(!snapshot.refresh().unwrap());
        assert!(read(&snapshot).unwrap().iter().all(|byte| *byte == number));
        let history = folder.bytes(format!("{NAME}.blpk-history")).unwrap();
        assert!(history.len() < 6 * MIB, "{} bytes", history.len());
    }
}

/// A damaged history must not lead to wrong bytes unnoticed.
#[test]
fn a_damaged_history_is_an_error() {
    let name = format!("{NAME}.blpk-history");
    let mut errors = 0;
    // Everything but the old bytes themselves, which are checked as those of the file are.
    for byte in 0..184 {
        let folder = Memory::from([(NAME, b"the old content".to_vec())]);
        let snapshot = Snapshot::open_in(&folder, OsStr::new(NAME)).unwrap();
        let mut writer = open(&folder);
        put(&mut writer, 4, b"new");
        let history = Folder::open(&folder, name.as_ref(), Access::Write).unwrap();
        let mut flipped = [0];
        history.read_exact_at(byte, &mut flipped).unwrap();
        history.write_all_at(byte, &[flipped[0] ^ 1]).unwrap();
        match read(&snapshot) {
            Ok(content) => assert_eq!(content, b"the old content", "byte {byte}"),
            Err(_) => errors += 1,
        }
        // A reader that comes now needs nothing of it.
        if let Ok(now) = Snapshot::open_in(&folder, OsStr::new(NAME)) {
            assert_eq!(read(&now).unwrap(), b"the new content", "byte {byte}");
        }
    }
    assert!(errors > 170, "{errors}");
}

#[test]
fn what_another_program_writes_is_noticed_by_older_snapshots_alone() {
    let folder = Memory::from([(NAME, b"the old content".to_vec())]);
    let old = Snapshot::open_in(&folder, OsStr::new(NAME)).unwrap();
    put(&mut open(&folder), 4, b"new");
    let file = Folder::open(&folder, NAME.as_ref(), Access::Write).unwrap();
    file.write_all_at(4, b"odd").unwrap();
    let error = read(&old).unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::StaleNetworkFileHandle);

    let mut writer = open(&folder);
    let new = Snapshot::open_in(&folder, OsStr::new(NAME)).unwrap();
    put(&mut writer, 0, b"THE");
    assert_eq!(read(&new).unwrap(), b"the odd content");
    drop(writer);
    assert_eq!(read(&new).unwrap(), b"the odd content");
}

/// The order in which eight writers have the file that come one after the other, unless the machine delays one of them.
fn order_of_writers() -> Vec<u64> {
    let folder = Memory::from([(NAME, content(0))]);
    let order = Mutex::new(Vec::new());
    let first = open(&folder);
    thread::scope(|scope| {
        for number in 0..8 {
            let (folder, order) = (&folder, &order);
            scope.spawn(move || {
                // Far more than the pause between two attempts.
                thread::sleep(Duration::from_millis(40 * number));
                let timeout = LockTimeout::new(HANG);
                let writer = JournaledFile::open(folder.clone(), NAME.as_ref(), &timeout).unwrap();
                order.lock().unwrap().push(number);
                thread::sleep(Duration::from_millis(5));
                drop(writer);
            });
        }
        thread::sleep(Duration::from_millis(400));
        drop(first);
    });
    order.into_inner().unwrap()
}

#[test]
fn writers_have_the_file_in_the_order_in_which_they_come() {
    // On a busy machine a thread may come late.
    let orders: Vec<_> = (0..10)
        .map(|_| order_of_writers())
        .take_while(|order| !order.is_sorted())
        .collect();
    assert!(orders.len() < 10, "{orders:?}");
}

#[test]
fn a_writer_that_gives_up_says_for_whom_it_has_waited() {
    let folder = Memory::from([(NAME, content(0))]);
    let _writer = open(&folder);
    let timeout = LockTimeout::new(Duration::from_millis(20));
    let second = JournaledFile::open(folder, NAME.as_ref(), &timeout);
    let error = second.map(drop).unwrap_err().to_string();
    assert_eq!(error, "this process is writing to this file");
}
