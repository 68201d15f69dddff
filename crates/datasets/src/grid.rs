//! [`Grid`]: the shape of an array, and how it is divided into chunks.

use crate::convert::to_usize;
use crate::error::DatasetError;
use blosc1::MAX_NBYTES;
use bloscpack_error::{Error, Result};
use std::ops::Range;

/// The greatest number of axes of an array of NumPy.
const MAX_AXES: usize = 64;

/// The shape of an array and of its chunks. The last chunk along an axis may be short.
///
/// ```text
///            axis 1
///          ┌─────┬─────┬──┐
///   axis 0 │  0  │  1  │ 2│   a band: all chunks of the same rows
///          ├─────┼─────┼──┤
///          │  3  │  4  │ 5│   chunks are numbered in C order
///          └─────┴─────┴──┘
/// ```
///
/// In most layouts a chunk has whole rows, so that a band is one chunk, and the last one is as short as its rows. In the carray
/// proposal chunks have any shape, and those at the edges are padded to it.
///
/// [`new`](Self::new) bounds every length, so that the arithmetic of the other functions cannot overflow: an array padded to
/// whole chunks has at most 2^63-1 bytes, a row fits into memory, and a chunk has at most 2^31 bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Grid {
    shape: Vec<u64>,
    chunk: Vec<u64>,
    itemsize: u64,
    padded: bool,
    row_bytes: usize,
    chunk_bytes: u32,
}

/// A chunk, and the part of it that is selected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ChunkPart {
    /// The number of the chunk.
    pub chunk: u64,
    /// The index of its first element in the array.
    pub origin: Vec<u64>,
    /// The indices of the selected elements in the array.
    pub selected: Vec<Range<u64>>,
}

/// The product, if it is at most 2^63-1.
fn product(factors: impl IntoIterator<Item = u64> + Clone) -> Option<u64> {
    // A zero must not hide that the product of the others is too large.
    let mut nonzero = factors.clone().into_iter().filter(|factor| *factor > 0);
    let product = nonzero.try_fold(1u64, |product, factor| product.checked_mul(factor))?;
    i64::try_from(product).ok()?;
    let is_empty = factors.into_iter().any(|factor| factor == 0);
    Some(if is_empty { 0 } else { product })
}

/// The lengths of the ranges.
pub(crate) fn lens(selection: &[Range<u64>]) -> Vec<u64> {
    selection
        .iter()
        .map(|range| range.end.saturating_sub(range.start))
        .collect()
}

/// The first indices of the ranges.
pub(crate) fn starts(selection: &[Range<u64>]) -> Vec<u64> {
    selection.iter().map(|range| range.start).collect()
}

impl Grid {
    /// A grid of whole rows.
    pub(crate) fn of_rows(shape: Vec<u64>, chunk_rows: u64, itemsize: u64) -> Result<Self> {
        let mut chunk = shape.clone();
        if let Some(rows) = chunk.first_mut() {
            *rows = chunk_rows;
        }
        Self::new(shape, chunk, itemsize, false)
    }

    /// A grid of chunks of any shape, padded at the edges.
    #[cfg(feature = "documents")]
    pub(crate) fn padded(shape: Vec<u64>, chunk: Vec<u64>, itemsize: u64) -> Result<Self> {
        Self::new(shape, chunk, itemsize, true)
    }

    fn new(shape: Vec<u64>, chunk: Vec<u64>, itemsize: u64, padded: bool) -> Result<Self> {
        match bounded(&shape, &chunk, itemsize) {
            Ok((row_bytes, chunk_bytes)) => Ok(Self {
                shape,
                chunk,
                itemsize,
                padded,
                row_bytes,
                chunk_bytes,
            }),
            Err(reason) => Err(DatasetError::Shape {
                shape,
                chunk_shape: chunk,
                itemsize,
                reason,
            }
            .into()),
        }
    }

    /// The same grid with another number of rows.
    pub(crate) fn with_rows(&self, rows: u64) -> Result<Self> {
        let mut shape = self.shape.clone();
        if let Some(first) = shape.first_mut() {
            *first = rows;
        }
        Self::new(shape, self.chunk.clone(), self.itemsize, self.padded)
    }

    pub(crate) fn shape(&self) -> &[u64] {
        &self.shape
    }

