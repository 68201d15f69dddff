//! One stream in, one stream out, whatever the compressor.

#[cfg(feature = "blosclz")]
use super::blosclz;
use super::constant::Constants;
#[cfg(feature = "lz4")]
use super::lz4;
use super::random::NoiseTest;
#[cfg(feature = "snappy")]
use super::snappy;
#[cfg(feature = "zlib")]
use super::zlib;
#[cfg(feature = "zstd")]
use super::zstd;
use super::{Compressor, CompressorFormat};
use crate::{ChunkError, ChunkSettings};

/// A compressor at a level, with the memory that it keeps from stream to stream.
///
/// What comes out depends on the stream alone, not on those before it.
pub(super) trait Compress: Send {
    /// Compresses `src` into the beginning of `dst` and gives the length, or `None` if it does
    /// not fit.
    fn compress(&mut self, src: &[u8], dst: &mut [u8]) -> Option<usize>;
}

/// Compresses streams, and spares the compressor those whose result is known beforehand.
pub(crate) struct StreamEncoder {
    compressor: Box<dyn Compress>,
    constants: Constants,
    /// Only for compressors to which noise is work.
    noise: Option<NoiseTest>,
}

impl StreamEncoder {
    /// Sets up the compressor.
    pub fn new(settings: &ChunkSettings) -> Result<Self, ChunkError> {
        Ok(Self {
            compressor: set_up(settings)?,
            constants: Constants::default(),
            noise: dwells_on_noise(settings.compressor).then(NoiseTest::default),
        })
    }

    /// Compresses `src` into the beginning of `dst` and gives the length, or `None` if it does
    /// not fit or the attempt would be in vain.
    pub fn compress(&mut self, src: &[u8], dst: &mut [u8]) -> Option<usize> {
        let Some(byte) = Constants::byte_of(src) else {
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

/// Whether noise takes it as long as anything. Zstd notices by itself.
const fn dwells_on_noise(compressor: Compressor) -> bool {
    matches!(compressor, Compressor::Lz4hc | Compressor::Zlib)
}

/// The compressor of these settings.
fn set_up(settings: &ChunkSettings) -> Result<Box<dyn Compress>, ChunkError> {
    match settings.compressor {
        #[cfg(feature = "blosclz")]
        Compressor::Blosclz => Ok(Box::new(Blosclz {
            level: settings.level,
            encoder: blosclz::Encoder::new(),
        })),
        #[cfg(feature = "lz4")]
        Compressor::Lz4 => Ok(Box::new(lz4::Encoder::new(settings.level))),
        #[cfg(feature = "lz4")]
        Compressor::Lz4hc => Ok(Box::new(lz4::HcEncoder::new(settings.level))),
        #[cfg(feature = "snappy")]
        Compressor::Snappy => Ok(Box::new(snappy::Encoder::new())),
        #[cfg(feature = "zlib")]
        Compressor::Zlib => Ok(Box::new(zlib::Encoder::new(settings.level))),
        #[cfg(feature = "zstd")]
        Compressor::Zstd => match zstd::Encoder::new(settings.level) {
            Some(encoder) => Ok(Box::new(encoder)),
            None => Err(ChunkError::Memory),
        },
        #[cfg(not(all(
            feature = "blosclz",
            feature = "lz4",
            feature = "snappy",
            feature = "zlib",
            feature = "zstd"
        )))]
        missing => Err(ChunkError::NotBuilt {
            feature: missing.format().name(),
        }),
    }
}

/// Blosclz, which takes its level with each stream.
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

/// Decompresses streams of any format, whose states it keeps for the next.
#[derive(Default)]
pub(crate) struct StreamDecoder {
    #[cfg(feature = "snappy")]
    snappy: snappy::Decoder,
    #[cfg(feature = "zlib")]
    zlib: zlib::Decoder,
    #[cfg(feature = "zstd")]
    zstd: zstd::Decoder,
}

impl StreamDecoder {
    /// Decompresses `src` and tells whether exactly `dst.len()` bytes came out. If not, what
    /// `dst` holds is not specified.
    pub fn decompress(&mut self, format: CompressorFormat, src: &[u8], dst: &mut [u8]) -> bool {
        match format {
            #[cfg(feature = "blosclz")]
            CompressorFormat::Blosclz => blosclz::decompress(src, dst),
            #[cfg(feature = "lz4")]
            CompressorFormat::Lz4 => lz4::decompress(src, dst),
            #[cfg(feature = "snappy")]
            CompressorFormat::Snappy => self.snappy.decompress(src, dst),
            #[cfg(feature = "zlib")]
            CompressorFormat::Zlib => self.zlib.decompress(src, dst),
            #[cfg(feature = "zstd")]
            CompressorFormat::Zstd => self.zstd.decompress(src, dst),
            #[cfg(not(all(
                feature = "blosclz",
                feature = "lz4",
                feature = "snappy",
                feature = "zlib",
                feature = "zstd"
            )))]
            _ => {
                let _ = (src, dst);
                false
            }
        }
    }

    /// The same for a stream that was compressed with a dictionary. `false` for formats without.
    pub fn decompress_with(
        &mut self,
        format: CompressorFormat,
        dictionary: &[u8],
        src: &[u8],
        dst: &mut [u8],
    ) -> bool {
        match format {
            #[cfg(feature = "lz4")]
            CompressorFormat::Lz4 => lz4::decompress_with(dictionary, src, dst),
            #[cfg(feature = "zstd")]
            CompressorFormat::Zstd => self.zstd.decompress_with(dictionary, src, dst),
            _ => {
                let _ = (dictionary, src, dst);
                false
            }
        }
    }
}
