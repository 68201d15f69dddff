//! The header of a `.npy` file, which holds one array.
//!
//! ```text
//! 93 "NUMPY" | version 1, 0 | u16 length |  header, latin-1 | the elements
//!            | version 2, 0 | u32 length |  header, latin-1 |
//!            | version 3, 0 | u32 length |  header, utf-8   |
//!
//! {'descr': '<f8', 'fortran_order': False, 'shape': (20, 30), }      spaces      \n
//! ```
//!
//! All before the elements is a multiple of 64 bytes in what NumPy writes today, of 16 in older files.
//! Lengths are little-endian. Nothing of the header is ever evaluated.

use super::literal::Literal;
use super::{DType, of_literal, tuple};
use std::fmt;

const MAGIC: &[u8; 6] = b"\x93NUMPY";
/// Magic, version, and the length in version 1.
const SHORT: usize = 10;
/// Magic, version, and the length in versions 2 and 3.
const LONG: usize = 12;
/// What stands before the elements is a multiple of it.
const ALIGN: usize = 64;
/// Room for the length of the axis that an array grows along, whatever it becomes.
const GROWTH: usize = 21;
/// NumPy's own bound on the dimensions of an array.
const MAX_DIMENSIONS: usize = 64;
/// More than thousands of fields take; NumPy refuses more than 10,000 bytes unless it is told not to.
const MAX_HEADER: usize = 1 << 20;
const OBJECTS: &str = "Python objects are pickles, which nothing here reads or writes";

/// What is wrong with the header of a `.npy` file: what was found and what was expected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NpyError {
    why: String,
}

impl fmt::Display for NpyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(".npy header: ")?;
        f.write_str(&self.why)
    }
}

impl std::error::Error for NpyError {}

fn wrong<T>(why: impl fmt::Display) -> Result<T, NpyError> {
    let why = why.to_string();
    Err(NpyError { why })
}

/// What a `.npy` file says of its array.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NpyHeader {
    /// The type of the elements, which are no Python objects: those would be a pickle.
    pub dtype: DType,
    /// Whether the elements follow each other along the first axis, and not along the last.
    pub fortran_order: bool,
    /// Elements along each axis; without an axis it is one element.
    pub shape: Vec<u64>,
}

impl NpyHeader {
    /// Bytes of the start of a file that tell how long its header is, for [`NpyHeader::len_of`].
    pub const START: usize = LONG;

    /// Bytes before the elements, of a file that begins with these [`NpyHeader::START`] bytes.
    ///
    /// ```
    /// use bloscpack_dtype::npy::NpyHeader;
    ///
    /// assert_eq!(NpyHeader::len_of(b"\x93NUMPY\x01\x00\x76\x00{'")?, 128);
    /// # Ok::<(), bloscpack_dtype::npy::NpyError>(())
    /// ```
    ///
    /// # Errors
    /// If it is no `.npy` file, ends within these bytes, is of another version, or has a header of more
    /// than a MiB.
    pub fn len_of(start: &[u8]) -> Result<usize, NpyError> {
        let places = Places::of(start)?;
        Ok(places.start + places.len)
    }

    /// Reads the header of a file that begins with these bytes, and how many it takes. What stands
    /// behind it is not looked at.
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
    /// As [`NpyHeader::len_of`]; if the bytes end within the header, if it is not what NumPy writes, if
    /// the elements are objects, or if the array has more bytes than can be counted.
    pub fn parse(bytes: &[u8]) -> Result<(Self, usize), NpyError> {
        let Places {
            start,
            len,
            is_utf8,
        } = Places::of(bytes)?;
        let Some(text) = bytes.get(start..start + len) else {
            let found = bytes.len();
            return wrong(format!("it ends at byte {found} of {}", start + len));
        };
        let text = match is_utf8 {
            true => match std::str::from_utf8(text) {
                Ok(text) => text.to_owned(),
                Err(error) => return wrong(format!("it is no UTF-8: {error}")),
            },
            false => text.iter().copied().map(char::from).collect(),
        };
        match Literal::parse(&text) {
            Ok(literal) => Ok((Self::of(&literal)?, start + len)),
            Err(why) => wrong(why),
        }
    }

