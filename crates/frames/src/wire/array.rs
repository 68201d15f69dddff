//! [`ArrayMeta`]: the metalayer that makes a frame an n-dimensional array, of Caterva or of Blosc2 NDim.
//!
//! ```text
//! "caterva"  95 | 00 | n | 9n  n x (d3 i64) | 9n  n x (d2 i32) | 9n  n x (d2 i32) |
//! "b2nd"     97 | 00 | n | 9n  n x (d3 i64) | 9n  n x (d2 i32) | 9n  n x (d2 i32) | 00 | db u32 len, text
//!            ^    ^    ^   shape              chunk shape        block shape        ^    dtype
//!            |    |    '-- axes                                                     '-- format of the dtype: 0 for NumPy
//!            |    '-- version
//!            '-- an array of 5 or 7
//! ```
//!
//! With 16 axes, the markers of the shapes are a0, the sum of 90 and 16. Further bytes may follow: an array that lost axes
//! keeps the length of its metalayer.

use super::cursor::{ARRAY, Cursor, I32, I64, LONG_TEXT, as_i32, as_i64, put};
use super::header::FrameHeader;
use super::kind::ArrayKind;
use super::metalayers::Metalayers;
use crate::part::FramePart;
use bloscpack_error::checked::to_usize;
use bloscpack_error::{Error, Result};

const VERSION: u8 = 0;
/// The parts of a description without dtype: version, axes, and three shapes.
const PARTS: u8 = 5;
/// The parts of a description with the two fields of a dtype.
const PARTS_WITH_DTYPE: u8 = 7;
/// The maximum length of a chunk in bytes.
const MAX_CHUNK: u64 = (1 << 31) - 1;

/// The dtype of the elements as text, in the spelling of the program that wrote the array.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ArrayDType {
    /// The spelling, 0 to 127; 0 is NumPy.
    pub format: u8,
    /// The dtype: a code such as `<f8`, or a list of fields as Python prints it.
    pub text: String,
}

/// The description of the array in a frame: its shape, the shapes of chunks and blocks, and the dtype.
///
/// A chunk is stored as whole blocks: its data is [`stored_chunk_shape`](Self::stored_chunk_shape) elements, in which the
/// blocks follow each other in C order, and so do the elements of a block.
///
/// ```
/// use bloscpack_frames::{ArrayKind, ArrayMeta};
/// // python-caterva 0.7.3 wrote this for 1000 elements in chunks of 300 and blocks of 70.
/// let bytes = b"\x95\0\x01\x91\xd3\0\0\0\0\0\0\x03\xe8\x91\xd2\0\0\x01\x2c\x91\xd2\0\0\0\x46";
/// let meta = ArrayMeta::decode(ArrayKind::Caterva, bytes)?;
/// assert_eq!((&meta.shape[..], &meta.chunk_shape[..]), (&[1000][..], &[300][..]));
/// assert_eq!((meta.grid(), meta.stored_chunk_shape()), (vec![4], vec![350]));
/// assert_eq!(meta.encode()?, bytes);
/// # Ok::<(), bloscpack_error::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArrayMeta {
    /// The metalayer that contains the description.
    pub kind: ArrayKind,
    /// Elements along each axis. An array without axes has one element.
    pub shape: Vec<u64>,
    /// Elements of a chunk along each axis. May be 0 where [`shape`](Self::shape) is 0.
    pub chunk_shape: Vec<u32>,
    /// Elements of a block along each axis. May be 0 where [`shape`](Self::shape) is 0.
    pub block_shape: Vec<u32>,
    /// The dtype of the elements. `None` for Caterva, which does not store one.
    pub dtype: Option<ArrayDType>,
}

/// A field with an impossible value: damage when it was read, wrong usage when it would be written.
struct Mismatch {
    field: &'static str,
    found: String,
    expected: String,
}

