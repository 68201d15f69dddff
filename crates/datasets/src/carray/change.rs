//! Changes rows, elements and attributes of a [`CArray`].

use super::CArray;
use crate::layout;
use bloscpack_dtype::native::{self, Element};
use bloscpack_error::checked::to_u64;
use bloscpack_error::{Error, Result};
use serde_json::Value;
use std::ops::Range;

impl CArray {
    /// Refuses to change the number of rows of a column: only its table can.
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

    /// Appends whole rows, given as bytes in C order and in the byte order of the dtype.
    ///
    /// Full chunks are compressed on several threads and written to the store; others see them after [`flush`](Self::flush).
    /// Each flush rewrites a last chunk that is not full, so append many rows between flushes. No bytes append nothing.
    ///
    /// ```
    /// use bloscpack_datasets::CArray;
    /// use bloscpack_storage::Memory;
    ///
    /// let mut array = CArray::of::<u8>().row_shape(&[2]).create_in(Memory::new())?;
    /// array.append(&[1, 2, 3, 4])?;
    /// assert_eq!(array.shape(), [2, 2]);
    /// assert!(array.append(&[5]).is_err());
    /// # Ok::<(), bloscpack_error::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns a usage error for bytes that are not whole rows, for more rows than an array can have, and for a column of a
    /// table; [`Code::ReadOnly`](bloscpack_error::Code::ReadOnly) if the array was opened for reading;
    /// [`Code::Reopen`](bloscpack_error::Code::Reopen) after a change that failed halfway; damage of the last superchunk, which
    /// is read if it is not full; any error of the store.
    pub fn append(&mut self, rows: &[u8]) -> Result<()> {
        self.check_resizable()?;
        let done = self.storage_mut().append(rows);
        self.handle.tried(done)
    }

    /// Appends whole rows, given as values of a Rust type. If the dtype is not in the byte order of the machine, a
    /// converted copy is made.
    ///
    /// # Errors
    /// Returns the errors of [`append`](Self::append), and [`Code::WrongType`](bloscpack_error::Code::WrongType) if
    /// [`Element::is`] is false for the dtype.
    pub fn append_values<T: Element>(&mut self, values: &[T]) -> Result<()> {
        native::check::<T>(self.dtype())?;
        if self.dtype().order() == T::DTYPE.order() && cfg!(target_endian = "little") {
            return self.append(bytemuck::cast_slice(values));
        }
        let mut turned = values.to_vec();
        native::turn(self.dtype(), &mut turned);
        self.append(bytemuck::cast_slice(&turned))
    }

    /// Sets a box of elements to `data`: bytes in C order, in the byte order of the dtype. `slice` has one range for each axis.
    ///
    /// Chunks that are changed in part are read, decompressed and compressed again. A superchunk with several chunks is patched
    /// in place if the new chunks fit into the space of the old ones, and rewritten otherwise.
    ///
    /// # Errors
    /// Returns [`Code::OutOfBounds`](bloscpack_error::Code::OutOfBounds) for a box that is not inside the array, and a usage
    /// error for data of another length; [`Code::ReadOnly`](bloscpack_error::Code::ReadOnly) and
    /// [`Code::Reopen`](bloscpack_error::Code::Reopen) as for [`append`](Self::append); damage of the superchunks that are
    /// changed, and any error of the store.
    pub fn set_slice(&mut self, slice: &[Range<u64>], data: &[u8]) -> Result<()> {
        self.handle.check_writable()?;
        let done = self.storage_mut().set_box(slice, data);
        self.handle.tried(done)
    }

    /// Sets a box of elements to values of a Rust type, in C order. The values are copied once.
    ///
    /// ```
    /// use bloscpack_datasets::CArray;
    /// use bloscpack_storage::Memory;
    ///
    /// let mut array = CArray::of::<i32>().create_in(Memory::new())?;
    /// array.append_values(&[1, 2, 3, 4])?;
    /// array.set(&[1..3], &[-2, -3])?;
    /// assert_eq!(array.to_vec::<i32>(0..4)?, [1, -2, -3, 4]);
    /// # Ok::<(), bloscpack_error::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns the errors of [`set_slice`](Self::set_slice), and [`Code::WrongType`](bloscpack_error::Code::WrongType) if
    /// [`Element::is`] is false for the dtype.
    pub fn set<T: Element>(&mut self, slice: &[Range<u64>], values: &[T]) -> Result<()> {
        native::check::<T>(self.dtype())?;
        let mut turned = values.to_vec();
        native::turn(self.dtype(), &mut turned);
        self.set_slice(slice, bytemuck::cast_slice(&turned))
    }

