//! A parsed chunk. Every position in it is checked before it is used.
//!
//! [`ChunkView::open`] parses the header and compares lengths; the table and the streams are
//! checked when a block is asked for. No method allocates.

use std::ops::Range;

use super::extension::{ChunkExtension, SpecialKind};
use super::header::{BLOSC2_STABLE, FLAG_DELTA, VERSIONLZ};
use super::layout::{EXTENDED_LEN, HEADER_LEN, Layout};
use super::names::PLUG_IN;
use super::pipeline::InverseFilters;
use super::scratch::to_u32;
use super::special::PlainData;
use super::{ChunkError, ChunkHeader, CompressorFormat};

/// The longest dictionary that any C-Blosc2 reads.
const MAX_DICTIONARY: u32 = 128 << 10;

/// A chunk with a consistent header.
pub(super) struct ChunkView<'a> {
    pub header: ChunkHeader,
    /// The special value that the data consists of, if any.
    pub special: Option<SpecialKind>,
    /// The number of the compressor in an extended header, and its parameter.
    pub compressor: Option<(u8, u8)>,
    /// Whether an extended header declares a dictionary.
    declares_dictionary: bool,
    pub layout: Layout,
    /// The filters to undo; none if the chunk has no streams.
    pub filters: InverseFilters,
    /// The dictionary of the compressor; `None` if the chunk has none, or its bytes are not
    /// present.
    pub dictionary: Option<&'a [u8]>,
    /// The first byte at which a block may begin: the end of the table and of the dictionary.
    body: usize,
    pub chunk: &'a [u8],
}

impl<'a> ChunkView<'a> {
    /// Parses the header of a complete chunk. Its length must be exactly the header's `ctbytes`.
    #[inline(always)]
    pub fn open(chunk: &'a [u8]) -> Result<Self, ChunkError> {
        let view = Self::open_head(chunk)?;
        let (found, expected) = (chunk.len(), view.header.ctbytes as usize);
        if found < expected {
            return Err(ChunkError::CutShort { found, expected });
        }
        if found > expected {
            return Err(ChunkError::TooLong { found, expected });
        }
        if view.dictionary.is_none() && view.has_dictionary() {
            let what = "the dictionary of a complete chunk is missing";
            return Err(ChunkError::Bug { what });
        }
        Ok(view)
    }

    /// Parses a chunk that contains at least the header, the block table and the length of the
    /// dictionary.
    #[inline(always)]
    pub fn open_head(chunk: &'a [u8]) -> Result<Self, ChunkError> {
        let header = parse_header(chunk)?;
        if header.is_blosc2() && !cfg!(feature = "blosc2") {
            let feature = "blosc2";
            return Err(ChunkError::NotBuilt { feature });
        }
        let layout = header.layout();
        let (mut special, mut compressor) = (None, None);
        let (mut declares_dictionary, mut dictionary) = (false, None);
        let (mut filters, mut body) = (InverseFilters::default(), 0);
        if header.is_extended() {
            let extension = parse_extension(header, chunk)?;
            special = extension.special();
            compressor = Some((extension.compressor, extension.compressor_meta));
            declares_dictionary = extension.has_dictionary();
            if header.has_streams() && special.is_none() {
                header.check_streams()?;
                filters = extension
                    .pipeline()?
                    .inverse(header.typesize, header.version);
                body = layout.table_end();
                if declares_dictionary {
                    let range = dictionary_range(body, header.ctbytes, chunk)?;
                    body = range.end;
                    dictionary = chunk.get(range);
                }
            }
        } else if header.has_streams() {
            let delta = header.is_blosc2() && header.flags & FLAG_DELTA != 0;
            let (typesize, version) = (header.typesize, header.version);
            filters = InverseFilters::of_flags(header.filter(), delta, typesize, version);
            body = layout.table_end();
        }
        Ok(Self {
            header,
            special,
            compressor,
            declares_dictionary,
            layout,
            filters,
            dictionary,
            body,
            chunk,
        })
    }

    /// The position of the dictionary, if the chunk has one.
    pub fn dictionary_extent(&self) -> Result<Option<Range<u32>>, ChunkError> {
        if !self.has_dictionary() {
            return Ok(None);
        }
        let start = self.layout.table_end() + 4;
        Ok(Some(to_u32(start)?..to_u32(self.body)?))
    }

    /// Whether the streams depend on a dictionary.
    fn has_dictionary(&self) -> bool {
        self.declares_dictionary && self.has_streams()
    }

