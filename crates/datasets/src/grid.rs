//! [`BandedGrid`]: how an array is divided into chunks, and the bytes of its parts.

use blosc1::MAX_NBYTES;
use bloscpack_array::{Grid, Part, Region, product};
use bloscpack_error::checked::to_usize;
use bloscpack_error::{Code, Error, Result};
use std::ops::{Deref, Range};

/// NumPy's limit on the number of axes.
const MAX_AXES: usize = 64;

/// The grid of an array, and the bytes of its rows, chunks and bands.
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
/// In most layouts a chunk contains whole rows: a band is one chunk, and the last chunk is as short as its rows. In the carray
/// proposal chunks have any shape, and chunks at the edges are padded to that shape.
///
/// [`new`](Self::new) limits every length, so that the arithmetic of the other functions cannot overflow: an array padded to
/// whole chunks has less than 2^63 bytes, a row fits into memory, and a chunk has at most [`MAX_NBYTES`] bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct BandedGrid {
    grid: Grid,
    itemsize: u64,
    padded: bool,
    row_bytes: usize,
    chunk_bytes: u32,
}

impl Deref for BandedGrid {
    type Target = Grid;

    fn deref(&self) -> &Grid {
        &self.grid
    }
}

impl BandedGrid {
    /// A grid of chunks of whole rows.
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
                grid: Grid::new(shape, chunk),
                itemsize,
                padded,
                row_bytes,
                chunk_bytes,
            }),
            Err(reason) => Err(Error::new(
                Code::Shape,
                format!(
                    "shape {shape:?} in chunks of {chunk:?} with {itemsize} bytes per element: {reason}"
                ),
            )),
        }
    }

    /// The same grid with another number of rows.
    pub(crate) fn with_rows(&self, rows: u64) -> Result<Self> {
        let mut shape = self.shape().to_vec();
        if let Some(first) = shape.first_mut() {
            *first = rows;
        }
        let chunk = self.chunk_shape().to_vec();
        Self::new(shape, chunk, self.itemsize, self.padded)
    }

    /// The shape of a row; empty where a row is an element.
    pub(crate) fn row_shape(&self) -> &[u64] {
        self.shape().split_first().map_or(&[], |(_, row)| row)
    }

    pub(crate) fn itemsize(&self) -> u64 {
        self.itemsize
    }

    pub(crate) fn rows(&self) -> u64 {
        self.shape().first().copied().unwrap_or(0)
    }

    /// Rows of a band.
    pub(crate) fn band_rows(&self) -> u64 {
        self.chunk_shape().first().copied().unwrap_or(1)
    }

    /// Bytes of a row.
    pub(crate) fn row_bytes(&self) -> usize {
        self.row_bytes
    }

    /// Bytes of `rows` rows.
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
                .shape()
                .iter()
                .zip(self.chunk_shape())
                .skip(1)
                .all(|(len, chunk)| len == chunk)
    }

    /// Whether chunks at the edges are padded to the full shape.
    pub(crate) fn is_padded(&self) -> bool {
        self.padded
    }

    pub(crate) fn chunks_per_band(&self) -> u64 {
        self.counts().iter().skip(1).product()
    }

    pub(crate) fn chunks(&self) -> u64 {
        self.counts().iter().product()
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

    /// Uncompressed bytes of this chunk; at most [`chunk_bytes`](Self::chunk_bytes).
    pub(crate) fn bytes_of(&self, chunk: u64) -> u64 {
        if self.padded {
            return self.chunk_bytes.into();
        }
        self.bytes_of_rows(self.rows_of_band(chunk))
    }

    /// Rows of the band with this number; 0 after the last band.
    pub(crate) fn rows_of_band(&self, band: u64) -> u64 {
        let begun = band.saturating_mul(self.band_rows());
        self.rows().saturating_sub(begun).min(self.band_rows())
    }

    /// The region of all elements of these rows.
    pub(crate) fn whole_rows(&self, rows: Range<u64>) -> Region {
        Region::of_rows(rows, self.shape())
    }

    /// The region of a stored chunk, including its padding.
    pub(crate) fn stored(&self, part: &Part) -> Region {
        if !self.padded {
            return self.extent(&part.at);
        }
        let axes = part.origin.iter().zip(self.chunk_shape());
        axes.map(|(begin, len)| *begin..begin + len)
            .collect::<Vec<_>>()
            .into()
    }

    /// Bytes of a full chunk, as a `usize`.
    pub(crate) fn chunk_len(&self) -> usize {
        to_usize(self.chunk_bytes)
    }
}

/// Bytes of a row and of a full chunk, or the reason why the shapes are impossible.
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
