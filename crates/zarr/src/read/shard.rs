//! Shards: chunk files that consist of smaller chunks.
//!
//! ```text
//!  chunk | chunk | ...                        the index may also precede the chunks
//!  offset of chunk 0 | length of it | offset of chunk 1 | ...    u64 each, in C order
//!  crc32c of the index                                           u32, little-endian
//! ```
//!
//! A chunk that is not stored has 2^64-1 as offset and as length. The metadata gives the byte order of the index, and whether a
//! checksum follows it.

use super::{Chunk, Reader};
use crate::codec::{Shard, check_crc32c};
use bloscpack_array::product;
use bloscpack_array::{Grid, Part, copy};
use bloscpack_dtype::ByteOrder;
use bloscpack_error::checked::{in_memory, to_u64};
use bloscpack_error::{Code, Error, Result};
use std::ops::Range;

/// Bytes of an index entry.
pub(crate) const ENTRY: usize = 16;
/// The offset and the length of a chunk that is not stored.
pub(crate) const MISSING: u64 = u64::MAX;

impl Reader<'_> {
    /// All elements of a shard of this shape, in C order.
    pub(super) fn shard(&self, shard: &Shard, shape: &[u64], chunk: Chunk<'_>) -> Result<Vec<u8>> {
        let inner = &shard.chunk_shape;
        let grid = Grid::new(shape.to_vec(), inner.clone());
        let index = ShardIndex::read(shard, grid.counts(), chunk)?;
        let whole = grid.whole();
        let mut out = self.filled(&whole)?;
        for Part { number, region, .. } in grid.parts(&whole) {
            let Some(stored) = index.chunk(number, chunk)? else {
                continue;
            };
            let dense = self.whole(&shard.codecs, inner, stored)?;
            copy(
                &region,
                (&region, &dense),
                (&whole, &mut out),
                self.itemsize,
            )?;
        }
        Ok(out)
    }
}

/// The index of a shard: the place of each of its chunks.
#[derive(Debug)]
pub(crate) struct ShardIndex {
    bytes: Vec<u8>,
    order: ByteOrder,
    /// The bytes of the shard outside of the index. Chunks must lie within them.
    body: Range<u64>,
}

impl ShardIndex {
    /// Reads the index of a shard with `counts` chunks along each axis, and checks its checksum. The number of chunks was
    /// checked against the limits when the array was opened.
    pub(crate) fn read(shard: &Shard, counts: &[u64], chunk: Chunk<'_>) -> Result<Self> {
        // Checked against the limits when the array was opened.
        let count = product(counts.iter().copied()).unwrap_or(u64::MAX);
        let entries = count.saturating_mul(to_u64(ENTRY));
        let len = entries.saturating_add(if shard.has_crc { 4 } else { 0 });
        let short = || Error::cut_short("the index of a shard", chunk.len, len);
        let rest = chunk.len.checked_sub(len).ok_or_else(short)?;
        let at = if shard.at_start { 0 } else { rest };
        let index = chunk.range(at, len).ok_or_else(short)?;
        let mut bytes = index.read()?;
        if shard.has_crc {
            let digest = bytes.split_off(in_memory(entries)?);
            let digest = digest.first_chunk::<4>().ok_or_else(short)?;
            let digest = u32::from_le_bytes(*digest);
            check_crc32c("crc32c of the index of a shard", &bytes, digest)?;
        }
        Ok(Self {
            bytes,
            order: shard.index_order,
            body: if shard.at_start {
                len..chunk.len
            } else {
                0..rest
            },
        })
    }

    /// The bytes of a chunk; `None` if it is not stored. A place outside of the shard, or within the index, is
    /// [`Code::Offsets`].
    pub(crate) fn chunk<'a>(&self, number: u64, shard: Chunk<'a>) -> Result<Option<Chunk<'a>>> {
        let place = in_memory(number)?.checked_mul(ENTRY);
        let entry = place.and_then(|at| self.bytes.get(at..)?.first_chunk::<ENTRY>());
        let (head, tail) = entry
            .and_then(|entry| Some((entry.first_chunk::<8>()?, entry.last_chunk::<8>()?)))
            .ok_or_else(|| {
                Error::unexpected(Code::Offsets, "the index of a shard", "no entry", number)
            })?;
        let read = |bytes: &[u8; 8]| match self.order {
            ByteOrder::Little => u64::from_le_bytes(*bytes),
            ByteOrder::Big => u64::from_be_bytes(*bytes),
        };
        let (at, len) = (read(head), read(tail));
        if (at, len) == (MISSING, MISSING) {
            return Ok(None);
        }
        let end = at.checked_add(len).filter(|end| *end <= self.body.end);
        let found = end.filter(|_| at >= self.body.start);
        let found = found.and_then(|_| shard.range(at, len));
        let lies = || {
            let (begin, end) = (self.body.start, self.body.end);
            Error::unexpected(
                Code::Offsets,
                "a chunk of a shard",
                format!("{len} bytes from byte {at} on"),
                format!("some of bytes {begin} to {end}"),
            )
        };
        found.ok_or_else(lies).map(Some)
    }
}
