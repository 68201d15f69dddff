//! The header of a Blosc2 frame. Numbers are big-endian.
//!
//! ```text
//!  0  9e a8 "b2frame\0"                                                      an array of 14, the magic
//! 10  d2 i32 header_len   15  cf u64 frame_len
//! 24  a4 | 25 flags | 26 kind | 27 level, codec | 28 split mode
//! 29  d3 i64 content_len  38  d3 i64 section_len
//! 47  d2 i32 typesize     52  d2 i32 blocksize    57  d2 i32 chunk_size
//! 62  d1 i16 threads that compress                65  d1 i16 threads that decompress
//! 68  c2 or c3: are there vlmetalayers
//! 69  d8 06 | 71 six filters | 77 codec id | 78 codec meta | 79 six filters_meta | 85 dictionary | 86 00
//! 87  metalayers, up to header_len
//!
//! flags: 12 for version 2 (low four bits) with offsets of 64 bits; version 3 has blocks that vary in
//!        length, and bit 6 stands for chunks that do: nothing here reads either, unless there are none
//! codec: low four bits; level: high four bits
//! ```

mod read;

use super::cursor::{Cursor, FALSE, I16, I32, I64, SIXTEEN, TEXT, TRUE, U64, as_i32, as_i64, put};
use super::error::FrameError;
use super::metalayers::{Metalayers, Place};
use super::trailer::Trailer;
use blosc1::Fault;

use read::{
    Pipeline, check_magic, read_chunk_size, read_flags, read_kind, read_prefix, read_truth,
    refuse_varlen, without_chunk_size,
};

const SECTION: &str = "frame header";
/// An array of 14, a text of eight bytes, and those.
const MAGIC: &[u8; 10] = b"\x9e\xa8b2frame\0";
const VARLEN_CHUNKS: u8 = 0x40;
/// Flags of frames whose chunks or blocks vary, besides [`FrameHeader::FLAGS`].
const VARLEN_FLAGS: [u8; 3] = [0x13, 0x52, 0x53];
/// How many filters there can be, which is the type of their sixteen bytes too.
const FILTERS: u8 = 6;
/// Where metalayers begin.
const FIXED_LEN: usize = 87;
/// The chunk size of a frame that has had no chunk yet.
const NO_CHUNK_SIZE: i32 = -1;
/// Entries of an index that still fit into one chunk.
const MAX_NCHUNKS: u64 = ((1 << 31) - 1) / 8;

/// Whether these are the first bytes of a frame; ten bytes tell.
///
/// ```
/// assert!(bloscpack_frames::wire::is_frame(b"\x9e\xa8b2frame\0\xd2"));
/// ```
#[must_use]
pub fn is_frame(first_bytes: &[u8]) -> bool {
    first_bytes.starts_with(MAGIC)
}

/// Where the chunks of a frame are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FrameKind {
    /// In the frame itself, between header and index.
    Contiguous,
    /// In files beside it.
    Sparse,
}

/// What the first bytes of a frame say.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct FramePrefix {
    /// Bytes of the header, at least 97 and below 2^31.
    pub header_len: u32,
    /// Bytes of the file, enough for header and trailer.
    pub frame_len: u64,
}

