//! [`OffsetTable`]: the table of offsets of a single member.

use crate::checked::{in_memory, to_u64};
use crate::member_map::MemberMap;
use bloscpack_error::{Error, Result};
use bloscpack_storage::ReadAt;
use bloscpack_wire::{
    FormatError, Offsets, ParseError, Position, Section,
    internal::{CHUNK_HEADER_LEN, ENTRY_LEN},
};

/// The most entries of a table that is read and checked on opening: 16 MiB.
const MOST_KEPT: u64 = 2 << 20;
/// Entries of a longer table that are read at once.
const BATCH: u64 = 1 << 16;

/// The filled table of a member.
pub(super) enum OffsetTable {
    /// All entries, checked to ascend from the first chunk. No two neighbours can then lead to another chunk: between the
    /// entries before and after them, there is none.
    Checked(Offsets),
    /// Too many entries to keep. Those that are needed are read, with their neighbours.
    Long { at: u64, count: u64 },
}

impl OffsetTable {
    /// The table of a member, or nothing if it is wrong; the parser reports which entry.
    pub(super) fn of<S: ReadAt>(source: &S, map: &MemberMap, count: u64) -> Result<Option<Self>> {
        if count > MOST_KEPT {
            let at = map.geometry.table_at;
            return Ok(Some(Self::Long { at, count }));
        }
        let offsets = map.offsets(source)?;
        let offsets = offsets.ok().filter(|table| table.get(0).is_some());
        Ok(offsets.map(Self::Checked))
    }

    /// Whether all entries were checked together.
    pub(super) fn is_checked(&self) -> bool {
        matches!(self, Self::Checked(_))
    }

    /// Where a chunk begins, and where the next one does, if there is one.
    ///
    /// # Errors
    /// Returns any error of the source; [`FormatError::Offset`] for entries that do not ascend.
    pub(super) fn get<S: ReadAt>(&self, source: &S, chunk: u64) -> Result<(u64, Option<u64>)> {
        match self {
            Self::Checked(offsets) => {
                let at = offsets.get(chunk);
                let at = at.ok_or_else(|| Error::bug(format!("a table without chunk {chunk}")))?;
                Ok((at, offsets.get(chunk + 1)))
            }
            Self::Long { at, count } => {
                let len = (count - chunk).min(2);
                let entries = read_ascending(source, *at, chunk, len, 0)?;
                let [at, next @ ..] = entries.as_slice() else {
                    return Err(Error::bug(format!("a table without chunk {chunk}")));
                };
                Ok((*at, next.first().copied()))
            }
        }
    }

    /// Where all chunks begin.
    pub(super) fn all<S: ReadAt>(&self, source: &S) -> Result<Vec<u64>> {
        match self {
            Self::Checked(Offsets::Filled(entries)) => Ok(entries.clone()),
            Self::Checked(_) => Err(Error::bug("a table that is not filled in")),
            Self::Long { at, count } => {
                let mut entries = Vec::new();
                while let first = to_u64(entries.len())
                    && first < *count
                {
                    let least = entries.last().map_or(0, |last| last + CHUNK_HEADER_LEN);
                    let len = (count - first).min(BATCH);
                    entries.extend(read_ascending(source, *at, first, len, least)?);
                }
                Ok(entries)
            }
        }
    }
}

/// Some entries of the table at this position, checked to ascend from `least`.
fn read_ascending<S: ReadAt>(
    source: &S,
    table_at: u64,
    first: u64,
    count: u64,
    mut least: u64,
) -> Result<Vec<u64>> {
    let byte = table_at + first * ENTRY_LEN;
    let mut bytes = vec![0; in_memory(count * ENTRY_LEN)?];
    source.read_exact_at(byte, &mut bytes)?;
    let mut entries = Vec::with_capacity(in_memory(count)?);
    for (number, entry) in (first..).zip(bytes.as_chunks().0) {
        let found = i64::from_le_bytes(*entry);
        let at = u64::try_from(found).ok().filter(|at| *at >= least);
        let at = at.ok_or_else(|| wrong_entry(byte, number, found, format!("{least} or more")))?;
        // Entries have 63 bits.
        least = at + CHUNK_HEADER_LEN;
        entries.push(at);
    }
    Ok(entries)
}

/// The error for a wrong entry of a table, of which these bytes were read.
pub(super) fn wrong_entry(byte: u64, entry: u64, found: i64, expected: String) -> Error {
    let position = Position {
        byte,
        member: 0,
        chunk: None,
        section: Section::Offsets,
    };
    let error = FormatError::Offset {
        entry,
        found: found.into(),
        expected,
    };
    ParseError { error, position }.into()
}
