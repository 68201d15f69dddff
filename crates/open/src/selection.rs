//! [`Selection`]: the part of an input to read.

use super::error::{no_chunk, not_a_table, number_of};
use super::text::count;
use super::{Region, Slice};
use bloscpack_array::{Array, Grid, Window};
use bloscpack_error::checked::len_of;
use bloscpack_error::{Code, Error, Result};
use std::ops::Range;

/// The part of an input to read; by default all of it.
///
/// ```
/// use bloscpack_open::{Bounds, Part, Selection};
/// let first_rows = Selection::of(Part::Rows(Bounds::from(..10))).columns(["price"]);
/// assert_eq!(first_rows.columns, ["price"]);
///
/// // A part that the input does not have is an error.
/// # use bloscpack_open::{Options, open_source};
/// let file = bloscpack::compress(b"content")?;
/// let mut container = open_source(file, &Options::new())?;
/// let error = container.copy(&Selection::of(Part::Chunk(7)), &mut Vec::new()).unwrap_err();
/// assert_eq!(error.code(), bloscpack_error::Code::OutOfBounds);
/// assert_eq!(error.to_string(), "there is no chunk 7");
/// assert_eq!(error.hint(), Some("it has 1 chunk, counted from 0"));
/// # Ok::<(), bloscpack_error::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Selection {
    /// The columns of a table, in this order; all if empty.
    pub columns: Vec<String>,
    /// The part of the content, or of each of these columns.
    pub part: Part,
    /// Whether [`export`](crate::Container::export) writes NaN and NaT ("not a time") as missing values. Columns that are
    /// marked with missing values always do.
    pub nan_as_null: bool,
    /// Whether [`export`](crate::Container::export) writes a single column as an array: a `.npy` file then has plain elements,
    /// without a field.
    pub as_array: bool,
}

/// A part of the content of an input.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Part {
    /// Everything.
    #[default]
    All,
    /// A range of the uncompressed content; the bytes of an array are in C order.
    Bytes(Bounds),
    /// The chunk with this number, counted from 0, over all members if files are concatenated.
    Chunk(u64),
    /// Rows of an array or a table: positions along the first axis.
    Rows(Bounds),
    /// A slice of an array, or of a single column.
    Slice(Slice),
}

/// A range of rows or bytes. It may be open at the end, and count from the end.
///
/// ```
/// use bloscpack_open::Bounds;
/// assert_eq!(Bounds::from(3..).resolve(10)?, 3..10);
/// assert!(Bounds::from(3..11).resolve(10).is_err());
/// let last = Bounds { start: 2, from_end: (true, false), ..Bounds::default() };
/// assert_eq!(last.resolve(10)?, 8..10);
/// # Ok::<(), bloscpack_error::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Bounds {
    /// The first row or byte.
    pub start: u64,
    /// The end, exclusive; `None` for the end of the input.
    pub end: Option<u64>,
    /// Whether `start` and `end` count backwards from the end of the input.
    pub from_end: (bool, bool),
}

impl Selection {
    /// A part of all columns.
    #[must_use]
    pub fn of(part: Part) -> Self {
        Self {
            columns: Vec::new(),
            part,
            nan_as_null: false,
            as_array: false,
        }
    }

    /// Restricts it to these columns, in this order.
    #[must_use]
    pub fn columns(mut self, names: impl IntoIterator<Item: Into<String>>) -> Self {
        self.columns = names.into_iter().map(Into::into).collect();
        self
    }

    /// Sets whether NaN and NaT are exported as missing values; false by default.
    #[must_use]
    pub fn nan_as_null(mut self, nan_as_null: bool) -> Self {
        self.nan_as_null = nan_as_null;
        self
    }

    /// Sets whether the only column is exported as an array; false by default.
    #[must_use]
    pub fn as_array(mut self, as_array: bool) -> Self {
        self.as_array = as_array;
        self
    }

    /// Refuses columns, for an input that is not a table.
    pub(crate) fn refuse_columns(&self) -> Result<()> {
        refuse_column(self.columns.first().map(String::as_str))
    }
}

/// Refuses a column, for an input that is not a table.
pub(crate) fn refuse_column(column: Option<&str>) -> Result<()> {
    match column {
        None => Ok(()),
        Some(_) => Err(not_a_table()),
    }
}

/// A range and a step along each axis.
pub type Stepped = (Vec<Range<u64>>, Vec<u64>);

impl Part {
    /// Checks that a range of bytes exists. `found` bytes of it were copied; `len` bytes were passed or copied in total.
    pub(crate) fn check(&self, found: u64, len: u64) -> Result<u64> {
        let Self::Bytes(bounds) = self else {
            return Ok(found);
        };
        let start = bounds.start;
        let message = match bounds.end {
            Some(_) if len_of(&bounds.range()) <= found => return Ok(found),
            Some(end) => format!(
                "range {start}..{end} extends past the end: {} of it exist",
                count(found, "byte")
            ),
            None if start <= len => return Ok(found),
            None => format!("range {start}.. begins past the end"),
        };
        Err(Error::new(Code::OutOfBounds, message))
    }

