//! [`IndexEntry`]: statistics of one superchunk.

use super::elements::{Elements, Measured};
use super::{index_digest, split};
use bloscpack_array::json::wrong_value;
use bloscpack_error::{Code, Result};
use bloscpack_wire::internal::to_u64;

/// Bytes of an entry before the bounds.
const HEAD_LEN: usize = 41;

const KNOWN: u8 = 1;
const HAS_BOUNDS: u8 = 2;
const ASCENDING: u8 = 4;
const DESCENDING: u8 = 8;

/// Bytes of an entry.
pub(super) fn entry_len(elements: &Elements) -> usize {
    HEAD_LEN + 2 * elements.itemsize()
}

/// Statistics of one superchunk, and the length and digest of the file from which they were computed.
///
/// | dtype | order | nulls |
/// |---|---|---|
/// | bools, integers | numeric; a bool counts as the number in its byte | none |
/// | floats | as [`f64::total_cmp`]: -NaN, -inf, ..., -0.0, 0.0, ..., inf, NaN | NaN, which may also be `min` or `max` |
/// | times | numeric, by the count | NaT, which is never `min` or `max` |
/// | `S` | bytes, without zeros at the end | none |
/// | `U` | code points, without zeros at the end | none |
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct IndexEntry {
    /// The number of rows; each row is one element.
    pub rows: u64,
    /// The length of the superchunk's file in bytes.
    pub file_len: u64,
    /// The XXH3-128 of the superchunk's file.
    pub digest: u128,
    /// The number of elements that are NaN or NaT.
    pub nulls: u64,
    /// The bytes of the least element, in the byte order of the dtype; `None` if all elements are NaT.
    pub min: Option<Vec<u8>>,
    /// The bytes of the greatest element, in the byte order of the dtype; `None` if all elements are NaT.
    pub max: Option<Vec<u8>>,
    /// Whether no element is less than the one before it, and none is NaT.
    pub ascending: bool,
    /// Whether no element is greater than the one before it, and none is NaT.
    pub descending: bool,
}

impl IndexEntry {
    /// Computes the statistics of `rows`, the data of a superchunk with the content `file`.
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

    /// Parses the entry at byte `at` of the index; `None` if it is all zeros, unknown.
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

    /// Whether a superchunk with these statistics can exist.
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
