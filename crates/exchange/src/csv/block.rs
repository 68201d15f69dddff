//! [`Block`]: the cells of some lines, which threads parse column by column.

use bloscpack_error::Result;
use bloscpack_error::checked::{in_memory, to_u64};

/// Bytes of text after which a block ends.
const TEXT: usize = 4 << 20;

/// The cells of some lines, each with one for every column. Lines are taken from the first on.
#[derive(Default)]
pub(super) struct Block {
    text: Vec<u8>,
    /// The cells, line by line: the end of their text; and whether there is a value at all.
    cells: Vec<(usize, bool)>,
    /// The numbers of the lines.
    lines: Vec<u64>,
    /// Lines that were taken.
    taken: usize,
}

impl Block {
    pub fn clear(&mut self) {
        self.text.clear();
        self.cells.clear();
        self.lines.clear();
        self.taken = 0;
    }

    /// Adds a cell to the line that ends next.
    pub fn push(&mut self, cell: Option<&[u8]>) {
        self.text.extend_from_slice(cell.unwrap_or_default());
        self.cells.push((self.text.len(), cell.is_some()));
    }

    /// Ends a line, which has this number.
    pub fn end_line(&mut self, number: u64) {
        self.lines.push(number);
    }

    /// How many lines there are.
    pub fn rows(&self) -> u64 {
        to_u64(self.lines.len())
    }

    /// How many lines were not taken.
    pub fn left(&self) -> u64 {
        to_u64(self.lines.len() - self.taken)
    }

    pub fn is_full(&self, most: u64) -> bool {
        self.text.len() >= TEXT || self.rows() >= most
    }

    /// Takes lines, of which there are so many left.
    pub fn take(&mut self, rows: u64) -> Result<()> {
        self.taken = self.lines.len().min(self.taken + in_memory(rows)?);
        Ok(())
    }

    /// The cells of a column that were not taken, with the numbers of their lines; `None` for no value.
    pub fn column(&self, number: usize) -> impl Iterator<Item = (u64, Option<&[u8]>)> {
        let columns = self.cells.len() / self.lines.len().max(1);
        let first = self.taken * columns + number;
        // The first cell begins with the text, any other where the one before it ends.
        let before = first
            .checked_sub(1)
            .and_then(|before| self.cells.get(before));
        let start = before.map_or(0, |(end, _)| *end);
        let rest = self.cells.get(first..).unwrap_or_default();
        let starts = rest.iter().skip(columns.max(1) - 1).map(|(end, _)| *end);
        let starts = std::iter::once(start).chain(starts.step_by(columns.max(1)));
        let cells = starts.zip(rest.iter().step_by(columns.max(1)));
        let cells = cells.map(|(start, (end, is_there))| {
            let cell = self.text.get(start..*end).unwrap_or_default();
            is_there.then_some(cell)
        });
        let lines = self.lines.get(self.taken..).unwrap_or_default();
        lines.iter().copied().zip(cells)
    }
}
