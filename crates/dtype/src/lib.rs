//! What an element is, as NumPy describes it.
//!
//! [`DType::parse`] reads every spelling that NumPy writes of a type, `Display` writes the one that
//! datasets keep, [`DType::code`] and [`DType::descr`] the others; [`DType::to_json`] and
//! [`DType::from_json`] are the nested lists of the BLZ document. Of elements, [`DType::value`] and
//! [`DType::write_text`] make JSON and text, [`DType::from_value`] and [`DType::parse_text`] the way
//! back, and [`DType::to_little`] turns their bytes.

pub mod boxes;
mod build;
mod date;
mod element;
mod error;
mod float;
mod layout;
pub mod literal;
mod name;
pub mod native;
pub mod npy;
mod order;
mod parse;
mod spell;
pub mod strided;
#[cfg(test)]
mod tests;
mod unit;
mod value;

pub use error::DTypeError;

pub use native::{Element, WrongElement};
pub use npy::{NpyError, NpyHeader};
pub use parse::of_literal;
pub use spell::tuple;

/// Which end of a number comes first. Types of single bytes, and what has no order, are little.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum ByteOrder {
    /// The least byte first, `<`.
    #[default]
    Little,
    /// The greatest byte first, `>`.
    Big,
}

/// What the bytes of an element mean.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Kind {
    /// One byte, 0 or 1.
    Bool,
    /// A signed integer of 1, 2, 4 or 8 bytes.
    Int,
    /// An unsigned integer of 1, 2, 4 or 8 bytes.
    Uint,
    /// A float of 2, 4 or 8 bytes, or the extended one of some machine.
    Float,
    /// Two floats.
    Complex,
    /// Bytes of a fixed length, with zeros behind the last that counts; NumPy's `S`.
    Bytes,
    /// Characters of four bytes each, with zeros behind the last that counts; NumPy's `U`.
    Text,
    /// A moment, as a count of units since 1970; the smallest integer is "not a time".
    Datetime(TimeUnit),
    /// A span, as a count of units; the smallest integer is "not a time".
    Timedelta(TimeUnit),
    /// Bytes of which nothing is known.
    Void,
    /// Fields side by side.
    Struct(Box<Struct>),
    /// Python objects. Their bytes are pickles, which nothing here opens.
    Object,
}

/// What a [`Kind::Datetime`] or [`Kind::Timedelta`] counts: so many of a unit, or nothing known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct TimeUnit {
    /// `None` is NumPy's generic unit.
    pub base: Option<TimeBase>,
    /// How many of them one step is; at least 1.
    pub count: u32,
}

/// The units of time that NumPy knows.
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

/// The fields of an element, in the order in which they were named.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Struct {
    /// The fields.
    pub fields: Vec<Field>,
    /// Whether NumPy laid it out as C would.
    pub aligned: bool,
}

/// A field of an element.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Field {
    /// Its name.
    pub name: String,
    /// What else it may be called.
    pub title: Option<String>,
    /// What it is.
    pub dtype: DType,
    /// How many of them along each axis; empty for a single one.
    pub shape: Vec<u64>,
    /// Bytes before it.
    pub offset: u64,
}

/// The type of an array's elements.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct DType {
    kind: Kind,
    order: ByteOrder,
    itemsize: u64,
}

impl DType {
    /// What the bytes mean.
    #[must_use]
    pub fn kind(&self) -> &Kind {
        &self.kind
    }

    /// Which byte comes first.
    #[must_use]
    pub fn order(&self) -> ByteOrder {
        self.order
    }

    /// Bytes of an element.
    #[must_use]
    pub fn itemsize(&self) -> u64 {
        self.itemsize
    }
}
