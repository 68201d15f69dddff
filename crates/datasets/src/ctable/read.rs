//! Rows out.

use super::CTable;
use crate::carray::CArray;
use bloscpack_error::{Error, Result};
use bloscpack_storage::parallel;
use std::ops::Range;

impl CTable {
    /// The bytes of these rows of these columns, several of which are read at the same time.
    ///
    /// # Errors
    /// Wrong usage if there are not so many rows or a column is not there; those of reading the columns.
    pub fn read_rows(&self, names: &[impl AsRef<str>], rows: Range<u64>) -> Result<Vec<Vec<u8>>> {
        let columns = names
            .iter()
            .map(|name| self.column(name))
            .collect::<Result<Vec<&CArray>>>()?;
        let there = self.rows()?;
        if rows.start > rows.end || rows.end > there {
            return Err(Error::usage(format!(
                "rows {rows:?} of a table that has {there}"
            )));
        }
        let mut read = vec![Vec::new(); columns.len()];
        let jobs = columns.iter().zip(read.iter_mut());
        parallel::for_each(self.options.means.threads, jobs, |(column, bytes)| {
            *bytes = column.read_rows(rows.clone())?;
            Ok::<_, Error>(())
        })?;
        Ok(read)
    }

    /// Goes through these rows of these columns in blocks of so many bytes at most (but at least a row), in bounded memory.
    ///
    /// # Errors
    /// Wrong usage if a column is not there.
    pub fn blocks(
        &self,
        names: &[impl AsRef<str>],
        rows: Range<u64>,
        bytes: usize,
    ) -> Result<TableBlocks<'_>> {
        let mut row = 0usize;
        let mut band = 1;
        for name in names {
            let column = self.column(name)?;
            row = row.saturating_add(column.row_bytes());
            band = column.leaf().grid().band_rows().max(band);
        }
        let most =
            (u64::try_from(bytes.checked_div(row).unwrap_or(bytes)).unwrap_or(u64::MAX)).max(1);
        let at_once = if most >= band {
            most - most % band
        } else {
            most
        };
        let names = names.iter().map(|name| name.as_ref().to_owned()).collect();
        Ok(TableBlocks {
            table: self,
            names,
            rest: rows,
            at_once,
        })
    }
}

/// Goes through rows of a table in blocks; see [`CTable::blocks`].
#[derive(Debug)]
pub struct TableBlocks<'a> {
    table: &'a CTable,
    names: Vec<String>,
    rest: Range<u64>,
    at_once: u64,
}

impl Iterator for TableBlocks<'_> {
    type Item = Result<(Range<u64>, Vec<Vec<u8>>)>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.rest.is_empty() {
            return None;
        }
        let end = (self.rest.start / self.at_once)
            .saturating_add(1)
            .saturating_mul(self.at_once)
            .min(self.rest.end);
        let rows = self.rest.start..end;
        self.rest.start = end;
        let read = self.table.read_rows(&self.names, rows.clone());
        if read.is_err() {
            self.rest.start = self.rest.end;
        }
        Some(read.map(|columns| (rows, columns)))
    }
}
