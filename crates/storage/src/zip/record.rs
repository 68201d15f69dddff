//! Records of ZIP archives: little-endian fields.

use crate::error::{ArchiveError, Error};
use std::io;

/// The bytes of a record that were not read yet.
#[derive(Debug, Clone, Copy)]
pub(super) struct Fields<'a> {
    rest: &'a [u8],
    /// The position of `rest` in the archive.
    at: u64,
}

impl<'a> Fields<'a> {
    pub fn new(bytes: &'a [u8], at: u64) -> Self {
        Self { rest: bytes, at }
    }

    pub fn at(&self) -> u64 {
        self.at
    }

    pub fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    pub fn take(&mut self, len: usize) -> io::Result<&'a [u8]> {
        let Some((taken, rest)) = self.rest.split_at_checked(len) else {
            return Err(damaged(self.at, "a record is cut short"));
        };
        (self.rest, self.at) = (rest, self.at + crate::convert::to_u64(len));
        Ok(taken)
    }

    pub fn skip(&mut self, len: usize) -> io::Result<()> {
        self.take(len).map(|_| ())
    }

    pub fn u16(&mut self) -> io::Result<u16> {
        let mut bytes = [0; 2];
        bytes.copy_from_slice(self.take(2)?);
        Ok(u16::from_le_bytes(bytes))
    }

    pub fn u32(&mut self) -> io::Result<u32> {
        let mut bytes = [0; 4];
        bytes.copy_from_slice(self.take(4)?);
        Ok(u32::from_le_bytes(bytes))
    }

    pub fn u64(&mut self) -> io::Result<u64> {
        let mut bytes = [0; 8];
        bytes.copy_from_slice(self.take(8)?);
        Ok(u64::from_le_bytes(bytes))
    }

    /// Checks and skips a signature.
    pub fn expect(&mut self, signature: &[u8; 4], what: &str) -> io::Result<()> {
        let at = self.at;
        if self.take(4)? == signature {
            Ok(())
        } else {
            Err(damaged(at, format_args!("no {what} here")))
        }
    }
}

/// The error for damage at a byte of the archive.
pub(super) fn damaged(at: u64, what: impl std::fmt::Display) -> io::Error {
    error(io::ErrorKind::InvalidData, at, what.to_string())
}

pub(super) fn unsupported(at: u64, what: impl std::fmt::Display) -> io::Error {
    error(io::ErrorKind::Unsupported, at, what.to_string())
}

fn error(kind: io::ErrorKind, at: u64, what: String) -> io::Error {
    let error = ArchiveError {
        at,
        what,
        is_damaged: kind == io::ErrorKind::InvalidData,
    };
    io::Error::new(kind, Error::Archive(error))
}
