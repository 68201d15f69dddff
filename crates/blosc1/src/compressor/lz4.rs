//! LZ4 by the C library, which is the fastest implementation and shared with C-Blosc.
//!
//! The states are plain memory of a size that the library reports, so they need no destructor. Each
//! call resets its state, although the library has calls that skip this: the output must depend on
//! the stream alone.
#![allow(unsafe_code, reason = "calls into the C library")]

use super::compress::Compress;
use super::lz4_decode;
use crate::ChunkError;
use std::os::raw::{c_char, c_int, c_void};

// Public in `lz4.h` and `lz4hc.h`; `lz4-sys` compiles them but does not declare them.
unsafe extern "C" {
    safe fn LZ4_sizeofState() -> c_int;
    safe fn LZ4_sizeofStateHC() -> c_int;
    /// Returns the number of bytes written, or 0 if they do not fit.
    fn LZ4_compress_fast_extState(
        state: *mut c_void,
        src: *const c_char,
        dst: *mut c_char,
        src_len: c_int,
        dst_len: c_int,
        acceleration: c_int,
    ) -> c_int;
    /// Returns the number of bytes written, or 0 if they do not fit.
    fn LZ4_compress_HC_extStateHC(
        state: *mut c_void,
        src: *const c_char,
        dst: *mut c_char,
        src_len: c_int,
        dst_len: c_int,
        level: c_int,
    ) -> c_int;
    /// Returns the number of bytes written, or a negative number for a damaged stream.
    fn LZ4_decompress_safe_usingDict(
        src: *const c_char,
        dst: *mut c_char,
        src_len: c_int,
        dst_len: c_int,
        dictionary: *const c_char,
        dictionary_len: c_int,
    ) -> c_int;
}

/// Zeroed memory for a state of the library, which requires an alignment of 8 bytes.
fn allocate_state(bytes: c_int) -> Result<Box<[u64]>, ChunkError> {
    let bytes = usize::try_from(bytes).ok().filter(|&bytes| bytes > 0);
    let what = "LZ4 reports a state without a size";
    let words = bytes.ok_or(ChunkError::Bug { what })?.div_ceil(8);
    Ok(vec![0; words].into_boxed_slice())
}

/// The fast compressor.
pub(super) struct Encoder {
    state: Box<[u64]>,
    acceleration: c_int,
}

impl Encoder {
    /// A compressor at a level from 1 to 9. As in C-Blosc, lower levels skip more positions when
    /// they search.
    pub fn new(level: u8) -> Result<Self, ChunkError> {
        Ok(Self {
            state: allocate_state(LZ4_sizeofState())?,
            acceleration: 10 - c_int::from(level.min(9)),
        })
    }
}

impl Compress for Encoder {
    fn compress(&mut self, src: &[u8], dst: &mut [u8]) -> Option<usize> {
        let (src_len, dst_len) = lengths(src, dst)?;
        // SAFETY: `state` is aligned and has the size that the library asked for; the two
        // pointers are valid for the lengths given with them, and do not overlap.
        let written = unsafe {
            LZ4_compress_fast_extState(
                self.state.as_mut_ptr().cast(),
                src.as_ptr().cast(),
                dst.as_mut_ptr().cast(),
                src_len,
                dst_len,
                self.acceleration,
            )
        };
        usize::try_from(written).ok().filter(|&len| len > 0)
    }
}

/// The thorough compressor.
pub(super) struct HcEncoder {
    state: Box<[u64]>,
    level: c_int,
}

impl HcEncoder {
    /// A compressor at a level from 1 to 9, which is passed to the library.
    pub fn new(level: u8) -> Result<Self, ChunkError> {
        Ok(Self {
            state: allocate_state(LZ4_sizeofStateHC())?,
            level: level.into(),
        })
    }
}

impl Compress for HcEncoder {
    fn compress(&mut self, src: &[u8], dst: &mut [u8]) -> Option<usize> {
        let (src_len, dst_len) = lengths(src, dst)?;
        // SAFETY: as in `Encoder::compress`.
        let written = unsafe {
            LZ4_compress_HC_extStateHC(
                self.state.as_mut_ptr().cast(),
                src.as_ptr().cast(),
                dst.as_mut_ptr().cast(),
                src_len,
                dst_len,
                self.level,
            )
        };
        usize::try_from(written).ok().filter(|&len| len > 0)
    }
}

/// Streams that expand at least this many times consist of long matches, which [`lz4_decode`]
/// copies faster than the library.
const RUNS: usize = 64;

/// Decompresses and returns whether `src` gives exactly `dst.len()` bytes.
pub(super) fn decompress(src: &[u8], dst: &mut [u8]) -> bool {
    if dst.len() / RUNS >= src.len() {
        return lz4_decode::decompress(src, dst);
    }
    let Some((src_len, dst_len)) = lengths(src, dst) else {
        return false;
    };
    // SAFETY: the two pointers are valid for the lengths given with them and do not overlap; the
    // library reads and writes within them whatever `src` contains.
    let written = unsafe {
        lz4_sys::LZ4_decompress_safe(
            src.as_ptr().cast(),
            dst.as_mut_ptr().cast(),
            src_len,
            dst_len,
        )
    };
    written == dst_len
}

/// [`decompress`] for a stream whose matches may refer to a dictionary.
pub(super) fn decompress_with(dictionary: &[u8], src: &[u8], dst: &mut [u8]) -> bool {
    let Some((src_len, dst_len)) = lengths(src, dst) else {
        return false;
    };
    let Ok(dictionary_len) = c_int::try_from(dictionary.len()) else {
        return false;
    };
    // SAFETY: the three pointers are valid for the lengths given with them and none overlaps `dst`;
    // the library reads and writes within them whatever they contain.
    let written = unsafe {
        LZ4_decompress_safe_usingDict(
            src.as_ptr().cast(),
            dst.as_mut_ptr().cast(),
            src_len,
            dst_len,
            dictionary.as_ptr().cast(),
            dictionary_len,
        )
    };
    written == dst_len
}

/// Both lengths as the library takes them; `None` for an empty slice, whose pointer must not be
/// read.
fn lengths(src: &[u8], dst: &[u8]) -> Option<(c_int, c_int)> {
    if src.is_empty() || dst.is_empty() {
        return None;
    }
    Some((
        c_int::try_from(src.len()).ok()?,
        c_int::try_from(dst.len()).ok()?,
    ))
}
