//! The header of a `.npy` file, which contains one array.
//!
//! ```text
//! version 1        offset   bytes   content
//!                  0        6       93 "NUMPY"
//!                  6        2       version: 01 00
//!                  8        2       length H of the text
//!                  10       H       text, Latin-1
//!                  10 + H           elements
//!
//! versions 2, 3    0        6       93 "NUMPY"
//!                  6        2       version: 02 00 or 03 00
//!                  8        4       length H of the text
//!                  12       H       text, Latin-1 (version 2) or UTF-8 (version 3)
//!                  12 + H           elements
//!
//! text             {'descr': '<f8', 'fortran_order': False, 'shape': (20, 30), }      spaces      \n
//! ```
//!
//! Lengths are little-endian. NumPy pads the text with spaces so that the elements begin at a multiple of 64 bytes (16 before
//! NumPy 1.14). The text is parsed, never evaluated.

use crate::literal::Literal;
use crate::{DType, DTypeError, Kind, of_literal, tuple};
use std::borrow::Cow;
use std::fmt::Display;
use thiserror::Error;

const MAGIC: &[u8; 6] = b"\x93NUMPY";
/// Length of magic, version, and the length field of version 1.
const SHORT_PREFIX: usize = 10;
/// Length of magic, version, and the length field of versions 2 and 3.
const LONG_PREFIX: usize = 12;
/// The position of the elements is a multiple of this.
const ALIGNMENT: usize = 64;
/// Characters that the length of the axis along which an array grows can take without a longer header, as in NumPy.
const GROWTH: usize = 21;
/// NumPy's limit on the dimensions of an array.
const MAX_DIMENSIONS: usize = 64;
/// Bytes of the longest text: enough for thousands of fields. NumPy refuses more than 10,000 by default.
const MAX_HEADER: usize = 1 << 20;

/// The error for bytes that are not a `.npy` header, and for arrays that a `.npy` file cannot store.
///
/// ```
/// use bloscpack_dtype::NpyHeader;
///
/// let error = NpyHeader::parse(b"\x93NUMPY\x01\x00").unwrap_err();
/// assert!(error.is_cut_short());
/// assert!(!NpyHeader::parse(b"day,close,volume").unwrap_err().is_cut_short());
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{message}")]
pub struct NpyError {
    message: Cow<'static, str>,
    is_cut_short: bool,
}

impl NpyError {
    fn new(message: impl Into<Cow<'static, str>>) -> Self {
        Self {
            message: message.into(),
            is_cut_short: false,
        }
    }

    /// The error for a wrong part of the text.
    fn header(what: impl Display) -> Self {
        Self::new(format!(".npy header: {what}"))
    }

    /// The error for a header that ends after `found` of `expected` bytes.
    fn cut_short(found: usize, expected: usize) -> Self {
        let message = format!(".npy header is cut short: ends at byte {found} of {expected}");
        Self {
            is_cut_short: true,
            ..Self::new(message)
        }
    }

    fn too_long(found: usize) -> Self {
        Self::new(format!(
            ".npy header of {found} bytes exceeds the limit of {MAX_HEADER}"
        ))
    }

    fn descr(error: DTypeError) -> Self {
        Self::header(format_args!("'descr': {error}"))
    }

    fn keys() -> Self {
        Self::new(
            ".npy header is not a dictionary with the keys 'descr', 'fortran_order' and 'shape', each once",
        )
    }

    fn too_large() -> Self {
        Self::header("the array has more than 2^64 bytes")
    }

    /// Whether bytes of the header are missing. If not, the file is not a `.npy` file, or not one that is supported.
    #[must_use]
    pub fn is_cut_short(&self) -> bool {
        self.is_cut_short
    }
}

