//! [`Editor::set_metadata`] and [`Editor::merge_metadata`]: changes of the metadata.

use super::file_state::FileState;
use super::preamble::{self, NewMetadata};
use super::{Editor, EditorBuilder};
use bloscpack_error::{Error, IoSide, Result};
use bloscpack_storage::{Change, Folder, ReadAt};
use bloscpack_wire::{Metadata, NumpyArray};
use std::collections::BTreeMap;

impl<F: Folder> Editor<F> {
    /// Replaces all metadata, also the description of a NumPy array. The new metadata is written in place if it fits into the
    /// room of the old; otherwise the file is replaced by a new one with more room, which needs disk space for both. Equal
    /// metadata changes nothing. [`merge_metadata`](Self::merge_metadata) keeps other keys.
    ///
    /// ```
    /// use bloscpack::{storage::Memory, wire::Metadata, edit::Editor};
    /// let folder = Memory::from([("a.blp", bloscpack::compress(b"content")?)]);
    /// let mut editor = Editor::open_in(folder, "a.blp".as_ref())?;
    /// assert_eq!(editor.metadata(), None);
    ///
    /// let metadata = Metadata::from_json(r#"{"unit": "mV"}"#)?;
    /// editor.set_metadata(&metadata)?;
    /// assert_eq!(editor.metadata(), Some(&metadata));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Returns any error of the file; [`Usage`](bloscpack_error::Category::Usage) for V1, which has no place for metadata, and
    /// for metadata that does not fit the content: packed records, or an array of another length; and
    /// [`OverLimit`](bloscpack_error::Category::OverLimit) for metadata longer than the limits of this editor allow.
    pub fn set_metadata(&mut self, metadata: &Metadata) -> Result<()> {
        self.change_metadata(metadata).writing()
    }

    /// Merges a JSON object into the metadata: it adds new keys, and replaces the values of existing ones. Nested objects are
    /// replaced, not merged. Without metadata, the object becomes the metadata.
    ///
    /// ```
    /// use bloscpack::{storage::Memory, wire::Metadata, edit::Editor};
    /// let folder = Memory::from([("a.blp", bloscpack::compress(b"content")?)]);
    /// let mut editor = Editor::open_in(folder, "a.blp".as_ref())?;
    /// editor.set_metadata(&Metadata::from_json(r#"{"unit": "mV", "gain": 2}"#)?)?;
    /// editor.merge_metadata(&Metadata::from_json(r#"{"unit": "V"}"#)?)?;
    /// let merged = editor.metadata().map(Metadata::text);
    /// assert_eq!(merged, Some(r#"{"unit": "V", "gain": 2}"#));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Returns the errors of [`set_metadata`](Self::set_metadata), and [`Usage`](bloscpack_error::Category::Usage) if the old
    /// or the new metadata is not a JSON object, or if the file contains a NumPy array and a key that describes it would get
    /// another value.
    pub fn merge_metadata(&mut self, others: &Metadata) -> Result<()> {
        let merged = self.state.merged(others)?;
        self.set_metadata(&merged)
    }

    /// Commits other metadata, unless it is the same.
    fn change_metadata(&mut self, metadata: &Metadata) -> Result<()> {
        self.held.check()?;
        if self.metadata() == Some(metadata) {
            return Ok(());
        }
        check_array(metadata, self.content_len())?;
        let new = NewMetadata::of(&self.state, metadata, &self.builder)?;
        let change = self.held.change(self.state.free_from())?;
        replace(change, &mut self.state, new, &self.builder)
    }
}

/// Refuses metadata of an array whose length is not this number of bytes: readers would trust the shape.
pub(super) fn check_array(metadata: &Metadata, content: u64) -> Result<()> {
    // An array of an unknown dtype has an unknown length.
    let Ok(Some(array)) = NumpyArray::of(metadata) else {
        return Ok(());
    };
    let checked = array.check_content(content);
    checked.map_err(|error| Error::usage(error.to_string()))
}

/// Commits a change of the metadata alone.
pub(super) fn replace<F: Folder>(
    mut change: Change<'_, F>,
    state: &mut FileState,
    new: NewMetadata,
    builder: &EditorBuilder,
) -> Result<()> {
    let held = match new {
        NewMetadata::Same => return Ok(()),
        NewMetadata::InPlace(_) => {
            let header = state.map.header.clone();
            preamble::put(&mut change, state, header, &new)?;
            let len = change.size()?;
            change.commit(len)?
        }
        new => super::rewrite::all(
            change,
            state,
            (new, &BTreeMap::new()),
            builder.max_app_chunks,
        )?,
    };
    state.renew(held, builder)
}
