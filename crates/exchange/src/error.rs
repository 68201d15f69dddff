//! [`ExchangeError`]: an error in the data of another format.

use super::format::Format;
use blosc1::Fault;
use bloscpack_dtype::npy::NpyError;
use bloscpack_dtype::{DType, DTypeError, TimeUnit};
use bloscpack_error::Detail;
use std::fmt::Display;
use thiserror::Error;

/// An error in the data of another format: what was found, what was expected, and where.
///
/// [`fault`](Self::fault) sorts the variants by the side that must act. Functions return it inside of a
/// [`bloscpack_error::Error`], which gives it back:
///
/// ```
/// use bloscpack_exchange::{ExchangeError, Format, ImportOptions, open_at};
///
/// let error = open_at(b"PK\x03\x04".to_vec(), Format::Npy, &ImportOptions::new()).err().ok_or("opened")?;
/// let detail: Option<&ExchangeError> = error.detail();
/// assert!(matches!(detail, Some(ExchangeError::WrongMagic { format: Format::Npy })));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ExchangeError {
    /// This build lacks the feature that the format needs.
    #[error("{format}: this build lacks the feature {feature}: build it with --features {feature}")]
    MissingFeature {
        /// The format.
        format: Format,
        /// The feature of the crate.
        feature: &'static str,
    },
    /// The format is only written.
    #[error("{format} can be written but not read")]
    WriteOnly {
        /// The format.
        format: Format,
    },
    /// The format is only read.
    #[error("{format} can be read but not written")]
    ReadOnly {
        /// The format.
        format: Format,
    },
    /// The input is of another format: it begins with other bytes.
    #[error("not a file of the format {format}: wrong magic at its beginning")]
    WrongMagic {
        /// The format that was expected.
        format: Format,
    },
    /// The format cannot express a type, or this library does not support a property of a file.
    #[error("{format}: {part}: {found} is not supported")]
    Unsupported {
        /// The format.
        format: Format,
        /// The part, or the property.
        part: &'static str,
        /// Its value.
        found: String,
    },
    /// A column is of a type that has no counterpart among those of NumPy.
    #[error("{format}: column {column:?}: {found} is not supported: cast it to another type first")]
    UnsupportedColumn {
        /// The format.
        format: Format,
        /// The name of the column.
        column: String,
        /// The type.
        found: String,
    },
    /// A part at the end is missing.
    #[error("{format}: cut short: {part} is missing")]
    CutShort {
        /// The format.
        format: Format,
        /// The missing part.
        part: &'static str,
    },
    /// A part has more or fewer bytes than it should have.
    #[error("{format}: {part}: found {found} bytes, expected {expected}")]
    WrongLength {
        /// The format.
        format: Format,
        /// The part, with its type and shape for the elements of an array.
        part: String,
        /// Bytes that there are.
        found: u64,
        /// Bytes that there should be.
        expected: u64,
    },
    /// The header of a `.npy` file is damaged.
    #[error(transparent)]
    Npy(#[from] NpyError),
    /// A line of a CSV file is damaged.
    #[error("CSV: line {line}: {error}")]
    Csv {
        /// The number of the line; the first is 1.
        line: u64,
        /// The damage.
        error: CsvError,
    },
    /// A value of an Arrow or Parquet file does not become an element.
    #[error("{format}: column {column:?}, row {row}: {error}")]
    Value {
        /// The format.
        format: Format,
        /// The name of the column.
        column: String,
        /// The number of the row; the first is 0.
        row: u64,
        /// The reason.
        error: ValueError,
    },
    /// A field of a structured type reaches outside of its element.
    #[error("field {field:?} reaches outside of its element")]
    FieldOutside {
        /// The name of the field.
        field: String,
    },
    /// A part has a value that no program writes, or one that contradicts another part.
    #[error("{format}: {part}: {found}")]
    Damaged {
        /// The format.
        format: Format,
        /// The part.
        part: &'static str,
        /// Its value, or what is wrong with it.
        found: String,
    },
    /// The library that reads or writes the format reports an error, or panicked.
    #[error("{format}: {}", one_line(source))]
    Library {
        /// The format.
        format: Format,
        /// The side that must act.
        fault: Fault,
        /// The error of the library.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// There is more of something than this library takes.
    #[error("{format}: {found} {unit} exceed the limit of {limit}")]
    OverLimit {
        /// The format.
        format: Format,
        /// The unit of the numbers: `columns`.
        unit: &'static str,
        /// How many there are.
        found: u64,
        /// How many there may be.
        limit: u64,
    },
    /// A line has no end within the limit.
    #[error("{format}: a line of more than {limit} bytes: is a quote missing?")]
    LongLine {
        /// The format.
        format: Format,
        /// Bytes that a line may have.
        limit: u64,
    },
    /// A string is so long that a column of such strings is not intended.
    #[error(
        "{format}: column {column:?} has a string of {found} characters, and every element would take that much: give its type"
    )]
    LongString {
        /// The format.
        format: Format,
        /// The name of the column.
        column: String,
        /// Length of the longest string, in characters of text or in bytes.
        found: u64,
        /// The greatest length of a string whose column gets a type by itself.
        limit: u64,
    },
    /// Rows are larger than memory.
    #[error("a row is too large for memory")]
    NoMemory,
}

