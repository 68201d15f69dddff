//! A chunk's bytes, with every position that they name checked before it is used.

use std::ops::Range;

use super::extension::ChunkExtension;
use super::header::{BLOSC2_STABLE, EXTENDED_LEN, FLAG_DELTA, HEADER_LEN, VERSIONLZ};
use super::layout::Layout;
use super::pipeline::Undo;
use super::special::Plain;
use super::{ChunkError, ChunkHeader, CompressorFormat};

/// The longest dictionary that any C-Blosc2 reads.
const MAX_DICTIONARY: u32 = 128 << 10;

/// A chunk whose header is sound and whose length is the header's.
pub(super) struct Source<'a> {
    pub header: ChunkHeader,
    pub extension: Option<ChunkExtension>,
    pub layout: Layout,
    /// The filters; none where there are no streams.
    pub undo: Undo,
    /// What the compressor knows beforehand; mostly nothing.
    pub dictionary: &'a [u8],
    /// Where the first block can begin.
    body: usize,
    chunk: &'a [u8],
}

impl<'a> Source<'a> {
    /// Reads the header and compares it with the bytes there are.
    pub fn open(chunk: &'a [u8]) -> Result<Self, ChunkError> {
        let source = Self::open_head(chunk)?;
        let (found, expected) = (chunk.len(), source.header.ctbytes as usize);
        if found < expected {
            return Err(ChunkError::CutShort { found, expected });
        }
        if found > expected {
            return Err(ChunkError::TooLong { found, expected });
        }
        Ok(source)
    }

    /// Reads a chunk of which only the header, the table of blocks and the dictionary's length need
    /// be there.
    pub fn open_head(chunk: &'a [u8]) -> Result<Self, ChunkError> {
        let found = chunk.len();
        let cut = |expected| ChunkError::CutShort { found, expected };
        let bytes = chunk.first_chunk().ok_or(cut(HEADER_LEN))?;
        let header = ChunkHeader::parse(bytes)?;
        let mut source = Self {
            header,
            extension: None,
            layout: Layout::of(&header),
            undo: Undo::default(),
            dictionary: &[],
            body: 0,
            chunk,
        };
        if header.is_extended() {
            source.extend()?;
        } else if header.has_streams() {
            let delta = header.is_blosc2() && header.flags & FLAG_DELTA != 0;
            let (typesize, version) = (header.typesize, header.version);
            source.undo = Undo::of_flags(header.filter(), delta, typesize, version);
            source.body = source.layout.table_end();
        }
        Ok(source)
    }

    /// Reads the further half of the header, and what depends on it.
    fn extend(&mut self) -> Result<(), ChunkError> {
        let (found, expected) = (self.chunk.len(), EXTENDED_LEN);
        let bytes = self.chunk.get(HEADER_LEN..).unwrap_or_default();
        let bytes = bytes
            .first_chunk()
            .ok_or(ChunkError::CutShort { found, expected })?;
        let extension = ChunkExtension::parse(&self.header, bytes)?;
        self.extension = Some(extension);
        if !self.has_streams() {
            return Ok(());
        }
        self.header.check_streams()?;
        let pipeline = extension.pipeline()?;
        self.undo = pipeline.undo(self.header.typesize, self.header.version);
        self.body = self.layout.table_end();
        if extension.has_dictionary() {
            let range = self.dictionary_range()?;
            self.body = range.end;
            // Not there where only the head is.
            self.dictionary = self.chunk.get(range).unwrap_or_default();
        }
        Ok(())
    }

    /// Where the dictionary lies, whose length stands behind the table of blocks.
    fn dictionary_range(&self) -> Result<Range<usize>, ChunkError> {
        let at = self.layout.table_end();
        let (found, expected) = (self.chunk.len(), at.saturating_add(4));
        let len = self.chunk.get(at..).unwrap_or_default().first_chunk();
        let len = len.ok_or(ChunkError::CutShort { found, expected })?;
        let len = u32::from_le_bytes(*len);
        let end = expected.saturating_add(len as usize);
        if len == 0 || len > MAX_DICTIONARY || end > self.header.ctbytes as usize {
            return Err(ChunkError::Header {
                field: "dictionary length",
                found: len,
                expected: "1 to 131072 and within the chunk",
            });
        }
        Ok(expected..end)
    }

    /// Where the dictionary lies, if there is one.
    pub fn dictionary_extent(&self) -> Option<Range<u32>> {
        let at = self.layout.table_end().saturating_add(4);
        let (start, end) = (u32::try_from(at).ok()?, u32::try_from(self.body).ok()?);
        (start < end).then_some(start..end)
    }

    /// Whether there is anything to decompress.
    pub fn has_streams(&self) -> bool {
        let special = self.extension.and_then(|extension| extension.special());
        self.header.has_streams() && special.is_none()
    }

