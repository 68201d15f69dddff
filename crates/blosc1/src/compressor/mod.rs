//! The compressors, with a common interface: one stream in, one stream out.
//!
//! ```text
//! encode   stream ─► one repeated byte? cached form
//!                 ├► noise? stored uncompressed, without a call (LZ4HC and zlib only)
//!                 └► `Compress` of the compressor
//! decode   stream ─► decompressor of the format ─► exactly the expected bytes, or damage
//! ```
//!
//! LZ4, zlib and Zstandard have two back ends: a C library, and crates without C, whose modules end
//! in `_pure`. If a build has both, `stream` uses the C library, and only tests compile the other.

pub(super) use compress::Parameters;
pub(super) use constant::ConstantStreams;
pub(super) use noise::NoiseTest;
pub(super) use stream::{StreamDecoder, StreamEncoder};

mod compress;
mod constant;
mod noise;
mod stream;

#[cfg(feature = "blosclz")]
mod blosclz;
#[cfg(feature = "lz4")]
mod lz4;
#[cfg(any(feature = "lz4", feature = "lz4-pure"))]
mod lz4_decode;
#[cfg(all(feature = "lz4-pure", any(not(feature = "lz4"), test)))]
mod lz4_pure;
#[cfg(feature = "blosc2")]
mod ndlz;
#[cfg(feature = "snappy")]
mod snappy;
#[cfg(feature = "zfp")]
mod zfp;
#[cfg(feature = "zlib")]
mod zlib;
#[cfg(all(feature = "zlib-pure", any(not(feature = "zlib"), test)))]
mod zlib_pure;
#[cfg(feature = "zstd")]
mod zstd;
#[cfg(all(feature = "zstd-pure", any(not(feature = "zstd"), test)))]
#[cfg_attr(
    feature = "zstd",
    allow(dead_code, reason = "the tests use no dictionaries")
)]
mod zstd_pure;

#[cfg(all(
    test,
    feature = "lz4",
    feature = "lz4-pure",
    feature = "zlib",
    feature = "zlib-pure",
    feature = "zstd",
    feature = "zstd-pure"
))]
mod back_ends;
