//! `blosc_decompress`, `blosc_decompress_ctx` and `blosc_getitem`.
#![allow(
    unsafe_code,
    reason = "exported functions take pointers and names that are not mangled"
)]

use std::os::raw::{c_int, c_void};

use engine::ChunkHeader;

use crate::border::{bytes, bytes_mut, code, complain, guarded, head, number_of};
use crate::compress::{complain_about_threads, is_possible};
use crate::header::RawHeader;
use crate::{contexts, environment, global};

/// Decompresses a chunk to at most `destsize` bytes at `dest`, with the number of threads that was
/// set. The environment variable BLOSC_NTHREADS takes precedence. `src` must have as many readable
/// bytes as its header says: see `blosc_cbuffer_validate`. Returns the number of decompressed
/// bytes, or a negative number if the chunk is damaged or does not fit.
#[cfg_attr(not(test), unsafe(no_mangle))]
pub unsafe extern "C" fn blosc_decompress(
    src: *const c_void,
    dest: *mut c_void,
    destsize: usize,
) -> c_int {
    guarded(|| {
        global::blosc_init();
        if let Err(number) = environment::threads() {
            return number;
        }
        // SAFETY: as the caller guarantees.
        unsafe { decompress(src, dest, destsize, global::threads()) }
    })
}

/// Decompresses like `blosc_decompress`, but with the number of threads of the argument, and
/// without environment variables.
#[cfg_attr(not(test), unsafe(no_mangle))]
pub unsafe extern "C" fn blosc_decompress_ctx(
    src: *const c_void,
    dest: *mut c_void,
    destsize: usize,
    numinternalthreads: c_int,
) -> c_int {
    // SAFETY: as the caller guarantees.
    guarded(|| unsafe { decompress(src, dest, destsize, numinternalthreads) })
}

/// Decompresses `nitems` elements, beginning with element `start`. Only the blocks that contain
/// them are decompressed. `dest` must have room for them, and `src` as many readable bytes as its
/// header says: see `blosc_cbuffer_validate`. Returns the number of decompressed bytes, or a
/// negative number if the chunk is damaged or does not have these elements.
#[cfg_attr(not(test), unsafe(no_mangle))]
pub unsafe extern "C" fn blosc_getitem(
    src: *const c_void,
    start: c_int,
    nitems: c_int,
    dest: *mut c_void,
) -> c_int {
    // SAFETY: as the caller guarantees.
    guarded(|| unsafe { getitem(src, start, nitems, dest) })
}

/// Checks a chunk in the order of C-Blosc, and decompresses it.
///
/// # Safety
///
/// As many bytes as the header says, and at least 16, can be read from `src`. `destsize` bytes can
/// be written at `dest`. They do not overlap.
unsafe fn decompress(
    src: *const c_void,
    dest: *mut c_void,
    destsize: usize,
    threads: c_int,
) -> c_int {
    // SAFETY: a header can be read.
    let Some(head) = (unsafe { head(src) }) else {
        return code::FAILED;
    };
    let raw = RawHeader::of(head);
    if raw.nbytes == 0 {
        return 0;
    }
    let Some(header) = ChunkHeader::parse(&head).ok().filter(|_| raw.is_current()) else {
        return code::FAILED;
    };
    let nbytes = header.nbytes as usize;
    if nbytes > destsize {
        return code::FAILED;
    }
    // As in C-Blosc, a wrong number of threads is an error only if there are several blocks.
    if !is_possible(threads) && header.nbytes / header.blocksize > 1 {
        complain_about_threads(threads);
        return code::FAILED;
    }
    // SAFETY: the header says how many bytes can be read, and `destsize` how many can be written.
    let (chunk, out) = unsafe { (bytes(src, header.ctbytes as usize), bytes_mut(dest, nbytes)) };
    let (Some(chunk), Some(out)) = (chunk, out) else {
        return code::FAILED;
    };
    contexts::with_decoder(|decoder| {
        decoder.set_threads(usize::try_from(threads).unwrap_or(1).min(256));
        match decoder.decode(chunk, out) {
            Ok(_) => raw.nbytes,
            Err(error) => number_of(&error),
        }
    })
}

/// Checks the range in the order of C-Blosc, and decompresses it.
///
/// # Safety
///
/// As many bytes as the header says, and at least 16, can be read from `src`. The elements can be
/// written at `dest`. They do not overlap.
unsafe fn getitem(src: *const c_void, start: c_int, nitems: c_int, dest: *mut c_void) -> c_int {
    // SAFETY: a header can be read.
    let Some(head) = (unsafe { head(src) }) else {
        return code::FAILED;
    };
    let raw = RawHeader::of(head);
    if !raw.is_current() {
        return code::VERSION;
    }
    let Some(header) = ChunkHeader::parse(&head).ok().filter(|_| raw.nbytes > 0) else {
        return code::FAILED;
    };
    let (first, count) = (i64::from(start), i64::from(nitems));
    let size = i64::from(header.typesize);
    let (begin, end) = (first * size, (first + count) * size);
    if begin < 0 || begin > i64::from(header.nbytes) {
        complain(format_args!("`start` out of bounds"));
        return code::FAILED;
    }
    if end < begin || end > i64::from(header.nbytes) {
        complain(format_args!("`start`+`nitems` out of bounds"));
        return code::FAILED;
    }
    let (Ok(begin), Ok(len)) = (u32::try_from(begin), usize::try_from(end - begin)) else {
        return code::FAILED;
    };
    // SAFETY: the header says how many bytes can be read, and the caller has room for the elements.
    let (chunk, out) = unsafe { (bytes(src, header.ctbytes as usize), bytes_mut(dest, len)) };
    let (Some(chunk), Some(out)) = (chunk, out) else {
        return code::FAILED;
    };
    contexts::with_decoder(|decoder| match decoder.decode_range(chunk, begin, out) {
        Ok(_) => c_int::try_from(len).unwrap_or(code::FAILED),
        Err(error) => number_of(&error),
    })
}
