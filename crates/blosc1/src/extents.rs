//! The bytes of a chunk that some of its blocks need, for readers that fetch no others.
//!
//! A reader fetches [`head_len`] bytes, asks for the [`extents`] of its blocks, fetches these into
//! an otherwise unspecified buffer of the chunk's length, and calls [`check_extents`] before it
//! decodes.

use std::ops::Range;

use super::scratch::to_u32;
use super::view::ChunkView;
use super::{ChunkError, ChunkHeader};

/// The number of bytes at the beginning of a chunk that [`extents`] needs: header, block table, and
/// length of the dictionary. At most the length of the chunk.
pub fn head_len(header: &ChunkHeader) -> usize {
    let table = if header.has_streams() {
        4 * u64::from(header.nblocks())
    } else {
        0
    };
    let dictionary = if header.is_extended() { 4 } else { 0 };
    let len = u64::from(header.len_u32()) + table + dictionary;
    match u32::try_from(len) {
        Ok(len) if len < header.ctbytes => len as usize,
        _ => header.ctbytes as usize,
    }
}

/// The ranges of bytes that contain these blocks and everything else that decoding them needs,
/// except for the first [`head_len`] bytes. They are ascending and do not overlap.
///
/// The extent of a block ends where the next block begins, or at the end of the chunk: the length
/// of a block is only known from its streams. With delta, the first block is included; a dictionary
/// is, too.
///
/// # Errors
///
/// Returns the errors of parsing the header, [`CutShort`](super::Fault::CutShort) if `head` is
/// shorter than [`head_len`], and [`Usage`](super::Fault::Usage) for a block that does not exist.
pub fn extents(head: &[u8], blocks: &[u32]) -> Result<Vec<Range<u32>>, ChunkError> {
    let view = ChunkView::open_head(head)?;
    let nblocks = view.layout.nblocks();
    if let Some(&found) = blocks.iter().find(|&&block| block >= nblocks) {
        return Err(ChunkError::BlockIndex { found, nblocks });
    }
    if blocks.is_empty() {
        return Ok(Vec::new());
    }
    if !view.has_streams() {
        return plain_extents(&view, blocks);
    }
    let (found, expected) = (head.len(), head_len(&view.header));
    if found < expected {
        return Err(ChunkError::CutShort { found, expected });
    }
    let starts = BlockStarts::of(&view)?;
    let first = view.filters.delta.then_some(0);
    let blocks = blocks.iter().copied().chain(first);
    let extents = blocks.map(|block| starts.extent(block));
    let mut wanted: Vec<_> = extents.collect::<Result<_, _>>()?;
    wanted.extend(view.dictionary_extent()?);
    Ok(joined(wanted))
}

/// Checks a chunk if only the [`extents`] of these blocks have been read: their streams must not
/// reach beyond the extents, where the content is unspecified.
///
/// # Errors
///
/// Returns the errors of parsing the header, [`Usage`](super::Fault::Usage) for a block that does
/// not exist, and [`Damaged`](super::Fault::Damaged) for a stream that is too long.
pub fn check_extents(chunk: &[u8], blocks: &[u32]) -> Result<(), ChunkError> {
    let view = ChunkView::open(chunk)?;
    if !view.has_streams() {
        return Ok(());
    }
    let starts = BlockStarts::of(&view)?;
    let first = view.filters.delta.then_some(0);
    for block in blocks.iter().copied().chain(first) {
        let [_, _, streams] = view.stored(block)?;
        let (used, extent) = (streams.len(), starts.extent(block)?);
        let available = (extent.end - extent.start) as usize;
        if used > available {
            let found = to_u32(used)?;
            return Err(ChunkError::StreamLength {
                block,
                found,
                available,
            });
        }
    }
    Ok(())
}

/// The starts of all blocks of a chunk, by number and in ascending order.
struct BlockStarts {
    by_block: Vec<u32>,
    sorted: Vec<u32>,
    ctbytes: u32,
}

impl BlockStarts {
    /// Reads and checks the whole block table; takes 8 bytes of memory per block.
    fn of(view: &ChunkView<'_>) -> Result<Self, ChunkError> {
        let blocks = 0..view.layout.nblocks();
        let by_block: Vec<u32> = blocks
            .map(|block| view.start(block))
            .collect::<Result<_, _>>()?;
        let mut sorted = by_block.clone();
        sorted.sort_unstable();
        let ctbytes = view.header.ctbytes;
        Ok(Self {
            by_block,
            sorted,
            ctbytes,
        })
    }

    /// The bytes from the start of a block to the next larger start, or to the end of the chunk.
    fn extent(&self, block: u32) -> Result<Range<u32>, ChunkError> {
        let what = "a block is not in the table";
        let start = self.by_block.get(block as usize).copied();
        let start = start.ok_or(ChunkError::Bug { what })?;
        let after = self.sorted.partition_point(|&other| other <= start);
        let end = self.sorted.get(after).copied();
        Ok(start..end.unwrap_or(self.ctbytes))
    }
}

