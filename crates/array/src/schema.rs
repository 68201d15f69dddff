//! [`Schema`]: the columns of a source, and [`Batch`]: some of its rows.

use crate::{Attributes, Cells};
use bloscpack_dtype::{ByteOrder, DType, Field, Kind, Struct};
use bloscpack_error::checked::to_u64;
use bloscpack_error::{Code, Error, Result};

/// The kind of the values in a column of varying length, or of the items of a list.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ItemKind {
    /// True or false.
    Bool,
    /// Integers with a sign, of up to 64 bits.
    Int,
    /// Integers without a sign, of 64 bits.
    UInt,
    /// Floating-point numbers.
    Float,
    /// Text.
    Text,
    /// Bytes.
    Bytes,
    /// Lists of items of one kind.
    List(Box<ItemKind>),
    /// Values of any kind; it may differ from row to row.
    Any,
}

/// A column of a [`Source`](crate::Source): its name, the dtype of its elements, and how its rows are to be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Column {
    /// The name; `value` for an array, which has none.
    pub name: String,
    /// The type of the elements; void of 0 bytes if the values vary in length.
    pub dtype: DType,
    /// The shape of a row: the axes of the array after the first. Empty if a row is one element.
    pub row_shape: Vec<u64>,
    /// Whether rows may be missing.
    pub nullable: bool,
    /// Whether NaN and NaT ("not a time") represent missing values. Formats with missing values write them as such.
    pub nan_is_null: bool,
    /// The kind of the values if they vary in length. Rows are then [`Cells::Varying`].
    pub varying: Option<ItemKind>,
    /// The time zone in which times are displayed, such as `Europe/Berlin`. The stored times are in UTC.
    pub zone: Option<String>,
    /// Whether elements of bytes (`S`) are known to be UTF-8. Formats with a type for text use it.
    pub is_text: bool,
    /// Whether text comes from a dictionary of few words. Formats that have dictionaries store it as one.
    pub is_dictionary: bool,
}

impl Column {
    /// Whether its elements are bytes (`S`), or have fields that are. False for values of varying length.
    #[must_use]
    pub fn has_bytes(&self) -> bool {
        fn has(dtype: &DType) -> bool {
            match dtype.kind() {
                Kind::Bytes => true,
                Kind::Struct(of) => of.fields.iter().any(|field| has(&field.dtype)),
                _ => false,
            }
        }
        self.is_fixed() && has(&self.dtype)
    }

    /// A column whose rows are single elements, none of them missing.
    ///
    /// ```
    /// use bloscpack_dtype::DType;
    /// use bloscpack_array::Column;
    /// assert_eq!(Column::new("price", DType::F64).row_bytes(), 8);
    /// ```
    #[must_use]
    pub fn new(name: impl Into<String>, dtype: DType) -> Self {
        Self {
            name: name.into(),
            dtype,
            row_shape: Vec::new(),
            nullable: false,
            nan_is_null: false,
            varying: None,
            zone: None,
            is_text: false,
            is_dictionary: false,
        }
    }

    /// A nullable column of values that vary in length.
    #[must_use]
    pub fn with_values(name: impl Into<String>, kind: ItemKind) -> Self {
        Self {
            nullable: true,
            varying: Some(kind),
            ..Self::new(name, DType::EMPTY)
        }
    }

    /// The number of elements of a row. Saturates at `u64::MAX`, which no allocation satisfies.
    #[must_use]
    pub fn row_len(&self) -> u64 {
        // Saturates, as documented: memory for such a row is refused where it is allocated.
        self.row_shape
            .iter()
            .fold(1, |len, axis| len.saturating_mul(*axis))
    }

    /// The bytes of a row; 0 if the values vary in length. Saturates at `u64::MAX`, which no allocation satisfies.
    #[must_use]
    pub fn row_bytes(&self) -> u64 {
        // Saturates, as documented.
        self.row_len().saturating_mul(self.dtype.itemsize())
    }

    /// Reads NaN and NaT as missing values, in columns of floats, complex numbers and times and in fields of structured
    /// elements. Other columns stay as they are.
    ///
    /// ```
    /// use bloscpack_dtype::DType;
    /// use bloscpack_array::Column;
    /// assert!(Column::new("price", DType::F64).nan_as_null().nullable);
    /// assert!(!Column::new("id", DType::I64).nan_as_null().nullable);
    /// ```
    #[must_use]
    pub fn nan_as_null(mut self) -> Self {
        let is_nested = matches!(self.dtype.kind(), Kind::Struct(_));
        self.nan_is_null = is_nested || self.dtype.has_nan();
        self.nullable |= self.dtype.has_nan() && self.row_shape.is_empty();
        self
    }

