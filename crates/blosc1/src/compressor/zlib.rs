//! Zlib streams through libdeflate.

use libdeflater::{CompressionLvl, Compressor, Decompressor};

use super::stream::Compress;

/// The compressor with its tables.
pub(super) struct Encoder {
    inner: Compressor,
}

impl Encoder {
    /// The levels 1 to 9 are close to those of zlib.
    pub fn new(level: u8) -> Self {
        let level = CompressionLvl::new(i32::from(level)).unwrap_or_default();
        Self {
            inner: Compressor::new(level),
        }
    }
}

impl Compress for Encoder {
    fn compress(&mut self, src: &[u8], dst: &mut [u8]) -> Option<usize> {
        self.inner.zlib_compress(src, dst).ok()
    }
}

/// The decompressor with its tables, which are made when first needed.
#[derive(Default)]
pub(super) struct Decoder {
    inner: Option<Decompressor>,
}

impl Decoder {
    /// Decompresses and tells whether exactly `dst.len()` bytes came out.
    pub fn decompress(&mut self, src: &[u8], dst: &mut [u8]) -> bool {
        let inner = self.inner.get_or_insert_with(Decompressor::new);
        inner.zlib_decompress(src, dst) == Ok(dst.len())
    }
}