impl ArrayMeta {
    /// Reads a metalayer. Bytes after the description are ignored.
    ///
    /// # Errors
    /// Returns [`Code::CutShort`](bloscpack_error::Code::CutShort) if it ends too early,
    /// [`Code::Unsupported`](bloscpack_error::Code::Unsupported) for other versions and for too many axes, and
    /// [`Code::Metadata`](bloscpack_error::Code::Metadata) for everything else that no program writes, such as chunks of 0
    /// elements in an array that has elements.
    pub fn decode(kind: ArrayKind, bytes: &[u8]) -> Result<Self> {
        let cursor = &mut Cursor::new(FramePart::Array(kind), bytes);
        let has_dtype = read_parts(cursor, kind)?;
        let axes = read_axes(cursor, kind)?;
        let shape = read_shape(cursor, axes, |cursor| cursor.count64("shape"))?;
        let chunk_shape = read_shape(cursor, axes, |cursor| cursor.count32(I32, "chunk shape"))?;
        let block_shape = read_shape(cursor, axes, |cursor| cursor.count32(I32, "block shape"))?;
        let dtype = has_dtype.then(|| read_dtype(cursor)).transpose()?;
        let meta = Self {
            kind,
            shape,
            chunk_shape,
            block_shape,
            dtype,
        };
        meta.check_axes()
            .map_err(|mismatch| meta.damaged(mismatch))?;
        Ok(meta)
    }

    /// The description of the array in a frame with these metalayers; `None` if there is none. `b2nd` takes precedence over
    /// `caterva`.
    ///
    /// # Errors
    /// Returns the errors of [`ArrayMeta::decode`].
    pub fn of(metalayers: &Metalayers) -> Result<Option<Self>> {
        let found = [ArrayKind::B2nd, ArrayKind::Caterva]
            .into_iter()
            .find_map(|kind| Some((kind, metalayers.get(kind.name())?)));
        found
            .map(|(kind, bytes)| Self::decode(kind, bytes))
            .transpose()
    }

    /// The bytes of the metalayer.
    ///
    /// # Errors
    /// Returns [`Code::CannotStore`](bloscpack_error::Code::CannotStore) for shapes with different or too many axes, for
    /// numbers that do not fit their fields, and for a dtype in a metalayer of Caterva.
    pub fn encode(&self) -> Result<Vec<u8>> {
        let part = self.part();
        let axes = self.check_axes().map_err(
            |Mismatch {
                 field,
                 found,
                 expected,
             }| { self.part().cannot_store(field, found, expected) },
        )?;
        let parts = match &self.dtype {
            Some(dtype) if self.kind == ArrayKind::Caterva => {
                return Err(part.cannot_store("dtype", &dtype.text, "none"));
            }
            Some(_) => PARTS_WITH_DTYPE,
            None => PARTS,
        };
        // At most 16 axes: the sum is at most a0.
        let marker = ARRAY + axes;
        let mut bytes = vec![ARRAY | parts, VERSION, axes, marker];
        for len in &self.shape {
            put(&mut bytes, I64, &as_i64(&part, "shape", *len)?);
        }
        let shapes = [
            ("chunk shape", &self.chunk_shape),
            ("block shape", &self.block_shape),
        ];
        for (field, shape) in shapes {
            bytes.push(marker);
            for len in shape {
                put(&mut bytes, I32, &as_i32(&part, field, *len)?);
            }
        }
        if let Some(dtype) = &self.dtype {
            put_dtype(&mut bytes, &part, dtype)?;
        }
        Ok(bytes)
    }

    /// Elements of a stored chunk along each axis: the chunk shape, rounded up to whole blocks.
    #[must_use]
    pub fn stored_chunk_shape(&self) -> Vec<u64> {
        let axes = self.chunk_shape.iter().zip(&self.block_shape);
        axes.map(|(chunk, block)| rounded_up(*chunk, *block))
            .collect()
    }

