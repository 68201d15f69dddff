//! [`Table`]: shows rows as a table.

use super::Target;
use crate::failure::Failure;
use arrow::array::RecordBatch;
use arrow::util::pretty::pretty_format_batches;
use std::io::Write as _;

/// The maximum number of rows on a terminal. The table must keep all of them, because a column is as wide as its widest
/// value.
const ROWS: usize = 1000;

/// A table, whose rows are kept until all have arrived.
pub struct Table {
    target: Target,
    kept: Vec<RecordBatch>,
    rows: usize,
    /// The maximum number of rows to show.
    most: usize,
    is_cut: bool,
}

impl Table {
    /// A table for a terminal, or for a file, which gets all rows.
    pub fn new(target: Target, for_terminal: bool) -> Self {
        Self {
            target,
            kept: Vec::new(),
            rows: 0,
            most: if for_terminal { ROWS } else { usize::MAX },
            is_cut: false,
        }
    }

    pub fn write(&mut self, batch: &RecordBatch) -> Result<bool, Failure> {
        let left = self.most - self.rows;
        self.is_cut |= batch.num_rows() > left;
        let batch = batch.slice(0, batch.num_rows().min(left));
        self.rows += batch.num_rows();
        self.kept.push(batch);
        Ok(!self.is_cut)
    }

    pub fn finish(mut self) -> Result<(), Failure> {
        let text = pretty_format_batches(&self.kept);
        let text = text.map_err(|error| Failure::failed(error.to_string()))?;
        writeln!(self.target, "{text}")?;
        match (self.is_cut, self.rows) {
            (true, rows) => {
                writeln!(
                    self.target,
                    "the first {rows} rows; --format csv writes all of them"
                )?;
            }
            (false, 1) => writeln!(self.target, "1 row")?,
            (false, rows) => writeln!(self.target, "{rows} rows")?,
        }
        self.target.flush()?;
        Ok(())
    }
}
