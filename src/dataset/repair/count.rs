//! How many rows the superchunks of an array hold, whatever is counted.

use crate::blosc::ChunkHeader;
use crate::dataset::boxes::to_usize;
use crate::dataset::leaf::{Leaf, Naming};
use crate::error::Result;
use crate::storage::{EntryKind, Key, Root};

/// Where rows come from that are not counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Extra {
    /// Their writer died before it counted them.
    Appended,
    /// Their writer cut them off, and left the file.
    CutOff,
    /// Either.
    Unknown,
}

/// Superchunks behind those that are counted.
#[derive(Debug)]
pub(super) struct Extras {
    /// Their numbers, ascending.
    pub numbers: Vec<u64>,
    /// How many of them follow the counted ones without a gap, and are sound and full but for the last.
    pub contiguous: u64,
    /// Whether the last counted superchunk has more rows than are counted.
    pub longer: bool,
    /// Rows of all that follows without a gap.
    pub rows: u64,
    pub origin: Extra,
}

impl Extras {
    pub(super) fn of(leaf: &Leaf) -> Result<Self> {
        let (files, rows) = (leaf.files(), leaf.grid().rows());
        let numbers: Vec<u64> = numbers(leaf)?
            .into_iter()
            .filter(|number| *number >= files)
            .collect();
        let mut extras = Self {
            numbers,
            contiguous: 0,
            longer: false,
            rows,
            origin: Extra::CutOff,
        };
        // In the documented layouts nothing is appended but as a whole.
        if leaf.spec().naming == Naming::FromZero {
            extras.count(leaf);
        }
        Ok(extras)
    }

    fn count(&mut self, leaf: &Leaf) {
        let band_rows = leaf.grid().band_rows();
        let partial = !leaf.grid().rows().is_multiple_of(band_rows);
        let mut next = leaf.files();
        if partial {
            // A leftover is written as long as it is counted, so that a longer one is of a writer that died.
            let there = leaf.rows_in(next.saturating_sub(1)).unwrap_or(0);
            let counted = leaf.grid().rows() % band_rows;
            self.longer = there > counted;
            self.rows = self.rows.saturating_add(there.saturating_sub(counted));
            if there < band_rows {
                self.origin = if self.longer {
                    Extra::Appended
                } else {
                    Extra::CutOff
                };
                return;
            }
        }
        let mut last_is_full = true;
        for number in self.numbers.clone() {
            let rows = leaf.rows_in(number).unwrap_or(0);
            if number != next || rows == 0 || !last_is_full {
                break;
            }
            self.rows = self.rows.saturating_add(rows);
            self.contiguous = self.contiguous.saturating_add(1);
            last_is_full = rows == band_rows;
            next = next.saturating_add(1);
        }
        self.origin = match (self.longer, self.contiguous) {
            (true, _) | (false, 2..) => Extra::Appended,
            // Only the former leftover stays behind, which is not full.
            (false, 1) if !last_is_full => Extra::CutOff,
            (false, 1) => Extra::Unknown,
            (false, 0) => Extra::CutOff,
        };
    }

    /// Decompresses what is to be counted.
    pub(super) fn check(&self, leaf: &Leaf) -> Result<()> {
        let first = leaf.files().saturating_sub(1);
        (first..leaf.files().saturating_add(self.contiguous)).try_for_each(|number| {
            match leaf.rows_in(number) {
                Some(_) => leaf.check_file(number),
                None => Ok(()),
            }
        })
    }
}

/// Bytes of the data of the only chunk of a superchunk, by its header.
pub(super) fn nbytes_of(root: &Root, key: &Key) -> Option<u32> {
    let mut head = [0; 32];
    root.read(key).ok()?.read_exact_at(0, &mut head).ok()?;
    let (_, chunk) = head.split_last_chunk::<16>()?;
    Some(ChunkHeader::parse(chunk).ok()?.nbytes)
}

/// The numbers of all superchunks that are there.
fn numbers(leaf: &Leaf) -> Result<Vec<u64>> {
    let entries = leaf
        .list()?
        .into_iter()
        .filter(|entry| entry.kind == EntryKind::File);
    let mut numbers: Vec<u64> = entries
        .filter_map(|entry| leaf.spec().naming.number(entry.name.to_str()?))
        .collect();
    numbers.sort_unstable();
    Ok(numbers)
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
