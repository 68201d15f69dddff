//! Zstandard by the C library.

use zstd_safe::{CCtx, DCtx, DDict, max_c_level};

use super::compress::Compress;
use crate::ChunkError;

/// The compressor's context.
pub(super) struct Encoder {
    context: CCtx<'static>,
    level: i32,
}

impl Encoder {
    /// A context at a level of Blosc, 1 to 9. As in C-Blosc, 1 to 8 are the library's levels 1, 3,
    /// 5 … 15, and 9 is its highest.
    pub fn new(level: u8) -> Result<Self, ChunkError> {
        let level = match level {
            9.. => max_c_level(),
            _ => 2 * i32::from(level) - 1,
        };
        Ok(Self {
            context: CCtx::try_create().ok_or(ChunkError::Memory)?,
            level,
        })
    }
}

impl Compress for Encoder {
    fn compress(&mut self, src: &[u8], dst: &mut [u8]) -> Option<usize> {
        self.context.compress(dst, src, self.level).ok()
    }
}

/// The decompressor, made on first use.
#[derive(Default)]
pub(super) struct Decoder {
    context: Option<DCtx<'static>>,
    /// The latest dictionary, as bytes and as the library prepared it.
    dictionary: Option<(Vec<u8>, DDict<'static>)>,
}

impl Decoder {
    /// Decompresses and returns whether the result has exactly `dst.len()` bytes.
    pub fn decompress(&mut self, src: &[u8], dst: &mut [u8]) -> Result<bool, ChunkError> {
        let context = context(&mut self.context)?;
        Ok(context.decompress(dst, src) == Ok(dst.len()))
    }

    /// Decompresses with a dictionary, which is prepared once for all consecutive streams that use
    /// it. A damaged dictionary gives `false`.
    pub fn decompress_with(
        &mut self,
        dictionary: &[u8],
        src: &[u8],
        dst: &mut [u8],
    ) -> Result<bool, ChunkError> {
        let context = context(&mut self.context)?;
        let latest = self.dictionary.take();
        let latest = latest.filter(|(bytes, _)| bytes == dictionary);
        let (_, prepared) = match latest {
            Some(latest) => self.dictionary.insert(latest),
            None => {
                // The library reports a damaged dictionary in the same way as a lack of memory.
                // Damage is more likely.
                let Some(prepared) = DDict::try_create(dictionary) else {
                    return Ok(false);
                };
                self.dictionary.insert((dictionary.to_vec(), prepared))
            }
        };
        Ok(context.decompress_using_ddict(dst, src, prepared) == Ok(dst.len()))
    }
}

/// The decompressor, which is made on first use.
fn context<'a>(slot: &'a mut Option<DCtx<'static>>) -> Result<&'a mut DCtx<'static>, ChunkError> {
    match slot {
        Some(context) => Ok(context),
        none => Ok(none.insert(DCtx::try_create().ok_or(ChunkError::Memory)?)),
    }
}
