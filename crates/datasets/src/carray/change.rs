//! Elements in.

use super::CArray;
use crate::layout;
use bloscpack_dtype::native::{self, Element};
use bloscpack_error::{Error, Result};
use serde_json::Value;
use std::ops::Range;

impl CArray {
    /// Refuses to give a column other rows than its table has.
    fn check_resizable(&self) -> Result<()> {
        self.home.check_writable()?;
        match self.home.in_table {
            true => Err(Error::usage(
                "a column has as many rows as its table: change those of the table",
            )),
            false => Ok(()),
        }
    }

    /// Appends rows, given by their bytes in C order.
    ///
    /// # Errors
    /// Wrong usage if these are not whole rows or the array was opened for reading; those of the store.
    pub fn append(&mut self, rows: &[u8]) -> Result<()> {
        self.check_resizable()?;
        let done = self.leaf.append(rows);
        self.home.tried(done)
    }

    /// Appends values, which are whole rows.
    ///
    /// # Errors
    /// As [`append`](Self::append), and wrong usage if the elements are of another type.
    pub fn append_values<T: Element>(&mut self, values: &[T]) -> Result<()> {
        native::check::<T>(self.dtype())?;
        if self.dtype().order() == T::DTYPE.order() && cfg!(target_endian = "little") {
            return self.append(bytemuck::cast_slice(values));
        }
        let mut turned = values.to_vec();
        native::turn(self.dtype(), &mut turned);
        self.append(bytemuck::cast_slice(&turned))
    }

    /// Sets a box of elements, a range for each axis, to these bytes in C order.
    ///
    /// # Errors
    /// Wrong usage if the box does not lie in the array, has another number of bytes, or the array was opened for reading;
    /// damage of the chunks that are changed in part; those of the store.
    pub fn set_slice(&mut self, slice: &[Range<u64>], data: &[u8]) -> Result<()> {
        self.home.check_writable()?;
        let done = self.leaf.set_box(slice, data);
        self.home.tried(done)
    }

    /// Sets a box of elements to these values.
    ///
    /// # Errors
    /// As [`set_slice`](Self::set_slice), and wrong usage if the elements are of another type.
    pub fn set<T: Element>(&mut self, slice: &[Range<u64>], values: &[T]) -> Result<()> {
        native::check::<T>(self.dtype())?;
        let mut turned = values.to_vec();
        native::turn(self.dtype(), &mut turned);
        self.set_slice(slice, bytemuck::cast_slice(&turned))
    }

    /// Cuts off all rows from this one on.
    ///
    /// # Errors
    /// Wrong usage if there are fewer, or the array was opened for reading; damage; those of the store.
    pub fn trim(&mut self, rows: u64) -> Result<()> {
        self.check_resizable()?;
        let done = self.leaf.trim(rows);
        self.home.tried(done)
    }

    /// Cuts rows off or appends default values, until there are so many.
    ///
    /// # Errors
    /// As [`trim`](Self::trim).
    pub fn resize(&mut self, rows: u64) -> Result<()> {
        self.check_resizable()?;
        match rows < self.rows() {
            true => self.trim(rows),
            false => {
                let done = self.leaf.grow(rows);
                self.home.tried(done)
            }
        }
    }

    /// Sets an attribute.
    ///
    /// # Errors
    /// Wrong usage if the array was opened for reading.
    pub fn set_attribute(&mut self, key: &str, value: &Value) -> Result<()> {
        self.home.check_writable()?;
        self.check_has_attributes()?;
        self.attributes.set(key, value)?;
        layout::put_attributes(
            self.home.layout,
            &self.home.root,
            &self.home.at,
            &self.attributes,
        )
    }

    /// Removes an attribute; false if there is none of this name.
    ///
    /// # Errors
    /// As [`set_attribute`](Self::set_attribute).
    pub fn remove_attribute(&mut self, key: &str) -> Result<bool> {
        self.home.check_writable()?;
        self.check_has_attributes()?;
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

    fn check_has_attributes(&self) -> Result<()> {
        match self.home.in_table && !self.home.layout.columns_are_datasets() {
            true => Err(Error::usage(
                "columns have no attributes of their own in this layout: set those of the table",
            )),
            false => Ok(()),
        }
    }

    /// Makes all changes permanent, as a whole: after a crash at any moment there is the old array or the new one.
    ///
    /// # Errors
    /// [`ResourceBusy`](std::io::ErrorKind::ResourceBusy) if others go on reading the array, after which it can be tried again;
    /// those of the store, after which the array has to be opened again.
    pub fn flush(&mut self) -> Result<()> {
        self.home.check_writable()?;
        self.home.tried(self.leaf.stage())?;
        let mut counts = Vec::new();
        if !self.home.in_table {
            layout::put_sizes(
                self.home.layout,
                &self.home.root,
                &self.home.at,
                &[self.leaf.spec()],
            )?;
            counts.push(layout::sizes_key(self.home.layout, &self.home.at)?);
        }
        self.home
            .root
            .commit_counts(&counts, self.has_fewer_rows())?;
        self.set_flushed();
        Ok(())
    }

    /// Bytes of a row, and how many rows these bytes are.
    pub(crate) fn rows_of(&self, bytes: usize) -> Result<u64> {
        let row = self.row_bytes();
        match bytes.is_multiple_of(row) {
            true => Ok(u64::try_from(bytes / row).unwrap_or(u64::MAX)),
            false => Err(Error::usage(format!(
                "{bytes} bytes are not whole rows of {row} bytes"
            ))),
        }
    }
}
