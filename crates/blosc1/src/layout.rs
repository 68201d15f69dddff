//! How the data of a chunk is cut into blocks and streams, and the positions of the parts of a
//! chunk.

use std::ops::Range;

/// Bytes of a chunk's header, without the 16 more of an extended Blosc 2 header.
pub const HEADER_LEN: usize = 16;
/// Bytes of an extended Blosc 2 header.
pub(super) const EXTENDED_LEN: usize = 32;

/// The most bytes of data in a chunk: 2³¹ − 1, less the 16 bytes of a header.
pub const MAX_NBYTES: u32 = 2_147_483_631;

/// The most bytes that a Blosc 1 chunk takes for `len` bytes of data, `len + 16`; `None` if the
/// data does not fit in one chunk ([`MAX_NBYTES`]).
///
/// ```
/// let data = [7; 1000];
/// let mut out = vec![0; blosc1::compress_bound(data.len()).unwrap()];
/// let ctbytes = blosc1::compress_into(&data, Default::default(), &mut out)?;
/// assert!(ctbytes <= out.len());
/// # Ok::<(), blosc1::ChunkError>(())
/// ```
#[must_use]
pub const fn compress_bound(len: usize) -> Option<usize> {
    if len <= MAX_NBYTES as usize {
        Some(len + HEADER_LEN)
    } else {
        None
    }
}

/// Data of fewer bytes is never compressed, and a block of fewer elements never split.
pub(super) const MIN_BUFFER: u32 = 128;
/// The largest block that C-Blosc 1.21 reads.
pub(super) const MAX_BLOCKSIZE: u32 = (i32::MAX as u32 - 255 * 4) / 3;
/// The largest typesize whose blocks are split.
const MAX_SPLIT: u8 = 16;
/// The shortest stream: its length, and one byte.
const MIN_STREAM: u64 = 5;
/// The shortest Blosc 2 stream: a length of 0, which encodes zeros.
const MIN_STREAM_EXTENDED: u64 = 4;

/// How the data of a chunk is cut into blocks and streams.
#[derive(Clone, Copy, Debug)]
pub(super) struct Layout {
    pub nbytes: u32,
    /// Bytes of a full block; 0 only if there is no data.
    pub blocksize: u32,
    pub typesize: u8,
    /// Whether full blocks have one stream for each byte of an element.
    pub split: bool,
    /// Bytes of the header, which the block table follows.
    pub header_len: usize,
}

impl Layout {
    /// Whether the Blosc 1 rule allows splitting blocks of this size.
    pub const fn can_split(typesize: u8, blocksize: u32) -> bool {
        typesize > 0 && typesize <= MAX_SPLIT && blocksize >= MIN_BUFFER * typesize as u32
    }

    /// Number of blocks.
    pub const fn nblocks(&self) -> u32 {
        nblocks(self.nbytes, self.blocksize)
    }

    /// The bytes of data in block `index`; an empty range at the end of the data for an index past
    /// the last block.
    pub fn block(&self, index: u32) -> Range<usize> {
        // A product or sum above 32 bits is past the end of the data, where the block ends anyway.
        let start = index.saturating_mul(self.blocksize).min(self.nbytes);
        let end = start.saturating_add(self.blocksize).min(self.nbytes);
        start as usize..end as usize
    }

    /// The index of the block that contains byte `at` of the data.
    pub fn index_of(&self, at: u32) -> u32 {
        // The block size is 0 only if there is no data, and so no such byte.
        at / self.blocksize.max(1)
    }

    /// Number of streams in a block of this many bytes. A short last block is never split.
    pub fn streams(&self, block_len: usize) -> usize {
        if self.split && block_len == self.blocksize as usize {
            usize::from(self.typesize)
        } else {
            1
        }
    }

    /// The position after the block table, where the first block may begin.
    pub fn table_end(&self) -> usize {
        self.header_len + 4 * self.nblocks() as usize
    }

    /// Bytes of the shortest chunk with this layout: every stream is as short as possible.
    #[inline(always)]
    pub fn smallest_chunk(&self) -> u64 {
        let blocks = u64::from(self.nblocks());
        let is_last_short = blocks * u64::from(self.blocksize) > u64::from(self.nbytes);
        let full = blocks - u64::from(is_last_short);
        let streams = if self.split {
            u64::from(self.typesize)
        } else {
            1
        };
        let least = match self.header_len {
            HEADER_LEN => MIN_STREAM,
            _ => MIN_STREAM_EXTENDED,
        };
        self.header_len as u64 + 4 * blocks + least * (full * streams + (blocks - full))
    }
}

/// Number of blocks of `blocksize` bytes in `nbytes` of data; 0 if either is 0.
pub(super) const fn nblocks(nbytes: u32, blocksize: u32) -> u32 {
    match (nbytes, blocksize) {
        (0, _) | (_, 0) => 0,
        // A single block, as in all short chunks, needs no division.
        _ if nbytes <= blocksize => 1,
        _ => nbytes.div_ceil(blocksize),
    }
}
