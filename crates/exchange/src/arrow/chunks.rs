//! [`Chunks`]: the bytes that the Arrow and Parquet crates read, checked against the length of the file before memory is
//! allocated.

use super::tap::Tap;
use bloscpack_error::Result;
use bloscpack_error::checked::{in_memory, to_u64};
use bloscpack_storage::ReadAt;
use bytes::Bytes;
use parquet::file::reader::{ChunkReader, Length};
use std::io::{self, Read};
use std::sync::Arc;

/// A source of bytes that keeps its first error, and refuses to read past the end.
#[derive(Debug)]
pub(super) struct Chunks<S> {
    bytes: Arc<S>,
    size: u64,
    pub tap: Tap,
}

impl<S> Clone for Chunks<S> {
    fn clone(&self) -> Self {
        Self {
            bytes: Arc::clone(&self.bytes),
            size: self.size,
            tap: self.tap.clone(),
        }
    }
}

impl<S: ReadAt> Chunks<S> {
    pub fn new(bytes: S) -> Result<Self> {
        let size = bytes.size()?;
        Ok(Self {
            bytes: Arc::new(bytes),
            size,
            tap: Tap::default(),
        })
    }

    pub fn size(&self) -> u64 {
        self.size
    }

    /// Reads `len` bytes at a position. The length is checked before memory is allocated.
    pub fn read(&self, at: u64, len: u64) -> io::Result<Vec<u8>> {
        let end = at.checked_add(len);
        if end.is_none_or(|end| end > self.size) {
            let what = format!("{len} bytes at {at} of a file of {} bytes", self.size);
            return Err(io::Error::new(io::ErrorKind::UnexpectedEof, what));
        }
        let mut bytes = vec![0; in_memory(len)?];
        self.tap.note(self.bytes.read_exact_at(at, &mut bytes))?;
        Ok(bytes)
    }
}

impl<S: ReadAt> Length for Chunks<S> {
    fn len(&self) -> u64 {
        self.size
    }
}

impl<S: ReadAt> ChunkReader for Chunks<S> {
    type T = io::BufReader<BytesFrom<S>>;

    fn get_read(&self, start: u64) -> parquet::errors::Result<Self::T> {
        let from = BytesFrom {
            chunks: self.clone(),
            at: start,
        };
        Ok(io::BufReader::new(from))
    }

    fn get_bytes(&self, start: u64, length: usize) -> parquet::errors::Result<Bytes> {
        Ok(self.read(start, to_u64(length))?.into())
    }
}

/// A reader from a position on.
pub(super) struct BytesFrom<S> {
    chunks: Chunks<S>,
    at: u64,
}

impl<S: ReadAt> Read for BytesFrom<S> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let done = self.chunks.bytes.read_at(self.at, buf);
        let len = self.chunks.tap.note(done)?;
        self.at += to_u64(len);
        Ok(len)
    }
}
