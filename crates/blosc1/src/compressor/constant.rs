//! Streams of a single repeated byte, such as the upper bytes of shuffled numbers.
//!
//! Their compressed form depends only on the byte and the length, so it is cached.

/// Number of cached streams: enough for the upper bytes of small signed numbers, in full blocks and
/// in a short last block.
const CACHED: usize = 4;

/// The compressed forms of the latest constant streams; the oldest is replaced first.
#[derive(Default)]
pub(crate) struct ConstantStreams {
    cached: Vec<CachedStream>,
    next: usize,
}

/// `stream` is the compressed form of `len` bytes equal to `byte`.
struct CachedStream {
    byte: u8,
    len: usize,
    stream: Vec<u8>,
}

impl ConstantStreams {
    /// The byte that `src` consists of; `None` if it has several, or is empty.
    ///
    /// The comparison stops at the first byte that differs, so it costs almost nothing for other
    /// streams.
    pub fn byte_of(src: &[u8]) -> Option<u8> {
        let (&byte, rest) = src.split_first()?;
        (rest == src.get(..rest.len())?).then_some(byte)
    }

    /// Writes the cached form of a stream to `dst` and returns its length; `None` if it is not
    /// cached or does not fit.
    pub fn recall(&self, byte: u8, len: usize, dst: &mut [u8]) -> Option<usize> {
        let cached = self
            .cached
            .iter()
            .find(|cached| cached.byte == byte && cached.len == len)?;
        dst.get_mut(..cached.stream.len())?
            .copy_from_slice(&cached.stream);
        Some(cached.stream.len())
    }

    /// Caches the form of this stream in place of the oldest one.
    pub fn keep(&mut self, byte: u8, len: usize, stream: &[u8]) {
        if self.cached.len() < CACHED {
            let stream = stream.to_vec();
            self.cached.push(CachedStream { byte, len, stream });
        } else if let Some(cached) = self.cached.get_mut(self.next) {
            (cached.byte, cached.len) = (byte, len);
            cached.stream.clear();
            cached.stream.extend_from_slice(stream);
            self.next = (self.next + 1) % CACHED;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{CACHED, ConstantStreams};

    #[test]
    fn only_one_byte_throughout_is_constant() {
        assert_eq!(ConstantStreams::byte_of(&[7; 100]), Some(7));
        assert_eq!(ConstantStreams::byte_of(&[7]), Some(7));
        assert_eq!(ConstantStreams::byte_of(&[]), None);
        for at in 0..100 {
            let mut bytes = [7; 100];
            bytes[at] = 8;
            assert_eq!(ConstantStreams::byte_of(&bytes), None, "{at}");
        }
    }

    #[test]
    fn the_latest_are_recalled_where_they_fit() {
        let mut constants = ConstantStreams::default();
        for byte in 0..=4 {
            constants.keep(byte, 10, &[byte; 3]);
        }
        let mut dst = [9; 3];
        assert_eq!(constants.recall(0, 10, &mut dst), None);
        assert_eq!(constants.recall(4, 11, &mut dst), None);
        assert_eq!(constants.recall(4, 10, &mut dst[..2]), None);
        for byte in 1..=4 {
            assert_eq!(constants.recall(byte, 10, &mut dst), Some(3));
            assert_eq!(dst, [byte; 3]);
        }
        assert_eq!(constants.cached.len(), CACHED);
    }
}
