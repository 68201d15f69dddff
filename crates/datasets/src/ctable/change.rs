//! Changes rows, columns and attributes of a [`CTable`].

use super::{CTable, Column, names};
use crate::array_storage::ArraySpec;
use crate::carray::{CArray, CArrayBuilder};
use crate::layout;
use crate::remove::remove_column;
use bloscpack_dtype::{DType, Kind};
use bloscpack_error::checked::{in_memory, to_u64};
use bloscpack_error::{Error, Result};
use bloscpack_storage::{Key, parallel};
use serde_json::Value;
use std::ops::Range;

impl CTable {
    /// Opens all columns.
    fn open_all(&self) -> Result<()> {
        self.names
            .iter()
            .try_for_each(|name| self.column(name).map(|_| ()))
    }

    /// Opens all columns for changes.
    pub(crate) fn all_mut(&mut self) -> Result<Vec<&mut CArray>> {
        self.handle.check_writable()?;
        self.open_all()?;
        Ok(self.opened_mut().collect())
    }

    pub(crate) fn column_mut(&mut self, name: &str) -> Result<&mut CArray> {
        self.handle.check_writable()?;
        self.column(name)?;
        let index = self.index(name)?;
        let array = self
            .columns
            .get_mut(index)
            .and_then(|column| column.array.get_mut());
        array.ok_or_else(|| Error::bug(format!("column {name:?} that was opened is not open")))
    }

    /// The number of rows. Refuses tables whose columns have different lengths, as a crash of another program leaves them.
    fn check_even(&self) -> Result<u64> {
        let rows = self.rows()?;
        for name in &self.names {
            let found = self.column(name)?.rows();
            if found != rows {
                return Err(Error::usage(format!(
                    "column {name:?} has {found} rows, others have {rows}: repair the table first"
                )));
            }
        }
        Ok(rows)
    }

    /// Appends rows. `columns` has the bytes of each column, in the order of [`names`](Self::names): whole rows in C order, in
    /// the byte order of the column's dtype, and equally many for each column.
    ///
    /// Columns are compressed in parallel. Each flush rewrites the last chunk of each column if it is not full, so append many
    /// rows between flushes.
    ///
    /// # Errors
    /// Returns a usage error for another number of columns, for bytes that are not whole rows, for different numbers of rows,
    /// and for a table whose columns have different lengths; otherwise the errors of [`CArray::append`]. If one column fails
    /// halfway, no column can be flushed.
    pub fn append(&mut self, columns: &[&[u8]]) -> Result<()> {
        self.handle.check_writable()?;
        self.check_even()?;
        if columns.len() != self.columns.len() {
            return Err(Error::usage(format!(
                "data for {} columns, but the table has {}",
                columns.len(),
                self.columns.len()
            )));
        }
        let mut expected = None;
        for (array, bytes) in self.all_mut()?.iter().zip(columns) {
            let rows = array.rows_of(bytes.len())?;
            let expected = *expected.get_or_insert(rows);
            if rows != expected {
                return Err(Error::usage(format!(
                    "{rows} rows for one column, {expected} for another"
                )));
            }
        }
        let arrays = self.all_mut()?;
        let count = arrays.len();
        let threads = arrays
            .first()
            .map_or(1, |array| array.storage().resources().threads);
        // The threads of each column.
        let within = (threads / count.max(1)).max(1);
        let done = parallel::for_each(
            threads,
            arrays.into_iter().zip(columns),
            |(array, bytes)| array.storage_mut().append_on(within, bytes),
        );
        self.handle.tried(done)
    }

    /// Sets a box of elements of a column to `data`; see [`CArray::set_slice`].
    ///
    /// # Errors
    /// Returns the errors of [`CArray::set_slice`], and [`Code::NotFound`](bloscpack_error::Code::NotFound) for an unknown
    /// column.
    pub fn set_slice(&mut self, name: &str, slice: &[Range<u64>], data: &[u8]) -> Result<()> {
        self.column_mut(name)?.set_slice(slice, data)
    }

    /// Removes all rows after the first `rows` rows, in all columns.
    ///
    /// # Errors
    /// Returns the errors of [`CArray::trim`], and a usage error for a table whose columns have different lengths.
    pub fn trim(&mut self, rows: u64) -> Result<()> {
        self.handle.check_writable()?;
        self.check_even()?;
        let mut columns = self.all_mut()?.into_iter();
        let done = columns.try_for_each(|array| array.storage_mut().trim(rows));
        self.handle.tried(done)
    }

