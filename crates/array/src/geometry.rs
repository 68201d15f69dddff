//! [`Geometry`]: maps the elements of an array to chunks, and to bytes of a chunk.

use crate::strided::strides;
use crate::{Grid, Region, bytes_of};
use bloscpack_error::checked::{in_memory, to_u64};
use bloscpack_error::{Error, Result};
use std::ops::Range;

/// The shapes of an array, its chunks and their blocks, and the lengths in bytes that follow from them.
///
/// ```text
///             axis 1, chunks of 5, blocks of 2
///            ┌─┬─┬─┬ ┌─┬─┬─┬          A chunk is stored as whole blocks: 6 where it has 5.
///   axis 0   │ │ │ ╎ │ │ │ ╎          Elements past its own end are padding with
///            └─┴─┴─┴ └─┴─┴─┴          undefined content.
///             chunk 0  chunk 1
/// ```
///
/// If the elements of a chunk are in C order, the chunk is a single block: [clipped](Self::clipped) to the array, or
/// [padded](Self::padded) to the shape of the other chunks.
///
/// Pass a slice (one range per axis) to [`Grid::check`] before any other method: its ends are then at most 2^63. Chunks and
/// blocks must have fewer than 2^32 elements along an axis. Sums and products with numbers of chunks then do not overflow.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Geometry {
    /// The array, cut into chunks.
    pub chunks: Grid,
    /// A chunk as stored, including padding, cut into blocks.
    pub blocks: Grid,
    /// Bytes of an element.
    pub itemsize: usize,
    /// Bytes of a block.
    pub block_len: usize,
    /// Bytes of a chunk as it is stored.
    pub chunk_len: usize,
    /// Bytes from one element of a block to the next along each axis.
    pub block_strides: Vec<usize>,
    /// Whether each block is compressed separately.
    pub(crate) is_in_blocks: bool,
    /// Whether chunks at the end of an axis hold only elements of the array, without padding.
    is_clipped: bool,
    /// Bytes from one element of a chunk to the next along each axis, if the chunk's elements are in C order.
    pub(crate) plain: Option<Vec<usize>>,
}

