//! The 16 bytes that open a chunk.
//!
//! ```text
//!    0          1           2       3          4..8      8..12       12..16
//!  +----------+-----------+-------+----------+---------+-----------+-----------+
//!  | version  | versionlz | flags | typesize | nbytes  | blocksize | ctbytes   |
//!  | 2; 3..=5 | 1         |       | 1..=255  | of data | of a full | of the    |
//!  | Blosc 2  |           |       |          |         | block     | chunk     |
//!  +----------+-----------+-------+----------+---------+-----------+-----------+
//!                             |                u32, little-endian, at most 2^31 - 1
//!   bit 0  0x01  shuffle      |
//!   bit 1  0x02  pure copy: header, then the data; the filters are not applied
//!   bit 2  0x04  bitshuffle
//!   bit 3  0x08  reserved; Blosc 2: delta
//!   bit 4  0x10  blocks are not split
//!   bits 5-7     compressor: 0 blosclz, 1 lz4 (and lz4hc), 2 snappy, 3 zlib, 4 zstd
//! ```
//!
//! A block is **split** into `typesize` streams if bit 4 is clear, `typesize` is at most 16, a
//! block has at least 128 elements and is not a short last one. Files older than bit 4 have it
//! clear and follow the same rule. Blosc 2 goes by bit 4 alone.
//!
//! Blosc 2 (versions 3 to 5) sets bits 0 and 2 together where 16 further bytes follow, the
//! [`ChunkExtension`](super::ChunkExtension): filters and much else are then told there.

use super::layout::{self, Layout};
use super::{ChunkError, CompressorFormat, Filter};

/// Bytes in a chunk's header, without the 16 more that most chunks of Blosc 2 have.
pub const HEADER_LEN: usize = 16;
/// Bytes in a chunk's header with those.
pub(super) const EXTENDED_LEN: usize = 32;

/// The most bytes of data that a chunk can hold: 2³¹ − 1, less a header.
pub const MAX_NBYTES: u32 = 2_147_483_631;

/// Format versions of Blosc 2 with a table of blocks: alpha, beta and stable.
const BLOSC2_FIRST: u8 = 3;
pub(super) const BLOSC2_STABLE: u8 = 5;
/// The one version that Blosc 2 has written beyond those, with blocks of any length. Still others
/// are no Blosc, and most likely damage.
const BLOSC2_VARIABLE: u8 = 6;
/// Format version that Blosc 1.0 and all later 1.x write.
pub(super) const VERSION: u8 = 2;
/// Version of the streams, the same for all compressors.
pub(super) const VERSIONLZ: u8 = 1;

pub(super) const FLAG_SHUFFLE: u8 = 0x01;
pub(super) const FLAG_PURE_COPY: u8 = 0x02;
pub(super) const FLAG_BITSHUFFLE: u8 = 0x04;
/// Delta in Blosc 2, reserved in Blosc 1.
pub(super) const FLAG_DELTA: u8 = 0x08;
pub(super) const FLAG_UNSPLIT: u8 = 0x10;
pub(super) const FORMAT_SHIFT: u32 = 5;
/// Both shuffles at once: 16 further bytes of header follow.
pub(super) const FLAGS_EXTENDED: u8 = FLAG_SHUFFLE | FLAG_BITSHUFFLE;

/// The header of a chunk of Blosc 1, or the first 16 bytes of that of a chunk of Blosc 2.
///
/// [`parse`](Self::parse) gives only headers that can be true; the fields can be set freely.
///
/// ```
/// use blosc1::{ChunkHeader, CompressorFormat, Filter};
///
/// // What bcolz 1.2.1 wrote before `3.25` as one float64.
/// let bytes = [0x02, 0x01, 0x33, 0x08, 8, 0, 0, 0, 8, 0, 0, 0, 24, 0, 0, 0];
/// let header = ChunkHeader::parse(&bytes)?;
/// assert!(header.is_pure_copy());
/// assert_eq!(header.compressor_format(), Some(CompressorFormat::Lz4));
/// assert_eq!(header.filter(), Filter::Byte);
/// assert_eq!(header.to_bytes(), bytes);
/// # Ok::<(), blosc1::ChunkError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ChunkHeader {
    /// Version of the chunk format: 1 or 2, and 3 to 5 in Blosc 2.
    pub version: u8,
    /// Version of the compressor's format, 1.
    pub versionlz: u8,
    /// Filter, compressor and how they were used.
    pub flags: u8,
    /// Bytes of one element, 1 to 255.
    pub typesize: u8,
    /// Bytes of data, before compression.
    pub nbytes: u32,
    /// Bytes of data in every block but a short last one.
    pub blocksize: u32,
    /// Bytes of the chunk, this header included.
    pub ctbytes: u32,
}

impl ChunkHeader {
    /// The chunk that ends a Bloscpack stream whose number of chunks is unknown: a pure copy of
    /// nothing with a typesize of 0, which no Blosc encoder gives.
    pub const END_MARK: [u8; HEADER_LEN] = [2, 1, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 16, 0, 0, 0];

