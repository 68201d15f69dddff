//! Compresses and decompresses single streams with any compressor.

#[cfg(feature = "blosclz")]
use super::blosclz;
use super::compress::{Compress, Parameters};
use super::constant::ConstantStreams;
#[cfg(feature = "lz4")]
use super::lz4;
#[cfg(all(feature = "lz4-pure", not(feature = "lz4")))]
use super::lz4_pure as lz4;
#[cfg(feature = "blosc2")]
use super::ndlz;
use super::noise::NoiseTest;
#[cfg(feature = "snappy")]
use super::snappy;
#[cfg(feature = "zfp")]
use super::zfp;
#[cfg(feature = "zlib")]
use super::zlib;
#[cfg(all(feature = "zlib-pure", not(feature = "zlib")))]
use super::zlib_pure as zlib;
#[cfg(feature = "zstd")]
use super::zstd;
#[cfg(all(feature = "zstd-pure", not(feature = "zstd")))]
use super::zstd_pure as zstd;
use crate::{ChunkError, Compressor, CompressorFormat};

/// Compresses streams, and skips the compressor if the result is known beforehand.
pub(crate) struct StreamEncoder {
    compressor: Box<dyn Compress>,
    constants: ConstantStreams,
    /// Only for compressors that take long on noise.
    noise: Option<NoiseTest>,
}

impl StreamEncoder {
    /// Sets up the compressor at a level from 1 to 9.
    ///
    /// # Errors
    ///
    /// Returns an error if this build cannot write the format, or the state cannot be allocated.
    pub fn new(compressor: Compressor, level: u8) -> Result<Self, ChunkError> {
        Ok(Self {
            compressor: set_up(compressor, level)?,
            constants: ConstantStreams::default(),
            noise: is_slow_on_noise(compressor).then(NoiseTest::default),
        })
    }

    /// Compresses `src` into the beginning of `dst` and returns the length.
    ///
    /// Returns `None` if the result does not fit, or if `src` looks like noise.
    pub fn compress(&mut self, src: &[u8], dst: &mut [u8]) -> Option<usize> {
        let Some(byte) = ConstantStreams::byte_of(src) else {
            if self.noise.as_mut().is_some_and(|test| test.is_noise(src)) {
                return None;
            }
            return self.compressor.compress(src, dst);
        };
        if let Some(len) = self.constants.recall(byte, src.len(), dst) {
            return Some(len);
        }
        let len = self.compressor.compress(src, dst)?;
        self.constants.keep(byte, src.len(), dst.get(..len)?);
        Some(len)
    }
}

/// Whether the compressor takes as long on noise as on other data. Zstd detects noise itself.
const fn is_slow_on_noise(compressor: Compressor) -> bool {
    matches!(compressor, Compressor::Lz4hc | Compressor::Zlib)
}

/// Makes the compressor with its state.
fn set_up(compressor: Compressor, level: u8) -> Result<Box<dyn Compress>, ChunkError> {
    match compressor {
        #[cfg(feature = "blosclz")]
        Compressor::Blosclz => Ok(Box::new(Blosclz {
            level,
            encoder: blosclz::Encoder::new(),
        })),
        #[cfg(any(feature = "lz4", feature = "lz4-pure"))]
        Compressor::Lz4 => Ok(Box::new(lz4::Encoder::new(level)?)),
        #[cfg(feature = "lz4")]
        Compressor::Lz4hc => Ok(Box::new(lz4::HcEncoder::new(level)?)),
        #[cfg(feature = "snappy")]
        Compressor::Snappy => Ok(Box::new(snappy::Encoder::new())),
        #[cfg(any(feature = "zlib", feature = "zlib-pure"))]
        Compressor::Zlib => Ok(Box::new(zlib::Encoder::new(level)?)),
        #[cfg(feature = "zstd")]
        Compressor::Zstd => Ok(Box::new(zstd::Encoder::new(level)?)),
        #[cfg(not(all(
            feature = "blosclz",
            feature = "lz4",
            feature = "snappy",
            any(feature = "zlib", feature = "zlib-pure"),
            feature = "zstd"
        )))]
        missing => {
            let _ = level;
            Err(ChunkError::not_built(missing))
        }
    }
}

