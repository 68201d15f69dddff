//! The functions `blosc_cbuffer_*`: the fields of a chunk's header, without further checks.
#![allow(
    unsafe_code,
    reason = "exported functions take pointers and names that are not mangled"
)]

use std::os::raw::{c_char, c_int, c_void};

use crate::border::{head, put};
use crate::constants::{BLOSC_MAX_BUFFERSIZE, BLOSC_VERSION_FORMAT};
use crate::names;

/// The fields of a header as they are stored.
pub(crate) struct RawHeader {
    pub version: u8,
    pub versionlz: u8,
    pub flags: u8,
    pub typesize: u8,
    pub nbytes: i32,
    pub blocksize: i32,
    pub cbytes: i32,
}

impl RawHeader {
    pub fn of(head: [u8; 16]) -> Self {
        let [version, versionlz, flags, typesize, sizes @ ..] = head;
        let [n0, n1, n2, n3, b0, b1, b2, b3, c0, c1, c2, c3] = sizes;
        Self {
            version,
            versionlz,
            flags,
            typesize,
            nbytes: i32::from_le_bytes([n0, n1, n2, n3]),
            blocksize: i32::from_le_bytes([b0, b1, b2, b3]),
            cbytes: i32::from_le_bytes([c0, c1, c2, c3]),
        }
    }

    /// Whether the chunk has the format version that this interface reads.
    pub fn is_current(&self) -> bool {
        c_int::from(self.version) == BLOSC_VERSION_FORMAT
    }

    /// The lengths of data, chunk and block in bytes; zeros for another version. As in C-Blosc,
    /// negative ones become very large.
    fn sizes(&self) -> [usize; 3] {
        if !self.is_current() {
            return [0; 3];
        }
        [self.nbytes, self.cbytes, self.blocksize].map(|size| (size as isize).cast_unsigned())
    }
}

/// Gets three lengths in bytes: of the data of a chunk, of the chunk, and of its blocks. They are 0
/// if the version of its format is unknown. Reads 16 bytes.
#[cfg_attr(not(test), unsafe(no_mangle))]
pub unsafe extern "C" fn blosc_cbuffer_sizes(
    cbuffer: *const c_void,
    nbytes: *mut usize,
    cbytes: *mut usize,
    blocksize: *mut usize,
) {
    // SAFETY: null, or at least 16 bytes, as in `blosc.h`.
    let header = unsafe { head(cbuffer) }.map(RawHeader::of);
    let [data, chunk, block] = header.map_or([0; 3], |header| header.sizes());
    // SAFETY: null, or places for the results, as in `blosc.h`.
    unsafe {
        put(nbytes, data);
        put(cbytes, chunk);
        put(blocksize, block);
    }
}

/// Checks that a chunk has `cbytes` bytes according to its header, and gets the length of its data
/// in bytes. Returns 0, or -1 if it cannot be a chunk.
#[cfg_attr(not(test), unsafe(no_mangle))]
pub unsafe extern "C" fn blosc_cbuffer_validate(
    cbuffer: *const c_void,
    cbytes: usize,
    nbytes: *mut usize,
) -> c_int {
    if cbytes < engine::HEADER_LEN {
        return -1;
    }
    // SAFETY: null, or `cbytes` bytes, which are at least 16.
    let header = unsafe { head(cbuffer) }.map(RawHeader::of);
    let [data, chunk, _] = header.map_or([0; 3], |header| header.sizes());
    // SAFETY: null, or a place for the result, as in `blosc.h`.
    unsafe { put(nbytes, data) };
    let most = usize::try_from(BLOSC_MAX_BUFFERSIZE).unwrap_or(usize::MAX);
    if chunk == cbytes && data <= most {
        0
    } else {
        -1
    }
}

/// Gets the typesize of a chunk and its flags: a set of BLOSC_DOSHUFFLE, BLOSC_MEMCPYED and
/// BLOSC_DOBITSHUFFLE. Both are 0 if the version of its format is unknown. Reads 16 bytes.
#[cfg_attr(not(test), unsafe(no_mangle))]
pub unsafe extern "C" fn blosc_cbuffer_metainfo(
    cbuffer: *const c_void,
    typesize: *mut usize,
    flags: *mut c_int,
) {
    // SAFETY: null, or at least 16 bytes, as in `blosc.h`.
    let header = unsafe { head(cbuffer) }.map(RawHeader::of);
    let header = header.filter(RawHeader::is_current);
    let (size, set) = header.map_or((0, 0), |header| (header.typesize, header.flags & 7));
    // SAFETY: null, or places for the results, as in `blosc.h`.
    unsafe {
        put(typesize, size.into());
        put(flags, set.into());
    }
}

/// Gets the versions of the format of a chunk and of its streams. Reads 16 bytes.
#[cfg_attr(not(test), unsafe(no_mangle))]
pub unsafe extern "C" fn blosc_cbuffer_versions(
    cbuffer: *const c_void,
    version: *mut c_int,
    versionlz: *mut c_int,
) {
    // SAFETY: null, or at least 16 bytes, as in `blosc.h`.
    let header = unsafe { head(cbuffer) }.map(RawHeader::of);
    let versions = header.map_or((0, 0), |header| (header.version, header.versionlz));
    // SAFETY: null, or places for the results, as in `blosc.h`.
    unsafe {
        put(version, versions.0.into());
        put(versionlz, versions.1.into());
    }
}

/// Returns the name of the library that decompresses the streams of a chunk, or NULL if its number
/// is not assigned. The string is static. Reads 16 bytes.
#[cfg_attr(not(test), unsafe(no_mangle))]
pub unsafe extern "C" fn blosc_cbuffer_complib(cbuffer: *const c_void) -> *const c_char {
    // SAFETY: null, or at least 16 bytes, as in `blosc.h`.
    let header = unsafe { head(cbuffer) }.map(RawHeader::of);
    header.map_or(std::ptr::null(), |header| {
        names::format_name(header.flags >> 5)
    })
}