    /// The shape of a row; empty where a row is an element.
    pub(crate) fn row_shape(&self) -> &[u64] {
        self.shape.split_first().map_or(&[], |(_, row)| row)
    }

    pub(crate) fn chunk_shape(&self) -> &[u64] {
        &self.chunk
    }

    pub(crate) fn itemsize(&self) -> u64 {
        self.itemsize
    }

    pub(crate) fn rows(&self) -> u64 {
        self.shape.first().copied().unwrap_or(0)
    }

    /// Rows of a band.
    pub(crate) fn band_rows(&self) -> u64 {
        self.chunk.first().copied().unwrap_or(1)
    }

    /// Bytes of a row.
    pub(crate) fn row_bytes(&self) -> usize {
        self.row_bytes
    }

    /// Bytes of so many rows.
    pub(crate) fn bytes_of_rows(&self, rows: u64) -> u64 {
        rows * self.row_bytes as u64
    }

    /// Bytes of the array.
    pub(crate) fn nbytes(&self) -> u64 {
        self.bytes_of_rows(self.rows())
    }

    /// Bytes of a full band, without padding.
    pub(crate) fn band_bytes(&self) -> u64 {
        self.bytes_of_rows(self.band_rows())
    }

    /// Whether each chunk has whole rows, so that the bytes of its rows are contiguous.
    pub(crate) fn is_rows(&self) -> bool {
        !self.padded
            || self
                .shape
                .iter()
                .zip(&self.chunk)
                .skip(1)
                .all(|(len, chunk)| len == chunk)
    }

    /// Whether the chunks at the edges are padded to the shape of the others.
    pub(crate) fn is_padded(&self) -> bool {
        self.padded
    }

    /// Chunks along each axis.
    fn counts(&self) -> impl Iterator<Item = u64> {
        self.shape
            .iter()
            .zip(&self.chunk)
            .map(|(len, chunk)| len.div_ceil(*chunk))
    }

    pub(crate) fn chunks_per_band(&self) -> u64 {
        self.counts().skip(1).product()
    }

    pub(crate) fn chunks(&self) -> u64 {
        self.counts().product()
    }

    /// The number of full bands.
    pub(crate) fn full_bands(&self) -> u64 {
        self.rows() / self.band_rows()
    }

    /// Rows of the full bands.
    pub(crate) fn full_rows(&self) -> u64 {
        self.full_bands() * self.band_rows()
    }

    /// The number of chunks in full bands.
    pub(crate) fn full_chunks(&self) -> u64 {
        self.full_bands() * self.chunks_per_band()
    }

    /// Bytes of a full chunk.
    pub(crate) fn chunk_bytes(&self) -> u32 {
        self.chunk_bytes
    }

    /// Bytes that this chunk has. It is no longer than a full one.
    pub(crate) fn bytes_of(&self, chunk: u64) -> u64 {
        if self.padded {
            return self.chunk_bytes.into();
        }
        self.bytes_of_rows(self.rows_of_band(chunk))
    }

    /// Rows of the band with this number; 0 after the last one.
    pub(crate) fn rows_of_band(&self, band: u64) -> u64 {
        let begun = band.saturating_mul(self.band_rows());
        self.rows().saturating_sub(begun).min(self.band_rows())
    }

    /// Refuses a selection that is not inside of the array.
    pub(crate) fn check(&self, selection: &[Range<u64>]) -> Result<()> {
        let fits = selection.len() == self.shape.len()
            && selection
                .iter()
                .zip(&self.shape)
                .all(|(range, len)| range.start <= range.end && range.end <= *len);
        if fits {
            Ok(())
        } else {
            Err(Error::usage(format!(
                "slice {selection:?} is not inside of an array of shape {:?}",
                self.shape
            )))
        }
    }

    /// Bytes of a selection that was checked.
    pub(crate) fn bytes_of_selection(&self, selection: &[Range<u64>]) -> u64 {
        lens(selection).iter().product::<u64>() * self.itemsize
    }

    /// All elements of these rows.
    pub(crate) fn whole_rows(&self, rows: Range<u64>) -> Vec<Range<u64>> {
        let rest = self.shape.iter().skip(1).map(|len| 0..*len);
        std::iter::once(rows).chain(rest).collect()
    }

