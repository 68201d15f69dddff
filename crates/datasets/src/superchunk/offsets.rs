//! The positions of the chunks in a superchunk with several: from a table, or from the lengths of the chunks.

use super::{LEAST_CHUNK, Slot, at, cut_short, digest_len, read_up_to};
use crate::error::trailing;
use blosc1::{ChunkHeader, HEADER_LEN};
use bloscpack_error::{Code, Error, Result};
use bloscpack_storage::StoreFile;
use bloscpack_wire::Checksum;

/// The slots of the chunks that begin at these positions, the first of them at `first` or later, in a file of `end` bytes.
///
/// Every chunk has to have space for its header before the next one begins: overlapping or descending chunks would let one
/// file contain any number of them.
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
        // A next one that is less than `least` is refused in the next round.
        let next = offsets.get(index + 1).copied().unwrap_or(end);
        slots.push(Slot {
            at: *offset,
            len: next.saturating_sub(*offset),
        });
    }
    Ok(slots)
}

/// The slots of `count` contiguous chunks, the first of them at `first`, by their own lengths.
pub(super) fn walk(
    file: &dyn StoreFile,
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
        // The header was inside of the file, so that this cannot overflow.
        position += len;
    }
    match end.checked_sub(position) {
        None => Err(cut_short(end, position)),
        Some(0) => Ok(slots),
        Some(found) => Err(trailing(found, "the last chunk")),
    }
}
