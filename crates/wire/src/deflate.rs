//! Zlib data of unknown uncompressed length, as metadata is stored.

#[cfg(all(feature = "zlib-pure", not(feature = "zlib")))]
pub(super) use pure::{deflate, inflate};
#[cfg(feature = "zlib")]
pub(super) use with_zlib::{deflate, inflate};
#[cfg(not(any(feature = "zlib", feature = "zlib-pure")))]
pub(super) use without_zlib::{deflate, inflate};

/// Whether this build can read zlib data.
pub(super) const AVAILABLE: bool = cfg!(any(feature = "zlib", feature = "zlib-pure"));

/// The first size of the buffer in bytes. It doubles until the data fits, so memory follows the
/// length to which the data really unpacks, not the claim of a header.
#[cfg(any(feature = "zlib", feature = "zlib-pure"))]
const FIRST_GUESS: usize = 1 << 16;

#[cfg(feature = "zlib")]
mod with_zlib {
    use super::FIRST_GUESS;
    use libdeflater::{CompressionLvl, Compressor, DecompressionError, Decompressor};

    /// Unpacks to at most `max` bytes; `None` if there are more, or the data is damaged.
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

    /// Packs the text; `None` if the result is not shorter.
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

#[cfg(all(feature = "zlib-pure", any(not(feature = "zlib"), test)))]
mod pure {
    use super::FIRST_GUESS;
    use zlib_rs::{Deflate, DeflateFlush, Inflate, InflateFlush, Status};

    const WINDOW_BITS: u8 = 15;

    /// Unpacks to at most `max` bytes; `None` if there are more, or the data is damaged.
    pub fn inflate(packed: &[u8], max: usize) -> Option<Vec<u8>> {
        let mut room = FIRST_GUESS.min(max);
        loop {
            let mut text = vec![0; room];
            let mut inflate = Inflate::new(true, WINDOW_BITS);
            match inflate.decompress(packed, &mut text, InflateFlush::Finish) {
                Ok(Status::StreamEnd) => {
                    text.truncate(usize::try_from(inflate.total_out()).ok()?);
                    return Some(text);
                }
                Ok(_) if inflate.total_out() == u64::try_from(room).ok()? && room < max => {
                    // Saturates: `max` is the bound in any case.
                    room = room.saturating_mul(2).min(max);
                }
                _ => return None,
            }
        }
    }

    /// Packs the text; `None` if the result does not fit the length of the text.
    pub fn deflate(text: &[u8], level: u8) -> Option<Vec<u8>> {
        let mut packed = vec![0; text.len()];
        let mut deflate = Deflate::new(level.into(), true, WINDOW_BITS);
        let status = deflate.compress(text, &mut packed, DeflateFlush::Finish);
        packed.truncate(usize::try_from(deflate.total_out()).ok()?);
        (status == Ok(Status::StreamEnd)).then_some(packed)
    }
}

#[cfg(not(any(feature = "zlib", feature = "zlib-pure")))]
mod without_zlib {
    pub fn inflate(_: &[u8], _: usize) -> Option<Vec<u8>> {
        None
    }

    pub fn deflate(_: &[u8], _: u8) -> Option<Vec<u8>> {
        None
    }
}

#[cfg(all(test, feature = "zlib", feature = "zlib-pure"))]
mod tests {
    use super::{pure, with_zlib};

    #[test]
    fn both_back_ends_read_what_either_packs() {
        for len in [0, 1, 100, 65_535, 65_536, 65_537, 300_000] {
            let text: Vec<u8> = (0..=99).cycle().take(len).collect();
            for packed in [pure::deflate(&text, 6), with_zlib::deflate(&text, 6)] {
                let Some(packed) = packed else {
                    // The first hundred bytes are all different.
                    assert!(len <= 100, "{len}");
                    continue;
                };
                let torn = &packed[..packed.len() - 1];
                for inflate in [pure::inflate, with_zlib::inflate] {
                    assert_eq!(inflate(&packed, len).as_deref(), Some(&text[..]), "{len}");
                    assert_eq!(inflate(&packed, len - 1), None, "{len}");
                    assert_eq!(inflate(torn, len), None, "{len}");
                }
            }
        }
    }
}
