//! The 16 bytes that begin every chunk. The crate page has the picture of the fields.
//!
//! A Blosc 1 block is **split** into `typesize` streams if flag 0x10 is clear, `typesize` is at
//! most 16, and the block has at least 128 elements and is not a short last one. Chunks from before
//! flag 0x10 was introduced have it clear and follow the same rule. In Blosc 2, flag 0x10 alone
//! decides.

use super::layout::{self, EXTENDED_LEN, HEADER_LEN, Layout, MAX_NBYTES};
use super::{ChunkError, CompressorFormat, Filter};

/// Format versions of Blosc 2 with a block table: 3 (alpha), 4 (beta) and 5 (stable).
const BLOSC2_FIRST: u8 = 3;
pub(super) const BLOSC2_STABLE: u8 = 5;
/// The only later version that Blosc 2 has written, with blocks of variable length. Any other
/// number is not a Blosc version, and most likely damage.
const BLOSC2_VARIABLE: u8 = 6;
/// Format version that C-Blosc 1.0 and all later 1.x write.
pub(super) const VERSION: u8 = 2;
/// Version of the compressed streams, the same for all compressors.
pub(super) const VERSIONLZ: u8 = 1;

pub(super) const FLAG_SHUFFLE: u8 = 0x01;
pub(super) const FLAG_PURE_COPY: u8 = 0x02;
pub(super) const FLAG_BITSHUFFLE: u8 = 0x04;
/// Delta in Blosc 2, reserved in Blosc 1.
pub(super) const FLAG_DELTA: u8 = 0x08;
pub(super) const FLAG_UNSPLIT: u8 = 0x10;
/// Position of the three bits that contain the number of the compressor.
pub(super) const FORMAT_SHIFT: u32 = 5;
/// Both shuffles at once: 16 more bytes of header follow. In Blosc 1, this combination has no such
/// meaning.
pub(super) const FLAGS_EXTENDED: u8 = FLAG_SHUFFLE | FLAG_BITSHUFFLE;

/// The header of a Blosc 1 chunk, or the first 16 bytes of the header of a Blosc 2 chunk.
///
/// It shows without decompressing anything how long the data is, how it is cut into blocks, and how
/// it was filtered and compressed. [`read_header`](super::read_header) and [`parse`](Self::parse)
/// return only headers whose fields are consistent. The fields are public and may be changed
/// afterwards; no method checks them again.
///
/// | flag | meaning |
/// |---|---|
/// | 0x01 | shuffle |
/// | 0x02 | pure copy: the data follows the header, and no filter is applied |
/// | 0x04 | bitshuffle; in Blosc 2 together with 0x01: 16 more bytes of header follow |
/// | 0x08 | reserved in Blosc 1, delta in Blosc 2 |
/// | 0x10 | blocks are not split into streams |
/// | 0xe0 | compressor: 0 blosclz, 1 lz4 and lz4hc, 2 snappy (only Blosc 1), 3 zlib, 4 zstd |
///
/// ```
/// use blosc1::{ChunkHeader, CompressorFormat, Filter};
///
/// // The header that bcolz 1.2.1 wrote before the float64 `3.25`.
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
    /// Version of the chunk format: 1 or 2 in Blosc 1, 3 to 5 in Blosc 2.
    pub version: u8,
    /// Version of the compressed streams, always 1. Decoding refuses any other value; parsing does
    /// not.
    pub versionlz: u8,
    /// The bits in the table above. The methods of this type interpret them.
    pub flags: u8,
    /// Bytes of one element, 1 to 255; 0 only in the [`END_MARK`](Self::END_MARK). The data need
    /// not be a whole number of elements.
    pub typesize: u8,
    /// Bytes of uncompressed data, at most [`MAX_NBYTES`].
    pub nbytes: u32,
    /// Uncompressed bytes of each block except for a short last one. At most `nbytes` in Blosc 1;
    /// Blosc 2 may store more. Without data it has no meaning.
    pub blocksize: u32,
    /// Bytes of the whole chunk, including this header.
    pub ctbytes: u32,
}

impl ChunkHeader {
    /// The chunk that ends a Bloscpack stream whose number of chunks is not known in advance
    /// (`docs/format.md`, "End mark").
    ///
    /// It is a pure copy of no data with a typesize of 0, which no Blosc encoder writes. It decodes
    /// to zero bytes.
    pub const END_MARK: [u8; HEADER_LEN] = [2, 1, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 16, 0, 0, 0];

