//! [`Fields`]: little-endian fields of a file, one after another.

use crate::convert::{min_len, to_u64};
use crate::{Error, JournalFault, ReadAt, Result};
use crc32fast::Hasher;

/// Bytes read at once.
const READ_LEN: usize = 1 << 16;

/// Fields of a range of a file. Memory is only allocated for bytes that exist.
pub(super) struct Fields<'a, J> {
    file: &'a J,
    /// The next byte to be read of the file.
    at: u64,
    end: u64,
    /// Bytes that were read and not taken yet, in reverse.
    ahead: Vec<u8>,
    /// The state after the bytes that were taken.
    hasher: Hasher,
}

impl<'a, J: ReadAt> Fields<'a, J> {
    /// The fields between two positions, which `hasher` is updated with.
    pub(super) fn new(file: &'a J, (at, end): (u64, u64), hasher: Hasher) -> Self {
        Self {
            file,
            at,
            end,
            ahead: Vec::new(),
            hasher,
        }
    }

    pub(super) fn is_done(&self) -> bool {
        self.at >= self.end && self.ahead.is_empty()
    }

    /// The crc32 of all bytes taken so far.
    pub(super) fn crc(&self) -> u32 {
        self.hasher.clone().finalize()
    }

    pub(super) fn into_hasher(self) -> Hasher {
        self.hasher
    }

    /// The next bytes.
    ///
    /// # Errors
    /// Returns [`damaged`] if there are fewer, and any error of the file.
    pub(super) fn bytes(&mut self, len: usize) -> Result<Vec<u8>> {
        while self.ahead.len() < len {
            // The end is not before the position.
            let mut more = vec![0; min_len(self.end - self.at, READ_LEN)];
            if more.is_empty() {
                return Err(damaged());
            }
            self.file.read_exact_at(self.at, &mut more)?;
            self.at += to_u64(more.len());
            more.reverse();
            more.append(&mut self.ahead);
            self.ahead = more;
        }
        let mut bytes = self.ahead.split_off(self.ahead.len() - len);
        bytes.reverse();
        self.hasher.update(&bytes);
        Ok(bytes)
    }

    pub(super) fn take<const N: usize>(&mut self) -> Result<[u8; N]> {
        self.bytes(N)?.try_into().map_err(|_| damaged())
    }

    pub(super) fn u32(&mut self) -> Result<u32> {
        Ok(u32::from_le_bytes(self.take()?))
    }

    pub(super) fn u64(&mut self) -> Result<u64> {
        Ok(u64::from_le_bytes(self.take()?))
    }
}

/// The error for a journal that is not what a writer has written.
pub(super) fn damaged() -> Error {
    JournalFault::Damaged.of_store()
}