    /// Removes rows from the end of all columns, or appends rows of each column's default, until there are `rows`.
    ///
    /// # Errors
    /// Returns the errors of [`CArray::resize`], and a usage error for a table whose columns have different lengths.
    pub fn resize(&mut self, rows: u64) -> Result<()> {
        self.handle.check_writable()?;
        if rows < self.check_even()? {
            return self.trim(rows);
        }
        let mut columns = self.all_mut()?;
        // Check all columns before changing one.
        for array in &columns {
            array.storage().resized_grid(rows)?;
        }
        let mut columns = columns.iter_mut();
        let done = columns.try_for_each(|array| array.storage_mut().grow(rows));
        self.handle.tried(done)
    }

    /// Adds a column before the column at `position`; `None`, or a position past the end, adds it after the last one.
    ///
    /// `data` contains the elements of all rows, in C order and in the byte order of the dtype. In a table without columns, it
    /// determines the number of rows. In the layouts of the documents, the column gets the chunk length and the compression of
    /// the first column, and nested columns stay next to their siblings.
    ///
    /// ```
    /// use bloscpack_datasets::{CArray, CTable};
    /// use bloscpack_storage::Memory;
    ///
    /// let mut table = CTable::builder().column("id", CArray::of::<u8>()).create_in(Memory::new())?;
    /// table.append(&[&[1, 2, 3]])?;
    /// table.add_column("flag", CArray::of::<u8>(), &[0, 1, 0], Some(0))?;
    /// table.flush()?;
    /// assert_eq!(table.names(), ["flag", "id"]);
    /// # Ok::<(), bloscpack_error::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns a usage error for a name that exists or is not valid for a folder, for settings that the layout cannot store,
    /// and for another number of rows; [`Code::ReadOnly`](bloscpack_error::Code::ReadOnly) if the table was opened for reading;
    /// any error of the store.
    pub fn add_column(
        &mut self,
        name: &str,
        array: CArrayBuilder,
        data: &[u8],
        position: Option<usize>,
    ) -> Result<()> {
        self.handle.check_writable()?;
        let rows = self.check_even()?;
        self.check_folders()?;
        let layout = self.handle.layout;
        names::check_new(layout, name, self.names.iter().map(String::as_str))?;
        let first = match self.names.first() {
            Some(first) if !layout.columns_are_datasets() => Some(self.column(first)?),
            _ => None,
        };
        let chunk_rows = first.map(|first| first.storage().grid().band_rows());
        let array = match first {
            Some(first) => array.stored_as(first),
            None => array.expecting(rows),
        };
        // Check everything before changing anything.
        if let (Some(first), Some(chunk_rows)) = (first, chunk_rows) {
            let new = array.clone().chunk_rows(chunk_rows).plan(layout)?;
            let other = first.storage().spec();
            layout.files()?.check_beside(other, &new)?;
        }
        let row = array.plan(layout)?.row_len()?;
        let is_whole = data.len().is_multiple_of(row);
        let given = to_u64(data.len() / row);
        if !is_whole || (!self.names.is_empty() && given != rows) {
            return Err(Error::usage(format!(
                "{} bytes of data for a column of {rows} rows of {row} bytes",
                data.len()
            )));
        }
        let column = self.new_column(name, &array, chunk_rows, self.names.len() + 1);
        let mut column = self.handle.tried(column)?;
        self.handle.tried(column.storage_mut().append(data))?;
        let position = position.unwrap_or(self.names.len()).min(self.names.len());
        self.names.insert(position, name.to_owned());
        self.columns.insert(position, Column::opened(column));
        self.group();
        self.put_all()
    }

    /// Widens a column of `U` or `S` to `len` characters or bytes per element. All elements are rewritten, and the whole column
    /// is held in memory. Attributes and missing values are kept; an index of the column is dropped.
    ///
    /// ```
    /// use bloscpack_datasets::{CArray, CTable};
    /// use bloscpack_dtype::DType;
    /// use bloscpack_storage::Memory;
    ///
    /// let names = CArray::builder(DType::bytes(2)?);
    /// let mut table = CTable::builder().column("name", names).create_in(Memory::new())?;
    /// table.append(&[b"abcd"])?;
    /// table.flush()?;
    /// table.widen_column("name", 3)?;
    /// table.flush()?;
    /// assert_eq!(table.column("name")?.read_rows(0..2)?, b"ab\0cd\0");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Returns [`Code::NotFound`](bloscpack_error::Code::NotFound) for an unknown column, and a usage error for a column of
    /// another dtype and for a width that is not larger; [`Code::ReadOnly`](bloscpack_error::Code::ReadOnly) if the table was
    /// opened for reading; any error of the superchunks and of the store.
    pub fn widen_column(&mut self, name: &str, len: u64) -> Result<()> {
        self.handle.check_writable()?;
        let rows = self.check_even()?;
        let (position, has_missing) = (self.index(name)?, self.has_missing(name)?);
        let array = self.column(name)?;
        let old = array.dtype();
        let wide = match old.kind() {
            Kind::Bytes => DType::bytes(len)?,
            Kind::Text => DType::new(Kind::Text, old.order(), len.saturating_mul(4))?,
            _ => return Err(Error::usage(format!("the elements are {old}, not text"))),
        };
        let (before, after) = (in_memory(old.itemsize())?, in_memory(wide.itemsize())?);
        if after <= before {
            return Err(Error::usage(format!("the elements are {old} already")));
        }
        let data = array.read_rows(0..rows)?;
        let mut wider = Vec::with_capacity(data.len() / before.max(1) * after);
        for element in data.chunks(before.max(1)) {
            wider.extend_from_slice(element);
            wider.resize(wider.len() + after - before, 0);
        }
        let builder = array.like().widened(wide)?;
        self.delete_column(name, false)?;
        let added = self.add_column(name, builder, &wider, Some(position));
        if added.is_err() {
            // The old column is gone: a flush would make that permanent.
            self.handle.fail();
        }
        added?;
        if has_missing {
            self.set_has_missing(name)?;
        }
        Ok(())
    }

