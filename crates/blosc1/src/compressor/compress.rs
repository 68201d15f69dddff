//! The interface of a compressor, and what decompressors need besides the stream.

use crate::BlockShape;

/// A compressor at a level, with the memory that it keeps between streams.
///
/// The output must depend on the stream alone, not on the streams before it.
pub(super) trait Compress: Send {
    /// Compresses `src` into the beginning of `dst` and returns the length, or `None` if the result
    /// does not fit.
    fn compress(&mut self, src: &[u8], dst: &mut [u8]) -> Option<usize>;
}

/// Compresses into `dst` with a library that requires room for its worst case, `worst` bytes.
///
/// If `dst` is shorter, the library writes to `room`, which grows once, and the result is copied.
#[cfg(any(feature = "lz4-pure", feature = "snappy"))]
pub(super) fn compress_with_room(
    worst: usize,
    dst: &mut [u8],
    room: &mut Vec<u8>,
    compress: impl FnOnce(&mut [u8]) -> Option<usize>,
) -> Option<usize> {
    if dst.len() >= worst {
        return compress(dst);
    }
    if room.len() < worst {
        *room = vec![0; worst];
    }
    let len = compress(room)?;
    dst.get_mut(..len)?.copy_from_slice(room.get(..len)?);
    Some(len)
}

/// The inputs of a plug-in's decompressor other than the stream.
#[derive(Clone, Copy)]
#[cfg_attr(
    not(feature = "zfp"),
    allow(dead_code, reason = "only ZFP needs all of them")
)]
pub(crate) struct Parameters {
    /// The number of the compressor.
    pub compressor: u8,
    /// Its parameter.
    pub meta: u8,
    pub typesize: u8,
    /// The shape of the block, if it is known.
    pub shape: Option<BlockShape>,
}