    /// The [`Cells`] of rows with these bytes: if NaN represents a missing value, a flag for each row.
    ///
    /// ```
    /// use bloscpack_array::{Cells, Column};
    /// use bloscpack_dtype::DType;
    /// let column = Column::new("price", DType::F64).nan_as_null();
    /// let bytes = [1.5, f64::NAN].map(f64::to_le_bytes).concat();
    /// assert_eq!(column.cells(&bytes), Cells::Present(vec![true, false]));
    /// ```
    #[must_use]
    pub fn cells(&self, bytes: &[u8]) -> Cells {
        let is_plain = self.row_shape.is_empty() && self.dtype.has_nan();
        let itemsize = usize::try_from(self.dtype.itemsize()).ok();
        match itemsize.filter(|_| is_plain && self.nan_is_null) {
            Some(itemsize) if itemsize > 0 => {
                let elements = bytes.chunks_exact(itemsize);
                Cells::Present(
                    elements
                        .map(|element| !self.dtype.is_nan(element))
                        .collect(),
                )
            }
            _ => Cells::Elements,
        }
    }

    /// Whether every row has bytes: no value varies in length, and a missing one is represented by NaN, NaT or an empty string.
    #[must_use]
    pub fn is_fixed(&self) -> bool {
        self.varying.is_none() && self.is_filled()
    }

    /// Whether missing rows, if there are any, are represented by NaN, NaT or an empty string.
    pub fn is_filled(&self) -> bool {
        !self.nullable || self.nan_is_null
    }
}

/// The columns of a source, and what applies to all of them.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Schema {
    /// The columns in order. Names are expected to be distinct.
    pub columns: Vec<Column>,
    /// Whether it is a table. Otherwise it is one array, whose only column is named `value` unless it was given a name.
    pub is_table: bool,
    /// Whether it is an array without axes, whose only element is its only row.
    pub is_scalar: bool,
    /// The user's attributes; empty if the source has none.
    pub attributes: Attributes,
}

impl Schema {
    /// A table of these columns, without attributes.
    #[must_use]
    pub fn table(columns: Vec<Column>) -> Self {
        Self {
            columns,
            is_table: true,
            ..Self::default()
        }
    }

    /// An array of such elements: one column `value`, whose rows have this shape.
    #[must_use]
    pub fn array(dtype: DType, row_shape: &[u64]) -> Self {
        let mut column = Column::new(ARRAY, dtype);
        column.row_shape = row_shape.to_vec();
        Self {
            columns: vec![column],
            ..Self::default()
        }
    }

    /// The shape of the array that the only column is, with this many rows.
    ///
    /// ```
    /// use bloscpack_dtype::DType;
    /// use bloscpack_array::Schema;
    /// assert_eq!(Schema::array(DType::F64, &[3]).shape(10)?, [10, 3]);
    /// # Ok::<(), bloscpack_error::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns `Code::Usage` unless there is exactly one column.
    pub fn shape(&self, rows: u64) -> Result<Vec<u64>> {
        let column = self.only("an array has one column")?;
        if self.is_scalar && rows == 1 {
            return Ok(Vec::new());
        }
        Ok(std::iter::once(rows)
            .chain(column.row_shape.iter().copied())
            .collect())
    }

    /// The bytes of a row of all columns. Saturates at `u64::MAX`, which no allocation satisfies.
    #[must_use]
    pub fn row_bytes(&self) -> u64 {
        // Saturates, as documented.
        self.columns
            .iter()
            .fold(0, |sum, column| sum.saturating_add(column.row_bytes()))
    }

    /// The rows of a batch of about this size in bytes, at least one; at most 32,768 if values vary in length, since their size
    /// is not known before they are read.
    #[must_use]
    pub fn rows_within(&self, bytes: usize) -> u64 {
        let most = if self.has_varying() {
            1 << 15
        } else {
            u64::MAX
        };
        (to_u64(bytes) / self.row_bytes().max(1)).clamp(1, most)
    }

    /// Whether any column has values of varying length.
    #[must_use]
    pub fn has_varying(&self) -> bool {
        self.columns.iter().any(|column| column.varying.is_some())
    }

    /// The only column. `why` begins the message of the error.
    ///
    /// # Errors
    /// Returns `Code::Usage` with the names of the columns if there are several, or none.
    pub fn only(&self, why: &str) -> Result<&Column> {
        match self.columns.as_slice() {
            [column] => Ok(column),
            columns => Err(Error::usage(format!(
                "{why}: choose one of {}",
                names(columns)
            ))),
        }
    }
}

/// The column name of an array in formats whose columns have names.
pub(crate) const ARRAY: &str = "value";

/// The names of the columns, separated by commas, for an error message.
pub fn names(columns: &[Column]) -> String {
    let names: Vec<_> = columns.iter().map(|column| column.name.as_str()).collect();
    names.join(", ")
}

