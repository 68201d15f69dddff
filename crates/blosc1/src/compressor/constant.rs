//! Streams that hold one byte over and over, as upper bytes of shuffled numbers mostly do.
//!
//! What a compressor makes of them depends on byte and length alone, so it is kept.

/// How many are kept: enough for the upper bytes of small signed numbers, and for block and
/// short last block.
const KEPT: usize = 4;

/// What the compressor made of the latest such streams.
#[derive(Default)]
pub(crate) struct Constants {
    kept: Vec<Kept>,
    next: usize,
}

struct Kept {
    byte: u8,
    len: usize,
    stream: Vec<u8>,
}

impl Constants {
    /// The byte that `src` holds throughout. Seen to be none at the first that differs, so the
    /// question costs nothing where it is answered with no.
    pub fn byte_of(src: &[u8]) -> Option<u8> {
        let (&byte, rest) = src.split_first()?;
        (rest == src.get(..rest.len())?).then_some(byte)
    }

    /// Writes what is kept for this stream and gives its length.
    pub fn recall(&self, byte: u8, len: usize, dst: &mut [u8]) -> Option<usize> {
        let kept = self
            .kept
            .iter()
            .find(|kept| kept.byte == byte && kept.len == len)?;
        dst.get_mut(..kept.stream.len())?
            .copy_from_slice(&kept.stream);
        Some(kept.stream.len())
    }

    /// Keeps what became of this stream, in place of the one kept longest.
    pub fn keep(&mut self, byte: u8, len: usize, stream: &[u8]) {
        if self.kept.len() < KEPT {
            let stream = stream.to_vec();
            self.kept.push(Kept { byte, len, stream });
        } else if let Some(kept) = self.kept.get_mut(self.next) {
            (kept.byte, kept.len) = (byte, len);
            kept.stream.clear();
            kept.stream.extend_from_slice(stream);
            self.next = (self.next + 1) % KEPT;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Constants, KEPT};

    #[test]
    fn only_one_byte_throughout_is_constant() {
        assert_eq!(Constants::byte_of(&[7; 100]), Some(7));
        assert_eq!(Constants::byte_of(&[7]), Some(7));
        assert_eq!(Constants::byte_of(&[]), None);
        for at in 0..100 {
            let mut bytes = [7; 100];
            bytes[at] = 8;
            assert_eq!(Constants::byte_of(&bytes), None, "{at}");
        }
    }

    #[test]
    fn the_latest_are_recalled_where_they_fit() {
        let mut constants = Constants::default();
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
        assert_eq!(constants.kept.len(), KEPT);
    }
}
