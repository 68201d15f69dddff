//! [`Tensor`]: an array that python-blosc2 packed into the chunks of a plain frame.

use crate::Frame;
use bloscpack_array::msgpack::Value;
use bloscpack_array::{Flat, Region};
use bloscpack_dtype::DType;
use bloscpack_error::{Code, Error, Result};
use bloscpack_storage::ReadAt;
use std::io;

/// The vlmetalayer in which python-blosc2 describes the packed array: kind, shape and dtype.
const NAME: &str = "__pack_tensor__";

/// An array whose elements, in C order, are the content of a plain frame. `save_array` and `save_tensor` of python-blosc2 write
/// such frames.
///
/// The frame has no metalayer `b2nd` or `caterva`, and its chunks are not boxes of elements: a slice is read from the bytes of
/// the rows that it touches. The vlmetalayer `__pack_tensor__` holds the MessagePack list `[kind, shape, dtype]`.
///
/// ```
/// use bloscpack_array::Array;
/// use bloscpack_frames::{Frame, Tensor};
/// // ("numpy", (2, 2), "<i2") in MessagePack
/// let packed = b"\x93\xa5numpy\x92\x02\x02\xa3<i2";
/// let mut frame = Frame::builder(2, 8).vlmetalayer("__pack_tensor__", packed)?.in_memory()?;
/// frame.append(&[1, 0, 2, 0, 3, 0, 4, 0])?;
/// let tensor = Tensor::of(&frame)?.ok_or("no array")?;
/// assert_eq!(tensor.array()?.read_slice(&[1..2, 0..2])?, [3, 0, 4, 0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Tensor<'a> {
    frame: &'a Frame,
    dtype: DType,
    shape: Vec<u64>,
}

impl<'a> Tensor<'a> {
    /// The array that is packed in a frame; `None` if the frame has no vlmetalayer `__pack_tensor__`.
    ///
    /// Reads only the metadata.
    ///
    /// # Errors
    /// Returns [`Code::Metadata`] if the description is not a kind, a shape and a dtype, or if shape and dtype do not result in
    /// [`content_len`](Frame::content_len) bytes; [`Code::Value`] for a dtype that does not parse; [`Code::Damaged`] if it is
    /// not MessagePack; and the errors of [`Frame::vlmetalayer`].
    pub fn of(frame: &'a Frame) -> Result<Option<Self>> {
        let Some(bytes) = frame.vlmetalayer(NAME)? else {
            return Ok(None);
        };
        let value = Value::decode(&bytes)?;
        let wrong =
            |expected: &str| Error::unexpected(Code::Metadata, NAME, "something else", expected);
        let Some([_, shape, dtype]) = value.as_tuple() else {
            return Err(wrong("kind, shape and dtype"));
        };
        let lens = shape.as_tuple().unwrap_or_default();
        let shape: Option<Vec<u64>> = lens.iter().map(Value::as_count).collect();
        let shape = shape.ok_or_else(|| wrong("a shape"))?;
        let dtype = match dtype.as_text() {
            Some(text) => DType::parse(text)?,
            None => {
                let json = dtype.to_json().ok_or_else(|| wrong("a dtype"))?;
                let json = serde_json::from_str(&json).map_err(|_| wrong("a dtype"))?;
                DType::from_json(&json)?
            }
        };
        let expected = Region::all(&shape).bytes(dtype.itemsize());
        let found = frame.content_len();
        if found != expected {
            let what = "bytes in the chunks of an array";
            return Err(Error::unexpected(Code::Metadata, what, found, expected));
        }
        Ok(Some(Self {
            frame,
            dtype,
            shape,
        }))
    }

    /// The type of the elements.
    #[must_use]
    pub fn dtype(&self) -> &DType {
        &self.dtype
    }

    /// Elements along each axis.
    #[must_use]
    pub fn shape(&self) -> &[u64] {
        &self.shape
    }

    /// The array, which can be read in slices. It borrows the frame.
    ///
    /// # Errors
    /// Returns an error for an array of 2^64 bytes or more.
    pub fn array(&self) -> Result<Flat<impl ReadAt + use<'a>>> {
        Flat::new(Content(self.frame), self.dtype.clone(), &self.shape, false)
    }
}

/// The uncompressed bytes of all chunks, one after another.
struct Content<'a>(&'a Frame);

impl ReadAt for Content<'_> {
    fn size(&self) -> io::Result<u64> {
        Ok(self.0.content_len())
    }

    fn read_at(&self, at: u64, out: &mut [u8]) -> io::Result<usize> {
        let size = u64::from(self.0.chunk_size()).max(1);
        let (number, start) = (
            at / size,
            u32::try_from(at % size).map_err(io::Error::other)?,
        );
        if number >= self.0.chunks() {
            return Ok(0);
        }
        let left = self.0.chunk_len(number)?.saturating_sub(start);
        let len = out.len().min(left.try_into().unwrap_or(usize::MAX));
        let out = out.get_mut(..len).unwrap_or_default();
        self.0.read_range(number, start, out)?;
        Ok(len)
    }
}
