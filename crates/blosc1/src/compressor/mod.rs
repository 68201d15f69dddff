//! The compressors, with a common interface: one stream in, one stream out.

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
#[cfg(feature = "lz4")]
mod lz4_runs;
#[cfg(feature = "snappy")]
mod snappy;
#[cfg(feature = "zlib")]
mod zlib;
#[cfg(feature = "zstd")]
mod zstd;
