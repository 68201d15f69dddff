//! The data of a chunk while it arrives.

/// Room made before anything has arrived, at the most.
const FIRST_ROOM: usize = 1 << 20;

/// A buffer that is filled from the front, and zeroed only where it grows.
#[derive(Default)]
pub(in crate::file) struct Fill {
    bytes: Vec<u8>,
    len: usize,
}

impl Fill {
    pub(in crate::file) fn len(&self) -> usize {
        self.len
    }

    pub(super) fn data(&self) -> &[u8] {
        self.bytes.get(..self.len).unwrap_or_default()
    }

    /// Room for more data, up to `most` bytes in all: memory follows what arrives.
    pub(super) fn room(&mut self, most: usize) -> &mut [u8] {
        let wanted = self.len.saturating_mul(2).max(FIRST_ROOM).min(most);
        if self.len == self.bytes.len() && wanted > self.len {
            self.bytes.resize(wanted, 0);
        }
        let end = self.bytes.len().min(most);
        self.bytes.get_mut(self.len..end).unwrap_or_default()
    }

    /// Says that so many bytes of the room now hold data.
    pub(super) fn filled(&mut self, len: usize) {
        self.len = self.len.saturating_add(len).min(self.bytes.len());
    }

    /// Takes all that is appended to it.
    pub(in crate::file) fn append(&mut self, append: impl FnOnce(&mut Vec<u8>)) {
        self.bytes.truncate(self.len);
        append(&mut self.bytes);
        self.len = self.bytes.len();
    }

    pub(super) fn clear(&mut self) {
        self.len = 0;
    }
}
