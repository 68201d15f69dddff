//! NumPy dtypes in Rust: parse and write every spelling that NumPy uses, lay out fields as NumPy and C do, convert array
//! elements from and to JSON and text, and read and write the headers of `.npy` files.
//!
//! A [`DType`] describes the elements of an array: their kind, byte order, size and fields. The crate does no I/O and evaluates
//! no Python code.
//!
//! # Spellings
//!
//! ```text
//! spelling    NumPy        where             examples                               written by
//! name        str(dtype)   bcolz, BLZ        float64, >i4, |S10, datetime64[ns]     Display
//! code        dtype.str    Zarr, meta/index  <f8, >i4, |S10, <M8[ns]                code
//! list        dtype.descr  .npy, bcolz       [('a', '<i4'), ('b', '<f8', (2,))]     descr,
//!                                                                                   Display
//! dictionary  str(dtype)   padded fields     {'names': ['a'], 'formats': ['<i4'],   Display
//!                                             'offsets': [4], 'itemsize': 8}
//! call        repr(dtype)                    dtype([('a', 'i1'), ('b', '<f8')],     only read
//!                                                  align=True)
//! JSON                     BLZ document      [["a", "<i4"], ["b", [["c", "<f8"]]]]  to_json
//!
//! a code
//!
//!  <  M 8 [25s]
//!  │  │ │   └─ unit of a time
//!  │  │ └─ bytes; characters for U
//!  │  └─ b bool, i int, u unsigned, f float, c complex, S bytes, U text,
//!  │     M datetime, m timedelta, V void, O object
//!  └─ < little-endian, > big-endian, | no order
//!
//! fields in an element
//!
//!  [('a', 'i1'), ('b', '<f8', (2,))], 17 bytes
//!   a | b[0] . . . . . . . | b[1] . . . . . . .
//!   0   1                    9
//!
//!  the same with align=True, 24 bytes
//!   a | padding . . . | b[0] . . . . . . . | b[1] . . . . . . .
//!   0   1               8                    16
//! ```
//!
//! [`DType::parse`] reads all of them except JSON lists, which [`DType::from_json`] reads. A code without a byte order, or with
//! `=`, is little-endian. Names whose size depends on the machine, such as `int`, are refused.
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
//! | a `.npy` file | dtype, shape and order of its array | [`NpyHeader::parse`] |
//! | an array to save | the bytes before its elements in a `.npy` file | [`NpyHeader::encode`] |
//! | `f64`, `i32`, ... | the dtype of such values | [`Element::DTYPE`] |
//!
//! # Elements
//!
//! Elements are plain bytes in the byte order of their dtype. Functions that take one element require a buffer of exactly
//! [`DType::itemsize`] bytes; `to_little` takes any number of elements.
//!
//! # Errors
//!
//! Dtypes and elements fail with a [`DTypeError`], `.npy` headers with an [`NpyError`], and typed access with a
//! [`WrongElement`]. Messages name what was found and what was expected.
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
//! Dtypes often come from untrusted files, so their size is bounded:
//!
//! | | limit |
//! |---|--:|
//! | bytes of an element | 2^31 - 1, as in NumPy |
//! | fields, with nested ones | 65,536 |
//! | levels of nested fields | 32 |
//! | dimensions of a field, or of an array in a `.npy` file | 64 |
//! | overlap of fields: how often each byte is contained, on average | 64 |
//! | text that [`DType::parse`] reads | 2 MiB |
//! | header of a `.npy` file | 1 MiB |
//!
//! Python objects are recognized, but their elements are neither read nor written: the bytes are pickles.

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

/// The byte order of numbers. Types of single bytes, and types without numbers, are always `Little`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum ByteOrder {
    /// Least significant byte first: `<`.
    #[default]
    Little,
    /// Most significant byte first: `>`.
    Big,
}

