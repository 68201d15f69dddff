//! [`Snapshot`]: the content of a file after its last committed change.

use super::journaled::{is_marked, journal_name};
use super::site::history_name;
use crate::convert::prefix;
use crate::error::busy;
use crate::history::{Follower, Place, Reading, Start, View, status_of};
use crate::journal::Journal;
use crate::{
    Access, Disk, Folder, JournalFault, Key, Lock, LockMode, LockTimeout, ReadAt, Result, WriteAt,
};
use std::ffi::OsStr;
use std::fmt;
use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::{Arc, RwLock};

/// How often opening starts again after another writer has replaced the file.
const MAX_ATTEMPTS: u32 = 100;

/// A file that is open for reading. It keeps the content that the file had at opening.
///
/// Writers of this crate may change the file meanwhile. Before they overwrite bytes that a snapshot needs, they
/// save them in `NAME.blpk-history` beside the file, where the snapshot reads them. Readers and writers do not
/// wait for each other, except that opening may wait for a commit. Where handles of a file cannot see one
/// another ([`Lock::presence`]), as on network file systems and outside 64-bit Linux, a snapshot locks the file
/// instead, and writers wait for it.
///
/// If a writer was interrupted in a change, the snapshot reads the changed file through the journal. It writes
/// nothing, so files on read-only media can be read.
///
/// If a program without this protocol changes the file, or a writer is killed, reads fail with
/// [`StaleNetworkFileHandle`](io::ErrorKind::StaleNetworkFileHandle) instead of mixing old and new content:
/// open the file again, or [`refresh`](Self::refresh).
///
/// Threads can read at the same time. Memory grows by one entry for each range that writers overwrite; the
/// bytes stay on the disk.
///
/// ```
/// use bloscpack_storage::{JournaledFile, LockTimeout, Memory, ReadAt, Snapshot};
/// let folder = Memory::from([("data", b"some data".to_vec())]);
/// let snapshot = Snapshot::open_in(&folder, "data".as_ref())?;
///
/// let mut writer = JournaledFile::open(folder, "data".as_ref(), &LockTimeout::default())?;
/// let mut change = writer.change(None)?;
/// change.put(0, b"more")?;
/// change.commit(9)?;
///
/// let mut bytes = [0; 9];
/// snapshot.read_exact_at(0, &mut bytes)?;
/// assert_eq!(&bytes, b"some data");
/// let mut snapshot = snapshot;
/// assert!(snapshot.refresh()?);
/// snapshot.read_exact_at(0, &mut bytes)?;
/// assert_eq!(&bytes, b"more data");
/// # Ok::<(), bloscpack_storage::Error>(())
/// ```
pub struct Snapshot<F = File> {
    file: F,
    is_interrupted: bool,
    reading: Reading<F>,
    /// Opens the file again under its name.
    reopen: Box<dyn Fn() -> Result<Self> + Send + Sync>,
}

impl<F: fmt::Debug> fmt::Debug for Snapshot<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = f.debug_struct("Snapshot");
        text.field("file", &self.file);
        text.finish_non_exhaustive()
    }
}

impl Snapshot {
    /// Opens the file at this path. Symbolic links are resolved.
    ///
    /// # Errors
    /// Returns the errors of [`open_in`](Self::open_in).
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        let (folder, name) = Disk::of(path)?;
        Self::open_in(&folder, &name)
    }
}

