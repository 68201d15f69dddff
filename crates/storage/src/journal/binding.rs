//! Whether a journal is that of a file.

use super::{BEFORE_LEN, Binding, Pieces};
use crate::{ReadAt, for_each_step};
use crc32fast::Hasher;
use sha2::{Digest, Sha256};
use std::io;
use std::ops::Range;

/// Bytes of the witness at the most.
pub(crate) const WITNESS_LEN: u64 = 4096;

impl Binding {
    /// What binds a change by these pieces to this file, whose first `kept` bytes are not cut off.
    pub(crate) fn of<S: ReadAt>(file: &S, pieces: &Pieces, kept: u64) -> io::Result<Self> {
        let witness = witness(pieces, kept);
        let len = witness.end.saturating_sub(witness.start);
        let before_len = file.size()?.min(BEFORE_LEN as u64);
        let mut before = vec![0; usize::try_from(before_len).unwrap_or(0)];
        file.read_exact_at(0, &mut before)?;
        Ok(Self {
            witness_at: witness.start,
            witness_len: u32::try_from(len).unwrap_or(0),
            witness_hash: hash_of(file, witness.start, len)?,
            before,
        })
    }

    /// Whether the file is the one that this was made for, wherever the change has got to.
    pub(crate) fn fits<S: ReadAt, J: ReadAt>(
        &self,
        file: &S,
        pieces: &Pieces,
        journal: &J,
    ) -> io::Result<bool> {
        let (at, len) = (self.witness_at, self.witness_len.into());
        if at.saturating_add(len) > file.size()? || hash_of(file, at, len)? != self.witness_hash {
            return Ok(false);
        }
        let mut now = [0; BEFORE_LEN];
        let now = now.get_mut(..self.before.len()).unwrap_or_default();
        // A change may be cutting the file off within these bytes.
        let there = usize::try_from(file.size()?).unwrap_or(usize::MAX);
        let now = now
            .get_mut(..there.min(self.before.len()))
            .unwrap_or_default();
        file.read_exact_at(0, now)?;
        let mut after = self.before.clone();
        overlay(pieces, journal, &mut after)?;
        // The first byte is the mark.
        let mut bytes = now.iter().zip(&self.before).zip(&after).skip(1);
        Ok(bytes.all(|((now, before), after)| now == before || now == after))
    }
}

/// Up to 4 KiB that the change leaves alone, as far behind as possible.
fn witness(pieces: &Pieces, kept: u64) -> Range<u64> {
    let mut end = kept;
    for (at, piece) in pieces.iter().rev() {
        let from = at.saturating_add(piece.len);
        if from < end {
            return end.saturating_sub(WITNESS_LEN).max(from)..end;
        }
        end = end.min(*at);
    }
    end.saturating_sub(WITNESS_LEN).max(1).min(end)..end
}

/// Puts what the pieces say of a file's first bytes over them.
fn overlay<J: ReadAt>(pieces: &Pieces, journal: &J, first: &mut [u8]) -> io::Result<()> {
    for (at, piece) in pieces {
        let Some(place) = usize::try_from(*at).ok().and_then(|at| first.get_mut(at..)) else {
            break;
        };
        let len = usize::try_from(piece.len)
            .unwrap_or(usize::MAX)
            .min(place.len());
        journal.read_exact_at(piece.from, place.get_mut(..len).unwrap_or_default())?;
    }
    Ok(())
}

/// What the file's first byte becomes, if the pieces say so.
pub(super) fn first_byte<J: ReadAt>(pieces: &Pieces, journal: &J) -> io::Result<Option<u8>> {
    let mut first = [0];
    match pieces.get(&0) {
        Some(piece) if piece.len > 0 => journal.read_exact_at(piece.from, &mut first)?,
        _ => return Ok(None),
    }
    Ok(first.first().copied())
}

/// Whether the bytes of all pieces are those that were written.
pub(super) fn bytes_hold<J: ReadAt>(pieces: &Pieces, journal: &J) -> io::Result<bool> {
    for piece in pieces.values() {
        if crc_of(journal, piece.from, piece.len)? != piece.hasher.clone().finalize() {
            return Ok(false);
        }
    }
    Ok(true)
}

pub(crate) fn crc_of<S: ReadAt>(source: &S, at: u64, len: u64) -> io::Result<u32> {
    let mut hasher = Hasher::new();
    for_each_step(source, at, len, |bytes| hasher.update(bytes))?;
    Ok(hasher.finalize())
}

/// The beginning of a SHA-256. The crc32 of chunks with their own crc32 behind them is the same
/// number for all that are as long, and would bind a journal to any of them.
fn hash_of<S: ReadAt>(source: &S, at: u64, len: u64) -> io::Result<u32> {
    let mut hasher = Sha256::new();
    for_each_step(source, at, len, |bytes| hasher.update(bytes))?;
    let [a, b, c, d, ..] = <[u8; 32]>::from(hasher.finalize());
    Ok(u32::from_le_bytes([a, b, c, d]))
}
