//! [`TableSource`]: columns of a table.

use super::{Batch, Schema, Source, check_rows, first_len, next_rows, row_shape};
use crate::schema::Column;
use bloscpack_datasets::CTable;
use bloscpack_error::Result;
use std::ops::Range;

/// A table of a dataset, or some of its columns.
///
/// ```
/// # testkit::enter_testdata();
/// use bloscpack_datasets::CTable;
/// use bloscpack_exchange::{Source, TableSource};
///
/// let table = CTable::open("testdata/datasets/bcolz/zipline_daily_equities.bcolz")?;
/// let mut source = TableSource::new(&table)?.columns(&["id", "close"])?.range(0..5)?;
/// assert_eq!(source.rows(), 5);
/// let batch = source.next_batch(1 << 20)?.ok_or("no rows")?;
/// assert_eq!(batch.columns, table.read_rows(&["id", "close"], 0..5)?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct TableSource<'a> {
    table: &'a CTable,
    schema: Schema,
    there: u64,
    rows: u64,
    rest: Range<u64>,
    stride: u64,
}

impl<'a> TableSource<'a> {
    /// All columns.
    ///
    /// # Errors
    /// Returns errors of opening the columns.
    pub fn new(table: &'a CTable) -> Result<Self> {
        let rows = table.rows()?;
        let mut schema = Schema::table(Vec::new());
        schema.attributes = table.attributes().clone();
        let source = Self {
            table,
            schema,
            there: rows,
            rows,
            rest: 0..rows,
            stride: 1,
        };
        source.columns(table.names())
    }

    /// Only these columns, in this order.
    ///
    /// # Errors
    /// Returns wrong usage if a column does not exist, and errors of opening it.
    pub fn columns(mut self, names: &[impl AsRef<str>]) -> Result<Self> {
        (self.schema.columns, self.stride) = (Vec::new(), 1);
        for name in names {
            let array = self.table.column(name)?;
            let mut column = Column::new(name.as_ref(), array.dtype().clone());
            column.row_shape = row_shape(array.shape()).to_vec();
            if self.table.has_missing(name.as_ref())? {
                column = column.nan_as_null();
            }
            self.schema.columns.push(column);
            let stride = first_len(array.chunk_shape());
            self.stride = self.stride.max(stride);
        }
        Ok(self)
    }

    /// Only these rows.
    ///
    /// # Errors
    /// Returns wrong usage if there are not so many.
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

    fn rows(&self) -> u64 {
        self.rows
    }

    fn next_batch(&mut self, bytes: usize) -> Result<Option<Batch>> {
        let row_bytes = self.schema.row_bytes();
        let Some(rows) = next_rows(&mut self.rest, row_bytes, self.stride, bytes) else {
            return Ok(None);
        };
        let columns = self.schema.columns.iter();
        let names: Vec<&str> = columns.map(|column| column.name.as_str()).collect();
        let read = self.table.read_rows(&names, rows.clone());
        let columns = read.inspect_err(|_| self.rest = 0..0)?;
        let count = rows.end - rows.start;
        Ok(Some(Batch::new(&self.schema, count, columns)))
    }
}
