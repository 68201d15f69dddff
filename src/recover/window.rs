//! The bytes of a source, looked at anywhere and in small pieces.

use bloscpack_error::Result;
use bloscpack_storage::ReadAt;
use std::ops::Range;

/// How much is read for a look at a few bytes.
const LOOK: usize = 4 << 10;
/// How much is read at once where all bytes are passed.
const PIECE: usize = 128 << 10;

/// A source of a length that was asked for once, with the bytes around the last look.
pub(super) struct Window<'a, S> {
    source: &'a S,
    size: u64,
    buffer: Vec<u8>,
    /// Where the buffer begins in the source.
    at: u64,
    /// Bytes read so far by looks.
    looked: u64,
}

impl<'a, S: ReadAt> Window<'a, S> {
    pub(super) fn new(source: &'a S) -> Result<Self> {
        Ok(Self {
            source,
            size: source.size()?,
            buffer: Vec::new(),
            at: 0,
            looked: 0,
        })
    }

    pub(super) fn source(&self) -> &'a S {
        self.source
    }

    pub(super) fn size(&self) -> u64 {
        self.size
    }

    /// Bytes that looks have read so far: what looking costs.
    pub(super) fn looked(&self) -> u64 {
        self.looked
    }

    /// The bytes from `at` on, `len` of them or what there is up to the end.
    pub(super) fn look(&mut self, at: u64, len: usize) -> Result<&[u8]> {
        let bytes = self.from(at, len, LOOK)?;
        Ok(bytes.get(..len).unwrap_or(bytes))
    }

    /// All bytes at hand from `at` on, at least `least` of them or what there is up to the end.
    pub(super) fn sweep(&mut self, at: u64, least: usize) -> Result<&[u8]> {
        self.from(at, least, PIECE)
    }

    fn from(&mut self, at: u64, least: usize, piece: usize) -> Result<&[u8]> {
        let wanted = len_of(&(at..self.size)).min(least);
        let skip = at
            .checked_sub(self.at)
            .and_then(|skip| usize::try_from(skip).ok())
            .filter(|skip| {
                let have = self.buffer.get(*skip..).map_or(0, <[u8]>::len);
                have >= wanted && have > 0
            });
        if let Some(skip) = skip {
            return Ok(self.buffer.get(skip..).unwrap_or_default());
        }
        let len = len_of(&(at..self.size)).min(piece.max(least));
        self.at = at;
        self.buffer.resize(len, 0);
        self.looked = self.looked.saturating_add(to_u64(len));
        self.source.read_exact_at(at, &mut self.buffer)?;
        Ok(&self.buffer)
    }

    /// Gives the bytes of a range in pieces, past the window.
    pub(super) fn each(&self, range: Range<u64>, mut take: impl FnMut(&[u8])) -> Result<()> {
        let mut buffer = vec![0; len_of(&range).min(PIECE)];
        let mut at = range.start;
        while at < range.end {
            let len = len_of(&(at..range.end)).min(buffer.len());
            let piece = buffer.get_mut(..len).unwrap_or_default();
            self.source.read_exact_at(at, piece)?;
            take(piece);
            at = at.saturating_add(to_u64(len));
        }
        Ok(())
    }

    /// The bytes of a range, which lies in the source: memory follows what is read.
    pub(super) fn whole(&self, range: Range<u64>) -> Result<Vec<u8>> {
        let mut bytes = Vec::new();
        self.each(range, |piece| bytes.extend_from_slice(piece))?;
        Ok(bytes)
    }
}

pub(super) fn len_of(range: &Range<u64>) -> usize {
    usize::try_from(range.end.saturating_sub(range.start)).unwrap_or(usize::MAX)
}

pub(super) fn to_u64(len: usize) -> u64 {
    u64::try_from(len).unwrap_or(u64::MAX)
}
