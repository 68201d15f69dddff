//! Binds a journal to its file.

use super::{BEFORE_LEN, Binding, Overlay, Pieces};
use crate::ReadAt;
use crate::convert::min_len;
use crate::error::bug;
use crate::read_at::for_each_step;
use crc32fast::Hasher;
use sha2::{Digest, Sha256};
use std::io;
use std::ops::Range;

/// Maximum length of the witness.
const WITNESS_LEN: u64 = 4096;

impl Binding {
    /// Binds a change by these pieces to this file. The change keeps the file's first `kept` bytes.
    pub(crate) fn of<S: ReadAt>(file: &S, pieces: &Pieces, kept: u64) -> io::Result<Self> {
        let witness = witness(pieces, kept);
        let len = u32::try_from(witness.end - witness.start);
        let len = len.map_err(|_| bug(format!("a witness of {witness:?}")))?;
        let mut before = vec![0; min_len(file.size()?, BEFORE_LEN)];
        file.read_exact_at(0, &mut before)?;
        Ok(Self {
            witness_at: witness.start,
            witness_len: len,
            witness_hash: hash_of(file, witness.start, len.into())?,
            before,
        })
    }

    /// Whether this binding was made for the file, at any stage of the change.
    pub(crate) fn fits<S: ReadAt, J: ReadAt>(
        &self,
        file: &S,
        pieces: &Pieces,
        journal: &J,
    ) -> io::Result<bool> {
        let (at, len) = (self.witness_at, self.witness_len.into());
        let witness_end = at.checked_add(len);
        let size = file.size()?;
        if witness_end.is_none_or(|end| end > size) || hash_of(file, at, len)? != self.witness_hash
        {
            return Ok(false);
        }
        // The change may truncate the file within these bytes.
        let mut now = vec![0; min_len(size, self.before.len())];
        file.read_exact_at(0, &mut now)?;
        let mut after = vec![0; self.before.len()];
        let changed = Overlay {
            file: &self.before,
            journal,
            pieces,
        };
        changed.read_exact_at(0, &mut after)?;
        // The first byte may be the mark.
        let mut bytes = now.iter().zip(&self.before).zip(&after).skip(1);
        Ok(bytes.all(|((now, before), after)| now == before || now == after))
    }
}

/// Up to 4 KiB that the change does not touch, as near to the end of the file as possible.
fn witness(pieces: &Pieces, kept: u64) -> Range<u64> {
    let longest = |start: u64, end: u64| {
        // A shorter gap begins at `start`.
        end.saturating_sub(WITNESS_LEN).max(start)..end
    };
    let mut end = kept;
    for (at, piece) in pieces.iter().rev() {
        let piece_end = piece.end(*at);
        if piece_end < end {
            return longest(piece_end, end);
        }
        end = end.min(*at);
    }
    // Excludes the first byte, which becomes the mark.
    longest(end.min(1), end)
}

/// The file's first byte after the change: from the pieces, or else from `before`.
pub(super) fn first_byte<J: ReadAt>(
    pieces: &Pieces,
    journal: &J,
    before: &[u8],
) -> io::Result<Option<u8>> {
    match pieces.get(&0) {
        Some(piece) if piece.len > 0 => {
            let mut first = [0];
            journal.read_exact_at(piece.from, &mut first)?;
            Ok(Some(first[0]))
        }
        _ => Ok(before.first().copied()),
    }
}

/// Whether the bytes of all pieces match their checksums.
pub(super) fn checksums_match<J: ReadAt>(pieces: &Pieces, journal: &J) -> io::Result<bool> {
    for piece in pieces.values() {
        if crc_of(journal, piece.from, piece.len)? != piece.hasher.clone().finalize() {
            return Ok(false);
        }
    }
    Ok(true)
}

/// The crc32 of `len` bytes from position `at`.
pub(crate) fn crc_of<S: ReadAt>(source: &S, at: u64, len: u64) -> io::Result<u32> {
    let mut hasher = Hasher::new();
    for_each_step(source, at, len, |bytes| hasher.update(bytes))?;
    Ok(hasher.finalize())
}

/// The first 4 bytes of a SHA-256. A crc32 would not do: over chunks that are each followed by their own crc32,
/// it is the same number for all data of one length, and would bind a journal to any of them.
fn hash_of<S: ReadAt>(source: &S, at: u64, len: u64) -> io::Result<u32> {
    let mut hasher = Sha256::new();
    for_each_step(source, at, len, |bytes| hasher.update(bytes))?;
    let [a, b, c, d, ..] = <[u8; 32]>::from(hasher.finalize());
    Ok(u32::from_le_bytes([a, b, c, d]))
}
