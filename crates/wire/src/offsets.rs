//! The offset table: where each chunk of a member begins.
//!
//! ```text
//!    | offset of chunk 0 (i64) | offset of chunk 1 | ... | spare entries, -1 |
//! ```
//!
//! Offsets count from the first byte of the member. A writer first sets all entries to -1 and fills
//! them in at the end, so a table of -1 shows that its writer did not finish.

use super::error::FormatError;
use super::version::FormatVersion;

/// Bytes of a chunk's header, the least length of a chunk.
pub const CHUNK_HEADER_LEN: u64 = 16;

/// Bytes of an entry.
pub const ENTRY_LEN: u64 = 8;

/// The offset table of a member (`docs/format.md`, "Offsets").
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Offsets {
    /// The member has no table, or it has no entries.
    #[default]
    Absent,
    /// All entries are -1: the writer did not finish, or could not seek back to fill them in.
    Unfilled,
    /// The offset of each counted chunk in bytes, ascending. Spare entries are not included.
    Filled(Vec<u64>),
}

impl Offsets {
    /// The bytes of an entry that is not filled in.
    pub const UNFILLED_ENTRY: [u8; 8] = (-1i64).to_le_bytes();

    /// The offset of a chunk in bytes from the beginning of the member; `None` if the table does
    /// not contain it.
    #[must_use]
    pub fn get(&self, chunk: u64) -> Option<u64> {
        match self {
            Self::Filled(table) => table.get(usize::try_from(chunk).ok()?).copied(),
            Self::Absent | Self::Unfilled => None,
        }
    }

    /// The table in these bytes, which must belong to counted chunks; `first` is where the chunks
    /// begin.
    ///
    /// Bytes after the last whole entry are ignored. The result takes as much memory as `table`.
    ///
    /// ```
    /// use bloscpack_wire::Offsets;
    ///
    /// let table = Offsets::encode(&[56, 90, 111])?;
    /// assert_eq!(Offsets::decode(&table, 56)?.get(1), Some(90));
    /// // Two chunks cannot begin at the same byte.
    /// let wrong = Offsets::encode(&[56, 90, 90])?;
    /// assert!(Offsets::decode(&wrong, 56).is_err());
    /// # Ok::<(), bloscpack_wire::FormatError>(())
    /// ```
    ///
    /// # Errors
    /// Returns [`FormatError::Offset`] unless all entries are -1, or they ascend from `first` with
    /// at least the 16 bytes of a chunk header between any two.
    pub fn decode(table: &[u8], first: u64) -> Result<Self, FormatError> {
        let mut offsets = Self::Absent;
        let (entries, _) = table.as_chunks();
        for (number, entry) in (0..).zip(entries) {
            offsets.push(i64::from_le_bytes(*entry), number, first)?;
        }
        Ok(offsets)
    }

    /// Adds the next entry of a counted chunk.
    ///
    /// `first` is where the first chunk must be. Refuses descending or overlapping entries, an
    /// entry outside of the member, and a partly filled table.
    pub(super) fn push(&mut self, entry: i64, number: u64, first: u64) -> Result<(), FormatError> {
        let bad = |expected: String| FormatError::Offset {
            entry: number,
            found: entry.into(),
            expected,
        };
        match (&mut *self, entry) {
            (Self::Absent, -1) => *self = Self::Unfilled,
            (Self::Unfilled, -1) => {}
            (Self::Unfilled, _) => return Err(bad("-1 like the entries before it".to_owned())),
            (Self::Absent, _) => {
                let offset = u64::try_from(entry).ok().filter(|offset| *offset == first);
                let offset =
                    offset.ok_or_else(|| bad(format!("{first}, where the chunks begin")))?;
                *self = Self::Filled(vec![offset]);
            }
            (Self::Filled(table), _) => {
                // Entries have 63 bits, so the sum does not overflow.
                let least = table.last().map_or(first, |last| last + CHUNK_HEADER_LEN);
                let offset = u64::try_from(entry).ok().filter(|offset| *offset >= least);
                table.push(offset.ok_or_else(|| bad(format!("{least} or more")))?);
            }
        }
        Ok(())
    }

    /// The bytes of a table with these offsets, 8 per offset. Their order is not checked.
    ///
    /// # Errors
    /// Returns [`FormatError::NoPlace`] for an offset of 2^63 or more.
    pub fn encode(offsets: &[u64]) -> Result<Vec<u8>, FormatError> {
        let mut table = Vec::with_capacity(offsets.len() * Self::UNFILLED_ENTRY.len());
        for offset in offsets {
            let entry = i64::try_from(*offset).map_err(|_| FormatError::NoPlace {
                version: FormatVersion::V3,
                what: "so large an offset",
            })?;
            table.extend_from_slice(&entry.to_le_bytes());
        }
        Ok(table)
    }
}