/// The structured dtype whose fields are these columns, without gaps.
///
/// ```
/// use bloscpack_array::{Column, structured};
/// use bloscpack_dtype::DType;
/// let dtype = structured(&[Column::new("id", DType::I32), Column::new("close", DType::F64)])?;
/// assert_eq!(dtype.itemsize(), 12);
/// # Ok::<(), bloscpack_error::Error>(())
/// ```
///
/// # Errors
/// Returns [`Code::NoMemory`] for a row of more than 2^64 bytes, and `Code::Usage` for columns that are not valid fields.
pub fn structured(columns: &[Column]) -> Result<DType> {
    let (mut fields, mut offset) = (Vec::new(), 0u64);
    for column in columns {
        fields.push(Field {
            name: column.name.clone(),
            title: None,
            dtype: column.dtype.clone(),
            shape: column.row_shape.clone(),
            offset,
        });
        offset = offset
            .checked_add(column.row_bytes())
            .ok_or_else(too_large)?;
    }
    let aligned = false;
    let kind = Kind::Struct(Box::new(Struct { fields, aligned }));
    DType::new(kind, ByteOrder::Little, offset).map_err(|error| Error::usage(error.to_string()))
}

/// The shape of a row in an array of this shape: the axes after the first. An array without axes is one row of one element.
pub fn row_shape(shape: &[u64]) -> &[u64] {
    shape.split_first().map_or(&[], |(_, row_shape)| row_shape)
}

/// Some consecutive rows of all columns of a source.
///
/// ```
/// use bloscpack_array::{Batch, Column, Schema};
/// use bloscpack_dtype::DType;
/// let schema = Schema::table(vec![Column::new("id", DType::U8), Column::new("close", DType::U16)]);
/// let batch = Batch::new(&schema, 2, vec![vec![1, 2], vec![3, 0, 4, 0]]);
/// batch.check(&schema)?;
/// assert!(Batch::new(&schema, 3, batch.columns).check(&schema).is_err());
/// # Ok::<(), bloscpack_error::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Batch {
    /// The number of rows.
    pub rows: u64,
    /// The bytes of each column in the order of the schema: rows in C order, elements in the byte order of the dtype.
    pub columns: Vec<Vec<u8>>,
    /// Missing rows and values of varying length, per column. May be shorter than `columns`; the other columns are
    /// [`Cells::Elements`].
    pub cells: Vec<Cells>,
}

impl Batch {
    /// A batch of fixed-length elements. Rows are missing where the schema says that NaN represents a missing value.
    #[must_use]
    pub fn new(schema: &Schema, rows: u64, columns: Vec<Vec<u8>>) -> Self {
        let cells = schema.columns.iter().zip(&columns);
        Self {
            rows,
            cells: cells.map(|(column, bytes)| column.cells(bytes)).collect(),
            columns,
        }
    }

    /// The cells of a column, [`Cells::Elements`] if none are given.
    #[must_use]
    pub fn cells(&self, column: usize) -> &Cells {
        self.cells.get(column).unwrap_or(&Cells::Elements)
    }

    /// Checks that each column has the cells and bytes of exactly `rows` rows. Consumers call this on batches of sources that
    /// they do not know.
    ///
    /// # Errors
    /// Returns `Code::Usage` for another number of columns, rows or bytes, and for cells that do not suit the column.
    pub fn check(&self, schema: &Schema) -> Result<()> {
        let (found, expected) = (self.columns.len(), schema.columns.len());
        if found != expected {
            return Err(Error::usage(format!(
                "the source gave {found} columns, expected {expected}"
            )));
        }
        for (number, (column, bytes)) in schema.columns.iter().zip(&self.columns).enumerate() {
            let rows = match (self.cells(number), &column.varying) {
                (Cells::Elements, None) => self.rows,
                (Cells::Present(present), None) => to_u64(present.len()),
                (Cells::Varying(values), Some(_)) => to_u64(values.len()),
                _ => {
                    return Err(Error::usage(format!(
                        "column {:?}: rows of another kind",
                        column.name
                    )));
                }
            };
            if rows != self.rows {
                let (name, expected) = (&column.name, self.rows);
                return Err(Error::usage(format!(
                    "column {name:?}: {rows} rows, expected {expected}"
                )));
            }
            let found = to_u64(bytes.len());
            if column.row_bytes().checked_mul(self.rows) != Some(found) {
                return Err(Error::usage(format!(
                    "column {:?}: the source gave {found} bytes for {} rows of {}",
                    column.name,
                    self.rows,
                    column.row_bytes()
                )));
            }
        }
        Ok(())
    }
}

/// Whether an empty text is a value of this type: NaN, NaT, or an empty string.
pub fn is_value_of_nothing(dtype: &DType) -> bool {
    matches!(
        dtype.kind(),
        Kind::Float
            | Kind::Complex
            | Kind::Bytes
            | Kind::Text
            | Kind::Datetime(_)
            | Kind::Timedelta(_)
    )
}

/// The error for a row that does not fit into memory, [`Code::NoMemory`].
pub fn too_large() -> Error {
    Error::new(Code::NoMemory, "a row is too large for memory")
}
