//! A file with the pieces of a journal over it.

use super::ReadAt;
use super::journal::Pieces;
use std::io;

/// Reads some bytes of the file as it is once the pieces are in their places.
pub(super) fn read<S: ReadAt, J: ReadAt>(
    file: &S,
    journal: &J,
    pieces: &Pieces,
    at: u64,
    buf: &mut [u8],
) -> io::Result<usize> {
    let before = pieces.range(..=at).next_back();
    let inside = before.filter(|(from, piece)| at < from.saturating_add(piece.len));
    if let Some((from, piece)) = inside {
        let skip = at.saturating_sub(*from);
        let buf = first(buf, piece.len.saturating_sub(skip));
        return journal.read_at(piece.from.saturating_add(skip), buf);
    }
    let next = pieces.range(at..).next().map(|(next, _)| *next);
    let gap = next.map_or(u64::MAX, |next| next.saturating_sub(at));
    let buf = first(buf, gap);
    match file.read_at(at, buf)? {
        // Behind the old end, but before a piece: zeros, as in the file to be.
        0 if next.is_some() => {
            buf.fill(0);
            Ok(buf.len())
        }
        len => Ok(len),
    }
}

/// The first bytes of a buffer.
pub(super) fn first(buf: &mut [u8], most: u64) -> &mut [u8] {
    let len = usize::try_from(most).unwrap_or(usize::MAX).min(buf.len());
    buf.get_mut(..len).unwrap_or_default()
}
