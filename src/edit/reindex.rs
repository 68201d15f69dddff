//! [`Editor::reindex`]: offsets of -1 filled in.

use super::Editor;
use super::preamble::{self, NewMetadata};
use crate::indexed::Index;
use bloscpack_error::{Error, IoSide, Result};
use bloscpack_storage::{Folder, ReadAt};
use bloscpack_wire::Offsets;

impl<F: Folder> Editor<F> {
    /// Fills in an offset table that its writer has left at -1 ([`State::Unindexed`](crate::survey::State::Unindexed)). Returns
    /// false if it was filled already; the table is then compared with the headers of all chunks.
    ///
    /// # Errors
    /// Returns [`Usage`](bloscpack_error::Category::Usage) for a file without an offset table, any error of the file, and the
    /// error of a table that does not lead to its chunks.
    pub fn reindex(&mut self) -> Result<bool> {
        self.fill_in_offsets().writing()
    }

    fn fill_in_offsets(&mut self) -> Result<bool> {
        self.held.check()?;
        if !self.header().offsets {
            return Err(Error::usage(
                "the file has no table of offsets, and no room for one",
            ));
        }
        if self.state.is_indexed || self.chunks() == 0 {
            // A filled table may still be wrong.
            let (limits, hashers) = (&self.builder.options.limits, &self.builder.options.hashers);
            Index::by_walk(self.held.file(), limits, hashers, false)?;
            return Ok(false);
        }
        let extents = self.state.extents(self.held.file())?;
        let starts: Vec<_> = extents.iter().map(|extent| extent.start).collect();
        let mut change = self.held.change(None)?;
        change.put(self.state.map.geometry.table_at, &Offsets::encode(&starts)?)?;
        let header = self.state.map.header.clone();
        preamble::put(&mut change, &self.state, header, &NewMetadata::Same)?;
        let len = change.size()?;
        let held = change.commit(len)?;
        self.state.renew(held, &self.builder)?;
        Ok(true)
    }
}
