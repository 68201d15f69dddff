//! [`Snapshot`]: a file as its last complete change left it.

use super::held::{MISSING, busy, interrupted, is_marked, journal_name};
use super::journal::Journal;
use super::lock::wait_for;
use super::{Access, Disk, Folder, LockMode, ReadAt, Result, overlay};
use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::path::Path;
use std::time::Duration;

/// How long a reader waits for a change that is being made, which takes moments.
const PATIENCE: Duration = Duration::from_secs(60);

/// A file opened for reading, which no writer changes as long as this lives.
///
/// If an earlier writer was interrupted in the middle of a change, the change is read from its
/// journal. Nothing is written; files that nobody may write can be read, too. Other programs that
/// change the file do not ask, and are not kept from it.
///
/// ```
/// use bloscpack::IndexedReader;
/// use bloscpack_storage::{Memory, Snapshot};
/// let folder = Memory::from([("a.blp", bloscpack::compress(b"some data")?)]);
/// let reader = IndexedReader::open(Snapshot::open_in(&folder, "a.blp".as_ref())?)?;
/// assert_eq!(reader.content_len(), 9);
/// # Ok::<(), bloscpack_error::Error>(())
/// ```
#[derive(Debug)]
pub struct Snapshot<F = File> {
    file: F,
    /// A change that was interrupted, and the journal that tells it.
    change: Option<(Journal, F)>,
}

impl Snapshot {
    /// Opens the file at this path.
    ///
    /// # Errors
    /// As [`open_in`](Self::open_in).
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        let (folder, name) = Disk::of(path)?;
        Self::open_in(&folder, &name)
    }
}

impl<T: super::WriteAt + super::Lock> Snapshot<T> {
    /// Opens a file of a folder.
    ///
    /// # Errors
    /// Those of the folder; [`ResourceBusy`](io::ErrorKind::ResourceBusy) if a change takes longer
    /// than a minute; [`Interrupted`](super::Error::Interrupted) if a change was
    /// interrupted and its journal is missing or belongs to another file.
    pub fn open_in<F: Folder<File = T>>(folder: &F, name: &OsStr) -> Result<Self> {
        let file = folder.open(name, Access::Read)?;
        if !wait_for(&file, LockMode::Shared, |waited| waited < PATIENCE)? {
            return Err(busy("another process is changing this file").into());
        }
        if !is_marked(&file)? {
            return Ok(Self { file, change: None });
        }
        let journal = match folder.open(&journal_name(name), Access::Read) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Err(interrupted(MISSING));
            }
            opened => opened?,
        };
        let change = Journal::read(&file, &journal)?.map_err(interrupted)?;
        Ok(Self {
            file,
            change: Some((change, journal)),
        })
    }

    /// Whether a change was interrupted here, which the next writer will complete.
    pub fn is_interrupted(&self) -> bool {
        self.change.is_some()
    }
}

impl<F> Snapshot<F> {
    /// The file itself, whose bytes are not those of the snapshot if a change was interrupted.
    pub fn get_ref(&self) -> &F {
        &self.file
    }
}

impl<F: ReadAt> ReadAt for Snapshot<F> {
    fn read_at(&self, at: u64, buf: &mut [u8]) -> io::Result<usize> {
        let Some((change, journal)) = &self.change else {
            return self.file.read_at(at, buf);
        };
        if let Some(byte) = buf.first_mut()
            && at == 0
        {
            *byte = change.first;
            return Ok(1);
        }
        let buf = overlay::first(buf, change.new_len.saturating_sub(at));
        overlay::read(&self.file, journal, &change.pieces, at, buf)
    }

    fn size(&self) -> io::Result<u64> {
        match &self.change {
            Some((change, _)) => Ok(change.new_len),
            None => self.file.size(),
        }
    }
}