/// The damage of a line of a CSV file.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum CsvError {
    /// The name of a column is not UTF-8.
    #[error("\"{found}\" is not a valid name")]
    Name {
        /// The name, with escapes.
        found: String,
    },
    /// Two columns have the same name.
    #[error("two columns with the name {name:?}")]
    DuplicateName {
        /// The name.
        name: String,
    },
    /// The line has more or fewer cells than the first.
    #[error("expected {expected} cells, found {found}")]
    CellCount {
        /// Cells of the line.
        found: u64,
        /// Cells of the first line.
        expected: u64,
    },
    /// A cell is not a value of its column's type.
    #[error("column {column:?}: {error}")]
    Cell {
        /// The name of the column.
        column: String,
        /// The reason.
        error: ValueError,
    },
    /// Lines that were there when the file was opened are gone.
    #[error("the file was truncated while being read")]
    Truncated,
}

/// Why a value does not become an element.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ValueError {
    /// The value is missing, and the type has none for that.
    #[error("the value is missing, and {dtype} has none for that: say what to fill in")]
    Missing {
        /// The type of the elements.
        dtype: DType,
    },
    /// The value is not UTF-8.
    #[error("{found} is not UTF-8")]
    NotUtf8 {
        /// The value, with escapes, or where it ceases to be text.
        found: String,
    },
    /// The value is longer than elements are.
    #[error("{found} {unit} do not fit {dtype}")]
    TooLong {
        /// Length of the value.
        found: u64,
        /// The unit of the length.
        unit: &'static str,
        /// The type of the elements.
        dtype: DType,
    },
    /// The text is not a value of the type.
    #[error(transparent)]
    Text(#[from] DTypeError),
    /// A time is not a whole number of the other unit, or too far from 1970 for it.
    #[error("{count} of {from} is not a whole number of {to}")]
    Inexact {
        /// The time.
        count: i64,
        /// Its unit.
        from: TimeUnit,
        /// The unit of the elements.
        to: TimeUnit,
    },
    /// The values are not of the type that the schema of the file says.
    #[error("expected {expected}, found {found}")]
    Mismatch {
        /// The type or part expected.
        expected: String,
        /// The type or part found.
        found: String,
    },
    /// The elements are larger than memory.
    #[error("a row is too large for memory")]
    TooLarge,
}

/// A text of another crate, which may have many lines, in one.
fn one_line(text: impl Display) -> String {
    let text = text.to_string();
    let words: Vec<_> = text.split_whitespace().collect();
    words.join(" ")
}

impl ExchangeError {
    #[cfg(feature = "record-batches")]
    pub(crate) fn damaged(format: Format, part: &'static str, found: impl Display) -> Self {
        let found = one_line(found);
        Self::Damaged {
            format,
            part,
            found,
        }
    }

    /// The side that must act, which decides the [`Category`](bloscpack_error::Category) of the error.
    #[must_use]
    pub fn fault(&self) -> Fault {
        match self {
            Self::MissingFeature { .. }
            | Self::WriteOnly { .. }
            | Self::ReadOnly { .. }
            | Self::WrongMagic { .. }
            | Self::Unsupported { .. }
            | Self::UnsupportedColumn { .. } => Fault::Unsupported,
            Self::CutShort { .. } => Fault::CutShort,
            Self::WrongLength {
                found, expected, ..
            } => {
                if found < expected {
                    Fault::CutShort
                } else {
                    Fault::Damaged
                }
            }
            Self::Npy(_)
            | Self::Csv { .. }
            | Self::Value { .. }
            | Self::FieldOutside { .. }
            | Self::Damaged { .. } => Fault::Damaged,
            Self::Library { fault, .. } => *fault,
            Self::OverLimit { .. } | Self::LongLine { .. } | Self::LongString { .. } => {
                Fault::OverLimit
            }
            Self::NoMemory => Fault::Usage,
        }
    }
}

impl Detail for ExchangeError {
    fn fault(&self) -> Fault {
        self.fault()
    }

    fn hint(&self) -> Option<&'static str> {
        match self {
            Self::WrongMagic {
                format: Format::Arrow,
            } => Some("convert a stream to a file first"),
            _ => None,
        }
    }
}
