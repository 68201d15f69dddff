//! The bytes of a chunk while they arrive.

use super::shared_source::Fetch;
use std::io;

/// Room made before anything has arrived, at the most.
const FIRST_ROOM: usize = 1 << 20;

/// A buffer that is filled from the front, and zeroed only where it grows.
#[derive(Default)]
pub(super) struct Fill {
    bytes: Vec<u8>,
    len: usize,
}

impl Fill {
    pub(super) fn len(&self) -> usize {
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

    /// Takes these bytes.
    pub(super) fn put(&mut self, bytes: &[u8]) {
        let end = self.len.saturating_add(bytes.len());
        if self.bytes.len() < end {
            self.bytes.resize(end, 0);
        }
        if let Some(room) = self.bytes.get_mut(self.len..end) {
            room.copy_from_slice(bytes);
        }
        self.len = end;
    }

    /// How much memory it takes.
    pub(super) fn capacity(&self) -> usize {
        self.bytes.capacity()
    }

    /// Takes the bytes from `at` on out of it.
    pub(super) fn split_off(&mut self, at: usize) -> Vec<u8> {
        let rest = self.data().get(at..).unwrap_or_default().to_vec();
        self.len = self.len.min(at);
        rest
    }

    /// Takes all that is to be fetched.
    pub(super) fn fetch(&mut self, fetch: &Fetch) -> io::Result<()> {
        let begin = self.len;
        let most = begin.saturating_add(fetch.len());
        while self.len < most {
            let done = self.len.saturating_sub(begin);
            let len = fetch.read(done, self.room(most))?;
            self.filled(len);
        }
        Ok(())
    }

    /// Takes all that is appended to it.
    pub(super) fn append(&mut self, append: impl FnOnce(&mut Vec<u8>)) {
        self.bytes.truncate(self.len);
        append(&mut self.bytes);
        self.len = self.bytes.len();
    }

    pub(super) fn clear(&mut self) {
        self.len = 0;
    }
}
