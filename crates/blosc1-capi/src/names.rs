//! Names and codes of compressors, formats and versions.
#![allow(
    unsafe_code,
    reason = "exported functions take pointers and names that are not mangled"
)]

use std::ffi::{CStr, CString};
use std::os::raw::{c_char, c_int};

use engine::{Compressor, CompressorFormat};

use crate::border::{code, guarded, put, string};

/// The compressors in the order of their codes, with their names.
const COMPRESSORS: [(Compressor, &CStr); 6] = [
    (Compressor::Blosclz, c"blosclz"),
    (Compressor::Lz4, c"lz4"),
    (Compressor::Lz4hc, c"lz4hc"),
    (Compressor::Snappy, c"snappy"),
    (Compressor::Zlib, c"zlib"),
    (Compressor::Zstd, c"zstd"),
];

/// The names of the stream formats, in the order of their codes.
const FORMATS: [&CStr; 5] = [c"BloscLZ", c"LZ4", c"Snappy", c"Zlib", c"Zstd"];

/// The compressor with this code; `None` if there is none.
pub(crate) fn compressor_of(code: c_int) -> Option<Compressor> {
    let index = usize::try_from(code).ok()?;
    COMPRESSORS.get(index).map(|(compressor, _)| *compressor)
}

/// The name of the compressor with this code; null if there is none.
pub(crate) fn name_of(code: c_int) -> *const c_char {
    let index = usize::try_from(code).ok();
    let named = index.and_then(|index| COMPRESSORS.get(index));
    named.map_or(std::ptr::null(), |(_, name)| name.as_ptr())
}

/// The code of the compressor with this name, or -1.
pub(crate) fn code_of(name: &[u8]) -> c_int {
    (0..)
        .zip(COMPRESSORS)
        .find(|(_, (_, known))| known.to_bytes() == name)
        .map_or(-1, |(code, _)| code)
}

/// The code of the format that a compressor writes.
fn format_code(compressor: Compressor) -> u8 {
    match compressor.format() {
        CompressorFormat::Blosclz => 0,
        CompressorFormat::Lz4 => 1,
        CompressorFormat::Snappy => 2,
        CompressorFormat::Zlib => 3,
        CompressorFormat::Zstd => 4,
        // No compressor of Blosc 1 writes these.
        CompressorFormat::Ndlz | CompressorFormat::Zfp => 6,
    }
}

/// The name of the format with this code; null if there is none.
pub(crate) fn format_name(code: u8) -> *const c_char {
    let name = FORMATS.get(usize::from(code));
    name.map_or(std::ptr::null(), |name| name.as_ptr())
}

/// Gets the name of the compressor with this code, a static string, or NULL. Returns the code, or
/// -1 if there is none.
#[cfg_attr(not(test), unsafe(no_mangle))]
pub unsafe extern "C" fn blosc_compcode_to_compname(
    compcode: c_int,
    compname: *mut *const c_char,
) -> c_int {
    let name = name_of(compcode);
    // SAFETY: null, or a place for a pointer, as in `blosc.h`.
    unsafe { put(compname, name) };
    if name.is_null() { -1 } else { compcode }
}

/// Returns the code of the compressor with this name, or -1 if there is none.
#[cfg_attr(not(test), unsafe(no_mangle))]
pub unsafe extern "C" fn blosc_compname_to_compcode(compname: *const c_char) -> c_int {
    // SAFETY: null, or a string, as in `blosc.h`.
    unsafe { string(compname) }.map_or(-1, code_of)
}

/// Returns the names of all compressors, separated by commas. The string is static.
#[cfg_attr(not(test), unsafe(no_mangle))]
pub extern "C" fn blosc_list_compressors() -> *const c_char {
    c"blosclz,lz4,lz4hc,snappy,zlib,zstd".as_ptr()
}

/// Returns the version of C-Blosc whose interface this is: "1.21.6". The string is static.
#[cfg_attr(not(test), unsafe(no_mangle))]
pub extern "C" fn blosc_get_version_string() -> *const c_char {
    c"1.21.6".as_ptr()
}

/// Gets the name and the version of a compressor's library. Each is NULL, or must be freed with
/// free(). Returns the code of the library, or -1 for an unknown compressor.
#[cfg_attr(not(test), unsafe(no_mangle))]
pub unsafe extern "C" fn blosc_get_complib_info(
    compname: *const c_char,
    complib: *mut *mut c_char,
    version: *mut *mut c_char,
) -> c_int {
    guarded(|| {
        // SAFETY: null, or a string, as in `blosc.h`.
        let name = unsafe { string(compname) };
        let found = name.and_then(|name| compressor_of(code_of(name)));
        let (library, text, result) = match found {
            Some(compressor) => {
                let format = format_code(compressor);
                (
                    format_name(format),
                    library_version(compressor),
                    c_int::from(format),
                )
            }
            None => (std::ptr::null(), None, code::FAILED),
        };
        // SAFETY: both are null or places for pointers, as in `blosc.h`; what is copied are strings that
        // end with a zero byte.
        unsafe {
            if !complib.is_null() {
                put(complib, copied(library));
            }
            if !version.is_null() {
                put(
                    version,
                    copied(text.as_ref().map_or(std::ptr::null(), |text| text.as_ptr())),
                );
            }
        }
        result
    })
}

/// A copy of a string that C can free; null for null.
///
/// # Safety
///
/// `string` is null, or ends with a zero byte.
unsafe fn copied(string: *const c_char) -> *mut c_char {
    if string.is_null() {
        return std::ptr::null_mut();
    }
    // SAFETY: not null, and ends with a zero byte by the contract of this function.
    unsafe { libc::strdup(string) }
}

/// The version of the library of a compressor, as text.
fn library_version(compressor: Compressor) -> Option<CString> {
    let decimal = |number: u32| {
        let (major, minor, patch) = (number / 10_000, number / 100 % 100, number % 100);
        format!("{major}.{minor}.{patch}")
    };
    let text = match compressor {
        // The version of C-Blosc's blosclz with the same format.
        Compressor::Blosclz => "2.5.1".into(),
        Compressor::Lz4 | Compressor::Lz4hc => {
            // SAFETY: returns a number.
            let number = unsafe { lz4_sys::LZ4_versionNumber() };
            decimal(number.cast_unsigned())
        }
        Compressor::Zstd => decimal(zstd_safe::version_number()),
        // `snap` and libdeflate do not report their version.
        _ => "unknown".into(),
    };
    CString::new(text).ok()
}
