//! [`Replacement`]: a new file that takes the place of an open one.

use super::journaled::replacement_name;
use super::{Change, JournaledFile};
use crate::error::{committed, unknown};
use crate::{Access, Folder, Lock, WriteAt};
use std::ffi::OsString;
use std::io;

/// A new file that takes the place of a [`JournaledFile`] once it is complete, together with the
/// [`Change`] that did not fit into the old file and can still be read.
///
/// Without [`commit`](Self::commit) the new file is removed, before the next change or when the old
/// file is dropped; after a crash, by the next writer.
pub struct Replacement<'a, F: Folder> {
    change: Change<'a, F>,
    file: F::File,
    name: OsString,
}

impl<'a, F: Folder> Change<'a, F> {
    /// Creates a new file that is to take the place of the old one, with the same owner and mode.
    ///
    /// # Errors
    /// Returns any error of the folder.
    pub fn into_replacement(mut self) -> io::Result<Replacement<'a, F>> {
        let file = self.file_mut();
        // If the new file survives a crash, the journal that names it has to survive, too.
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

    /// Writes to the new file.
    ///
    /// # Errors
    /// Returns any error of the file.
    pub fn write(&self, at: u64, bytes: &[u8]) -> io::Result<()> {
        self.old().check_process()?;
        self.file.write_all_at(at, bytes)
    }

    /// Puts the new file in the place of the old one.
    ///
    /// # Errors
    /// Returns any error of file and folder. The name then leads to the old file or to the new one.
    pub fn commit(self) -> io::Result<&'a mut JournaledFile<F>> {
        let Self {
            change,
            file: new,
            name,
        } = self;
        let file = change.into_file();
        file.check_others()?;
        file.keeper.announce_in(&new)?;
        // An error does not show for certain whether the name was changed.
        file.is_poisoned = true;
        new.sync()?;
        // Windows replaces no open file. There, readers do not need the handle of the old one.
        let is_seen = file.file.presence().is_some();
        if !is_seen {
            file.file = file.folder.open(&name, Access::Write)?;
        }
        if let Err(error) = file.folder.replace(&name, &file.name) {
            // A sticky folder may forbid it. If both files still have their names, nothing has happened.
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