    /// Reads a header and checks all that the 16 bytes alone can tell.
    ///
    /// That includes that `nbytes` can come out of `ctbytes` at all, so that nobody need set
    /// memory aside for a gigabyte that 20 bytes promise. Of an [extended](Self::is_extended) header
    /// that cannot be told: Blosc 2 keeps any number of equal values in 32 bytes.
    ///
    /// # Errors
    ///
    /// [`Unsupported`](super::Fault::Unsupported) if the chunk is of version 6 or has a
    /// reserved flag; [`Damaged`](super::Fault::Damaged) if the fields contradict each other.
    pub fn parse(bytes: &[u8; HEADER_LEN]) -> Result<Self, ChunkError> {
        let [version, versionlz, flags, typesize, sizes @ ..] = *bytes;
        let [n0, n1, n2, n3, b0, b1, b2, b3, c0, c1, c2, c3] = sizes;
        let header = Self {
            version,
            versionlz,
            flags,
            typesize,
            nbytes: u32::from_le_bytes([n0, n1, n2, n3]),
            blocksize: u32::from_le_bytes([b0, b1, b2, b3]),
            ctbytes: u32::from_le_bytes([c0, c1, c2, c3]),
        };
        if !header.is_end_mark() {
            header.check_kind()?;
            header.check_sizes()?;
        }
        Ok(header)
    }

    /// The header as it stands in a file.
    #[must_use]
    pub fn to_bytes(&self) -> [u8; HEADER_LEN] {
        let [n0, n1, n2, n3] = self.nbytes.to_le_bytes();
        let [b0, b1, b2, b3] = self.blocksize.to_le_bytes();
        let [c0, c1, c2, c3] = self.ctbytes.to_le_bytes();
        let (v, z, f, t) = (self.version, self.versionlz, self.flags, self.typesize);
        [v, z, f, t, n0, n1, n2, n3, b0, b1, b2, b3, c0, c1, c2, c3]
    }

    /// Whether the data follows the header as it is, whatever filter and compressor are named.
    #[must_use]
    pub const fn is_pure_copy(&self) -> bool {
        self.flags & FLAG_PURE_COPY != 0
    }

    /// Whether Blosc 2 wrote the chunk.
    ///
    /// ```
    /// use blosc1::ChunkHeader;
    ///
    /// let bytes = [5, 1, 7, 1, 0, 0, 0, 0, 0, 0, 0, 0, 32, 0, 0, 0];
    /// let header = ChunkHeader::parse(&bytes)?;
    /// assert!(header.is_blosc2() && header.is_extended());
    /// # Ok::<(), blosc1::ChunkError>(())
    /// ```
    #[must_use]
    pub const fn is_blosc2(&self) -> bool {
        self.version >= BLOSC2_FIRST
    }

    /// Whether 16 further bytes of header follow, a [`ChunkExtension`](super::ChunkExtension).
    #[must_use]
    pub const fn is_extended(&self) -> bool {
        self.is_blosc2() && self.flags & FLAGS_EXTENDED == FLAGS_EXTENDED
    }

    /// Bytes of the whole header: 16, or 32 if it is [extended](Self::is_extended).
    #[must_use]
    #[allow(clippy::len_without_is_empty, reason = "no header is empty")]
    pub const fn len(&self) -> usize {
        if self.is_extended() {
            EXTENDED_LEN
        } else {
            HEADER_LEN
        }
    }

    /// The filter that was asked for when the chunk was written (a pure copy is not filtered).
    /// [`None`](Filter::None) if the header is [extended](Self::is_extended), which has a pipeline
    /// of them.
    ///
    /// Shuffle wins where both flags are set, except for elements of one byte, which it leaves
    /// alone.
    #[must_use]
    pub const fn filter(&self) -> Filter {
        let byte = self.flags & FLAG_SHUFFLE != 0;
        let bit = self.flags & FLAG_BITSHUFFLE != 0;
        match (byte, bit) {
            (true, true) if self.is_extended() => Filter::None,
            (true, true) if self.typesize > 1 => Filter::Byte,
            (_, true) => Filter::Bit,
            (true, false) => Filter::Byte,
            (false, false) => Filter::None,
        }
    }

    /// What the streams are compressed with; `None` for the three numbers without a meaning, and
    /// in Blosc 2 for that of Snappy.
    #[must_use]
    pub const fn compressor_format(&self) -> Option<CompressorFormat> {
        match CompressorFormat::from_code(self.format_code()) {
            Some(CompressorFormat::Snappy) if self.is_blosc2() => None,
            format => format,
        }
    }

    /// Whether there are streams to decompress as far as these 16 bytes can tell.
    pub(super) const fn has_streams(&self) -> bool {
        !self.is_pure_copy() && self.nbytes > 0
    }

    /// Whether the chunk is long enough for streams besides. Special values are not, unless there is
    /// a long value and few blocks.
    pub fn may_have_streams(&self) -> bool {
        let least = Layout::of(self).smallest_chunk();
        self.has_streams() && u64::from(self.ctbytes) >= least
    }

