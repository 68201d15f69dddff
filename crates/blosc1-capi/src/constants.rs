//! The constants of `blosc.h`.
//!
//! They are public for cbindgen, which writes them to the header. `cbindgen.toml` has the strings,
//! which cbindgen does not support, and the version, which OpenVDB's search for Blosc only finds if
//! a space follows it.
#![allow(
    missing_docs,
    reason = "the names are those of `blosc.h`, whose users know them"
)]
#![allow(dead_code, reason = "some are of use in C only")]

use std::os::raw::c_int;

pub const BLOSC_VERSION_FORMAT: c_int = 2;

pub const BLOSC_MIN_HEADER_LENGTH: c_int = 16;
pub const BLOSC_MAX_OVERHEAD: c_int = 16;
pub const BLOSC_MAX_BUFFERSIZE: c_int = 2_147_483_631;
pub const BLOSC_MAX_TYPESIZE: c_int = 255;
pub const BLOSC_MAX_BLOCKSIZE: c_int = 715_827_542;
pub const BLOSC_MAX_THREADS: c_int = 256;

pub const BLOSC_NOSHUFFLE: c_int = 0;
pub const BLOSC_SHUFFLE: c_int = 1;
pub const BLOSC_BITSHUFFLE: c_int = 2;

pub const BLOSC_DOSHUFFLE: c_int = 0x1;
pub const BLOSC_MEMCPYED: c_int = 0x2;
pub const BLOSC_DOBITSHUFFLE: c_int = 0x4;

pub const BLOSC_BLOSCLZ: c_int = 0;
pub const BLOSC_LZ4: c_int = 1;
pub const BLOSC_LZ4HC: c_int = 2;
pub const BLOSC_SNAPPY: c_int = 3;
pub const BLOSC_ZLIB: c_int = 4;
pub const BLOSC_ZSTD: c_int = 5;

pub const BLOSC_BLOSCLZ_LIB: c_int = 0;
pub const BLOSC_LZ4_LIB: c_int = 1;
pub const BLOSC_SNAPPY_LIB: c_int = 2;
pub const BLOSC_ZLIB_LIB: c_int = 3;
pub const BLOSC_ZSTD_LIB: c_int = 4;

pub const BLOSC_BLOSCLZ_FORMAT: c_int = 0;
pub const BLOSC_LZ4_FORMAT: c_int = 1;
pub const BLOSC_LZ4HC_FORMAT: c_int = 1;
pub const BLOSC_SNAPPY_FORMAT: c_int = 2;
pub const BLOSC_ZLIB_FORMAT: c_int = 3;
pub const BLOSC_ZSTD_FORMAT: c_int = 4;

pub const BLOSC_BLOSCLZ_VERSION_FORMAT: c_int = 1;
pub const BLOSC_LZ4_VERSION_FORMAT: c_int = 1;
pub const BLOSC_LZ4HC_VERSION_FORMAT: c_int = 1;
pub const BLOSC_SNAPPY_VERSION_FORMAT: c_int = 1;
pub const BLOSC_ZLIB_VERSION_FORMAT: c_int = 1;
pub const BLOSC_ZSTD_VERSION_FORMAT: c_int = 1;

pub const BLOSC_ALWAYS_SPLIT: c_int = 1;
pub const BLOSC_NEVER_SPLIT: c_int = 2;
pub const BLOSC_AUTO_SPLIT: c_int = 3;
pub const BLOSC_FORWARD_COMPAT_SPLIT: c_int = 4;
