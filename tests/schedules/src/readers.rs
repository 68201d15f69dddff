//! Models of readers and writers of one file, and of one store: each operation is a step, after
//! which another thread may continue. Writers may be killed before any of their operations.

use crate::check::Models;
use crate::steps::{Process, Steps};
use shuttle::rand::{Rng as _, thread_rng};
use shuttle::thread;
use std::ffi::OsStr;
use std::io::ErrorKind;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::time::Duration;
use storage::{
    Access, Error, JournaledFile, JournaledStore, Key, LockTimeout, Memory, ReadAt, Result,
    Snapshot,
};

/// A file or a store of which each commit has a number.
trait Place: Clone + Send + Sync + 'static {
    type Reader: Send + 'static;
    fn new() -> Self;
    /// Makes commits with these numbers, by one writer.
    fn write(&self, process: &Arc<Process>, numbers: [u64; 2], commits: &AtomicU64) -> Result<()>;
    fn open(&self) -> Result<Self::Reader>;
    fn refresh(reader: &mut Self::Reader) -> Result<()>;
    /// The number of the commit whose content this is.
    fn number_of(reader: &Self::Reader) -> Result<u64>;
}

fn timeout() -> LockTimeout {
    LockTimeout::new(Duration::from_secs(60))
}

fn number(bytes: &[u8]) -> u64 {
    let numbers = bytes
        .chunks(8)
        .map(|number| u64::from_be_bytes(number.try_into().unwrap()));
    let numbers: Vec<_> = numbers.collect();
    assert!(
        numbers.iter().all(|number| *number == numbers[0]),
        "torn: {numbers:?}"
    );
    numbers[0]
}

const NAME: &str = "data";

/// A file of three equal numbers.
#[derive(Clone)]
struct OneFile(Memory);

impl Place for OneFile {
    type Reader = Snapshot<<Steps as storage::Folder>::File>;

    fn new() -> Self {
        Self(Memory::from([(NAME, vec![0; 24])]))
    }

    fn write(&self, process: &Arc<Process>, numbers: [u64; 2], commits: &AtomicU64) -> Result<()> {
        let folder = Steps::new(&self.0, process);
        let mut file = JournaledFile::open(folder, NAME.as_ref(), &timeout())?;
        for number in numbers {
            let bytes = number.to_be_bytes();
            let mut change = file.change(None)?;
            for at in [0, 8, 16] {
                change.put(at, &bytes)?;
            }
            change.commit(24)?;
            commits.store(number, SeqCst);
        }
        Ok(())
    }

    fn open(&self) -> Result<Self::Reader> {
        let folder = Steps::new(&self.0, &Process::immortal());
        Snapshot::open_in(&folder, OsStr::new(NAME))
    }

    fn refresh(reader: &mut Self::Reader) -> Result<()> {
        reader.refresh().map(drop)
    }

    fn number_of(reader: &Self::Reader) -> Result<u64> {
        let mut bytes = [0; 24];
        let (first, rest) = bytes.split_at_mut(10);
        reader.read_exact_at(0, first)?;
        reader.read_exact_at(10, rest)?;
        Ok(number(&bytes))
    }
}

/// A store in which one file is patched, one is replaced, and one comes and goes.
#[derive(Clone)]
struct OneStore(Memory);

fn key(name: &str) -> Key {
    Key::parse(name).unwrap()
}

impl Place for OneStore {
    type Reader = JournaledStore;

    fn new() -> Self {
        Self(Memory::from([
            ("patched", vec![0; 16]),
            ("put", vec![0; 8]),
        ]))
    }

    fn write(&self, process: &Arc<Process>, numbers: [u64; 2], commits: &AtomicU64) -> Result<()> {
        let store = Arc::new(Steps::new(&self.0, process));
        let store = JournaledStore::open_with(store, Access::Write, timeout())?;
        for number in numbers {
            let bytes = number.to_be_bytes();
            store.patch(&key("patched"), 0, &bytes)?;
            store.patch(&key("patched"), 8, &bytes)?;
            store.put(&key("put"), &bytes)?;
            match number % 2 {
                0 => store.remove(&key("odd"))?,
                _ => store.put(&key("odd"), &bytes)?,
            }
            store.commit()?;
            commits.store(number, SeqCst);
        }
        Ok(())
    }

