//! Zlib data of unknown length, as metadata is stored.

#[cfg(feature = "zlib")]
pub(super) use with_zlib::{deflate, inflate};
#[cfg(not(feature = "zlib"))]
pub(super) use without_zlib::{deflate, inflate};

/// Whether this build can read zlib data.
pub(super) const AVAILABLE: bool = cfg!(feature = "zlib");

#[cfg(feature = "zlib")]
mod with_zlib {
    use libdeflater::{CompressionLvl, Compressor, DecompressionError, Decompressor};

    /// The first guess at the length; doubled until it is enough, so that memory follows what
    /// the data really unpacks to, and not the claim of a header.
    const FIRST_GUESS: usize = 1 << 16;

    /// Unpacks to at most `max` bytes; nothing if there are more, or if the data is damaged.
    pub fn inflate(packed: &[u8], max: usize) -> Option<Vec<u8>> {
        let mut room = FIRST_GUESS.min(max);
        loop {
            let mut text = vec![0; room];
            match Decompressor::new().zlib_decompress(packed, &mut text) {
                Ok(len) => {
                    text.truncate(len);
                    return Some(text);
                }
                Err(DecompressionError::InsufficientSpace) if room < max => {
                    // Saturates: `max` is the bound in any case.
                    room = room.saturating_mul(2).min(max);
                }
                Err(_) => return None,
            }
        }
    }

    /// Packs the text; nothing if it would not become shorter.
    pub fn deflate(text: &[u8], level: u8) -> Option<Vec<u8>> {
        let level = CompressionLvl::new(level.into()).unwrap_or_default();
        let mut packed = vec![0; text.len()];
        let len = Compressor::new(level)
            .zlib_compress(text, &mut packed)
            .ok()?;
        packed.truncate(len);
        Some(packed)
    }
}

#[cfg(not(feature = "zlib"))]
mod without_zlib {
    pub fn inflate(_: &[u8], _: usize) -> Option<Vec<u8>> {
        None
    }

    pub fn deflate(_: &[u8], _: u8) -> Option<Vec<u8>> {
        None
    }
}
