//! The header of a `.npy` file, which contains one array.
//!
//! ```text
//! 93 "NUMPY" | version 1, 0 | u16 length |  header, latin-1 | the elements
//!            | version 2, 0 | u32 length |  header, latin-1 |
//!            | version 3, 0 | u32 length |  header, utf-8   |
//!
//! {'descr': '<f8', 'fortran_order': False, 'shape': (20, 30), }      spaces      \n
//! ```
//!
//! The elements begin at a multiple of 64 bytes in files that NumPy writes today, and of 16 in older
//! ones. Lengths are little-endian. Nothing of the header is ever evaluated.

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
/// The elements begin at a multiple of this.
const ALIGNMENT: usize = 64;
/// Characters that are kept free for the length of the axis along which an array grows.
const GROWTH: usize = 21;
/// The limit of NumPy for the dimensions of an array.
const MAX_DIMENSIONS: usize = 64;
/// More than thousands of fields need; NumPy refuses more than 10,000 bytes by default.
const MAX_HEADER: usize = 1 << 20;

/// Why this is not the header of a `.npy` file, or why an array has none.
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

    /// The part of the header that is wrong.
    fn header(what: impl Display) -> Self {
        Self::new(format!(".npy header: {what}"))
    }

    /// The header ends after the bytes that are there.
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

    /// Whether bytes of the header are missing; if not, this is not supported.
    #[must_use]
    pub fn is_cut_short(&self) -> bool {
        self.is_cut_short
    }
}

/// The header of a `.npy` file, which describes its array.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NpyHeader {
    /// The type of the elements. It contains no Python objects: those would be pickles.
    pub dtype: DType,
    /// Whether consecutive elements follow each other along the first axis, and not along the last.
    pub fortran_order: bool,
    /// Elements along each axis. An array without axes has one element.
    pub shape: Vec<u64>,
}

impl NpyHeader {
    /// The number of bytes at the start of a file from which [`NpyHeader::len_of`] finds out the
    /// length of its header.
    pub const START: usize = LONG_PREFIX;

    /// The number of bytes before the elements, in a file that begins with these
    /// [`NpyHeader::START`] bytes.
    ///
    /// ```
    /// use bloscpack_dtype::npy::NpyHeader;
    ///
    /// assert_eq!(NpyHeader::len_of(b"\x93NUMPY\x01\x00\x76\x00{'")?, 128);
    /// # Ok::<(), bloscpack_dtype::npy::NpyError>(())
    /// ```
    ///
    /// # Errors
    /// Returns an error if this is not a `.npy` file, ends within these bytes, has an unknown version,
    /// or a header of more than 1 MiB.
    pub fn len_of(start: &[u8]) -> Result<usize, NpyError> {
        let prefix = Prefix::parse(start)?;
        Ok(prefix.start + prefix.len)
    }

    /// Reads the header of a file that begins with these bytes, and returns it with its length.
    /// Bytes after the header are ignored.
    ///
    /// ```
    /// use bloscpack_dtype::{DType, npy::NpyHeader};
    ///
    /// let file = b"\x93NUMPY\x01\x00\x37\x00\
    ///     {'descr': '<f8', 'fortran_order': False, 'shape': (2,)}";
    /// let (header, len) = NpyHeader::parse(file)?;
    /// assert_eq!((header.dtype, header.shape, len), (DType::F64, vec![2], 65));
    /// # Ok::<(), bloscpack_dtype::npy::NpyError>(())
    /// ```
    ///
    /// # Errors
    /// Returns the errors of [`NpyHeader::len_of`], and an error if the bytes end within the header, if
    /// NumPy would not have written it, if the elements are objects, or if the array has 2^64 bytes
    /// or more.
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

    /// The bytes of a number in a `.npy` file that begins with these bytes: half an element of complex numbers, an element of
    /// others. `None` for other files, for elements that are not numbers or times, and if the bytes end within the header.
    ///
    /// ```
    /// use bloscpack_dtype::npy::NpyHeader;
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

    /// The number of bytes of all elements; `None` if it does not fit into 64 bits.
    ///
    /// ```
    /// use bloscpack_dtype::{DType, npy::NpyHeader};
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

    /// The header as NumPy 2 writes it, byte by byte: in version 1, or in 2 if it is too long for that,
    /// or in 3 if a name has characters that latin-1 has not.
    ///
    /// ```
    /// use bloscpack_dtype::{DType, npy::NpyHeader};
    ///
    /// let header = NpyHeader { dtype: DType::I32, fortran_order: false, shape: vec![3] };
    /// let bytes = header.encode()?;
    /// assert_eq!(bytes.len(), 128);
    /// assert_eq!(NpyHeader::parse(&bytes)?, (header, 128));
    /// # Ok::<(), bloscpack_dtype::npy::NpyError>(())
    /// ```
    ///
    /// # Errors
    /// Returns an error if fields overlap, which a `.npy` file cannot express, if the elements are
    /// objects, or if the header would be too long to be read.
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

/// The fields before the text of a header.
struct Prefix {
    /// Where the text begins.
    start: usize,
    /// The length of the text.
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

/// Adds magic, version and length before a header, and spaces and the end of a line after it; `None`
/// if that is too long for the version.
fn with_prefix(text: &[u8], version: u8) -> Option<Vec<u8>> {
    let start = match version {
        1 => SHORT_PREFIX,
        _ => LONG_PREFIX,
    };
    // At least one space.
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
