//! [`Editor::set_metadata`]: other metadata.

use super::file_state::Frame;
use super::preamble::{self, NewMetadata};
use super::{Editor, EditorBuilder};
use bloscpack_error::{IoSide, Result};
use bloscpack_storage::{Change, Folder, ReadAt};
use bloscpack_wire::Metadata;
use std::collections::BTreeMap;

impl<F: Folder> Editor<F> {
    /// Replaces the metadata, in its room if it fits; else the file is replaced by a new one with
    /// room for more, which needs space for both.
    ///
    /// # Errors
    /// Those of the file; [`Usage`](bloscpack_error::Category::Usage) for V1, which has no place for
    /// metadata; [`OverLimit`](bloscpack_error::Category::OverLimit) for more than the editor's own limits
    /// let it read.
    pub fn set_metadata(&mut self, metadata: &Metadata) -> Result<()> {
        self.change_metadata(metadata).writing()
    }

    fn change_metadata(&mut self, metadata: &Metadata) -> Result<()> {
        self.held.check()?;
        if self.metadata() == Some(metadata) {
            return Ok(());
        }
        let new = NewMetadata::of(&self.frame, metadata, &self.options)?;
        let change = self.held.change(self.frame.free_from())?;
        replace(change, &mut self.frame, new, &self.options)
    }
}

/// Makes a change of nothing but the metadata.
pub(super) fn replace<F: Folder>(
    mut change: Change<'_, F>,
    frame: &mut Frame,
    new: NewMetadata,
    options: &EditorBuilder,
) -> Result<()> {
    let held = match new {
        NewMetadata::Same => return Ok(()),
        NewMetadata::InPlace(_) => {
            let header = frame.head.header.clone();
            preamble::put(&mut change, frame, header, &new)?;
            let len = change.size()?;
            change.commit(len)?
        }
        new => super::rewrite::all(
            change,
            frame,
            (new, &BTreeMap::new()),
            options.max_app_chunks,
        )?,
    };
    frame.renew(held, &options.limits)
}