    /// Removes a column and its files. With `keep`, the files stay, but the table no longer lists them; a new column of the
    /// same name replaces them.
    ///
    /// # Errors
    /// Returns [`Code::NotFound`](bloscpack_error::Code::NotFound) for an unknown column, and a usage error for the only column
    /// in the layouts of the documents; [`Code::ReadOnly`](bloscpack_error::Code::ReadOnly) if the table was opened for
    /// reading; any error of opening the column, and of the store.
    pub fn delete_column(&mut self, name: &str, keep: bool) -> Result<()> {
        self.handle.check_writable()?;
        self.check_folders()?;
        let index = self.index(name)?;
        if self.columns.len() == 1 && !self.handle.layout.columns_are_datasets() {
            return Err(Error::usage(
                "a table of this layout has at least one column",
            ));
        }
        self.column(name)?;
        self.forget_missing(name)?;
        self.names.remove(index);
        let column = self.columns.remove(index);
        self.put_all()?;
        match column.array.into_inner() {
            Some(array) if !keep => remove_column(&array),
            _ => Ok(()),
        }
    }

    /// Replaces all elements of a column with `data`, which contains all rows. The dtype, the compression settings and the
    /// attributes stay.
    ///
    /// ```
    /// use bloscpack_datasets::{CArray, CTable};
    /// use bloscpack_storage::Memory;
    ///
    /// let mut table = CTable::builder()
    ///     .column("id", CArray::of::<u8>())
    ///     .column("flag", CArray::of::<u8>())
    ///     .create_in(Memory::new())?;
    /// table.append(&[&[1, 2], &[0, 1]])?;
    /// table.replace_column("id", &[8, 9])?;
    /// table.delete_column("flag", false)?;
    /// assert_eq!(table.names(), ["id"]);
    /// assert_eq!(table.column("id")?.read_rows(0..2)?, [8, 9]);
    /// # Ok::<(), bloscpack_error::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns a usage error for another number of rows, [`Code::NotFound`](bloscpack_error::Code::NotFound) for an unknown
    /// column, and the errors of [`CArray::set_slice`].
    pub fn replace_column(&mut self, name: &str, data: &[u8]) -> Result<()> {
        let rows = self.check_even()?;
        let array = self.column_mut(name)?;
        if array.rows_of(data.len())? != rows {
            return Err(Error::usage(format!(
                "{} bytes are not the {rows} rows of the table",
                data.len()
            )));
        }
        let all = array.storage().grid().whole_rows(0..rows);
        array.set_slice(&all, data)
    }

    /// The columns that are open. The others cannot have changed.
    fn opened(&self) -> impl Iterator<Item = &CArray> {
        self.columns.iter().filter_map(|column| column.array.get())
    }

    fn opened_mut(&mut self) -> impl Iterator<Item = &mut CArray> {
        let columns = self.columns.iter_mut();
        columns.filter_map(|column| column.array.get_mut())
    }

    /// Writes the list of columns and the number of rows.
    fn put_all(&self) -> Result<()> {
        let done = self.put_rows().and_then(|_| self.put_columns());
        self.handle.tried(done)
    }

    /// Writes the names of the columns, or their descriptions in the layouts of the documents.
    pub(super) fn put_columns(&self) -> Result<()> {
        let handle = &self.handle;
        let columns = self.names.iter().zip(&self.columns);
        let columns: Vec<(&str, Option<&ArraySpec>)> = columns
            .map(|(name, column)| {
                let spec = column.array.get().map(|array| array.storage().spec());
                (name.as_str(), spec)
            })
            .collect();
        let layout = handle.layout.files()?;
        layout.put_table(&handle.files, &handle.at, &columns)
    }

