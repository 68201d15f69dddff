//! For tests: direct calls of C-Blosc 1.21, and test data.
#![allow(unsafe_code, reason = "calls into the C library")]
#![allow(
    clippy::cast_possible_truncation,
    reason = "truncated random numbers are as good"
)]

use super::{ChunkEncoder, ChunkSettings, Filter};
use std::ffi::CString;

/// Whether long searches go through everything: `BLOSCPACK_TESTS=whole`, as for the tests of the workspace. A normal run takes a
/// sample.
pub(super) fn is_whole() -> bool {
    std::env::var_os("BLOSCPACK_TESTS").is_some_and(|text| text == "whole")
}

/// The chunk that this crate makes.
pub(super) fn encode(settings: ChunkSettings, data: &[u8]) -> Vec<u8> {
    let mut chunk = Vec::new();
    let mut encoder = ChunkEncoder::new(settings).unwrap();
    encoder.encode(data, &mut chunk).unwrap();
    chunk
}

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

/// The result of `blosc_decompress_ctx`: the length of the data, or a negative error. Only for chunks
/// that are sound except for their length, since C-Blosc trusts its input.
pub(super) fn decompress_len(chunk: &[u8], nbytes: usize) -> i32 {
    decompress_into(chunk, &mut vec![0; nbytes])
}

/// Decompresses with `blosc_decompress_ctx`.
pub(super) fn decompress_ctx(chunk: &[u8], nbytes: usize) -> Vec<u8> {
    let mut data = vec![0xA5; nbytes];
    let len = decompress_into(chunk, &mut data);
    assert_eq!(usize::try_from(len), Ok(nbytes));
    data
}

fn decompress_into(chunk: &[u8], data: &mut [u8]) -> i32 {
    let (from, to) = (chunk.as_ptr().cast(), data.as_mut_ptr().cast());
    // SAFETY: `chunk` is as long as its header says, and `data` valid for the length given.
    unsafe { blosc_src::blosc_decompress_ctx(from, to, data.len(), 1) }
}

/// Decompresses with `blosc_decompress`, whose state is global: for one test only.
pub(super) fn decompress(chunk: &[u8], nbytes: usize) -> Vec<u8> {
    let mut data = vec![0xA5; nbytes];
    let (from, to) = (chunk.as_ptr().cast(), data.as_mut_ptr().cast());
    // SAFETY: `chunk` is as long as its header says, and `data` valid for the length given.
    let len = unsafe { blosc_src::blosc_decompress(from, to, nbytes) };
    assert_eq!(usize::try_from(len), Ok(nbytes));
    data
}

/// Reads `count` elements from `first` on, `nbytes` bytes in total, with `blosc_getitem`.
pub(super) fn getitem(chunk: &[u8], first: usize, count: usize, nbytes: usize) -> Vec<u8> {
    let mut data = vec![0xA5; nbytes];
    let (first, count) = (i32::try_from(first).unwrap(), i32::try_from(count).unwrap());
    let (from, to) = (chunk.as_ptr().cast(), data.as_mut_ptr().cast());
    // SAFETY: `chunk` is as long as its header says, and `data` has room for this many elements.
    let len = unsafe { blosc_src::blosc_getitem(from, first, count, to) };
    assert_eq!(usize::try_from(len), Ok(nbytes));
    data
}

/// Whether `blosc_cbuffer_validate` accepts these bytes as a chunk of `nbytes` bytes of data.
pub(super) fn is_valid(chunk: &[u8], nbytes: usize) -> bool {
    let mut found = 0;
    // SAFETY: `chunk` is valid for the length given.
    let status = unsafe {
        blosc_src::blosc_cbuffer_validate(chunk.as_ptr().cast(), chunk.len(), &mut found)
    };
    status == 0 && found == nbytes
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Kind {
    /// A random walk of 32-bit numbers.
    Numbers,
    /// Words and numbers.
    Text,
    Noise,
}

impl Kind {
    /// Exactly `len` bytes, the same in every run.
    pub fn data(self, len: usize) -> Vec<u8> {
        // A linear congruential generator, whose upper bits are good enough.
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