    /// Chunks along each axis; 0 for an axis without elements. Their product is the number of chunks in the frame.
    #[must_use]
    pub fn grid(&self) -> Vec<u64> {
        let axes = self.shape.iter().zip(&self.chunk_shape);
        axes.map(|(len, chunk)| match chunk {
            // Only where the array has no elements.
            0 => 0,
            _ => len.div_ceil((*chunk).into()),
        })
        .collect()
    }

    /// Compares the shapes with the sizes of chunks and blocks and the number of chunks in the frame header.
    ///
    /// # Errors
    /// Returns [`Code::Metadata`](bloscpack_error::Code::Metadata) if they contradict each other or a chunk would be 2^31 bytes
    /// or more, and the errors of [`FrameHeader::nchunks`].
    pub fn check(&self, header: &FrameHeader) -> Result<()> {
        self.check_axes()
            .map_err(|mismatch| self.damaged(mismatch))?;
        let nchunks = product(&self.grid());
        self.same("number of chunks", Some(header.nchunks()?), nchunks)?;
        let bytes = |elements: Option<u64>| elements?.checked_mul(header.typesize.into());
        let block: Vec<u64> = self.block_shape.iter().copied().map(u64::from).collect();
        let chunk = bytes(product(&self.stored_chunk_shape()));
        if chunk.is_none_or(|chunk| chunk > MAX_CHUNK) {
            let (shape, typesize) = (self.stored_chunk_shape(), header.typesize);
            return Err(self.damaged(Mismatch {
                field: "chunk shape",
                found: format!("{shape:?} with elements of {typesize} bytes"),
                expected: format!("at most {MAX_CHUNK} bytes"),
            }));
        }
        // With an axis of 0 elements, the sizes in the header need not match the shapes.
        if nchunks == Some(0) && chunk == Some(0) {
            return Ok(());
        }
        let blocksize = Some(header.blocksize.into());
        self.same("bytes of a block", blocksize, bytes(product(&block)))?;
        match header.chunk_size {
            None if nchunks == Some(0) => {}
            size => self.same("bytes of a chunk", size.map(u64::from), chunk)?,
        }
        let content = nchunks
            .zip(chunk)
            .and_then(|(n, chunk)| n.checked_mul(chunk));
        self.same("uncompressed bytes", Some(header.content_len), content)
    }

    /// Compares a number in the header with the one that results from the shapes. Either may be unknown.
    fn same(&self, field: &'static str, found: Option<u64>, expected: Option<u64>) -> Result<()> {
        if found.is_some() && found == expected {
            return Ok(());
        }
        let number = |number: Option<u64>, none: &str| {
            number.map_or_else(|| none.to_owned(), |number| number.to_string())
        };
        Err(self.damaged(Mismatch {
            field,
            found: number(found, "nothing") + " in the frame header",
            expected: number(expected, "more than 2^64") + " by the shapes",
        }))
    }

    fn part(&self) -> FramePart {
        FramePart::Array(self.kind)
    }

    /// The error for a mismatch in a metalayer that was read.
    fn damaged(&self, mismatch: Mismatch) -> Error {
        let Mismatch {
            field,
            found,
            expected,
        } = mismatch;
        self.part().damaged(None, field, found, expected)
    }

    /// Checks that all three shapes have the same number of axes, which is returned, and that chunks and blocks have elements
    /// along each axis on which the array has elements.
    fn check_axes(&self) -> std::result::Result<u8, Mismatch> {
        let (shape, chunk, block) = (&self.shape, &self.chunk_shape, &self.block_shape);
        let (axes, most) = (shape.len(), self.kind.max_axes());
        let counted = u8::try_from(axes).ok().filter(|_| axes <= most);
        let Some(counted) = counted.filter(|_| chunk.len() == axes && block.len() == axes) else {
            let (chunk, block) = (chunk.len(), block.len());
            return Err(Mismatch {
                field: "number of axes",
                found: format!("{axes}, with {chunk} of chunks and {block} of blocks"),
                expected: format!("the same, at most {most}"),
            });
        };
        for (axis, (len, (chunk, block))) in shape.iter().zip(chunk.iter().zip(block)).enumerate() {
            if *len > 0 && (*chunk == 0 || *block == 0) {
                return Err(Mismatch {
                    field: "chunk and block shape",
                    found: format!("{chunk} and {block} on axis {axis} of {len} elements"),
                    expected: "at least 1".to_owned(),
                });
            }
        }
        Ok(counted)
    }
}

