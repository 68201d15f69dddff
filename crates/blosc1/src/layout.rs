//! Where the blocks of a chunk lie and how large to make them.

use std::ops::Range;

use super::header::{EXTENDED_LEN, HEADER_LEN};
use super::{ChunkHeader, ChunkSettings, Compressor, Filter};

/// Below this many bytes nothing is compressed, and below this many elements no block is split.
pub(super) const MIN_BUFFER: u32 = 128;
/// The largest block that C-Blosc 1.21 reads.
pub(super) const MAX_BLOCKSIZE: u32 = (i32::MAX as u32 - 255 * 4) / 3;
/// Largest typesize whose blocks are split.
const MAX_SPLIT: u8 = 16;
/// Highest level of Zstd at which C-Blosc2 splits blocks.
const MAX_SPLIT_ZSTD: u8 = 5;
/// Shortest stream: its length, and a byte.
const MIN_STREAM: u64 = 5;
/// The same where a length alone can stand for zeros.
const MIN_STREAM_EXTENDED: u64 = 4;

const KIB: u32 = 1024;

/// How the data of a chunk is cut into blocks and streams.
#[derive(Clone, Copy, Debug)]
pub(super) struct Layout {
    pub nbytes: u32,
    pub blocksize: u32,
    pub typesize: u8,
    pub split: bool,
    /// Bytes of the header, after which the table of blocks follows.
    pub header_len: usize,
}

impl Layout {
    /// The layout that a header describes.
    pub fn of(header: &ChunkHeader) -> Self {
        Self {
            nbytes: header.nbytes,
            // Blosc 2 takes a block size beyond the data for one that ends with it.
            blocksize: header.blocksize.min(header.nbytes),
            typesize: header.typesize,
            split: header.is_split(),
            header_len: header.len(),
        }
    }

    /// Whether blocks of this size may be split at all.
    pub const fn can_split(typesize: u8, blocksize: u32) -> bool {
        typesize > 0 && typesize <= MAX_SPLIT && blocksize / typesize as u32 >= MIN_BUFFER
    }

    /// Chooses the layout for `nbytes` of data.
    pub fn choose(settings: &ChunkSettings, nbytes: u32) -> Self {
        let blocksize = choose_blocksize(settings, nbytes, splits);
        Self {
            nbytes,
            blocksize,
            typesize: settings.typesize,
            split: splits(settings, blocksize),
            header_len: HEADER_LEN,
        }
    }

    /// Chooses the layout for `nbytes` of data in a chunk of Blosc 2, whose block size is exactly
    /// that of the settings if they have one (but never beyond the data).
    pub fn choose_extended(settings: &ChunkSettings, nbytes: u32) -> Self {
        let blocksize = match settings.blocksize {
            Some(exact) => exact,
            None if nbytes < u32::from(settings.typesize) => nbytes,
            None => choose_blocksize(settings, nbytes, splits_extended),
        };
        let typesize = settings.typesize;
        let blocksize = match nbytes {
            // C-Blosc2 refuses a block size of 0 even where there is nothing to cut.
            0 => blocksize.max(1),
            _ => blocksize.clamp(1, nbytes),
        };
        let whole = blocksize.is_multiple_of(u32::from(typesize));
        Self {
            nbytes,
            blocksize,
            typesize,
            split: whole && splits_extended(settings, blocksize),
            header_len: EXTENDED_LEN,
        }
    }

    /// How many blocks there are.
    pub fn nblocks(&self) -> u32 {
        nblocks(self.nbytes, self.blocksize)
    }

    /// The bytes of data that a block holds; empty beyond the last.
    pub fn block(&self, index: u32) -> Range<usize> {
        let clamp = |at: u64| at.min(u64::from(self.nbytes));
        let start = clamp(u64::from(index) * u64::from(self.blocksize));
        let end = clamp(start + u64::from(self.blocksize));
        to_usize(start)..to_usize(end)
    }

    /// The block that holds this byte of data.
    pub fn index_of(&self, at: usize) -> u32 {
        let blocksize = self.blocksize.max(1) as usize;
        u32::try_from(at / blocksize).unwrap_or(u32::MAX)
    }

