//! Zstandard without C, by the crate `zrip-decode`, which only reads.

use zrip_core::dict::Dictionary;
use zrip_decode::context::DecompressContext;

use crate::ChunkError;

/// The decompressor with its tables, made on first use.
#[derive(Default)]
pub(super) struct Decoder {
    context: Option<DecompressContext>,
    /// The latest dictionary, and a decompressor that is set up for it.
    dictionary: Option<(Vec<u8>, DecompressContext)>,
    /// The decompressed stream: the crate writes only to vectors of its own.
    content: Vec<u8>,
}

impl Decoder {
    /// Decompresses and returns whether the result has exactly `dst.len()` bytes.
    #[expect(clippy::unnecessary_wraps, reason = "the other back end can fail")]
    pub fn decompress(&mut self, src: &[u8], dst: &mut [u8]) -> Result<bool, ChunkError> {
        let context = self.context.get_or_insert_default();
        Ok(decompress(context, &mut self.content, src, dst))
    }

    /// Decompresses with a dictionary, which is prepared once for all consecutive streams that use
    /// it. A damaged dictionary gives `false`.
    #[expect(clippy::unnecessary_wraps, reason = "the other back end can fail")]
    pub fn decompress_with(
        &mut self,
        dictionary: &[u8],
        src: &[u8],
        dst: &mut [u8],
    ) -> Result<bool, ChunkError> {
        let latest = self.dictionary.take();
        let latest = latest.filter(|(bytes, _)| bytes == dictionary);
        let prepare = || {
            let prepared = Dictionary::from_bytes(dictionary).ok()?;
            Some((dictionary.to_vec(), DecompressContext::with_dict(prepared)))
        };
        let Some(latest) = latest.or_else(prepare) else {
            return Ok(false);
        };
        let (_, context) = self.dictionary.insert(latest);
        Ok(decompress(context, &mut self.content, src, dst))
    }
}

/// Decompresses at most `dst.len()` bytes to `content`, and copies them if their number is exactly
/// that.
fn decompress(
    context: &mut DecompressContext,
    content: &mut Vec<u8>,
    src: &[u8],
    dst: &mut [u8],
) -> bool {
    content.clear();
    let len = context.decompress_into_with_limit(src, content, dst.len());
    let sound = len == Ok(dst.len()) && content.len() == dst.len();
    if sound {
        dst.copy_from_slice(content);
    }
    sound
}
