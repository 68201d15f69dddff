//! Writes and removes the index of an array.

use super::IndexState;
use crate::carray::CArray;
use crate::files::MAX_META;
use crate::wire::Index;
use bloscpack_error::checked::{in_memory, to_u64};
use bloscpack_error::{Error, Result};
use bloscpack_storage::parallel;

/// The result of [`CArray::update_index`]: numbers of superchunks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct IndexUpdate {
    /// Superchunks whose statistics still applied.
    pub kept: u64,
    /// Superchunks whose statistics were computed.
    pub computed: u64,
    /// Superchunks that get no statistics, because their files are more than 64 KiB longer than an uncompressed chunk.
    pub skipped: u64,
}

impl CArray {
    /// Updates the index of the array, or creates it. [`flush`](Self::flush) makes it permanent. Later flushes keep it
    /// up to date.
    ///
    /// All superchunks are read on several threads; those whose statistics still apply are not decompressed. `progress` is
    /// called with the uncompressed bytes of each superchunk, in order. If it returns an error, the update ends with this error
    /// and the index is unchanged. An unusable index is replaced.
    ///
    /// ```
    /// use bloscpack_datasets::CArray;
    /// use bloscpack_storage::Memory;
    /// let mut array = CArray::of::<i16>().chunk_rows(2).create_in(Memory::new())?;
    /// array.append_values(&[3i16, 4, 5, 6, 1])?;
    /// let update = array.update_index(|_| Ok(()))?;
    /// assert_eq!((update.kept, update.computed), (0, 3));
    /// array.flush()?;
    /// assert_eq!(array.update_index(|_| Ok(()))?.kept, 3);
    /// # Ok::<(), bloscpack_error::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns the errors of [`check_indexable`](Self::check_indexable); [`Code::NoIndex`](bloscpack_error::Code::NoIndex) if
    /// the file would exceed 64 MiB because of many superchunks; [`Code::ReadOnly`](bloscpack_error::Code::ReadOnly) if the
    /// array was opened for reading; damage of any superchunk, and any error of the store.
    pub fn update_index(
        &mut self,
        mut progress: impl FnMut(u64) -> Result<()>,
    ) -> Result<IndexUpdate> {
        self.handle().check_writable()?;
        self.check_indexable()?;
        self.storage().stage()?;
        let old = self.index()?;
        let mut index = self.new_index()?;
        let mut update = IndexUpdate::default();
        let (storage, elements) = (self.storage(), self.storage().elements()?);
        if storage.file_count() > index.most_superchunks(MAX_META) {
            let count = storage.file_count();
            return Err(super::no_index(format!("{count} superchunks are too many")));
        }
        let count = in_memory(storage.file_count())?;
        let measured = |number| {
            let known = old.as_ref().and_then(|old| old.entry(to_u64(number)));
            let (entry, holds) = storage.measured(to_u64(number), &elements, known)?;
            Ok::<_, Error>((number, entry, holds))
        };
        parallel::map_in_order(
            storage.resources().threads,
            0..count,
            measured,
            |measured| {
                let (number, entry, holds) = measured;
                match (&entry, holds) {
                    (None, _) => update.skipped += 1,
                    (Some(_), true) => update.kept += 1,
                    (Some(_), false) => update.computed += 1,
                }
                index.set(number, entry);
                progress(storage.grid().bytes_of(to_u64(number)))
            },
        )?;
        self.put_whole_index(&index)?;
        self.storage_mut().note_writes(false);
        Ok(update)
    }

    /// Removes the index of the array, usable or not. Returns false if there is none. [`flush`](Self::flush) makes the removal
    /// permanent.
    ///
    /// # Errors
    /// Returns [`Code::ReadOnly`](bloscpack_error::Code::ReadOnly) if the array was opened for reading, and any error of the
    /// store.
    pub fn remove_index(&mut self) -> Result<bool> {
        self.handle().check_writable()?;
        let is_there = self.clear_index()?;
        self.storage_mut().note_no_writes();
        Ok(is_there)
    }

    /// Removes the file. Returns false if it does not exist.
    pub(crate) fn clear_index(&self) -> Result<bool> {
        let files = &self.handle().files;
        match self.index_key()? {
            Some(key) if files.is_file(&key)? => files.remove(&key).map(|()| true),
            _ => Ok(false),
        }
    }

    /// Updates an existing index for the superchunks that were written since the last flush.
    pub(crate) fn put_index(&mut self) -> Result<()> {
        let written = self.storage_mut().take_written()?;
        let Some((entries, is_new)) = written else {
            return Ok(());
        };
        if entries.is_empty() && !is_new && !self.has_other_rows() {
            return Ok(());
        }
        let mut index = match self.find_index()? {
            IndexState::Usable(index) => index,
            IndexState::Absent if is_new => self.new_index()?,
            // It was removed, or has a version that this library does not know.
            IndexState::Absent | IndexState::Unusable(_) => return Ok(()),
        };
        let files = self.storage().file_count();
        // Rows are not refused because of an index that is full. Without an index, readers skip nothing.
        if files > index.most_superchunks(MAX_META) {
            return self.handle().tried(self.clear_index().map(drop));
        }
        index.truncate(in_memory(files)?);
        for (number, entry) in entries {
            index.set(in_memory(number)?, entry);
        }
        // Only the last superchunk can have another number of rows now.
        let grid = self.storage().grid();
        if let Some(last) = files.checked_sub(1)
            && index
                .entry(last)
                .is_some_and(|entry| entry.rows != grid.rows_of_band(last))
        {
            index.set(in_memory(last)?, None);
        }
        self.handle().tried(self.put_whole_index(&index))
    }

    fn new_index(&self) -> Result<Index> {
        let rows = self.storage().grid().band_rows();
        Index::new(self.dtype(), rows).map_err(|reason| super::no_index(reason.to_owned()))
    }

    fn put_whole_index(&self, index: &Index) -> Result<()> {
        let Some(key) = self.index_key()? else {
            return Err(Error::bug("an index in a layout without a place for it"));
        };
        self.handle().files.put_meta(&key, &index.encode()?)
    }
}
