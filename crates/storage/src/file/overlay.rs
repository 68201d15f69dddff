//! A file with the pieces of a journal laid over it.

use crate::ReadAt;
use crate::convert::prefix;
use crate::journal::Pieces;
use std::io;

/// Reads bytes of the file as it is once the pieces are in their places.
pub(super) fn read<S: ReadAt, J: ReadAt>(
    file: &S,
    journal: &J,
    pieces: &Pieces,
    at: u64,
    buf: &mut [u8],
) -> io::Result<usize> {
    if let Some((from, piece)) = pieces.range(..=at).next_back()
        && at < piece.end(*from)
    {
        let skip = at - from;
        let buf = prefix(buf, piece.len - skip);
        return journal.read_at(piece.from + skip, buf);
    }
    let Some(next) = pieces.range(at..).next().map(|(next, _)| *next) else {
        return file.read_at(at, buf);
    };
    let buf = prefix(buf, next - at);
    match file.read_at(at, buf)? {
        // After the old end, but before a piece: zeros, as in the new file.
        0 => {
            buf.fill(0);
            Ok(buf.len())
        }
        len => Ok(len),
    }
}
