//! [`BufferedInput`]: a reader with a buffer that holds the parser's input.

use bloscpack_error::Result;
use bloscpack_error::checked::{slice, slice_mut, to_u64};
use std::io::{self, Read};
use std::ops::Range;
use std::sync::Arc;
#[cfg(feature = "aio")]
use std::task::{Poll, ready};

/// Bytes that are read at once by default.
pub(super) const BUFFER_LEN: usize = 256 << 10;

/// Bytes of a window, which threads share.
pub(super) struct Part {
    window: Arc<Vec<u8>>,
    range: Range<usize>,
}

impl Part {
    pub(super) fn copy_of(bytes: &[u8]) -> Self {
        Self {
            window: Arc::new(bytes.to_vec()),
            range: 0..bytes.len(),
        }
    }

    pub(super) fn bytes(&self) -> Result<&[u8]> {
        slice(&self.window, self.range.clone())
    }

    /// Extends it to the front, if these bytes stand there.
    pub(super) fn extend_over(&mut self, bytes: &[u8]) -> bool {
        let from = self.range.start.checked_sub(bytes.len());
        let is_there =
            from.is_some_and(|from| self.window.get(from..self.range.start) == Some(bytes));
        if is_there {
            self.range.start -= bytes.len();
        }
        is_there
    }
}

/// Reads ahead into one buffer, which is allocated at the first read, or takes windows that were read elsewhere.
pub(super) struct BufferedInput<R> {
    reader: R,
    buffer: Vec<u8>,
    /// Length of the buffer, once it is allocated.
    buffer_len: usize,
    /// Takes the place of the buffer.
    window: Option<Arc<Vec<u8>>>,
    from: usize,
    to: usize,
    total: u64,
    /// Those of them that were read or copied on this thread.
    handled: u64,
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
            window: None,
            from: 0,
            to: 0,
            total: 0,
            handled: 0,
        }
    }

    /// Takes bytes that were read elsewhere, once all others are used. Returns false if there are none.
    pub(super) fn take(&mut self, window: Arc<Vec<u8>>) -> bool {
        (self.from, self.to) = (0, window.len());
        self.total += to_u64(window.len());
        self.window = Some(window);
        self.to > 0
    }

    /// Bytes that were read and not used.
    pub(super) fn unused(&self) -> Result<&[u8]> {
        let buffer = self.window.as_deref().unwrap_or(&self.buffer);
        slice(buffer, self.from..self.to)
    }

    /// The `len` bytes before the last `left`, if they lie in a window.
    pub(super) fn share(&self, len: usize, left: usize) -> Option<Part> {
        let window = Arc::clone(self.window.as_ref()?);
        let end = self.to.checked_sub(left)?;
        let range = end.checked_sub(len)?..end;
        Some(Part { window, range })
    }

    /// Counts bytes that were copied.
    pub(super) fn copied(&mut self, count: usize) {
        self.handled += to_u64(count);
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
    }

    /// Bytes that were read or copied on this thread.
    #[cfg(test)]
    pub(super) fn handled(&self) -> u64 {
        self.handled
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
        self.window = None;
        self.total += to_u64(len);
        self.handled += to_u64(len);
        len > 0
    }

    /// The reader, and the bytes that were read from it and not used.
    pub(super) fn into_parts(self) -> (R, Vec<u8>) {
        let mut buffer = self.window.map_or(self.buffer, Arc::unwrap_or_clone);
        buffer.truncate(self.to);
        // `from` is at most `to`, and `min` guards against a buffer that is shorter.
        let unused = buffer.split_off(self.from.min(buffer.len()));
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
