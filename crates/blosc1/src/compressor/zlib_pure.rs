//! Zlib streams without C, by the crate `zlib-rs`.

use zlib_rs::{Deflate, DeflateFlush, Inflate, InflateFlush, Status};

use super::compress::Compress;
use crate::ChunkError;

/// Binary logarithm of the window in bytes, the largest of the format.
const WINDOW_BITS: u8 = 15;

/// The compressor with its tables.
pub(super) struct Encoder {
    inner: Deflate,
}

impl Encoder {
    /// A compressor at a level from 1 to 9, as in zlib.
    pub fn new(level: u8) -> Result<Self, ChunkError> {
        match level {
            1..=9 => Ok(Self {
                inner: Deflate::new(level.into(), true, WINDOW_BITS),
            }),
            found => Err(ChunkError::Level { found }),
        }
    }
}

impl Compress for Encoder {
    fn compress(&mut self, src: &[u8], dst: &mut [u8]) -> Option<usize> {
        self.inner.reset();
        let status = self.inner.compress(src, dst, DeflateFlush::Finish).ok()?;
        let len = usize::try_from(self.inner.total_out()).ok()?;
        (status == Status::StreamEnd).then_some(len)
    }
}

/// The decompressor, made on first use.
#[derive(Default)]
pub(super) struct Decoder {
    inner: Option<Inflate>,
}

impl Decoder {
    /// Decompresses and returns whether the result has exactly `dst.len()` bytes.
    pub fn decompress(&mut self, src: &[u8], dst: &mut [u8]) -> bool {
        let new = || Inflate::new(true, WINDOW_BITS);
        let inner = self.inner.get_or_insert_with(new);
        inner.reset(true);
        let status = inner.decompress(src, dst, InflateFlush::Finish);
        status == Ok(Status::StreamEnd) && usize::try_from(inner.total_out()) == Ok(dst.len())
    }
}
