//! [`Value`]: a MessagePack value, decoded from and encoded to bytes.
//!
//! Blosc2 frames and stores keep their metadata in MessagePack; `docs/format-stores.md` in the repository shows where.

mod encode;
mod json;

#[doc(hidden)]
pub use json::split_strings;

use bloscpack_error::checked::to_usize;
use bloscpack_error::{Code, Error, Result};
use std::fmt::Display;

/// The maximum depth of nested lists and maps. python-msgpack refuses more than 511.
const MAX_DEPTH: usize = 128;
/// The maximum number of values that are decoded together: a value of one byte takes more memory than that byte.
pub const MAX_VALUES: usize = 1 << 25;

/// A MessagePack value: metadata of a frame or store, or an item of a column whose values vary in length.
///
/// ```
/// use bloscpack_array::msgpack::Value;
/// let value = Value::decode(b"\x82\xa1a\x01\xa1b\x92\xc0\xc3")?;
/// assert_eq!(value.get("a"), Some(&Value::Int(1)));
/// assert_eq!(value.get("b"), Some(&Value::List(vec![Value::Nil, Value::Bool(true)])));
/// # Ok::<(), bloscpack_error::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Value {
    /// No value; a missing row in a column.
    Nil,
    /// `true` or `false`.
    Bool(bool),
    /// An integer that fits 64 bits with a sign.
    Int(i64),
    /// An integer of 2^63 or more.
    UInt(u64),
    /// A float. Floats of 32 bits are widened.
    Float(f64),
    /// Text in UTF-8.
    Text(String),
    /// Binary data.
    Bytes(Vec<u8>),
    /// Values in order. Python's tuples are lists that begin with the text `__tuple__`, see [`as_tuple`](Self::as_tuple).
    List(Vec<Value>),
    /// Key and value pairs in the order of the bytes. Keys may repeat.
    Map(Vec<(Value, Value)>),
    /// An application's type: its number and its bytes.
    Ext(i8, Vec<u8>),
}

/// The error for bytes that are not MessagePack, or for a value that MessagePack cannot store.
fn error(code: Code, what: impl Display) -> Error {
    Error::new(code, format!("MessagePack: {what}"))
}

fn damaged<T>(what: impl Display) -> Result<T> {
    Err(error(Code::Damaged, what))
}

impl Value {
    /// Decodes bytes that are exactly one value. Memory grows with the bytes, not with the lengths that they claim.
    ///
    /// # Errors
    /// Returns [`Code::Damaged`] for bytes that are cut short or invalid or continue after the value, for text that is not
    /// UTF-8, for values nested more than 128 deep, and for more than [`MAX_VALUES`] values.
    pub fn decode(bytes: &[u8]) -> Result<Self> {
        Self::decode_within(bytes, &mut MAX_VALUES.clone())
    }

    /// Decodes like [`decode`](Self::decode), but at most `values` values, counting nested ones. The count is subtracted from
    /// `values`, so several calls can share one bound.
    ///
    /// ```
    /// use bloscpack_array::msgpack::Value;
    /// let mut left = 3;
    /// Value::decode_within(b"\x91\xc0", &mut left)?;
    /// assert_eq!(left, 1);
    /// assert!(Value::decode_within(b"\x91\xc0", &mut left).is_err());
    /// # Ok::<(), bloscpack_error::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns the errors of [`decode`](Self::decode), and [`Code::Damaged`] for more than `values` values.
    pub fn decode_within(bytes: &[u8], values: &mut usize) -> Result<Self> {
        let mut reader = Reader {
            rest: bytes,
            len: bytes.len(),
            values: *values,
        };
        let value = reader.value(0)?;
        *values = reader.values;
        match reader.rest.len() {
            0 => Ok(value),
            rest => damaged(format_args!("{rest} bytes follow the value")),
        }
    }

    /// The first value with this key; `None` if this is not a map, or does not have the key.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&Self> {
        let Self::Map(pairs) = self else { return None };
        let found = pairs.iter().find(|(name, _)| name.as_text() == Some(key));
        found.map(|(_, value)| value)
    }

    /// The text; `None` for another kind of value.
    #[must_use]
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The integer, if it is 0 or more; `None` for another kind of value.
    #[must_use]
    pub fn as_count(&self) -> Option<u64> {
        match self {
            Self::Int(number) => u64::try_from(*number).ok(),
            Self::UInt(number) => Some(*number),
            _ => None,
        }
    }

    /// The items of a list, including the mark of a Python tuple; `None` for another kind of value.
    #[must_use]
    pub fn as_list(&self) -> Option<&[Self]> {
        match self {
            Self::List(values) => Some(values),
            _ => None,
        }
    }

    /// The items of a list, or of a Python tuple without the mark `__tuple__` that python-blosc2 puts first.
    #[must_use]
    pub fn as_tuple(&self) -> Option<&[Self]> {
        match self.as_list()? {
            [Self::Text(mark), rest @ ..] if mark == "__tuple__" => Some(rest),
            all => Some(all),
        }
    }
}

