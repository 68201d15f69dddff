//! The metalayer that makes an n-dimensional array of a frame: that of Caterva, and that of Blosc2 NDim.
//!
//! ```text
//! "caterva"  95 | 00 | n | 9n  n x (d3 i64) | 9n  n x (d2 i32) | 9n  n x (d2 i32) |
//! "b2nd"     97 | 00 | n | 9n  n x (d3 i64) | 9n  n x (d2 i32) | 9n  n x (d2 i32) | 00 | db u32 len, text
//!            ^    ^    ^   shape              chunk shape        block shape        ^    dtype
//!            |    |    '-- axes                                                     '-- what dtype is: NumPy's
//!            |    '-- version                                                           text, or a description
//!            '-- how many parts follow                                                  of fields
//! ```
//!
//! With 16 axes the markers of the shapes are a0, the sum of 90 and 16. Bytes may follow: an array that
//! lost axes keeps the length of its metalayer.

use super::cursor::{ARRAY, Cursor, I32, I64, LONG_TEXT, as_i32, as_i64, put};
use super::error::FrameError;
use super::header::FrameHeader;
use super::metalayers::Metalayers;
use blosc1::Fault;

const VERSION: u8 = 0;
/// Version, axes, and three shapes.
const PARTS: u8 = 5;
/// Those, and the two of the type.
const PARTS_WITH_DTYPE: u8 = 7;
/// The most bytes that a chunk can have.
const MAX_CHUNK: u64 = (1 << 31) - 1;

/// Which of the two metalayers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ArrayKind {
    /// Caterva's: items of some bytes, whatever they mean.
    Caterva,
    /// That of Blosc2 NDim, which came after it and says what an item is.
    B2nd,
}

impl ArrayKind {
    /// The name of the metalayer.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Caterva => "caterva",
            Self::B2nd => "b2nd",
        }
    }

    /// The most axes that an array can have.
    #[must_use]
    pub fn max_axes(self) -> usize {
        match self {
            Self::Caterva => 8,
            Self::B2nd => 16,
        }
    }

    fn section(self) -> &'static str {
        match self {
            Self::Caterva => "metalayer \"caterva\"",
            Self::B2nd => "metalayer \"b2nd\"",
        }
    }
}

/// What an item is, in words of a program.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ArrayDType {
    /// Whose words: 0 is NumPy. Below 128.
    pub format: u8,
    /// Those words: `<f8`, or a list of fields as Python prints it.
    pub text: String,
}

/// The shape of an array, and how it is cut into chunks and those into blocks.
///
/// ```
/// use bloscpack_frames::{wire::ArrayKind, wire::ArrayMeta};
/// // What python-caterva 0.7.3 wrote for 1000 items in chunks of 300 and blocks of 70.
/// let bytes = b"\x95\0\x01\x91\xd3\0\0\0\0\0\0\x03\xe8\x91\xd2\0\0\x01\x2c\x91\xd2\0\0\0\x46";
/// let meta = ArrayMeta::decode(ArrayKind::Caterva, bytes)?;
/// assert_eq!((&meta.shape[..], &meta.chunk_shape[..]), (&[1000][..], &[300][..]));
/// assert_eq!((meta.grid(), meta.stored_chunk_shape()), (vec![4], vec![350]));
/// assert_eq!(meta.encode()?, bytes);
/// # Ok::<(), bloscpack_frames::wire::FrameError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArrayMeta {
    /// Which metalayer it is.
    pub kind: ArrayKind,
    /// Items along each axis; without an axis it is one item.
    pub shape: Vec<u64>,
    /// Items of a chunk along each axis. May be 0 where the array has none.
    pub chunk_shape: Vec<u32>,
    /// Items of a block along each axis. May be 0 where the array has none.
    pub block_shape: Vec<u32>,
    /// What an item is, which Caterva does not say.
    pub dtype: Option<ArrayDType>,
}

impl ArrayMeta {
    /// Reads a metalayer. Bytes behind it are not looked at.
    ///
    /// # Errors
    /// [`Fault::CutShort`] if it ends too early, [`Fault::Unsupported`] for other versions and more axes,
    /// [`Fault::Damaged`] for anything else that no writer writes, such as axes of chunks and blocks
    /// that are 0 where the array has items.
    pub fn decode(kind: ArrayKind, bytes: &[u8]) -> Result<Self, FrameError> {
        let cursor = &mut Cursor::new(kind.section(), bytes);
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
        meta.check_axes(Fault::Damaged)?;
        Ok(meta)
    }

