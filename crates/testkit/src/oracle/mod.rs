//! C-Blosc 1.21, the reference for Blosc chunks, called directly; and data to try things on.
#![allow(unsafe_code, reason = "calls into the C library")]
#![allow(clippy::expect_used, reason = "a test fails by panicking")]

use std::ffi::CString;

use bloscpack::blosc::{ChunkSettings, Filter};

mod data;
pub use data::{Kind, Random};

/// Compresses with C-Blosc. `spare` bytes more than a pure copy needs are offered to it.
pub fn compress(settings: &ChunkSettings, data: &[u8], spare: usize) -> Vec<u8> {
    let mut chunk = vec![0; data.len() + 16 + spare];
    let len = compress_into(settings, data, &mut chunk);
    chunk.truncate(len);
    chunk
}

/// Compresses with C-Blosc into a buffer and gives the chunk's length.
pub fn compress_into(settings: &ChunkSettings, data: &[u8], chunk: &mut [u8]) -> usize {
    let name = CString::new(settings.compressor.name()).expect("no zero byte in a name");
    let filter = match settings.filter {
        Filter::None => 0,
        Filter::Byte => 1,
        Filter::Bit => 2,
    };
    // SAFETY: both pointers are valid for the lengths given with them, the name ends with a zero
    // byte, and one thread makes the call.
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
    assert!(len > 0, "C-Blosc gave {len} for {settings:?}");
    usize::try_from(len).expect("positive")
}

/// Decompresses with C-Blosc, which must accept the chunk; only for our own chunks, since it trusts its input.
pub fn decompress(chunk: &[u8], nbytes: usize) -> Vec<u8> {
    let mut data = vec![0xA5; nbytes];
    let len = decompress_into(chunk, &mut data);
    assert_eq!(len, nbytes, "C-Blosc gave {len} bytes of {nbytes}");
    data
}

/// Decompresses with C-Blosc into a buffer and gives the data's length.
pub fn decompress_into(chunk: &[u8], data: &mut [u8]) -> usize {
    // SAFETY: `chunk` is whole, as its header counts, and `data` valid for the length given.
    let len = unsafe {
        blosc_src::blosc_decompress_ctx(
            chunk.as_ptr().cast(),
            data.as_mut_ptr().cast(),
            data.len(),
            1,
        )
    };
    assert!(len >= 0, "C-Blosc refused the chunk with {len}");
    usize::try_from(len).expect("not negative")
}