    /// How many streams a block of this many bytes has. A short block is never split.
    pub fn streams(&self, block_len: usize) -> usize {
        if self.split && block_len == self.blocksize as usize {
            usize::from(self.typesize)
        } else {
            1
        }
    }

    /// Where the blocks' starts end and the first block can begin.
    pub fn table_end(&self) -> usize {
        self.header_len + 4 * self.nblocks() as usize
    }

    /// Bytes of the shortest chunk with this layout, if each stream takes but one byte.
    pub fn smallest_chunk(&self) -> u64 {
        let full = u64::from(self.nbytes / self.blocksize.max(1));
        let blocks = u64::from(self.nblocks());
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

/// How many blocks of `blocksize` bytes hold `nbytes`; none if both are 0.
pub(super) const fn nblocks(nbytes: u32, blocksize: u32) -> u32 {
    if blocksize == 0 {
        0
    } else {
        nbytes.div_ceil(blocksize)
    }
}

/// Block sizes in KiB by level, before splitting, for compressors made for speed.
const FAST_KIB: [u32; 10] = [8, 16, 32, 64, 128, 128, 256, 256, 256, 256];
/// The same for compressors made for small output, which lose more at each start.
const DENSE_KIB: [u32; 10] = [16, 32, 64, 128, 256, 256, 512, 512, 512, 1024];
/// Smallest data for which the tables count; less is one block.
const ONE_BLOCK: u32 = 32 * KIB;

/// The block size for `nbytes` of data: a multiple of the typesize, unless it is 1 because not
/// even one element is there (C-Blosc does the same).
fn choose_blocksize(settings: &ChunkSettings, nbytes: u32, splits: Splits) -> u32 {
    let typesize = u32::from(settings.typesize);
    if nbytes < typesize {
        return 1;
    }
    let wanted = match settings.blocksize {
        Some(forced) => forced.clamp(MIN_BUFFER.max(typesize), MAX_BLOCKSIZE),
        None => automatic_blocksize(settings, nbytes, splits),
    };
    let size = wanted.min(nbytes);
    size - size % typesize
}

/// The block size by compressor and level.
fn automatic_blocksize(settings: &ChunkSettings, nbytes: u32, splits: Splits) -> u32 {
    let level = usize::from(settings.level.min(9));
    let table = if settings.compressor.is_thorough() {
        DENSE_KIB
    } else {
        FAST_KIB
    };
    let unsplit = if nbytes < ONE_BLOCK {
        nbytes
    } else {
        table[level] * KIB
    };
    if level == 0 || !splits(settings, unsplit) {
        return unsplit;
    }
    // Each stream of a split block gets what an unsplit block would have been. Zstd's only as much as
    // it takes to see that a plane is noise: of longer ones it makes a little less, at a third of the speed.
    let longest = match settings.compressor {
        Compressor::Zstd => 64 * KIB,
        _ => 256 * KIB,
    };
    let stream = unsplit.min(longest);
    (stream * u32::from(settings.typesize)).clamp(64 * KIB, 1024 * KIB)
}

/// Whether blocks of so many bytes are split.
type Splits = fn(&ChunkSettings, u32) -> bool;

/// Zstd looks far enough back not to need it.
fn splits(settings: &ChunkSettings, blocksize: u32) -> bool {
    settings.compressor != Compressor::Zstd && Layout::can_split(settings.typesize, blocksize)
}

/// In chunks of Blosc 2, Zstd's blocks are split as well at levels made for speed, if they are
/// shuffled: planes of noise are then stored, and nothing is lost for the others.
fn splits_extended(settings: &ChunkSettings, blocksize: u32) -> bool {
    let is_fast = settings.level <= MAX_SPLIT_ZSTD && settings.filter == Filter::Byte;
    splits(settings, blocksize) || is_fast && Layout::can_split(settings.typesize, blocksize)
}

/// Bytes within a chunk, which is shorter than 2 GiB, as an index.
fn to_usize(at: u64) -> usize {
    usize::try_from(at).unwrap_or(usize::MAX)
}