    /// The metalayer of a frame that makes it an array, if it has one; that of Blosc2 NDim goes before
    /// that of Caterva.
    ///
    /// # Errors
    /// As [`ArrayMeta::decode`].
    pub fn of(metalayers: &Metalayers) -> Result<Option<Self>, FrameError> {
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
    /// [`Fault::Usage`] for shapes that differ in their axes, have too many, or numbers that do not fit;
    /// and for a type of items in a metalayer of Caterva.
    pub fn encode(&self) -> Result<Vec<u8>, FrameError> {
        let (section, len) = (self.kind.section(), self.shape.len());
        self.check_axes(Fault::Usage)?;
        let axes = u8::try_from(len).unwrap_or_default();
        let parts = match &self.dtype {
            Some(_) if self.kind == ArrayKind::Caterva => {
                return Err(FrameError::usage(section, "has no place for a dtype"));
            }
            Some(_) => PARTS_WITH_DTYPE,
            None => PARTS,
        };
        let marker = ARRAY.saturating_add(axes);
        let mut bytes = vec![ARRAY | parts, VERSION, axes, marker];
        for len in &self.shape {
            put(&mut bytes, I64, &as_i64(section, "shape", *len)?);
        }
        for shape in [&self.chunk_shape, &self.block_shape] {
            bytes.push(marker);
            for len in shape {
                put(
                    &mut bytes,
                    I32,
                    &as_i32(section, "shape of chunks or blocks", *len)?,
                );
            }
        }
        if let Some(dtype) = &self.dtype {
            put_dtype(&mut bytes, section, dtype)?;
        }
        Ok(bytes)
    }

    /// Items that a chunk is stored with along each axis: those of a chunk, rounded up to whole blocks.
    #[must_use]
    pub fn stored_chunk_shape(&self) -> Vec<u64> {
        let axes = self.chunk_shape.iter().zip(&self.block_shape);
        // Both are below 2^32, so that nothing can overflow.
        axes.map(|(chunk, block)| rounded_up((*chunk).into(), (*block).into()))
            .collect()
    }

    /// Chunks along each axis.
    #[must_use]
    pub fn grid(&self) -> Vec<u64> {
        let axes = self.shape.iter().zip(&self.chunk_shape);
        axes.map(|(len, chunk)| match chunk {
            // Only where the array has no items.
            0 => 0,
            _ => len.div_ceil((*chunk).into()),
        })
        .collect()
    }

    /// Checks what the header says of chunks and blocks against the shapes.
    ///
    /// # Errors
    /// [`Fault::Damaged`] if the two contradict each other, or for a chunk of 2^31 bytes or more.
    pub fn check(&self, header: &FrameHeader) -> Result<(), FrameError> {
        self.check_axes(Fault::Damaged)?;
        let nchunks = product(&self.grid());
        self.same("chunks", Some(header.nchunks()?), nchunks)?;
        let bytes = |items: Option<u64>| items?.checked_mul(header.typesize.into());
        let block: Vec<u64> = self.block_shape.iter().copied().map(u64::from).collect();
        let chunk = bytes(product(&self.stored_chunk_shape()));
        if chunk.is_none_or(|chunk| chunk > MAX_CHUNK) {
            let (shape, typesize) = (self.stored_chunk_shape(), header.typesize);
            let what = format!(
                "chunks of {shape:?} items of {typesize} bytes, should be {MAX_CHUNK} bytes at most"
            );
            return Err(self.damaged(what));
        }
        // A shape with an axis of 0 items says nothing of the chunks that the array may get.
        if nchunks == Some(0) && chunk == Some(0) {
            return Ok(());
        }
        self.same(
            "bytes of a block",
            Some(header.blocksize.into()),
            bytes(product(&block)),
        )?;
        match header.chunk_size {
            None if nchunks == Some(0) => {}
            size => self.same("bytes of a chunk", size.map(u64::from), chunk)?,
        }
        let content = nchunks
            .zip(chunk)
            .and_then(|(n, chunk)| n.checked_mul(chunk));
        self.same("uncompressed bytes", Some(header.content_len), content)
    }

    fn same(
        &self,
        what: &str,
        found: Option<u64>,
        expected: Option<u64>,
    ) -> Result<(), FrameError> {
        if found.is_some() && found == expected {
            return Ok(());
        }
        let number = |number: Option<u64>, none: &str| match number {
            Some(number) => number.to_string(),
            None => none.to_owned(),
        };
        let found = number(found, "unknown");
        let expected = number(expected, "more than can be counted");
        let what = format!("{what}: {found} by the frame header, {expected} by the shapes");
        Err(self.damaged(what))
    }

    fn damaged(&self, what: String) -> FrameError {
        FrameError::damaged(self.kind.section(), what)
    }

    /// All three shapes have the same axes, and chunks and blocks have items where the array has.
    fn check_axes(&self, fault: Fault) -> Result<(), FrameError> {
        let (shape, chunk, block) = (&self.shape, &self.chunk_shape, &self.block_shape);
        let wrong = |what: String| Err(FrameError::new(fault, self.kind.section(), None, what));
        let (axes, most) = (shape.len(), self.kind.max_axes());
        if axes > most || chunk.len() != axes || block.len() != axes {
            let (chunk, block) = (chunk.len(), block.len());
            return wrong(format!(
                "{axes} axes, {chunk} of chunks, {block} of blocks, should be the same, {most} at most"
            ));
        }
        for (axis, (len, (chunk, block))) in shape.iter().zip(chunk.iter().zip(block)).enumerate() {
            if *len > 0 && (*chunk == 0 || *block == 0) {
                return wrong(format!(
                    "axis {axis}: {len} items in chunks of {chunk} and blocks of {block}, should be 1 or more"
                ));
            }
        }
        Ok(())
    }
}

/// Whether there are the parts of a type too.
fn read_parts(cursor: &mut Cursor, kind: ArrayKind) -> Result<bool, FrameError> {
    let found = cursor.byte("number of parts")?;
    let has_dtype = match found ^ ARRAY {
        PARTS => false,
        PARTS_WITH_DTYPE if kind == ArrayKind::B2nd => true,
        _ => {
            let expected = match kind {
                ArrayKind::Caterva => "95",
                ArrayKind::B2nd => "97",
            };
            let what = format!("number of parts: marker {found:02x}, should be {expected}");
            return Err(cursor.damaged(1, what));
        }
    };
    match cursor.byte("version")? {
        VERSION => Ok(has_dtype),
        found => {
            let what = format!("version {found}, should be {VERSION}");
            Err(cursor.error(Fault::Unsupported, 1, what))
        }
    }
}

fn read_axes(cursor: &mut Cursor, kind: ArrayKind) -> Result<u8, FrameError> {
    let axes = cursor.byte("number of axes")?;
    if usize::from(axes) > kind.max_axes() {
        let what = format!("{axes} axes, should be {} at most", kind.max_axes());
        return Err(cursor.error(Fault::Unsupported, 1, what));
    }
    Ok(axes)
}

fn read_shape<T>(
    cursor: &mut Cursor,
    axes: u8,
    mut read: impl FnMut(&mut Cursor) -> Result<T, FrameError>,
) -> Result<Vec<T>, FrameError> {
    cursor.marker(ARRAY.saturating_add(axes), "axes of a shape")?;
    (0..axes).map(|_| read(cursor)).collect()
}

fn read_dtype(cursor: &mut Cursor) -> Result<ArrayDType, FrameError> {
    let format = cursor.byte("format of the dtype")?;
    if format >= 0x80 {
        let what = format!("format of the dtype: {format}, should be below 128");
        return Err(cursor.damaged(1, what));
    }
    cursor.marker(LONG_TEXT, "dtype")?;
    let len = u32::from_be_bytes(cursor.array("length of the dtype")?);
    let len = usize::try_from(len).unwrap_or(usize::MAX);
    let text = cursor.take(len, "dtype")?;
    match std::str::from_utf8(text) {
        Ok(text) => Ok(ArrayDType {
            format,
            text: text.to_owned(),
        }),
        Err(error) => Err(cursor.damaged(len, format!("dtype: no UTF-8: {error}"))),
    }
}

fn put_dtype(
    to: &mut Vec<u8>,
    section: &'static str,
    dtype: &ArrayDType,
) -> Result<(), FrameError> {
    let len = as_i32(section, "length of the dtype", dtype.text.len())?;
    if dtype.format >= 0x80 {
        let what = format!("format of the dtype: {}, can be 127 at most", dtype.format);
        return Err(FrameError::usage(section, what));
    }
    to.push(dtype.format);
    put(to, LONG_TEXT, &len);
    to.extend_from_slice(dtype.text.as_bytes());
    Ok(())
}

fn rounded_up(chunk: u64, block: u64) -> u64 {
    match block {
        // Only where the array has no items.
        0 => chunk,
        _ => chunk.div_ceil(block).saturating_mul(block),
    }
}

/// Nothing if it cannot be counted, unless there is a 0.
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
