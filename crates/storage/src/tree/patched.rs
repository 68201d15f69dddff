//! [`Patch`]: pending pieces of a file. [`Patched`]: the file with them.

use crate::ReadAt;
use crate::convert::{end_of, prefix, to_u64, to_usize};
use crate::error::bug;
use bytes::Bytes;
use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;

/// Bytes of a patch.
#[derive(Debug, Clone)]
pub(super) enum Piece {
    Memory(Bytes),
    /// A range of the staged file with spilled patches.
    Spilled {
        from: u64,
        len: u64,
    },
}

impl Piece {
    pub(super) fn len(&self) -> u64 {
        match self {
            Self::Memory(bytes) => to_u64(bytes.len()),
            Self::Spilled { len, .. } => *len,
        }
    }

    /// The end of a piece at position `at` of the file. [`Patch::lay`] checks that the sum does not overflow.
    fn end(&self, at: u64) -> u64 {
        at + self.len()
    }

    /// A part of this piece.
    ///
    /// # Errors
    /// Returns an error if the part is outside the piece.
    pub(super) fn part(&self, skip: u64, len: u64) -> io::Result<Self> {
        if skip.checked_add(len).is_none_or(|end| end > self.len()) {
            let all = self.len();
            return Err(bug(format!(
                "{len} bytes from byte {skip} on of a piece of {all} bytes"
            )));
        }
        Ok(match self {
            Self::Memory(bytes) => {
                let (skip, len) = (to_usize(skip)?, to_usize(len)?);
                Self::Memory(bytes.slice(skip..skip + len))
            }
            Self::Spilled { from, .. } => Self::Spilled {
                from: from + skip,
                len,
            },
        })
    }
}

/// The pending changes of an existing file in place.
#[derive(Debug, Clone)]
pub(super) struct Patch {
    /// The current length of the file.
    pub old_len: u64,
    /// Pieces do not overlap, and leave no hole after the file's end.
    pub pieces: BTreeMap<u64, Piece>,
}

impl Patch {
    pub(super) fn new(old_len: u64) -> Self {
        Self {
            old_len,
            pieces: BTreeMap::new(),
        }
    }

    /// The length of the file after the change.
    pub(super) fn new_len(&self) -> u64 {
        let last = self.pieces.last_key_value();
        let end = last.map_or(0, |(at, piece)| piece.end(*at));
        self.old_len.max(end)
    }

    /// Lays a piece over the file and the earlier pieces.
    ///
    /// # Errors
    /// Returns an error if the end of the piece exceeds 2^64-1.
    pub(super) fn lay(&mut self, at: u64, piece: Piece) -> io::Result<()> {
        let end = end_of(at, piece.len())?;
        let before = self.pieces.range(..at).next_back();
        let first = before.map_or(at, |(from, _)| *from);
        let touched: Vec<u64> = self
            .pieces
            .range(first..end)
            .map(|(from, _)| *from)
            .collect();
        for from in touched {
            let Some(old) = self.pieces.remove(&from) else {
                continue;
            };
            let old_end = old.end(from);
            if from < at {
                let len = (at - from).min(old.len());
                self.pieces.insert(from, old.part(0, len)?);
            }
            if old_end > end {
                self.pieces
                    .insert(end, old.part(end - from, old_end - end)?);
            }
        }
        self.pieces.insert(at, piece);
        Ok(())
    }

    /// Whether all pieces are in memory.
    pub(super) fn is_in_memory(&self) -> bool {
        let mut pieces = self.pieces.values();
        pieces.all(|piece| matches!(piece, Piece::Memory(_)))
    }
}

/// A file with a patch laid over it.
pub(super) struct Patched {
    pub base: Box<dyn ReadAt>,
    pub patch: Arc<Patch>,
    /// The staged file with spilled pieces, if there are any.
    pub spilled: Option<Box<dyn ReadAt>>,
}

impl ReadAt for Patched {
    fn read_at(&self, at: u64, buf: &mut [u8]) -> io::Result<usize> {
        let before = self.patch.pieces.range(..=at).next_back();
        if let Some((from, piece)) = before
            && at < piece.end(*from)
        {
            let skip = at - from;
            return match (piece.part(skip, piece.len() - skip)?, &self.spilled) {
                (Piece::Memory(bytes), _) => bytes.as_ref().read_at(0, buf),
                (Piece::Spilled { from, len }, Some(spilled)) => {
                    spilled.read_at(from, prefix(buf, len))
                }
                (Piece::Spilled { .. }, None) => Err(bug("a spilled piece without its file")),
            };
        }
        match self.patch.pieces.range(at..).next() {
            Some((next, _)) => self.base.read_at(at, prefix(buf, next - at)),
            None => self.base.read_at(at, buf),
        }
    }

    fn size(&self) -> io::Result<u64> {
        Ok(self.patch.new_len())
    }
}
