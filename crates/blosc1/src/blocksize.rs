//! The choice of the block size, and of splitting, for new chunks.

use super::layout::{EXTENDED_LEN, HEADER_LEN, Layout, MAX_BLOCKSIZE, MIN_BUFFER};
use super::{ChunkSettings, Compressor, Filter, SplitMode};

const KIB: u32 = 1024;

/// The highest level of Zstd at which C-Blosc2 splits blocks.
const MAX_SPLIT_ZSTD: u8 = 5;

/// Chooses the layout of a Blosc 1 chunk for `nbytes` of data.
pub(super) fn choose(settings: &ChunkSettings, nbytes: u32) -> Layout {
    let blocksize = choose_blocksize(settings, nbytes, splits);
    Layout {
        nbytes,
        blocksize,
        typesize: settings.typesize,
        split: splits(settings, blocksize),
        header_len: HEADER_LEN,
    }
}

/// Chooses the layout of a Blosc 2 chunk for `nbytes` of data. A block size in the settings is used
/// exactly, but never exceeds the data.
pub(super) fn choose_blosc2(settings: &ChunkSettings, nbytes: u32) -> Layout {
    let blocksize = match settings.blocksize {
        Some(exact) => exact,
        None if nbytes < u32::from(settings.typesize) => nbytes,
        None => choose_blocksize(settings, nbytes, splits_blosc2),
    };
    let typesize = settings.typesize;
    let blocksize = match nbytes {
        // C-Blosc2 refuses a block size of 0 even without data.
        0 => blocksize.max(1),
        _ => blocksize.clamp(1, nbytes),
    };
    let whole = blocksize.is_multiple_of(u32::from(typesize));
    Layout {
        nbytes,
        blocksize,
        typesize,
        split: whole && splits_blosc2(settings, blocksize),
        header_len: EXTENDED_LEN,
    }
}

/// Block sizes in KiB by level, before splitting, for compressors built for speed.
const FAST_KIB: [u32; 10] = [8, 16, 32, 64, 128, 128, 256, 256, 256, 256];
/// The same for compressors built for small output, which lose more compression at the start of
/// each block.
const DENSE_KIB: [u32; 10] = [16, 32, 64, 128, 256, 256, 512, 512, 512, 1024];
/// Shorter data is one block.
const ONE_BLOCK: u32 = 32 * KIB;

/// The block size for `nbytes` of data: a multiple of the typesize or, for less than one element, 1
/// (as in C-Blosc).
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

/// The block size by compressor, level and typesize.
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
    // Each stream of a split block is as long as an unsplit block would be. With Zstd it is only
    // long enough for the compressor to notice noise: longer streams save little more, at a third
    // of the speed.
    let longest = match settings.compressor {
        Compressor::Zstd => 64 * KIB,
        _ => 256 * KIB,
    };
    let stream = unsplit.min(longest);
    (stream * u32::from(settings.typesize)).clamp(64 * KIB, 1024 * KIB)
}

/// Decides whether blocks of this many bytes are split.
type Splits = fn(&ChunkSettings, u32) -> bool;

/// The rule of Blosc 1. Zstd looks back far enough to compress unsplit blocks well.
fn splits(settings: &ChunkSettings, blocksize: u32) -> bool {
    let wanted = match settings.split {
        SplitMode::ForwardCompat => settings.compressor != Compressor::Zstd,
        SplitMode::Auto => matches!(
            settings.compressor,
            Compressor::Blosclz | Compressor::Snappy
        ),
        SplitMode::Always => true,
        SplitMode::Never => false,
    };
    wanted && Layout::can_split(settings.typesize, blocksize)
}

/// The rule of Blosc 2, which also splits shuffled blocks of Zstd at fast levels: streams of noise
/// are then stored uncompressed, and the others lose nothing.
fn splits_blosc2(settings: &ChunkSettings, blocksize: u32) -> bool {
    let is_fast = settings.level <= MAX_SPLIT_ZSTD && settings.filter == Filter::Byte;
    splits(settings, blocksize) || is_fast && Layout::can_split(settings.typesize, blocksize)
}
