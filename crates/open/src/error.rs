//! [`SelectionError`]: a selection that an input does not have.

use blosc1::Fault;
use bloscpack_error::Detail;
use std::fmt;

/// The selected part does not exist, or not in an input of this kind. The category is
/// [`Usage`](bloscpack_error::Category::Usage).
///
/// ```
/// use bloscpack_open::{OpenOptions, Part, Selection, SelectionError, open_source};
/// let file = bloscpack::compress(b"content")?;
/// let mut container = open_source(file, &OpenOptions::new())?;
/// let error = container.copy(&Selection::of(Part::Chunk(7)), &mut Vec::new()).unwrap_err();
/// let error: &SelectionError = error.detail().ok_or("another error")?;
/// assert_eq!(*error, SelectionError::Chunk { chunk: 7, chunks: 1 });
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum SelectionError {
    /// Rows past the last one.
    Rows {
        /// The first row that is wanted.
        start: u64,
        /// The row after the last one that is wanted; `u64::MAX` for all that follow.
        end: u64,
        /// The number of rows.
        rows: u64,
    },
    /// Bytes past the end of the content. Those that exist were copied.
    Bytes {
        /// The first byte that is wanted.
        start: u64,
        /// The byte after the last one that is wanted; `u64::MAX` for all that follow.
        end: u64,
        /// The bytes of the range that exist.
        found: u64,
    },
    /// A chunk past the last one.
    Chunk {
        /// The number of the chunk.
        chunk: u64,
        /// The number of chunks.
        chunks: u64,
    },
    /// A slice of more axes than the array has.
    Axes {
        /// The axes of the slice.
        found: usize,
        /// The axes of the array.
        axes: usize,
    },
    /// A position outside of an axis.
    Position {
        /// The position; a negative one counts from the end.
        position: i64,
        /// The number of the axis.
        axis: usize,
        /// Its length.
        len: u64,
    },
    /// Columns of something that is not a table.
    NotATable,
    /// All of a table where a single column is needed.
    NeedsColumn {
        /// The columns.
        columns: Vec<String>,
    },
    /// Rows or a slice of something that does not contain an array.
    NoArray,
    /// A chunk, rows or columns of an input that can only be read in order.
    NeedsPositions,
    /// A dtype for elements that have one.
    HasDType,
}

impl fmt::Display for SelectionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Rows {
                start,
                end: u64::MAX,
                ..
            } => write!(f, "rows {start}.. begin past the end"),
            Self::Rows { start, end, .. } => write!(f, "rows {start}..{end} extend past the end"),
            Self::Bytes {
                start,
                end: u64::MAX,
                ..
            } => write!(f, "range {start}.. begins past the end"),
            Self::Bytes { start, end, found } => {
                let bytes = super::text::count(*found, "byte");
                write!(
                    f,
                    "range {start}..{end} extends past the end: {bytes} of it exist"
                )
            }
            Self::Chunk { chunk, .. } => write!(f, "there is no chunk {chunk}"),
            Self::Axes { found, axes } => {
                write!(f, "the slice has {found} axes, the array only {axes}")
            }
            Self::Position {
                position,
                axis,
                len,
            } => write!(
                f,
                "no position {position} along axis {axis}, which has length {len}"
            ),
            Self::NotATable => f.write_str("this is not a table, so it has no columns"),
            Self::NeedsColumn { columns } if columns.is_empty() => {
                f.write_str("this is a table without columns")
            }
            Self::NeedsColumn { columns } => {
                let columns = super::text::plain(&columns.join(", "));
                write!(f, "this is a table; columns: {columns}")
            }
            Self::NoArray => f.write_str("this contains chunks of bytes, but no array"),
            Self::NeedsPositions => {
                f.write_str("this needs a regular file, read from its beginning")
            }
            Self::HasDType => f.write_str("this already has a dtype"),
        }
    }
}

impl std::error::Error for SelectionError {}

impl Detail for SelectionError {
    fn fault(&self) -> Fault {
        Fault::Usage
    }
}
