//! The interface of a compressor.

/// A compressor at a level, with the memory that it keeps between streams.
///
/// The output depends on the stream alone, not on the streams before it.
pub(super) trait Compress: Send {
    /// Compresses `src` into the beginning of `dst` and returns the length, or `None` if the
    /// result does not fit.
    fn compress(&mut self, src: &[u8], dst: &mut [u8]) -> Option<usize>;
}
