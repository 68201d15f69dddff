//! [`RecordEditor::rotate`]: keeps the records under another name, and empties the file.

use super::RecordEditor;
use super::header::counted;
use super::preamble::NewMetadata;
use super::rewrite::{NewPreamble, Rewrite};
use crate::records::Rotation;
use blosc1::MAX_NBYTES;
use bloscpack_error::checked::{in_memory, slice_mut, to_u64};
use bloscpack_error::{IoSide, Result};
use bloscpack_storage::{Folder, ReadAt};
use std::ffi::{OsStr, OsString};

/// Bytes copied at once.
const STEP: usize = 1 << 20;

impl<F: Folder> RecordEditor<F> {
    /// Copies the file to the [name](Rotation::name) of its part, and replaces it by an empty one, in which the log goes on: with
    /// the same settings and metadata, and the next [`Rotation`]. Returns the name of the part.
    ///
    /// After a crash, the file has the old records, or none and the part is complete: a copy counts only after the file that it
    /// was made of has been replaced, and the next rotation replaces one that does not count.
    ///
    /// ```
    /// use bloscpack::{edit::RecordEditor, records::{RecordWriter, Rotation}, storage::Memory};
    /// let mut writer = RecordWriter::new(Vec::new())?;
    /// writer.push("one")?;
    /// let folder = Memory::from([("log.blp", writer.finish()?)]);
    /// let mut editor = RecordEditor::open_in(folder.clone(), "log.blp".as_ref())?;
    /// assert_eq!(editor.rotate()?, "log-000001.blp");
    /// assert_eq!((editor.len(), editor.rotation()), (0, Rotation { part: 2, first: 1 }));
    ///
    /// let part = RecordEditor::open_in(folder, "log-000001.blp".as_ref())?;
    /// assert_eq!(part.reader()?.get(0)?, "one");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Returns any error of the file; it then has the old records, or none after
    /// [`Committed`](bloscpack_error::Category::Committed).
    pub fn rotate(&mut self) -> Result<OsString> {
        let rotation = self.rotation();
        let name = rotation.name(self.editor.held.name());
        self.copy_as(&name).writing()?;
        self.replace_by_empty(rotation.next(self.len)).writing()?;
        self.len = 0;
        Ok(name)
    }

    /// The place of the file in a log that rotates.
    #[must_use]
    pub fn rotation(&self) -> Rotation {
        Rotation::of(self.metadata())
    }

    /// Length of the file in bytes.
    ///
    /// # Errors
    /// Returns any error of the file.
    pub fn file_len(&self) -> Result<u64> {
        self.editor.held.file().size().writing()
    }

    fn copy_as(&mut self, name: &OsStr) -> Result<()> {
        let held = &mut self.editor.held;
        let copy = held.change(None)?.into_replacement()?;
        let (len, mut at, mut buffer) = (copy.old().size()?, 0, vec![0; STEP]);
        while at < len {
            let step = in_memory(len - at)?.min(STEP);
            let bytes = slice_mut(&mut buffer, 0..step)?;
            copy.old().read_exact_at(at, bytes)?;
            copy.write(at, bytes)?;
            at += to_u64(step);
        }
        Ok(copy.save_as(name)?)
    }

    /// Replaces the file by one without records.
    fn replace_by_empty(&mut self, rotation: Rotation) -> Result<()> {
        let own = self.editor.state.merged(&rotation.to_metadata()?)?;
        let metadata = self.declared(&own, 0)?;
        let editor = &mut self.editor;
        let state = &mut editor.state;
        let old = &state.map.header;
        // As many chunks as the old file has room for.
        let room = old.nchunks.unwrap_or(0).saturating_add(old.max_app_chunks);
        let spare = editor.builder.max_app_chunks.unwrap_or(room);
        let header = counted(old, 0, MAX_NBYTES, 0);
        let metadata = NewMetadata::of(state, &metadata, &editor.builder)?;
        let change = editor.held.change(state.free_from())?;
        let preamble = NewPreamble::of(state, (&change, header), metadata, Some(spare))?;
        let held = Rewrite::begin(change, preamble)?.finish()?;
        state.renew(held, &editor.builder)
    }
}
