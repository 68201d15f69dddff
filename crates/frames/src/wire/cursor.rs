//! The subset of MessagePack in frames: a marker byte, then a value of fixed width, big-endian.
//!
//! ```text
//! 9N array of N   aN text of N bytes   c2 false   c3 true    c6 bytes, i32 length   cd u16   ce u32   cf u64
//! d1 i16   d2 i32   d3 i64   d8 16 bytes with a type   db text, u32 length   dc array, u16   de map, u16
//! ```
//!
//! MessagePack has shorter encodings of most values. Writers of frames do not use them, because they patch fields at fixed
//! offsets. Any other marker is damage.

use crate::part::FramePart;
use bloscpack_error::checked::to_u64;
use bloscpack_error::{Error, Result};
use std::fmt::Display;

pub(super) const ARRAY: u8 = 0x90;
pub(super) const TEXT: u8 = 0xa0;
pub(super) const FALSE: u8 = 0xc2;
pub(super) const TRUE: u8 = 0xc3;
pub(super) const BYTES: u8 = 0xc6;
pub(super) const U16: u8 = 0xcd;
pub(super) const U32: u8 = 0xce;
pub(super) const U64: u8 = 0xcf;
pub(super) const I16: u8 = 0xd1;
pub(super) const I32: u8 = 0xd2;
pub(super) const I64: u8 = 0xd3;
pub(super) const SIXTEEN: u8 = 0xd8;
pub(super) const LONG_TEXT: u8 = 0xdb;
pub(super) const LONG_ARRAY: u8 = 0xdc;
pub(super) const MAP: u8 = 0xde;

/// Reads one value after another from the bytes of a part, and counts the bytes read for error messages.
pub(super) struct Cursor<'a> {
    rest: &'a [u8],
    at: usize,
    part: FramePart,
}

impl<'a> Cursor<'a> {
    /// A cursor at the first of these bytes.
    pub fn new(part: FramePart, bytes: &'a [u8]) -> Self {
        Self {
            rest: bytes,
            at: 0,
            part,
        }
    }

    /// Bytes read so far.
    pub fn at(&self) -> usize {
        self.at
    }

    /// The error for damage in a field that begins `back` bytes before the cursor.
    pub fn damaged(
        &self,
        back: usize,
        field: &'static str,
        found: impl Display,
        expected: impl Display,
    ) -> Error {
        self.part.damaged(self.before(back), field, found, expected)
    }

    /// The error for an unsupported value in a field that begins `back` bytes before the cursor.
    pub fn unsupported(
        &self,
        back: usize,
        field: &'static str,
        found: impl Display,
        expected: impl Display,
    ) -> Error {
        self.part
            .unsupported(self.before(back), field, found, expected)
    }

    /// The offset `back` bytes before the cursor; `None` if that is before the part.
    fn before(&self, back: usize) -> Option<u64> {
        self.at.checked_sub(back).map(to_u64)
    }

    /// The next `len` bytes. Fewer are [`Code::CutShort`](bloscpack_error::Code::CutShort), and the cursor does not move.
    pub fn take(&mut self, len: usize) -> Result<&'a [u8]> {
        let Some((taken, rest)) = self.rest.split_at_checked(len) else {
            return Err(self.cut(len));
        };
        (self.rest, self.at) = (rest, self.at + len);
        Ok(taken)
    }

    /// The next `N` bytes. Fewer are [`Code::CutShort`](bloscpack_error::Code::CutShort), and the cursor does not move.
    pub fn array<const N: usize>(&mut self) -> Result<[u8; N]> {
        let Some((taken, rest)) = self.rest.split_first_chunk() else {
            return Err(self.cut(N));
        };
        (self.rest, self.at) = (rest, self.at + N);
        Ok(*taken)
    }

    /// The error for a part that ends before the next `expected` bytes.
    fn cut(&self, expected: usize) -> Error {
        let (at, found) = (Some(to_u64(self.at)), to_u64(self.rest.len()));
        self.part.cut_short(at, found, to_u64(expected))
    }

    pub fn byte(&mut self) -> Result<u8> {
        let [byte] = self.array()?;
        Ok(byte)
    }

    /// Reads the marker of a field. Another byte than `expected` is damage.
    pub fn marker(&mut self, expected: u8, field: &'static str) -> Result<()> {
        let found = self.byte()?;
        if found == expected {
            return Ok(());
        }
        let (found, expected) = (format!("marker {found:02x}"), format!("{expected:02x}"));
        Err(self.damaged(1, field, found, expected))
    }

    /// Reads a marker, and the `N` bytes after it.
    fn marked<const N: usize>(&mut self, marker: u8, field: &'static str) -> Result<[u8; N]> {
        self.marker(marker, field)?;
        self.array()
    }

    pub fn u16(&mut self, field: &'static str) -> Result<u16> {
        self.marked(U16, field).map(u16::from_be_bytes)
    }

    pub fn u32(&mut self, field: &'static str) -> Result<u32> {
        self.marked(U32, field).map(u32::from_be_bytes)
    }

    pub fn u64(&mut self, field: &'static str) -> Result<u64> {
        self.marked(U64, field).map(u64::from_be_bytes)
    }

    pub fn i16(&mut self, field: &'static str) -> Result<i16> {
        self.marked(I16, field).map(i16::from_be_bytes)
    }

    pub fn i32(&mut self, field: &'static str) -> Result<i32> {
        self.marked(I32, field).map(i32::from_be_bytes)
    }

    /// Reads an `i32` with this marker. A negative number is damage.
    pub fn count32(&mut self, marker: u8, field: &'static str) -> Result<u32> {
        let found = self.marked(marker, field).map(i32::from_be_bytes)?;
        u32::try_from(found).map_err(|_| self.damaged(4, field, found, "0 or more"))
    }

    /// Reads an `i64`. A negative number is damage.
    pub fn count64(&mut self, field: &'static str) -> Result<u64> {
        let found = self.marked(I64, field).map(i64::from_be_bytes)?;
        u64::try_from(found).map_err(|_| self.damaged(8, field, found, "0 or more"))
    }

    /// Reads the number of entries of a map or an array with this marker.
    pub fn entries(&mut self, marker: u8, field: &'static str) -> Result<u16> {
        self.marked(marker, field).map(u16::from_be_bytes)
    }
}

/// Appends a marker and a value.
pub(super) fn put(to: &mut Vec<u8>, marker: u8, value: &[u8]) {
    to.push(marker);
    to.extend_from_slice(value);
}

/// The bytes of a number as a non-negative `i32`, or [`Code::CannotStore`](bloscpack_error::Code::CannotStore).
pub(super) fn as_i32(
    part: &FramePart,
    field: &'static str,
    value: impl TryInto<i32> + Copy + Display,
) -> Result<[u8; 4]> {
    let encoded = value.try_into().map(i32::to_be_bytes);
    encoded.map_err(|_| part.cannot_store(field, value, "at most 2147483647"))
}

/// The bytes of a number as a non-negative `i64`, or [`Code::CannotStore`](bloscpack_error::Code::CannotStore).
pub(super) fn as_i64(part: &FramePart, field: &'static str, value: u64) -> Result<[u8; 8]> {
    let encoded = i64::try_from(value).map(i64::to_be_bytes);
    encoded.map_err(|_| part.cannot_store(field, value, "at most 2^63-1"))
}