/// The bytes that are not decoded yet.
struct Reader<'a> {
    rest: &'a [u8],
    len: usize,
    /// The number of values that may still be decoded.
    values: usize,
}

impl<'a> Reader<'a> {
    fn take(&mut self, len: usize) -> Result<&'a [u8]> {
        let Some((taken, rest)) = self.rest.split_at_checked(len) else {
            return damaged(format_args!("cut short after {} bytes", self.len));
        };
        self.rest = rest;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N]> {
        let mut array = [0; N];
        array.copy_from_slice(self.take(N)?);
        Ok(array)
    }

    fn u8(&mut self) -> Result<u8> {
        Ok(u8::from_be_bytes(self.array()?))
    }

    /// Reads a length of 1, 2 or 4 bytes.
    fn len(&mut self, bytes: u8) -> Result<usize> {
        Ok(match bytes {
            1 => self.u8()?.into(),
            2 => u16::from_be_bytes(self.array()?).into(),
            _ => to_usize(u32::from_be_bytes(self.array()?)),
        })
    }

    fn value(&mut self, depth: usize) -> Result<Value> {
        if depth > MAX_DEPTH {
            return damaged(format_args!(
                "more than {MAX_DEPTH} values within each other"
            ));
        }
        let Some(left) = self.values.checked_sub(1) else {
            return damaged(format_args!("more than {MAX_VALUES} values"));
        };
        self.values = left;
        let first = self.u8()?;
        Ok(match first {
            0x00..=0x7f => Value::Int(first.into()),
            0x80..=0x8f => self.map(usize::from(first & 0x0f), depth)?,
            0x90..=0x9f => self.list(usize::from(first & 0x0f), depth)?,
            0xa0..=0xbf => self.text(usize::from(first & 0x1f))?,
            0xc0 => Value::Nil,
            0xc1 => return damaged("the byte c1, with which nothing begins"),
            0xc2 => Value::Bool(false),
            0xc3 => Value::Bool(true),
            0xc4..=0xc6 => {
                let len = self.len(1 << (first - 0xc4))?;
                Value::Bytes(self.take(len)?.to_vec())
            }
            0xc7..=0xc9 => {
                let len = self.len(1 << (first - 0xc7))?;
                self.extension(len)?
            }
            0xca => Value::Float(f32::from_be_bytes(self.array()?).into()),
            0xcb => Value::Float(f64::from_be_bytes(self.array()?)),
            0xcc => Value::Int(self.u8()?.into()),
            0xcd => Value::Int(u16::from_be_bytes(self.array()?).into()),
            0xce => Value::Int(u32::from_be_bytes(self.array()?).into()),
            0xcf => {
                let number = u64::from_be_bytes(self.array()?);
                i64::try_from(number).map_or(Value::UInt(number), Value::Int)
            }
            0xd0 => Value::Int(i8::from_be_bytes(self.array()?).into()),
            0xd1 => Value::Int(i16::from_be_bytes(self.array()?).into()),
            0xd2 => Value::Int(i32::from_be_bytes(self.array()?).into()),
            0xd3 => Value::Int(i64::from_be_bytes(self.array()?)),
            0xd4..=0xd8 => self.extension(1 << (first - 0xd4))?,
            0xd9..=0xdb => {
                let len = self.len(1 << (first - 0xd9))?;
                self.text(len)?
            }
            0xdc | 0xdd => {
                let len = self.len(2 << (first - 0xdc))?;
                self.list(len, depth)?
            }
            0xde | 0xdf => {
                let len = self.len(2 << (first - 0xde))?;
                self.map(len, depth)?
            }
            0xe0..=0xff => Value::Int(i8::from_be_bytes([first]).into()),
        })
    }

    fn text(&mut self, len: usize) -> Result<Value> {
        match str::from_utf8(self.take(len)?) {
            Ok(text) => Ok(Value::Text(text.to_owned())),
            Err(_) => damaged("text that is not UTF-8"),
        }
    }

    fn extension(&mut self, len: usize) -> Result<Value> {
        let [number] = self.array()?;
        Ok(Value::Ext(
            i8::from_be_bytes([number]),
            self.take(len)?.to_vec(),
        ))
    }

    /// Memory grows with the values that are found, not with the number that the head claims.
    fn list(&mut self, len: usize, depth: usize) -> Result<Value> {
        let values = (0..len).map(|_| self.value(depth + 1));
        values.collect::<Result<_>>().map(Value::List)
    }

    fn map(&mut self, len: usize, depth: usize) -> Result<Value> {
        let pairs = (0..len).map(|_| Ok((self.value(depth + 1)?, self.value(depth + 1)?)));
        pairs.collect::<Result<_>>().map(Value::Map)
    }
}
