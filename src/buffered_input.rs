//! A reader with the parser's input in front of it.

use std::io::{self, Read};

/// How much is read at once, unless told otherwise.
const BUFFER_LEN: usize = 256 << 10;

/// Reads ahead into one buffer, which is made at the first read.
pub(super) struct Source<R> {
    reader: R,
    buffer: Vec<u8>,
    /// Length that the buffer gets.
    buffer_len: usize,
    from: usize,
    to: usize,
    total: u64,
}

impl<R> Source<R> {
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
        }
    }

    /// Bytes that were read and not used.
    pub(super) fn unused(&self) -> &[u8] {
        self.buffer.get(self.from..self.to).unwrap_or_default()
    }

    /// Marks all but the last `left` of the unused bytes as used.
    pub(super) fn keep(&mut self, left: usize) {
        self.from = self.to.saturating_sub(left);
    }

    /// Whether the last read gave less than there was room for.
    pub(super) fn was_short(&self) -> bool {
        self.to < self.buffer.len()
    }

    /// Counts bytes that were passed over, not read.
    pub(super) fn passed(&mut self, count: u64) {
        self.total = self.total.saturating_add(count);
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
}

impl<R: Read> Source<R> {
    /// Reads once, when all is used; false at the end of the input.
    pub(super) fn fill(&mut self) -> io::Result<bool> {
        self.fill_up_to(usize::MAX)
    }

    /// The same, up to so many bytes.
    pub(super) fn fill_up_to(&mut self, most: usize) -> io::Result<bool> {
        if self.from < self.to {
            return Ok(true);
        }
        if self.buffer.is_empty() {
            self.buffer = vec![0; self.buffer_len];
        }
        let most = most.min(self.buffer.len());
        let room = self.buffer.get_mut(..most).unwrap_or_default();
        let len = loop {
            match self.reader.read(room) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                result => break result?.min(most),
            }
        };
        (self.from, self.to) = (0, len);
        self.total = self.total.saturating_add(u64::try_from(len).unwrap_or(0));
        Ok(self.to > 0)
    }
}
