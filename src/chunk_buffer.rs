//! [`ChunkBuffer`]: the bytes of a chunk while they arrive.

use super::shared_source::Fetch;
use bloscpack_error::checked::{slice, slice_mut};
use bloscpack_error::{Error, IoSide, Result};

/// The most room that is allocated before any byte has arrived.
const FIRST_ROOM: usize = 2 << 20;

/// A buffer that is filled from the front and zeroed only where it grows.
#[derive(Default)]
pub(super) struct ChunkBuffer {
    bytes: Vec<u8>,
    len: usize,
}

impl ChunkBuffer {
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// The bytes that have arrived.
    pub(super) fn data(&self) -> Result<&[u8]> {
        slice(&self.bytes, 0..self.len)
    }

    /// Returns room for more data, up to `most` bytes in all. Memory grows as bytes arrive.
    pub(super) fn room(&mut self, most: usize) -> Result<&mut [u8]> {
        // Saturates: a buffer of half the address space cannot be doubled, and `most` is the bound in any case.
        let wanted = self.len.saturating_mul(2).max(FIRST_ROOM).min(most);
        if self.len == self.bytes.len() && wanted > self.len {
            self.bytes.resize(wanted, 0);
        }
        let end = self.bytes.len().min(most.max(self.len));
        slice_mut(&mut self.bytes, self.len..end)
    }

    /// Records that this many bytes of the room now hold data.
    pub(super) fn filled(&mut self, len: usize) -> Result<()> {
        let room = self.bytes.len() - self.len;
        if len > room {
            let why = format!("{len} bytes were put into a room of {room} bytes");
            return Err(Error::bug(why));
        }
        self.len += len;
        Ok(())
    }

    /// Appends these bytes.
    pub(super) fn put(&mut self, bytes: &[u8]) -> Result<()> {
        let end = self.len + bytes.len();
        if self.bytes.len() < end {
            self.bytes.resize(end, 0);
        }
        slice_mut(&mut self.bytes, self.len..end)?.copy_from_slice(bytes);
        self.len = end;
        Ok(())
    }

    /// Bytes of memory that it takes.
    pub(super) fn capacity(&self) -> usize {
        self.bytes.capacity()
    }

    /// Removes and returns the bytes after the first `at`.
    pub(super) fn split_off(&mut self, at: usize) -> Result<Vec<u8>> {
        let rest = slice(self.data()?, at..self.len)?.to_vec();
        self.len = at;
        Ok(rest)
    }

    /// Reads all bytes of a [`Fetch`].
    ///
    /// # Errors
    /// Returns any error of the source, which may have become shorter.
    pub(super) fn fetch(&mut self, fetch: &Fetch) -> Result<()> {
        let begin = self.len;
        let most = begin + fetch.len()?;
        while self.len < most {
            let done = self.len - begin;
            let len = fetch.read(done, self.room(most)?).reading()?;
            self.filled(len)?;
        }
        Ok(())
    }

    /// Lets `append` add bytes at the end.
    pub(super) fn append(&mut self, append: impl FnOnce(&mut Vec<u8>)) {
        self.bytes.truncate(self.len);
        append(&mut self.bytes);
        self.len = self.bytes.len();
    }

    pub(super) fn clear(&mut self) {
        self.len = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::ChunkBuffer;
    use bloscpack_error::Code;

    #[test]
    fn more_than_there_was_room_for_is_a_bug() {
        let mut buffer = ChunkBuffer::default();
        assert_eq!(buffer.room(10).unwrap().len(), 10);
        let error = buffer.filled(11).unwrap_err();
        assert_eq!(error.code(), Code::Bug, "{error}");
        buffer.filled(10).unwrap();
        assert_eq!(buffer.data().unwrap(), [0; 10]);
        let error = buffer.split_off(11).unwrap_err();
        assert_eq!(error.code(), Code::Bug, "{error}");
    }
}
