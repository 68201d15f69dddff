//! Reads rows of several columns of a [`CTable`].

use super::CTable;
use crate::carray::{CArray, RowBlocks};
use bloscpack_array::{Array, TableSource};
use bloscpack_error::{Code, Error, Result};
use bloscpack_storage::parallel;
use std::ops::Range;

impl CTable {
    /// All columns as a [`Source`](bloscpack_array::Source), which delivers rows in batches, for example to a writer of another
    /// format. Opens all columns.
    ///
    /// # Errors
    /// Returns errors of opening the columns.
    pub fn source(&self) -> Result<TableSource<'_>> {
        self.source_of(self.names())
    }

    /// The given columns, in this order, as a [`Source`](bloscpack_array::Source). It has the attributes of the table, and NaN
    /// is null in columns for which [`has_missing`](Self::has_missing) is true.
    ///
    /// ```
    /// # testkit::enter_testdata();
    /// use bloscpack_array::Source;
    /// use bloscpack_datasets::CTable;
    ///
    /// let table = CTable::open("testdata/datasets/bcolz/zipline_daily_equities.bcolz")?;
    /// let mut source = table.source_of(&["id", "close"])?.range(0..5)?;
    /// assert_eq!(source.rows(), Some(5));
    /// let batch = source.next_batch(1 << 20)?.ok_or("no rows")?;
    /// assert_eq!(batch.columns, table.read_rows(&["id", "close"], 0..5)?);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Returns [`Code::NotFound`] if a column does not exist, and errors of opening the columns.
    pub fn source_of(&self, names: &[impl AsRef<str>]) -> Result<TableSource<'_>> {
        let mut columns = Vec::with_capacity(names.len());
        for name in names {
            let column: Box<dyn Array + '_> = Box::new(self.column(name.as_ref())?);
            columns.push((name.as_ref().to_owned(), column));
        }
        let source = TableSource::of(self.rows()?, columns)?
            .attributes(self.attributes().clone())
            .threads(self.resources.threads);
        Ok(source.nan_as_null(|name| self.has_missing(name).unwrap_or(false)))
    }

    /// Reads rows of several columns as bytes: one vector for each of `names`, in the byte order of the column's dtype. Columns
    /// are read in parallel.
    ///
    /// ```
    /// use bloscpack_datasets::{CArray, CTable};
    /// use bloscpack_storage::Memory;
    ///
    /// let mut table = CTable::builder()
    ///     .column("id", CArray::of::<u8>())
    ///     .column("flag", CArray::of::<u8>())
    ///     .create_in(Memory::new())?;
    /// table.append(&[&[1, 2, 3], &[0, 1, 0]])?;
    /// assert_eq!(table.read_rows(&["flag", "id"], 1..3)?, [[1, 0], [2, 3]]);
    /// # Ok::<(), bloscpack_error::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns [`Code::OutOfBounds`] for rows past the end of the shortest column, [`Code::NotFound`] for an unknown column,
    /// and any error of [`CArray::read_rows`].
    pub fn read_rows(&self, names: &[impl AsRef<str>], rows: Range<u64>) -> Result<Vec<Vec<u8>>> {
        let columns = names
            .iter()
            .map(|name| self.column(name))
            .collect::<Result<Vec<&CArray>>>()?;
        let present = self.rows()?;
        if rows.start > rows.end || rows.end > present {
            return Err(Error::new(
                Code::OutOfBounds,
                format!("rows {rows:?} are not in the table, which has {present}"),
            ));
        }
        let mut read = vec![Vec::new(); columns.len()];
        let jobs = columns.iter().zip(read.iter_mut());
        parallel::for_each(self.resources.threads, jobs, |(column, bytes)| {
            *bytes = column.read_rows(rows.clone())?;
            Ok::<_, Error>(())
        })?;
        Ok(read)
    }

    /// Iterates over rows of several columns, in blocks of up to `bytes` bytes in all columns together, but at least one row.
    /// Each block is read when it is requested. Rows that do not exist are an error of the first block that contains them.
    ///
    /// # Errors
    /// Returns [`Code::NotFound`] for an unknown column, and any error of opening a column.
    pub fn blocks(
        &self,
        names: &[impl AsRef<str>],
        rows: Range<u64>,
        bytes: usize,
    ) -> Result<TableBlocks<'_>> {
        let (mut row_bytes, mut band_rows) = (0usize, 1);
        for name in names {
            let column = self.column(name)?;
            // Saturates: a block has at least one row anyway.
            row_bytes = row_bytes.saturating_add(column.row_bytes());
            band_rows = column.storage().grid().band_rows().max(band_rows);
        }
        Ok(TableBlocks {
            table: self,
            names: names.iter().map(|name| name.as_ref().to_owned()).collect(),
            blocks: RowBlocks::new(rows, row_bytes, band_rows, bytes),
        })
    }
}

/// An iterator over rows of a table, in blocks; see [`CTable::blocks`].
///
/// Each item is a range of rows and the bytes of each column, as [`CTable::read_rows`] returns them. After an error the
/// iterator ends.
///
/// ```
/// # testkit::enter_testdata();
/// use bloscpack_datasets::CTable;
///
/// let table = CTable::open("testdata/datasets/bcolz/zipline_daily_equities.bcolz")?;
/// let mut rows_seen = 0;
/// for block in table.blocks(&["id", "close"], 0..table.rows()?, 1 << 16)? {
///     let (rows, columns) = block?;
///     assert_eq!(columns.len(), 2);
///     rows_seen += rows.end - rows.start;
/// }
/// assert_eq!(rows_seen, table.rows()?);
/// # Ok::<(), bloscpack_error::Error>(())
/// ```
#[derive(Debug)]
pub struct TableBlocks<'a> {
    table: &'a CTable,
    names: Vec<String>,
    blocks: RowBlocks,
}

impl Iterator for TableBlocks<'_> {
    type Item = Result<(Range<u64>, Vec<Vec<u8>>)>;

    fn next(&mut self) -> Option<Self::Item> {
        let rows = self.blocks.next()?;
        let read = self.table.read_rows(&self.names, rows.clone());
        if read.is_err() {
            self.blocks.end();
        }
        Some(read.map(|columns| (rows, columns)))
    }
}
