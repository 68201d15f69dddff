//! [`Blocks`]: cuts rows into blocks that are read at once.

use std::ops::Range;

/// The approximate number of bytes to read at once.
const BYTES: u64 = 4 << 20;

/// How rows are cut into blocks. A block consists of whole chunks if these are small enough.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Blocks {
    /// Rows of a block, except for the first and the last.
    step: u64,
}

impl Blocks {
    /// Blocks for rows of `row_bytes` bytes each, whose longest chunk has `chunk_rows` rows.
    pub(crate) fn new(row_bytes: u64, chunk_rows: u64) -> Self {
        let most = (BYTES / row_bytes.max(1)).max(1);
        let chunk_rows = chunk_rows.max(1);
        let step = match most >= chunk_rows {
            true => most - most % chunk_rows,
            // Cuts a chunk into equal parts.
            false => chunk_rows.div_ceil(chunk_rows.div_ceil(most)),
        };
        Self { step }
    }

    /// Takes the first block off these rows; `None` if no rows are left.
    pub(crate) fn take(self, rows: &mut Range<u64>) -> Option<Range<u64>> {
        if rows.is_empty() {
            return None;
        }
        let next = (rows.start / self.step + 1).saturating_mul(self.step);
        let block = rows.start..next.min(rows.end);
        rows.start = block.end;
        Some(block)
    }
}

/// Cuts rows into up to `parts` ranges of similar length, each beginning at a multiple of `chunk_rows`.
pub(crate) fn split(rows: &Range<u64>, chunk_rows: u64, parts: usize) -> Vec<Range<u64>> {
    let parts = u64::try_from(parts).unwrap_or(u64::MAX).max(1);
    let each = (rows.end - rows.start).div_ceil(parts);
    let each = each.next_multiple_of(chunk_rows.max(1));
    let mut ranges = Vec::new();
    let mut start = rows.start;
    while start < rows.end {
        let end = (start / each + 1).saturating_mul(each).min(rows.end);
        ranges.push(start..end);
        start = end;
    }
    if ranges.is_empty() {
        ranges.push(rows.clone());
    }
    ranges
}

#[cfg(test)]
mod tests {
    use super::{Blocks, split};

    #[test]
    fn blocks_cover_all_rows_once() {
        for (rows, row_bytes, chunk) in [
            (0..10, 8, 3),
            (5..1_000_000, 8, 65_536),
            (0..7, 1 << 30, 100),
        ] {
            let (blocks, mut rest) = (Blocks::new(row_bytes, chunk), rows.clone());
            let blocks: Vec<_> = std::iter::from_fn(|| blocks.take(&mut rest)).collect();
            assert_eq!(blocks.first().unwrap().start, rows.start);
            assert_eq!(blocks.last().unwrap().end, rows.end);
            assert!(blocks.windows(2).all(|two| two[0].end == two[1].start));
        }
        assert_eq!(Blocks::new(1, 1).take(&mut (3..3)), None);
    }

    #[test]
    fn partitions_begin_at_chunks() {
        assert_eq!(split(&(0..100), 10, 3), [0..40, 40..80, 80..100]);
        assert_eq!(split(&(0..100), 1000, 4), vec![0..100; 1]);
        assert_eq!(split(&(0..0), 10, 2), vec![0..0; 1]);
        assert_eq!(split(&(15..100), 10, 2), [15..50, 50..100]);
    }
}
