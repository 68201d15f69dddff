//! Bounds on the memory and the work that an input may demand.

use std::fmt;

use blosc1::{ChunkDecoder, MAX_NBYTES};

/// Bounds on what a reader accepts from an input. Exceeding one is an error that names it.
///
/// Memory is allocated as bytes arrive, never because a header claims a length; these limits bound
/// the rest.
///
/// | limit | default |
/// |---|---|
/// | [`chunk`](Self::chunk) | 2 GiB less 17 bytes, the bound of the format |
/// | [`block`](Self::block) | 256 MiB |
/// | [`metadata`](Self::metadata) | 64 MiB |
/// | [`offsets`](Self::offsets) | 256 MiB: 32 million chunks |
/// | [`ratio`](Self::ratio) | any |
/// | [`total`](Self::total) | any |
///
/// Writers have limits, too, and refuse what a reader with the same limits would refuse. They check
/// `chunk`, `metadata` and `offsets`; the others do not restrict what is written with the defaults.
/// To write more than the defaults allow, raise a limit for the writer and for every reader.
///
/// ```
/// use bloscpack_wire::Limits;
///
/// let strict = Limits::new().chunk(16 << 20);
/// assert_eq!(strict.block, 256 << 20);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// Uncompressed bytes of a chunk.
    pub chunk: u32,
    /// Uncompressed bytes of a block within a chunk. A decoder may allocate two blocks, or more for
    /// several filters.
    pub block: u32,
    /// Bytes of metadata, both in its stored form and unpacked.
    pub metadata: u32,
    /// Bytes of the offsets of counted chunks. In memory, each chunk of a frame takes 16 bytes, and
    /// 24 while its index is read.
    pub offsets: u64,
    /// Uncompressed bytes of a chunk per stored byte. A chunk of zeros may legitimately take 32
    /// bytes at any length. A chunk that exists only in a frame's index stores nothing and is not
    /// counted.
    pub ratio: u32,
    /// Uncompressed bytes of all chunks of an input together.
    ///
    /// Sequential readers return all data before the chunk that exceeds it. Readers by position,
    /// frames and datasets are not opened. Records that are read by number are bounded by `chunk`
    /// alone, and `bloscpack::recover::recover` ignores this limit.
    pub total: u64,
}

impl Limits {
    /// The defaults in the table above.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            chunk: MAX_NBYTES,
            block: 256 << 20,
            metadata: 64 << 20,
            offsets: 256 << 20,
            ratio: u32::MAX,
            total: u64::MAX,
        }
    }

    /// The larger of both, limit by limit.
    ///
    /// ```
    /// use bloscpack_wire::Limits;
    ///
    /// let both = Limits::new().chunk(1).metadata(100 << 20).max(Limits::new());
    /// assert_eq!(both, Limits::new().metadata(100 << 20));
    /// ```
    #[must_use]
    pub fn max(self, other: Self) -> Self {
        Self {
            chunk: self.chunk.max(other.chunk),
            block: self.block.max(other.block),
            metadata: self.metadata.max(other.metadata),
            offsets: self.offsets.max(other.offsets),
            ratio: self.ratio.max(other.ratio),
            total: self.total.max(other.total),
        }
    }

    /// Sets the limit `chunk`, in uncompressed bytes.
    #[must_use]
    pub const fn chunk(mut self, bytes: u32) -> Self {
        self.chunk = bytes;
        self
    }

    /// Sets the limit `block`, in uncompressed bytes.
    #[must_use]
    pub const fn block(mut self, bytes: u32) -> Self {
        self.block = bytes;
        self
    }

    /// Sets the limit `metadata`, in bytes.
    #[must_use]
    pub const fn metadata(mut self, bytes: u32) -> Self {
        self.metadata = bytes;
        self
    }

    /// Sets the limit `offsets`, in bytes: 8 per chunk.
    #[must_use]
    pub const fn offsets(mut self, bytes: u64) -> Self {
        self.offsets = bytes;
        self
    }

    /// Sets the limit `ratio`, in uncompressed bytes per stored byte.
    #[must_use]
    pub const fn ratio(mut self, ratio: u32) -> Self {
        self.ratio = ratio;
        self
    }

    /// Sets the limit `total`, in uncompressed bytes.
    #[must_use]
    pub const fn total(mut self, bytes: u64) -> Self {
        self.total = bytes;
        self
    }

    /// A decoder with the limits `block` and `ratio`.
    pub fn decoder(&self) -> ChunkDecoder {
        ChunkDecoder::with_max_block(self.block).max_ratio(self.ratio)
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self::new()
    }
}

/// One of the [`Limits`], named like its field.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Limit {
    /// [`Limits::chunk`].
    Chunk,
    /// [`Limits::block`].
    Block,
    /// [`Limits::metadata`].
    Metadata,
    /// [`Limits::offsets`].
    Offsets,
    /// [`Limits::ratio`].
    Ratio,
    /// [`Limits::total`].
    Total,
}

impl fmt::Display for Limit {
    /// The part of the input that the limit bounds, with an article.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Chunk => "a chunk",
            Self::Block => "a block",
            Self::Metadata => "metadata",
            Self::Offsets => "an offset table",
            Self::Ratio => "a compression ratio",
            Self::Total => "content",
        })
    }
}
