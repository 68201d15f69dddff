//! Snappy by the crate `snap`, in Rust.

use super::compress::{Compress, compress_with_room};

/// The compressor with its tables. It has no levels.
pub(super) struct Encoder {
    inner: snap::raw::Encoder,
    /// Output for streams whose worst case does not fit: `snap` requires room for it.
    room: Vec<u8>,
}

impl Encoder {
    pub fn new() -> Self {
        Self {
            inner: snap::raw::Encoder::new(),
            room: Vec::new(),
        }
    }
}

impl Compress for Encoder {
    fn compress(&mut self, src: &[u8], dst: &mut [u8]) -> Option<usize> {
        let worst = snap::raw::max_compress_len(src.len());
        if worst == 0 {
            return None;
        }
        let Self { inner, room } = self;
        compress_with_room(worst, dst, room, |dst| inner.compress(src, dst).ok())
    }
}

/// The decompressor.
#[derive(Default)]
pub(super) struct Decoder {
    inner: snap::raw::Decoder,
}

impl Decoder {
    /// Decompresses and returns whether the result has exactly `dst.len()` bytes.
    pub fn decompress(&mut self, src: &[u8], dst: &mut [u8]) -> bool {
        self.inner.decompress(src, dst) == Ok(dst.len())
    }
}
