//! A reader that gives its bytes in small pieces, as a pipe or a socket may.

use std::io::{self, Read};

/// Gives at most `most` bytes at a time.
pub struct Trickle<'a> {
    bytes: &'a [u8],
    most: usize,
}

impl<'a> Trickle<'a> {
    pub fn new(bytes: &'a [u8], most: usize) -> Self {
        Self { bytes, most }
    }
}

impl Read for Trickle<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let most = buffer.len().min(self.most);
        self.bytes.read(&mut buffer[..most])
    }
}
