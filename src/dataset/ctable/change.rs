//! Rows in, and columns that come and go.

use super::builder::{check_name, new_column, put_columns};
use super::{CTable, Column};
use crate::dataset::carray::{CArray, CArrayBuilder};
use crate::dataset::layout;
use crate::dataset::remove::remove_column;
use crate::error::{Error, Result};
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
    pub(in crate::dataset) fn all_mut(&mut self) -> Result<Vec<&mut CArray>> {
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
        let (home, shared) = (self.home.clone(), !self.home.layout.columns_are_datasets());
        if shared && rows < self.rows()? {
            self.put_rows(rows)?;
        }
        for array in self.all_mut()? {
            let at = array.home().clone();
            let done = array.leaf_mut().trim(rows, |leaf| match shared {
                true => Ok(()),
                false => layout::put_sizes(at.layout, &home.root, &at.at, &[leaf.spec()]),
            });
            home.tried(done)?;
        }
        Ok(())
    }

    /// Says, before chunks go, that there are only so many rows.
    fn put_rows(&mut self, rows: u64) -> Result<()> {
        let home = self.home.clone();
        let mut specs = Vec::new();
        for array in self.all_mut()? {
            let mut spec = array.leaf().spec().clone();
            spec.grid = spec.grid.with_rows(rows)?;
            specs.push(spec);
        }
        layout::put_sizes(
            home.layout,
            &home.root,
            &home.at,
            &specs.iter().collect::<Vec<_>>(),
        )
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
        let mut columns = self.all_mut()?.into_iter();
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
        let row = array.plan(self.home.layout)?.row_bytes();
        let given = data.len().checked_div(row).unwrap_or(0);
        let is_enough = self.names.is_empty() || u64::try_from(given) == Ok(rows);
        if !data.len().is_multiple_of(row) || !is_enough {
            return Err(Error::usage(format!(
                "{} bytes for a column of {rows} rows of {row} bytes",
                data.len()
            )));
        }
        let mut column = new_column(&self.home, name, &array, chunk_rows, &self.options)?;
        self.home.tried(column.leaf_mut().append(data))?;
        let position = position.unwrap_or(self.names.len()).min(self.names.len());
        self.names.insert(position, name.to_owned());
        self.columns.insert(position, Column::opened(column));
        self.group();
        self.settle()
    }

    /// Removes a column. With `keep` its files stay, which nobody looks at any more.
    ///
    /// # Errors
    /// Wrong usage if it is not there or the table was opened for reading; those of the store.
    pub fn delete_column(&mut self, name: &str, keep: bool) -> Result<()> {
        self.home.check_writable()?;
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

    fn write_columns(&self) -> Result<()> {
        self.open_all_if_shared()?;
        for column in &self.columns {
            if let Some(array) = column.array.get() {
                array.leaf().stage()?;
                if let Some(at) = &column.at {
                    layout::put_sizes(
                        array.home().layout,
                        &self.home.root,
                        at,
                        &[array.leaf().spec()],
                    )?;
                }
            }
        }
        let home = self.home.clone();
        if home.layout.columns_are_datasets() {
            let names: Vec<(&str, Option<_>)> = self
                .names
                .iter()
                .map(|name| (name.as_str(), None))
                .collect();
            return layout::put_table(home.layout, &home.root, &home.at, &names);
        }
        let arrays: Vec<&CArray> = self
            .columns
            .iter()
            .filter_map(|column| column.array.get())
            .collect();
        put_columns(
            &home.root,
            &home.at,
            home.layout,
            self.names
                .iter()
                .map(String::as_str)
                .zip(arrays.iter().copied()),
        )?;
        let specs: Vec<_> = arrays.iter().map(|array| array.leaf().spec()).collect();
        layout::put_sizes(home.layout, &home.root, &home.at, &specs)
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
        self.settle()?;
        self.home.root.commit()
    }
}
