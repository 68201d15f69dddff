//! Snappy through the crate `snap`.

use super::stream::Compress;

/// The compressor with its tables. There are no levels.
pub(super) struct Encoder {
    inner: snap::raw::Encoder,
    /// `snap` wants room for the worst case, whatever the stream turns out to need.
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
        if dst.len() >= worst {
            return self.inner.compress(src, dst).ok();
        }
        if self.room.len() < worst {
            self.room = vec![0; worst];
        }
        let len = self.inner.compress(src, &mut self.room).ok()?;
        dst.get_mut(..len)?.copy_from_slice(self.room.get(..len)?);
        Some(len)
    }
}

/// The decompressor, which has no state to speak of.
#[derive(Default)]
pub(super) struct Decoder {
    inner: snap::raw::Decoder,
}

impl Decoder {
    /// Decompresses and tells whether exactly `dst.len()` bytes came out.
    pub fn decompress(&mut self, src: &[u8], dst: &mut [u8]) -> bool {
        self.inner.decompress(src, dst) == Ok(dst.len())
    }
}
