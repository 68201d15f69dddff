//! The indexes of the columns of a table.

use super::IndexUpdate;
use crate::ctable::CTable;
use bloscpack_error::Result;

impl CTable {
    /// Updates or creates the index of a column; see [`CArray::update_index`](crate::CArray::update_index).
    /// [`flush`](Self::flush) makes it permanent.
    ///
    /// ```
    /// use bloscpack_datasets::{CArray, CTable};
    /// use bloscpack_storage::Memory;
    /// let mut table = CTable::builder().column("day", CArray::of::<u8>()).create_in(Memory::new())?;
    /// table.append(&[&[20, 21]])?;
    /// assert_eq!(table.update_index("day", |_| Ok(()))?.computed, 1);
    /// table.flush()?;
    /// assert!(table.column("day")?.index()?.is_some());
    /// # Ok::<(), bloscpack_error::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns the errors of [`CArray::update_index`](crate::CArray::update_index), and
    /// [`Code::NotFound`](bloscpack_error::Code::NotFound) for an unknown column.
    pub fn update_index(
        &mut self,
        name: &str,
        progress: impl FnMut(u64) -> Result<()>,
    ) -> Result<IndexUpdate> {
        self.column_mut(name)?.update_index(progress)
    }

    /// Removes the index of a column. Returns false if there is none. [`flush`](Self::flush) makes the removal permanent.
    ///
    /// # Errors
    /// Returns the errors of [`CArray::remove_index`](crate::CArray::remove_index), and
    /// [`Code::NotFound`](bloscpack_error::Code::NotFound) for an unknown column.
    pub fn remove_index(&mut self, name: &str) -> Result<bool> {
        self.column_mut(name)?.remove_index()
    }
}