/// The meaning of the bytes of an element.
///
/// The [item size](DType::itemsize) selects the width: `Kind::Int` with 4 bytes is NumPy's `int32`. [`DType::new`] combines
/// both and lists the valid sizes.
///
/// ```
/// use bloscpack_dtype::{DType, Kind};
///
/// let is_number = |dtype: &DType| matches!(dtype.kind(), Kind::Int | Kind::Uint | Kind::Float | Kind::Complex);
/// assert!(is_number(&DType::C64) && !is_number(&DType::BOOL));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Kind {
    /// One byte: 0 is false, any other value is read as true, and 1 is written.
    Bool,
    /// A signed integer of 1, 2, 4 or 8 bytes.
    Int,
    /// An unsigned integer of 1, 2, 4 or 8 bytes.
    Uint,
    /// An IEEE 754 float of 2, 4 or 8 bytes, or an extended float of 12 or 16 bytes. The format of extended floats depends on
    /// the machine that wrote them, so only their bytes are converted.
    Float,
    /// Two floats of half the item size: real and imaginary part.
    Complex,
    /// A string of bytes, padded with zeros; NumPy's `S`. Zeros at its end are not part of the string.
    Bytes,
    /// A string of Unicode code points of four bytes each, padded with zeros; NumPy's `U`.
    Text,
    /// A point in time: a signed 64-bit count of units since 1970-01-01. `i64::MIN` is "not a time" (NaT).
    Datetime(TimeUnit),
    /// A duration: a signed 64-bit count of units. `i64::MIN` is "not a time" (NaT).
    Timedelta(TimeUnit),
    /// Opaque bytes; NumPy's `V`.
    Void,
    /// Named fields; NumPy's structured dtypes.
    Struct(Box<Struct>),
    /// Python objects, whose bytes are pickles: never read or written.
    Object,
}

/// The unit that a [`Kind::Datetime`] or [`Kind::Timedelta`] counts: a multiple of a base unit, as in `datetime64[25s]`.
///
/// ```
/// use bloscpack_dtype::{DType, TimeBase, TimeUnit};
///
/// let unit = TimeUnit { base: Some(TimeBase::Second), count: 25 };
/// assert_eq!(DType::datetime(unit)?.to_string(), "datetime64[25s]");
/// assert_eq!(DType::datetime(TimeUnit::GENERIC)?.to_string(), "datetime64");
/// # Ok::<(), bloscpack_dtype::DTypeError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct TimeUnit {
    /// The base unit; `None` for NumPy's generic unit.
    pub base: Option<TimeBase>,
    /// Base units per step: 1 to 2^31 - 1. [`DType::new`] checks it, and sets it to 1 for the generic unit.
    pub count: u32,
}

/// NumPy's base units of time: `Y`, `M`, `W`, `D`, `h`, `m`, `s`, `ms`, `us`, `ns`, `ps`, `fs` and `as`.
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

/// The fields of a structured dtype.
///
/// ```
/// use bloscpack_dtype::{DType, Kind};
///
/// let aligned = DType::parse("dtype([('a', 'i1'), ('b', '<f8')], align=True)")?;
/// assert!(matches!(aligned.kind(), Kind::Struct(of) if of.aligned && of.fields.len() == 2));
/// # Ok::<(), bloscpack_dtype::DTypeError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Struct {
    /// The fields in the order of their spelling, which may differ from the order of their offsets. Fields may overlap, and
    /// padding between them is not listed.
    pub fields: Vec<Field>,
    /// Whether each field is aligned as by a C compiler on a 64-bit machine; NumPy's `align=True`.
    pub aligned: bool,
}

/// A field of a structured dtype. It occupies the product of its shape times the item size of its dtype, from `offset`.
///
/// ```
/// use bloscpack_dtype::DType;
///
/// let dtype = DType::parse("dtype([('a', 'i1'), ('b', '<f8', (2,))], align=True)")?;
/// let field = &dtype.fields().ok_or("no fields")?[1];
/// assert_eq!((field.name.as_str(), &field.dtype), ("b", &DType::F64));
/// assert_eq!((field.offset, field.shape.as_slice()), (8, &[2][..]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Field {
    /// The name, which is not empty and differs from all other names and titles of the dtype.
    pub name: String,
    /// NumPy's second name of a field. Spellings keep it; values are keyed by `name`.
    pub title: Option<String>,
    /// The dtype of one element of the field.
    pub dtype: DType,
    /// Elements along each axis, in C order; empty for a single element.
    pub shape: Vec<u64>,
    /// Position of the field's first byte in the element.
    pub offset: u64,
}

/// The type of the elements of an array.
///
/// Every value of this type is valid: [`DType::new`] and all parsers check size, fields and [limits](crate#limits). Two dtypes
/// are equal if kind, byte order, item size and all fields (names, titles, offsets, `aligned`) are.
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

    /// The byte order of the numbers. A structured dtype is always `Little`, and each of its fields has its own order:
    /// [`is_big`](Self::is_big) looks at all of them.
    #[must_use]
    pub fn order(&self) -> ByteOrder {
        self.order
    }

    /// Bytes of an element: 0 to 2^31 - 1. 0 is valid for bytes, text, void and structured dtypes (`S0`, `V0`).
    #[must_use]
    pub fn itemsize(&self) -> u64 {
        self.itemsize
    }
}

/// Runs the example of the README as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
