//! [`Blocks`]: reads an array some rows at a time.

use super::CArray;
use bloscpack_error::Result;
use bloscpack_error::checked::to_u64;
use std::ops::Range;

/// An iterator over rows of an array, in blocks; see [`CArray::blocks`].
///
/// Each item is a range of rows and their bytes, in C order and in the byte order of the dtype. After an error the iterator
/// ends.
///
/// ```
/// # testkit::enter_testdata();
/// # use bloscpack_datasets::CArray;
/// let array = CArray::open("testdata/datasets/bcolz/py2_int64")?;
/// let mut seen = 0;
/// for block in array.blocks(0..array.rows(), 3000) {
///     let (rows, bytes) = block?;
///     assert_eq!(bytes.len() as u64, (rows.end - rows.start) * 8);
///     seen += rows.end - rows.start;
/// }
/// assert_eq!(seen, 1000);
/// # Ok::<(), bloscpack_error::Error>(())
/// ```
#[derive(Debug)]
pub struct Blocks<'a> {
    array: &'a CArray,
    blocks: RowBlocks,
}

/// Ranges of rows. All but the first begin at a multiple of `rows`.
#[derive(Debug)]
pub(crate) struct RowBlocks {
    rest: Range<u64>,
    /// Rows of a full block.
    rows: u64,
}

impl RowBlocks {
    /// Blocks of up to `bytes` bytes, but at least one row. If a band fits, blocks consist of whole bands, so that no chunk is
    /// decompressed twice.
    pub(crate) fn new(rest: Range<u64>, row_bytes: usize, band_rows: u64, bytes: usize) -> Self {
        let most = to_u64(bytes / row_bytes.max(1)).max(1);
        let rows = if most >= band_rows {
            most - most % band_rows
        } else {
            most
        };
        Self { rest, rows }
    }

    /// Ends the iteration.
    pub(crate) fn end(&mut self) {
        self.rest.start = self.rest.end;
    }
}

impl Iterator for RowBlocks {
    type Item = Range<u64>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.rest.is_empty() {
            return None;
        }
        // Saturates for rows that do not exist; reading them fails.
        let next = (self.rest.start / self.rows).saturating_add(1);
        let end = next.saturating_mul(self.rows).min(self.rest.end);
        let rows = self.rest.start..end;
        self.rest.start = end;
        Some(rows)
    }
}

impl<'a> Blocks<'a> {
    pub(super) fn new(array: &'a CArray, rows: Range<u64>, bytes: usize) -> Self {
        let band_rows = array.storage().grid().band_rows();
        Self {
            array,
            blocks: RowBlocks::new(rows, array.row_bytes(), band_rows, bytes),
        }
    }
}

impl Iterator for Blocks<'_> {
    type Item = Result<(Range<u64>, Vec<u8>)>;

    fn next(&mut self) -> Option<Self::Item> {
        let rows = self.blocks.next()?;
        let read = self.array.read_rows(rows.clone());
        if read.is_err() {
            self.blocks.end();
        }
        Some(read.map(|bytes| (rows, bytes)))
    }
}