    /// Stages all rows and the numbers of rows. Returns the files with these numbers.
    fn put_rows(&self) -> Result<Vec<Key>> {
        let handle = &self.handle;
        let is_shared = !handle.layout.columns_are_datasets();
        if is_shared {
            self.open_all()?;
        }
        self.opened()
            .try_for_each(|array| array.storage().stage())?;
        if is_shared {
            let specs: Vec<_> = self.opened().map(|array| array.storage().spec()).collect();
            let layout = handle.layout.files()?;
            layout.put_sizes(&handle.files, &handle.at, &specs)?;
            return Ok(vec![layout::sizes_key(handle.layout, &handle.at)?]);
        }
        let mut keys = Vec::new();
        for array in self.opened() {
            array.put_sizes()?;
            let column = array.handle();
            keys.push(layout::sizes_key(column.layout, &column.at)?);
        }
        Ok(keys)
    }

    /// Refuses to write the list of columns if a column's folder has another name, which would be lost.
    fn check_folders(&self) -> Result<()> {
        for (name, column) in self.names.iter().zip(&self.columns) {
            if let Some((_, folder)) = column.at.as_ref().and_then(Key::split)
                && folder != name
            {
                return Err(Error::usage(format!(
                    "the column {name:?} is in the folder {folder:?}: convert the table before its columns are changed"
                )));
            }
        }
        Ok(())
    }

    /// Sets an attribute of the table, new or not.
    ///
    /// # Errors
    /// Returns the errors of [`CArray::set_attribute`].
    pub fn set_attribute(&mut self, key: &str, value: &Value) -> Result<()> {
        self.handle.check_writable()?;
        self.attributes.set(key, value)?;
        self.put_attributes()
    }

    /// Sets an attribute of the table to a JSON text, which may contain Python's `NaN`, `Infinity` and `-Infinity`. Its
    /// spelling is kept.
    ///
    /// # Errors
    /// Returns the errors of [`CArray::set_attribute_text`].
    pub fn set_attribute_text(&mut self, key: &str, json_text: &str) -> Result<()> {
        self.handle.check_writable()?;
        self.attributes.set_text(key, json_text)?;
        self.put_attributes()
    }

    /// Removes an attribute of the table. Returns false if the key does not exist.
    ///
    /// # Errors
    /// Returns the errors of [`CArray::set_attribute`].
    pub fn remove_attribute(&mut self, key: &str) -> Result<bool> {
        self.handle.check_writable()?;
        let removed = self.attributes.remove(key);
        if removed {
            self.put_attributes()?;
        }
        Ok(removed)
    }

    pub(super) fn put_attributes(&self) -> Result<()> {
        let handle = &self.handle;
        let layout = handle.layout.files()?;
        layout.put_attributes(&handle.files, &handle.at, &self.attributes)
    }

    /// Sets an attribute of a column, new or not. Only columns in `bcolz` and `blz` have attributes of their own.
    ///
    /// # Errors
    /// Returns the errors of [`CArray::set_attribute`], and [`Code::NotFound`](bloscpack_error::Code::NotFound) for an unknown
    /// column.
    pub fn set_column_attribute(&mut self, name: &str, key: &str, value: &Value) -> Result<()> {
        self.column_mut(name)?.set_attribute(key, value)
    }

    /// Sets an attribute of a column to a JSON text; see [`set_attribute_text`](Self::set_attribute_text).
    ///
    /// # Errors
    /// Returns the errors of [`CArray::set_attribute_text`], and [`Code::NotFound`](bloscpack_error::Code::NotFound) for an
    /// unknown column.
    pub fn set_column_attribute_text(
        &mut self,
        name: &str,
        key: &str,
        json_text: &str,
    ) -> Result<()> {
        self.column_mut(name)?.set_attribute_text(key, json_text)
    }

    /// Removes an attribute of a column. Returns false if the key does not exist.
    ///
    /// # Errors
    /// Returns the errors of [`set_column_attribute`](Self::set_column_attribute).
    pub fn remove_column_attribute(&mut self, name: &str, key: &str) -> Result<bool> {
        self.column_mut(name)?.remove_attribute(key)
    }

    /// Makes all changes of all columns since the last flush permanent atomically: after a crash at any moment, the table is
    /// the old one or the new one. Also updates the indexes that columns have.
    ///
    /// # Errors
    /// Returns the errors of [`CArray::flush`].
    pub fn flush(&mut self) -> Result<()> {
        self.handle.check_writable()?;
        let counts = self.handle.tried(self.put_rows())?;
        self.opened_mut().try_for_each(CArray::put_index)?;
        let removes_rows = self.opened().any(CArray::has_fewer_rows);
        self.handle.files.commit(&counts, removes_rows)?;
        self.opened_mut().for_each(CArray::set_flushed);
        Ok(())
    }
}
