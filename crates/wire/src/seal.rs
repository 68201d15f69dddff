//! [`Seal`]: the crc32 over header, metadata and offsets of format 2.

use super::error::FormatError;
use super::header::Header;

/// A seal that is being computed: over the header, and then over all bytes up to the chunks.
pub struct Seal(crc32fast::Hasher);

impl Seal {
    /// Begins with the bytes of a header. The seal among them counts as zeros.
    pub fn of_header(encoded: &[u8]) -> Self {
        let mut hasher = crc32fast::Hasher::new();
        hasher.update(&Header::sealed_bytes(encoded));
        Self(hasher)
    }

    /// Adds bytes that follow.
    pub fn update(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    /// The seal.
    pub fn value(self) -> u32 {
        self.0.finalize()
    }

    /// Compares the seal with the one that was found in the header.
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
