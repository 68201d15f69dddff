//! Several writing processes that are killed at random, and readers beside them.
#![cfg(unix)]

use bloscpack_storage::{
    Access, Disk, DiskStore, Error, JournaledFile, JournaledStore, Key, LockTimeout, ReadAt,
    Result, Snapshot,
};
use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, ErrorKind, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::SeqCst};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

const WRITERS: usize = 8;
const READERS: usize = 8;
/// The numbers in a file.
const NUMBERS: u64 = 700;
const PATH: &str = "BLOSCPACK_TEST_KILLED";

/// A file or a store with equal numbers, to which each commit adds one.
trait Place: Sized {
    const TEST: &str;
    fn create(path: &Path);
    fn open_writer(path: &Path) -> Result<Self>;
    /// Commits the next number, and returns it.
    fn add_one(&mut self) -> Result<u64>;
    /// The number of a new reader, which has it when it is asked once more.
    fn read(path: &Path) -> Result<u64>;
}

fn timeout() -> LockTimeout {
    LockTimeout::new(Duration::from_secs(120))
}

fn bytes_of(number: u64) -> Vec<u8> {
    (0..NUMBERS).flat_map(|_| number.to_be_bytes()).collect()
}

fn number_of(bytes: &[u8]) -> u64 {
    let (first, _) = bytes.split_first_chunk().unwrap();
    let number = u64::from_be_bytes(*first);
    assert!(bytes == bytes_of(number), "torn: {number}");
    number
}

struct OneFile(JournaledFile<Disk>);

impl OneFile {
    fn number<S: ReadAt>(file: &S) -> Result<u64> {
        let mut bytes = bytes_of(0);
        for (index, piece) in (0..).zip(bytes.chunks_mut(1000)) {
            file.read_exact_at(index * 1000, piece)?;
        }
        Ok(number_of(&bytes))
    }
}

impl Place for OneFile {
    const TEST: &str = "killed::writers_of_a_file";

    fn create(path: &Path) {
        std::fs::write(path, bytes_of(0)).unwrap();
    }

    fn open_writer(path: &Path) -> Result<Self> {
        let (folder, name) = Disk::of(path)?;
        Ok(Self(JournaledFile::open(folder, &name, &timeout())?))
    }

    fn add_one(&mut self) -> Result<u64> {
        let number = Self::number(self.0.file())? + 1;
        let mut change = self.0.change(None)?;
        for (index, piece) in (0..).zip(bytes_of(number).chunks(900)) {
            change.put(index * 900, piece)?;
        }
        change.commit(8 * NUMBERS)?;
        Ok(number)
    }

    fn read(path: &Path) -> Result<u64> {
        let snapshot = Snapshot::open(path)?;
        let number = Self::number(&snapshot)?;
        thread::sleep(Duration::from_millis(number % 5));
        assert_eq!(Self::number(&snapshot)?, number);
        Ok(number)
    }
}

struct OneStore(JournaledStore);

impl OneStore {
    fn number(store: &JournaledStore) -> Result<u64> {
        let number = number_of(&store.get(&key("patched"), 1 << 20)?);
        assert_eq!(number_of(&store.get(&key("put"), 1 << 20)?), number);
        let turn = store.list(&key("turn"))?;
        let turn: Vec<_> = turn
            .iter()
            .map(|entry| entry.name.to_str().unwrap())
            .collect();
        assert_eq!(turn, [number.to_string()]);
        Ok(number)
    }
}

fn key(text: &str) -> Key {
    Key::parse(text).unwrap()
}

impl Place for OneStore {
    const TEST: &str = "killed::writers_of_a_store";

    fn create(path: &Path) {
        let store = DiskStore::create(path).unwrap();
        let store = JournaledStore::open(Arc::new(store), Access::Write).unwrap();
        store.make_folder(&key("turn")).unwrap();
        for name in ["patched", "put", "turn/0"] {
            store.put(&key(name), &bytes_of(0)).unwrap();
        }
        store.commit().unwrap();
    }

    fn open_writer(path: &Path) -> Result<Self> {
        let store = Arc::new(DiskStore::open(path)?);
        Ok(Self(JournaledStore::open_with(
            store,
            Access::Write,
            timeout(),
        )?))
    }

    fn add_one(&mut self) -> Result<u64> {
        let number = Self::number(&self.0)?;
        self.0.remove(&key(&format!("turn/{number}")))?;
        let number = number + 1;
        self.0.put(&key(&format!("turn/{number}")), b"")?;
        self.0.put(&key("put"), &bytes_of(number))?;
        self.0.patch(&key("patched"), 0, &bytes_of(number))?;
        self.0.commit()?;
        Ok(number)
    }

    fn read(path: &Path) -> Result<u64> {
        let store = Arc::new(DiskStore::open(path)?);
        let store = JournaledStore::open(store, Access::Read)?;
        let number = Self::number(&store)?;
        thread::sleep(Duration::from_millis(number % 5));
        assert_eq!(Self::number(&store)?, number);
        Ok(number)
    }
}

