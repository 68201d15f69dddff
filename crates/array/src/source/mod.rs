//! [`Source`]: columns of equally many rows, read a batch at a time.

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

/// Receives the total number of finished rows after each batch.
pub type Progress<'a> = dyn FnMut(u64) + 'a;

/// A source of any type.
pub type BoxedSource<'a> = Box<dyn Source + 'a>;

/// Columns of equally many rows, read in order, a [`Batch`] at a time.
///
/// An array, a table, a CSV or a Parquet file is a source; an exporter or a dataset reads it to its end. To read it again, make
/// a new one. Adapters such as [`PartSource`] and [`FixedSource`] are sources over sources.
///
/// ```
/// use bloscpack_array::{ArraySource, Flat, Source};
/// use bloscpack_dtype::DType;
///
/// let array = Flat::new(vec![1, 2, 3, 4, 5], DType::U8, &[5], false)?;
/// let mut source = ArraySource::new(&array)?;
/// let mut lens = Vec::new();
/// while let Some(batch) = source.next_batch(2)? {
///     lens.push(batch.rows);
/// }
/// assert_eq!(lens, [2, 2, 1]);
/// # Ok::<(), bloscpack_error::Error>(())
/// ```
pub trait Source: Send {
    /// The columns, the same for all batches.
    fn schema(&self) -> &Schema;

    /// The total number of rows in all batches; `None` if it is unknown before the last one.
    fn rows(&self) -> Option<u64>;

    /// The number of rows, for a target that stores it first.
    ///
    /// # Errors
    /// Returns `Code::Usage` if it is unknown.
    fn known_rows(&self) -> Result<u64> {
        self.rows().ok_or_else(|| {
            let what =
                "the number of rows is unknown before the last: write to a target that grows";
            Error::usage(what)
        })
    }

    /// Warnings about the columns for the user, for example that numbers are read as text.
    fn warnings(&self) -> &[String] {
        &[]
    }

    /// Reads the next rows: about `bytes` bytes, but at least one row. `None` after the last.
    ///
    /// # Errors
    /// Returns I/O errors and any damage. After an error the source gives no more rows.
    fn next_batch(&mut self, bytes: usize) -> Result<Option<Batch>>;
}

impl<'a> dyn Source + 'a {
    /// Makes a table of a one-dimensional array of structured elements, with a column for each field. Any other source stays as
    /// it is.
    ///
    /// ```
    /// use bloscpack_array::{ArraySource, BoxedSource, Flat, Source};
    /// use bloscpack_dtype::DType;
    ///
    /// let dtype = DType::parse("[('a', '|u1'), ('b', '<u2')]")?;
    /// let array = Flat::new(vec![1, 2, 0, 3, 4, 0], dtype, &[2], false)?;
    /// let source: BoxedSource<'_> = Box::new(ArraySource::new(&array)?);
    /// let batch = source.fields()?.next_batch(1 << 20)?.ok_or("no rows")?;
    /// assert_eq!(batch.columns, [vec![1, 3], vec![2, 0, 4, 0]]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Returns `Code::Damaged` if a field reaches past the end of its element.
    pub fn fields(self: Box<Self>) -> Result<BoxedSource<'a>> {
        SplitSource::fields(self)
    }

    /// Makes a table of a two-dimensional array, with a column `value_0`, `value_1`, … for each position along the second axis,
    /// as in CSV. Any other source stays as it is, as does an array with 0 or more than 65,536 positions.
    ///
    /// ```
    /// use bloscpack_array::{ArraySource, BoxedSource, Flat, Source, names};
    /// use bloscpack_dtype::DType;
    ///
    /// let array = Flat::new(vec![1, 2, 3, 4], DType::U8, &[2, 2], false)?;
    /// let source: BoxedSource<'_> = Box::new(ArraySource::new(&array)?);
    /// assert_eq!(names(&source.rows_as_columns()?.schema().columns), "value_0, value_1");
    /// # Ok::<(), bloscpack_error::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns `Code::NoMemory` for rows that do not fit into memory.
    pub fn rows_as_columns(self: Box<Self>) -> Result<BoxedSource<'a>> {
        SplitSource::rows(self)
    }

    /// Reads NaN and NaT as missing values, in all columns that can have them.
    #[must_use]
    pub fn nan_as_null(self: Box<Self>) -> BoxedSource<'a> {
        Box::new(MeaningSource::new(self))
    }

    /// Makes an array of a table with one column. A table of several columns stays as it is.
    #[must_use]
    pub fn as_array(self: Box<Self>) -> BoxedSource<'a> {
        Box::new(MeaningSource::as_array(self))
    }

    /// Marks columns of bytes, by their position, as text in UTF-8. [`columns_of_text`](crate::columns_of_text) finds them.
    #[must_use]
    pub fn bytes_as_text(self: Box<Self>, are_text: &[bool]) -> BoxedSource<'a> {
        Box::new(MeaningSource::of_text(self, are_text))
    }
}

/// Passes all batches to `take`, each after [`Batch::check`], and reports the number of finished rows.
///
/// # Errors
/// Returns the first error of the source or of `take`, and `Code::Usage` for a batch that does not suit the schema and for
/// another number of rows than the source announced.
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

/// Takes rows from `rest` for a batch of `bytes` bytes, at least one row. The batch ends at a multiple of `stride`, the rows of
/// a chunk, if one is in reach, so that no chunk is decompressed twice. Takes all rows if a row has no bytes; `None` if none
/// are left.
///
/// ```
/// use bloscpack_array::next_rows;
/// let mut rest = 3..100;
/// assert_eq!(next_rows(&mut rest, 8, 10, 200), Some(3..20));
/// assert_eq!((next_rows(&mut rest, 8, 10, 200), rest), (Some(20..40), 40..100));
/// ```
pub fn next_rows(
    rest: &mut Range<u64>,
    row_bytes: u64,
    stride: u64,
    bytes: usize,
) -> Option<Range<u64>> {
    if rest.is_empty() {
        return None;
    }
    // Rows without bytes may be too many to count through.
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

/// The maximum number of rows without bytes that are written one by one.
const MAX_EMPTY_ROWS: u64 = 1 << 20;

/// Refuses to write more than 2^20 rows without bytes one by one, since a few bytes of input may claim any number of them.
///
/// # Errors
/// Returns `Code::Usage` for more.
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

/// Checks a range of rows against the number of rows.
///
/// # Errors
/// Returns `Code::Usage` for a range that ends past the last row, or before it begins.
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

/// The length of the first axis of an array or chunk; 1 if there are no axes.
pub fn first_len<T: Copy + From<u8>>(shape: &[T]) -> T {
    shape.first().copied().unwrap_or(T::from(1))
}
