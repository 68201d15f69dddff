//! [`BlockLayout`]: the length of a chunk by its blocks.
//!
//! Only `ctbytes` contains the length of a chunk, and a damaged one leads anywhere. But the blocks of a chunk confirm it: one
//! of them ends where the chunk does. In a pure copy `nbytes` confirms it.

use blosc1::ChunkHeader;

/// The ends of the blocks of a chunk.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct BlockLayout {
    /// A block ends exactly where the chunk does by its header.
    pub ends_exactly: bool,
    /// A block reaches past the bytes there are, and not past the chunk.
    pub is_cut: bool,
    /// A block is outside of the chunk.
    pub is_broken: bool,
}

/// The position of the word of an extended header that ends with the last byte, of which three bits mark special values.
const FLAGS_AT: u64 = 28;
const SPECIAL: u32 = 0x7000_0000;

/// Looks at these blocks of a chunk of which `available` bytes are present; `word` returns the u32 at a position within the
/// chunk.
pub(super) fn block_layout<E>(
    header: &ChunkHeader,
    blocks: impl Iterator<Item = u32>,
    available: u64,
    mut word: impl FnMut(u64) -> Result<Option<u32>, E>,
) -> Result<BlockLayout, E> {
    let mut layout = BlockLayout::default();
    let end = u64::from(header.ctbytes);
    if header.is_extended() {
        match word(FLAGS_AT)? {
            None => {
                layout.is_cut = true;
                return Ok(layout);
            }
            // Special values have no blocks, and their header was checked to have the right length.
            Some(flags) if flags & SPECIAL != 0 => {
                layout.ends_exactly = true;
                return Ok(layout);
            }
            Some(_) => {}
        }
    }
    let table_at = header.len() as u64;
    // All these sums are of a few numbers of 32 bits.
    let table_end = table_at + u64::from(header.nblocks()) * 4;
    for block in blocks {
        let slot = table_at + u64::from(block) * 4;
        let Some(start) = word(slot)? else {
            layout.is_cut = true;
            continue;
        };
        if u64::from(start) < table_end || u64::from(start) >= end {
            layout.is_broken = true;
            continue;
        }
        match block_end(header, block, start.into(), available, &mut word)? {
            // The length of the block is missing.
            None => layout.is_cut = true,
            Some(at) if at > end => layout.is_broken = true,
            Some(at) if at > available => layout.is_cut = true,
            Some(at) => layout.ends_exactly |= at == end,
        }
    }
    Ok(layout)
}

/// Where the streams of a block end, if all of their lengths are present.
fn block_end<E>(
    header: &ChunkHeader,
    block: u32,
    start: u64,
    available: u64,
    word: &mut impl FnMut(u64) -> Result<Option<u32>, E>,
) -> Result<Option<u64>, E> {
    let mut at = start;
    for _ in 0..streams(header, block) {
        if at + 4 > available {
            return Ok(None);
        }
        let Some(len) = word(at)? else {
            return Ok(None);
        };
        at += 4 + stored_len(header, len);
        if at > u64::from(header.ctbytes) {
            break;
        }
    }
    Ok(Some(at))
}

/// Bytes after a stream's length. One repeated byte takes none or, if it is not zero, a token.
fn stored_len(header: &ChunkHeader, len: u32) -> u64 {
    if header.is_extended() && len > MAX_LEN {
        1
    } else {
        len.into()
    }
}

/// The longest stream of Blosc 2, where lengths are signed.
const MAX_LEN: u32 = 0x7FFF_FFFF;

/// Streams of a block: one for each byte of an element if blocks are split, except for a short block.
fn streams(header: &ChunkHeader, block: u32) -> u8 {
    let is_last = block + 1 == header.nblocks();
    let is_short = is_last && !header.nbytes.is_multiple_of(header.blocksize.max(1));
    if header.is_split() && !is_short {
        header.typesize
    } else {
        1
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use blosc1::{ChunkEncoder, ChunkSettings, Compressor};
    use std::convert::Infallible;

    fn layout_of(chunk: &[u8], ctbytes: u32) -> BlockLayout {
        let mut header = ChunkHeader::parse(chunk.first_chunk().unwrap()).unwrap();
        header.ctbytes = ctbytes;
        let word = |at: u64| {
            let bytes = chunk
                .get(usize::try_from(at).unwrap()..)
                .and_then(|rest| rest.first_chunk());
            Ok::<_, Infallible>(bytes.map(|bytes| u32::from_le_bytes(*bytes)))
        };
        let all = 0..header.nblocks();
        block_layout(&header, all, chunk.len() as u64, word).unwrap()
    }

    #[test]
    fn blocks_say_how_long_their_chunk_is() {
        let data: Vec<u8> = (0..30_000_u32)
            .flat_map(|n| (n / 3).to_le_bytes())
            .collect();
        for compressor in [Compressor::Lz4, Compressor::Zstd, Compressor::Blosclz] {
            for typesize in [1, 4, 7] {
                let settings = ChunkSettings::default()
                    .compressor(compressor)
                    .typesize(typesize)
                    .blocksize(Some(9000));
                let mut chunk = Vec::new();
                let mut encoder = ChunkEncoder::new(settings).unwrap();
                let header = encoder.encode(&data, &mut chunk).unwrap();
                assert!(!header.is_pure_copy(), "{compressor} {typesize}");
                let sound = layout_of(&chunk, header.ctbytes);
                assert!(
                    sound.ends_exactly && !sound.is_cut && !sound.is_broken,
                    "{sound:?}"
                );
                let longer = layout_of(&chunk, header.ctbytes + 1);
                assert!(!longer.ends_exactly && !longer.is_cut, "{longer:?}");
                let shorter = layout_of(&chunk, header.ctbytes - 1);
                assert!(!shorter.ends_exactly && shorter.is_broken, "{shorter:?}");
                let cut = layout_of(&chunk[..chunk.len() - 1], header.ctbytes);
                assert!(cut.is_cut && !cut.ends_exactly, "{cut:?}");
            }
        }
    }
}
