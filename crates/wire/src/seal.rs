//! [`Seal`]: the crc32 over header, metadata and offset table of V2.

use super::error::FormatError;
use super::header::Header;

/// A seal that is being computed: over the header, and then over all bytes up to the chunks.
pub struct Seal(crc32fast::Hasher);

impl Seal {
    /// Begins with the bytes of an encoded V2 header. The seal in it counts as zeros.
    pub fn of_header(encoded: &[u8]) -> Self {
        let mut hasher = crc32fast::Hasher::new();
        hasher.update(&Header::sealed_bytes(encoded));
        Self(hasher)
    }

    /// Adds the bytes that follow: metadata, then offset table.
    pub fn update(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    /// The crc32 of all bytes so far.
    pub fn value(self) -> u32 {
        self.0.finalize()
    }

    /// Compares the seal with the one in the header.
    ///
    /// # Errors
    /// Returns [`FormatError::Seal`] if they differ.
    pub fn check(self, found: u32) -> Result<(), FormatError> {
        let expected = self.value();
        if found != expected {
            return Err(FormatError::Seal { found, expected });
        }
        Ok(())
    }
}
