//! [`Replacement`]: a new file that takes the place of a held one.

use super::held::replacement_name;
use super::{Change, Folder, WriteAt};
use std::ffi::OsString;
use std::io;

/// A file that takes the place of a [`Held`](super::Held) one when it is complete, and is removed
/// otherwise. What a [`Change`] has put so far can be read from it meanwhile.
pub(crate) struct Replacement<'a, F: Folder> {
    change: Change<'a, F>,
    file: Option<F::File>,
    name: OsString,
}

impl<'a, F: Folder> Replacement<'a, F> {
    pub(super) fn new(change: Change<'a, F>) -> io::Result<Self> {
        let held = change.held();
        let name = replacement_name(&held.name, held.salt);
        let file = held.folder.create(&name, Some(&held.file))?;
        Ok(Self {
            change,
            file: Some(file),
            name,
        })
    }

    /// The old file with what has been put into it.
    pub(crate) fn old(&self) -> &Change<'a, F> {
        &self.change
    }

    /// Writes to the new file.
    ///
    /// # Errors
    /// Those of the file.
    pub(crate) fn write(&self, at: u64, bytes: &[u8]) -> io::Result<()> {
        match &self.file {
            Some(file) => file.write_all_at(at, bytes),
            None => Err(io::ErrorKind::NotFound.into()),
        }
    }

    /// Puts the new file in the place of the old one.
    ///
    /// # Errors
    /// Those of file and folder. Unless the name was already changed, the old file stays.
    pub(crate) fn commit(mut self) -> io::Result<()> {
        let Some(file) = self.file.take() else {
            return Err(io::ErrorKind::NotFound.into());
        };
        let done = file.sync().and_then(|()| {
            let held = self.change.held();
            held.folder.replace(&self.name, &held.name)
        });
        if done.is_err() {
            self.file = Some(file);
            return done;
        }
        self.change.replaced_by(file)
    }
}

impl<F: Folder> Drop for Replacement<'_, F> {
    fn drop(&mut self) {
        if self.file.take().is_some() {
            // What cannot be removed is removed by the next writer, who finds its name in the journal.
            let _ = self.change.held().folder.remove(&self.name);
        }
    }
}
