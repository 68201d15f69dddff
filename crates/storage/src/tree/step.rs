//! [`Step`]: one step of a change.

use super::Key;
use crate::ReadAt;
use crate::journal::{Binding, Pieces};
use crate::read_at::for_each_step;
use sha2::{Digest, Sha256};
use std::io;

/// The change of one key. Each key occurs once in a change.
#[derive(Debug, Clone)]
pub(super) struct Step {
    pub key: Key,
    pub action: Action,
}

#[derive(Debug, Clone)]
pub(super) enum Action {
    /// The staged file of this number replaces the file with the key.
    Put {
        number: u64,
        crc: u32,
        new: Fingerprint,
        /// The file that has the key, if there is one.
        old: Option<Fingerprint>,
    },
    /// Pieces of a file are overwritten. Their bytes are in the journal, or in the staged file of spilled
    /// patches.
    Patch {
        old_len: u64,
        new_len: u64,
        binding: Binding,
        pieces: Pieces,
    },
    Remove {
        old: Fingerprint,
    },
    MakeFolder,
    RemoveFolder,
}

/// The staged file with the bytes of all patches, if they are too long for the journal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Spilled {
    pub number: u64,
    pub len: u64,
    pub crc: u32,
}

/// Identifies a file without reading all of it: its length, and the beginning of the SHA-256 of its first and
/// last bytes. A crc32 would be the same for all chunks that are followed by their own crc32.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Fingerprint {
    pub len: u64,
    pub hash: u64,
}

/// Bytes at each end of a file that its fingerprint covers.
const END_LEN: u64 = 4096;

impl Fingerprint {
    pub(super) fn of<S: ReadAt>(file: &S) -> io::Result<Self> {
        let len = file.size()?;
        let end_len = len.min(END_LEN);
        let mut hasher = Sha256::new();
        for start in [0, len - end_len] {
            for_each_step(file, start, end_len, |bytes| hasher.update(bytes))?;
        }
        let [a, b, c, d, e, f, g, h, ..] = <[u8; 32]>::from(hasher.finalize());
        Ok(Self {
            len,
            hash: u64::from_le_bytes([a, b, c, d, e, f, g, h]),
        })
    }
}
