//! Rows in, and columns that come and go.

use super::builder::{check_name, new_column, put_columns};
use super::{CTable, Column};
use crate::carray::{CArray, CArrayBuilder};
use crate::layout;
use crate::remove::remove_column;
use bloscpack_error::{Error, Result};
use bloscpack_storage::Key;
use serde_json::Value;
use std::ops::Range;

impl CTable {
    /// All columns, opened.
    fn open_all(&self) -> Result<()> {
        self.names
            .iter()
            .try_for_each(|name| self.column(name).map(|_| ()))
    }

    /// All columns, opened, to be changed; nothing is changed yet.
    pub(crate) fn all_mut(&mut self) -> Result<Vec<&mut CArray>> {
        self.home.check_writable()?;
        self.open_all()?;
        Ok(self
            .columns
            .iter_mut()
            .filter_map(|column| column.array.get_mut())
            .collect())
    }

    fn column_mut(&mut self, name: &str) -> Result<&mut CArray> {
        self.home.check_writable()?;
        self.column(name)?;
        let index = self.index(name)?;
        let array = self
            .columns
            .get_mut(index)
            .and_then(|column| column.array.get_mut());
        array.ok_or_else(|| Error::usage(format!("no column {name:?}")))
    }

    /// Refuses to go on with columns of different lengths, which a crash of another program leaves.
    fn check_even(&self) -> Result<u64> {
        let rows = self.rows()?;
        for name in &self.names {
            let found = self.column(name)?.rows();
            if found != rows {
                let what = format!(
                    "column {name:?} has {found} rows, where others have {rows}: repair the table first"
                );
                return Err(Error::usage(what));
            }
        }
        Ok(rows)
    }

    /// Appends rows, given column by column in their order, by their bytes.
    ///
    /// # Errors
    /// Wrong usage if a column is missing, these are not whole rows or not the same number in all, or the table was opened for
    /// reading; those of the store.
    pub fn append(&mut self, columns: &[&[u8]]) -> Result<()> {
        self.home.check_writable()?;
        self.check_even()?;
        if columns.len() != self.columns.len() {
            return Err(Error::usage(format!(
                "{} columns for a table of {}",
                columns.len(),
                self.columns.len()
            )));
        }
        let mut count = None;
        for (array, bytes) in self.all_mut()?.iter().zip(columns) {
            let rows = array.rows_of(bytes.len())?;
            if *count.get_or_insert(rows) != rows {
                return Err(Error::usage(format!(
                    "{rows} rows for a column, {} for another",
                    count.unwrap_or(0)
                )));
            }
        }
        let mut arrays = self.all_mut()?.into_iter().zip(columns);
        let done = arrays.try_for_each(|(array, bytes)| array.leaf_mut().append(bytes));
        self.home.tried(done)
    }

    /// Sets a box of elements of a column, a range for each axis, to these bytes.
    ///
    /// # Errors
    /// As [`CArray::set_slice`].
    pub fn set_slice(&mut self, name: &str, slice: &[Range<u64>], data: &[u8]) -> Result<()> {
        self.column_mut(name)?.set_slice(slice, data)
    }

    /// Cuts off all rows from this one on, in all columns.
    ///
    /// # Errors
    /// As [`CArray::trim`].
    pub fn trim(&mut self, rows: u64) -> Result<()> {
        self.home.check_writable()?;
        self.check_even()?;
        let mut columns = self.all_mut()?.into_iter();
        let done = columns.try_for_each(|array| array.leaf_mut().trim(rows));
        self.home.tried(done)
    }

    /// Cuts rows off or appends default values in all columns, until there are so many.
    ///
    /// # Errors
    /// As [`CArray::resize`].
    pub fn resize(&mut self, rows: u64) -> Result<()> {
        self.home.check_writable()?;
        if rows < self.check_even()? {
            return self.trim(rows);
        }
        let mut columns = self.all_mut()?;
        // What one of them cannot be, none becomes.
        for array in &columns {
            array.leaf().grown_to(rows)?;
        }
        let mut columns = columns.iter_mut();
        let done = columns.try_for_each(|array| array.leaf_mut().grow(rows));
        self.home.tried(done)
    }

