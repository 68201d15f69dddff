//! [`Op`]: one step of a change.

use super::Key;
use crate::journal::{Binding, Pieces};
use crate::{ReadAt, for_each_step};
use sha2::{Digest, Sha256};
use std::io;

/// What is to become of one key. Each key occurs once in a change.
#[derive(Debug, Clone)]
pub(super) struct Op {
    pub key: Key,
    pub act: Act,
}

#[derive(Debug, Clone)]
pub(super) enum Act {
    /// The staged file of this number takes the place of what is there.
    Put {
        number: u64,
        crc: u32,
        new: Print,
        /// The file that is there, if one is.
        old: Option<Print>,
    },
    /// Pieces of a file in place, from where the bytes of all patches lie.
    Patch {
        old_len: u64,
        new_len: u64,
        binding: Binding,
        pieces: Pieces,
    },
    Remove {
        old: Print,
    },
    MakeFolder,
    RemoveFolder,
}

/// A spilled piece of work: the staged file with the bytes of patches that are too many for the journal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Spilled {
    pub number: u64,
    pub len: u64,
    pub crc: u32,
}

/// What a file is known by without reading all of it: its length, and the beginning of the SHA-256 of its first and last
/// bytes. (A crc32 would be the same for all chunks that have their own crc32 behind them.)
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Print {
    pub len: u64,
    pub hash: u64,
}

/// Bytes looked at at each end.
const SEEN: u64 = 4096;

impl Print {
    pub(super) fn of<S: ReadAt>(file: &S) -> io::Result<Self> {
        let len = file.size()?;
        let seen = len.min(SEEN);
        let mut hasher = Sha256::new();
        for_each_step(file, 0, seen, |bytes| hasher.update(bytes))?;
        for_each_step(file, len.saturating_sub(seen), seen, |bytes| {
            hasher.update(bytes);
        })?;
        let [a, b, c, d, e, f, g, h, ..] = <[u8; 32]>::from(hasher.finalize());
        Ok(Self {
            len,
            hash: u64::from_le_bytes([a, b, c, d, e, f, g, h]),
        })
    }
}
