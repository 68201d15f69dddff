//! [`TableSource`]: arrays with equally many rows as a table.

use super::{Batch, Schema, Source, check_rows, first_len, next_rows, row_shape};
use crate::schema::{Column, names};
use crate::{Array, Attributes};
use bloscpack_error::{Error, Result};
use bloscpack_storage::parallel;
use std::ops::Range;

/// Reads arrays with equally many rows as the columns of a table, several at once if [`threads`](Self::threads()) is set.
///
/// ```
/// use bloscpack_array::{Array, Flat, Source, TableSource};
/// use bloscpack_dtype::DType;
///
/// let array = |bytes: &[u8]| -> Result<Box<dyn Array>, bloscpack_error::Error> {
///     Ok(Box::new(Flat::new(bytes.to_vec(), DType::U8, &[3], false)?))
/// };
/// let columns = vec![("id".to_owned(), array(&[1, 2, 3])?), ("close".to_owned(), array(&[7, 8, 9])?)];
/// let mut source = TableSource::of(3, columns)?.columns(&["close"])?.range(1..3)?;
/// let batch = source.next_batch(1 << 20)?.ok_or("no rows")?;
/// assert_eq!(batch.columns, [[8, 9]]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct TableSource<'a> {
    columns: Vec<(Column, Box<dyn Array + 'a>)>,
    schema: Schema,
    there: u64,
    rest: Range<u64>,
    rows: u64,
    threads: usize,
}

impl std::fmt::Debug for TableSource<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TableSource")
            .field("schema", &self.schema)
            .field("rest", &self.rest)
            .finish_non_exhaustive()
    }
}

impl<'a> TableSource<'a> {
    /// A table of named arrays, each with exactly `rows` rows. NaN represents missing values in arrays whose attribute
    /// `bloscpack.missing` is true.
    ///
    /// # Errors
    /// Returns `Code::Usage` for an array with another number of rows, and damage of the arrays' metadata.
    pub fn of(rows: u64, arrays: Vec<(String, Box<dyn Array + 'a>)>) -> Result<Self> {
        let mut columns = Vec::with_capacity(arrays.len());
        for (name, array) in arrays {
            let found = first_len(array.grid().shape());
            if found != rows {
                let message = format!("column {name:?} has {found} rows, expected {rows}");
                return Err(Error::usage(message));
            }
            let mut column = Column::new(&name, array.dtype().clone());
            column.row_shape = row_shape(array.grid().shape()).to_vec();
            if array.description()?.attributes.has_missing() {
                column = column.nan_as_null();
            }
            columns.push((column, array));
        }
        let chosen = columns.iter().map(|(column, _)| column.clone());
        Ok(Self {
            schema: Schema::table(chosen.collect()),
            columns,
            there: rows,
            rest: 0..rows,
            rows,
            threads: 1,
        })
    }

    /// Sets the attributes of the table.
    #[must_use]
    pub fn attributes(mut self, attributes: Attributes) -> Self {
        self.schema.attributes = attributes;
        self
    }

    /// The maximum number of columns that are read at once; 1 by default.
    #[must_use]
    pub fn threads(mut self, threads: usize) -> Self {
        self.threads = threads;
        self
    }

    /// Reads NaN and NaT as missing values in the columns for which `is_column` returns true.
    #[must_use]
    pub fn nan_as_null(mut self, is_column: impl Fn(&str) -> bool) -> Self {
        for (column, _) in &mut self.columns {
            if is_column(&column.name) {
                *column = column.clone().nan_as_null();
            }
        }
        self.schema.columns = self
            .columns
            .iter()
            .map(|(column, _)| column.clone())
            .collect();
        self
    }

    /// Keeps only these columns, in this order.
    ///
    /// # Errors
    /// Returns `Code::Usage` if a column does not exist or is named twice.
    pub fn columns(mut self, wanted: &[impl AsRef<str>]) -> Result<Self> {
        let mut all: Vec<_> = std::mem::take(&mut self.columns)
            .into_iter()
            .map(Some)
            .collect();
        for name in wanted {
            let name = name.as_ref();
            let is_it = |place: &&mut Option<(Column, _)>| {
                place
                    .as_ref()
                    .is_some_and(|(column, _)| column.name == name)
            };
            let found = all.iter_mut().find(is_it).and_then(Option::take);
            let there = || names(&self.schema.columns);
            self.columns.push(found.ok_or_else(|| {
                Error::usage(format!(
                    "no column {name:?}, or one that is named twice; there are {}",
                    there()
                ))
            })?);
        }
        self.schema.columns = self
            .columns
            .iter()
            .map(|(column, _)| column.clone())
            .collect();
        Ok(self)
    }

    /// Restricts the table to these rows.
    ///
    /// # Errors
    /// Returns `Code::Usage` for rows past the end.
    pub fn range(mut self, rows: Range<u64>) -> Result<Self> {
        check_rows(&rows, self.there)?;
        self.rows = rows.end - rows.start;
        self.rest = rows;
        Ok(self)
    }
}

impl Source for TableSource<'_> {
    fn schema(&self) -> &Schema {
        &self.schema
    }

    fn rows(&self) -> Option<u64> {
        Some(self.rows)
    }

    fn next_batch(&mut self, bytes: usize) -> Result<Option<Batch>> {
        let strides = self
            .columns
            .iter()
            .map(|(_, array)| first_len(array.grid().chunk_shape()));
        let (row_bytes, stride) = (self.schema.row_bytes(), strides.max().unwrap_or(1));
        let Some(rows) = next_rows(&mut self.rest, row_bytes, stride, bytes) else {
            return Ok(None);
        };
        let mut read = vec![Vec::new(); self.columns.len()];
        let jobs = self.columns.iter().zip(read.iter_mut());
        let done = parallel::for_each(self.threads, jobs, |((_, array), bytes)| {
            let mut slice = vec![rows.clone()];
            slice.extend(row_shape(array.grid().shape()).iter().map(|axis| 0..*axis));
            *bytes = array.read_slice(&slice)?;
            Ok::<_, Error>(())
        });
        done.inspect_err(|_| self.rest = 0..0)?;
        let count = rows.end - rows.start;
        Ok(Some(Batch::new(&self.schema, count, read)))
    }
}
