//! Which bytes of a chunk are needed for some of its blocks, for readers that fetch no others.

use std::ops::Range;

use super::source::Source;
use super::{ChunkError, ChunkHeader, Special};

/// How many bytes of a chunk to read for [`extents`]: header, table of blocks, length of a
/// dictionary. Never more than the chunk has.
pub(crate) fn head_len(header: &ChunkHeader) -> usize {
    let table = match header.has_streams() {
        true => 4 * header.nblocks() as usize,
        false => 0,
    };
    let dictionary = if header.is_extended() { 4 } else { 0 };
    let len = header
        .len()
        .saturating_add(table)
        .saturating_add(dictionary);
    len.min(header.ctbytes as usize)
}

/// The bytes that these blocks can lie in, and all that is needed beside the first
/// [`head_len`] bytes to decode them: ascending, without overlaps.
///
/// A block reaches to where the next one begins, or to the chunk's end, as only its streams tell its
/// length.
///
/// # Errors
///
/// Those of opening the chunk; [`Usage`](super::Fault::Usage) for a block that is not there.
pub(crate) fn extents(head: &[u8], blocks: &[u32]) -> Result<Vec<Range<u32>>, ChunkError> {
    let source = Source::open_head(head)?;
    let nblocks = source.layout.nblocks();
    if let Some(&found) = blocks.iter().find(|&&block| block >= nblocks) {
        return Err(ChunkError::BlockIndex { found, nblocks });
    }
    if blocks.is_empty() {
        return Ok(Vec::new());
    }
    if !source.has_streams() {
        return Ok(plain(&source, blocks));
    }
    let (found, expected) = (head.len(), head_len(&source.header));
    if found < expected {
        return Err(ChunkError::CutShort { found, expected });
    }
    let starts = Starts::of(&source)?;
    let first = source.undo.delta.then_some(0);
    let blocks = blocks.iter().copied().chain(first);
    let mut wanted: Vec<_> = blocks.map(|block| starts.extent(block)).collect();
    wanted.extend(source.dictionary_extent());
    Ok(joined(wanted))
}

/// Refuses a chunk, of which the [`extents`] of these blocks are there, whose streams reach beyond them: what lies
/// there may be anything.
///
/// # Errors
///
/// Those of opening the chunk; [`Damaged`](super::Fault::Damaged) for a stream that is too long.
pub(crate) fn check_extents(chunk: &[u8], blocks: &[u32]) -> Result<(), ChunkError> {
    let source = Source::open(chunk)?;
    if !source.has_streams() {
        return Ok(());
    }
    let starts = Starts::of(&source)?;
    let first = source.undo.delta.then_some(0);
    for block in blocks.iter().copied().chain(first) {
        let [_, _, streams] = source.stored(block)?;
        let (used, extent) = (streams.len(), starts.extent(block));
        let available = (extent.end - extent.start) as usize;
        if used > available {
            let found = u32::try_from(used).unwrap_or(u32::MAX);
            return Err(ChunkError::StreamLength {
                block,
                found,
                available,
            });
        }
    }
    Ok(())
}

/// Where the blocks of a chunk begin.
struct Starts {
    by_block: Vec<u32>,
    sorted: Vec<u32>,
    ctbytes: u32,
}

impl Starts {
    fn of(source: &Source<'_>) -> Result<Self, ChunkError> {
        let blocks = 0..source.layout.nblocks();
        let by_block: Vec<u32> = blocks
            .map(|block| source.start(block))
            .collect::<Result<_, _>>()?;
        let mut sorted = by_block.clone();
        sorted.sort_unstable();
        let ctbytes = source.header.ctbytes;
        Ok(Self {
            by_block,
            sorted,
            ctbytes,
        })
    }

    /// From where a block begins to where the next one does.
    fn extent(&self, block: u32) -> Range<u32> {
        let start = self
            .by_block
            .get(block as usize)
            .copied()
            .unwrap_or(self.ctbytes);
        let after = self.sorted.partition_point(|&other| other <= start);
        start..self.sorted.get(after).copied().unwrap_or(self.ctbytes)
    }
}

/// Whether a chunk holds nothing but zeros, and says so.
pub(crate) fn is_zeros(chunk: &[u8]) -> bool {
    let special = Source::open(chunk).ok().and_then(|source| source.extension);
    special.and_then(|extension| extension.special()) == Some(Special::Zeros)
}

/// The same for a chunk without streams.
fn plain(source: &Source<'_>, blocks: &[u32]) -> Vec<Range<u32>> {
    let header = &source.header;
    let front = header.len_u32();
    if !header.is_pure_copy() {
        // At most one value.
        let value = front..header.ctbytes;
        return (!value.is_empty()).then_some(value).into_iter().collect();
    }
    let of_block = |&block: &u32| {
        let bytes = source.layout.block(block);
        let at = |byte: usize| front.saturating_add(u32::try_from(byte).unwrap_or(u32::MAX));
        at(bytes.start)..at(bytes.end)
    };
    joined(blocks.iter().map(of_block).collect())
}

/// Ranges in ascending order, those that touch made one.
fn joined(mut ranges: Vec<Range<u32>>) -> Vec<Range<u32>> {
    ranges.retain(|range| !range.is_empty());
    ranges.sort_unstable_by_key(|range| range.start);
    let mut joined: Vec<Range<u32>> = Vec::with_capacity(ranges.len());
    for range in ranges {
        match joined.last_mut() {
            Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
            _ => joined.push(range),
        }
    }
    joined
}
