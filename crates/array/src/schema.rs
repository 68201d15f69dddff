//! [`Schema`]: what the columns of a source are.

use crate::{Attributes, Cells};
use bloscpack_dtype::{ByteOrder, DType, Field, Kind, Struct};
use bloscpack_error::checked::to_u64;
use bloscpack_error::{Code, Error, Result};

/// The kind of a value of varying length, or of an item of a list.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ItemKind {
    /// True or false.
    Bool,
    /// Integers of 64 bits, or less.
    Int,
    /// Integers of 64 bits without a sign.
    UInt,
    /// Floating-point numbers.
    Float,
    /// Text.
    Text,
    /// Bytes.
    Bytes,
    /// Lists of such items.
    List(Box<ItemKind>),
    /// Anything: a value of each row may be of another kind.
    Any,
}

/// A column: what it is called and what its elements are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Column {
    /// Its name; that of an array, which has none, is `value`.
    pub name: String,
    /// The type of its elements.
    pub dtype: DType,
    /// Elements of a row along each axis; none where a row is one element.
    pub row_shape: Vec<u64>,
    /// Whether rows may be missing.
    pub nullable: bool,
    /// Whether NaN stands for a missing value, as "not a time" does. It is written as one where the format can express that.
    pub nan_is_null: bool,
    /// The kind of its values if they vary in length: the dtype then has no bytes, and rows are [`Cells::Varying`].
    pub varying: Option<ItemKind>,
    /// The time zone in which times are shown, such as `Europe/Berlin`. Their counts are in UTC.
    pub zone: Option<String>,
    /// Whether elements of bytes are known to be text in UTF-8. They are written as that where the format has it.
    pub is_text: bool,
}

impl Column {
    /// Whether its elements are bytes (`S`), or have fields that are.
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

    /// A column whose rows are single elements.
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
        }
    }

    /// Elements of a row; `u64::MAX` for more, which no memory has room for.
    #[must_use]
    pub fn row_len(&self) -> u64 {
        // Saturation is the meaning: memory for such a row is refused where it is asked for.
        self.row_shape
            .iter()
            .fold(1, |len, axis| len.saturating_mul(*axis))
    }

    /// Bytes of a row; `u64::MAX` for more, which no memory has room for.
    #[must_use]
    pub fn row_bytes(&self) -> u64 {
        // Saturation is the meaning, as above.
        self.row_len().saturating_mul(self.dtype.itemsize())
    }

    /// The same column, in which NaN and "not a time" stand for missing values. Columns of other elements stay as they are.
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

    /// The form of rows with these bytes: where NaN stands for a missing value, the elements that are there.
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

    /// Whether each row has elements, or what stands for them.
    #[must_use]
    pub fn is_fixed(&self) -> bool {
        self.varying.is_none() && self.is_filled()
    }

    /// Whether missing rows have bytes that stand for them: NaN, "not a time" or an empty string.
    pub fn is_filled(&self) -> bool {
        !self.nullable || self.nan_is_null
    }
}

/// The columns of a source, and what is said of all of them.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Schema {
    /// The columns, in their order.
    pub columns: Vec<Column>,
    /// Whether it is a table; else it is one array, and the only column has no name of its own.
    pub is_table: bool,
    /// Whether it is an array without axes: its only row is its only element.
    pub is_scalar: bool,
    /// The user's attributes, if the source has any.
    pub attributes: Attributes,
}

impl Schema {
    /// A table of these columns.
    #[must_use]
    pub fn table(columns: Vec<Column>) -> Self {
        Self {
            columns,
            is_table: true,
            ..Self::default()
        }
    }

    /// An array of such elements, with rows of this shape.
    #[must_use]
    pub fn array(dtype: DType, row_shape: &[u64]) -> Self {
        let mut column = Column::new(ARRAY, dtype);
        column.row_shape = row_shape.to_vec();
        Self {
            columns: vec![column],
            ..Self::default()
        }
    }

    /// Elements along each axis of the array that the only column is, with this many rows.
    ///
    /// ```
    /// use bloscpack_dtype::DType;
    /// use bloscpack_array::Schema;
    /// assert_eq!(Schema::array(DType::F64, &[3]).shape(10)?, [10, 3]);
    /// # Ok::<(), bloscpack_error::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns wrong usage if there are more columns, or none.
    pub fn shape(&self, rows: u64) -> Result<Vec<u64>> {
        let column = self.only("an array has one column")?;
        if self.is_scalar && rows == 1 {
            return Ok(Vec::new());
        }
        Ok(std::iter::once(rows)
            .chain(column.row_shape.iter().copied())
            .collect())
    }

    /// Bytes of a row of all columns; `u64::MAX` for more, which no memory has room for.
    #[must_use]
    pub fn row_bytes(&self) -> u64 {
        // Saturation is the meaning, as for a column.
        self.columns
            .iter()
            .fold(0, |sum, column| sum.saturating_add(column.row_bytes()))
    }

    /// Whether a column has values of varying length.
    #[must_use]
    pub fn has_varying(&self) -> bool {
        self.columns.iter().any(|column| column.varying.is_some())
    }

    /// The only column.
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

/// The column name of an array where columns have names.
pub(crate) const ARRAY: &str = "value";

/// The names, for an error.
pub fn names(columns: &[Column]) -> String {
    let names: Vec<_> = columns.iter().map(|column| column.name.as_str()).collect();
    names.join(", ")
}

/// Elements that have these columns as fields.
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

/// Elements of a row along each axis, in an array of this shape. A scalar has no axis, and is a row of one element.
pub fn row_shape(shape: &[u64]) -> &[u64] {
    shape.split_first().map_or(&[], |(_, row_shape)| row_shape)
}

/// Some rows of each column.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Batch {
    /// How many rows.
    pub rows: u64,
    /// The bytes of each column, in C order and as its dtype has them.
    pub columns: Vec<Vec<u8>>,
    /// The form of the rows of each column, where they are not all elements; may be empty or shorter.
    pub cells: Vec<Cells>,
}

impl Batch {
    /// Rows that were read, of the columns of a schema: where NaN stands for a missing value there, rows are missing.
    #[must_use]
    pub fn new(schema: &Schema, rows: u64, columns: Vec<Vec<u8>>) -> Self {
        let cells = schema.columns.iter().zip(&columns);
        Self {
            rows,
            cells: cells.map(|(column, bytes)| column.cells(bytes)).collect(),
            columns,
        }
    }

    /// The form of the rows of a column.
    #[must_use]
    pub fn cells(&self, column: usize) -> &Cells {
        self.cells.get(column).unwrap_or(&Cells::Elements)
    }

    /// Refuses a batch that does not have the bytes of its rows in each column.
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

/// Whether no text at all is a value.
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

/// The error for a row that memory has no room for.
pub fn too_large() -> Error {
    Error::new(Code::NoMemory, "a row is too large for memory")
}
