//! What the bytes of a chunk, beyond its header, say of its length.
//!
//! `ctbytes` alone says how long a chunk is, and a damaged one leads anywhere. But the blocks of a
//! chunk say it again: one of them ends where the chunk does. In a pure copy `nbytes` says it.

use blosc1::ChunkHeader;

/// What was found of the blocks of a chunk.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Shape {
    /// A block ends exactly where the chunk does by its header.
    pub tight: bool,
    /// A block reaches past the bytes there are, and not past the chunk.
    pub cut: bool,
    /// A block lies outside of the chunk.
    pub broken: bool,
}

/// The word of an extended header that ends with its last byte, of which three bits tell of special
/// values.
const FLAGS_AT: u64 = 28;
const SPECIAL: u32 = 0x7000_0000;

/// Looks at these blocks of a chunk of which `available` bytes are there; `word` gives the u32 at a
/// position within the chunk.
pub(super) fn shape<E>(
    header: &ChunkHeader,
    blocks: impl Iterator<Item = u32>,
    available: u64,
    mut word: impl FnMut(u64) -> Result<Option<u32>, E>,
) -> Result<Shape, E> {
    let mut shape = Shape::default();
    let end = u64::from(header.ctbytes);
    if header.is_extended() {
        match word(FLAGS_AT)? {
            None => {
                shape.cut = true;
                return Ok(shape);
            }
            // Special values have no blocks, and their header was checked to have their length.
            Some(flags) if flags & SPECIAL != 0 => {
                shape.tight = true;
                return Ok(shape);
            }
            Some(_) => {}
        }
    }
    let table_at = header.len() as u64;
    let table_end = table_at.saturating_add(u64::from(header.nblocks()).saturating_mul(4));
    for block in blocks {
        let slot = table_at.saturating_add(u64::from(block).saturating_mul(4));
        let Some(start) = word(slot)? else {
            shape.cut = true;
            continue;
        };
        if u64::from(start) < table_end || u64::from(start) >= end {
            shape.broken = true;
            continue;
        }
        match block_end(header, block, start.into(), available, &mut word)? {
            // Its length cannot be seen any more.
            None => shape.cut = true,
            Some(at) if at > end => shape.broken = true,
            Some(at) if at > available => shape.cut = true,
            Some(at) => shape.tight |= at == end,
        }
    }
    Ok(shape)
}

/// Where the streams of a block end, if the lengths of all of them can be seen.
fn block_end<E>(
    header: &ChunkHeader,
    block: u32,
    start: u64,
    available: u64,
    word: &mut impl FnMut(u64) -> Result<Option<u32>, E>,
) -> Result<Option<u64>, E> {
    let mut at = start;
    for _ in 0..streams(header, block) {
        if at.saturating_add(4) > available {
            return Ok(None);
        }
        let Some(len) = word(at)? else {
            return Ok(None);
        };
        at = at.saturating_add(4).saturating_add(stored_len(header, len));
        if at > u64::from(header.ctbytes) {
            break;
        }
    }
    Ok(Some(at))
}

/// Bytes behind a stream's length. One byte over and over takes none or, if it is not zero, a token.
fn stored_len(header: &ChunkHeader, len: u32) -> u64 {
    if header.is_extended() && len > MAX_LEN {
        1
    } else {
        len.into()
    }
}

/// The longest stream of Blosc 2, where lengths are signed.
const MAX_LEN: u32 = 0x7FFF_FFFF;

/// Streams of a block: one for each byte of an element if blocks are split, but for a short one.
fn streams(header: &ChunkHeader, block: u32) -> u8 {
    let is_last = block.saturating_add(1) == header.nblocks();
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

    fn shape_of(chunk: &[u8], ctbytes: u32) -> Shape {
        let mut header = ChunkHeader::parse(chunk.first_chunk().unwrap()).unwrap();
        header.ctbytes = ctbytes;
        let word = |at: u64| {
            let bytes = chunk
                .get(usize::try_from(at).unwrap()..)
                .and_then(|rest| rest.first_chunk());
            Ok::<_, Infallible>(bytes.map(|bytes| u32::from_le_bytes(*bytes)))
        };
        let all = 0..header.nblocks();
        shape(&header, all, chunk.len() as u64, word).unwrap()
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
                let sound = shape_of(&chunk, header.ctbytes);
                assert!(sound.tight && !sound.cut && !sound.broken, "{sound:?}");
                let longer = shape_of(&chunk, header.ctbytes + 1);
                assert!(!longer.tight && !longer.cut, "{longer:?}");
                let shorter = shape_of(&chunk, header.ctbytes - 1);
                assert!(!shorter.tight && shorter.broken, "{shorter:?}");
                let cut = shape_of(&chunk[..chunk.len() - 1], header.ctbytes);
                assert!(cut.cut && !cut.tight, "{cut:?}");
            }
        }
    }
}
