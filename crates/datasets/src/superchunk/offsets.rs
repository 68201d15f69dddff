//! The positions of several chunks in a superchunk: from the offset table, or from the lengths of the chunks.

use super::{LEAST_CHUNK, Slot, at, cut_short, digest_len, read_up_to};
use crate::error::trailing;
use blosc1::{ChunkHeader, HEADER_LEN};
use bloscpack_error::{Code, Error, Result};
use bloscpack_storage::ReadAt;
use bloscpack_wire::Checksum;

/// The slots of chunks at these positions, in a file of `end` bytes. The first chunk begins at `first` or later.
///
/// Each chunk needs space for its header before the next one begins. With overlapping or descending chunks, a small file could
/// contain any number of them.
pub(super) fn slots_of(offsets: &[u64], first: u64, end: u64) -> Result<Vec<Slot>> {
    let mut slots = Vec::with_capacity(offsets.len());
    let (mut least, last) = (first, end.saturating_sub(LEAST_CHUNK));
    for (index, offset) in offsets.iter().enumerate() {
        if *offset < least || *offset > last {
            return Err(Error::new(
                Code::Offsets,
                format!("entry {index} of the offsets is {offset}, should be {least} to {last}"),
            ));
        }
        least = offset + LEAST_CHUNK;
        // A next position below `least` is refused in the next iteration.
        let next = offsets.get(index + 1).copied().unwrap_or(end);
        slots.push(Slot {
            at: *offset,
            len: next.saturating_sub(*offset),
        });
    }
    Ok(slots)
}

/// The slots of `count` contiguous chunks from position `first`, by the lengths in their headers.
pub(super) fn walk(
    file: &dyn ReadAt,
    first: u64,
    count: u64,
    checksum: Checksum,
) -> Result<Vec<Slot>> {
    let (mut slots, mut position, end) = (Vec::new(), first, file.size()?);
    for chunk in 0..count {
        let head = read_up_to(file, position, LEAST_CHUNK)?;
        let head = head
            .first_chunk::<HEADER_LEN>()
            .ok_or_else(|| cut_short(end, position + LEAST_CHUNK))?;
        let header = ChunkHeader::parse(head).map_err(|error| at(position, Some(chunk), error))?;
        let len = u64::from(header.ctbytes) + digest_len(checksum);
        slots.push(Slot { at: position, len });
        // Cannot overflow: the header is inside the file.
        position += len;
    }
    match end.checked_sub(position) {
        None => Err(cut_short(end, position)),
        Some(0) => Ok(slots),
        Some(found) => Err(trailing(found, "the last chunk")),
    }
}
