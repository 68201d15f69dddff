//! The settings of the Blosc 1 encoder.

use super::{ChunkError, Compressor, Filter};

/// How [`compress`](super::compress) and [`ChunkEncoder`](super::ChunkEncoder) make a Blosc 1
/// chunk.
///
/// The most important setting is the [`typesize`](Self::typesize): the filters work element by
/// element, so a wrong size costs most of the compression. It never affects correctness.
/// [`Tuner`](super::Tuner) chooses settings by a sample of the data.
///
/// | setting | default | range |
/// |---|---|---|
/// | `compressor` | LZ4, or the first compressor of the build | all that the build can write |
/// | `level` | [`Compressor::default_level`] | 0 to 9 |
/// | `filter` | [`Filter::Byte`] (shuffle) | none, byte, bit |
/// | `typesize` | 8 | 1 to 255 |
/// | `blocksize` | `None`: chosen by compressor, level and typesize | any; adjusted |
/// | `split` | [`SplitMode::ForwardCompat`] | any |
///
/// The encoder checks the ranges; the setters do not.
///
/// ```
/// use blosc1::{ChunkSettings, Compressor, Filter};
///
/// let settings = ChunkSettings::default()
///     .compressor(Compressor::Zstd)
///     .level(3)
///     .filter(Filter::Bit)
///     .typesize(2);
/// let chunk = blosc1::compress(&[7; 5000], settings)?;
/// assert!(chunk.len() < 100);
/// # Ok::<(), blosc1::ChunkError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ChunkSettings {
    /// The compressor, LZ4 by default.
    pub compressor: Compressor,
    /// The compression level, from 0 (store the data as a pure copy) to 9 (smallest output). Each
    /// compressor interprets it in its own way; Snappy ignores it.
    pub level: u8,
    /// The filter applied to each block before compression.
    pub filter: Filter,
    /// Bytes of one element, the unit of the filters and of
    /// [`decompress_range`](super::decompress_range). The data need not be a whole number of
    /// elements.
    pub typesize: u8,
    /// Uncompressed bytes of a block, or `None` to choose them.
    ///
    /// A value below 128 or `typesize` is raised, one above the data or 715,827,542 (the limit of
    /// C-Blosc) is lowered, and the result is rounded down to whole elements. Smaller blocks make
    /// partial reads cheaper, larger ones compress better.
    pub blocksize: Option<u32>,
    /// Which blocks are split into streams.
    pub split: SplitMode,
}

/// Which blocks of a Blosc 1 chunk are split into one stream for each byte of an element.
///
/// Whatever the mode, a block is split only if its elements are at most 16 bytes long, it has at
/// least 128 of them, and it is not a short last one. Splitting shuffled data helps fast
/// compressors. Every reader handles both forms.
///
/// ```
/// use blosc1::{ChunkSettings, Compressor, SplitMode};
///
/// let data: Vec<u8> = (0..10_000_u64).flat_map(u64::to_le_bytes).collect();
/// let is_split = |settings| -> Result<bool, blosc1::ChunkError> {
///     Ok(blosc1::read_header(&blosc1::compress(&data, settings)?)?.is_split())
/// };
/// let lz4 = ChunkSettings::default();
/// let zstd = lz4.compressor(Compressor::Zstd).level(4);
/// assert!(is_split(lz4)? && !is_split(zstd)?);
/// assert!(is_split(zstd.split(SplitMode::Always))?);
/// # Ok::<(), blosc1::ChunkError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum SplitMode {
    /// Splits for all compressors except Zstd, as C-Blosc does by default.
    #[default]
    ForwardCompat,
    /// Splits for blosclz and Snappy only.
    Auto,
    /// Splits for every compressor.
    Always,
    /// Splits no block.
    Never,
}

impl Default for ChunkSettings {
    /// LZ4 at its default level with shuffled elements of 8 bytes; in a build that cannot write
    /// LZ4, the first compressor of [`Compressor::ALL`] that it can.
    ///
    /// In the measurements of the project, LZ4 took the least time to write data and read it back.
    fn default() -> Self {
        let available = |compressor: &Compressor| compressor.is_available();
        let compressor = [Compressor::Lz4]
            .into_iter()
            .chain(Compressor::ALL)
            .find(available)
            // A build without compressors: the encoder reports this one as missing.
            .unwrap_or(Compressor::Blosclz);
        Self {
            compressor,
            level: compressor.default_level(),
            filter: Filter::Byte,
            typesize: 8,
            blocksize: None,
            split: SplitMode::default(),
        }
    }
}

impl ChunkSettings {
    /// Sets the compressor. The level does not change; [`Compressor::default_level`] suits each
    /// compressor.
    #[must_use]
    pub const fn compressor(mut self, compressor: Compressor) -> Self {
        self.compressor = compressor;
        self
    }

    /// Sets the compression level, 0 to 9.
    #[must_use]
    pub const fn level(mut self, level: u8) -> Self {
        self.level = level;
        self
    }

    /// Sets the filter that is applied before compression.
    #[must_use]
    pub const fn filter(mut self, filter: Filter) -> Self {
        self.filter = filter;
        self
    }

    /// Sets the bytes of one element, 1 to 255.
    #[must_use]
    pub const fn typesize(mut self, typesize: u8) -> Self {
        self.typesize = typesize;
        self
    }

    /// Sets the uncompressed bytes of a block; `None` to choose them by compressor, level and
    /// typesize.
    ///
    /// ```
    /// use blosc1::ChunkSettings;
    ///
    /// let settings = ChunkSettings::default().typesize(8).blocksize(Some(1001));
    /// let chunk = blosc1::compress(&[7; 5000], settings)?;
    /// assert_eq!(blosc1::read_header(&chunk)?.blocksize, 1000); // whole elements
    /// # Ok::<(), blosc1::ChunkError>(())
    /// ```
    #[must_use]
    pub const fn blocksize(mut self, blocksize: Option<u32>) -> Self {
        self.blocksize = blocksize;
        self
    }

    /// Sets which blocks are split into streams.
    ///
    /// ```
    /// use blosc1::{ChunkSettings, SplitMode};
    ///
    /// let settings = ChunkSettings::default().split(SplitMode::Never);
    /// let chunk = blosc1::compress(&[7; 5000], settings)?;
    /// assert!(!blosc1::read_header(&chunk)?.is_split());
    /// # Ok::<(), blosc1::ChunkError>(())
    /// ```
    #[must_use]
    pub const fn split(mut self, split: SplitMode) -> Self {
        self.split = split;
        self
    }

    /// Refuses a level above 9, a typesize of 0, and a compressor that this build cannot write.
    pub(super) fn check(&self) -> Result<(), ChunkError> {
        if self.level > 9 {
            return Err(ChunkError::Level { found: self.level });
        }
        if self.typesize == 0 {
            return Err(ChunkError::Typesize);
        }
        if !self.compressor.is_available() {
            return Err(ChunkError::not_built(self.compressor));
        }
        Ok(())
    }
}
