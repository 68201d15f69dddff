//! [`ContentCursor`]: the content of a file as `Read` and `Seek`; and the content as a source.

use super::IndexedReader;
use bloscpack_error::checked::to_u64;
use bloscpack_storage::internal::seek_target;
use bloscpack_storage::{ReadAhead, ReadAt};
use std::io::{self, Read, Seek, SeekFrom};

/// Reads the uncompressed bytes of an [`IndexedReader`] in order, and seeks in them; created by
/// [`IndexedReader::cursor`]. Several cursors may read from one reader.
///
/// A call to [`read`](Read::read) returns bytes of one chunk only. Each call reads and checks the chunk again if the chunk is
/// larger than the reader's cache, so large chunks need large buffers or a [larger cache](crate::Options::cache).
///
/// Seeking reads nothing. A position past the end is allowed; reading there returns no bytes.
///
/// ```
/// use bloscpack::indexed::IndexedReader;
/// use std::io::{Read, Seek, SeekFrom};
/// let reader = IndexedReader::open(bloscpack::compress(b"one two three")?)?;
/// let (mut cursor, mut word) = (reader.cursor(), String::new());
/// cursor.seek(SeekFrom::End(-5))?;
/// cursor.read_to_string(&mut word)?;
/// assert_eq!(word, "three");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct ContentCursor<'a, S> {
    reader: &'a IndexedReader<S>,
    source: ReadAhead<&'a S>,
    at: u64,
    /// Where the last read ended.
    next: Option<u64>,
}

impl<'a, S> ContentCursor<'a, S> {
    pub(super) fn new(reader: &'a IndexedReader<S>) -> Self {
        Self {
            reader,
            source: ReadAhead::new(&reader.source, 0),
            at: 0,
            next: None,
        }
    }
}

impl<S: ReadAt> Read for ContentCursor<'_, S> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        // One chunk at a time: the caller gets this one even if the next is damaged.
        let goes_on = self.next == Some(self.at);
        let len = self
            .reader
            .read_in_chunk(&self.source, self.at, buf, goes_on)?;
        self.at += to_u64(len);
        self.next = Some(self.at);
        Ok(len)
    }
}

impl<S: ReadAt> Seek for ContentCursor<'_, S> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.at = seek_target(to, self.at, || Ok(self.reader.content_len()))?;
        Ok(self.at)
    }
}

/// The content of a file is itself a source: every reader of sources can read a compressed file as if it were not compressed.
/// Its size is [`content_len`](Self::content_len).
///
/// ```
/// use bloscpack::{indexed::IndexedReader, storage::ReadAt};
/// let inner = bloscpack::compress(b"one two three")?;
/// let outer = IndexedReader::open(bloscpack::compress(&inner)?)?;
/// let reader = IndexedReader::open(&outer)?;
/// assert_eq!((outer.size()?, reader.content_len()), (inner.len() as u64, 13));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
impl<S: ReadAt> ReadAt for IndexedReader<S> {
    fn read_at(&self, at: u64, buf: &mut [u8]) -> io::Result<usize> {
        Ok(Self::read_at(self, at, buf)?)
    }

    fn size(&self) -> io::Result<u64> {
        Ok(self.content_len())
    }
}
