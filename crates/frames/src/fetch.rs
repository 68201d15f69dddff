//! A chunk's bytes, out of where they lie.

use super::home::Stored;
use blosc1::{self, ChunkError, ChunkHeader, Fault, HEADER_LEN};
use bloscpack_error::{Error, ErrorKind, Result};
use bloscpack_wire::{Limits, Position, Section};

/// Up to so many bytes a chunk is read at once, whatever is wanted of it.
const SMALL: u64 = 16 << 10;

/// Bytes of a chunk beside its data: those of the longest header, with a value of any length.
const OVERHEAD: u64 = 32 + 255;
/// Those of each block: its entry in the table, and what its streams may be longer than the data.
const PER_BLOCK: u64 = 4 + 68;

/// The error of a chunk, with its place.
pub(super) fn failed(chunk: u64, byte: u64, error: ChunkError) -> Error {
    let position = Position {
        byte,
        member: 0,
        chunk: Some(chunk),
        section: Section::Chunk,
    };
    Error::new(ErrorKind::Format(error.into()), Some(position))
}

/// The beginning of a chunk.
pub(super) fn header(stored: &Stored<'_>) -> Result<ChunkHeader> {
    let mut first = [0; HEADER_LEN];
    if stored.room < HEADER_LEN as u64 {
        return Err(outside(stored, HEADER_LEN as u64));
    }
    stored.read(0, &mut first)?;
    let header = ChunkHeader::parse(&first)?;
    if u64::from(header.ctbytes) > stored.room {
        return Err(outside(stored, header.ctbytes.into()));
    }
    Ok(header)
}

/// A chunk that would reach beyond where chunks are, or beyond the end of its own file, which was cut then.
fn outside(stored: &Stored<'_>, len: u64) -> Error {
    let what = format!(
        "chunk at byte {}: {len} bytes, where {} are left",
        stored.byte(),
        stored.room
    );
    let fault = match stored.is_alone() {
        true => Fault::CutShort,
        false => Fault::Damaged,
    };
    crate::error::frame(fault, what)
}

/// The longest chunk with this header that anybody makes: with all streams as long as C-Blosc lets Snappy make them. Many
/// entries of an index may lead to one chunk, and each would read all of it.
fn longest(header: &ChunkHeader) -> u64 {
    let nbytes = u64::from(header.nbytes);
    let blocks = u64::from(header.nblocks()).saturating_mul(PER_BLOCK);
    let data = nbytes.saturating_add(nbytes / 6);
    data.saturating_add(blocks).saturating_add(OVERHEAD)
}

/// Refuses chunks that are longer than anybody wants them, or makes them.
pub(super) fn check(header: &ChunkHeader, limits: &Limits) -> Result<()> {
    if u64::from(header.ctbytes) > longest(header) {
        let what = format!(
            "a chunk of {} bytes, which holds {} bytes of data",
            header.ctbytes, header.nbytes
        );
        return Err(crate::error::frame(Fault::Damaged, what));
    }
    match header.nbytes <= limits.chunk {
        true => Ok(()),
        false => Err(crate::error::frame(
            Fault::OverLimit,
            format!(
                "a chunk of {} bytes, over the limit `chunk` of {}",
                header.nbytes, limits.chunk
            ),
        )),
    }
}

/// All bytes of a chunk.
pub(super) fn whole(stored: &Stored<'_>, header: &ChunkHeader, bytes: &mut Vec<u8>) -> Result<()> {
    make_room(bytes, header.ctbytes)?;
    Ok(stored.read(0, bytes)?)
}

/// The bytes of a chunk that these blocks need, in their places; the others are anything.
pub(super) fn blocks(
    stored: &Stored<'_>,
    header: &ChunkHeader,
    blocks: &[u32],
    bytes: &mut Vec<u8>,
) -> Result<()> {
    let nblocks = usize::try_from(header.nblocks()).unwrap_or(usize::MAX);
    let is_most = blocks.len().saturating_mul(2) >= nblocks;
    if is_most || header.is_pure_copy() || u64::from(header.ctbytes) <= SMALL {
        return whole(stored, header, bytes);
    }
    make_room(bytes, header.ctbytes)?;
    let head_len = blosc1::internal::head_len(header).min(bytes.len());
    let (head, _) = bytes.split_at_mut(head_len);
    stored.read(0, head)?;
    let extents = blosc1::internal::extents(head, blocks)?;
    for extent in extents {
        let range = to_usize(extent.start)..to_usize(extent.end);
        if let Some(part) = bytes.get_mut(range) {
            stored.read(extent.start.into(), part)?;
        }
    }
    Ok(blosc1::internal::check_extents(bytes, blocks)?)
}

fn make_room(bytes: &mut Vec<u8>, len: u32) -> Result<()> {
    let len = to_usize(len);
    if bytes.capacity() < len {
        // Pages that are never touched cost nothing this way.
        let zeroed = bytemuck::allocation::try_zeroed_vec(len);
        *bytes =
            zeroed.map_err(|()| crate::error::frame(Fault::OverLimit, "no memory for a chunk"))?;
    }
    bytes.resize(len, 0);
    Ok(())
}

fn to_usize(value: u32) -> usize {
    usize::try_from(value).unwrap_or(usize::MAX)
}
