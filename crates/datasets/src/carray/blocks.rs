//! [`Blocks`]: an array, some rows at a time.

use super::CArray;
use bloscpack_error::Result;
use std::ops::Range;

/// Goes through rows of an array in blocks; see [`CArray::blocks`].
///
/// ```
/// # use bloscpack_datasets::CArray;
/// let array = CArray::open("../../testdata/datasets/bcolz/py2_int64")?;
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
    rest: Range<u64>,
    rows: u64,
}

impl<'a> Blocks<'a> {
    pub(super) fn new(array: &'a CArray, rest: Range<u64>, bytes: usize) -> Self {
        let row = u64::try_from(array.row_bytes()).unwrap_or(u64::MAX).max(1);
        let most = (u64::try_from(bytes).unwrap_or(u64::MAX) / row).max(1);
        let band = array.leaf().grid().band_rows();
        // Whole bands where that is possible, so that no chunk is decompressed twice.
        let rows = if most >= band {
            most - most % band
        } else {
            most
        };
        Self { array, rest, rows }
    }
}

impl Iterator for Blocks<'_> {
    type Item = Result<(Range<u64>, Vec<u8>)>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.rest.is_empty() {
            return None;
        }
        // After the first, blocks begin where bands do.
        let end = (self.rest.start / self.rows)
            .saturating_add(1)
            .saturating_mul(self.rows)
            .min(self.rest.end);
        let rows = self.rest.start..end;
        self.rest.start = end;
        let read = self.array.read_rows(rows.clone());
        if read.is_err() {
            self.rest.start = self.rest.end;
        }
        Some(read.map(|bytes| (rows, bytes)))
    }
}
