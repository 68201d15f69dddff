//! [`Replacement`]: a new file that takes the place of a held one.

use super::{Change, Folder, Held, WriteAt};
use std::ffi::OsString;
use std::io;

/// A file that takes the place of a [`Held`] one when it is complete. What a [`Change`] has put so
/// far can be read meanwhile.
pub struct Replacement<'a, F: Folder> {
    change: Change<'a, F>,
    file: F::File,
    name: OsString,
}

impl<'a, F: Folder> Replacement<'a, F> {
    pub(super) fn new(change: Change<'a, F>, file: F::File, name: OsString) -> Self {
        Self { change, file, name }
    }

    /// The old file with what has been put into it.
    pub fn old(&self) -> &Change<'a, F> {
        &self.change
    }

    /// Writes to the new file.
    ///
    /// # Errors
    /// Those of the file.
    pub fn write(&self, at: u64, bytes: &[u8]) -> io::Result<()> {
        self.file.write_all_at(at, bytes)
    }

    /// Puts the new file in the place of the old one.
    ///
    /// # Errors
    /// Those of file and folder. The old file or the new one is under the name.
    pub fn commit(self) -> io::Result<&'a mut Held<F>> {
        let held = self.change.into_held();
        held.check_others()?;
        // Whether a name was changed, an error does not tell for sure.
        held.poisoned = true;
        self.file.sync()?;
        if let Err(error) = held.folder.replace(&self.name, &held.name) {
            // A sticky folder may forbid it. If the old file is still there, nothing has happened.
            let is_there = held.folder.leads_to(&held.name, &held.file);
            held.poisoned = !is_there.unwrap_or(false);
            return Err(error);
        }
        held.folder.sync()?;
        held.file = self.file;
        held.begun = None;
        held.see()?;
        held.begin_journal()?;
        held.poisoned = false;
        Ok(held)
    }
}
