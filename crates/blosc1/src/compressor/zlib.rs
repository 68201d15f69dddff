//! Zlib streams by libdeflate, a C library.

use libdeflater::{CompressionLvl, Compressor, Decompressor};

use super::compress::Compress;
use crate::ChunkError;

/// The compressor with its tables.
pub(super) struct Encoder {
    inner: Compressor,
}

impl Encoder {
    /// A compressor at a level from 1 to 9, which is close to the same level of zlib.
    pub fn new(level: u8) -> Result<Self, ChunkError> {
        let lvl = CompressionLvl::new(i32::from(level));
        let lvl = lvl.map_err(|_| ChunkError::Level { found: level })?;
        Ok(Self {
            inner: Compressor::new(lvl),
        })
    }
}

impl Compress for Encoder {
    fn compress(&mut self, src: &[u8], dst: &mut [u8]) -> Option<usize> {
        self.inner.zlib_compress(src, dst).ok()
    }
}

/// The decompressor, made on first use.
#[derive(Default)]
pub(super) struct Decoder {
    inner: Option<Decompressor>,
}

impl Decoder {
    /// Decompresses and returns whether the result has exactly `dst.len()` bytes.
    pub fn decompress(&mut self, src: &[u8], dst: &mut [u8]) -> bool {
        let inner = self.inner.get_or_insert_with(Decompressor::new);
        inner.zlib_decompress(src, dst) == Ok(dst.len())
    }
}
