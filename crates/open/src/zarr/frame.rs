//! Arrays of Blosc2 frames. Their chunks have another format, so that all are compressed anew.

use super::{ChunkSource, Conversion, Format, NewArray, positive};
use blosc1::{ChunkSettings, Filter};
use bloscpack_dtype::DType;
use bloscpack_error::Result;
use bloscpack_frames::NdArray;
use std::ops::Range;

/// Numbers of filters in the header of a frame.
const SHUFFLE: u8 = 1;
const BITSHUFFLE: u8 = 2;

impl<'a> Conversion<'a> {
    /// An array of a Blosc2 frame, whose elements have this dtype.
    #[must_use]
    pub fn of_frame(array: &'a NdArray, dtype: DType, format: Format) -> Self {
        let chunk: Vec<u64> = array.chunk_shape().iter().copied().map(u64::from).collect();
        let mut new = NewArray::new(format, dtype, array.shape(), &positive(&chunk));
        new.settings = settings(array, new.settings);
        Self::new(new, Source(array))
    }
}

/// The settings for chunks of Blosc 1 that are closest to those of the frame.
fn settings(array: &NdArray, default: ChunkSettings) -> ChunkSettings {
    let header = array.frame().header();
    let found = array
        .frame()
        .compressor()
        .filter(|compressor| compressor.is_available());
    let filter = match () {
        () if header.filters.contains(&BITSHUFFLE) => Filter::Bit,
        () if header.filters.contains(&SHUFFLE) => Filter::Byte,
        () => Filter::None,
    };
    default
        .compressor(found.unwrap_or(default.compressor))
        .level(header.level.min(9))
        .filter(filter)
}

struct Source<'a>(&'a NdArray);

impl ChunkSource for Source<'_> {
    fn read(&self, slice: &[Range<u64>]) -> Result<Vec<u8>> {
        self.0.read_slice(slice)
    }

    fn stored(&self, _: &[u64]) -> Result<Option<Vec<u8>>> {
        Ok(None)
    }
}
