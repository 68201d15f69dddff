//! [`Editor::set_metadata`]: other metadata.

use super::file_state::FileState;
use super::preamble::{self, NewMetadata};
use super::{Editor, EditorBuilder};
use bloscpack_error::{IoSide, Result};
use bloscpack_storage::{Change, Folder, ReadAt};
use bloscpack_wire::Metadata;
use std::collections::BTreeMap;

impl<F: Folder> Editor<F> {
    /// Replaces the metadata: in its room if it fits; otherwise by a new file with room for more, which needs disk space for
    /// both.
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
    /// Returns any error of the file; [`Usage`](bloscpack_error::Category::Usage) for V1, which has no room for metadata;
    /// [`OverLimit`](bloscpack_error::Category::OverLimit) for more metadata than the limits of this editor allow it to read.
    pub fn set_metadata(&mut self, metadata: &Metadata) -> Result<()> {
        self.change_metadata(metadata).writing()
    }

    fn change_metadata(&mut self, metadata: &Metadata) -> Result<()> {
        self.held.check()?;
        if self.metadata() == Some(metadata) {
            return Ok(());
        }
        let new = NewMetadata::of(&self.state, metadata, &self.options)?;
        let change = self.held.change(self.state.free_from())?;
        replace(change, &mut self.state, new, &self.options)
    }
}

/// Makes a change of the metadata alone.
pub(super) fn replace<F: Folder>(
    mut change: Change<'_, F>,
    state: &mut FileState,
    new: NewMetadata,
    options: &EditorBuilder,
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
            options.max_app_chunks,
        )?,
    };
    state.renew(held, options)
}
