//! [`BufferedInput`]: a reader with a buffer that holds the parser's input.

use bloscpack_error::Result;
use bloscpack_error::checked::{slice, slice_mut, to_u64};
use std::io::{self, Read};
#[cfg(feature = "aio")]
use std::task::{Poll, ready};

/// Bytes that are read at once by default.
pub(super) const BUFFER_LEN: usize = 256 << 10;

/// Reads ahead into one buffer, which is allocated at the first read.
pub(super) struct BufferedInput<R> {
    reader: R,
    buffer: Vec<u8>,
    /// Length of the buffer, once it is allocated.
    buffer_len: usize,
    from: usize,
    to: usize,
    total: u64,
    /// Those of them that were skipped.
    skipped: u64,
}

impl<R> BufferedInput<R> {
    pub(super) fn new(reader: R) -> Self {
        Self::with_buffer(reader, BUFFER_LEN)
    }

    pub(super) fn with_buffer(reader: R, buffer_len: usize) -> Self {
        Self {
            reader,
            buffer: Vec::new(),
            buffer_len,
            from: 0,
            to: 0,
            total: 0,
            skipped: 0,
        }
    }

    /// Takes bytes that were read elsewhere, once all others are used, and leaves a buffer for reuse in their place. Returns
    /// false if there are none.
    pub(super) fn replace(&mut self, bytes: &mut Vec<u8>) -> bool {
        (self.from, self.to) = (0, bytes.len());
        self.total += to_u64(bytes.len());
        if !bytes.is_empty() {
            std::mem::swap(&mut self.buffer, bytes);
        }
        self.to > 0
    }

    /// Bytes that were read and not used.
    pub(super) fn unused(&self) -> Result<&[u8]> {
        slice(&self.buffer, self.from..self.to)
    }

    /// Marks all but the last `left` of the unused bytes as used.
    pub(super) fn keep(&mut self, left: usize) {
        debug_assert!(left <= self.to - self.from);
        self.from = self.to - left;
    }

    /// Whether the last read returned less than it had room for.
    pub(super) fn was_short(&self) -> bool {
        self.to < self.buffer.len()
    }

    /// Forgets the unused bytes, which are read again.
    pub(super) fn unread(&mut self) {
        self.total -= to_u64(self.to - self.from);
        (self.from, self.to) = (0, 0);
    }

    /// Counts bytes that were skipped instead of read.
    pub(super) fn passed(&mut self, count: u64) {
        self.total += count;
        self.skipped += count;
    }

    /// Bytes that went through this buffer.
    #[cfg(test)]
    pub(super) fn read_or_copied(&self) -> u64 {
        self.total - self.skipped
    }

    /// Bytes read so far.
    pub(super) fn total(&self) -> u64 {
        self.total
    }

    pub(super) fn get_ref(&self) -> &R {
        &self.reader
    }

    pub(super) fn get_mut(&mut self) -> &mut R {
        &mut self.reader
    }

    pub(super) fn into_inner(self) -> R {
        self.reader
    }

    /// As [`fill`](Self::fill), for an async source.
    #[cfg(feature = "aio")]
    pub(super) fn poll_fill(
        &mut self,
        read: impl FnOnce(&mut R, &mut [u8]) -> Poll<io::Result<usize>>,
    ) -> Poll<io::Result<bool>> {
        self.make_buffer();
        let most = self.buffer.len();
        let len = ready!(read(&mut self.reader, &mut self.buffer))?.min(most);
        Poll::Ready(Ok(self.filled(len)))
    }

    /// Takes as many of these bytes as fit into the buffer, once all others are used.
    #[cfg(feature = "tokio")]
    pub(super) fn feed(&mut self, bytes: &mut impl bytes::Buf) {
        self.make_buffer();
        let len = bytes.remaining().min(self.buffer.len());
        if let Some(room) = self.buffer.get_mut(..len) {
            bytes.copy_to_slice(room);
        }
        self.filled(len);
    }

    /// Takes these few bytes, once all others are used.
    pub(super) fn put(&mut self, bytes: &[u8]) -> Result<()> {
        self.make_buffer();
        slice_mut(&mut self.buffer, 0..bytes.len())?.copy_from_slice(bytes);
        self.filled(bytes.len());
        Ok(())
    }

    /// Allocates the buffer at its first use.
    fn make_buffer(&mut self) {
        if self.buffer.is_empty() {
            self.buffer = vec![0; self.buffer_len];
        }
    }

    /// Records how many bytes were read. Returns false if there were none.
    fn filled(&mut self, len: usize) -> bool {
        (self.from, self.to) = (0, len);
        self.total += to_u64(len);
        len > 0
    }

    /// The reader, and the bytes that were read from it and not used.
    pub(super) fn into_parts(mut self) -> (R, Vec<u8>) {
        self.buffer.truncate(self.to);
        // `from` is at most `to`, and `min` guards against a buffer that is shorter.
        let unused = self.buffer.split_off(self.from.min(self.buffer.len()));
        (self.reader, unused)
    }
}

impl<R: Read> BufferedInput<R> {
    /// Reads once, unless unused bytes are left. Returns false at the end of the input.
    pub(super) fn fill(&mut self) -> Result<bool> {
        self.fill_up_to(usize::MAX)
    }

    /// As [`fill`](Self::fill), but reads no more than `most` bytes.
    pub(super) fn fill_up_to(&mut self, most: usize) -> Result<bool> {
        if self.from < self.to {
            return Ok(true);
        }
        self.make_buffer();
        let most = most.min(self.buffer.len());
        let room = slice_mut(&mut self.buffer, 0..most)?;
        let len = loop {
            match self.reader.read(room) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                // A wrong reader may return more than the buffer has room for.
                result => break result?.min(most),
            }
        };
        Ok(self.filled(len))
    }
}
