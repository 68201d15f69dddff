//! Which bytes of a chunk are needed for some of its blocks, for readers that fetch no others.

use std::ops::Range;

use super::source::Source;
use super::{ChunkError, ChunkHeader, Special};

/// How many bytes of a chunk to read for [`extents`]: header, table of blocks, length of a
/// dictionary. Never more than the chunk has.
pub fn head_len(header: &ChunkHeader) -> usize {
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
pub fn extents(head: &[u8], blocks: &[u32]) -> Result<Vec<Range<u32>>, ChunkError> {
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
pub fn check_extents(chunk: &[u8], blocks: &[u32]) -> Result<(), ChunkError> {
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
pub fn is_zeros(chunk: &[u8]) -> bool {
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

#[cfg(test)]
mod tests {
    use super::{extents, head_len};
    use crate::peer::Kind;
    use crate::{
        Blosc2Encoder, Blosc2Settings, ChunkDecoder, ChunkEncoder, ChunkHeader, ChunkSettings,
        FilterPipeline, FilterStep, SpecialValue, special_chunk,
    };

    fn header(chunk: &[u8]) -> ChunkHeader {
        ChunkHeader::parse(chunk.first_chunk().unwrap()).unwrap()
    }

    /// Decodes blocks from what the extents leave of a chunk, and gives the bytes that they have.
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

    /// Blocks in another order than their numbers, as threads leave them; a dictionary.
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