/// The header of a `.npy` file: dtype, order and shape of its array. Versions 1.0, 2.0 and 3.0 are read and written.
///
/// ```
/// use bloscpack_dtype::{DType, NpyHeader};
///
/// let header = NpyHeader { dtype: DType::F64, fortran_order: false, shape: vec![2] };
/// let mut file = header.encode()?;
/// for value in [1.5_f64, 2.5] {
///     file.extend(value.to_le_bytes());
/// }
/// let (read, start) = NpyHeader::parse(&file)?;
/// assert_eq!(read, header);
/// assert_eq!((file.len() - start, read.content_len()), (16, Some(16)));
/// # Ok::<(), bloscpack_dtype::NpyError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NpyHeader {
    /// The dtype of the elements. Python objects, which would be pickles, are refused by [`parse`](Self::parse) and
    /// [`encode`](Self::encode).
    pub dtype: DType,
    /// The order of the elements: Fortran order (the first axis varies fastest) if true, C order (the last axis) if false.
    pub fortran_order: bool,
    /// Elements along each axis. An array without axes has one element, and one with an axis of 0 has none.
    pub shape: Vec<u64>,
}

impl NpyHeader {
    /// The bytes at the start of a file that [`NpyHeader::len_of`] needs, in any version.
    pub const START: usize = LONG_PREFIX;

    /// The number of bytes before the elements, from the first [`NpyHeader::START`] bytes of a file. Use it to read exactly the
    /// bytes that [`NpyHeader::parse`] needs.
    ///
    /// ```
    /// use bloscpack_dtype::NpyHeader;
    ///
    /// assert_eq!(NpyHeader::len_of(b"\x93NUMPY\x01\x00\x76\x00{'")?, 128);
    /// # Ok::<(), bloscpack_dtype::NpyError>(())
    /// ```
    ///
    /// # Errors
    /// Fails if `start` is not the start of a `.npy` file, is cut short, or has an unknown version or a text of more than 1
    /// MiB.
    pub fn len_of(start: &[u8]) -> Result<usize, NpyError> {
        let prefix = Prefix::parse(start)?;
        Ok(prefix.start + prefix.len)
    }

    /// Parses the header at the start of a file, and returns it with its length, the position of the first element. Bytes after
    /// the header are ignored.
    ///
    /// ```
    /// use bloscpack_dtype::{DType, NpyHeader};
    ///
    /// let file = b"\x93NUMPY\x01\x00\x37\x00\
    ///     {'descr': '<f8', 'fortran_order': False, 'shape': (2,)}";
    /// let (header, len) = NpyHeader::parse(file)?;
    /// assert_eq!((header.dtype, header.shape, len), (DType::F64, vec![2], 65));
    /// # Ok::<(), bloscpack_dtype::NpyError>(())
    /// ```
    ///
    /// # Errors
    /// Returns the errors of [`NpyHeader::len_of`]. Fails if the header is cut short, if its text is not a dictionary with
    /// exactly the three keys and valid values, if the elements are objects, or if the array has 2^64 bytes or more.
    pub fn parse(bytes: &[u8]) -> Result<(Self, usize), NpyError> {
        let Prefix {
            start,
            len,
            is_utf8,
        } = Prefix::parse(bytes)?;
        let end = start + len;
        let text = bytes
            .get(start..end)
            .ok_or_else(|| NpyError::cut_short(bytes.len(), end))?;
        let text = if is_utf8 {
            std::str::from_utf8(text)
                .map_err(|error| NpyError::new(format!(".npy header is not UTF-8: {error}")))?
                .to_owned()
        } else {
            text.iter().copied().map(char::from).collect()
        };
        let literal = Literal::parse(&text).map_err(NpyError::header)?;
        Ok((Self::of_literal(&literal)?, end))
    }

