//! [`OffsetTable`]: the table of offsets of a single member, read as it is needed.

use crate::checked::{in_memory, to_u64};
use blosc1::{ChunkHeader, HEADER_LEN};
use bloscpack_error::{Error, Result};
use bloscpack_storage::ReadAt;
use bloscpack_storage::internal::{GAP, for_each_step};
use bloscpack_wire::{
    FormatError, Geometry, Header, ParseError, Position, Section, Trailing, internal::ENTRY_LEN,
};
use std::sync::OnceLock;

/// Entries of a table that are kept together.
const PAGE: u64 = 512;
/// The most entries of a table that is kept whole: 16 MiB.
const MOST_KEPT: u64 = 2 << 20;

/// The filled entries of a table, read as they are asked for, and kept unless there are too many.
///
/// A geometry was computed for the table, so that all its entries have positions of 63 bits.
pub(super) struct OffsetTable {
    at: u64,
    count: u64,
    pages: Vec<OnceLock<Box<[u64]>>>,
}

impl OffsetTable {
    /// The table of `count` entries at this position. Records are so short that reading their entries one by one would take
    /// half of the time that reading them takes, so their table is kept; otherwise only the entries that are needed are
    /// read.
    pub(super) fn new(at: u64, count: u64, is_kept: bool) -> Result<Self> {
        let kept = if is_kept && count <= MOST_KEPT {
            count
        } else {
            0
        };
        let pages = in_memory(kept.div_ceil(PAGE))?;
        let pages = std::iter::repeat_with(OnceLock::new).take(pages);
        Ok(Self {
            at,
            count,
            pages: pages.collect(),
        })
    }

    /// The position of an entry.
    pub(super) fn position_of(&self, entry: u64) -> u64 {
        self.at + entry * ENTRY_LEN
    }

    /// An entry and the one after it; nothing for -1, and after the last.
    pub(super) fn two<S: ReadAt>(&self, source: &S, entry: u64) -> Result<[Option<u64>; 2]> {
        if self.pages.is_empty() {
            return two_entries(source, self.position_of(entry));
        }
        Ok([self.one(source, entry)?, self.one(source, entry + 1)?])
    }

    fn one<S: ReadAt>(&self, source: &S, entry: u64) -> Result<Option<u64>> {
        let page = entry / PAGE;
        let Some(kept) = self.pages.get(in_memory(page)?) else {
            return Ok(None);
        };
        let entries = match kept.get() {
            Some(entries) => entries,
            None => {
                let first = page * PAGE;
                let count = (self.count - first).min(PAGE);
                let read = read_entries(source, self.position_of(first), count)?;
                kept.get_or_init(|| read)
            }
        };
        let entry = entries.get(in_memory(entry % PAGE)?).copied();
        Ok(entry.filter(|entry| i64::try_from(*entry).is_ok()))
    }

    /// All entries, checked to ascend.
    pub(super) fn all<S: ReadAt>(&self, source: &S) -> Result<Vec<u64>> {
        table(source, self.at, self.count)
    }
}

/// Entries as they are stored.
fn read_entries<S: ReadAt>(source: &S, at: u64, count: u64) -> Result<Box<[u64]>> {
    let mut bytes = vec![0; in_memory(count * ENTRY_LEN)?];
    source.read_exact_at(at, &mut bytes)?;
    let entries = bytes.as_chunks().0.iter();
    Ok(entries.map(|entry| u64::from_le_bytes(*entry)).collect())
}

/// An entry of a table of offsets; nothing for -1.
fn entry<S: ReadAt>(source: &S, at: u64) -> Result<Option<u64>> {
    let mut bytes = [0; 8];
    match source.read_exact_at(at, &mut bytes) {
        Err(error) if error.kind() == std::io::ErrorKind::UnexpectedEof => Ok(None),
        result => {
            result?;
            Ok(u64::try_from(i64::from_le_bytes(bytes)).ok())
        }
    }
}

/// An entry and the one after it.
fn two_entries<S: ReadAt>(source: &S, at: u64) -> Result<[Option<u64>; 2]> {
    let mut bytes = [[0; 8]; 2];
    match source.read_exact_at(at, bytes.as_flattened_mut()) {
        Err(error) if error.kind() == std::io::ErrorKind::UnexpectedEof => Ok([None; 2]),
        result => {
            result?;
            Ok(bytes.map(|entry| u64::try_from(i64::from_le_bytes(entry)).ok()))
        }
    }
}

/// Entries of a table read at once.
const BATCH: u64 = 8192;

