//! [`IndexEntry`]: statistics of one superchunk.

use super::elements::{Elements, Measured};
use super::{index_digest, split};
use bloscpack_array::json::wrong_value;
use bloscpack_error::{Code, Result};
use bloscpack_wire::internal::to_u64;

/// Bytes of an entry before the minimum and the maximum.
const HEAD_LEN: usize = 41;

const KNOWN: u8 = 1;
const HAS_BOUNDS: u8 = 2;
const ASCENDING: u8 = 4;
const DESCENDING: u8 = 8;

/// Bytes of an entry.
pub(super) fn entry_len(elements: &Elements) -> usize {
    HEAD_LEN + 2 * elements.itemsize()
}

/// Statistics of one superchunk, and the length and digest of the file that they are of.
///
/// Floats are in the total order of IEEE 754, which [`f64::total_cmp`] implements: -0.0 is less than 0.0, and NaN is less or
/// greater than all numbers, by its sign. So NaN counts as a value, too, and a superchunk with a positive NaN has one as its
/// maximum. NaT does not count: a superchunk of nothing else has neither minimum nor maximum. Booleans are compared as bytes,
/// `S` by its bytes and `U` by its code points, without the zeros at the end.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct IndexEntry {
    /// The number of rows.
    pub rows: u64,
    /// Bytes of the file.
    pub file_len: u64,
    /// The XXH3-128 of the file.
    pub digest: u128,
    /// The number of elements that are NaN, in an array of floats, or NaT, in one of datetimes or timedeltas; else 0.
    pub nulls: u64,
    /// The bytes of the least element, in the byte order of the dtype.
    pub min: Option<Vec<u8>>,
    /// The bytes of the greatest element, in the byte order of the dtype.
    pub max: Option<Vec<u8>>,
    /// Whether every element is at least as great as the one before it, and none is NaT.
    pub ascending: bool,
    /// Whether every element is at most as great as the one before it, and none is NaT.
    pub descending: bool,
}

impl IndexEntry {
    /// The statistics of these rows, whose superchunk is in a file of these bytes.
    pub(crate) fn of(elements: &Elements, rows: &[u8], file: &[u8]) -> Self {
        let Measured {
            count,
            nulls,
            bounds,
            ascending,
            descending,
        } = elements.measure(rows);
        let (min, max) = bounds.unzip();
        Self {
            rows: count,
            file_len: to_u64(file.len()),
            digest: index_digest(file),
            nulls,
            min,
            max,
            ascending,
            descending,
        }
    }

    /// Parses an entry, which begins at byte `at` of the index.
    pub(super) fn parse(
        bytes: &[u8],
        elements: &Elements,
        superchunk_rows: u64,
        at: usize,
    ) -> Result<Option<Self>> {
        let (rows, rest) = split(bytes)?;
        let (file_len, rest) = split(rest)?;
        let (digest, rest) = split(rest)?;
        let (nulls, rest) = split(rest)?;
        let ([flags], bounds) = split(rest)?;
        if flags == 0 && bytes.iter().all(|byte| *byte == 0) {
            return Ok(None);
        }
        let has = |flag| flags & flag != 0;
        let (min, max) = bounds.split_at(bounds.len() / 2);
        let entry = Self {
            rows: u64::from_le_bytes(rows),
            file_len: u64::from_le_bytes(file_len),
            digest: u128::from_le_bytes(digest),
            nulls: u64::from_le_bytes(nulls),
            min: has(HAS_BOUNDS).then(|| min.to_vec()),
            max: has(HAS_BOUNDS).then(|| max.to_vec()),
            ascending: has(ASCENDING),
            descending: has(DESCENDING),
        };
        let is_clean = has(HAS_BOUNDS) || bounds.iter().all(|byte| *byte == 0);
        let is_known = flags & !(HAS_BOUNDS | ASCENDING | DESCENDING) == KNOWN;
        if !is_clean || !is_known || !entry.is_possible(elements, superchunk_rows) {
            let name = format!("byte {at}, an entry,");
            let found = format!("{entry:?} with flags {flags:#04x}");
            let expected = "rows, nulls, flags and bounds that fit each other";
            return Err(wrong_value(Code::Metadata, name, found, expected));
        }
        Ok(Some(entry))
    }

    /// Whether there are superchunks of which this is true.
    fn is_possible(&self, elements: &Elements, superchunk_rows: u64) -> bool {
        let values = if elements.has_nat() {
            self.rows.checked_sub(self.nulls)
        } else {
            Some(self.rows).filter(|rows| self.nulls <= *rows)
        };
        let is_counted = (1..=superchunk_rows).contains(&self.rows)
            && (self.nulls == 0 || elements.has_nulls())
            && values.is_some_and(|values| (values > 0) == self.min.is_some());
        let is_sorted = !(self.ascending || self.descending) || values == Some(self.rows);
        let in_order = match (&self.min, &self.max) {
            (Some(min), Some(max)) => elements.measure(&[&min[..], max].concat()).ascending,
            _ => true,
        };
        is_counted && is_sorted && in_order
    }

    pub(super) fn encode(&self, elements: &Elements, file: &mut Vec<u8>) {
        file.extend_from_slice(&self.rows.to_le_bytes());
        file.extend_from_slice(&self.file_len.to_le_bytes());
        file.extend_from_slice(&self.digest.to_le_bytes());
        file.extend_from_slice(&self.nulls.to_le_bytes());
        let bounds = self.min.iter().zip(&self.max).next();
        let flag = |is_set, flag| if is_set { flag } else { 0 };
        file.push(
            KNOWN
                | flag(bounds.is_some(), HAS_BOUNDS)
                | flag(self.ascending, ASCENDING)
                | flag(self.descending, DESCENDING),
        );
        let end = file.len() + 2 * elements.itemsize();
        if let Some((min, max)) = bounds {
            file.extend_from_slice(min);
            file.extend_from_slice(max);
        }
        file.resize(end, 0);
    }
}
