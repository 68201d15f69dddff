//! [`EditorBuilder::open`] and its variants: open a file for changes.

use super::file_state::FileState;
use super::{Editor, EditorBuilder, RecordEditor};
use crate::encoder::MOST_SPARE;
use crate::engine::Wanted;
use bloscpack_error::{Error, IoSide, Result};
use bloscpack_storage::{Disk, Folder, JournaledFile};
use std::ffi::OsStr;
use std::path::Path;

impl EditorBuilder {
    /// Opens the file at this path, and completes a change that was interrupted. Symbolic links are followed. Errors contain
    /// the path.
    ///
    /// # Errors
    /// Returns the same errors as [`open_in`](Self::open_in).
    pub fn open(self, path: impl AsRef<Path>) -> Result<Editor> {
        let path = path.as_ref();
        let opened = Disk::of(path).writing();
        let opened = opened.and_then(|(folder, name)| self.open_in(folder, &name));
        opened.map_err(|error| error.in_file(path))
    }

    /// Opens a file of a folder, on disk or in memory, and completes a change that was interrupted.
    ///
    /// # Errors
    /// Returns [`ResourceBusy`](std::io::ErrorKind::ResourceBusy) if another editor keeps the file open for longer than the
    /// [lock timeout](crate::Options::lock_timeout); an error in the structure of the file, also if it is unfinished or
    /// unterminated; the error of sound chunks after the last counted one, which a change would cut off;
    /// [`Unsupported`](bloscpack_error::Category::Unsupported) for several members, records, and the layouts that are only
    /// read; [`Usage`](bloscpack_error::Category::Usage) for more spare offsets than an encoder accepts.
    pub fn open_in<F: Folder>(self, folder: F, name: &OsStr) -> Result<Editor<F>> {
        self.open_for(folder, name, Wanted::Content).writing()
    }

    /// Opens the file of records at this path, and completes a change that was interrupted. Symbolic links are followed.
    /// Errors contain the path.
    ///
    /// # Errors
    /// Returns the same errors as [`open_records_in`](Self::open_records_in).
    pub fn open_records(self, path: impl AsRef<Path>) -> Result<RecordEditor> {
        let path = path.as_ref();
        let opened = Disk::of(path).writing();
        let opened = opened.and_then(|(folder, name)| self.open_records_in(folder, &name));
        opened.map_err(|error| error.in_file(path))
    }

    /// Opens a file of records in a folder, on disk or in memory, and completes a change that was interrupted.
    ///
    /// # Errors
    /// Returns the same errors as [`open_in`](Self::open_in), but [`Unsupported`](bloscpack_error::Category::Unsupported)
    /// for a file of content and for records that are packed in an unknown way; and the error of a damaged last packed chunk
    /// if the metadata does not contain the number of records.
    pub fn open_records_in<F: Folder>(self, folder: F, name: &OsStr) -> Result<RecordEditor<F>> {
        let editor = self.open_for(folder, name, Wanted::Records).writing()?;
        RecordEditor::of(editor).writing()
    }

    /// Opens a file, reads its state, and refuses it if no editor for `wanted` can change it.
    fn open_for<F: Folder>(self, folder: F, name: &OsStr, wanted: Wanted) -> Result<Editor<F>> {
        if let Some(spare) = self.max_app_chunks.filter(|spare| *spare > MOST_SPARE) {
            return Err(Error::usage(format!(
                "{spare} spare offsets exceed the maximum of {MOST_SPARE}"
            )));
        }
        self.options.hashers.check()?;
        let held = JournaledFile::open(folder, name, &self.options.lock_timeout)?;
        let state = FileState::of(held.file(), &self)?;
        state.check_editable(wanted)?;
        state.check_trailing(held.file(), &self)?;
        Ok(Editor {
            held,
            state,
            builder: self,
        })
    }
}