    /// The data, if it needs no decompressing.
    pub fn plain(&self) -> Option<Plain<'a>> {
        let rest = self.chunk.get(self.header.len()..)?;
        if let Some(special) = self.extension.and_then(|extension| extension.special()) {
            return Some(Plain::of(special, self.header.typesize, rest));
        }
        match self.header.is_pure_copy() {
            true => Some(Plain::Bytes(rest)),
            false => None,
        }
    }

    /// What the streams are to be decompressed with.
    pub fn format(&self) -> Result<CompressorFormat, ChunkError> {
        let code = self.header.format_code();
        let format = self.header.compressor_format();
        let format = format.ok_or(match self.extension {
            Some(extension) => ChunkError::UserCompressor {
                id: extension.compressor,
                code,
            },
            None => ChunkError::UnknownCompressor { code },
        })?;
        if self.header.versionlz != VERSIONLZ {
            let found = self.header.versionlz;
            return Err(ChunkError::StreamVersion { format, found });
        }
        if !format.is_available() {
            let feature = format.name();
            return Err(ChunkError::NotBuilt { feature });
        }
        let takes_one = matches!(format, CompressorFormat::Lz4 | CompressorFormat::Zstd);
        if self.extension.is_some_and(|e| e.has_dictionary()) && !takes_one {
            return Err(ChunkError::Dictionary { format });
        }
        Ok(format)
    }

    /// Where a block begins by the table.
    pub fn start(&self, block: u32) -> Result<u32, ChunkError> {
        let slot = self.layout.header_len + 4 * block as usize;
        let table = self.chunk.get(slot..).unwrap_or_default();
        let start = table.first_chunk().map_or(0, |&at| u32::from_le_bytes(at));
        if (start as usize) < self.body || start > self.header.ctbytes {
            return Err(ChunkError::BlockStart {
                block,
                found: start,
                ctbytes: self.header.ctbytes,
            });
        }
        Ok(start)
    }

    /// The streams of a block, which begin where the table says: anywhere after the table, in
    /// any order, as C-Blosc with several threads writes blocks in the order they are done.
    pub fn streams(&self, block: u32) -> Result<Streams<'a>, ChunkError> {
        let start = self.start(block)?;
        let rest = self.chunk.get(start as usize..).unwrap_or_default();
        // Earlier versions have other runs, or none, and no reader is sure of them.
        let runs = self.extension.is_some() && self.header.version >= BLOSC2_STABLE;
        let by_data = self.undo.delta;
        Ok(Streams {
            block,
            rest,
            runs,
            by_data,
        })
    }

    /// All that the decoded bytes of a block depend on, if no other block comes in: everything
    /// before the first block but the table, and the block's streams.
    pub fn stored(&self, block: u32) -> Result<[&'a [u8]; 3], ChunkError> {
        let start = self.start(block)? as usize;
        let all = self.chunk.get(start..).unwrap_or_default();
        let len = self.layout.block(block).len();
        let count = self.layout.streams(len);
        let mut streams = self.streams(block)?;
        for _ in 0..count {
            streams.next(len / count)?;
        }
        let used = all.len() - streams.rest.len();
        let head = self.chunk.get(..self.layout.header_len);
        let streams = all.get(..used).unwrap_or_default();
        Ok([head.unwrap_or_default(), self.dictionary, streams])
    }
}

/// Whether these bytes begin a chunk with blocks to decompress, so that it is best decoded by whole
/// ones; pure copies and special values give any piece for nothing.
pub fn has_blocks(chunk: &[u8]) -> bool {
    Source::open_head(chunk).is_ok_and(|source| source.has_streams())
}

/// The streams of one block, one after the other.
pub(super) struct Streams<'a> {
    block: u32,
    rest: &'a [u8],
    /// Whether a length of 0 or below stands for a byte over and over.
    runs: bool,
    /// Whether no stream may be longer than what it stands for, as no writer of delta makes one: where all blocks depend on
    /// the first, its streams are gone through for each of them.
    by_data: bool,
}

/// The bytes of one stream.
pub(super) enum Stream<'a> {
    /// The data itself.
    Raw(&'a [u8]),
    /// To be decompressed.
    Compressed(&'a [u8]),
    /// This byte over and over.
    Run(u8),
}

impl<'a> Streams<'a> {
    /// The next stream, which stands for `len` bytes.
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
        let most = match self.by_data {
            true => len,
            false => longest(len),
        };
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

    /// A byte over and over: 0 by a length of 0, another by its negative and a token.
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

/// The longest stream that stands for `len` bytes. All blocks may begin at the same one, so that a longer one would cost
/// its length for each of them.
///
/// C-Blosc gives Snappy `32 + len + len / 6` bytes, and every other compressor as many as there are data.
fn longest(len: usize) -> usize {
    len.saturating_add(len / 6).saturating_add(64)
}

/// The longest stream; lengths are signed in Blosc 2.
const MAX_LENGTH: u32 = 0x7FFF_FFFF;
/// What the byte after a negative length has set if that stands for a run.
pub(super) const RUN_TOKEN: u8 = 0x01;