/// The header of a frame.
///
/// ```
/// use bloscpack_frames::{wire::FrameHeader, wire::FrameKind};
/// // What python-caterva 0.7.3 wrote for an array of no items, in chunks of 4 and blocks of 2.
/// let bytes = b"\x9e\xa8b2frame\0\xd2\0\0\0\x8c\xcf\0\0\0\0\0\0\0\xaf\xa4\x12\0\x55\0\
///     \xd3\0\0\0\0\0\0\0\0\xd3\0\0\0\0\0\0\0\0\xd2\0\0\0\x04\xd2\0\0\0\x08\xd2\xff\xff\xff\xff\
///     \xd1\0\x01\xd1\0\x01\xc2\xd8\x06\0\0\0\0\0\x01\x05\0\0\0\0\0\0\0\0\0\
///     \x93\xcd\0\x14\xde\0\x01\xa7caterva\xd2\0\0\0\x6e\xdc\0\x01\
///     \xc6\0\0\0\x19\x95\0\x01\x91\xd3\0\0\0\0\0\0\0\0\x91\xd2\0\0\0\x04\x91\xd2\0\0\0\x02";
/// let prefix = FrameHeader::prefix(&bytes[..FrameHeader::PREFIX_LEN])?;
/// assert_eq!((prefix.header_len, prefix.frame_len), (140, 175));
///
/// let header = FrameHeader::decode(bytes)?;
/// assert_eq!((header.kind, header.chunk_size, header.nchunks()?), (FrameKind::Contiguous, None, 0));
/// assert_eq!((header.typesize, header.codec, header.level), (4, 5, 5));
/// assert_eq!(header.encode()?, bytes);
/// # Ok::<(), bloscpack_frames::wire::FrameError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FrameHeader {
    /// Where the chunks are.
    pub kind: FrameKind,
    /// The version and what varies in length: [`FrameHeader::FLAGS`], except in a frame without content,
    /// where it can be any that is known. python-blosc2 gives 0x53 (chunks and blocks of any length) to
    /// arrays with an axis of 0; who adds chunks of a fixed size has to change it.
    pub flags: u8,
    /// Bytes of the file; of `chunks.b2frame` if the frame is sparse.
    pub frame_len: u64,
    /// Uncompressed bytes of all chunks.
    pub content_len: u64,
    /// Bytes between header and index, those that no chunk uses included; in a sparse frame those of
    /// the chunks' files. Means nothing where there is no content: a contiguous frame that was emptied
    /// keeps its old one.
    pub section_len: u64,
    /// Bytes of an item, 1 or more.
    pub typesize: u32,
    /// Uncompressed bytes of a block; 0 leaves it to the compressor.
    pub blocksize: u32,
    /// Uncompressed bytes of a chunk. `None` for a frame without content that does not say; others say
    /// it without content too.
    pub chunk_size: Option<u32>,
    /// The compressor that new chunks get, in four bits: 0 BloscLZ, 1 LZ4, 2 LZ4HC, 4 Zlib, 5 Zstd.
    pub codec: u8,
    /// The level that new chunks get, in four bits.
    pub level: u8,
    /// Whether new chunks split their blocks, as the file has it: 0 always, 1 never, 2 automatically,
    /// 3 as Blosc 1 does.
    pub split_mode: u8,
    /// The threads that the writer used to compress and to decompress; nothing depends on them.
    pub threads: (i16, i16),
    /// Whether the trailer has metalayers.
    pub has_vlmetalayers: bool,
    /// The filters that new chunks get, in the order in which they are applied.
    pub filters: [u8; 6],
    /// What each of these filters is told.
    pub filters_meta: [u8; 6],
    /// The compressor once more, in eight bits.
    pub codec_id: u8,
    /// What the compressor is told.
    pub codec_meta: u8,
    /// Whether new chunks get a dictionary.
    pub use_dict: bool,
    /// Metalayers, 16 at most.
    pub metalayers: Metalayers,
}

impl FrameHeader {
    /// Version 2 of the format, offsets of 64 bits, chunks and blocks of fixed sizes.
    pub const FLAGS: u8 = 0x12;
    /// Bytes that tell how long header and frame are.
    pub const PREFIX_LEN: usize = 24;

    /// How long header and frame are, by the first [`FrameHeader::PREFIX_LEN`] bytes; more are not
    /// looked at.
    ///
    /// # Errors
    /// [`Fault::Unsupported`] if this is no frame, [`Fault::CutShort`] for fewer bytes of one,
    /// [`Fault::Damaged`] for lengths that cannot be.
    pub fn prefix(bytes: &[u8]) -> Result<FramePrefix, FrameError> {
        check_magic(bytes)?;
        read_prefix(&mut Cursor::new(SECTION, bytes))
    }

    /// Reads a header of which all bytes are there; what lies behind is not looked at.
    ///
    /// # Errors
    /// As [`FrameHeader::prefix`]; [`Fault::Unsupported`] for versions and flags that are not known, among
    /// them blocks or chunks that vary in length, [`Fault::Damaged`] for fields that no writer writes or
    /// that contradict each other.
    pub fn decode(bytes: &[u8]) -> Result<Self, FrameError> {
        let FramePrefix {
            header_len,
            frame_len,
        } = Self::prefix(bytes)?;
        let len = usize::try_from(header_len).unwrap_or(usize::MAX);
        let Some(bytes) = bytes.get(..len) else {
            let what = format!("cut short after {} of {len} bytes", bytes.len());
            return Err(FrameError::new(Fault::CutShort, SECTION, None, what));
        };
        let cursor = &mut Cursor::new(SECTION, bytes);
        read_prefix(cursor)?;
        let [flags, kind, codec, split_mode] = read_flags(cursor)?;
        let kind = read_kind(cursor, kind)?;
        let content_len = cursor.count64("uncompressed bytes")?;
        if content_len > 0 {
            refuse_varlen(cursor, flags)?;
        }
        let section_len = cursor.count64("bytes of all chunks")?;
        let typesize = cursor.count32(I32, "typesize")?;
        if typesize == 0 {
            return Err(cursor.damaged(4, "typesize: 0, should be 1 or more"));
        }
        let blocksize = cursor.count32(I32, "blocksize")?;
        let chunk_size = read_chunk_size(cursor, content_len)?;
        let threads = (cursor.i16("threads")?, cursor.i16("threads")?);
        let has_vlmetalayers = read_truth(cursor)?;
        let pipeline = Pipeline::read(cursor)?;
        let metalayers = Metalayers::decode(cursor, Place::Header)?;
        if cursor.at() != len {
            let what = format!("its last part ends here, should end at {len}");
            return Err(cursor.damaged(0, what));
        }
        let header = Self {
            kind,
            flags,
            frame_len,
            content_len,
            section_len,
            typesize,
            blocksize,
            chunk_size,
            codec: codec & 0x0f,
            level: codec >> 4,
            split_mode,
            threads,
            has_vlmetalayers,
            filters: pipeline.filters,
            filters_meta: pipeline.filters_meta,
            codec_id: pipeline.codec_id,
            codec_meta: pipeline.codec_meta,
            use_dict: pipeline.use_dict,
            metalayers,
        };
        header.check_room(header_len)?;
        Ok(header)
    }