    fn of_literal(map: &Literal) -> Result<Self, NpyError> {
        let Literal::Map(members) = map else {
            return Err(NpyError::keys());
        };
        let mut keys: Vec<_> = members.iter().map(|(key, _)| key.as_str()).collect();
        keys.sort_unstable();
        if keys != ["descr", "fortran_order", "shape"] {
            return Err(NpyError::keys());
        }
        let descr = map.get("descr").ok_or_else(NpyError::keys)?;
        let dtype = of_literal(descr, false).map_err(NpyError::descr)?;
        if dtype.has_object() {
            return Err(NpyError::descr(DTypeError::object()));
        }
        let Some(Literal::Truth(fortran_order)) = map.get("fortran_order") else {
            return Err(NpyError::header(
                "'fortran_order' is neither True nor False",
            ));
        };
        let shape = map.get("shape").and_then(axes);
        let shape = shape.filter(|shape| shape.len() <= MAX_DIMENSIONS);
        let shape = shape.ok_or_else(|| {
            NpyError::header(format_args!(
                "'shape' is not a tuple of at most {MAX_DIMENSIONS} non-negative integers"
            ))
        })?;
        let header = Self {
            dtype,
            fortran_order: *fortran_order,
            shape,
        };
        match header.content_len() {
            Some(_) => Ok(header),
            None => Err(NpyError::too_large()),
        }
    }

    /// The bytes of one number in a `.npy` file, a good typesize for shuffle: half an element for complex numbers, and an
    /// element for bools, integers, floats and times. `None` for other elements, for other files, and if `start` does not
    /// contain the whole header.
    ///
    /// ```
    /// use bloscpack_dtype::NpyHeader;
    ///
    /// let file = b"\x93NUMPY\x01\x00\x37\x00\
    ///     {'descr': '<f4', 'fortran_order': False, 'shape': (2,)}";
    /// assert_eq!(NpyHeader::number_size(file), Some(4));
    /// assert_eq!(NpyHeader::number_size(b"day,close,volume"), None);
    /// ```
    #[must_use]
    pub fn number_size(start: &[u8]) -> Option<u8> {
        let (header, _) = Self::parse(start).ok()?;
        let itemsize = u8::try_from(header.dtype.itemsize()).ok()?;
        match header.dtype.kind() {
            Kind::Bool | Kind::Int | Kind::Uint | Kind::Float => Some(itemsize),
            Kind::Datetime(_) | Kind::Timedelta(_) => Some(itemsize),
            Kind::Complex => Some(itemsize / 2),
            Kind::Bytes | Kind::Text | Kind::Void | Kind::Struct(_) | Kind::Object => None,
        }
    }

    /// Bytes of all elements. `None` if the product of the item size and all axes other than 0 exceeds 64 bits.
    ///
    /// ```
    /// use bloscpack_dtype::{DType, NpyHeader};
    ///
    /// let (dtype, shape) = (DType::F64, vec![20, 30]);
    /// let header = NpyHeader { dtype, fortran_order: false, shape };
    /// assert_eq!(header.content_len(), Some(4800));
    /// ```
    #[must_use]
    pub fn content_len(&self) -> Option<u64> {
        let mut axes = self.shape.iter().filter(|len| **len > 0);
        let itemsize = self.dtype.itemsize();
        let len = axes.try_fold(itemsize, |product, len| product.checked_mul(*len))?;
        Some(if self.shape.contains(&0) { 0 } else { len })
    }

    /// The bytes before the elements, exactly as NumPy 2 writes them: version 1, version 2 if the text exceeds 65,535 bytes, or
    /// version 3 if the name of a field has characters outside Latin-1. The length is a multiple of 64.
    ///
    /// ```
    /// use bloscpack_dtype::{DType, NpyHeader};
    ///
    /// let header = NpyHeader { dtype: DType::I32, fortran_order: false, shape: vec![3] };
    /// let bytes = header.encode()?;
    /// assert_eq!(bytes.len(), 128);
    /// assert_eq!(NpyHeader::parse(&bytes)?, (header, 128));
    /// # Ok::<(), bloscpack_dtype::NpyError>(())
    /// ```
    ///
    /// # Errors
    /// Fails if fields overlap or are out of order, which a `.npy` file cannot express, if the elements are objects, or if the
    /// text would exceed 1 MiB. The shape is not checked.
    pub fn encode(&self) -> Result<Vec<u8>, NpyError> {
        if self.dtype.has_object() {
            return Err(NpyError::descr(DTypeError::object()));
        }
        let descr = self.dtype.descr().map_err(NpyError::descr)?;
        let order = if self.fortran_order { "True" } else { "False" };
        let shape = tuple(&self.shape);
        let mut text =
            format!("{{'descr': {descr}, 'fortran_order': {order}, 'shape': {shape}, }}");
        let growing = if self.fortran_order {
            self.shape.last()
        } else {
            self.shape.first()
        };
        if let Some(len) = growing {
            // A `u64` has at most 20 digits.
            let spare = GROWTH - len.to_string().len();
            text.extend(std::iter::repeat_n(' ', spare));
        }
        let latin: Option<Vec<u8>> = text.chars().map(|c| u8::try_from(c).ok()).collect();
        let bytes = match latin {
            Some(latin) => match with_prefix(&latin, 1) {
                None => with_prefix(&latin, 2),
                short => short,
            },
            None => with_prefix(text.as_bytes(), 3),
        };
        bytes.ok_or_else(|| NpyError::too_long(text.len()))
    }
}

