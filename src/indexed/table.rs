//! [`OffsetTable`]: the offset table of a single member.

use crate::member_map::{MemberMap, chunk_header};
use bloscpack_error::checked::{in_memory, len_of, to_u64};
use bloscpack_error::{Error, Result};
use bloscpack_storage::ReadAt;
use bloscpack_wire::{
    FormatError, Offsets, ParseError, Position, Section,
    internal::{CHUNK_HEADER_LEN, ENTRY_LEN},
};
use std::ops::Range;
use std::sync::OnceLock;

/// The most entries of a table that is read and checked completely on opening: 512 KiB.
const MOST_AT_ONCE: u64 = 1 << 16;
/// The most entries of a table whose pages are kept: 16 MiB.
const MOST_KEPT: u64 = 2 << 20;
/// Entries of a page of a longer table.
const PAGE: u64 = 512;
/// Entries that are read at once if all are needed.
const BATCH: u64 = 1 << 16;

/// The filled offset table of a member.
///
/// Entries are used only together with the one before and the two after them, and all of these must ascend. Even if the entry
/// of a chunk and the next entry were both changed, they cannot lead to another chunk: there is none between the entries
/// around them.
pub(super) struct OffsetTable {
    at: u64,
    count: u64,
    digest_len: u64,
    /// Where the last chunk ends.
    end: u64,
    entries: Entries,
}

/// The entries of the table, as far as they are in memory.
enum Entries {
    /// All entries, checked.
    Checked(Offsets),
    /// Pages are read and checked as needed, and kept.
    Paged(Vec<OnceLock<Window>>),
    /// Entries are read as needed, and not kept.
    Unkept,
}

/// Some consecutive entries.
struct Window {
    /// The number of the first one.
    first: u64,
    entries: Vec<u64>,
}

impl Window {
    fn get(&self, entry: u64) -> Option<u64> {
        let index = usize::try_from(entry.checked_sub(self.first)?).ok()?;
        self.entries.get(index).copied()
    }
}

impl OffsetTable {
    /// The table of a member whose last chunk ends at `end`. Returns `None` if it is wrong; the parser then reports the wrong
    /// entry. If the table begins with the `known` one, only further entries are read.
    pub(super) fn of<S: ReadAt>(
        source: &S,
        map: &MemberMap,
        count: u64,
        end: u64,
        known: Option<&Self>,
    ) -> Result<Option<Self>> {
        let entries = match count {
            ..=MOST_AT_ONCE => {
                let grown = known.map(|known| known.grown(source, map, count));
                let offsets = match grown.transpose()?.flatten() {
                    Some(offsets) => Ok(offsets),
                    None => map.offsets(source)?,
                };
                match offsets {
                    Ok(offsets @ Offsets::Filled(_)) => Entries::Checked(offsets),
                    _ => return Ok(None),
                }
            }
            _ if count > MOST_KEPT => Entries::Unkept,
            _ => {
                let pages = in_memory(count.div_ceil(PAGE))?;
                let pages = std::iter::repeat_with(OnceLock::new).take(pages);
                Entries::Paged(pages.collect())
            }
        };
        Ok(Some(Self {
            at: map.geometry.table_at,
            count,
            digest_len: to_u64(map.header.checksum.digest_len()),
            end,
            entries,
        }))
    }

    /// These entries and the ones added after them. Returns `None` if the table has moved or shrunk, or if the last known entry
    /// has changed.
    fn grown<S: ReadAt>(&self, source: &S, map: &MemberMap, count: u64) -> Result<Option<Offsets>> {
        let Entries::Checked(Offsets::Filled(known)) = &self.entries else {
            return Ok(None);
        };
        let (Some((last, before)), true) = (known.split_last(), self.at == map.geometry.table_at)
        else {
            return Ok(None);
        };
        let Some(new) = count.checked_sub(to_u64(before.len())) else {
            return Ok(None);
        };
        let mut table = vec![0; in_memory(new * ENTRY_LEN)?];
        let at = self.at + to_u64(before.len()) * ENTRY_LEN;
        source.read_exact_at(at, &mut table)?;
        Ok(match Offsets::decode(&table, *last) {
            Ok(Offsets::Filled(new)) => Some(Offsets::Filled([before, &new].concat())),
            _ => None,
        })
    }

