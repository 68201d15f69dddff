//! [`Pinned`]: bytes of a file that are read elsewhere.

use crate::ReadAt;
use crate::convert::prefix;
use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;

/// Ranges of a file that a snapshot reads elsewhere, because the file's own bytes have changed or may change.
#[derive(Debug)]
pub(crate) struct Pinned<F> {
    /// By position in the file; parts do not overlap.
    parts: BTreeMap<u64, Part<F>>,
}

#[derive(Debug)]
struct Part<F> {
    end: u64,
    place: Place<F>,
}

/// Where pinned bytes are.
#[derive(Debug)]
pub(crate) enum Place<F> {
    /// In another file, starting at this position.
    File(Arc<F>, u64),
    /// A single byte.
    Byte(u8),
}

impl<F> Place<F> {
    /// The place `len` bytes further on.
    fn skip(&self, len: u64) -> Self {
        match self {
            Self::File(file, from) => Self::File(Arc::clone(file), from + len),
            Self::Byte(byte) => Self::Byte(*byte),
        }
    }
}

impl<F> Default for Pinned<F> {
    fn default() -> Self {
        let parts = BTreeMap::new();
        Self { parts }
    }
}

impl<F: ReadAt> Pinned<F> {
    /// Pins the bytes of a range, except those that are already pinned. Positions in `place` must not overflow.
    pub(super) fn pin(&mut self, (mut at, end): (u64, u64), place: &Place<F>) {
        let begin = at;
        while at < end {
            let before = self.parts.range(..=at).next_back();
            if let Some((_, part)) = before
                && part.end > at
            {
                at = part.end;
                continue;
            }
            let next = self.parts.range(at..end).next();
            let part_end = next.map_or(end, |(next, _)| *next);
            let part = Part {
                end: part_end,
                place: place.skip(at - begin),
            };
            self.parts.insert(at, part);
            at = part_end;
        }
    }

    /// Reads the file with the pinned ranges laid over it.
    pub(super) fn read_at<S: ReadAt + ?Sized>(
        &self,
        file: &S,
        at: u64,
        buf: &mut [u8],
    ) -> io::Result<usize> {
        if let Some((from, part)) = self.parts.range(..=at).next_back()
            && at < part.end
        {
            let buf = prefix(buf, part.end - at);
            return match (&part.place, buf.first_mut()) {
                (Place::Byte(byte), Some(first)) => {
                    *first = *byte;
                    Ok(1)
                }
                (Place::Byte(_), None) => Ok(0),
                (Place::File(file, start), _) => file.read_at(start + (at - from), buf),
            };
        }
        let next = self.parts.range(at..).next();
        let buf = match next {
            Some((next, _)) => prefix(buf, next - at),
            None => buf,
        };
        file.read_at(at, buf)
    }
}
