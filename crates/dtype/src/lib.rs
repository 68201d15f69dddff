//! Dtypes of NumPy: their spellings, the layout of their fields, and array elements as values and
//! text.
//!
//! A [`DType`] describes the elements of an array: their kind, byte order, size and fields. This crate
//! reads and writes every spelling that NumPy uses for it, and converts elements from and to JSON and
//! text. It does no I/O, and never evaluates anything.
//!
//! # Where to start
//!
//! | you have | you want | use |
//! |---|---|---|
//! | `<f8`, `int64`, `[('a', '<i4'), ('b', 'S3')]` | a dtype | [`DType::parse`] |
//! | nested lists of JSON, as in the BLZ document | a dtype | [`DType::from_json`] |
//! | a dtype | its name, its code, its literal in a `.npy` file | `Display`, [`DType::code`], [`DType::descr`] |
//! | the bytes of an element | JSON or text | [`DType::value`], [`DType::write_text`] |
//! | JSON or text | the bytes of an element | [`DType::from_value`], [`DType::parse_text`] |
//! | big-endian elements | little-endian ones | [`DType::to_little`] |
//! | a `.npy` file | dtype, shape and order of its array | [`NpyHeader`] |
//! | `f64`, `i32`, ... | the dtype of such values | [`Element`] |
//!
//! # Example
//!
//! ```
//! use bloscpack_dtype::DType;
//! use serde_json::json;
//!
//! let dtype = DType::parse("[('time', '<M8[s]'), ('price', '>f4')]")?;
//! assert_eq!(dtype.itemsize(), 12);
//! let mut element = [0; 12];
//! dtype.from_value(&json!({"time": "2016-03-01T09:15:00", "price": 0.1}), &mut element)?;
//! let mut text = String::new();
//! dtype.write_text(&element, &mut text);
//! assert_eq!(text, r#"{"time":"2016-03-01T09:15:00","price":0.1}"#);
//! # Ok::<(), bloscpack_dtype::DTypeError>(())
//! ```
//!
//! # Limits
//!
//! Types come from files, so that their size is bounded: item sizes below 2 GiB, as in NumPy, 65,536
//! fields, 32 levels of nesting, and fields that overlap at most 64 times. Python objects are
//! recognized, but neither read nor written: their bytes are pickles.

#![forbid(unsafe_code)]

mod build;
mod date;
mod element;
mod error;
mod excerpt;
mod float;
mod layout;
#[doc(hidden)]
pub mod literal;
mod name;
#[doc(hidden)]
pub mod native;
#[doc(hidden)]
pub mod npy;
mod order;
mod parse;
mod spell;
#[cfg(test)]
mod tests;
mod unit;
mod value;

pub use error::DTypeError;
pub use native::{Element, WrongElement};
pub use npy::{NpyError, NpyHeader};
#[doc(hidden)]
pub use parse::of_literal;
#[doc(hidden)]
pub use spell::tuple;

/// The byte order of numbers. Types of single bytes, and types without numbers, are little-endian.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum ByteOrder {
    /// The least significant byte first, `<`.
    #[default]
    Little,
    /// The most significant byte first, `>`.
    Big,
}

/// The meaning of the bytes of an element.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Kind {
    /// A byte that is 0 or 1.
    Bool,
    /// A signed integer of 1, 2, 4 or 8 bytes.
    Int,
    /// An unsigned integer of 1, 2, 4 or 8 bytes.
    Uint,
    /// A float of 2, 4 or 8 bytes, or an extended float of 12 or 16 bytes, whose format depends on the
    /// machine.
    Float,
    /// Two floats of the same size: real and imaginary part.
    Complex,
    /// A string of bytes, filled up with zeros; NumPy's `S`.
    Bytes,
    /// A string of characters of four bytes each, filled up with zeros; NumPy's `U`.
    Text,
    /// A moment, as a signed count of units since 1970; the least integer is "not a time".
    Datetime(TimeUnit),
    /// A span of time, as a signed count of units; the least integer is "not a time".
    Timedelta(TimeUnit),
    /// Bytes whose meaning is not known.
    Void,
    /// Fields.
    Struct(Box<Struct>),
    /// Python objects, whose bytes are pickles. They are never read or written.
    Object,
}

/// The unit that a [`Kind::Datetime`] or [`Kind::Timedelta`] counts: a multiple of a base unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct TimeUnit {
    /// The base unit; `None` for NumPy's generic unit.
    pub base: Option<TimeBase>,
    /// The number of base units that one step is; at least 1.
    pub count: u32,
}

/// The units of time of NumPy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the names say it")]
pub enum TimeBase {
    Year,
    Month,
    Week,
    Day,
    Hour,
    Minute,
    Second,
    Milli,
    Micro,
    Nano,
    Pico,
    Femto,
    Atto,
}

/// The fields of an element, in the order in which they are listed.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Struct {
    /// The fields.
    pub fields: Vec<Field>,
    /// Whether the layout is that of a C compiler.
    pub aligned: bool,
}

/// A field of an element.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Field {
    /// The name of the field.
    pub name: String,
    /// Another name of the field, if it has one.
    pub title: Option<String>,
    /// The type of its elements.
    pub dtype: DType,
    /// Elements along each axis; empty for a single element.
    pub shape: Vec<u64>,
    /// Bytes of the element before the field.
    pub offset: u64,
}

/// The type of the elements of an array.
///
/// Every value of this type is valid: [`DType::new`] and all readers check size, fields and limits.
///
/// ```
/// use bloscpack_dtype::{ByteOrder, DType, Kind};
///
/// let dtype = DType::parse(">i4")?;
/// assert_eq!((dtype.kind(), dtype.order(), dtype.itemsize()), (&Kind::Int, ByteOrder::Big, 4));
/// assert_eq!(dtype.with_order(ByteOrder::Little), DType::I32);
/// # Ok::<(), bloscpack_dtype::DTypeError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct DType {
    kind: Kind,
    order: ByteOrder,
    itemsize: u64,
}

impl DType {
    /// The meaning of the bytes of an element.
    #[must_use]
    pub fn kind(&self) -> &Kind {
        &self.kind
    }

    /// The byte order; that of each field is its own.
    #[must_use]
    pub fn order(&self) -> ByteOrder {
        self.order
    }

    /// The number of bytes of an element.
    #[must_use]
    pub fn itemsize(&self) -> u64 {
        self.itemsize
    }
}

/// The example of the README is a test, too.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