/// Magic, version and length: the fields before the text.
struct Prefix {
    /// The position of the text.
    start: usize,
    /// Bytes of the text.
    len: usize,
    is_utf8: bool,
}

impl Prefix {
    fn parse(bytes: &[u8]) -> Result<Self, NpyError> {
        let (magic, rest) = bytes.split_at(MAGIC.len().min(bytes.len()));
        if magic != MAGIC {
            return Err(NpyError::new(format!(
                "not a .npy file: begins with {magic:02x?}, expected {MAGIC:02x?}"
            )));
        }
        let (start, len, is_utf8) = match rest {
            [1, 0, a, b, ..] => (SHORT_PREFIX, u16::from_le_bytes([*a, *b]).into(), false),
            [version @ (2 | 3), 0, a, b, c, d, ..] => {
                let len = u32::from_le_bytes([*a, *b, *c, *d]);
                (LONG_PREFIX, len, *version == 3)
            }
            [1..=3, 0, ..] | [] | [_] => {
                let expected = if rest.first() == Some(&1) {
                    SHORT_PREFIX
                } else {
                    LONG_PREFIX
                };
                return Err(NpyError::cut_short(bytes.len(), expected));
            }
            [major, minor, ..] => {
                return Err(NpyError::new(format!(
                    ".npy version {major}.{minor} is not supported (1.0, 2.0 and 3.0 are)"
                )));
            }
        };
        match usize::try_from(len) {
            Ok(len) if len <= MAX_HEADER => Ok(Self {
                start,
                len,
                is_utf8,
            }),
            Ok(found) => Err(NpyError::too_long(found)),
            Err(_) => Err(NpyError::too_large()),
        }
    }
}

fn axes(shape: &Literal) -> Option<Vec<u64>> {
    let Literal::Sequence(axes) = shape else {
        return None;
    };
    let axes = axes.iter().map(|axis| match axis {
        Literal::Whole(len) => Some(*len),
        _ => None,
    });
    axes.collect()
}

/// Adds magic, version and length before the text, and spaces and a newline after it; `None` if it is too long for the version.
fn with_prefix(text: &[u8], version: u8) -> Option<Vec<u8>> {
    let start = match version {
        1 => SHORT_PREFIX,
        _ => LONG_PREFIX,
    };
    // 1 to 64 spaces, as in NumPy.
    let spaces = ALIGNMENT - (start + text.len() + 1) % ALIGNMENT;
    let len = text.len() + spaces + 1;
    let mut bytes = [MAGIC.as_slice(), &[version, 0]].concat();
    match version {
        1 => bytes.extend(u16::try_from(len).ok()?.to_le_bytes()),
        _ if len > MAX_HEADER => return None,
        _ => bytes.extend(u32::try_from(len).ok()?.to_le_bytes()),
    }
    bytes.extend_from_slice(text);
    bytes.extend(std::iter::repeat_n(b' ', spaces));
    bytes.push(b'\n');
    Some(bytes)
}

#[cfg(test)]
mod tests;
