//! A chunk's bytes, with every position that they name checked before it is used.

use super::header::{HEADER_LEN, VERSIONLZ};
use super::layout::Layout;
use super::{ChunkError, ChunkHeader, CompressorFormat};

/// A chunk whose header is sound and whose length is the header's.
pub(super) struct Source<'a> {
    pub header: ChunkHeader,
    pub layout: Layout,
    chunk: &'a [u8],
}

impl<'a> Source<'a> {
    /// Reads the header and compares it with the bytes there are.
    pub fn open(chunk: &'a [u8]) -> Result<Self, ChunkError> {
        let found = chunk.len();
        let bytes = chunk.first_chunk().ok_or(ChunkError::CutShort {
            found,
            expected: HEADER_LEN,
        })?;
        let header = ChunkHeader::parse(bytes)?;
        let expected = header.ctbytes as usize;
        if found < expected {
            return Err(ChunkError::CutShort { found, expected });
        }
        if found > expected {
            return Err(ChunkError::TooLong { found, expected });
        }
        Ok(Self {
            header,
            layout: Layout::of(&header),
            chunk,
        })
    }

    /// The data, if it is in the chunk as it is.
    pub fn pure_copy(&self) -> Option<&'a [u8]> {
        self.header
            .is_pure_copy()
            .then(|| self.chunk.get(HEADER_LEN..))?
    }

    /// What the streams are to be decompressed with.
    pub fn format(&self) -> Result<CompressorFormat, ChunkError> {
        let code = self.header.format_code();
        let format = self
            .header
            .compressor_format()
            .ok_or(ChunkError::UnknownCompressor { code })?;
        if self.header.versionlz != VERSIONLZ {
            let found = self.header.versionlz;
            return Err(ChunkError::StreamVersion { format, found });
        }
        if !format.is_available() {
            let feature = format.name();
            return Err(ChunkError::NotBuilt { feature });
        }
        Ok(format)
    }

    /// The streams of a block, which begin where the table says: anywhere after the table, in
    /// any order, as C-Blosc with several threads writes blocks in the order they are done.
    pub fn streams(&self, block: u32) -> Result<Streams<'a>, ChunkError> {
        let slot = HEADER_LEN + 4 * block as usize;
        let table = self.chunk.get(slot..).unwrap_or_default();
        let start = table.first_chunk().map_or(0, |&at| u32::from_le_bytes(at));
        let rest = match start as usize >= self.layout.table_end() {
            true => self.chunk.get(start as usize..),
            false => None,
        };
        let rest = rest.ok_or(ChunkError::BlockStart {
            block,
            found: start,
            ctbytes: self.header.ctbytes,
        })?;
        Ok(Streams { block, rest })
    }
}

/// The streams of one block, one after the other.
pub(super) struct Streams<'a> {
    block: u32,
    rest: &'a [u8],
}

/// The bytes of one stream.
pub(super) enum Stream<'a> {
    /// The data itself.
    Raw(&'a [u8]),
    /// To be decompressed.
    Compressed(&'a [u8]),
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
        let (bytes, rest) = rest
            .split_at_checked(length as usize)
            .ok_or(cut(length, rest.len()))?;
        self.rest = rest;
        Ok(if bytes.len() == len {
            Stream::Raw(bytes)
        } else {
            Stream::Compressed(bytes)
        })
    }
}