    fn of(map: &Literal) -> Result<Self, NpyError> {
        let Literal::Map(members) = map else {
            return wrong("no dictionary");
        };
        let mut keys: Vec<_> = members.iter().map(|(key, _)| key.as_str()).collect();
        keys.sort_unstable();
        if keys != ["descr", "fortran_order", "shape"] {
            return wrong("keys other than 'descr', 'fortran_order' and 'shape', each once");
        }
        let dtype = map.get("descr").map(|descr| of_literal(descr, false));
        let dtype = match dtype {
            Some(Ok(dtype)) => dtype,
            Some(Err(error)) => return wrong(format!("'descr': {error}")),
            None => return wrong("no 'descr'"),
        };
        if dtype.has_object() {
            return wrong(OBJECTS);
        }
        let Some(Literal::Truth(fortran_order)) = map.get("fortran_order") else {
            return wrong("'fortran_order' that is neither True nor False");
        };
        let shape = map.get("shape").and_then(axes);
        let Some(shape) = shape.filter(|shape| shape.len() <= MAX_DIMENSIONS) else {
            let what = "that is no tuple of whole numbers";
            return wrong(format!("'shape' {what}, of {MAX_DIMENSIONS} at most"));
        };
        let header = Self {
            dtype,
            fortran_order: *fortran_order,
            shape,
        };
        match header.content_len() {
            Some(_) => Ok(header),
            None => wrong("an array of more bytes than can be counted"),
        }
    }

    /// Bytes of all elements; `None` if they cannot be counted.
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
    /// If fields overlap, which a `.npy` file cannot say, if the elements are objects, or if the header
    /// becomes too long to be read.
    pub fn encode(&self) -> Result<Vec<u8>, NpyError> {
        if self.dtype.has_object() {
            return wrong(OBJECTS);
        }
        let descr = match self.dtype.descr() {
            Ok(descr) => descr,
            Err(error) => return wrong(error),
        };
        let order = if self.fortran_order { "True" } else { "False" };
        let shape = tuple(&self.shape);
        let mut text =
            format!("{{'descr': {descr}, 'fortran_order': {order}, 'shape': {shape}, }}");
        let growing = match self.fortran_order {
            true => self.shape.last(),
            false => self.shape.first(),
        };
        if let Some(len) = growing {
            let spare = GROWTH.saturating_sub(len.to_string().len());
            text.extend(std::iter::repeat_n(' ', spare));
        }
        let latin: Option<Vec<u8>> = text.chars().map(|c| u8::try_from(c).ok()).collect();
        let bytes = match latin {
            Some(latin) => match sealed(&latin, 1) {
                None => sealed(&latin, 2),
                short => short,
            },
            None => sealed(text.as_bytes(), 3),
        };
        match bytes {
            Some(bytes) => Ok(bytes),
            None => wrong(format!(
                "{} bytes, over the limit of {MAX_HEADER}",
                text.len()
            )),
        }
    }
}

/// Where the header's text lies.
struct Places {
    start: usize,
    len: usize,
    is_utf8: bool,
}

impl Places {
    fn of(bytes: &[u8]) -> Result<Self, NpyError> {
        if !bytes.starts_with(MAGIC) {
            let found = bytes
                .get(..MAGIC.len().min(bytes.len()))
                .unwrap_or_default();
            return wrong(format!("{found:02x?} where {MAGIC:02x?} should be"));
        }
        let (start, len, is_utf8) = match bytes.get(MAGIC.len()..) {
            Some([1, 0, a, b, ..]) => (SHORT, u16::from_le_bytes([*a, *b]).into(), false),
            Some([version @ (2 | 3), 0, a, b, c, d, ..]) => {
                let len = u32::from_le_bytes([*a, *b, *c, *d]);
                (LONG, len, *version == 3)
            }
            Some([1..=3, 0, ..] | [] | [_]) | None => {
                return wrong(format!("it ends at byte {}", bytes.len()));
            }
            Some([major, minor, ..]) => {
                return wrong(format!(
                    "version {major}.{minor} where 1.0, 2.0 or 3.0 should be"
                ));
            }
        };
        match usize::try_from(len) {
            Ok(len) if len <= MAX_HEADER => Ok(Self {
                start,
                len,
                is_utf8,
            }),
            _ => wrong(format!("{len} bytes, over the limit of {MAX_HEADER}")),
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

/// Puts magic, version and length before a header, and spaces and the end of a line behind; `None`
/// if that is too long for the version.
fn sealed(text: &[u8], version: u8) -> Option<Vec<u8>> {
    let start = if version == 1 { SHORT } else { LONG };
    // At least one space.
    let spaces = ALIGN - (start + text.len() + 1) % ALIGN;
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