    /// Adds a column before the one at `position`, or behind the last, of these elements, as many as there are rows. Columns
    /// within the same column stay side by side.
    ///
    /// # Errors
    /// Wrong usage for a name that cannot be or is there, another number of rows, or a table opened for reading; those of the
    /// store.
    pub fn add_column(
        &mut self,
        name: &str,
        array: CArrayBuilder,
        data: &[u8],
        position: Option<usize>,
    ) -> Result<()> {
        self.home.check_writable()?;
        let rows = self.check_even()?;
        self.check_folders()?;
        check_name(
            self.home.layout,
            name,
            self.names.iter().map(String::as_str),
        )?;
        let shared = !self.home.layout.columns_are_datasets();
        let chunk_rows = match self.names.first() {
            Some(first) if shared => Some(self.column(first)?.leaf().grid().band_rows()),
            _ => None,
        };
        let array = match (shared, self.names.first()) {
            (true, Some(first)) => array.framed_as(self.column(first)?),
            _ => array.expecting(rows),
        };
        // Nothing is staged for what is refused.
        if let (true, Some(first)) = (shared, self.names.first()) {
            let plan = array
                .clone()
                .chunk_rows(chunk_rows.unwrap_or(1))
                .plan(self.home.layout)?;
            layout::check_beside(self.home.layout, self.column(first)?.leaf().spec(), &plan)?;
        }
        let row = array.plan(self.home.layout)?.row_bytes();
        let given = data.len().checked_div(row).unwrap_or(0);
        let is_enough = self.names.is_empty() || u64::try_from(given) == Ok(rows);
        if !data.len().is_multiple_of(row) || !is_enough {
            return Err(Error::usage(format!(
                "{} bytes for a column of {rows} rows of {row} bytes",
                data.len()
            )));
        }
        let column = new_column(&self.home, name, &array, chunk_rows, &self.options);
        let mut column = self.home.tried(column)?;
        self.home.tried(column.leaf_mut().append(data))?;
        let position = position.unwrap_or(self.names.len()).min(self.names.len());
        self.names.insert(position, name.to_owned());
        self.columns.insert(position, Column::opened(column));
        self.group();
        self.settle()
    }

    /// Removes a column. With `keep` its files stay, which nobody looks at any more, until a column of the same name is added, which
    /// takes their place.
    ///
    /// # Errors
    /// Wrong usage if it is not there or the table was opened for reading; those of the store.
    pub fn delete_column(&mut self, name: &str, keep: bool) -> Result<()> {
        self.home.check_writable()?;
        self.check_folders()?;
        let index = self.index(name)?;
        if self.columns.len() == 1 && !self.home.layout.columns_are_datasets() {
            return Err(Error::usage(
                "a table of this layout has at least one column",
            ));
        }
        self.column(name)?;
        let (name, column) = (self.names.remove(index), self.columns.remove(index));
        self.settle()?;
        match column.array.into_inner() {
            Some(array) if !keep => remove_column(&self.home.root, self.home.layout, &array),
            _ => {
                drop(name);
                Ok(())
            }
        }
    }

    /// Gives a column other elements, as many as there are rows; its dtype and settings stay.
    ///
    /// # Errors
    /// As [`add_column`](Self::add_column).
    pub fn replace_column(&mut self, name: &str, data: &[u8]) -> Result<()> {
        let rows = self.check_even()?;
        let array = self.column_mut(name)?;
        if array.rows_of(data.len())? != rows {
            return Err(Error::usage(format!(
                "{} bytes are not the {rows} rows that the table has",
                data.len()
            )));
        }
        let whole = array.leaf().grid().of_whole_rows(0..rows);
        array.set_slice(&whole, data)
    }

    /// Writes which columns there are, and how many rows.
    fn settle(&mut self) -> Result<()> {
        let done = self.write_columns();
        self.home.tried(done)
    }

    /// Columns that were opened; of the others nothing can have changed.
    fn opened(&self) -> impl Iterator<Item = &CArray> {
        self.columns.iter().filter_map(|column| column.array.get())
    }

