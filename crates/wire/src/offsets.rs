//! The table of offsets: where each chunk of a member begins.
//!
//! ```text
//!    | offset of chunk 0 (i64) | offset of chunk 1 | ... | spare entries, -1 |
//! ```
//!
//! Offsets count from the first byte of the member. A writer first sets all to -1 and fills them
//! in at the end, so that a table of -1 shows that its writer did not finish.

use super::error::FormatError;

/// Length of a chunk's header in bytes, and so the least length of a chunk.
pub const CHUNK_HEADER_LEN: u64 = 16;

/// Length of an entry in bytes.
pub const ENTRY_LEN: u64 = 8;

/// The offset table of a member.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Offsets {
    /// There is no table.
    #[default]
    Absent,
    /// All entries are -1.
    Unfilled,
    /// The offset of each counted chunk, ascending.
    Filled(Vec<u64>),
}

impl Offsets {
    /// An entry that is not filled in.
    pub const UNFILLED_ENTRY: [u8; 8] = (-1i64).to_le_bytes();

    /// The offset of a chunk, if the table has it.
    #[must_use]
    pub fn get(&self, chunk: u64) -> Option<u64> {
        match self {
            Self::Filled(table) => table.get(usize::try_from(chunk).ok()?).copied(),
            Self::Absent | Self::Unfilled => None,
        }
    }

    /// Takes in the next entry of a counted chunk.
    ///
    /// `first` is where the first chunk must be. Descending or overlapping entries, entries
    /// outside, and tables filled in part are refused.
    pub(super) fn push(&mut self, entry: i64, number: u64, first: u64) -> Result<(), FormatError> {
        let bad = |expected: String| FormatError::Offset {
            entry: number,
            found: entry,
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
                let least = table
                    .last()
                    .map_or(first, |last| last.saturating_add(CHUNK_HEADER_LEN));
                let offset = u64::try_from(entry).ok().filter(|offset| *offset >= least);
                table.push(offset.ok_or_else(|| bad(format!("{least} or more")))?);
            }
        }
        Ok(())
    }

    /// The bytes of a table with these offsets and `spare` entries of -1.
    pub fn encode(offsets: &[u64], spare: u64) -> Vec<u8> {
        let spare = usize::try_from(spare).unwrap_or(usize::MAX);
        let entry = |offset: u64| i64::try_from(offset).unwrap_or(-1).to_le_bytes();
        let filled = offsets.iter().flat_map(|offset| entry(*offset));
        filled
            .chain(std::iter::repeat_n((-1i64).to_le_bytes(), spare).flatten())
            .collect()
    }
}
