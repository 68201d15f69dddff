//! The settings of the process, and the functions that read and change them.
#![allow(
    unsafe_code,
    reason = "exported functions take pointers and names that are not mangled"
)]

use std::os::raw::{c_char, c_int};
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering::Relaxed};

use crate::border::guarded;
use crate::constants::{BLOSC_BLOSCLZ, BLOSC_FORWARD_COMPAT_SPLIT};
use crate::{contexts, names};

/// Whether `blosc_init`, or a function that calls it, was called. Only `blosc_free_resources`
/// reports it.
static INITIALIZED: AtomicBool = AtomicBool::new(false);
/// The code of the compressor; -1 after an unknown name.
static COMPRESSOR: AtomicI32 = AtomicI32::new(BLOSC_BLOSCLZ);
/// The requested block size in bytes; 0 for the choice of the library.
static BLOCKSIZE: AtomicI32 = AtomicI32::new(0);
/// The number of threads, as it was set: not checked.
static THREADS: AtomicI32 = AtomicI32::new(1);
/// The code of the split mode, as it was set: not checked.
static SPLIT_MODE: AtomicI32 = AtomicI32::new(BLOSC_FORWARD_COMPAT_SPLIT);

/// The code of the compressor; -1 after an unknown name.
pub(crate) fn compressor() -> c_int {
    COMPRESSOR.load(Relaxed)
}

/// The requested block size in bytes, or 0.
pub(crate) fn blocksize() -> c_int {
    BLOCKSIZE.load(Relaxed)
}

/// The number of threads, not checked.
pub(crate) fn threads() -> c_int {
    THREADS.load(Relaxed)
}

/// The code of the split mode, not checked.
pub(crate) fn split_mode() -> c_int {
    SPLIT_MODE.load(Relaxed)
}

/// Sets the compressor by its code, and returns the code.
pub(crate) fn set_compressor(code: c_int) -> c_int {
    COMPRESSOR.store(code, Relaxed);
    blosc_init();
    code
}

/// Initializes the library. The call is optional: all other functions do what is necessary.
#[cfg_attr(not(test), unsafe(no_mangle))]
pub extern "C" fn blosc_init() {
    INITIALIZED.store(true, Relaxed);
}

/// Frees the buffers that the calling thread keeps for its next call. The settings are kept.
#[cfg_attr(not(test), unsafe(no_mangle))]
pub extern "C" fn blosc_destroy() {
    INITIALIZED.store(false, Relaxed);
    contexts::free();
}

/// Frees the buffers that the calling thread keeps for its next call. Returns 0, or -1 before
/// `blosc_init`.
#[cfg_attr(not(test), unsafe(no_mangle))]
pub extern "C" fn blosc_free_resources() -> c_int {
    if !INITIALIZED.load(Relaxed) {
        return -1;
    }
    contexts::free();
    0
}

/// Returns the number of threads of `blosc_compress` and `blosc_decompress`; initially 1.
#[cfg_attr(not(test), unsafe(no_mangle))]
pub extern "C" fn blosc_get_nthreads() -> c_int {
    threads()
}

/// Sets the number of threads, 1 to BLOSC_MAX_THREADS, and returns the previous one.
#[cfg_attr(not(test), unsafe(no_mangle))]
pub extern "C" fn blosc_set_nthreads(nthreads: c_int) -> c_int {
    blosc_init();
    THREADS.swap(nthreads, Relaxed)
}

/// Returns the name of the compressor of `blosc_compress`, initially "blosclz"; NULL if an unknown
/// one was set.
#[cfg_attr(not(test), unsafe(no_mangle))]
pub extern "C" fn blosc_get_compressor() -> *const c_char {
    names::name_of(compressor())
}

/// Sets the compressor by name, and returns its code, or -1 for an unknown name.
#[cfg_attr(not(test), unsafe(no_mangle))]
pub unsafe extern "C" fn blosc_set_compressor(compname: *const c_char) -> c_int {
    // SAFETY: as the caller guarantees.
    guarded(|| set_compressor(unsafe { names::blosc_compname_to_compcode(compname) }))
}

/// Returns the block size in bytes that was set, or 0 for the choice of the library.
#[cfg_attr(not(test), unsafe(no_mangle))]
pub extern "C" fn blosc_get_blocksize() -> c_int {
    blocksize()
}

/// Sets the block size of `blosc_compress` in bytes; 0 for the choice of the library.
#[cfg_attr(not(test), unsafe(no_mangle))]
pub extern "C" fn blosc_set_blocksize(blocksize: usize) {
    BLOCKSIZE.store(low_int(blocksize), Relaxed);
}

/// Sets which blocks are split into streams: one of the constants BLOSC_*_SPLIT.
#[cfg_attr(not(test), unsafe(no_mangle))]
pub extern "C" fn blosc_set_splitmode(splitmode: c_int) {
    SPLIT_MODE.store(splitmode, Relaxed);
}

/// The lower 32 bits, as a cast in C.
pub(crate) fn low_int(size: usize) -> c_int {
    let [a, b, c, d, ..] = (size as u64).to_le_bytes();
    c_int::from_le_bytes([a, b, c, d])
}