    /// The elements of the part in an array of these shapes, and the range of their bytes in C order that belongs to the part.
    ///
    /// For all parts but [`Bytes`](Self::Bytes), that is every byte.
    ///
    /// ```
    /// use bloscpack_open::Part;
    /// let part = Part::Bytes((7..13).into());
    /// let (region, bytes) = part.resolve(&[4, 3], &[2, 3], 2)?;
    /// assert_eq!((region.ranges, bytes), (vec![1..3, 0..3], 1..7));
    /// # Ok::<(), bloscpack_error::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns [`Code::OutOfBounds`] for rows, chunks or positions that do not exist. A range of bytes is clipped instead.
    /// Returns `Code::Usage` for a slice with steps, see [`stepped`](Self::stepped).
    pub fn resolve(
        &self,
        shape: &[u64],
        chunk_shape: &[u64],
        itemsize: u64,
    ) -> Result<(Region, Range<u64>)> {
        let region = match self {
            Self::All => Region::all(shape),
            Self::Bytes(bounds) => return Ok(of_bytes(*bounds, shape, itemsize)),
            Self::Chunk(chunk) => of_chunk(*chunk, shape, chunk_shape)?,
            Self::Rows(bounds) => {
                // An array without axes has one row.
                let rows = shape.first().copied().unwrap_or(1);
                Region::of_rows(bounds.resolve(rows)?, shape)
            }
            Self::Slice(slice) => slice.resolve(shape)?,
        };
        Ok((region, 0..u64::MAX))
    }
}

impl Part {
    /// A slice with steps as an array of its own; `None` for any other part.
    ///
    /// # Errors
    /// Returns the errors of [`Slice::ranges`](crate::Slice::ranges).
    pub fn stepped<A: Array>(&self, array: A) -> Result<Option<Window<A>>> {
        let found = self.steps(array.grid().shape())?;
        let window = found.map(|(ranges, steps)| Window::with_steps(array, &ranges, &steps));
        window.transpose()
    }

    /// The ranges and the steps of a slice with steps, in an array of this shape; `None` for any other part.
    ///
    /// # Errors
    /// Returns the errors of [`Slice::ranges`](crate::Slice::ranges).
    pub fn steps(&self, shape: &[u64]) -> Result<Option<Stepped>> {
        match self {
            Self::Slice(slice) if slice.has_steps() => {
                Ok(Some((slice.ranges(shape)?, slice.steps())))
            }
            _ => Ok(None),
        }
    }

    /// The elements of the part in an array of this shape. Refuses bytes and chunks.
    pub(crate) fn region(&self, shape: &[u64]) -> Result<Region> {
        match self {
            Self::Bytes(_) | Self::Chunk(_) => Err(Error::usage(
                "only rows and slices can be selected as columns",
            )),
            _ => Ok(self.resolve(shape, &[], 1)?.0),
        }
    }
}

/// The rows that contain these bytes of an array, and the range of the bytes within those rows.
fn of_bytes(bounds: Bounds, shape: &[u64], itemsize: u64) -> (Region, Range<u64>) {
    let all = Region::all(shape).bytes(itemsize);
    let row = shape.split_first().map_or(&[][..], |(_, row)| row);
    let row = Region::all(row).bytes(itemsize).max(1);
    let end = bounds.end.unwrap_or(u64::MAX).min(all);
    let start = bounds.start.min(end);
    let rows = start / row..end.div_ceil(row);
    let before = rows.start * row;
    (Region::of_rows(rows, shape), start - before..end - before)
}

/// The elements of a chunk.
fn of_chunk(chunk: u64, shape: &[u64], chunk_shape: &[u64]) -> Result<Region> {
    let grid = Grid::new(shape.to_vec(), chunk_shape.to_vec());
    let chunks = grid.count().unwrap_or(u64::MAX);
    if chunk < chunks {
        Ok(grid.extent(&grid.position(chunk)))
    } else {
        Err(no_chunk(chunk, chunks))
    }
}

impl Bounds {
    /// The range in an input of `rows` rows. A position that counts backwards past the start becomes 0, as in Python.
    ///
    /// # Errors
    /// Returns [`Code::OutOfBounds`] for a range that ends past the last row, or before it begins.
    pub fn resolve(self, rows: u64) -> Result<Range<u64>> {
        // As in Python, a position that counts backwards past the start becomes 0.
        let place = |at: u64, is_back| if is_back { rows.saturating_sub(at) } else { at };
        let start = place(self.start, self.from_end.0);
        let last = self.end.map_or(rows, |end| place(end, self.from_end.1));
        if start <= last && last <= rows {
            return Ok(start..last);
        }
        let message = match self.end {
            Some(_) if last < start => format!("rows {start}..{last} end before they start"),
            Some(end) => format!("rows {start}..{end} extend past the end"),
            None => format!("rows {start}.. begin past the end"),
        };
        Err(Error::new(Code::OutOfBounds, message).with_hint(number_of(rows, "row")))
    }

    /// The range with `u64::MAX` for an open end. Ignores `from_end`.
    pub(crate) fn range(self) -> Range<u64> {
        self.start..self.end.unwrap_or(u64::MAX)
    }
}

impl From<Range<u64>> for Bounds {
    fn from(range: Range<u64>) -> Self {
        Self {
            start: range.start,
            end: Some(range.end),
            ..Self::default()
        }
    }
}

impl From<std::ops::RangeFrom<u64>> for Bounds {
    fn from(range: std::ops::RangeFrom<u64>) -> Self {
        Self {
            start: range.start,
            ..Self::default()
        }
    }
}

impl From<std::ops::RangeTo<u64>> for Bounds {
    fn from(range: std::ops::RangeTo<u64>) -> Self {
        (0..range.end).into()
    }
}

#[cfg(test)]
mod tests {
    use super::Bounds;

    #[test]
    fn missing_rows_are_refused() {
        let resolved = |bounds: Bounds| bounds.resolve(10).ok();
        assert_eq!(resolved((3..).into()), Some(3..10));
        assert_eq!(resolved(Bounds::default()), Some(0..10));
        assert_eq!(resolved((10..).into()), Some(10..10));
        assert_eq!(resolved((11..).into()), None);
        assert_eq!(resolved((3..11).into()), None);
    }
}