    fn write_columns(&self) -> Result<()> {
        self.write_rows()?;
        let (home, names) = (&self.home, self.names.iter().map(String::as_str));
        if home.layout.columns_are_datasets() {
            let names: Vec<(&str, Option<_>)> = names.map(|name| (name, None)).collect();
            return layout::put_table(home.layout, &home.root, &home.at, &names);
        }
        put_columns(&home.root, &home.at, home.layout, names.zip(self.opened()))
    }

    /// Puts all rows into files, and writes how many there are; returns the keys of the counts.
    fn write_rows(&self) -> Result<Vec<Key>> {
        self.open_all_if_shared()?;
        self.opened().try_for_each(|array| array.leaf().stage())?;
        let home = &self.home;
        if !home.layout.columns_are_datasets() {
            let specs: Vec<_> = self.opened().map(|array| array.leaf().spec()).collect();
            layout::put_sizes(home.layout, &home.root, &home.at, &specs)?;
            return Ok(vec![layout::sizes_key(home.layout, &home.at)?]);
        }
        let mut keys = Vec::new();
        for array in self.opened() {
            let column = array.home();
            layout::put_sizes(
                column.layout,
                &home.root,
                &column.at,
                &[array.leaf().spec()],
            )?;
            keys.push(layout::sizes_key(column.layout, &column.at)?);
        }
        Ok(keys)
    }

    /// Refuses to write which columns there are where that would lose where they are.
    fn check_folders(&self) -> Result<()> {
        let mut columns = self.names.iter().zip(&self.columns);
        let moved = columns.find_map(|(name, column)| {
            let (_, folder) = column.at.as_ref()?.split()?;
            (folder != name).then(|| format!("the column {name:?} lies in the folder {folder:?}"))
        });
        match moved {
            Some(what) => Err(Error::usage(format!(
                "{what}: convert the table before its columns are changed"
            ))),
            None => Ok(()),
        }
    }

    fn open_all_if_shared(&self) -> Result<()> {
        match self.home.layout.columns_are_datasets() {
            true => Ok(()),
            false => self.open_all(),
        }
    }

    /// Sets an attribute.
    ///
    /// # Errors
    /// As [`CArray::set_attribute`].
    pub fn set_attribute(&mut self, key: &str, value: &Value) -> Result<()> {
        self.home.check_writable()?;
        self.attributes.set(key, value)?;
        layout::put_attributes(
            self.home.layout,
            &self.home.root,
            &self.home.at,
            &self.attributes,
        )
    }

    /// Sets an attribute of a column, where columns have attributes of their own.
    ///
    /// # Errors
    /// As [`CArray::set_attribute`].
    pub fn set_column_attribute(&mut self, name: &str, key: &str, value: &Value) -> Result<()> {
        self.column_mut(name)?.set_attribute(key, value)
    }

    /// Removes an attribute of a column; false if there is none of this name.
    ///
    /// # Errors
    /// As [`CArray::set_attribute`].
    pub fn remove_column_attribute(&mut self, name: &str, key: &str) -> Result<bool> {
        self.column_mut(name)?.remove_attribute(key)
    }

    /// Removes an attribute; false if there is none of this name.
    ///
    /// # Errors
    /// As [`CArray::set_attribute`].
    pub fn remove_attribute(&mut self, key: &str) -> Result<bool> {
        self.home.check_writable()?;
        let removed = self.attributes.remove(key);
        if removed {
            layout::put_attributes(
                self.home.layout,
                &self.home.root,
                &self.home.at,
                &self.attributes,
            )?;
        }
        Ok(removed)
    }

    /// Makes all changes permanent, as a whole: after a crash at any moment there is the old table or the new one.
    ///
    /// # Errors
    /// As [`CArray::flush`].
    pub fn flush(&mut self) -> Result<()> {
        self.home.check_writable()?;
        let counts = self.home.tried(self.write_rows())?;
        let shrinks = self.opened().any(CArray::has_fewer_rows);
        self.home.root.commit_counts(&counts, shrinks)?;
        let columns = self
            .columns
            .iter_mut()
            .filter_map(|column| column.array.get_mut());
        columns.for_each(CArray::set_flushed);
        Ok(())
    }
}
