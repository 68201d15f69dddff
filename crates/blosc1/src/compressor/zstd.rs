//! Zstandard through the C library.

use zstd_safe::{CCtx, DCtx, DDict, max_c_level};

use super::stream::Compress;

/// The compressor's context.
pub(super) struct Encoder {
    context: CCtx<'static>,
    level: i32,
}

impl Encoder {
    /// A context, or `None` if there is no memory for it. Blosc's nine levels are spread over
    /// those of the library as C-Blosc does it.
    pub fn new(level: u8) -> Option<Self> {
        let level = match level {
            9.. => max_c_level(),
            _ => 2 * i32::from(level) - 1,
        };
        Some(Self {
            context: CCtx::try_create()?,
            level,
        })
    }
}

impl Compress for Encoder {
    fn compress(&mut self, src: &[u8], dst: &mut [u8]) -> Option<usize> {
        self.context.compress(dst, src, self.level).ok()
    }
}

/// The decompressor's context, which is made when first needed.
#[derive(Default)]
pub(super) struct Decoder {
    context: Option<DCtx<'static>>,
    /// The latest dictionary, as bytes and as the library has it.
    dictionary: Option<(Vec<u8>, DDict<'static>)>,
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

    /// The same with a dictionary, which is prepared once for all streams in a row that use it.
    pub fn decompress_with(&mut self, dictionary: &[u8], src: &[u8], dst: &mut [u8]) -> bool {
        if self.context.is_none() {
            self.context = DCtx::try_create();
        }
        let kept = self
            .dictionary
            .take()
            .filter(|(bytes, _)| bytes == dictionary);
        let prepared = || Some((dictionary.to_vec(), DDict::try_create(dictionary)?));
        self.dictionary = kept.or_else(prepared);
        match (&mut self.context, &self.dictionary) {
            (Some(context), Some((_, dictionary))) => {
                context.decompress_using_ddict(dst, src, dictionary) == Ok(dst.len())
            }
            _ => false,
        }
    }
}
