//! [`Fields`]: reads little-endian fields of a journal, any byte of which may be damaged or forged.

use crate::convert::{min_len, prefix, to_u64};
use crate::{Error, ReadAt};
use crc32fast::Hasher;
use std::io;

/// Bytes read at once, unless the caller needs fewer.
const READ_LEN: usize = 1 << 16;

/// Why a journal cannot be read.
#[derive(Debug)]
pub(crate) enum Unreadable {
    Io(io::Error),
    /// It differs from what a writer writes.
    Damaged,
}

impl Unreadable {
    /// Converts to an error: `damaged` if the journal is damaged.
    pub(crate) fn or(self, damaged: Error) -> Error {
        match self {
            Self::Io(error) => error.into(),
            Self::Damaged => damaged,
        }
    }
}

impl From<io::Error> for Unreadable {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

/// The fields in a range of a file. Memory is only allocated for bytes that exist.
pub(crate) struct Fields<'a, J> {
    file: &'a J,
    /// The position of the next read.
    at: u64,
    end: u64,
    read_len: usize,
    /// Bytes that were read, and how many of them were taken.
    read: Vec<u8>,
    taken: usize,
    /// The crc32 of the bytes that were taken.
    hasher: Hasher,
}

impl<'a, J: ReadAt> Fields<'a, J> {
    /// The fields between two positions. `hasher` continues over them.
    pub(crate) fn new(file: &'a J, (at, end): (u64, u64), hasher: Hasher) -> Self {
        Self {
            file,
            at,
            end,
            read_len: READ_LEN,
            read: Vec::new(),
            taken: 0,
            hasher,
        }
    }

    /// Sets how many bytes are read at once.
    pub(crate) fn in_steps(mut self, read_len: usize) -> Self {
        self.read_len = read_len;
        self
    }

    pub(crate) fn is_done(&self) -> bool {
        self.at >= self.end && self.taken == self.read.len()
    }

    /// The position of the next field.
    pub(crate) fn position(&self) -> u64 {
        self.at - to_u64(self.read.len() - self.taken)
    }

    /// The crc32 of all bytes taken so far.
    pub(crate) fn crc(&self) -> u32 {
        self.hasher.clone().finalize()
    }

    pub(crate) fn into_hasher(self) -> Hasher {
        self.hasher
    }

    /// The next bytes.
    ///
    /// # Errors
    /// Returns [`Unreadable::Damaged`] if there are fewer, and any error of the file.
    pub(crate) fn bytes(&mut self, len: usize) -> Result<&[u8], Unreadable> {
        while self.read.len() - self.taken < len {
            // `at` never exceeds `end`.
            let mut more = vec![0; min_len(self.end - self.at, self.read_len)];
            if more.is_empty() {
                return Err(Unreadable::Damaged);
            }
            self.file.read_exact_at(self.at, &mut more)?;
            self.at += to_u64(more.len());
            self.read.drain(..self.taken);
            self.taken = 0;
            self.read.append(&mut more);
        }
        let (_, rest) = self.read.split_at(self.taken);
        let (bytes, _) = rest.split_at(len);
        self.taken += len;
        self.hasher.update(bytes);
        Ok(bytes)
    }

    pub(crate) fn take<const N: usize>(&mut self) -> Result<[u8; N], Unreadable> {
        self.bytes(N)?.try_into().map_err(|_| Unreadable::Damaged)
    }

    pub(crate) fn u32(&mut self) -> Result<u32, Unreadable> {
        Ok(u32::from_le_bytes(self.take()?))
    }

    pub(crate) fn u64(&mut self) -> Result<u64, Unreadable> {
        Ok(u64::from_le_bytes(self.take()?))
    }

    /// Takes a crc32 and compares it with that of all bytes taken before.
    pub(crate) fn check_crc(&mut self) -> Result<(), Unreadable> {
        let crc = self.crc();
        if self.u32()? == crc {
            Ok(())
        } else {
            Err(Unreadable::Damaged)
        }
    }
}

/// Whether a file begins with these bytes, or with a part of them after a power cut: the others are missing or
/// zeros.
pub(crate) fn begins_as<J: ReadAt>(file: &J, magic: [u8; 8]) -> io::Result<bool> {
    let mut bytes = [0; 8];
    let there = prefix(&mut bytes, file.size()?);
    file.read_exact_at(0, there)?;
    let mut bytes = there.iter().zip(magic);
    Ok(bytes.all(|(byte, own)| *byte == 0 || *byte == own))
}

pub(crate) fn put_u32(out: &mut Vec<u8>, number: u32) {
    out.extend_from_slice(&number.to_le_bytes());
}

pub(crate) fn put_u64(out: &mut Vec<u8>, number: u64) {
    out.extend_from_slice(&number.to_le_bytes());
}

/// Appends the crc32 of everything before.
pub(crate) fn put_crc(out: &mut Vec<u8>) {
    let crc = crc32fast::hash(out);
    put_u32(out, crc);
}