    fn open(&self) -> Result<JournaledStore> {
        let store = Arc::new(Steps::new(&self.0, &Process::immortal()));
        JournaledStore::open(store, Access::Read)
    }

    fn refresh(reader: &mut JournaledStore) -> Result<()> {
        reader.refresh().map(drop)
    }

    fn number_of(reader: &JournaledStore) -> Result<u64> {
        let patched = reader.get(&key("patched"), 16)?;
        let put = reader.get(&key("put"), 8)?;
        let odd = match reader.get(&key("odd"), 8) {
            Err(error) if error.kind() == ErrorKind::NotFound => None,
            odd => Some(odd?),
        };
        let number = number(&[patched, put].concat());
        let expected = (number % 2 == 1).then_some(number);
        assert_eq!(odd.map(|odd| self::number(&odd)), expected, "torn");
        Ok(number)
    }
}

/// Whether the reader has to be opened again, because a writer was killed.
fn is_stale(error: &Error) -> bool {
    matches!(error, Error::Io(error) if error.kind() == ErrorKind::StaleNetworkFileHandle)
}

/// Reads the content that a reader keeps, then refreshes the reader and reads the current content.
fn read<P: Place>(place: &P, commits: &AtomicU64, may_be_stale: bool) {
    let check = |done: Result<()>| match done {
        Err(error) if may_be_stale && is_stale(&error) => {}
        done => done.unwrap(),
    };
    let since = commits.load(SeqCst);
    let mut reader = place.open().unwrap();
    check((|| {
        let first = P::number_of(&reader)?;
        assert!(first >= since, "{first} after {since}");
        assert_eq!(P::number_of(&reader)?, first);
        let since = commits.load(SeqCst);
        P::refresh(&mut reader)?;
        let second = P::number_of(&reader)?;
        assert!(second >= since && second >= first, "{second} after {since}");
        Ok(())
    })());
}

/// Two readers while writers come and go.
fn together<P: Place>() {
    let (place, commits) = (P::new(), Arc::new(AtomicU64::new(0)));
    let readers = [0; 2].map(|_| {
        let (place, commits) = (place.clone(), Arc::clone(&commits));
        thread::spawn(move || read(&place, &commits, false))
    });
    let process = Process::immortal();
    place.write(&process, [1, 2], &commits).unwrap();
    place.write(&process, [3, 4], &commits).unwrap();
    for reader in readers {
        reader.join().unwrap();
    }
    assert_eq!(P::number_of(&place.open().unwrap()).unwrap(), 4);
}

/// A reader while a writer is killed, and another one comes.
fn killed<P: Place>() {
    let (place, commits) = (P::new(), Arc::new(AtomicU64::new(0)));
    let reader = {
        let (place, commits) = (place.clone(), Arc::clone(&commits));
        thread::spawn(move || read(&place, &commits, true))
    };
    let process = Process::with_steps(thread_rng().gen_range(0..150));
    let done = place.write(&process, [1, 2], &commits);
    assert!(done.is_ok() || process.is_killed(), "{done:?}");
    let found = P::number_of(&place.open().unwrap()).unwrap();
    let done = commits.load(SeqCst);
    assert!((done..=done + 1).contains(&found), "{found} after {done}");
    // The next number has another parity.
    place
        .write(&Process::immortal(), [found + 1, found + 2], &commits)
        .unwrap();
    reader.join().unwrap();
    assert_eq!(P::number_of(&place.open().unwrap()).unwrap(), found + 2);
}

pub fn models(models: &Models) {
    models.check_long("readers: of a file", together::<OneFile>);
    models.check_long("readers: of a store", together::<OneStore>);
    models.check_long(
        "readers: of a file whose writer is killed",
        killed::<OneFile>,
    );
    models.check_long(
        "readers: of a store whose writer is killed",
        killed::<OneStore>,
    );
}
