//! [`Replacement`]: a new file that replaces an open one.

use super::journaled::replacement_name;
use super::{Change, JournaledFile};
use crate::error::{committed, unknown};
use crate::{Access, Folder, Lock, WriteAt};
use std::ffi::{OsStr, OsString};
use std::io;

/// A new file that replaces a [`JournaledFile`] on [`commit`](Self::commit), for changes that do not fit into
/// the old file. It also holds the [`Change`], so that the old content with the pieces put so far can still be
/// read.
///
/// Without a commit the new file is removed: before the next change or when the old file is dropped, and after
/// a crash by the next writer. Its temporary name is `.blpk-SALT.tmp`.
///
/// ```
/// use bloscpack_storage::{JournaledFile, LockTimeout, Memory};
///
/// let folder = Memory::from([("data", b"old".to_vec())]);
/// let mut file = JournaledFile::open(folder.clone(), "data".as_ref(), &LockTimeout::default())?;
/// let new = file.change(None)?.into_replacement()?;
/// new.write(0, b"all new")?;
/// new.commit()?;
/// assert_eq!(folder.bytes("data").as_deref(), Some(&b"all new"[..]));
/// # Ok::<(), bloscpack_storage::Error>(())
/// ```
pub struct Replacement<'a, F: Folder> {
    change: Change<'a, F>,
    file: F::File,
    name: OsString,
}

impl<'a, F: Folder> Change<'a, F> {
    /// Creates an empty file that will replace the old one, with the same owner and mode as far as the process
    /// may set them.
    ///
    /// # Errors
    /// Returns any error of the folder.
    pub fn into_replacement(mut self) -> io::Result<Replacement<'a, F>> {
        let file = self.file_mut();
        // If the new file survives a crash, so must the journal that names it.
        file.at_risk(|file| {
            file.journal.sync()?;
            file.folder.sync()
        })?;
        let name = replacement_name(file.salt);
        let new = file.folder.create(&name, Some(&file.file))?;
        Ok(Replacement {
            change: self,
            file: new,
            name,
        })
    }
}

impl<'a, F: Folder> Replacement<'a, F> {
    /// The old file with the pieces that the change has put.
    pub fn old(&self) -> &Change<'a, F> {
        &self.change
    }

    /// Writes all of these bytes to the new file, from position `at`.
    ///
    /// # Errors
    /// Returns any error of the file. Some of the bytes may then have been written.
    pub fn write(&self, at: u64, bytes: &[u8]) -> io::Result<()> {
        self.old().check_process()?;
        self.file.write_all_at(at, bytes)
    }

    /// Syncs the new file and renames it to `name`, which another file may have, in the same folder. The old file stays as it is.
    /// Once this call is over, a power cut does not undo it.
    ///
    /// ```
    /// use bloscpack_storage::{JournaledFile, LockTimeout, Memory};
    ///
    /// let folder = Memory::from([("data", b"old".to_vec())]);
    /// let mut file = JournaledFile::open(folder.clone(), "data".as_ref(), &LockTimeout::default())?;
    /// let new = file.change(None)?.into_replacement()?;
    /// new.write(0, b"new")?;
    /// new.save_as("other".as_ref())?;
    /// assert_eq!(folder.bytes("data").as_deref(), Some(&b"old"[..]));
    /// assert_eq!(folder.bytes("other").as_deref(), Some(&b"new"[..]));
    /// # Ok::<(), bloscpack_storage::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns any error of the file and the folder.
    pub fn save_as(self, name: &OsStr) -> io::Result<()> {
        self.file.sync()?;
        let file = self.change.into_file();
        file.folder.replace(&self.name, name)?;
        file.folder.sync()
    }

    /// Syncs the new file and renames it over the old one. Returns when this would survive a power cut.
    ///
    /// # Errors
    /// Returns any error of the file and the folder. If the error contains
    /// [`Error::Committed`](crate::Error::Committed), the new file has the name and stays. If the name
    /// certainly still refers to the old file, that file can be changed again. Otherwise all further changes
    /// are refused: open the file again to find the old or the new content.
    pub fn commit(self) -> io::Result<&'a mut JournaledFile<F>> {
        let Self {
            change,
            file: new,
            name,
        } = self;
        let file = change.into_file();
        file.check_others()?;
        file.keeper.announce_in(&new)?;
        // An error of the rename does not tell whether the name was changed.
        file.is_poisoned = true;
        new.sync()?;
        // Windows does not replace an open file, and readers do not need the handle of the old one there.
        let is_seen = file.file.presence().is_some();
        if !is_seen {
            file.file = file.folder.open(&name, Access::Write)?;
        }
        if let Err(error) = file.folder.replace(&name, &file.name) {
            // A folder with the sticky bit may forbid the rename. If both files still have their names, nothing
            // has happened.
            let is_there = if is_seen {
                file.folder.leads_to(&file.name, &file.file)
            } else {
                file.folder.leads_to(&name, &new)
            };
            if !is_seen {
                file.file = file.folder.open(&file.name, Access::Write)?;
            }
            file.is_poisoned = !is_there.unwrap_or(false);
            return Err(if file.is_poisoned {
                unknown(error)
            } else {
                error
            });
        }
        file.folder.sync().map_err(unknown)?;
        let mut done = file.replace_file(new);
        file.begun = None;
        done = done.and_then(|()| file.remember_state());
        done.and_then(|()| file.begin_journal())
            .map_err(committed)?;
        file.is_poisoned = false;
        Ok(file)
    }
}
