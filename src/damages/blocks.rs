//! [`Ends`]: the length of a chunk by its blocks.
//!
//! Only `ctbytes` contains the length of a chunk, and a damaged one leads anywhere. But the blocks of a chunk confirm it: one
//! of them ends where the chunk does. In a pure copy `nbytes` confirms it.

use blosc1::ChunkHeader;

/// Where the blocks of a chunk end.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Ends {
    /// One of them ends exactly where the chunk does by its header.
    Exactly,
    /// One of them reaches past the bytes there are, and not past the chunk.
    Cut,
    Elsewhere,
}

/// The position of the word of an extended header that ends with the last byte, of which three bits mark special values.
const FLAGS_AT: u64 = 28;
const SPECIAL: u32 = 0x7000_0000;

/// Looks at the blocks of a chunk of which `available` bytes are present; `word` returns the u32 at a position within the
/// chunk.
pub(super) fn ends<E>(
    header: &ChunkHeader,
    available: u64,
    mut word: impl FnMut(u64) -> Result<Option<u32>, E>,
) -> Result<Ends, E> {
    let end = u64::from(header.ctbytes);
    if header.is_extended() {
        match word(FLAGS_AT)? {
            None => return Ok(Ends::Cut),
            // Special values have no blocks, and their header was checked to have the right length.
            Some(flags) if flags & SPECIAL != 0 => return Ok(Ends::Exactly),
            Some(_) => {}
        }
    }
    let table_at = header.len() as u64;
    // All these sums are of a few numbers of 32 bits.
    let table_end = table_at + u64::from(header.nblocks()) * 4;
    let mut ends = Ends::Elsewhere;
    for block in 0..header.nblocks() {
        let at = match word(table_at + u64::from(block) * 4)?.map(u64::from) {
            Some(start) if start < table_end || start >= end => continue,
            Some(start) => block_end(header, block, start, available, &mut word)?,
            None => None,
        };
        match at {
            Some(at) if at > end => {}
            Some(at) if at <= available => {
                if at == end {
                    return Ok(Ends::Exactly);
                }
            }
            _ => ends = Ends::Cut,
        }
    }
    Ok(ends)
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

    fn ends_of(chunk: &[u8], ctbytes: u32) -> Ends {
        let mut header = ChunkHeader::parse(chunk.first_chunk().unwrap()).unwrap();
        header.ctbytes = ctbytes;
        let word = |at: u64| {
            let bytes = chunk
                .get(usize::try_from(at).unwrap()..)
                .and_then(|rest| rest.first_chunk());
            Ok::<_, Infallible>(bytes.map(|bytes| u32::from_le_bytes(*bytes)))
        };
        ends(&header, chunk.len() as u64, word).unwrap()
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
                let sound = ends_of(&chunk, header.ctbytes);
                assert_eq!(sound, Ends::Exactly);
                let longer = ends_of(&chunk, header.ctbytes + 1);
                assert_eq!(longer, Ends::Elsewhere);
                let shorter = ends_of(&chunk, header.ctbytes - 1);
                assert_eq!(shorter, Ends::Elsewhere);
                let cut = ends_of(&chunk[..chunk.len() - 1], header.ctbytes);
                assert_eq!(cut, Ends::Cut);
            }
        }
    }
}