impl<T: WriteAt + Lock + 'static> Snapshot<T> {
    /// Opens a file of a folder.
    ///
    /// # Errors
    /// Returns [`ResourceBusy`](io::ErrorKind::ResourceBusy) if a commit takes longer than a minute;
    /// [`Interrupted`](crate::Error::Interrupted) if a change was interrupted and its journal is missing,
    /// damaged or belongs to another file; and any error of the folder.
    pub fn open_in<D>(folder: &D, name: &OsStr) -> Result<Self>
    where
        D: Folder<File = T> + Clone + Send + Sync + 'static,
    {
        for _ in 0..MAX_ATTEMPTS {
            let opened = Self::try_open(folder, name)?;
            if folder.leads_to(name, &opened.file)? {
                return Ok(opened);
            }
        }
        Err(busy("other programs keep replacing this file").into())
    }

    fn try_open<D>(folder: &D, name: &OsStr) -> Result<Self>
    where
        D: Folder<File = T> + Clone + Send + Sync + 'static,
    {
        let file = folder.open(name, Access::Read)?;
        let (look_in, history) = (folder.clone(), history_name(name));
        let look = move || look_in.open(&history, Access::Read);
        let follower = Follower::new(&file, status_of, look)?;
        let start = LockTimeout::OF_READERS.wait(|| match &follower {
            Some(follower) => follower.start(&file),
            None => {
                let is_locked = file.try_lock(LockMode::Shared)?;
                Ok(is_locked.then(|| Start::Alone(View::default())))
            }
        })?;
        let (mut view, is_locked, is_followed) = match start {
            None => return Err(busy("another process is changing this file").into()),
            Some(Start::Following(view)) => (view, false, true),
            Some(Start::Locked(view)) => (view, true, true),
            Some(Start::Alone(view)) => (view, true, false),
        };
        let is_interrupted = is_locked && is_marked(&file)?;
        if is_interrupted {
            let (change, journal) = read_journal(folder, name, &file)?;
            pin_change(&mut view, &change, &journal);
        }
        if is_locked && is_followed {
            file.unlock()?;
        }
        Ok(Self {
            file,
            is_interrupted,
            reading: Reading {
                follower: follower.filter(|_| is_followed),
                view: RwLock::new(view),
            },
            reopen: {
                let (folder, name) = (folder.clone(), name.to_owned());
                Box::new(move || Self::open_in(&folder, &name))
            },
        })
    }

    /// Moves on to the file's current content, and returns whether it may have changed. Opens the file under
    /// its name again, so a file that has replaced the old one is read from then on.
    /// [`Refresh`](crate::Refresh) tells what has changed.
    ///
    /// # Errors
    /// Returns the errors of [`open_in`](Self::open_in). The snapshot then keeps its content.
    pub fn refresh(&mut self) -> Result<bool> {
        let new = (self.reopen)()?;
        let is_same = self.reading.is_same(&new.reading);
        let has_changed = !is_same || self.is_interrupted != new.is_interrupted;
        *self = new;
        Ok(has_changed)
    }
}

/// Pins the bytes of an interrupted change to its journal.
fn pin_change<F: ReadAt + Lock>(view: &mut View<F>, change: &Journal, journal: &Arc<F>) {
    let (root, len) = (Key::root(), change.new_len);
    view.pin(&root, len, (0, 1), &Place::Byte(change.first));
    for (at, piece) in &change.pieces {
        let place = Place::File(Arc::clone(journal), piece.from);
        view.pin(&root, len, (*at, piece.end(*at)), &place);
    }
}

/// The journal of a file whose change was interrupted.
fn read_journal<D: Folder>(
    folder: &D,
    name: &OsStr,
    file: &D::File,
) -> Result<(Journal, Arc<D::File>)> {
    let journal = match folder.open(&journal_name(name), Access::Read) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Err(JournalFault::Missing.of_file());
        }
        opened => opened?,
    };
    Ok((Journal::read(file, &journal)?, Arc::new(journal)))
}

impl<F> Snapshot<F> {
    /// Whether a change was interrupted when this was opened. It is visible here, and the next writer completes
    /// it on the disk.
    pub fn is_interrupted(&self) -> bool {
        self.is_interrupted
    }

    /// The open file itself. Its bytes may differ from the snapshot's: read the snapshot.
    pub fn get_ref(&self) -> &F {
        &self.file
    }
}

impl<F: WriteAt + Lock> ReadAt for Snapshot<F> {
    fn read_at(&self, at: u64, buf: &mut [u8]) -> io::Result<usize> {
        let root = Key::root();
        self.reading.look(&self.file, |view| {
            let read = view.read_at(&root, (&self.file, view.len), (at, buf))?;
            let len = view.len_of(&root, view.len);
            let Some(len) = len.filter(|_| read == 0) else {
                return Ok(read);
            };
            // The file is shorter than the content: an interrupted change has extended it, or a writer has
            // truncated what it had written after the end. These bytes are zeros.
            let missing = prefix(buf, len.saturating_sub(at));
            missing.fill(0);
            Ok(missing.len())
        })
    }

    fn size(&self) -> io::Result<u64> {
        let view = self.reading.view();
        match view.len_of(&Key::root(), view.len) {
            Some(len) => Ok(len),
            None => self.file.size(),
        }
    }
}
