//! The header with other counts.

use blosc1::MAX_NBYTES;
use bloscpack_wire::{FormatVersion, Header};

/// The header for this number of chunks of this length, where the last one has `last` bytes.
pub(super) fn counted(header: &Header, chunks: u64, chunk_size: u32, last: u32) -> Header {
    let old_chunks = header.nchunks;
    let mut header = Header {
        nchunks: Some(chunks),
        ..header.clone()
    };
    if header.version == FormatVersion::V1 || header.varlen {
        return header;
    }
    // Without a chunk size, chunks may have any length. The same holds if longer chunks follow empty ones.
    let had_one = old_chunks == Some(1);
    let known = header
        .chunk_size
        .is_some_and(|old| old > 0 || had_one || chunk_size == 0);
    if known || header.last_chunk.is_some() || chunks == 1 {
        header.last_chunk = Some(last);
    }
    // As the reference implementation does: with a single chunk, its own length is the chunk size.
    header.chunk_size = match chunks {
        1 => Some(last),
        _ => known.then_some(chunk_size.min(MAX_NBYTES)),
    };
    header
}
