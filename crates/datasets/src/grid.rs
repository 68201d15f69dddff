//! [`Grid`]: how an array is cut into chunks.

use blosc1::{Fault, MAX_NBYTES};
use bloscpack_error::{Error, Result};
use std::ops::Range;

/// The most axes that an array of NumPy has.
const MAX_AXES: usize = 64;

/// The shape of an array and of its chunks, the last of which along an axis may be short.
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
/// In most layouts a chunk has whole rows, so that bands and chunks are the same, and the last is
/// as short as its rows. In the carray proposal chunks have any shape, and those at the edges are
/// padded to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Grid {
    shape: Vec<u64>,
    chunk: Vec<u64>,
    itemsize: u64,
    padded: bool,
}

/// A chunk, and the part of it that is wanted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Part {
    /// The number of the chunk.
    pub chunk: u64,
    /// Where its first element lies in the array.
    pub origin: Vec<u64>,
    /// What is wanted, in the array.
    pub wanted: Vec<Range<u64>>,
}

fn wrong(what: String) -> Error {
    crate::error::dataset(Fault::Damaged, what)
}

/// The product, if it is one that bytes can have.
pub(crate) fn product(factors: &[u64]) -> Option<u64> {
    // A zero somewhere must not hide that the rest cannot be.
    let mut product = factors.iter().filter(|factor| **factor > 0);
    let product = product.try_fold(1u64, |product, factor| product.checked_mul(*factor))?;
    let is_empty = factors.contains(&0);
    i64::try_from(product).ok()?;
    Some(if is_empty { 0 } else { product })
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
    pub(crate) fn padded(shape: Vec<u64>, chunk: Vec<u64>, itemsize: u64) -> Result<Self> {
        Self::new(shape, chunk, itemsize, true)
    }

    fn new(shape: Vec<u64>, chunk: Vec<u64>, itemsize: u64, padded: bool) -> Result<Self> {
        if shape.is_empty() || shape.len() > MAX_AXES || shape.len() != chunk.len() {
            let what = format!("an array of shape {shape:?} in chunks of {chunk:?}");
            return Err(wrong(format!(
                "{what}: 1 to {MAX_AXES} axes can be, the same for both"
            )));
        }
        if itemsize == 0 || chunk.contains(&0) || shape.iter().skip(1).any(|len| *len == 0) {
            let what = "chunks, elements and rows have at least one byte each";
            return Err(wrong(format!(
                "shape {shape:?}, chunks of {chunk:?}, {itemsize} bytes an element: {what}"
            )));
        }
        let grid = Self {
            shape,
            chunk,
            itemsize,
            padded,
        };
        let bytes = |lens: &[u64]| product(lens).and_then(|count| count.checked_mul(itemsize));
        let chunk_bytes = bytes(&grid.chunk).filter(|bytes| *bytes <= MAX_NBYTES.into());
        if chunk_bytes.is_none() {
            let what = format!(
                "chunks of shape {:?} with {itemsize} bytes an element",
                grid.chunk
            );
            return Err(wrong(format!(
                "{what}: a chunk has at most {MAX_NBYTES} bytes"
            )));
        }
        // Everything below multiplies without looking again.
        let whole: Vec<u64> = grid
            .shape
            .iter()
            .zip(&grid.chunk)
            .map(|(len, chunk)| len.saturating_add(*chunk))
            .collect();
        if bytes(&whole).is_none_or(|bytes| i64::try_from(bytes).is_err()) {
            return Err(wrong(format!(
                "an array of shape {:?} has more bytes than can be counted",
                grid.shape
            )));
        }
        Ok(grid)
    }

    /// The same with another number of rows.
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

    /// Elements of a row.
    pub(crate) fn row_len(&self) -> u64 {
        product(self.shape.get(1..).unwrap_or_default()).unwrap_or(0)
    }

    /// Bytes of a row.
    pub(crate) fn row_bytes(&self) -> u64 {
        self.row_len().saturating_mul(self.itemsize)
    }

    /// Bytes of the array.
    pub(crate) fn nbytes(&self) -> u64 {
        self.rows().saturating_mul(self.row_bytes())
    }

    /// Whether each chunk has whole rows, so that the bytes of rows lie side by side in it.
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
        self.counts().skip(1).fold(1, u64::saturating_mul)
    }

    pub(crate) fn chunks(&self) -> u64 {
        self.counts().fold(1, u64::saturating_mul)
    }

    /// Bands that are full.
    pub(crate) fn full_bands(&self) -> u64 {
        self.rows().checked_div(self.band_rows()).unwrap_or(0)
    }

    /// Bytes of a full chunk.
    pub(crate) fn chunk_bytes(&self) -> u64 {
        product(&self.chunk)
            .unwrap_or(0)
            .saturating_mul(self.itemsize)
    }

    /// Bytes that this chunk has to have.
    pub(crate) fn bytes_of(&self, chunk: u64) -> u64 {
        if self.padded {
            return self.chunk_bytes();
        }
        let begun = chunk.saturating_mul(self.band_rows());
        let rows = self.rows().saturating_sub(begun).min(self.band_rows());
        rows.saturating_mul(self.row_bytes())
    }

    /// Refuses what lies outside of the array.
    pub(crate) fn check(&self, wanted: &[Range<u64>]) -> Result<()> {
        let fits = wanted.len() == self.shape.len()
            && wanted
                .iter()
                .zip(&self.shape)
                .all(|(range, len)| range.start <= range.end && range.end <= *len);
        match fits {
            true => Ok(()),
            false => Err(Error::usage(format!(
                "the slice {wanted:?} does not lie in an array of shape {:?}",
                self.shape
            ))),
        }
    }

    /// The whole of these rows.
    pub(crate) fn of_whole_rows(&self, rows: Range<u64>) -> Vec<Range<u64>> {
        let rest = self.shape.iter().skip(1).map(|len| 0..*len);
        std::iter::once(rows).chain(rest).collect()
    }

    /// The chunks that a box touches, in their order, each with the part of it that lies in the box.
    pub(crate) fn parts(&self, wanted: &[Range<u64>]) -> Parts<'_> {
        let along = wanted.iter().zip(&self.chunk);
        let along: Vec<Range<u64>> = along
            .map(|(range, len)| match range.is_empty() {
                true => 0..0,
                false => range.start.checked_div(*len).unwrap_or(0)..range.end.div_ceil(*len),
            })
            .collect();
        let next = along
            .iter()
            .all(|range| !range.is_empty())
            .then(|| along.iter().map(|range| range.start).collect());
        Parts {
            grid: self,
            wanted: wanted.to_vec(),
            along,
            next,
        }
    }

    /// Where a chunk's first element lies in the array.
    fn origin(&self, at: &[u64]) -> Vec<u64> {
        at.iter()
            .zip(&self.chunk)
            .map(|(at, len)| at.saturating_mul(*len))
            .collect()
    }

    fn number(&self, at: &[u64]) -> u64 {
        at.iter().zip(self.counts()).fold(0, |number, (at, count)| {
            number.saturating_mul(count).saturating_add(*at)
        })
    }

    /// The shape in which the elements of a chunk lie in its bytes.
    pub(crate) fn stored_shape(&self, part: &Part) -> Vec<u64> {
        if self.padded {
            return self.chunk.clone();
        }
        let rows = self
            .rows()
            .saturating_sub(part.origin.first().copied().unwrap_or(0))
            .min(self.band_rows());
        std::iter::once(rows)
            .chain(self.chunk.iter().skip(1).copied())
            .collect()
    }
}

/// See [`Grid::parts`].
pub(crate) struct Parts<'a> {
    grid: &'a Grid,
    wanted: Vec<Range<u64>>,
    along: Vec<Range<u64>>,
    next: Option<Vec<u64>>,
}

impl Iterator for Parts<'_> {
    type Item = Part;

    fn next(&mut self) -> Option<Part> {
        let at = self.next.take()?;
        let origin = self.grid.origin(&at);
        let wanted = self.wanted.iter().zip(&origin).zip(&self.grid.chunk);
        let wanted = wanted.map(|((range, origin), len)| {
            range.start.max(*origin)..range.end.min(origin.saturating_add(*len))
        });
        let part = Part {
            chunk: self.grid.number(&at),
            wanted: wanted.collect(),
            origin,
        };
        self.next = following(at, &self.along);
        Some(part)
    }
}

/// The next position of a box in C order.
fn following(mut at: Vec<u64>, within: &[Range<u64>]) -> Option<Vec<u64>> {
    for axis in (0..at.len()).rev() {
        let (position, range) = (at.get_mut(axis)?, within.get(axis)?);
        *position = position.saturating_add(1);
        if *position < range.end {
            return Some(at);
        }
        *position = range.start;
    }
    None
}