/// Reads the marker and the version. Returns whether a dtype follows the shapes.
fn read_parts(cursor: &mut Cursor, kind: ArrayKind) -> Result<bool> {
    let found = cursor.byte()?;
    let has_dtype = match found ^ ARRAY {
        PARTS => false,
        PARTS_WITH_DTYPE if kind == ArrayKind::B2nd => true,
        _ => {
            let expected = match kind {
                ArrayKind::Caterva => "95",
                ArrayKind::B2nd => "97",
            };
            let found = format!("marker {found:02x}");
            return Err(cursor.damaged(1, "number of parts", found, expected));
        }
    };
    match cursor.byte()? {
        VERSION => Ok(has_dtype),
        found => Err(cursor.unsupported(1, "version", found, VERSION)),
    }
}

/// Reads the number of axes. More than the kind of array allows are unsupported.
fn read_axes(cursor: &mut Cursor, kind: ArrayKind) -> Result<u8> {
    let axes = cursor.byte()?;
    if usize::from(axes) > kind.max_axes() {
        let expected = format!("at most {}", kind.max_axes());
        return Err(cursor.unsupported(1, "number of axes", axes, expected));
    }
    Ok(axes)
}

/// Reads a shape of `axes` lengths, at most 16, each with `read`.
fn read_shape<T>(
    cursor: &mut Cursor,
    axes: u8,
    mut read: impl FnMut(&mut Cursor) -> Result<T>,
) -> Result<Vec<T>> {
    cursor.marker(ARRAY + axes, "axes of a shape")?;
    (0..axes).map(|_| read(cursor)).collect()
}

/// Reads the format and the text of the dtype, which must be UTF-8.
fn read_dtype(cursor: &mut Cursor) -> Result<ArrayDType> {
    let format = cursor.byte()?;
    if format >= 0x80 {
        return Err(cursor.damaged(1, "format of the dtype", format, "at most 127"));
    }
    cursor.marker(LONG_TEXT, "dtype")?;
    let len = u32::from_be_bytes(cursor.array()?);
    let text = cursor.take(to_usize(len))?;
    match std::str::from_utf8(text) {
        Ok(text) => Ok(ArrayDType {
            format,
            text: text.to_owned(),
        }),
        Err(error) => Err(cursor.damaged(text.len(), "dtype", error, "UTF-8")),
    }
}

/// Appends the dtype to a metalayer.
fn put_dtype(to: &mut Vec<u8>, part: &FramePart, dtype: &ArrayDType) -> Result<()> {
    let len = as_i32(part, "length of the dtype", dtype.text.len())?;
    if dtype.format >= 0x80 {
        let (part, found) = (part.clone(), dtype.format);
        let field = "format of the dtype";
        return Err(part.cannot_store(field, found, "at most 127"));
    }
    to.push(dtype.format);
    put(to, LONG_TEXT, &len);
    to.extend_from_slice(dtype.text.as_bytes());
    Ok(())
}

/// The length of a chunk, rounded up to whole blocks.
fn rounded_up(chunk: u32, block: u32) -> u64 {
    let (chunk, block) = (u64::from(chunk), u64::from(block));
    match block {
        // Only where the array has no elements.
        0 => chunk,
        // Both are below 2^32: the product does not overflow.
        _ => chunk.div_ceil(block) * block,
    }
}

/// The product of the lengths; `None` for 2^64 or more.
fn product(shape: &[u64]) -> Option<u64> {
    if shape.contains(&0) {
        return Some(0);
    }
    shape
        .iter()
        .try_fold(1_u64, |product, len| product.checked_mul(*len))
}

#[cfg(test)]
mod tests;
