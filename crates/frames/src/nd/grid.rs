//! [`Grid`]: where the elements of an array are in its chunks and blocks.

use crate::error::FrameError;
use crate::int::{in_memory, to_u64, to_usize};
use crate::wire::array::ArrayMeta;
use bloscpack_array::boxes::units;
pub(super) use bloscpack_array::boxes::{Positions, common, relative};
use bloscpack_array::strided::strides;
use bloscpack_error::{Error, Result};
use std::ops::Range;

/// The shape of an array, of its chunks and of their blocks.
///
/// ```text
///             axis 1, chunks of 5, blocks of 2
///            ┌─┬─┬─┬ ┌─┬─┬─┬          A chunk is stored as whole blocks: 6 where it has 5.
///   axis 0   │ │ │ ╎ │ │ │ ╎          Elements past its own end are padding with
///            └─┴─┴─┴ └─┴─┴─┴          undefined content.
///             chunk 0  chunk 1
/// ```
///
/// Chunks are numbered in C order, and so are the blocks of a chunk and the elements of a block.
///
/// A slice, a range along each axis, has passed [`check`](Self::check) before anything else is done with it. Its ends are at
/// most 2^63, and chunks and blocks have fewer than 2^32 elements along an axis, so that their sums and products with numbers
/// of chunks do not overflow.
#[derive(Debug, Clone)]
pub(super) struct Grid {
    pub shape: Vec<u64>,
    pub chunk: Vec<u64>,
    pub block: Vec<u64>,
    /// The shape of a chunk as it is stored.
    pub stored: Vec<u64>,
    /// Chunks along each axis.
    pub counts: Vec<u64>,
    /// Blocks of a chunk along each axis.
    pub blocks: Vec<u64>,
    pub itemsize: usize,
    /// Bytes of a block.
    pub block_len: usize,
    /// Bytes of a chunk as it is stored.
    pub chunk_len: usize,
    /// Bytes between elements of a block.
    pub block_strides: Vec<usize>,
}

impl Grid {
    /// The grid of an array; `None` if a chunk or a block is longer than memory.
    pub(super) fn of(meta: &ArrayMeta, itemsize: u32) -> Option<Self> {
        let wide =
            |shape: &[u32]| -> Vec<u64> { shape.iter().map(|len| u64::from(*len)).collect() };
        let (chunk, block) = (wide(&meta.chunk_shape), wide(&meta.block_shape));
        let stored = meta.stored_chunk_shape();
        let blocks = stored.iter().zip(&block);
        // Without elements there are no blocks.
        let blocks = blocks.map(|(stored, block)| stored.checked_div(*block).unwrap_or(0));
        let itemsize = to_usize(itemsize);
        let block_shape: Vec<usize> = meta.block_shape.iter().map(|len| to_usize(*len)).collect();
        Some(Self {
            shape: meta.shape.clone(),
            counts: meta.grid(),
            blocks: blocks.collect(),
            block_len: byte_len(&block, itemsize)?,
            chunk_len: byte_len(&stored, itemsize)?,
            block_strides: strides(&block_shape, itemsize),
            stored,
            itemsize,
            chunk,
            block,
        })
    }

    /// The number of chunks; `None` for 2^64 or more.
    pub(super) fn nchunks(&self) -> Option<u64> {
        if self.counts.contains(&0) {
            return Some(0);
        }
        let mut counts = self.counts.iter();
        counts.try_fold(1u64, |all, count| all.checked_mul(*count))
    }

    /// The slice that is the whole array.
    pub(super) fn whole(&self) -> Vec<Range<u64>> {
        self.shape.iter().map(|len| 0..*len).collect()
    }

    /// Refuses a slice that is not within the array.
    pub(super) fn check(&self, wanted: &[Range<u64>]) -> Result<()> {
        let mut axes = wanted.iter().zip(&self.shape);
        let fits = wanted.len() == self.shape.len()
            && axes.all(|(range, len)| range.start <= range.end && range.end <= *len);
        if fits {
            Ok(())
        } else {
            Err(FrameError::OutOfBounds {
                asked: format!("the slice {wanted:?}"),
                shape: self.shape.clone(),
            }
            .into())
        }
    }

    /// Bytes of a slice; nothing may be read or written that memory has no room for.
    pub(super) fn slice_len(&self, wanted: &[Range<u64>]) -> Result<usize> {
        let lens: Vec<u64> = wanted.iter().map(|range| range.end - range.start).collect();
        byte_len(&lens, self.itemsize)
            .ok_or_else(|| Error::usage(format!("the slice {wanted:?} is longer than memory")))
    }

    /// The positions of the chunks that a slice touches.
    pub(super) fn chunks_of(&self, wanted: &[Range<u64>]) -> Positions {
        Positions::new(units(wanted, &self.chunk))
    }

