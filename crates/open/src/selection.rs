//! [`Selection`]: the part of an input that is wanted.

use super::error::{no_chunk, not_a_table, number_of};
use super::text::count;
use super::{Region, Slice};
use bloscpack_array::{Array, Grid, Window};
use bloscpack_error::checked::len_of;
use bloscpack_error::{Code, Error, Result};
use std::ops::Range;

/// The part of an input that is wanted; by default all of it.
///
/// ```
/// use bloscpack_open::{Bounds, Part, Selection};
/// let first_rows = Selection::of(Part::Rows(Bounds::from(..10))).columns(["price"]);
/// assert_eq!(first_rows.columns, ["price"]);
///
/// // What an input does not have is wrong usage.
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
    /// The columns of a table, in this order; all if there are none.
    pub columns: Vec<String>,
    /// The part of the content, or of each of these columns.
    pub part: Part,
    /// Whether NaN and "not a time" are exported as missing values, as they are from columns that say so themselves.
    pub nan_as_null: bool,
    /// Whether the only column is exported as an array: a `.npy` file then has plain elements, without a field.
    pub as_array: bool,
}

/// A part of the content.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Part {
    /// All of it.
    #[default]
    All,
    /// Bytes of the uncompressed content; those of arrays are in C order.
    Bytes(Bounds),
    /// The chunk with this number, counted from 0, and from the first member of concatenated files.
    Chunk(u64),
    /// Rows of an array or of a table: elements along the first axis.
    Rows(Bounds),
    /// A slice of an array, or of a single column.
    Slice(Slice),
}

/// A range, perhaps to the end.
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
    /// The first that is wanted.
    pub start: u64,
    /// The one after the last; `None` for all that follow.
    pub end: Option<u64>,
    /// Whether the start counts from the end of all, backwards, and whether the end does.
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

    /// The same of these columns, in this order.
    #[must_use]
    pub fn columns(mut self, names: impl IntoIterator<Item: Into<String>>) -> Self {
        self.columns = names.into_iter().map(Into::into).collect();
        self
    }

    /// The same with NaN and "not a time" as missing values, if wanted.
    #[must_use]
    pub fn nan_as_null(mut self, nan_as_null: bool) -> Self {
        self.nan_as_null = nan_as_null;
        self
    }

    /// The same with the only column as an array, if wanted.
    #[must_use]
    pub fn as_array(mut self, as_array: bool) -> Self {
        self.as_array = as_array;
        self
    }

    /// Refuses columns where there is no table.
    pub(crate) fn refuse_columns(&self) -> Result<()> {
        refuse_column(self.columns.first().map(String::as_str))
    }
}

/// Refuses a column of what is not a table.
pub(crate) fn refuse_column(column: Option<&str>) -> Result<()> {
    match column {
        None => Ok(()),
        Some(_) => Err(not_a_table()),
    }
}

/// A range and a step along each axis.
pub type Stepped = (Vec<Range<u64>>, Vec<u64>);

impl Part {
    /// Refuses a range of bytes if fewer of it exist, or if it begins past the end: `len` bytes were passed or copied.
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

    /// Its elements in an array of this shape and chunk shape, and which of their bytes in C order.
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
    /// Returns [`Code::OutOfBounds`] for rows, chunks or positions that do not exist. A range of bytes is clipped.
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
    /// The elements of a slice with steps as an array of their own; `None` for all other parts.
    ///
    /// # Errors
    /// Returns the errors of [`Slice::ranges`](crate::Slice::ranges).
    pub fn stepped<A: Array>(&self, array: A) -> Result<Option<Window<A>>> {
        let found = self.steps(array.grid().shape())?;
        let window = found.map(|(ranges, steps)| Window::with_steps(array, &ranges, &steps));
        window.transpose()
    }

    /// The ranges and the steps of a slice with steps in an array of this shape; `None` for all other parts.
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

    /// Its elements in an array of this shape, where chunks and bytes have no meaning.
    pub(crate) fn region(&self, shape: &[u64]) -> Result<Region> {
        match self {
            Self::Bytes(_) | Self::Chunk(_) => Err(Error::usage(
                "only rows and slices can be selected as columns",
            )),
            _ => Ok(self.resolve(shape, &[], 1)?.0),
        }
    }
}

/// The rows that contain these bytes of an array, and the position of the bytes in those.
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
    /// The range of so many.
    ///
    /// # Errors
    /// Returns [`Code::OutOfBounds`] if there are not so many.
    pub fn resolve(self, rows: u64) -> Result<Range<u64>> {
        // As in Python, there may be fewer than are counted backwards.
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

    /// As numbers, where everything ends at the highest.
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
