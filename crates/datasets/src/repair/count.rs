//! How many rows the superchunks of an array hold, whatever is counted.

use crate::leaf::{Leaf, Naming};
use blosc1::ChunkHeader;
use bloscpack_dtype::boxes::to_usize;
use bloscpack_error::Result;
use bloscpack_storage::{JournaledStore, Key};

/// What lies in the superchunks beyond what is counted.
#[derive(Debug)]
pub(super) struct Extras {
    /// The numbers of all superchunks behind the counted ones, ascending.
    pub numbers: Vec<u64>,
    /// How many full ones follow the counted ones without a gap.
    pub full: u64,
    /// Rows in the last counted superchunk that are not counted.
    pub longer: u64,
    /// Rows of a superchunk behind the full ones that is not full.
    pub partial: u64,
}

impl Extras {
    pub(super) fn of(leaf: &Leaf) -> Result<Self> {
        let files = leaf.files();
        let numbers: Vec<u64> = leaf
            .numbers()?
            .into_iter()
            .filter(|number| *number >= files)
            .collect();
        let mut extras = Self {
            numbers,
            full: 0,
            longer: 0,
            partial: 0,
        };
        // In the documented layouts nothing is appended but as a whole.
        if leaf.spec().naming == Naming::FromZero {
            extras.count(leaf);
        }
        Ok(extras)
    }

    fn count(&mut self, leaf: &Leaf) {
        let band_rows = leaf.grid().band_rows();
        let counted = leaf.grid().rows() % band_rows;
        let mut next = leaf.files();
        if counted > 0 {
            let there = leaf.rows_in(next.saturating_sub(1)).unwrap_or(0);
            self.longer = there.saturating_sub(counted);
            if there < band_rows {
                return;
            }
        }
        for number in &self.numbers {
            let rows = leaf.rows_in(*number).unwrap_or(0);
            if *number != next || rows == 0 {
                return;
            }
            if rows < band_rows {
                self.partial = rows;
                return;
            }
            self.full = self.full.saturating_add(1);
            next = next.saturating_add(1);
        }
    }

    /// Whether rows were appended for sure: a leftover is written as long as it is counted, so that only a writer that died leaves a
    /// longer one, and only such a one leaves several full ones. A single one, and what is not full, may also have been cut off.
    pub(super) fn is_appended(&self) -> bool {
        self.longer > 0 || self.full > 1
    }

    /// Rows that are not counted, those of what is not full with them or not.
    pub(super) fn rows(&self, leaf: &Leaf, partial: bool) -> u64 {
        let full = self.full.saturating_mul(leaf.grid().band_rows());
        let partial = if partial { self.partial } else { 0 };
        self.longer.saturating_add(full).saturating_add(partial)
    }

    /// Decompresses what is to be counted.
    pub(super) fn check(&self, leaf: &Leaf) -> Result<()> {
        let behind = leaf
            .files()
            .saturating_add(self.full)
            .saturating_add(u64::from(self.partial > 0));
        (leaf.files().saturating_sub(1)..behind).try_for_each(|number| leaf.check_file(number))
    }
}

/// Bytes of the data of the only chunk of a superchunk, by its header.
pub(super) fn nbytes_of(root: &JournaledStore, key: &Key) -> Option<u32> {
    let mut head = [0; 32];
    root.read(key).ok()?.read_exact_at(0, &mut head).ok()?;
    let (_, chunk) = head.split_last_chunk::<16>()?;
    Some(ChunkHeader::parse(chunk).ok()?.nbytes)
}

impl Leaf {
    /// Whole rows that the only chunk of a superchunk holds; nothing if it is not sound.
    fn rows_in(&self, number: u64) -> Option<u64> {
        let nbytes = u64::from(self.alone(number).ok()?.header.nbytes);
        let row = self.grid().row_bytes();
        (nbytes.is_multiple_of(row) && nbytes <= self.grid().chunk_bytes()).then(|| nbytes / row)
    }

    fn check_file(&self, number: u64) -> Result<()> {
        let stored = self.alone(number)?;
        let mut data = vec![0; to_usize(stored.header.nbytes.into())];
        self.decompress(number, &stored, &mut data)
    }
}
