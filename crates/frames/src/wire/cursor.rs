//! The bit of MessagePack that frames are made of: a marker, then a value of fixed width, big-endian.
//!
//! ```text
//! 9N array of N   aN text of N bytes   c2 false   c3 true    c6 bytes, i32 length   cd u16   ce u32   cf u64
//! d1 i16   d2 i32   d3 i64   d8 16 bytes with a type   db text, u32 length   dc array, u16   de map, u16
//! ```
//!
//! MessagePack knows shorter spellings of most values. Writers of frames never choose them, and patch
//! fields at fixed places, so that another marker is damage.

use super::error::FrameError;
use blosc1::Fault;

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

/// Reads one value after another, and knows where it is.
pub(super) struct Cursor<'a> {
    bytes: &'a [u8],
    at: usize,
    section: &'static str,
}

impl<'a> Cursor<'a> {
    pub fn new(section: &'static str, bytes: &'a [u8]) -> Self {
        Self {
            bytes,
            at: 0,
            section,
        }
    }

    pub fn at(&self) -> usize {
        self.at
    }

    /// An error about `back` bytes before here.
    pub fn error(&self, fault: Fault, back: usize, what: impl Into<String>) -> FrameError {
        FrameError::new(
            fault,
            self.section,
            Some(self.at.saturating_sub(back)),
            what,
        )
    }

    pub fn damaged(&self, back: usize, what: impl Into<String>) -> FrameError {
        self.error(Fault::Damaged, back, what)
    }

    pub fn take(&mut self, len: usize, what: &str) -> Result<&'a [u8], FrameError> {
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        let Some(taken) = rest.get(..len) else {
            let found = rest.len();
            let what = format!("{what}: cut short after {found} of {len} bytes");
            return Err(self.error(Fault::CutShort, 0, what));
        };
        self.at = self.at.saturating_add(len);
        Ok(taken)
    }

    pub fn array<const N: usize>(&mut self, what: &str) -> Result<[u8; N], FrameError> {
        let taken = self.take(N, what)?;
        // `take` gives as many as it is asked for.
        Ok(taken.first_chunk().copied().unwrap_or([0; N]))
    }

    pub fn byte(&mut self, what: &str) -> Result<u8, FrameError> {
        let [byte] = self.array(what)?;
        Ok(byte)
    }

    pub fn marker(&mut self, expected: u8, what: &str) -> Result<(), FrameError> {
        let found = self.byte(what)?;
        if found == expected {
            return Ok(());
        }
        let what = format!("{what}: marker {found:02x}, should be {expected:02x}");
        Err(self.damaged(1, what))
    }

    fn marked<const N: usize>(&mut self, marker: u8, what: &str) -> Result<[u8; N], FrameError> {
        self.marker(marker, what)?;
        self.array(what)
    }

    pub fn u16(&mut self, what: &str) -> Result<u16, FrameError> {
        self.marked(U16, what).map(u16::from_be_bytes)
    }

    pub fn u32(&mut self, what: &str) -> Result<u32, FrameError> {
        self.marked(U32, what).map(u32::from_be_bytes)
    }

    pub fn u64(&mut self, what: &str) -> Result<u64, FrameError> {
        self.marked(U64, what).map(u64::from_be_bytes)
    }

    pub fn i16(&mut self, what: &str) -> Result<i16, FrameError> {
        self.marked(I16, what).map(i16::from_be_bytes)
    }

    pub fn i32(&mut self, what: &str) -> Result<i32, FrameError> {
        self.marked(I32, what).map(i32::from_be_bytes)
    }

    /// An `i32` that counts something.
    pub fn count32(&mut self, marker: u8, what: &str) -> Result<u32, FrameError> {
        let found = self.marked(marker, what).map(i32::from_be_bytes)?;
        u32::try_from(found).map_err(|_| self.negative(4, what, found.into()))
    }

    /// An `i64` that counts something.
    pub fn count64(&mut self, what: &str) -> Result<u64, FrameError> {
        let found = self.marked(I64, what).map(i64::from_be_bytes)?;
        u64::try_from(found).map_err(|_| self.negative(8, what, found))
    }

    fn negative(&self, back: usize, what: &str, found: i64) -> FrameError {
        self.damaged(back, format!("{what}: {found}, should be 0 or more"))
    }

    /// How many entries a map or an array has.
    pub fn entries(&mut self, marker: u8, what: &str) -> Result<u16, FrameError> {
        self.marked(marker, what).map(u16::from_be_bytes)
    }
}

/// Appends a marker and a value.
pub(super) fn put(to: &mut Vec<u8>, marker: u8, value: &[u8]) {
    to.push(marker);
    to.extend_from_slice(value);
}

/// What a file keeps as an `i32` that counts something.
pub(super) fn as_i32(
    section: &'static str,
    what: &str,
    value: impl TryInto<i32> + Copy + std::fmt::Display,
) -> Result<[u8; 4], FrameError> {
    let encoded = value.try_into().map(i32::to_be_bytes);
    encoded.map_err(|_| {
        FrameError::usage(
            section,
            format!("{what}: {value}, can be 2147483647 at most"),
        )
    })
}

/// What a file keeps as an `i64` that counts something.
pub(super) fn as_i64(section: &'static str, what: &str, value: u64) -> Result<[u8; 8], FrameError> {
    let encoded = i64::try_from(value).map(i64::to_be_bytes);
    encoded
        .map_err(|_| FrameError::usage(section, format!("{what}: {value}, can be 2^63-1 at most")))
}
