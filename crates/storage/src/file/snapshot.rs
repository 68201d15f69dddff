//! [`Snapshot`]: a file as its last committed change left it.

use super::journaled::{is_marked, journal_name};
use crate::convert::prefix;
use crate::error::busy;
use crate::journal::{Journal, Overlay};
use crate::{
    Access, Disk, Folder, JournalFault, Lock, LockMode, LockTimeout, ReadAt, Result, WriteAt,
};
use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::path::Path;

/// A file that is open for reading, and that no writer changes as long as this exists.
///
/// If an earlier writer was interrupted in a change, the changed file is read through its journal.
/// Nothing is written, so that files in read-only places can be read, too. Programs that do not use
/// the locks of this crate are not kept from changing the file.
///
/// ```
/// use bloscpack_storage::{Memory, ReadAt, Snapshot};
/// let folder = Memory::from([("data", b"some data".to_vec())]);
/// let snapshot = Snapshot::open_in(&folder, "data".as_ref())?;
/// let mut bytes = [0; 4];
/// snapshot.read_exact_at(5, &mut bytes)?;
/// assert_eq!(&bytes, b"data");
/// assert!(!snapshot.is_interrupted());
/// # Ok::<(), bloscpack_storage::Error>(())
/// ```
#[derive(Debug)]
pub struct Snapshot<F = File> {
    file: F,
    /// The journal of a change that was interrupted, and the file that it is in.
    change: Option<(Journal, F)>,
}

impl Snapshot {
    /// Opens the file at this path, with symbolic links resolved.
    ///
    /// # Errors
    /// Returns the errors of [`open_in`](Self::open_in).
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        let (folder, name) = Disk::of(path)?;
        Self::open_in(&folder, &name)
    }
}

impl<T: WriteAt + Lock> Snapshot<T> {
    /// Opens a file of a folder.
    ///
    /// # Errors
    /// Returns [`ResourceBusy`](io::ErrorKind::ResourceBusy) if a writer takes longer than a minute
    /// to complete a change; [`Interrupted`](crate::Error::Interrupted) if a change was interrupted
    /// and its journal is missing, damaged or belongs to another file; and any error of the folder.
    pub fn open_in<F: Folder<File = T>>(folder: &F, name: &OsStr) -> Result<Self> {
        let file = folder.open(name, Access::Read)?;
        if !LockTimeout::OF_READERS.lock(&file, LockMode::Shared)? {
            return Err(busy("another process is changing this file").into());
        }
        if !is_marked(&file)? {
            return Ok(Self { file, change: None });
        }
        let journal = match folder.open(&journal_name(name), Access::Read) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Err(JournalFault::Missing.of_file());
            }
            opened => opened?,
        };
        let change = Journal::read(&file, &journal)?;
        Ok(Self {
            file,
            change: Some((change, journal)),
        })
    }

    /// Whether a change was interrupted, which the next writer will complete.
    pub fn is_interrupted(&self) -> bool {
        self.change.is_some()
    }
}

impl<F> Snapshot<F> {
    /// The file itself. If a change was interrupted, its bytes are not those of the snapshot.
    pub fn get_ref(&self) -> &F {
        &self.file
    }
}

impl<F: ReadAt> ReadAt for Snapshot<F> {
    fn read_at(&self, at: u64, buf: &mut [u8]) -> io::Result<usize> {
        let Some((change, journal)) = &self.change else {
            return self.file.read_at(at, buf);
        };
        // Nothing from the new end on.
        let buf = prefix(buf, change.new_len.saturating_sub(at));
        if let Some(byte) = buf.first_mut()
            && at == 0
        {
            *byte = change.first;
            return Ok(1);
        }
        let changed = Overlay {
            file: &self.file,
            journal,
            pieces: &change.pieces,
        };
        changed.read_at(at, buf)
    }

    fn size(&self) -> io::Result<u64> {
        match &self.change {
            Some((change, _)) => Ok(change.new_len),
            None => self.file.size(),
        }
    }
}
