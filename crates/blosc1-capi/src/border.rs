//! The border between C and Rust: pointers become slices, errors become numbers, and panics end.
#![allow(unsafe_code, reason = "pointers of C callers become slices here")]

use std::ffi::CStr;
use std::io::Write;
use std::os::raw::{c_char, c_int, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};

use engine::ChunkError;

/// The return values of C-Blosc for errors.
pub(crate) mod code {
    use std::os::raw::c_int;

    /// Any other error: damage, a wrong argument, or a panic.
    pub const FAILED: c_int = -1;
    /// The compressor is unknown, or not in this build.
    pub const NO_COMPRESSOR: c_int = -5;
    /// An unknown version of the format, or of the streams.
    pub const VERSION: c_int = -9;
    /// An argument is out of range.
    pub const ARGUMENT: c_int = -10;
}

/// Runs the body of an exported function. A panic must not reach C: it becomes -1.
///
/// The only state that a panic could leave half changed is a context of this thread, which is
/// dropped while the panic unwinds.
pub(crate) fn guarded(body: impl FnOnce() -> c_int) -> c_int {
    catch_unwind(AssertUnwindSafe(body)).unwrap_or(code::FAILED)
}

/// The return value for an error of the decoder.
pub(crate) fn number_of(error: &ChunkError) -> c_int {
    match error {
        ChunkError::UnknownCompressor { .. }
        | ChunkError::NotBuilt { .. }
        | ChunkError::OnlyRead { .. } => code::NO_COMPRESSOR,
        ChunkError::StreamVersion { .. } => code::VERSION,
        _ => code::FAILED,
    }
}

/// Prints a message to stderr, as C-Blosc does. If stderr is closed, the message is lost.
pub(crate) fn complain(message: std::fmt::Arguments<'_>) {
    let _ = writeln!(std::io::stderr(), "{message}");
}

/// The bytes at a pointer; `None` if it is null, or `len` exceeds any object. Of length 0, any
/// pointer gives an empty slice.
///
/// # Safety
///
/// `len` bytes can be read from `pointer` if it is not null, and do not change during `'a`.
pub(crate) unsafe fn bytes<'a>(pointer: *const c_void, len: usize) -> Option<&'a [u8]> {
    if len == 0 {
        return Some(&[]);
    }
    if pointer.is_null() || isize::try_from(len).is_err() {
        return None;
    }
    // SAFETY: not null, and valid for `len` bytes by the contract of this function.
    Some(unsafe { std::slice::from_raw_parts(pointer.cast(), len) })
}

/// The writable bytes at a pointer; `None` as for [`bytes`].
///
/// # Safety
///
/// `len` bytes can be written at `pointer` if it is not null, and nothing else uses them during
/// `'a`. They may be uninitialized as far as C is concerned: they are only written to.
pub(crate) unsafe fn bytes_mut<'a>(pointer: *mut c_void, len: usize) -> Option<&'a mut [u8]> {
    if len == 0 {
        return Some(&mut []);
    }
    if pointer.is_null() || isize::try_from(len).is_err() {
        return None;
    }
    // SAFETY: not null, and valid for `len` bytes by the contract of this function.
    Some(unsafe { std::slice::from_raw_parts_mut(pointer.cast(), len) })
}

/// The first 16 bytes of a chunk, or `None` if the pointer is null.
///
/// # Safety
///
/// 16 bytes can be read from `chunk` if it is not null.
pub(crate) unsafe fn head(chunk: *const c_void) -> Option<[u8; engine::HEADER_LEN]> {
    // SAFETY: as many bytes are readable by the contract of this function.
    let head = unsafe { bytes(chunk, engine::HEADER_LEN) }?;
    head.first_chunk().copied()
}

/// The bytes of a C string without its final zero; `None` if the pointer is null.
///
/// # Safety
///
/// `string` is null or ends with a zero byte, and does not change during `'a`.
pub(crate) unsafe fn string<'a>(string: *const c_char) -> Option<&'a [u8]> {
    if string.is_null() {
        return None;
    }
    // SAFETY: not null, and ends with a zero byte by the contract of this function.
    Some(unsafe { CStr::from_ptr(string) }.to_bytes())
}

/// Writes a result to a place of the caller, unless the pointer is null.
///
/// # Safety
///
/// `place` is null, or a `T` can be written there.
pub(crate) unsafe fn put<T>(place: *mut T, value: T) {
    if !place.is_null() {
        // SAFETY: not null, and writable by the contract of this function.
        unsafe { place.write(value) };
    }
}
