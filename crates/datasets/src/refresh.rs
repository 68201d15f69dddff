//! Refreshes arrays and tables that are open for reading.

use crate::carray::CArray;
use crate::ctable::CTable;
use crate::dataset::Dataset;
use crate::handle::Handle;
use crate::open::open_at;
use bloscpack_error::{Error, Result};
use bloscpack_storage::{Access, Refreshed};
use std::sync::Arc;

/// Opens a dataset again from its store. An error for a writer, which is always current.
fn reopen(handle: &Handle) -> Result<Dataset> {
    let (store, options) = handle
        .files
        .origin()
        .ok_or_else(|| Error::usage("only a dataset that was opened for reading is refreshed"))?;
    open_at(Arc::clone(store), &handle.at, options, Access::Read)
}

impl CArray {
    /// Updates an array that is open for reading to the last commit, and returns which rows are new.
    ///
    /// Reads the files that describe the array, and empties the cache, since earlier rows may have been set to other values.
    ///
    /// | result | meaning |
    /// |---|---|
    /// | [`Refreshed::Changed`] | the new rows, an empty range if there are none |
    /// | [`Refreshed::Replaced`] | another dtype, layout, row shape or chunk shape, or fewer rows: read everything again |
    ///
    /// ```
    /// use bloscpack_datasets::CArray;
    /// use bloscpack_storage::{Memory, Refreshed};
    /// let store = Memory::new();
    /// let mut writer = CArray::of::<i32>().create_in(store.clone())?;
    /// writer.flush()?;
    /// let mut array = CArray::open_in(store)?;
    ///
    /// writer.append_values(&[1, 2, 3])?;
    /// writer.flush()?;
    /// assert_eq!(array.refresh()?, Refreshed::Changed(0..3));
    /// assert_eq!(array.to_vec::<i32>(0..3)?, [1, 2, 3]);
    /// # Ok::<(), bloscpack_error::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns a usage error if the array was opened for changes, and the errors of [`Dataset::open`]. After an error the array
    /// is unchanged.
    pub fn refresh(&mut self) -> Result<Refreshed> {
        let new = reopen(self.handle())?.into_array()?;
        let is_same = self.layout() == new.layout()
            && self.dtype() == new.dtype()
            && self.chunk_shape() == new.chunk_shape()
            && self.shape().get(1..) == new.shape().get(1..);
        let found = found(is_same, self.rows(), new.rows());
        *self = new;
        Ok(found)
    }
}

impl CTable {
    /// Updates a table that is open for reading to the last commit, and returns which rows are new, as [`CArray::refresh`]
    /// does. [`Refreshed::Replaced`] means another layout, other column names, or fewer rows. The dtypes of the columns are not
    /// compared.
    ///
    /// ```
    /// use bloscpack_datasets::{CArray, CTable};
    /// use bloscpack_storage::{Memory, Refreshed};
    /// let store = Memory::new();
    /// let mut writer = CTable::builder().column("day", CArray::of::<u8>()).create_in(store.clone())?;
    /// writer.append(&[&[20, 21]])?;
    /// writer.flush()?;
    /// let mut table = CTable::open_in(store)?;
    ///
    /// writer.append(&[&[22]])?;
    /// writer.flush()?;
    /// assert_eq!(table.refresh()?, Refreshed::Changed(2..3));
    /// assert_eq!(table.column("day")?.to_vec::<u8>(0..3)?, [20, 21, 22]);
    /// assert!(writer.refresh().is_err());
    /// # Ok::<(), bloscpack_error::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns a usage error if the table was opened for changes, and the errors of [`Dataset::open`] and of
    /// [`rows`](Self::rows). After an error the table is unchanged.
    pub fn refresh(&mut self) -> Result<Refreshed> {
        let new = reopen(self.handle())?.into_table()?;
        let is_same = self.layout() == new.layout() && self.names() == new.names();
        let found = found(is_same, self.rows()?, new.rows()?);
        *self = new;
        Ok(found)
    }
}

fn found(is_same: bool, before: u64, now: u64) -> Refreshed {
    if is_same {
        Refreshed::Changed(0..0).counted(before, now)
    } else {
        Refreshed::Replaced
    }
}
