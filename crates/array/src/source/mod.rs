//! [`Source`]: columns of the same number of rows, some rows at a time.

mod array;
mod fixed;
mod meaning;
mod one;
mod part;
mod split;
mod table;

pub use array::ArraySource;
pub(crate) use array::checked_slice;
pub use fixed::FixedSource;
pub use meaning::{MeaningSource, columns_of_text};
pub use one::{OneArray, refuse_missing};
pub use part::PartSource;
pub use split::SplitSource;
pub use table::TableSource;

use crate::region::BATCH;

use crate::schema::{Batch, Schema, row_shape};
use bloscpack_error::checked::to_u64;
use bloscpack_error::{Error, Result};
use std::ops::Range;

/// Called after each batch with the number of finished rows.
pub type Progress<'a> = dyn FnMut(u64) + 'a;

/// A source whose type is not known.
pub type BoxedSource<'a> = Box<dyn Source + 'a>;

/// Columns of the same number of rows, some rows at a time.
pub trait Source: Send {
    /// The columns.
    fn schema(&self) -> &Schema;

    /// The total number of rows in all batches; `None` if it is unknown before the last one.
    fn rows(&self) -> Option<u64>;

    /// The number of rows, for a target that begins with it.
    ///
    /// # Errors
    /// A [`Usage`](bloscpack_error::Category::Usage) error if it is unknown.
    fn known_rows(&self) -> Result<u64> {
        self.rows().ok_or_else(|| {
            let what =
                "the number of rows is unknown before the last: write to a target that grows";
            Error::usage(what)
        })
    }

    /// What a user may not expect of the columns, such as numbers that are text.
    fn warnings(&self) -> &[String] {
        &[]
    }

    /// The next rows, of about so many bytes but at least one; `None` after the last.
    ///
    /// # Errors
    /// Returns errors of reading and any damage found. Nothing follows an error.
    fn next_batch(&mut self, bytes: usize) -> Result<Option<Batch>>;
}

impl<'a> dyn Source + 'a {
    /// An array whose elements have fields as a table that has them as columns; anything else as it is.
    ///
    /// # Errors
    /// Returns damage if fields reach outside of their elements.
    pub fn fields(self: Box<Self>) -> Result<BoxedSource<'a>> {
        SplitSource::fields(self)
    }

    /// An array of two axes as a table with a column for each position along the second, `value_0` and so on, as CSV has
    /// it; anything else as it is.
    ///
    /// # Errors
    /// Returns `NoMemory` for elements that no memory has room for.
    pub fn rows_as_columns(self: Box<Self>) -> Result<BoxedSource<'a>> {
        SplitSource::rows(self)
    }

    /// The same source, in whose columns NaN and "not a time" stand for missing values.
    #[must_use]
    pub fn nan_as_null(self: Box<Self>) -> BoxedSource<'a> {
        Box::new(MeaningSource::new(self))
    }

    /// A table of one column as the array of its values; tables of several columns unchanged.
    #[must_use]
    pub fn as_array(self: Box<Self>) -> BoxedSource<'a> {
        Box::new(MeaningSource::as_array(self))
    }

    /// The same source, in which these columns of bytes, by their positions, are text in UTF-8: those of
    /// [`columns_of_text`](crate::columns_of_text).
    #[must_use]
    pub fn bytes_as_text(self: Box<Self>, are_text: &[bool]) -> BoxedSource<'a> {
        Box::new(MeaningSource::of_text(self, are_text))
    }
}

/// Goes through all batches, and reports progress.
pub fn for_each(
    source: &mut dyn Source,
    progress: &mut Progress<'_>,
    mut take: impl FnMut(&Schema, Batch) -> Result<()>,
) -> Result<()> {
    let schema = source.schema().clone();
    let mut done = 0u64;
    while let Some(batch) = source.next_batch(BATCH)? {
        batch.check(&schema)?;
        done = done
            .checked_add(batch.rows)
            .ok_or_else(|| Error::usage("source gave more than 2^64 rows"))?;
        take(&schema, batch)?;
        progress(done);
    }
    match source.rows() {
        Some(rows) if rows != done => Err(one::changed(rows, done)),
        _ => Ok(()),
    }
}

/// As many rows from `rest` as fit these bytes, to the next multiple of `stride` where that is possible, so that no chunk is
/// decompressed twice; `None` after the last. All of them if a row has no bytes.
pub fn next_rows(
    rest: &mut Range<u64>,
    row_bytes: u64,
    stride: u64,
    bytes: usize,
) -> Option<Range<u64>> {
    if rest.is_empty() {
        return None;
    }
    // There may be too many rows without bytes to count through.
    if row_bytes == 0 {
        return Some(std::mem::replace(rest, rest.end..rest.end));
    }
    let most = (to_u64(bytes) / row_bytes).max(1);
    let stride = stride.max(1);
    let at_once = if most >= stride {
        most - most % stride
    } else {
        most
    };
    let to_boundary = at_once - rest.start % at_once;
    let end = rest.start + to_boundary.min(rest.end - rest.start);
    let rows = rest.start..end;
    rest.start = end;
    Some(rows)
}

/// Rows without bytes that are written one after another.
const MAX_EMPTY_ROWS: u64 = 1 << 20;

/// Refuses to write rows without bytes one by one, since a few bytes of input may claim any number of them.
pub fn check_empty_rows(source: &dyn Source) -> Result<()> {
    let rows = source.rows().unwrap_or(0);
    let is_empty = source.schema().row_bytes() == 0 && !source.schema().has_varying();
    if is_empty && rows > MAX_EMPTY_ROWS {
        Err(Error::usage(format!(
            "{rows} rows without bytes: only .npy can store so many"
        )))
    } else {
        Ok(())
    }
}

/// Refuses rows that are not there.
pub fn check_rows(rows: &Range<u64>, there: u64) -> Result<()> {
    if rows.start <= rows.end && rows.end <= there {
        Ok(())
    } else {
        Err(Error::usage(format!(
            "rows {}..{} of {there}",
            rows.start, rows.end
        )))
    }
}

/// The length of the first axis of an array or chunk. A scalar has none, and is one row.
pub fn first_len<T: Copy + From<u8>>(shape: &[T]) -> T {
    shape.first().copied().unwrap_or(T::from(1))
}