/// Opens the place, commits a few numbers, prints those that are safe, and begins again.
fn be_a_writer<P: Place>(path: &Path) {
    loop {
        let mut place = P::open_writer(path).unwrap();
        for _ in 0..3 {
            println!("{}", place.add_one().unwrap());
            std::io::stdout().flush().unwrap();
        }
    }
}

/// The numbers that writers have reported, and the largest.
#[derive(Default)]
struct Safe {
    all: Mutex<BTreeSet<u64>>,
    last: AtomicU64,
}

impl Safe {
    fn add(&self, number: u64) {
        assert!(self.all.lock().unwrap().insert(number), "{number} twice");
        self.last.fetch_max(number, SeqCst);
    }
}

fn start<P: Place>(path: &Path, safe: &Arc<Safe>) -> (Child, thread::JoinHandle<()>) {
    let mut child = Command::new(std::env::current_exe().unwrap());
    child
        .args(["--exact", "--nocapture", P::TEST])
        .env(PATH, path);
    let child = child.stdout(Stdio::piped()).stderr(Stdio::inherit());
    let mut child = child.spawn().unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let safe = Arc::clone(safe);
    let hear = move || {
        for line in lines.map_while(std::io::Result::ok) {
            if let Ok(number) = line.parse() {
                safe.add(number);
            }
        }
    };
    (child, thread::spawn(hear))
}

/// Reads until it is over. A snapshot of a writer that was killed may be lost, and is opened again.
fn read_on<P: Place>(path: &Path, safe: &Safe, is_over: &AtomicBool) -> (u64, u64) {
    let (mut read, mut stale) = (0, 0);
    while !is_over.load(SeqCst) {
        let since = safe.last.load(SeqCst);
        match P::read(path) {
            Ok(number) => {
                assert!(number >= since, "{number} after {since}");
                read += 1;
            }
            Err(Error::Io(error)) if error.kind() == ErrorKind::StaleNetworkFileHandle => {
                stale += 1;
            }
            Err(error) => panic!("{error}"),
        }
    }
    (read, stale)
}

/// Ends the readers, also when a check fails: the scope waits for them.
struct Ends<'a>(&'a AtomicBool);

impl Drop for Ends<'_> {
    fn drop(&mut self) {
        self.0.store(true, SeqCst);
    }
}

/// Kills writers at random, as often as `BLOSCPACK_KILLS` says.
fn kill_writers<P: Place>() {
    if let Some(path) = std::env::var_os(PATH) {
        return be_a_writer::<P>(Path::new(&path));
    }
    let kills = std::env::var("BLOSCPACK_KILLS");
    let kills: u64 = kills.map_or(60, |kills| kills.parse().unwrap());
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("place");
    P::create(&path);
    let (safe, is_over) = (Arc::new(Safe::default()), AtomicBool::new(false));
    thread::scope(|scope| {
        let ends = Ends(&is_over);
        let reader = |_| scope.spawn(|| read_on::<P>(&path, &safe, &is_over));
        let readers: Vec<_> = (0..READERS).map(reader).collect();
        let mut writers: Vec<_> = (0..WRITERS).map(|_| start::<P>(&path, &safe)).collect();
        let mut pause = 1;
        for kill in 0..kills {
            // Any number of microseconds, by a generator that is good enough.
            pause = (pause * 48271) % 0x7fff_ffff;
            thread::sleep(Duration::from_micros(pause % 40_000));
            let index = usize::try_from(pause).unwrap() % writers.len();
            let (mut child, heard) = writers.swap_remove(index);
            child.kill().unwrap();
            child.wait().unwrap();
            heard.join().unwrap();
            writers.push(start::<P>(&path, &safe));
            // Now and then all of them get somewhere.
            let (last, begun) = (safe.last.load(SeqCst), Instant::now());
            while kill % 10 == 0 && safe.last.load(SeqCst) == last {
                assert!(
                    begun.elapsed() < Duration::from_secs(60),
                    "no writer gets through"
                );
                thread::sleep(Duration::from_millis(1));
            }
        }
        for (mut child, heard) in writers {
            child.kill().unwrap();
            child.wait().unwrap();
            heard.join().unwrap();
        }
        drop(ends);
        let read = readers.into_iter().map(|reader| reader.join().unwrap());
        let (read, stale) = read.fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
        let last = safe.last.load(SeqCst);
        println!("{kills} kills, {last} commits, {read} snapshots, {stale} lost");
    });
    let last = safe.last.load(SeqCst);
    let mut place = P::open_writer(&path).unwrap();
    let next = place.add_one().unwrap();
    // A commit of each writer may be there that it could not report.
    assert!((last + 1..=last + 9).contains(&next), "{next} after {last}");
}

#[test]
fn writers_of_a_file() {
    kill_writers::<OneFile>();
}

#[test]
fn writers_of_a_store() {
    kill_writers::<OneStore>();
}
