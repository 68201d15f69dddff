//! For tests: C-Blosc 1.21, called directly, and data to try it on.
#![allow(unsafe_code, reason = "calls into the C library")]
#![allow(clippy::cast_possible_truncation, reason = "made-up data may be cut")]

use super::{ChunkSettings, Filter};
use std::ffi::CString;

/// Compresses with C-Blosc.
pub(super) fn compress(settings: &ChunkSettings, data: &[u8]) -> Vec<u8> {
    let mut chunk = vec![0; data.len() + 16];
    let name = CString::new(settings.compressor.name()).unwrap();
    let filter = match settings.filter {
        Filter::None => 0,
        Filter::Byte => 1,
        Filter::Bit => 2,
    };
    // SAFETY: both pointers are valid for the lengths given with them, and the name ends with a
    // zero byte.
    let len = unsafe {
        blosc_src::blosc_compress_ctx(
            settings.level.into(),
            filter,
            settings.typesize.into(),
            data.len(),
            data.as_ptr().cast(),
            chunk.as_mut_ptr().cast(),
            chunk.len(),
            name.as_ptr(),
            settings.blocksize.unwrap_or(0) as usize,
            1,
        )
    };
    chunk.truncate(usize::try_from(len).unwrap());
    chunk
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Kind {
    /// 32-bit numbers that wander.
    Numbers,
    /// Words and numbers.
    Text,
    Noise,
}

impl Kind {
    /// Exactly `len` bytes, the same in every run.
    pub fn data(self, len: usize) -> Vec<u8> {
        // A linear congruential generator, of which the upper bits are good enough.
        let mut state = 1_u64;
        let mut random = || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(11);
            state >> 33
        };
        let (mut data, mut value) = (Vec::with_capacity(len + 16), 1_u32 << 20);
        while data.len() < len {
            match self {
                Self::Numbers => {
                    value = value
                        .wrapping_add((random() % 2000) as u32)
                        .wrapping_sub(990);
                    data.extend_from_slice(&value.to_le_bytes());
                }
                Self::Text => {
                    let word = ["level ", "of ", "the ", "river ", "station ", "at "];
                    data.extend_from_slice(word[random() as usize % word.len()].as_bytes());
                    if random() % 3 == 0 {
                        data.extend_from_slice((random() % 10_000).to_string().as_bytes());
                    }
                }
                Self::Noise => data.extend_from_slice(&(random() as u32).to_le_bytes()[..3]),
            }
        }
        data.truncate(len);
        data
    }
}
