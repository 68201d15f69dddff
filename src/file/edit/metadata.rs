//! [`Editor::set_metadata`]: other metadata.

use super::Editor;
use super::front::{self, NewMetadata};
use crate::error::Result;
use crate::storage::{Folder, ReadAt};
use crate::wire::Metadata;

impl<F: Folder> Editor<F> {
    /// Replaces the metadata, in its room if it fits; else the file is replaced by a new one with
    /// room for more, which needs space for both.
    ///
    /// # Errors
    /// Those of the file; [`Usage`](crate::Category::Usage) for V1, which has no place for
    /// metadata.
    pub fn set_metadata(&mut self, metadata: &Metadata) -> Result<()> {
        self.held.check()?;
        if self.metadata() == Some(metadata) {
            return Ok(());
        }
        let new = NewMetadata::of(&self.frame, metadata, &self.options.hashers)?;
        let mut change = self.held.change(self.frame.free_from())?;
        let held = match new {
            NewMetadata::InPlace(_) => {
                let header = self.frame.head.header.clone();
                front::put(&mut change, &self.frame, header, &new)?;
                let len = change.size()?;
                change.commit(len)?
            }
            new => super::rewrite::all(change, &self.frame, new, self.options.max_app_chunks)?,
        };
        self.frame.renew(held, &self.options.limits)?;
        Ok(())
    }
}