    /// The chunks that are counted fit an index, and the index lies before the trailer.
    fn check_room(&self, header_len: u32) -> Result<(), FrameError> {
        if self.nchunks()? == 0 || self.kind == FrameKind::Sparse {
            return Ok(());
        }
        let used = u64::from(header_len).saturating_add(Trailer::MIN_LEN as u64);
        let room = self.frame_len.saturating_sub(used);
        if self.section_len > room {
            let found = self.section_len;
            let what = format!(
                "bytes of all chunks: {found}, should be {room} at most in a frame of {}",
                self.frame_len
            );
            return Err(FrameError::damaged(SECTION, what));
        }
        Ok(())
    }

    /// The header as Blosc2 writes it, byte by byte; where there is no content, a chunk size that is not
    /// known is -1, or 0 by flags that let chunks vary. [`FrameHeader::frame_len`] is taken as it is; a header
    /// with one that is too small for the frame is refused by every reader.
    ///
    /// # Errors
    /// [`Fault::Usage`] for what does not fit its field, and for too many metalayers.
    pub fn encode(&self) -> Result<Vec<u8>, FrameError> {
        let header_len = as_i32(SECTION, "length of the header", self.encoded_len())?;
        let (codec, level) = (self.codec, self.level);
        if codec > 0x0f || level > 0x0f {
            let what = format!("codec {codec} with level {level}, can be 15 at most each");
            return Err(FrameError::usage(SECTION, what));
        }
        if self.flags != Self::FLAGS
            && (self.content_len > 0 || !VARLEN_FLAGS.contains(&self.flags))
        {
            let what = format!("flags {:02x} for chunks of a fixed size", self.flags);
            return Err(FrameError::usage(SECTION, what));
        }
        let kind = match self.kind {
            FrameKind::Contiguous => 0,
            FrameKind::Sparse => 1,
        };
        let chunk_size = match self.chunk_size {
            Some(size) => as_i32(SECTION, "chunk size", size)?,
            None if self.flags & VARLEN_CHUNKS != 0 => [0; 4],
            None => NO_CHUNK_SIZE.to_be_bytes(),
        };
        let mut bytes = MAGIC.to_vec();
        let to = &mut bytes;
        put(to, I32, &header_len);
        put(to, U64, &self.frame_len.to_be_bytes());
        put(
            to,
            TEXT | 4,
            &[self.flags, kind, codec | level << 4, self.split_mode],
        );
        put(
            to,
            I64,
            &as_i64(SECTION, "uncompressed bytes", self.content_len)?,
        );
        put(
            to,
            I64,
            &as_i64(SECTION, "bytes of all chunks", self.section_len)?,
        );
        put(to, I32, &as_i32(SECTION, "typesize", self.typesize)?);
        put(to, I32, &as_i32(SECTION, "blocksize", self.blocksize)?);
        put(to, I32, &chunk_size);
        put(to, I16, &self.threads.0.to_be_bytes());
        put(to, I16, &self.threads.1.to_be_bytes());
        to.push(if self.has_vlmetalayers { TRUE } else { FALSE });
        put(to, SIXTEEN, &[FILTERS]);
        to.extend_from_slice(&self.filters);
        to.extend_from_slice(&[self.codec_id, self.codec_meta]);
        to.extend_from_slice(&self.filters_meta);
        to.extend_from_slice(&[u8::from(self.use_dict), 0]);
        self.metalayers.encode(to, Place::Header)?;
        Ok(bytes)
    }

    /// Bytes of the header.
    #[must_use]
    pub fn encoded_len(&self) -> usize {
        FIXED_LEN.saturating_add(self.metalayers.encoded_len())
    }

    /// How many chunks there are; the last may hold less than the others.
    ///
    /// # Errors
    /// [`Fault::Unsupported`] for chunks that vary in length, [`Fault::Damaged`] for more chunks than an
    /// index chunk can hold entries.
    pub fn nchunks(&self) -> Result<u64, FrameError> {
        let len = self.content_len;
        if len == 0 {
            return Ok(0);
        }
        let Some(size) = self.chunk_size.filter(|size| *size > 0) else {
            return Err(without_chunk_size(Fault::Unsupported, None));
        };
        let nchunks = len.div_ceil(size.into());
        if nchunks > MAX_NCHUNKS {
            let what = format!(
                "uncompressed bytes: {len} in chunks of {size}, should be {MAX_NCHUNKS} chunks at most"
            );
            return Err(FrameError::damaged(SECTION, what));
        }
        Ok(nchunks)
    }
}

#[cfg(test)]
mod tests;