impl Geometry {
    /// Chunks that consist of whole blocks, each compressed separately, as in Blosc2 frames. `None` if a chunk does not fit
    /// into memory.
    ///
    /// ```
    /// use bloscpack_array::Geometry;
    /// let geometry = Geometry::in_blocks(&[10], &[5], &[2], 8).ok_or("too long")?;
    /// // A chunk of 5 elements is stored in 3 blocks of 2.
    /// assert_eq!((geometry.chunk_len, geometry.block_len), (48, 16));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn in_blocks(shape: &[u64], chunk: &[u64], block: &[u64], itemsize: usize) -> Option<Self> {
        let axes = chunk.iter().zip(block);
        // Along an axis without elements, blocks have none either.
        let stored = axes.map(|(chunk, block)| match block {
            0 => Some(0),
            block => chunk.checked_next_multiple_of(*block),
        });
        let blocks = Grid::new(stored.collect::<Option<_>>()?, block.to_vec());
        Self::new(shape, chunk, blocks, itemsize, (true, false))
    }

    /// Chunks whose elements are in C order; those at the end of an axis are padded to full shape. `None` if a chunk does not
    /// fit into memory.
    ///
    /// ```
    /// use bloscpack_array::Geometry;
    /// let geometry = Geometry::padded(&[5], &[4], 8).ok_or("too long")?;
    /// assert_eq!((geometry.chunks.count(), geometry.chunk_len), (Some(2), 32));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn padded(shape: &[u64], chunk: &[u64], itemsize: usize) -> Option<Self> {
        let blocks = Grid::new(chunk.to_vec(), chunk.to_vec());
        Self::new(shape, chunk, blocks, itemsize, (false, false))
    }

    /// Chunks of whole rows, whose elements are in C order; the last chunk ends with the array. `None` if a chunk does not fit
    /// into memory, or if the length of an axis after the first is not a multiple of its chunk length.
    #[must_use]
    pub fn clipped(shape: &[u64], chunk: &[u64], itemsize: usize) -> Option<Self> {
        let mut others = shape.iter().zip(chunk).skip(1);
        if others.any(|(len, chunk)| !len.is_multiple_of(*chunk)) {
            return None;
        }
        let blocks = Grid::new(chunk.to_vec(), chunk.to_vec());
        Self::new(shape, chunk, blocks, itemsize, (false, true))
    }

    fn new(
        shape: &[u64],
        chunk: &[u64],
        blocks: Grid,
        itemsize: usize,
        (is_in_blocks, is_clipped): (bool, bool),
    ) -> Option<Self> {
        let sizes = |shape: &[u64]| -> Option<Vec<usize>> {
            let sizes = shape.iter().map(|len| usize::try_from(*len).ok());
            sizes.collect()
        };
        // Blocks that differ along the first axis only are in C order.
        let mut inner = blocks.counts().iter().skip(1);
        let is_plain = inner.all(|count| *count <= 1);
        let chunk_strides = strides(&sizes(blocks.shape())?, itemsize);
        Some(Self {
            chunks: Grid::new(shape.to_vec(), chunk.to_vec()),
            block_len: byte_len(&Region::all(blocks.chunk_shape()), itemsize)?,
            chunk_len: byte_len(&blocks.whole(), itemsize)?,
            block_strides: strides(&sizes(blocks.chunk_shape())?, itemsize),
            plain: is_plain.then_some(chunk_strides),
            blocks,
            itemsize,
            is_in_blocks,
            is_clipped,
        })
    }

    /// The bytes of a slice.
    ///
    /// # Errors
    /// Returns `Code::Usage` for a slice that is longer than a buffer can be.
    pub fn slice_len(&self, wanted: &[Range<u64>]) -> Result<usize> {
        byte_len(wanted, self.itemsize)
            .ok_or_else(|| Error::usage(format!("the slice {wanted:?} is longer than memory")))
    }

    /// Uncompressed bytes of the chunk at this position.
    pub(crate) fn data_len(&self, at: &[u64]) -> Result<usize> {
        if self.is_clipped {
            in_memory(self.chunks.extent(at).bytes(to_u64(self.itemsize)))
        } else {
            Ok(self.chunk_len)
        }
    }

    /// The bytes that are decompressed for a slice: whole blocks if blocks are compressed separately, otherwise the slice's own
    /// bytes. `usize::MAX` for more.
    #[must_use]
    pub fn work(&self, wanted: &[Range<u64>]) -> usize {
        if !self.is_in_blocks {
            return byte_len(wanted, self.itemsize).unwrap_or(usize::MAX);
        }
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

/// The number of a block as Blosc counts them, with 32 bits.
///
/// # Errors
/// Returns `Code::Bug` for 2^32 and more.
pub fn block_number(number: u64) -> Result<u32> {
    u32::try_from(number).map_err(|_| Error::bug(format!("block {number} of a chunk")))
}

/// Bytes of a region; `None` if no buffer can be that long.
fn byte_len(region: &[Range<u64>], itemsize: usize) -> Option<usize> {
    let bytes = isize::try_from(bytes_of(region, to_u64(itemsize))).ok()?;
    usize::try_from(bytes).ok()
}

/// The lengths of a slice along each axis.
///
/// # Errors
/// Returns `Code::NoMemory` for a length that no buffer can have.
pub fn sizes(wanted: &[Range<u64>]) -> Result<Vec<usize>> {
    wanted
        .iter()
        .map(|range| in_memory(range.end - range.start))
        .collect()
}

/// The distance in bytes from position `from` to the first element of a slice, which must not begin before it on any axis.
///
/// # Errors
/// Returns `Code::NoMemory` for a distance along an axis that no buffer can have.
pub fn offset(slice: &[Range<u64>], from: &[u64], strides: &[usize]) -> Result<usize> {
    let mut axes = slice.iter().zip(from).zip(strides);
    axes.try_fold(0, |offset, ((range, from), stride)| {
        Ok(offset + in_memory(range.start - from)? * stride)
    })
}

/// Replaces the range along one axis.
///
/// # Errors
/// Returns `Code::Bug` if the axis does not exist.
pub fn with_range(slice: &[Range<u64>], axis: usize, range: Range<u64>) -> Result<Region> {
    let mut slice = slice.to_vec();
    *slice.get_mut(axis).ok_or_else(|| no_axis(axis))? = range;
    Ok(slice.into())
}

/// The number for one axis.
///
/// # Errors
/// Returns `Code::Bug` if the axis does not exist.
pub fn along<T: Copy>(numbers: &[T], axis: usize) -> Result<T> {
    numbers.get(axis).copied().ok_or_else(|| no_axis(axis))
}

fn no_axis(axis: usize) -> Error {
    Error::bug(format!("no axis {axis}"))
}