    /// The chunks that contain selected elements, in their order, each with the part that is selected.
    pub(crate) fn parts(&self, selection: &[Range<u64>]) -> Parts<'_> {
        let chunks: Vec<Range<u64>> = selection
            .iter()
            .zip(&self.chunk)
            .map(|(range, len)| {
                if range.is_empty() {
                    0..0
                } else {
                    range.start / len..range.end.div_ceil(*len)
                }
            })
            .collect();
        let is_empty = chunks.iter().any(Range::is_empty);
        Parts {
            grid: self,
            selection: selection.to_vec(),
            next: (!is_empty).then(|| starts(&chunks)),
            chunks,
        }
    }

    /// The index in the array of the first element of the chunk at this position.
    fn origin(&self, position: &[u64]) -> Vec<u64> {
        position
            .iter()
            .zip(&self.chunk)
            .map(|(index, len)| index * len)
            .collect()
    }

    /// The number of the chunk at this position.
    fn number(&self, position: &[u64]) -> u64 {
        position
            .iter()
            .zip(self.counts())
            .fold(0, |number, (index, count)| number * count + index)
    }

    /// The shape of the elements of a chunk as it is stored.
    pub(crate) fn stored_shape(&self, part: &ChunkPart) -> Vec<u64> {
        if self.padded {
            return self.chunk.clone();
        }
        let rows = self.rows_of_band(part.chunk);
        std::iter::once(rows)
            .chain(self.chunk.iter().skip(1).copied())
            .collect()
    }

    /// Bytes of a full chunk in memory.
    pub(crate) fn chunk_len(&self) -> usize {
        to_usize(self.chunk_bytes)
    }
}

/// Bytes of a row and of a full chunk, or the reason the shapes are impossible.
fn bounded(
    shape: &[u64],
    chunk: &[u64],
    itemsize: u64,
) -> std::result::Result<(usize, u32), String> {
    if shape.is_empty() || shape.len() > MAX_AXES || shape.len() != chunk.len() {
        return Err(format!(
            "should be 1 to {MAX_AXES} axes, the same number for both"
        ));
    }
    if itemsize == 0 || chunk.contains(&0) || shape.iter().skip(1).any(|len| *len == 0) {
        return Err("elements, rows and chunks should have at least one byte".to_owned());
    }
    let bytes = |lens: &[u64]| product(lens.iter().copied().chain([itemsize]));
    let chunk_bytes = bytes(chunk)
        .and_then(|bytes| u32::try_from(bytes).ok())
        .filter(|bytes| *bytes <= MAX_NBYTES)
        .ok_or_else(|| format!("a chunk should have at most {MAX_NBYTES} bytes"))?;
    let padded: Option<Vec<u64>> = shape
        .iter()
        .zip(chunk)
        .map(|(len, chunk)| len.checked_add(*chunk))
        .collect();
    if padded.and_then(|padded| bytes(&padded)).is_none() {
        return Err("the array should have less than 2^63 bytes".to_owned());
    }
    let row_bytes = shape
        .split_first()
        .and_then(|(_, row)| bytes(row))
        .and_then(|bytes| usize::try_from(bytes).ok())
        .ok_or_else(|| "a row should fit into memory".to_owned())?;
    Ok((row_bytes, chunk_bytes))
}

/// See [`Grid::parts`].
pub(crate) struct Parts<'a> {
    grid: &'a Grid,
    selection: Vec<Range<u64>>,
    /// The positions of the chunks along each axis.
    chunks: Vec<Range<u64>>,
    /// The position of the next chunk.
    next: Option<Vec<u64>>,
}

impl Iterator for Parts<'_> {
    type Item = ChunkPart;

    fn next(&mut self) -> Option<ChunkPart> {
        let position = self.next.take()?;
        let origin = self.grid.origin(&position);
        let selected = self.selection.iter().zip(&origin).zip(&self.grid.chunk);
        let selected = selected
            .map(|((range, origin), len)| range.start.max(*origin)..range.end.min(origin + len));
        let part = ChunkPart {
            chunk: self.grid.number(&position),
            selected: selected.collect(),
            origin,
        };
        self.next = following(position, &self.chunks);
        Some(part)
    }
}

/// The next position in C order.
fn following(mut position: Vec<u64>, within: &[Range<u64>]) -> Option<Vec<u64>> {
    for (index, range) in position.iter_mut().zip(within).rev() {
        *index += 1;
        if *index < range.end {
            return Some(position);
        }
        *index = range.start;
    }
    None
}
