//! The attribute that says which columns have missing values.
//!
//! A dataset has NaN and "not a time" in their place. The attribute `bloscpack.missing` says that these are not values: it is
//! true for an array or a column that has attributes of its own. In the layouts whose columns have none, the table has a list of
//! the columns' names. Other programs ignore it.

use crate::carray::CArray;
use crate::ctable::CTable;
use bloscpack_array::MISSING;
use bloscpack_error::Result;
use serde_json::{Value, json};

impl CArray {
    /// Whether NaN and "not a time" stand for missing values.
    #[must_use]
    pub fn has_missing(&self) -> bool {
        self.attributes().has_missing()
    }

    /// Writes down that NaN and "not a time" stand for missing values, in an attribute that other programs ignore.
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
    /// Whether NaN and "not a time" stand for missing values in a column.
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

    /// Writes down that NaN and "not a time" stand for missing values in a column, in an attribute that other programs ignore.
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

    /// Forgets it for a column that is deleted, since another one may get its name.
    pub(crate) fn forget_missing(&mut self, name: &str) -> Result<()> {
        let mut names = self.names_with_missing();
        let before = names.len();
        names.retain(|other| *other != json!(name));
        if names.len() == before {
            return Ok(());
        }
        self.set_attribute(MISSING, &Value::Array(names))
    }

    /// The columns in the list of the table.
    fn names_with_missing(&self) -> Vec<Value> {
        match self.attributes().get(MISSING) {
            Some(Value::Array(names)) => names,
            _ => Vec::new(),
        }
    }
}