    /// Parses a header and checks that its fields are consistent.
    ///
    /// This includes whether `ctbytes` bytes can decompress to `nbytes` at all, so a damaged header
    /// cannot make a reader allocate a gigabyte for 20 bytes. That check does not apply to an
    /// [extended](Self::is_extended) header, since Blosc 2 stores any number of equal values in 32
    /// bytes. Not checked are the compressor's number and `versionlz`, on which only decoding
    /// depends.
    ///
    /// To read a header from a slice of unknown length, use [`read_header`](super::read_header).
    ///
    /// # Errors
    ///
    /// - [`ChunkError::UnsupportedVersion`] for version 6 and [`ChunkError::ReservedFlag`] for flag
    ///   0x08 in Blosc 1, which are [`Unsupported`](super::Fault::Unsupported);
    /// - [`ChunkError::NotBlosc`] for any other unknown version and [`ChunkError::Header`] for
    ///   sizes that are impossible or contradict each other, which are
    ///   [`Damaged`](super::Fault::Damaged).
    #[inline(always)]
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
        if *bytes != Self::END_MARK {
            header.check_kind()?;
            header.check_sizes()?;
        }
        Ok(header)
    }

    /// The 16 bytes as they are stored in a chunk. The fields are not checked.
    #[must_use]
    pub fn to_bytes(&self) -> [u8; HEADER_LEN] {
        let [n0, n1, n2, n3] = self.nbytes.to_le_bytes();
        let [b0, b1, b2, b3] = self.blocksize.to_le_bytes();
        let [c0, c1, c2, c3] = self.ctbytes.to_le_bytes();
        let (v, z, f, t) = (self.version, self.versionlz, self.flags, self.typesize);
        [v, z, f, t, n0, n1, n2, n3, b0, b1, b2, b3, c0, c1, c2, c3]
    }

    /// Whether the data follows the header uncompressed and unfiltered.
    ///
    /// The header of a pure copy may name a filter and a compressor; they were requested but not
    /// used.
    #[must_use]
    pub const fn is_pure_copy(&self) -> bool {
        self.flags & FLAG_PURE_COPY != 0
    }

    /// Whether the chunk has a format version of Blosc 2 (3 to 5).
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

    /// Whether 16 more bytes of header follow, a [`ChunkExtension`](super::ChunkExtension).
    #[must_use]
    pub const fn is_extended(&self) -> bool {
        self.is_blosc2() && self.flags & FLAGS_EXTENDED == FLAGS_EXTENDED
    }

    /// Bytes of the whole header: 16, or 32 if it is [extended](Self::is_extended). The block table
    /// follows it.
    #[must_use]
    #[expect(clippy::len_without_is_empty, reason = "no header is empty")]
    pub const fn len(&self) -> usize {
        if self.is_extended() {
            EXTENDED_LEN
        } else {
            HEADER_LEN
        }
    }

    /// The filter that the writer of the chunk requested. A [pure copy](Self::is_pure_copy) is
    /// never filtered.
    ///
    /// Returns [`Filter::None`] for an [extended](Self::is_extended) header, whose filters are in
    /// [`ChunkExtension::pipeline`](super::ChunkExtension::pipeline). If a Blosc 1 header has both
    /// flags, shuffle takes precedence, except for elements of one byte, which shuffle does not
    /// change.
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

    /// The format of the compressed streams.
    ///
    /// `None` for the three unassigned numbers and, in Blosc 2, for the number of Snappy. Such a
    /// chunk cannot be decompressed unless it is a pure copy or consists of special values.
    #[must_use]
    pub const fn compressor_format(&self) -> Option<CompressorFormat> {
        match CompressorFormat::from_code(self.format_code()) {
            Some(CompressorFormat::Snappy) if self.is_blosc2() => None,
            format => format,
        }
    }

    /// Whether the chunk has streams, as far as these 16 bytes show: an extension can still declare
    /// special values.
    pub(super) const fn has_streams(&self) -> bool {
        !self.is_pure_copy() && self.nbytes > 0
    }

    /// Whether the chunk may have streams: it is not a pure copy, and is long enough for the
    /// streams of all blocks. Chunks of special values rarely are.
    #[doc(hidden)]
    #[must_use]
    pub fn may_have_streams(&self) -> bool {
        let least = self.layout().smallest_chunk();
        self.has_streams() && u64::from(self.ctbytes) >= least
    }

    /// The number of the format, assigned or not.
    pub(super) const fn format_code(&self) -> u8 {
        self.flags >> FORMAT_SHIFT
    }

    /// Whether full blocks consist of one stream for each byte of an element, instead of a single
    /// stream.
    ///
    /// In Blosc 1, flag 0x10 is not enough: the typesize must be at most 16, and a block must have
    /// at least 128 elements. A short last block is never split.
    #[must_use]
    pub const fn is_split(&self) -> bool {
        self.flags & FLAG_UNSPLIT == 0
            && (self.is_blosc2() || Layout::can_split(self.typesize, self.blocksize))
    }

    /// Number of blocks, including a short last one; 0 if there is no data.
    ///
    /// Pure copies and special values, which have no stored blocks, are counted as if they were cut
    /// in the same way; [`ChunkDecoder::decode_block`](super::ChunkDecoder::decode_block) cuts them
    /// so.
    ///
    /// ```
    /// use blosc1::ChunkSettings;
    ///
    /// let settings = ChunkSettings::default().blocksize(Some(4096));
    /// let chunk = blosc1::compress(&[5; 10_000], settings)?;
    /// assert_eq!(blosc1::read_header(&chunk)?.nblocks(), 3);
    /// # Ok::<(), blosc1::ChunkError>(())
    /// ```
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

    /// How the header cuts the data into blocks and streams.
    #[inline(always)]
    pub(super) fn layout(&self) -> Layout {
        Layout {
            nbytes: self.nbytes,
            // A Blosc 2 block size may exceed the data; the only block then ends with the data.
            blocksize: self.blocksize.min(self.nbytes),
            typesize: self.typesize,
            split: self.is_split(),
            header_len: self.len(),
        }
    }

    /// Refuses unknown format versions, and the flag that Blosc 1 reserves.
    fn check_kind(self) -> Result<(), ChunkError> {
        match self.version {
            BLOSC2_FIRST..=BLOSC2_STABLE => Ok(()),
            BLOSC2_VARIABLE => Err(ChunkError::UnsupportedVersion {
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

    /// Refuses sizes that contradict each other. Each would otherwise lead to a division by zero,
    /// an access out of bounds, or an allocation of a size that only the header claims.
    #[inline(always)]
    fn check_sizes(self) -> Result<(), ChunkError> {
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
            // C-Blosc writes a block size of 1 here, other writers 0; no reader uses it.
            return if self.ctbytes == least || self.is_extended() {
                Ok(())
            } else {
                wrong("ctbytes", self.ctbytes, "16 without data")
            };
        }
        // A block size of 0 would be a division by zero wherever blocks are counted. It is refused
        // even for special values, which have no stored blocks.
        if self.blocksize == 0 || (self.blocksize > self.nbytes && !self.is_blosc2()) {
            return wrong("blocksize", self.blocksize, "1 to nbytes");
        }
        if self.is_pure_copy() {
            return if self.ctbytes - least == self.nbytes {
                Ok(())
            } else {
                wrong(
                    "ctbytes",
                    self.ctbytes,
                    "nbytes plus the header for a pure copy",
                )
            };
        }
        // `ChunkView` continues with `check_streams` after it has parsed the second half.
        if self.is_extended() {
            Ok(())
        } else {
            self.check_streams()
        }
    }

    /// Refuses sizes that are impossible for a chunk with streams.
    #[inline(always)]
    pub(super) fn check_streams(self) -> Result<(), ChunkError> {
        let wrong = |field, found, expected| {
            Err(ChunkError::Header {
                field,
                found,
                expected,
            })
        };
        let layout = self.layout();
        if layout.split && !layout.blocksize.is_multiple_of(u32::from(self.typesize)) {
            // C-Blosc does not write the remaining bytes: they would keep the content of the output
            // buffer.
            return wrong(
                "blocksize",
                self.blocksize,
                "a multiple of typesize for split blocks",
            );
        }
        if u64::from(self.ctbytes) < layout.smallest_chunk() {
            return wrong("ctbytes", self.ctbytes, "more for this many blocks");
        }
        if self.is_extended() {
            // A stream of one repeated byte takes 4 or 5 bytes at any length: there is no largest
            // ratio.
            return Ok(());
        }
        // Decoding refuses a chunk of unknown format, so its ratio does not matter.
        if let Some(format) = self.compressor_format()
            && u64::from(self.nbytes) > u64::from(self.ctbytes) * format.largest_ratio()
        {
            return wrong("nbytes", self.nbytes, "fewer for a chunk this short");
        }
        Ok(())
    }

    /// [`len`](Self::len) as `u32`, the type of positions in a chunk.
    #[doc(hidden)]
    #[must_use]
    pub const fn len_u32(&self) -> u32 {
        if self.is_extended() { 32 } else { 16 }
    }

    /// The possible values of `ctbytes`, for a message.
    const fn ctbytes_range(&self) -> &'static str {
        if self.is_extended() {
            "32 to 2147483647"
        } else {
            "16 to 2147483647"
        }
    }
}