    /// Whether the chunk has streams to decompress.
    pub fn has_streams(&self) -> bool {
        self.header.has_streams() && self.special.is_none()
    }

    /// The data, if the chunk is a pure copy or consists of special values.
    pub fn plain(&self) -> Option<PlainData<'a>> {
        let rest = self.chunk.get(self.header.len()..)?;
        if let Some(special) = self.special {
            return Some(PlainData::of(special, self.header.typesize, rest));
        }
        if self.header.is_pure_copy() {
            Some(PlainData::Bytes(rest))
        } else {
            None
        }
    }

    /// The format of the streams.
    ///
    /// # Errors
    ///
    /// Refuses an unknown format, another `versionlz`, a format that this build cannot read, and a
    /// dictionary for a format without dictionaries.
    pub fn format(&self) -> Result<CompressorFormat, ChunkError> {
        let code = self.header.format_code();
        let format = match (self.header.compressor_format(), self.compressor) {
            (Some(format), _) => format,
            (None, Some((id, _))) => CompressorFormat::of_plug_in(id)
                .filter(|_| code == PLUG_IN)
                .ok_or(ChunkError::UserCompressor { id, code })?,
            (None, None) => return Err(ChunkError::UnknownCompressor { code }),
        };
        if self.header.versionlz != VERSIONLZ {
            let found = self.header.versionlz;
            return Err(ChunkError::StreamVersion { format, found });
        }
        if !format.is_available() {
            let feature = format.name();
            return Err(ChunkError::NotBuilt { feature });
        }
        let takes_one = matches!(format, CompressorFormat::Lz4 | CompressorFormat::Zstd);
        if self.declares_dictionary && !takes_one {
            return Err(ChunkError::Dictionary { format });
        }
        Ok(format)
    }

    /// The start of a block according to the table. It is at least `body` and at most `ctbytes`.
    #[inline]
    pub fn start(&self, block: u32) -> Result<u32, ChunkError> {
        let nblocks = self.layout.nblocks();
        if block >= nblocks {
            let found = block;
            return Err(ChunkError::BlockIndex { found, nblocks });
        }
        let slot = self.layout.header_len + 4 * block as usize;
        let start = self.chunk.get(slot..).and_then(<[u8]>::first_chunk);
        let start = start.ok_or(self.cut_short(self.layout.table_end()))?;
        let start = u32::from_le_bytes(*start);
        if (start as usize) < self.body || start > self.header.ctbytes {
            return Err(ChunkError::BlockStart {
                block,
                found: start,
                ctbytes: self.header.ctbytes,
            });
        }
        Ok(start)
    }

    /// The streams of a block.
    ///
    /// Blocks can begin anywhere after the table, in any order: C-Blosc with several threads writes
    /// them in the order in which they are finished.
    #[inline(always)]
    pub fn streams(&self, block: u32) -> Result<Streams<'a>, ChunkError> {
        let start = self.start(block)? as usize;
        let rest = self.chunk.get(start..).ok_or(self.cut_short(start))?;
        // Earlier versions encode repeated bytes differently or not at all, and no reader handles
        // them reliably.
        let runs = self.header.is_extended() && self.header.version >= BLOSC2_STABLE;
        let by_data = self.filters.delta;
        Ok(Streams {
            block,
            rest,
            runs,
            by_data,
        })
    }

    /// All stored bytes on which the decoded block depends: the header, the dictionary, and the
    /// block's streams. With delta, it also depends on the first block.
    pub fn stored(&self, block: u32) -> Result<[&'a [u8]; 3], ChunkError> {
        let len = self.layout.block(block).len();
        let count = self.layout.streams(len);
        let mut streams = self.streams(block)?;
        let all = streams.rest;
        for _ in 0..count {
            streams.next(len / count)?;
        }
        let used = all.len() - streams.rest.len();
        // `open_head` has checked that the header is present.
        let head = &self.chunk[..self.layout.header_len];
        Ok([head, self.dictionary.unwrap_or(&[]), &all[..used]])
    }

    /// The error for a chunk with fewer than `expected` bytes.
    fn cut_short(&self, expected: usize) -> ChunkError {
        let found = self.chunk.len();
        ChunkError::CutShort { found, expected }
    }
}

/// Parses the first 16 bytes of a chunk.
#[inline(always)]
pub(super) fn parse_header(chunk: &[u8]) -> Result<ChunkHeader, ChunkError> {
    let (found, expected) = (chunk.len(), HEADER_LEN);
    let bytes = chunk.first_chunk();
    ChunkHeader::parse(bytes.ok_or(ChunkError::CutShort { found, expected })?)
}