/// Blosclz, whose encoder takes the level with each stream.
#[cfg(feature = "blosclz")]
struct Blosclz {
    level: u8,
    encoder: blosclz::Encoder,
}

#[cfg(feature = "blosclz")]
impl Compress for Blosclz {
    fn compress(&mut self, src: &[u8], dst: &mut [u8]) -> Option<usize> {
        self.encoder.compress(self.level, src, dst)
    }
}

/// Decompresses streams of any format, and keeps the decompressors' states for the next stream.
#[derive(Default)]
pub(crate) struct StreamDecoder {
    #[cfg(feature = "snappy")]
    snappy: snappy::Decoder,
    #[cfg(any(feature = "zlib", feature = "zlib-pure"))]
    zlib: zlib::Decoder,
    #[cfg(any(feature = "zstd", feature = "zstd-pure"))]
    zstd: zstd::Decoder,
}

impl StreamDecoder {
    /// Decompresses `src` and returns whether it gave exactly `dst.len()` bytes. If not, the
    /// content of `dst` is unspecified.
    ///
    /// # Errors
    ///
    /// Returns an error that does not concern `src`: a format that this build cannot read, a plug-in without the shape of the
    /// block, or no memory.
    pub fn decompress(
        &mut self,
        format: CompressorFormat,
        parameters: &Parameters,
        src: &[u8],
        dst: &mut [u8],
    ) -> Result<bool, ChunkError> {
        match format {
            #[cfg(feature = "blosclz")]
            CompressorFormat::Blosclz => Ok(blosclz::decompress(src, dst)),
            #[cfg(any(feature = "lz4", feature = "lz4-pure"))]
            CompressorFormat::Lz4 => Ok(lz4::decompress(src, dst)),
            #[cfg(feature = "snappy")]
            CompressorFormat::Snappy => Ok(self.snappy.decompress(src, dst)),
            #[cfg(any(feature = "zlib", feature = "zlib-pure"))]
            CompressorFormat::Zlib => Ok(self.zlib.decompress(src, dst)),
            #[cfg(any(feature = "zstd", feature = "zstd-pure"))]
            CompressorFormat::Zstd => self.zstd.decompress(src, dst),
            #[cfg(feature = "blosc2")]
            CompressorFormat::Ndlz => Ok(ndlz::decompress(parameters.meta, src, dst)),
            #[cfg(feature = "zfp")]
            CompressorFormat::Zfp => zfp::decompress(parameters, src, dst),
            #[cfg(not(all(
                feature = "blosclz",
                any(feature = "lz4", feature = "lz4-pure"),
                feature = "snappy",
                any(feature = "zlib", feature = "zlib-pure"),
                any(feature = "zstd", feature = "zstd-pure"),
                feature = "blosc2",
                feature = "zfp"
            )))]
            missing => {
                let _ = (parameters, src, dst);
                let feature = missing.name();
                Err(ChunkError::NotBuilt { feature })
            }
        }
    }

    /// Decompresses a stream that was compressed with a dictionary.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`decompress`](Self::decompress), and [`ChunkError::Dictionary`] for
    /// formats without dictionaries.
    pub fn decompress_with(
        &mut self,
        format: CompressorFormat,
        dictionary: &[u8],
        src: &[u8],
        dst: &mut [u8],
    ) -> Result<bool, ChunkError> {
        match format {
            #[cfg(any(feature = "lz4", feature = "lz4-pure"))]
            CompressorFormat::Lz4 => Ok(lz4::decompress_with(dictionary, src, dst)),
            #[cfg(any(feature = "zstd", feature = "zstd-pure"))]
            CompressorFormat::Zstd => self.zstd.decompress_with(dictionary, src, dst),
            format => {
                let _ = (dictionary, src, dst);
                Err(ChunkError::Dictionary { format })
            }
        }
    }
}
