//! [`Patch`]: pieces of a file that are to be changed in place, and the file as it will be.

use super::Object;
use crate::ReadAt;
use bytes::Bytes;
use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;

/// Bytes of a patch.
#[derive(Debug, Clone)]
pub(super) enum Piece {
    /// Here.
    Memory(Bytes),
    /// In the file of spilled patches.
    Spilled { from: u64, len: u64 },
}

impl Piece {
    pub(super) fn len(&self) -> u64 {
        match self {
            Self::Memory(bytes) => u64::try_from(bytes.len()).unwrap_or(u64::MAX),
            Self::Spilled { len, .. } => *len,
        }
    }

    /// A part of it, which it has.
    pub(super) fn part(&self, skip: u64, len: u64) -> Self {
        match self {
            Self::Memory(bytes) => {
                let mut rest = bytes.clone();
                let skip = usize::try_from(skip).unwrap_or(usize::MAX);
                let mut rest = rest.split_off(skip.min(bytes.len()));
                rest.truncate(usize::try_from(len).unwrap_or(usize::MAX));
                Self::Memory(rest)
            }
            Self::Spilled { from, .. } => Self::Spilled {
                from: from.saturating_add(skip),
                len,
            },
        }
    }
}

/// What is to be changed of a file that is there.
#[derive(Debug, Clone)]
pub(super) struct Patch {
    /// How long the file is.
    pub old_len: u64,
    /// No two overlap, and there is no hole between the file and them.
    pub pieces: BTreeMap<u64, Piece>,
}

impl Patch {
    pub(super) fn new(old_len: u64) -> Self {
        Self {
            old_len,
            pieces: BTreeMap::new(),
        }
    }

    /// How long the file will be.
    pub(super) fn new_len(&self) -> u64 {
        let last = self.pieces.last_key_value();
        let end = last.map_or(0, |(at, piece)| at.saturating_add(piece.len()));
        self.old_len.max(end)
    }

    /// Lays a piece over what is there.
    pub(super) fn lay(&mut self, at: u64, piece: Piece) {
        let end = at.saturating_add(piece.len());
        let before = self.pieces.range(..at).next_back();
        let from = before.map_or(at, |(from, _)| *from);
        let touched: Vec<u64> = self
            .pieces
            .range(from..end)
            .map(|(from, _)| *from)
            .collect();
        for from in touched {
            let Some(old) = self.pieces.remove(&from) else {
                continue;
            };
            let old_end = from.saturating_add(old.len());
            if from < at {
                let len = at.saturating_sub(from).min(old.len());
                self.pieces.insert(from, old.part(0, len));
            }
            if old_end > end {
                let skip = end.saturating_sub(from);
                self.pieces
                    .insert(end, old.part(skip, old_end.saturating_sub(end)));
            }
        }
        self.pieces.insert(at, piece);
    }

    /// Whether all is in memory.
    pub(super) fn is_here(&self) -> bool {
        let mut pieces = self.pieces.values();
        pieces.all(|piece| matches!(piece, Piece::Memory(_)))
    }
}

/// A file with a patch over it.
pub(super) struct Patched {
    pub base: Box<dyn Object>,
    pub patch: Arc<Patch>,
    /// Where the spilled pieces lie, if there are any.
    pub spilled: Option<Box<dyn Object>>,
}

impl ReadAt for Patched {
    fn read_at(&self, at: u64, buf: &mut [u8]) -> io::Result<usize> {
        let before = self.patch.pieces.range(..=at).next_back();
        if let Some((from, piece)) = before
            && at < from.saturating_add(piece.len())
        {
            let skip = at.saturating_sub(*from);
            let rest = piece.part(skip, piece.len().saturating_sub(skip));
            return match (rest, &self.spilled) {
                (Piece::Memory(bytes), _) => bytes.as_ref().read_at(0, buf),
                (Piece::Spilled { from, len }, Some(spilled)) => {
                    spilled.read_at(from, first(buf, len))
                }
                (Piece::Spilled { .. }, None) => Err(io::ErrorKind::NotFound.into()),
            };
        }
        let next = self.patch.pieces.range(at..).next();
        let gap = next.map_or(u64::MAX, |(next, _)| next.saturating_sub(at));
        self.base.read_at(at, first(buf, gap))
    }

    fn size(&self) -> io::Result<u64> {
        Ok(self.patch.new_len())
    }
}

/// The first bytes of a buffer.
fn first(buf: &mut [u8], most: u64) -> &mut [u8] {
    let len = usize::try_from(most).unwrap_or(usize::MAX).min(buf.len());
    buf.get_mut(..len).unwrap_or_default()
}
