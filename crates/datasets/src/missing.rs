//! The attribute `bloscpack.missing`, which marks columns with missing values.
//!
//! A dataset stores NaN or "not a time" for a missing value. The attribute distinguishes them from values. An array, or a
//! column with its own attributes, has it with the value `true`. In the layouts of the documents, the table has it with a list
//! of column names. Other programs ignore it; `docs/tables.md` describes it under "Missing values".

use crate::carray::CArray;
use crate::ctable::CTable;
use bloscpack_array::MISSING;
use bloscpack_error::Result;
use serde_json::{Value, json};

impl CArray {
    /// Whether NaN and "not a time" are missing values, according to the attribute `bloscpack.missing`. Elements are not read.
    #[must_use]
    pub fn has_missing(&self) -> bool {
        self.attributes().has_missing()
    }

    /// Declares that NaN and "not a time" are missing values, by the attribute `bloscpack.missing`. It applies to all elements,
    /// also to those that were stored as values. [`flush`](Self::flush) makes it permanent.
    ///
    /// # Errors
    /// Returns the errors of [`set_attribute`](Self::set_attribute).
    pub fn set_has_missing(&mut self) -> Result<()> {
        if self.has_missing() {
            return Ok(());
        }
        self.set_attribute(MISSING, &Value::Bool(true))
    }
}

impl CTable {
    /// Whether NaN and "not a time" are missing values in a column, according to the attribute `bloscpack.missing`.
    ///
    /// ```
    /// use bloscpack_datasets::{CArray, CTable};
    /// use bloscpack_storage::Memory;
    ///
    /// let mut table = CTable::builder()
    ///     .column("price", CArray::of::<f64>())
    ///     .create_in(Memory::new())?;
    /// table.append(&[&f64::NAN.to_le_bytes()])?;
    /// assert!(!table.has_missing("price")?);
    /// table.set_has_missing("price")?;
    /// assert!(table.has_missing("price")?);
    /// # Ok::<(), bloscpack_error::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns the errors of [`column`](Self::column).
    pub fn has_missing(&self, name: &str) -> Result<bool> {
        let own = self.column(name)?.has_missing();
        Ok(own || self.names_with_missing().contains(&json!(name)))
    }

    /// Declares that NaN and "not a time" are missing values in a column; see [`CArray::set_has_missing`]. In the layouts of
    /// the documents, the table's attribute lists the column.
    ///
    /// # Errors
    /// Returns the errors of [`set_attribute`](Self::set_attribute), and a usage error for an unknown column.
    pub fn set_has_missing(&mut self, name: &str) -> Result<()> {
        if self.has_missing(name)? {
            return Ok(());
        }
        if self.layout().columns_are_datasets() {
            return self.column_mut(name)?.set_has_missing();
        }
        let mut names = self.names_with_missing();
        names.push(json!(name));
        self.set_attribute(MISSING, &Value::Array(names))
    }

    /// Removes a deleted column from the table's list: a new column may get its name.
    pub(crate) fn forget_missing(&mut self, name: &str) -> Result<()> {
        let mut names = self.names_with_missing();
        let before = names.len();
        names.retain(|other| *other != json!(name));
        if names.len() == before {
            return Ok(());
        }
        self.set_attribute(MISSING, &Value::Array(names))
    }

    /// The column names in the table's list.
    fn names_with_missing(&self) -> Vec<Value> {
        match self.attributes().get(MISSING) {
            Some(Value::Array(names)) => names,
            _ => Vec::new(),
        }
    }
}