/// All entries of a table that is filled, checked to ascend.
fn table<S: ReadAt>(source: &S, at: u64, count: u64) -> Result<Vec<u64>> {
    let (mut starts, mut number) = (Vec::new(), 0u64);
    while number < count {
        let batch = (count - number).min(BATCH);
        let mut bytes = vec![0; in_memory(batch * ENTRY_LEN)?];
        let here = at + number * ENTRY_LEN;
        source.read_exact_at(here, &mut bytes)?;
        for (entry, bytes) in (number..).zip(bytes.as_chunks().0) {
            let least = starts.last().map_or(0, |last: &u64| last + 1);
            let found = u64::try_from(i64::from_le_bytes(*bytes)).ok();
            let position = Position {
                byte: here,
                member: 0,
                chunk: None,
                section: Section::Offsets,
            };
            let expected = "after the one before it";
            let start = found.filter(|start| *start >= least);
            starts.push(start.ok_or_else(|| bad_offset(position, entry, found, expected))?);
        }
        number += batch;
    }
    Ok(starts)
}

/// Where the last chunk of a member with a filled table ends, its digest included. Nothing if the table or the chunks at
/// both ends contradict the header; a walk then finds out which part is wrong.
///
/// No digest covers a header of V3: with a flipped bit in its sizes, every position of the content would be wrong.
pub(super) fn table_end<S: ReadAt>(
    source: &S,
    header: &Header,
    geometry: &Geometry,
) -> Result<Option<u64>> {
    let Some(others) = header.nchunks.and_then(|chunks| chunks.checked_sub(1)) else {
        return Ok(None);
    };
    let last_entry = geometry.table_at + others * ENTRY_LEN;
    let (first_at, last_at) = (
        entry(source, geometry.table_at)?,
        entry(source, last_entry)?,
    );
    let (Some(first_at), Some(last_at)) = (first_at, last_at) else {
        return Ok(None);
    };
    if first_at != geometry.chunks_at {
        return Ok(None);
    }
    let (first, last) = (
        chunk_header(source, first_at)?,
        chunk_header(source, last_at)?,
    );
    let (Some(first), Some(last)) = (first, last) else {
        return Ok(None);
    };
    let is_full = others == 0 || header.chunk_size == Some(first.nbytes);
    let fits = is_full && header.last_chunk == Some(last.nbytes);
    if !fits && !header.varlen {
        return Ok(None);
    }
    let end = last_at + u64::from(last.ctbytes) + to_u64(header.checksum.digest_len());
    Ok(Some(end))
}

/// The bytes after the last chunk, if they cannot mean anything: none, or some that begin with zeros, as while an append is
/// in progress. Returns nothing for any other bytes, which need a walk.
pub(super) fn harmless_trailing<S: ReadAt>(
    source: &S,
    end: u64,
) -> Result<Option<Option<Trailing>>> {
    let Some(len) = source.size()?.checked_sub(end) else {
        return Ok(None);
    };
    let mut first = vec![0; in_memory(len.min(GAP))?];
    source.read_exact_at(end, &mut first)?;
    if first.iter().any(|byte| *byte != 0) {
        return Ok(None);
    }
    let position = Position {
        byte: end,
        member: 0,
        chunk: None,
        section: Section::Trailer,
    };
    Ok(Some((len > 0).then_some(Trailing { position, len })))
}

/// Whether the seal of a header, if it has one, fits the bytes before the chunks. If it does not, the parser reports what
/// is wrong.
pub(super) fn seal_holds<S: ReadAt>(
    source: &S,
    header: &Header,
    geometry: &Geometry,
) -> Result<bool> {
    let Some(found) = header.seal else {
        return Ok(true);
    };
    let mut front = vec![0; header.layout.header_len()];
    source.read_exact_at(0, &mut front)?;
    let mut seal = crc32fast::Hasher::new();
    seal.update(&Header::sealed_bytes(&front));
    let from = geometry.metadata_at;
    let len = geometry.chunks_at - from;
    for_each_step(source, from, len, |bytes| seal.update(bytes))?;
    Ok(seal.finalize() == found)
}

/// The header of the chunk at this position, if there is one.
pub(super) fn chunk_header<S: ReadAt>(source: &S, at: u64) -> Result<Option<ChunkHeader>> {
    let mut bytes = [0; HEADER_LEN];
    match source.read_exact_at(at, &mut bytes) {
        Err(error) if error.kind() == std::io::ErrorKind::UnexpectedEof => return Ok(None),
        result => result?,
    }
    Ok(ChunkHeader::parse(&bytes).ok())
}

pub(super) fn bad_offset(
    position: Position,
    entry: u64,
    found: Option<u64>,
    expected: &str,
) -> Error {
    let found = found.and_then(|found| i64::try_from(found).ok());
    // An offset that is not filled in is -1.
    let found = found.unwrap_or(-1);
    let error = FormatError::Offset {
        entry,
        found: found.into(),
        expected: expected.to_owned(),
    };
    ParseError { error, position }.into()
}
