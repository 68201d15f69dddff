//! [`NdGrid`]: where the elements of an array are in its chunks and blocks.

use crate::wire::array::ArrayMeta;
use bloscpack_array::strided::strides;
use bloscpack_array::{Grid, Region, bytes_of};
use bloscpack_error::checked::{in_memory, to_u64, to_usize};
use bloscpack_error::{Error, Result};
use std::ops::Range;

/// The grid of the chunks of an array, and that of the blocks of a chunk.
///
/// ```text
///             axis 1, chunks of 5, blocks of 2
///            ┌─┬─┬─┬ ┌─┬─┬─┬          A chunk is stored as whole blocks: 6 where it has 5.
///   axis 0   │ │ │ ╎ │ │ │ ╎          Elements past its own end are padding with
///            └─┴─┴─┴ └─┴─┴─┴          undefined content.
///             chunk 0  chunk 1
/// ```
///
/// A slice, a range along each axis, has passed the [`check`](Grid::check) of the array before anything else is done with it. Its
/// ends are at most 2^63, and chunks and blocks have fewer than 2^32 elements along an axis, so that their sums and products with
/// numbers of chunks do not overflow.
#[derive(Debug, Clone)]
pub(super) struct NdGrid {
    /// The array in chunks.
    pub chunks: Grid,
    /// A chunk as it is stored in blocks.
    pub blocks: Grid,
    pub itemsize: usize,
    /// Bytes of a block.
    pub block_len: usize,
    /// Bytes of a chunk as it is stored.
    pub chunk_len: usize,
    /// Bytes between elements of a block.
    pub block_strides: Vec<usize>,
}

impl NdGrid {
    /// The grid of an array; `None` if a chunk or a block is longer than memory.
    pub(super) fn of(meta: &ArrayMeta, itemsize: u32) -> Option<Self> {
        let wide = |shape: &[u32]| shape.iter().map(|len| u64::from(*len)).collect();
        let (chunk, block): (_, Vec<u64>) = (wide(&meta.chunk_shape), wide(&meta.block_shape));
        let blocks = Grid::new(meta.stored_chunk_shape(), block);
        let itemsize = to_usize(itemsize);
        let block_shape: Vec<usize> = meta.block_shape.iter().map(|len| to_usize(*len)).collect();
        Some(Self {
            chunks: Grid::new(meta.shape.clone(), chunk),
            block_len: byte_len(&Region::all(blocks.chunk_shape()), itemsize)?,
            chunk_len: byte_len(&blocks.whole(), itemsize)?,
            block_strides: strides(&block_shape, itemsize),
            blocks,
            itemsize,
        })
    }

    /// Bytes of a slice; nothing may be read or written that memory has no room for.
    pub(super) fn slice_len(&self, wanted: &[Range<u64>]) -> Result<usize> {
        byte_len(wanted, self.itemsize)
            .ok_or_else(|| Error::usage(format!("the slice {wanted:?} is longer than memory")))
    }

    /// Bytes of the blocks that a slice touches. More than memory has are as many as it has: the number is only compared.
    pub(super) fn work(&self, wanted: &[Range<u64>]) -> usize {
        let axes = wanted
            .iter()
            .zip(self.chunks.chunk_shape())
            .zip(self.blocks.chunk_shape().iter().zip(self.blocks.counts()));
        axes.fold(self.block_len, |work, ((range, chunk), (block, blocks))| {
            if range.is_empty() || *chunk == 0 || *block == 0 {
                return 0;
            }
            let row = |at: u64| at / chunk * blocks + at % chunk / block;
            let rows = row(range.end - 1) - row(range.start) + 1;
            // Saturates: the result is only compared with a threshold.
            usize::try_from(rows).map_or(usize::MAX, |rows| work.saturating_mul(rows))
        })
    }
}

/// The number of a block, of which a chunk has fewer than 2^32.
pub(super) fn block_number(number: u64) -> Result<u32> {
    u32::try_from(number).map_err(|_| Error::bug(format!("block {number} of a chunk")))
}

/// Bytes of a region; `None` if memory does not have as many.
fn byte_len(region: &[Range<u64>], itemsize: usize) -> Option<usize> {
    let bytes = isize::try_from(bytes_of(region, to_u64(itemsize))).ok()?;
    usize::try_from(bytes).ok()
}

/// Elements of a slice along each axis.
pub(super) fn lens(wanted: &[Range<u64>]) -> Result<Vec<usize>> {
    wanted
        .iter()
        .map(|range| in_memory(range.end - range.start))
        .collect()
}

/// The distance in bytes from a position to the first element of a slice.
pub(super) fn offset(slice: &[Range<u64>], from: &[u64], strides: &[usize]) -> Result<usize> {
    let mut axes = slice.iter().zip(from).zip(strides);
    axes.try_fold(0, |offset, ((range, from), stride)| {
        Ok(offset + in_memory(range.start - from)? * stride)
    })
}

/// The same slice with another range along one axis.
pub(super) fn with_range(slice: &[Range<u64>], axis: usize, range: Range<u64>) -> Result<Region> {
    let mut slice = slice.to_vec();
    *slice.get_mut(axis).ok_or_else(|| no_axis(axis))? = range;
    Ok(slice.into())
}

/// The number for one axis.
pub(super) fn along<T: Copy>(numbers: &[T], axis: usize) -> Result<T> {
    numbers.get(axis).copied().ok_or_else(|| no_axis(axis))
}

fn no_axis(axis: usize) -> Error {
    Error::bug(format!("no axis {axis}"))
}