    /// Removes all rows after the first `rows` rows. Superchunks that no row needs any more are removed, even damaged ones. A
    /// remaining superchunk that is not full is read and rewritten.
    ///
    /// # Errors
    /// Returns a usage error if there are fewer rows, and for a column of a table;
    /// [`Code::ReadOnly`](bloscpack_error::Code::ReadOnly) and [`Code::Reopen`](bloscpack_error::Code::Reopen) as for
    /// [`append`](Self::append); damage of the last remaining superchunk, and any error of the store.
    pub fn trim(&mut self, rows: u64) -> Result<()> {
        self.check_resizable()?;
        let done = self.storage_mut().trim(rows);
        self.handle.tried(done)
    }

    /// Removes rows from the end, or appends rows of the [default](Self::default_element), until there are `rows`. Appended
    /// rows are stored as compressed chunks like any others.
    ///
    /// ```
    /// use bloscpack_datasets::CArray;
    /// use bloscpack_storage::Memory;
    ///
    /// let mut array = CArray::of::<u8>().default_element(&[7]).create_in(Memory::new())?;
    /// array.append(&[1, 2, 3])?;
    /// array.resize(5)?;
    /// assert_eq!(array.read_rows(0..5)?, [1, 2, 3, 7, 7]);
    /// array.trim(2)?;
    /// assert_eq!(array.rows(), 2);
    /// # Ok::<(), bloscpack_error::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns the errors of [`trim`](Self::trim) and [`append`](Self::append). A number of rows that is too large for an array
    /// is refused before anything is written.
    pub fn resize(&mut self, rows: u64) -> Result<()> {
        self.check_resizable()?;
        let done = if rows < self.rows() {
            self.storage_mut().trim(rows)
        } else {
            self.storage_mut().grow(rows)
        };
        self.handle.tried(done)
    }

    /// Sets an attribute, new or not. Python's `NaN` and infinities can be set with
    /// [`set_attribute_text`](Self::set_attribute_text).
    ///
    /// ```
    /// use bloscpack_datasets::CArray;
    /// use bloscpack_storage::Memory;
    /// use serde_json::json;
    ///
    /// let mut array = CArray::of::<u8>().create_in(Memory::new())?;
    /// array.set_attribute("unit", &json!("EUR"))?;
    /// array.set_attribute_text("limit", "Infinity")?;
    /// assert_eq!(array.attributes().get("unit"), Some(json!("EUR")));
    /// assert_eq!(array.attributes().get_text("limit"), Some("Infinity"));
    /// # Ok::<(), bloscpack_error::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns [`Code::ReadOnly`](bloscpack_error::Code::ReadOnly) if the array was opened for reading; a usage error for a
    /// column in the layouts of the documents, where only the table has attributes;
    /// [`Code::CannotStore`](bloscpack_error::Code::CannotStore) and [`Code::OverLimit`](bloscpack_error::Code::OverLimit) for
    /// a value that is nested too deeply or too long to be read back; any error of the store.
    pub fn set_attribute(&mut self, key: &str, value: &Value) -> Result<()> {
        self.check_has_attributes()?;
        self.attributes.set(key, value)?;
        self.put_attributes()
    }

    /// Sets an attribute to a JSON text, which may contain Python's `NaN`, `Infinity` and `-Infinity`. Its spelling is kept.
    ///
    /// # Errors
    /// Returns the errors of [`set_attribute`](Self::set_attribute), and
    /// [`Code::CannotStore`](bloscpack_error::Code::CannotStore) for text that is not one JSON value.
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

    /// Makes all changes since the last flush permanent atomically: after a crash at any moment, the array is the old one or
    /// the new one. Also updates the [index](Self::index) if the array has one.
    ///
    /// # Errors
    /// * [`ResourceBusy`](std::io::ErrorKind::ResourceBusy) if readers do not release the array in time: repeat the call
    /// * [`Code::Committed`](bloscpack_error::Code::Committed) if the changes are committed, but completing them failed: the
    ///   next writer completes them, do not repeat the change
    /// * [`Code::ReadOnly`](bloscpack_error::Code::ReadOnly) and [`Code::Reopen`](bloscpack_error::Code::Reopen) as for
    ///   [`append`](Self::append)
    /// * any other error of the store: open the array again
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

    /// Writes the number of rows of an array that has its own description.
    pub(crate) fn put_sizes(&self) -> Result<()> {
        let handle = &self.handle;
        let layout = handle.layout.files()?;
        layout.put_sizes(&handle.files, &handle.at, &[self.storage.spec()])
    }

    /// Converts bytes to rows; an error if they are not whole rows.
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