/// [`extents`] of a pure copy or of special values.
fn plain_extents(view: &ChunkView<'_>, blocks: &[u32]) -> Result<Vec<Range<u32>>, ChunkError> {
    let header = &view.header;
    let front = header.len_u32();
    if !header.is_pure_copy() {
        // Special values: nothing, or one value.
        let value = front..header.ctbytes;
        return Ok((!value.is_empty()).then_some(value).into_iter().collect());
    }
    let of_block = |&block: &u32| {
        let bytes = view.layout.block(block);
        Ok(front + to_u32(bytes.start)?..front + to_u32(bytes.end)?)
    };
    let extents: Result<_, ChunkError> = blocks.iter().map(of_block).collect();
    Ok(joined(extents?))
}

/// Sorts the ranges and merges those that touch.
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

#[cfg(test)]
mod tests {
    use super::{check_extents, extents, head_len};
    use crate::peer::Kind;
    use crate::{
        Blosc2Encoder, Blosc2Settings, ChunkDecoder, ChunkEncoder, ChunkHeader, ChunkSettings,
        FilterPipeline, FilterStep, SpecialValue, special_chunk,
    };

    fn header(chunk: &[u8]) -> ChunkHeader {
        ChunkHeader::parse(chunk.first_chunk().unwrap()).unwrap()
    }

    /// Decodes blocks from the extents of a chunk, and returns the length of the extents.
    fn check(chunk: &[u8], blocks: &[u32]) -> usize {
        let header = header(chunk);
        let head = head_len(&header);
        let found = extents(&chunk[..head], blocks).unwrap();
        let mut rest = vec![0xEE; chunk.len()];
        rest[..head].copy_from_slice(&chunk[..head]);
        let (mut before, mut sum) = (None, 0);
        for range in found {
            assert!(before.is_none_or(|end| end < range.start));
            before = Some(range.end);
            let range = range.start as usize..range.end as usize;
            rest[range.clone()].copy_from_slice(&chunk[range.clone()]);
            sum += range.len();
        }
        let mut data = vec![0; header.nbytes as usize];
        ChunkDecoder::new().decode(chunk, &mut data).unwrap();
        for &block in blocks {
            let start = header.blocksize as usize * block as usize;
            let end = data.len().min(start + header.blocksize as usize);
            let mut out = vec![0; end - start];
            let mut decoder = ChunkDecoder::new();
            decoder.decode_block(&rest, block, &mut out).unwrap();
            assert_eq!(out, data[start..end], "block {block}");
        }
        sum
    }

    #[test]
    fn they_hold_all_that_the_blocks_need_and_little_else() {
        let data = Kind::Numbers.data(50_001);
        let delta = FilterPipeline::new(&[FilterStep::Delta, FilterStep::Shuffle]).unwrap();
        for filters in [FilterPipeline::default(), delta] {
            for level in [0, 5] {
                let settings = Blosc2Settings {
                    level,
                    filters,
                    typesize: 4,
                    blocksize: Some(1000),
                    ..Blosc2Settings::default()
                };
                let mut chunk = Vec::new();
                let mut encoder = Blosc2Encoder::new(settings).unwrap();
                encoder.encode(&data, &mut chunk).unwrap();
                for blocks in [&[0][..], &[1], &[50], &[7, 3, 8], &[]] {
                    let sum = check(&chunk, blocks);
                    assert!(sum <= (blocks.len() + 1) * 1100, "{sum} for {blocks:?}");
                }
                assert!(extents(&chunk, &[51]).is_err());
                assert!(level == 0 || check_extents(&chunk, &[51]).is_err());
                assert!(level == 0 || extents(&chunk[..100], &[0]).is_err());
            }
        }
    }

    #[test]
    fn they_know_chunks_of_blosc_1_and_special_values() {
        let settings = ChunkSettings {
            blocksize: Some(1024),
            typesize: 4,
            ..ChunkSettings::default()
        };
        let mut chunk = Vec::new();
        let mut encoder = ChunkEncoder::new(settings).unwrap();
        encoder
            .encode(&Kind::Numbers.data(50_000), &mut chunk)
            .unwrap();
        assert!(check(&chunk, &[3, 4]) < 2100);
        let value = special_chunk(SpecialValue::Value(b"12345678"), 8000, 8, 800).unwrap();
        assert_eq!(head_len(&header(&value)), value.len());
        assert_eq!(check(&value, &[2]), 8);
        let zeros = special_chunk(SpecialValue::Zeros, 8000, 8, 800).unwrap();
        assert_eq!(check(&zeros, &[0, 9]), 0);
    }

    /// Blocks in another order than their indices, as threads write them; a dictionary.
    #[test]
    fn they_end_where_the_next_block_in_the_chunk_begins() {
        let word = |word: u32| word.to_le_bytes();
        let start = [word(60), word(55), word(50)].concat();
        let body = [start, word(2).to_vec(), vec![1, 2]].concat();
        let mut chunk = vec![5, 1, 0x95, 1, 12, 0, 0, 0, 4, 0, 0, 0, 65, 0, 0, 0];
        chunk.extend([0; 15]);
        chunk.push(1);
        chunk.extend(body);
        chunk.resize(65, 0);
        assert_eq!(head_len(&header(&chunk)), 48);
        assert_eq!(extents(&chunk[..48], &[1]).unwrap(), [48..50, 55..60]);
        assert_eq!(extents(&chunk[..48], &[0, 2]).unwrap(), [48..55, 60..65]);
    }
}