    /// The number of the format, meaningful or not.
    pub(super) const fn format_code(&self) -> u8 {
        self.flags >> FORMAT_SHIFT
    }

    /// Whether full blocks have one stream per byte of an element instead of a single one.
    #[must_use]
    pub const fn is_split(&self) -> bool {
        self.flags & FLAG_UNSPLIT == 0
            && (self.is_blosc2() || Layout::can_split(self.typesize, self.blocksize))
    }

    /// How many blocks the data is cut into, a short last one included.
    #[must_use]
    pub const fn nblocks(&self) -> u32 {
        layout::nblocks(self.nbytes, self.blocksize)
    }

    /// Whether this is the [`END_MARK`](Self::END_MARK).
    ///
    /// ```
    /// use blosc1::ChunkHeader;
    ///
    /// assert!(ChunkHeader::parse(&ChunkHeader::END_MARK)?.is_end_mark());
    /// # Ok::<(), blosc1::ChunkError>(())
    /// ```
    #[must_use]
    pub fn is_end_mark(&self) -> bool {
        self.to_bytes() == Self::END_MARK
    }

    /// Refuses other versions of the format.
    fn check_kind(&self) -> Result<(), ChunkError> {
        match self.version {
            BLOSC2_FIRST..=BLOSC2_STABLE => Ok(()),
            BLOSC2_VARIABLE => Err(ChunkError::Blosc2 {
                version: self.version,
            }),
            0 | 3.. => Err(ChunkError::NotBlosc {
                version: self.version,
            }),
            _ if self.flags & FLAG_DELTA != 0 => {
                Err(ChunkError::ReservedFlag { flags: self.flags })
            }
            _ => Ok(()),
        }
    }

    /// Refuses sizes that contradict each other. Each would otherwise become a division by zero,
    /// a read or write out of bounds, or memory by a header's word.
    fn check_sizes(&self) -> Result<(), ChunkError> {
        let wrong = |field, found, expected| {
            Err(ChunkError::Header {
                field,
                found,
                expected,
            })
        };
        if self.typesize == 0 {
            return wrong("typesize", 0, "1 to 255");
        }
        if self.nbytes > MAX_NBYTES {
            return wrong("nbytes", self.nbytes, "at most 2147483631");
        }
        let least = self.len_u32();
        if self.ctbytes < least || self.ctbytes > MAX_NBYTES + 16 {
            return wrong("ctbytes", self.ctbytes, self.ctbytes_range());
        }
        if self.nbytes == 0 {
            // C-Blosc writes a block size of 1 here, others 0; nothing depends on it.
            return match self.ctbytes == least || self.is_extended() {
                true => Ok(()),
                false => wrong("ctbytes", self.ctbytes, "16, as nbytes is 0"),
            };
        }
        // A block size of 0 would be a division by zero wherever blocks are counted, so that it is
        // refused even of a chunk of equal values, which has no blocks.
        if self.blocksize == 0 || (self.blocksize > self.nbytes && !self.is_blosc2()) {
            return wrong("blocksize", self.blocksize, "1 to nbytes");
        }
        if self.is_pure_copy() {
            return match self.ctbytes - least == self.nbytes {
                true => Ok(()),
                false => wrong("ctbytes", self.ctbytes, "nbytes and header for a pure copy"),
            };
        }
        // What more there is to check of an extended header depends on its other half.
        match self.is_extended() {
            true => Ok(()),
            false => self.check_streams(),
        }
    }

    /// Refuses sizes that streams cannot have.
    pub(super) fn check_streams(&self) -> Result<(), ChunkError> {
        let wrong = |field, found, expected| {
            Err(ChunkError::Header {
                field,
                found,
                expected,
            })
        };
        let layout = Layout::of(self);
        if layout.split && !layout.blocksize.is_multiple_of(u32::from(self.typesize)) {
            // C-Blosc leaves the bytes over as they happen to be in memory.
            return wrong(
                "blocksize",
                self.blocksize,
                "a multiple of typesize for split blocks",
            );
        }
        if u64::from(self.ctbytes) < layout.smallest_chunk() {
            return wrong("ctbytes", self.ctbytes, "more for so many blocks");
        }
        if self.is_extended() {
            // A stream of one byte over and over takes 5 bytes whatever its length.
            return Ok(());
        }
        let ratio = self
            .compressor_format()
            .map_or(u64::MAX, CompressorFormat::largest_ratio);
        if u64::from(self.nbytes) > u64::from(self.ctbytes).saturating_mul(ratio) {
            return wrong("nbytes", self.nbytes, "less from so short a chunk");
        }
        Ok(())
    }

    /// Bytes of the whole header, as positions in a chunk are counted.
    pub const fn len_u32(&self) -> u32 {
        if self.is_extended() { 32 } else { 16 }
    }

    const fn ctbytes_range(&self) -> &'static str {
        if self.is_extended() {
            "32 to 2147483647"
        } else {
            "16 to 2147483647"
        }
    }
}
