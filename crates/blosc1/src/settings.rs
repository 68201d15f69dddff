//! How to encode chunks.

use super::{ChunkError, Compressor, Filter};

/// How a [`ChunkEncoder`](super::ChunkEncoder) compresses.
///
/// ```
/// use blosc1::{ChunkEncoder, ChunkSettings, Compressor, Filter};
///
/// let settings = ChunkSettings {
///     compressor: Compressor::Zstd,
///     level: 3,
///     filter: Filter::Bit,
///     typesize: 2,
///     blocksize: None,
/// };
/// let mut encoder = ChunkEncoder::new(settings)?;
/// let header = encoder.encode(&[7; 5000], &mut Vec::new())?;
/// assert!(header.ctbytes < 100);
/// # Ok::<(), blosc1::ChunkError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChunkSettings {
    /// What compresses the streams.
    pub compressor: Compressor,
    /// 0 (pure copy) to 9 (smallest); what it means beyond that is the compressor's affair.
    pub level: u8,
    /// What is done to a block beforehand.
    pub filter: Filter,
    /// Bytes of one element, 1 to 255. A partial read by other tools counts in these.
    pub typesize: u8,
    /// Bytes of a block, or `None` to choose by compressor and level. At least 128 and at least
    /// `typesize` are used, rounded down to whole elements.
    pub blocksize: Option<u32>,
}

impl Default for ChunkSettings {
    /// LZ4 (or the first compressor of this build) at its default level over shuffled elements of 8 bytes:
    /// the least time to write data and read it back, as measured in `docs/defaults.md`.
    fn default() -> Self {
        let available = |compressor: &Compressor| compressor.is_available();
        let compressor = [Compressor::Lz4]
            .into_iter()
            .chain(Compressor::ALL)
            .find(available)
            .unwrap_or(Compressor::Blosclz);
        Self {
            compressor,
            level: compressor.default_level(),
            filter: Filter::Byte,
            typesize: 8,
            blocksize: None,
        }
    }
}

impl ChunkSettings {
    /// Refuses what cannot be encoded.
    pub(super) fn check(&self) -> Result<(), ChunkError> {
        if self.level > 9 {
            return Err(ChunkError::Level { found: self.level });
        }
        if self.typesize == 0 {
            return Err(ChunkError::Typesize);
        }
        if !self.compressor.is_available() {
            return Err(ChunkError::NotBuilt {
                feature: self.compressor.format().name(),
            });
        }
        Ok(())
    }
}
