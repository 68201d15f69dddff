//! Zstandard through the C library.

use zstd_safe::{CCtx, DCtx, max_c_level};

/// The compressor's context.
pub(super) struct Encoder {
    context: CCtx<'static>,
}

impl Encoder {
    /// A context, or `None` if there is no memory for it.
    pub fn new() -> Option<Self> {
        Some(Self {
            context: CCtx::try_create()?,
        })
    }

    /// Compresses, Blosc's nine levels spread over those of the library as C-Blosc does.
    pub fn compress(&mut self, level: u8, src: &[u8], dst: &mut [u8]) -> Option<usize> {
        let level = match level {
            9.. => max_c_level(),
            _ => 2 * i32::from(level) - 1,
        };
        self.context.compress(dst, src, level).ok()
    }
}

/// The decompressor's context, which is made when first needed.
#[derive(Default)]
pub(super) struct Decoder {
    context: Option<DCtx<'static>>,
}

impl Decoder {
    /// Decompresses and tells whether exactly `dst.len()` bytes came out.
    pub fn decompress(&mut self, src: &[u8], dst: &mut [u8]) -> bool {
        if self.context.is_none() {
            self.context = DCtx::try_create();
        }
        match &mut self.context {
            Some(context) => context.decompress(dst, src) == Ok(dst.len()),
            None => false,
        }
    }
}
