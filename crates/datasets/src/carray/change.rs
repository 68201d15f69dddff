//! Changes elements and attributes.

use super::CArray;
use crate::layout;
use bloscpack_dtype::native::{self, Element};
use bloscpack_error::checked::to_u64;
use bloscpack_error::{Error, Result};
use serde_json::Value;
use std::ops::Range;

impl CArray {
    /// Refuses to change the number of rows of a column, which is that of its table.
    fn check_resizable(&self) -> Result<()> {
        self.handle.check_writable()?;
        if self.handle.in_table {
            Err(Error::usage(
                "a column has as many rows as its table: change the table",
            ))
        } else {
            Ok(())
        }
    }

    /// Appends rows, given by their bytes in C order and in the byte order of the dtype.
    ///
    /// # Errors
    /// Returns a usage error for bytes that are not whole rows, for a column of a table, and if the array was opened for
    /// reading; any error of the superchunks and of the store.
    pub fn append(&mut self, rows: &[u8]) -> Result<()> {
        self.check_resizable()?;
        let done = self.storage_mut().append(rows);
        self.handle.tried(done)
    }

    /// Appends values, which are whole rows.
    ///
    /// # Errors
    /// Returns the errors of [`append`](Self::append), and a usage error if the elements have another type.
    pub fn append_values<T: Element>(&mut self, values: &[T]) -> Result<()> {
        native::check::<T>(self.dtype())?;
        if self.dtype().order() == T::DTYPE.order() && cfg!(target_endian = "little") {
            return self.append(bytemuck::cast_slice(values));
        }
        let mut turned = values.to_vec();
        native::turn(self.dtype(), &mut turned);
        self.append(bytemuck::cast_slice(&turned))
    }

    /// Sets a box of elements to the bytes in `data`, in C order. `slice` has a range for each axis.
    ///
    /// # Errors
    /// Returns a usage error for a box that is not inside of the array, for data of another length, and if the array was
    /// opened for reading; any error of the chunks that are changed in part, and of the store.
    pub fn set_slice(&mut self, slice: &[Range<u64>], data: &[u8]) -> Result<()> {
        self.handle.check_writable()?;
        let done = self.storage_mut().set_box(slice, data);
        self.handle.tried(done)
    }

    /// Sets a box of elements to these values, in C order.
    ///
    /// # Errors
    /// Returns the errors of [`set_slice`](Self::set_slice), and a usage error if the elements have another type.
    pub fn set<T: Element>(&mut self, slice: &[Range<u64>], values: &[T]) -> Result<()> {
        native::check::<T>(self.dtype())?;
        let mut turned = values.to_vec();
        native::turn(self.dtype(), &mut turned);
        self.set_slice(slice, bytemuck::cast_slice(&turned))
    }

    /// Cuts the array off after the first `rows` rows.
    ///
    /// # Errors
    /// Returns a usage error if there are fewer rows, for a column of a table, and if the array was opened for reading; any
    /// error of the superchunks and of the store.
    pub fn trim(&mut self, rows: u64) -> Result<()> {
        self.check_resizable()?;
        let done = self.storage_mut().trim(rows);
        self.handle.tried(done)
    }

    /// Cuts rows off or appends default rows, until there are `rows`.
    ///
    /// # Errors
    /// Returns the errors of [`trim`](Self::trim), and a usage error if an array cannot have so many rows.
    pub fn resize(&mut self, rows: u64) -> Result<()> {
        self.check_resizable()?;
        let done = if rows < self.rows() {
            self.storage_mut().trim(rows)
        } else {
            self.storage_mut().grow(rows)
        };
        self.handle.tried(done)
    }

    /// Sets an attribute.
    ///
    /// # Errors
    /// Returns a usage error if the array was opened for reading, for a column without attributes of its own, and for a value
    /// that could not be read again; any error of the store.
    pub fn set_attribute(&mut self, key: &str, value: &Value) -> Result<()> {
        self.check_has_attributes()?;
        self.attributes.set(key, value)?;
        self.put_attributes()
    }

    /// Sets an attribute to this JSON text, in which Python's `NaN`, `Infinity` and `-Infinity` may occur.
    ///
    /// # Errors
    /// Returns the errors of [`set_attribute`](Self::set_attribute), and wrong usage for text that is not JSON.
    pub fn set_attribute_text(&mut self, key: &str, json_text: &str) -> Result<()> {
        self.check_has_attributes()?;
        self.attributes.set_text(key, json_text)?;
        self.put_attributes()
    }

    /// Removes an attribute. Returns false if the key does not exist.
    ///
    /// # Errors
    /// Returns the errors of [`set_attribute`](Self::set_attribute).
    pub fn remove_attribute(&mut self, key: &str) -> Result<bool> {
        self.check_has_attributes()?;
        let removed = self.attributes.remove(key);
        if removed {
            self.put_attributes()?;
        }
        Ok(removed)
    }

    fn put_attributes(&self) -> Result<()> {
        let handle = &self.handle;
        let layout = handle.layout.files()?;
        layout.put_attributes(&handle.files, &handle.at, &self.attributes)
    }

    fn check_has_attributes(&self) -> Result<()> {
        self.handle.check_writable()?;
        if self.handle.is_shared_column() {
            Err(Error::usage(
                "in this layout columns have no attributes of their own: set those of the table",
            ))
        } else {
            Ok(())
        }
    }

    /// Makes all changes permanent atomically: after a crash at any moment, the array is the old one or the new one.
    ///
    /// # Errors
    /// Returns [`ResourceBusy`](std::io::ErrorKind::ResourceBusy) if readers do not close the array in time, after which the
    /// call can be repeated; any other error of the store, after which the array has to be opened again.
    pub fn flush(&mut self) -> Result<()> {
        self.handle.check_writable()?;
        self.handle.tried(self.storage.stage())?;
        self.put_index()?;
        let handle = &self.handle;
        let mut counts = Vec::new();
        if !handle.in_table {
            self.put_sizes()?;
            counts.push(layout::sizes_key(handle.layout, &handle.at)?);
        }
        handle.files.commit(&counts, self.has_fewer_rows())?;
        self.set_flushed();
        Ok(())
    }

    /// Writes the number of rows of an array that is described on its own.
    pub(crate) fn put_sizes(&self) -> Result<()> {
        let handle = &self.handle;
        let layout = handle.layout.files()?;
        layout.put_sizes(&handle.files, &handle.at, &[self.storage.spec()])
    }

    /// The number of rows that so many bytes are.
    pub(crate) fn rows_of(&self, bytes: usize) -> Result<u64> {
        let row = self.row_bytes();
        if bytes.is_multiple_of(row) {
            Ok(to_u64(bytes / row))
        } else {
            Err(Error::usage(format!(
                "{bytes} bytes are not whole rows of {row} bytes"
            )))
        }
    }
}
