//! [`UncountedRows`]: rows in the superchunks of an array that the dataset does not count.

use crate::array_storage::{ArrayStorage, Naming};
use bloscpack_error::Result;
use bloscpack_error::checked::to_u64;

/// Rows in the superchunks of an array that are not in the dataset's count.
#[derive(Debug)]
pub(super) struct UncountedRows {
    /// The numbers of all uncounted superchunks, ascending.
    pub numbers: Vec<u64>,
    /// How many full superchunks follow the counted ones without a gap.
    full: u64,
    /// Uncounted rows in the last counted superchunk.
    pub in_last: u64,
    /// Rows of the superchunk after the full ones if it is not full.
    partial: u64,
}

impl UncountedRows {
    pub(super) fn of(storage: &ArrayStorage) -> Result<Self> {
        let files = storage.file_count();
        let mut numbers = storage.numbers()?;
        numbers.retain(|number| *number >= files);
        let mut rows = Self {
            numbers,
            full: 0,
            in_last: 0,
            partial: 0,
        };
        // The layouts of the documents have no uncounted rows: only this library appends to them, atomically.
        if storage.spec().naming == Naming::FromZero {
            rows.count(storage);
        }
        Ok(rows)
    }

    fn count(&mut self, storage: &ArrayStorage) {
        let grid = storage.grid();
        let band_rows = grid.band_rows();
        let counted = grid.rows() % band_rows;
        let next = storage.file_count();
        if counted > 0 {
            // Counted rows imply a last superchunk. If it is not sound, it has no rows to count.
            let last = next.checked_sub(1).and_then(|last| storage.rows_in(last));
            let found = last.unwrap_or(0);
            self.in_last = found.saturating_sub(counted);
            if found < band_rows {
                return;
            }
        }
        for (next, number) in (next..).zip(&self.numbers) {
            let rows = storage.rows_in(*number).unwrap_or(0);
            if *number != next || rows == 0 {
                return;
            }
            if rows < band_rows {
                self.partial = rows;
                return;
            }
            self.full += 1;
        }
    }

    /// Whether rows were certainly appended, and not cut off. Only a writer that was killed leaves a longer last superchunk or
    /// several full ones after it. A single one, or one that is not full, may also have been cut off.
    pub(super) fn is_appended(&self) -> bool {
        self.in_last > 0 || self.full > 1
    }

    /// The number of rows. `partial` includes a superchunk that is not full. Saturates; an array refuses such a
    /// number.
    pub(super) fn rows(&self, storage: &ArrayStorage, partial: bool) -> u64 {
        let full = self.full.saturating_mul(storage.grid().band_rows());
        let partial = if partial { self.partial } else { 0 };
        self.in_last.saturating_add(full).saturating_add(partial)
    }

    /// Decompresses the superchunks with these rows.
    pub(super) fn check(&self, storage: &ArrayStorage) -> Result<()> {
        let files = storage.file_count();
        let end = files + self.full + u64::from(self.partial > 0);
        // The last counted superchunk may contain some of them.
        (files.saturating_sub(1)..end).try_for_each(|number| {
            let stored = storage.uncounted(number)?;
            storage.decompressed(number, &stored).map(drop)
        })
    }
}

impl ArrayStorage {
    /// The number of rows in a superchunk's only chunk; `None` if it is damaged or not whole rows.
    fn rows_in(&self, number: u64) -> Option<u64> {
        let nbytes = self.uncounted(number).ok()?.header.nbytes;
        let (nbytes, row) = (u64::from(nbytes), to_u64(self.grid().row_bytes()));
        let is_sound = nbytes.is_multiple_of(row) && nbytes <= self.grid().chunk_bytes().into();
        is_sound.then(|| nbytes / row)
    }
}