/// Parses the second half of an extended header.
fn parse_extension(header: ChunkHeader, chunk: &[u8]) -> Result<ChunkExtension, ChunkError> {
    let (found, expected) = (chunk.len(), EXTENDED_LEN);
    let bytes = chunk.get(HEADER_LEN..).and_then(<[u8]>::first_chunk);
    ChunkExtension::parse(
        &header,
        bytes.ok_or(ChunkError::CutShort { found, expected })?,
    )
}

/// The position of the dictionary, whose length is at `at`, the end of the table of blocks.
fn dictionary_range(at: usize, ctbytes: u32, chunk: &[u8]) -> Result<Range<usize>, ChunkError> {
    let (found, expected) = (chunk.len(), at + 4);
    let len = chunk.get(at..).and_then(<[u8]>::first_chunk);
    let len = len.ok_or(ChunkError::CutShort { found, expected })?;
    let len = u32::from_le_bytes(*len);
    let is_possible = (1..=MAX_DICTIONARY).contains(&len);
    if !is_possible || expected + len as usize > ctbytes as usize {
        return Err(ChunkError::Header {
            field: "dictionary length",
            found: len,
            expected: "1 to 131072 and within the chunk",
        });
    }
    Ok(expected..expected + len as usize)
}

/// The streams of one block, in order.
pub(super) struct Streams<'a> {
    block: u32,
    rest: &'a [u8],
    /// Whether a length of 0 or less encodes a repeated byte (Blosc 2, version 5).
    runs: bool,
    /// Whether no stream may be longer than its data. This holds for chunks with delta, where each
    /// block reads the streams of the first block again. No writer makes longer ones there.
    by_data: bool,
}

/// The stored form of one stream.
pub(super) enum Stream<'a> {
    /// The data itself.
    Raw(&'a [u8]),
    /// Compressed data.
    Compressed(&'a [u8]),
    /// A repeated byte.
    Run(u8),
}

impl<'a> Streams<'a> {
    /// The next stream, which decompresses to `len` bytes.
    #[inline(always)]
    pub fn next(&mut self, len: usize) -> Result<Stream<'a>, ChunkError> {
        let cut = |found, available| ChunkError::StreamLength {
            block: self.block,
            found,
            available,
        };
        let (length, rest) = self
            .rest
            .split_first_chunk()
            .ok_or(cut(4, self.rest.len()))?;
        let length = u32::from_le_bytes(*length);
        if self.runs && (length == 0 || length > MAX_LENGTH) {
            return self.run(length, rest);
        }
        let (bytes, rest) = rest
            .split_at_checked(length as usize)
            .ok_or(cut(length, rest.len()))?;
        let most = if self.by_data { len } else { longest(len) };
        if bytes.len() > most {
            return Err(cut(length, most));
        }
        self.rest = rest;
        Ok(if bytes.len() == len {
            Stream::Raw(bytes)
        } else {
            Stream::Compressed(bytes)
        })
    }

    /// A repeated byte: length 0 encodes zeros; length -n, followed by an odd token, encodes the
    /// byte n.
    fn run(&mut self, length: u32, rest: &'a [u8]) -> Result<Stream<'a>, ChunkError> {
        self.rest = rest;
        if length == 0 {
            return Ok(Stream::Run(0));
        }
        let byte = u8::try_from(length.wrapping_neg()).ok();
        match (byte, rest.split_first()) {
            (Some(byte), Some((token, rest))) if token & RUN_TOKEN != 0 => {
                self.rest = rest;
                Ok(Stream::Run(byte))
            }
            (_, token) => Err(ChunkError::Run {
                block: self.block,
                found: length,
                token: token.map(|(token, _)| *token),
            }),
        }
    }
}

/// The longest stream that any compressor makes for `len` bytes of data, which are fewer than 2
/// GiB.
///
/// C-Blosc gives Snappy `32 + len + len / 6` bytes of room, and any other compressor the length of
/// the data. Without this bound, all blocks could begin at the same long stream, and decoding would
/// read it once for each block.
fn longest(len: usize) -> usize {
    len + len / 6 + 64
}

/// The largest length of a stream; lengths are signed in Blosc 2.
const MAX_LENGTH: u32 = 0x7FFF_FFFF;
/// The bit that must be set in the byte after a negative length, the token of a repeated byte.
pub(super) const RUN_TOKEN: u8 = 0x01;
