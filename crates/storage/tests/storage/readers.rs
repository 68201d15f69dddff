//! Readers and writers of one file at the same time.

use bloscpack_storage::{
    Disk, Folder, JournaledFile, LockTimeout, Memory, ReadAt, Result, Snapshot,
};
use std::ffi::OsStr;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

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
    let timeout = LockTimeout::new(Duration::from_secs(30));
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
        let mut number = 1;
        while begun.elapsed() < time {
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
    together(&Disk::new(folder.path()), 6, Duration::from_secs(3));
}
