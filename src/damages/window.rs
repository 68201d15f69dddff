//! [`Window`]: random access to the bytes of a source, with a small buffer.

use bloscpack_error::Result;
use bloscpack_error::checked::{in_memory, len_of, slice, slice_mut, to_u64};
use bloscpack_storage::ReadAt;
use std::io;
use std::ops::Range;

/// Bytes that are read to examine a few.
const LOOK: usize = 4 << 10;
/// Bytes that are read at once if all are needed.
const PIECE: u64 = 128 << 10;

/// A source, its length as of the beginning, and a buffer with the bytes around the last position.
pub(super) struct Window<'a, S> {
    source: &'a S,
    size: u64,
    buffer: Vec<u8>,
    /// Where the buffer begins in the source.
    at: u64,
}

impl<'a, S: ReadAt> Window<'a, S> {
    pub(super) fn new(source: &'a S) -> Result<Self> {
        Ok(Self {
            source,
            size: source.size()?,
            buffer: Vec::new(),
            at: 0,
        })
    }

    pub(super) fn source(&self) -> &'a S {
        self.source
    }

    pub(super) fn size(&self) -> u64 {
        self.size
    }

    /// `len` bytes, beginning at `at`, or fewer at the end.
    pub(super) fn look(&mut self, at: u64, len: usize) -> Result<&[u8]> {
        let bytes = self.from(at, len, LOOK)?;
        Ok(bytes.get(..len).unwrap_or(bytes))
    }

    /// All bytes in the buffer, beginning at `at`: at least `least` of them, or fewer at the end.
    pub(super) fn sweep(&mut self, at: u64, least: usize) -> Result<&[u8]> {
        self.from(at, least, in_memory(PIECE)?)
    }

    fn from(&mut self, at: u64, least: usize, piece: usize) -> Result<&[u8]> {
        let left = len_of(&(at..self.size));
        let wanted = in_memory(left.min(to_u64(least)))?;
        let skip = at
            .checked_sub(self.at)
            .and_then(|skip| usize::try_from(skip).ok())
            .filter(|skip| {
                let have = self.buffer.get(*skip..).map_or(0, <[u8]>::len);
                have >= wanted && have > 0
            });
        if let Some(skip) = skip {
            return slice(&self.buffer, skip..self.buffer.len());
        }
        let len = in_memory(left.min(to_u64(piece.max(least))))?;
        self.at = at;
        self.buffer.resize(len, 0);
        self.source.read_exact_at(at, &mut self.buffer)?;
        Ok(&self.buffer)
    }

    /// Reads a range in pieces, without the buffer.
    pub(super) fn each(&self, range: Range<u64>, mut take: impl FnMut(&[u8])) -> Result<()> {
        let mut buffer = vec![0; in_memory(len_of(&range).min(PIECE))?];
        let mut at = range.start;
        while at < range.end {
            let step = len_of(&(at..range.end)).min(PIECE);
            let piece = slice_mut(&mut buffer, 0..in_memory(step)?)?;
            self.source.read_exact_at(at, piece)?;
            take(piece);
            at += step;
        }
        Ok(())
    }

    /// Reads a range within the source. Memory grows with the bytes that are read.
    pub(super) fn whole(&self, range: Range<u64>) -> Result<Vec<u8>> {
        let mut bytes = Vec::new();
        self.each(range, |piece| bytes.extend_from_slice(piece))?;
        Ok(bytes)
    }
}

/// The part of a source after a position, in which `first` replaces the first bytes.
pub(super) struct Part<'a, S> {
    pub source: &'a S,
    pub at: u64,
    pub first: &'a [u8],
}

impl<S: ReadAt> ReadAt for Part<'_, S> {
    fn read_at(&self, at: u64, buf: &mut [u8]) -> io::Result<usize> {
        let first = usize::try_from(at).ok().and_then(|at| self.first.get(at..));
        match first {
            Some(mut rest) if !rest.is_empty() => io::Read::read(&mut rest, buf),
            // Saturates: every position past the end of the source is the end.
            _ => self.source.read_at(self.at.saturating_add(at), buf),
        }
    }

    fn size(&self) -> io::Result<u64> {
        // Saturates: a source that has become shorter has no bytes left.
        Ok(self.source.size()?.saturating_sub(self.at))
    }
}
