//! Reads slices as bytes, and describes the array to other formats.

use super::NdArray;
use crate::wire::kind::ArrayKind;
use blosc1::{ChunkSettings, Filter};
use bloscpack_array::msgpack::Value;
use bloscpack_array::{Array, Description, Grid, UserAttributes};
use bloscpack_dtype::DType;
use bloscpack_error::Result;
use std::ops::Range;

impl NdArray {
    /// The bytes of a slice, in C order and in the byte order of the dtype. A slice has a range for each axis.
    ///
    /// Reads and decompresses only the blocks that the slice touches. If they are 256 KiB or more, several threads share the
    /// work. For large slices, the first chunk is checked before memory is allocated.
    ///
    /// ```
    /// use bloscpack_frames::NdArray;
    /// let array = NdArray::of_type::<u16>(&[100, 100]).full(&[1, 2]).in_memory()?;
    /// assert_eq!(array.read_slice(&[50..52, 0..1])?, [1, 2, 1, 2]);
    /// # Ok::<(), bloscpack_error::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns [`Code::OutOfBounds`](bloscpack_error::Code::OutOfBounds) for a slice that is not within the array,
    /// [`Code::NotStored`](bloscpack_error::Code::NotStored) for elements that are not in a
    /// [virtual](crate::Frame::virtual_data) frame, [`Code::NoMemory`](bloscpack_error::Code::NoMemory) for a slice that does
    /// not fit memory, any I/O error, and any damage to the chunks that it touches.
    pub fn read_slice(&self, slice: &[Range<u64>]) -> Result<Vec<u8>> {
        self.frame().check_state()?;
        self.chunks.read(slice)
    }

    /// Reads a slice into `out`, in C order. `out` must be exactly as long as the slice.
    ///
    /// Reads only the blocks that the slice touches, and the first block of a chunk if the chunks are filtered by differences
    /// (delta).
    ///
    /// # Errors
    /// Returns the errors of [`read_slice`](Self::read_slice), and [`Code::Usage`](bloscpack_error::Code::Usage) for another
    /// length of `out`. After an error, the content of `out` is unspecified.
    pub fn read_slice_into(&self, slice: &[Range<u64>], out: &mut [u8]) -> Result<()> {
        self.frame().check_state()?;
        self.chunks.read_into(slice, out)
    }
}

impl Array for NdArray {
    fn grid(&self) -> &Grid {
        &self.grid().chunks
    }

    fn dtype(&self) -> &DType {
        &self.elements
    }

    fn read_slice_into(&self, slice: &[Range<u64>], out: &mut [u8]) -> Result<()> {
        self.read_slice_into(slice, out)
    }

    fn read_slice(&self, slice: &[Range<u64>]) -> Result<Vec<u8>> {
        self.read_slice(slice)
    }

    /// The [user attributes](Self::user_attributes), and the Blosc 1 settings closest to the compression of the frame.
    fn description(&self) -> Result<Description> {
        let UserAttributes { attributes, lost } = self.user_attributes()?;
        Ok(Description {
            attributes,
            lost,
            settings: Some(self.settings()),
            ..Description::default()
        })
    }
}

impl NdArray {
    /// The user's metadata: all metalayers except the one that describes the array. Values in MessagePack become JSON; the
    /// names of all others are in [`lost`](UserAttributes::lost).
    ///
    /// ```
    /// use bloscpack_frames::NdArray;
    /// let array = NdArray::of_type::<f32>(&[3])
    ///     .vlmetalayer("unit", b"\xa1m")
    ///     .vlmetalayer("raw", b"\xc4\x01\xff")
    ///     .in_memory()?;
    /// let user = array.user_attributes()?;
    /// assert_eq!(user.attributes.text(), r#"{"unit": "m"}"#);
    /// assert_eq!(user.lost, ["raw"]);
    /// # Ok::<(), bloscpack_error::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns any damage to a metalayer.
    pub fn user_attributes(&self) -> Result<UserAttributes> {
        let frame = self.frame();
        let own = [ArrayKind::Caterva.name(), ArrayKind::B2nd.name()];
        let mut user = UserAttributes::default();
        for (name, bytes) in frame.metalayers().iter() {
            if !own.contains(&name) {
                user.add(name, Value::decode(bytes).ok().as_ref())?;
            }
        }
        for name in frame.vlmetalayers() {
            let bytes = frame.vlmetalayer(name)?.unwrap_or_default();
            user.add(name, Value::decode(&bytes).ok().as_ref())?;
        }
        Ok(user)
    }

    /// The Blosc 1 settings closest to the compression of the frame, for copies in other formats.
    fn settings(&self) -> ChunkSettings {
        let (frame, header) = (self.frame(), self.frame().header());
        let default = ChunkSettings::default();
        let found = frame.compressor();
        let found = found.filter(|compressor| compressor.is_available());
        let filter = if header.filters.contains(&BITSHUFFLE) {
            Filter::Bit
        } else if header.filters.contains(&SHUFFLE) {
            Filter::Byte
        } else {
            Filter::None
        };
        let typesize = u8::try_from(self.itemsize()).unwrap_or(1).max(1);
        default
            .compressor(found.unwrap_or(default.compressor))
            .level(header.level.min(9))
            .filter(filter)
            .typesize(typesize)
    }
}

/// Numbers of filters in the header of a frame.
const SHUFFLE: u8 = 1;
const BITSHUFFLE: u8 = 2;