    /// The positions at which a chunk and the next part begin.
    ///
    /// # Errors
    /// Returns any error of the source, and [`FormatError::Offset`] for impossible entries.
    pub(super) fn get<S: ReadAt>(&self, source: &S, chunk: u64) -> Result<Range<u64>> {
        let (at, next) = match &self.entries {
            Entries::Checked(offsets) => (offsets.get(chunk), offsets.get(chunk + 1)),
            Entries::Paged(pages) => {
                let number = chunk / PAGE;
                let page = pages.get(in_memory(number)?);
                let page = page.ok_or_else(|| Error::bug(format!("no page {number}")))?;
                let window = match page.get() {
                    Some(window) => window,
                    None => {
                        let read = self.window(source, number * PAGE..(number + 1) * PAGE)?;
                        page.get_or_init(|| read)
                    }
                };
                (window.get(chunk), window.get(chunk + 1))
            }
            Entries::Unkept => {
                let window = self.window(source, chunk..chunk + 1)?;
                (window.get(chunk), window.get(chunk + 1))
            }
        };
        let at = at.ok_or_else(|| Error::bug(format!("a table without chunk {chunk}")))?;
        let next = next.unwrap_or(self.end);
        // Offsets have 63 bits, so the sum does not overflow.
        if next < at + CHUNK_HEADER_LEN + self.digest_len || next > self.end {
            return Err(self.wrong(chunk, at, "before the next one and inside the file"));
        }
        Ok(at..next)
    }

    /// The entries of some chunks, with one before and two after them.
    ///
    /// ```text
    ///   entry     before | requested ... | next | after next
    ///   checked   all ascend, by at least the length of a chunk
    ///             header at `before` ends at the first requested one, or a header after them ends at its next entry
    /// ```
    ///
    /// The header of the chunk before must agree with the first of these entries, or the header of a chunk after them with its
    /// next entry. One of both is sufficient, since the other chunk may be damaged.
    fn window<S: ReadAt>(&self, source: &S, chunks: Range<u64>) -> Result<Window> {
        let before = chunks.start.checked_sub(1);
        let first = before.unwrap_or(0);
        let end = (chunks.end + 2).min(self.count);
        let least = CHUNK_HEADER_LEN + self.digest_len;
        let entries = self.read(source, first..end, 0, least)?;
        let window = Window { first, entries };
        let fits = |chunk: u64| {
            let Some(at) = window.get(chunk) else {
                return Ok(false);
            };
            let next = window.get(chunk + 1).unwrap_or(self.end);
            let header = chunk_header(source, at)?;
            let end = header.map(|header| at + u64::from(header.ctbytes) + self.digest_len);
            Ok::<_, Error>(end == Some(next))
        };
        // The entry of the very first chunk was checked on opening.
        let is_confirmed = match before {
            None => true,
            Some(before) => {
                // The end of the last chunk is known.
                let after = end - if end == self.count { 1 } else { 2 };
                fits(before)? || fits(after)?
            }
        };
        match (is_confirmed, window.get(chunks.start)) {
            (false, Some(at)) => {
                Err(self.wrong(chunks.start, at, "where the chunk before it ends"))
            }
            _ => Ok(window),
        }
    }

    /// The positions of all chunks.
    pub(super) fn all<S: ReadAt>(&self, source: &S) -> Result<Vec<u64>> {
        if let Entries::Checked(Offsets::Filled(entries)) = &self.entries {
            return Ok(entries.clone());
        }
        let mut entries = Vec::new();
        let mut first = 0;
        while first < self.count {
            let end = self.count.min(first + BATCH);
            let from = entries.last().map_or(0, |last| last + CHUNK_HEADER_LEN);
            entries.extend(self.read(source, first..end, from, CHUNK_HEADER_LEN)?);
            first = end;
        }
        Ok(entries)
    }

    /// Some entries. The first must be `from` or more, and each further one at least `least` bytes after the one before.
    fn read<S: ReadAt>(
        &self,
        source: &S,
        numbers: Range<u64>,
        mut from: u64,
        least: u64,
    ) -> Result<Vec<u64>> {
        let byte = self.at + numbers.start * ENTRY_LEN;
        let mut bytes = vec![0; in_memory(len_of(&numbers) * ENTRY_LEN)?];
        source.read_exact_at(byte, &mut bytes)?;
        let entries = numbers.zip(bytes.as_chunks().0);
        let check = |(number, entry): (u64, &[u8; 8])| {
            let found = u64::from_le_bytes(*entry);
            if found < from || i64::try_from(found).is_err() {
                return Err(self.wrong(number, found, &format!("{from} or more")));
            }
            // Offsets have 63 bits.
            from = found + least;
            Ok(found)
        };
        entries.map(check).collect()
    }

    /// The error for a wrong entry.
    fn wrong(&self, entry: u64, found: u64, expected: &str) -> Error {
        let position = Position {
            byte: self.at + entry * ENTRY_LEN,
            member: 0,
            chunk: None,
            section: Section::Offsets,
        };
        let error = FormatError::Offset {
            entry,
            found: found.cast_signed().into(),
            expected: expected.to_owned(),
        };
        ParseError { error, position }.into()
    }
}
