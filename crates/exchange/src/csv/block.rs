//! [`Block`]: the cells of some lines, which several threads parse column by column.

use bloscpack_error::checked::{in_memory, to_u64, to_usize};
use bloscpack_error::{Error, Result};

/// Bytes of text after which a block ends. A block stays in the processor cache while its columns are read one by one.
const TEXT: usize = 512 << 10;
/// The bit that marks the end of a missing cell. No text is this long.
const NOTHING: u32 = 1 << 31;

/// The cells of some lines, one per column in each line. Lines are taken in order.
#[derive(Default)]
pub(super) struct Block {
    text: Vec<u8>,
    /// The end of each cell in `text`, line by line; [`NOTHING`] is set for a missing value.
    ends: Vec<u32>,
    /// The number of each line in the file.
    lines: Vec<u64>,
    /// The number of lines that were taken.
    taken: usize,
}

impl Block {
    pub fn clear(&mut self) {
        self.text.clear();
        self.ends.clear();
        self.lines.clear();
        self.taken = 0;
    }

    /// Adds a cell to the current line; `None` is a missing value.
    ///
    /// # Errors
    /// Returns an error for lines of more than 2 GiB.
    pub fn push(&mut self, cell: Option<&[u8]>) -> Result<()> {
        self.text.extend_from_slice(cell.unwrap_or_default());
        let end = u32::try_from(self.text.len()).ok();
        let end = end.filter(|end| end & NOTHING == 0);
        let end = end.ok_or_else(|| Error::no_memory(to_u64(self.text.len())))?;
        let mark = if cell.is_some() { 0 } else { NOTHING };
        self.ends.push(end | mark);
        Ok(())
    }

    /// Ends the current line, which has this number in the file.
    pub fn end_line(&mut self, number: u64) {
        self.lines.push(number);
    }

    /// The number of lines.
    pub fn rows(&self) -> u64 {
        to_u64(self.lines.len())
    }

    /// The number of lines that were not taken.
    pub fn left(&self) -> u64 {
        to_u64(self.lines.len() - self.taken)
    }

    pub fn is_full(&self, most: u64) -> bool {
        self.text.len() >= TEXT || self.rows() >= most
    }

    /// Marks the next `rows` lines as taken.
    pub fn take(&mut self, rows: u64) -> Result<()> {
        self.taken = self.lines.len().min(self.taken + in_memory(rows)?);
        Ok(())
    }

    /// The cells of a column in the lines that were not taken, with their line numbers; `None` for a missing value.
    pub fn column(&self, number: usize) -> impl Iterator<Item = (u64, Option<&[u8]>)> {
        let columns = self.ends.len() / self.lines.len().max(1);
        let lines = self.lines.iter().enumerate().skip(self.taken);
        lines.map(move |(row, line)| {
            let place = row * columns + number;
            // The first cell begins with the text, any other where the previous one ends.
            let before = place
                .checked_sub(1)
                .and_then(|before| self.ends.get(before));
            let start = before.map_or(0, |end| end & !NOTHING);
            let end = self.ends.get(place).copied().unwrap_or(NOTHING);
            let cell = self.text.get(to_usize(start)..to_usize(end & !NOTHING));
            (*line, cell.filter(|_| end & NOTHING == 0))
        })
    }
}