    /// Bytes of the blocks that a slice touches. More than memory has are as many as it has: the number is only compared.
    pub(super) fn work(&self, wanted: &[Range<u64>]) -> usize {
        let axes = wanted
            .iter()
            .zip(&self.chunk)
            .zip(self.block.iter().zip(&self.blocks));
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

    /// The number of the chunk at this position.
    pub(super) fn number(&self, at: &[u64]) -> u64 {
        number(at, &self.counts)
    }

    /// The first element of the chunk at this position.
    pub(super) fn origin(&self, at: &[u64]) -> Vec<u64> {
        let axes = at.iter().zip(&self.chunk);
        axes.map(|(at, len)| at * len).collect()
    }

    /// The part of the array that the chunk with this first element contains.
    pub(super) fn extent(&self, origin: &[u64]) -> Vec<Range<u64>> {
        let axes = origin.iter().zip(&self.chunk).zip(&self.shape);
        axes.map(|((begin, chunk), len)| *begin..(begin + chunk).min(*len))
            .collect()
    }

    /// The array cut along its first axes into slices of whole chunks, of up to so many bytes if that is possible. The last
    /// ones may extend past the end of the array.
    pub(super) fn bands(&self, bytes: usize) -> impl Iterator<Item = Vec<Range<u64>>> + use<> {
        let all = self.counts.iter().map(|count| (*count).max(1));
        // An array of 2^64 bytes or more is cut like one of 2^64 bytes.
        let mut left = all.fold(to_u64(self.chunk_len), u64::saturating_mul);
        let most = to_u64(bytes);
        // The first axes are cut into single chunks until the rest fits.
        let axes = self.counts.iter().zip(&self.chunk).zip(&self.shape);
        let steps = axes.map(|((count, chunk), len)| {
            let step = if left > most {
                left /= (*count).max(1);
                let chunks = (most / left.max(1)).max(1);
                chunk
                    .checked_mul(chunks)
                    .map_or(*len, |step| step.min(*len))
            } else {
                *len
            };
            step.max(1)
        });
        let steps: Vec<u64> = steps.collect();
        Positions::new(units(&self.whole(), &steps)).map(move |at| {
            let axes = at.iter().zip(&steps);
            axes.map(|(at, step)| at * step..(at + 1) * step).collect()
        })
    }

    /// The positions of the blocks that a slice touches, relative to their chunk, as is the slice.
    pub(super) fn blocks_of(&self, inside: &[Range<u64>]) -> Positions {
        Positions::new(units(inside, &self.block))
    }

    /// The number of the block at this position of a chunk.
    pub(super) fn block_number(&self, at: &[u64]) -> Result<u32> {
        let number = number(at, &self.blocks);
        u32::try_from(number).map_err(|_| Error::bug(format!("block {number} of a chunk")))
    }

    /// The part of a slice that the block at this position contains, all relative to the chunk.
    pub(super) fn in_block(&self, at: &[u64], inside: &[Range<u64>]) -> Vec<Range<u64>> {
        let axes = at.iter().zip(&self.block).zip(inside);
        axes.map(|((at, len), range)| {
            let begin = at * len;
            range.start.max(begin)..range.end.min(begin + len)
        })
        .collect()
    }

    /// The byte at which a part of a block begins in it.
    pub(super) fn block_start(&self, at: &[u64], part: &[Range<u64>]) -> Result<usize> {
        let origin: Vec<u64> = at
            .iter()
            .zip(&self.block)
            .map(|(at, len)| at * len)
            .collect();
        offset(&relative(part, &origin), &self.block_strides)
    }
}

fn number(at: &[u64], counts: &[u64]) -> u64 {
    let axes = at.iter().zip(counts);
    axes.fold(0, |number, (at, count)| number * count + at)
}

/// Bytes of so many elements along each axis; `None` if memory does not have as many.
fn byte_len(lens: &[u64], itemsize: usize) -> Option<usize> {
    if lens.contains(&0) {
        return Some(0);
    }
    let len = lens.iter().try_fold(itemsize, |len, axis| {
        len.checked_mul(usize::try_from(*axis).ok()?)
    })?;
    isize::try_from(len).ok().map(|_| len)
}

/// Elements of a slice along each axis.
pub(super) fn lens(wanted: &[Range<u64>]) -> Result<Vec<usize>> {
    wanted
        .iter()
        .map(|range| in_memory(range.end - range.start))
        .collect()
}

/// The distance in bytes from the origin to the first element of a slice.
pub(super) fn offset(slice: &[Range<u64>], strides: &[usize]) -> Result<usize> {
    let mut axes = slice.iter().zip(strides);
    axes.try_fold(0, |offset, (range, stride)| {
        Ok(offset + in_memory(range.start)? * stride)
    })
}

/// The same slice with another range along one axis.
pub(super) fn with_range(
    slice: &[Range<u64>],
    axis: usize,
    range: Range<u64>,
) -> Result<Vec<Range<u64>>> {
    let mut slice = slice.to_vec();
    *slice.get_mut(axis).ok_or_else(|| no_axis(axis))? = range;
    Ok(slice)
}

/// The number for one axis.
pub(super) fn along<T: Copy>(numbers: &[T], axis: usize) -> Result<T> {
    numbers.get(axis).copied().ok_or_else(|| no_axis(axis))
}

fn no_axis(axis: usize) -> Error {
    Error::bug(format!("no axis {axis}"))
}
