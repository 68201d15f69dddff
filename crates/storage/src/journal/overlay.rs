//! [`Overlay`]: a file with the pieces of a journal laid over it.

use super::Pieces;
use crate::ReadAt;
use crate::convert::prefix;
use std::io;

/// A file as it will be when the pieces are in their places.
pub(crate) struct Overlay<'a, S, J> {
    pub file: &'a S,
    pub journal: &'a J,
    pub pieces: &'a Pieces,
}

impl<S: ReadAt, J: ReadAt> ReadAt for Overlay<'_, S, J> {
    fn read_at(&self, at: u64, buf: &mut [u8]) -> io::Result<usize> {
        if let Some((from, piece)) = self.pieces.range(..=at).next_back()
            && at < piece.end(*from)
        {
            let skip = at - from;
            let buf = prefix(buf, piece.len - skip);
            return self.journal.read_at(piece.from + skip, buf);
        }
        let Some(next) = self.pieces.range(at..).next().map(|(next, _)| *next) else {
            return self.file.read_at(at, buf);
        };
        let buf = prefix(buf, next - at);
        match self.file.read_at(at, buf)? {
            // Zeros between the old end and a piece, as in the new file.
            0 => {
                buf.fill(0);
                Ok(buf.len())
            }
            len => Ok(len),
        }
    }

    fn size(&self) -> io::Result<u64> {
        let last = self.pieces.last_key_value();
        let end = last.map_or(0, |(at, piece)| piece.end(*at));
        Ok(self.file.size()?.max(end))
    }
}
