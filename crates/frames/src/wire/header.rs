//! [`FrameHeader`]: the first bytes of a Blosc2 frame. Numbers are big-endian.
//!
//! ```text
//!  0  9e a8 "b2frame\0"                                                      an array of 14, the magic
//! 10  d2 i32 header_len   15  cf u64 frame_len
//! 24  a4 | 25 flags | 26 kind | 27 level, codec | 28 split mode
//! 29  d3 i64 content_len  38  d3 i64 section_len
//! 47  d2 i32 typesize     52  d2 i32 blocksize    57  d2 i32 chunk_size
//! 62  d1 i16 threads that compress                65  d1 i16 threads that decompress
//! 68  c2 or c3: whether the trailer has vlmetalayers
//! 69  d8 06 | 71 six filters | 77 codec id | 78 codec meta | 79 six filters_meta | 85 dictionary | 86 00
//! 87  metalayers, up to header_len
//!
//! flags: the low four bits are the version: 2, or 3 with blocks of varying length. Bit 4: offsets of 64 bits.
//!        Bit 6: chunks of varying length. Bit 7 comes with version 3. `Frame` refuses varying lengths if there is content
//! codec: low four bits; level: high four bits
//! ```

mod read;

use super::cursor::{Cursor, FALSE, I16, I32, I64, SIXTEEN, TEXT, TRUE, U64, as_i32, as_i64, put};
use super::kind::FrameKind;
use super::metalayers::{Holder, Metalayers};
use super::trailer::Trailer;
use crate::part::FramePart;
use bloscpack_error::checked::{to_u64, to_usize};

use bloscpack_error::Result;
use read::{
    Pipeline, check_magic, chunks_vary, read_chunk_size, read_flags, read_kind, read_prefix,
    read_vlmetalayers, refuse_varlen,
};

const PART: FramePart = FramePart::Header;
/// The first bytes of every frame: an array of 14, and the text "b2frame" with a zero byte.
pub const MAGIC: &[u8; 10] = b"\x9e\xa8b2frame\0";
/// The flag for chunks of varying length.
const VARLEN_CHUNKS: u8 = 0x40;
/// The flags of frames to which chunks and blocks of varying length were added.
pub(crate) const VARYING_FLAGS: u8 = 0xd3;
/// The flags of frames whose chunks or blocks vary in length. All others have [`FrameHeader::FLAGS`].
const VARLEN_FLAGS: [u8; 5] = [0x13, 0x52, 0x53, 0x93, 0xd3];
/// The number of filters. It is also the extension type of their sixteen bytes.
const FILTERS: u8 = 6;
/// The offset of the metalayers.
const FIXED_LEN: usize = 87;
/// The chunk size in the header of a frame to which no chunk was added yet.
const NO_CHUNK_SIZE: i32 = -1;
/// The maximum number of index entries: they have to fit one chunk.
const MAX_NCHUNKS: u64 = ((1 << 31) - 1) / 8;

/// Whether these are the first bytes of a frame. Fewer than ten bytes are never recognized, and nothing after them is checked.
///
/// ```
/// assert!(bloscpack_frames::wire::is_frame(b"\x9e\xa8b2frame\0\xd2"));
/// ```
#[must_use]
pub fn is_frame(first_bytes: &[u8]) -> bool {
    first_bytes.starts_with(MAGIC)
}

/// Which sizes of chunks and blocks a reader accepts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sizes {
    /// All chunks have the chunk size in the header, and all blocks have one size.
    Fixed,
    /// Each chunk and each block may have its own size.
    Varying,
}

/// The two lengths in the first 24 bytes of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct FramePrefix {
    /// Bytes of the header: at least 97, less than 2^31.
    pub header_len: u32,
    /// Bytes of the file: at least the length of header and trailer.
    pub frame_len: u64,
}

/// The header of a frame: sizes, codec, filters and metalayers.
///
/// [`decode`](Self::decode) checks the fields against each other, but not against the file. All fields are public;
/// [`encode`](Self::encode) checks only that they can be stored.
///
/// ```
/// use bloscpack_frames::{FrameHeader, FrameKind};
/// // python-caterva 0.7.3 wrote this for an array without elements, in chunks of 4 and blocks of 2.
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
/// # Ok::<(), bloscpack_error::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FrameHeader {
    /// Whether the chunks are in the same file.
    pub kind: FrameKind,
    /// The version, and what varies in length: [`FrameHeader::FLAGS`], or, in a frame without content, any known flags.
    /// python-blosc2 writes 0x53 (chunks and blocks of varying length) for arrays with an axis of length 0. Set it to
    /// [`FrameHeader::FLAGS`] before chunks of a fixed size are added.
    pub flags: u8,
    /// Bytes of the file; of `chunks.b2frame` in a sparse frame.
    pub frame_len: u64,
    /// Uncompressed bytes of all chunks.
    pub content_len: u64,
    /// Bytes between header and index, including dead bytes; in a sparse frame, the bytes of all chunk files. Ignore it if
    /// [`content_len`](Self::content_len) is 0: a contiguous frame whose chunks were all removed keeps its old value.
    pub section_len: u64,
    /// Bytes of an element, at least 1.
    pub typesize: u32,
    /// Uncompressed bytes of a block; 0 if the compressor chooses.
    pub blocksize: u32,
    /// Uncompressed bytes of a chunk. `None` occurs in frames without content, and in those whose chunks vary in length.
    pub chunk_size: Option<u32>,
    /// The compressor of new chunks, 0 to 15: 0 BloscLZ, 1 LZ4, 2 LZ4HC, 4 Zlib, 5 Zstd.
    pub codec: u8,
    /// The compression level of new chunks, 0 to 15.
    pub level: u8,
    /// Whether the blocks of new chunks are split into streams: 0 always, 1 never, 2 automatically, 3 as in Blosc 1.
    pub split_mode: u8,
    /// The numbers of threads with which the writer compressed and decompressed. They have no effect.
    pub threads: (i16, i16),
    /// Whether the trailer has metalayers.
    pub has_vlmetalayers: bool,
    /// The filters of new chunks, in the order in which they are applied; 0 is no filter.
    pub filters: [u8; 6],
    /// The parameter of each filter.
    pub filters_meta: [u8; 6],
    /// The compressor again, in eight bits.
    pub codec_id: u8,
    /// A parameter of the compressor.
    pub codec_meta: u8,
    /// Whether new chunks get a dictionary.
    pub use_dict: bool,
    /// The metalayers of fixed length, at most 16.
    pub metalayers: Metalayers,
}

impl FrameHeader {
    /// Version 2 of the format, offsets of 64 bits, chunks and blocks of fixed sizes.
    pub const FLAGS: u8 = 0x12;
    /// The first bytes of a frame, which contain the lengths of header and frame.
    pub const PREFIX_LEN: usize = 24;

    /// Reads the lengths of header and frame from the first [`FrameHeader::PREFIX_LEN`] bytes. Further bytes are ignored.
    ///
    /// # Errors
    /// Returns [`Code::UnknownFormat`](bloscpack_error::Code::UnknownFormat) if the bytes do not begin like a frame,
    /// [`Code::CutShort`](bloscpack_error::Code::CutShort) if they do but are fewer, and
    /// [`Damaged`](bloscpack_error::Category::Damaged) for lengths that are too small.
    pub fn prefix(bytes: &[u8]) -> Result<FramePrefix> {
        check_magic(bytes)?;
        read_prefix(&mut Cursor::new(PART, bytes))
    }

    /// Reads a header. `bytes` begins with the frame and contains at least the whole header; further bytes are ignored.
    ///
    /// # Errors
    /// Returns the errors of [`FrameHeader::prefix`]; [`Code::CutShort`](bloscpack_error::Code::CutShort) for fewer bytes than
    /// `header_len`; [`Code::Unsupported`](bloscpack_error::Code::Unsupported) for unknown versions, kinds and flags, and for
    /// chunks or blocks of varying length in a frame with content; and [`Damaged`](bloscpack_error::Category::Damaged) for
    /// fields that no program writes or that contradict each other.
    pub fn decode(bytes: &[u8]) -> Result<Self> {
        Self::decode_as(bytes, Sizes::Fixed)
    }

    /// Like [`decode`](Self::decode), for a reader that accepts these sizes.
    pub(crate) fn decode_as(bytes: &[u8], sizes: Sizes) -> Result<Self> {
        let FramePrefix {
            header_len,
            frame_len,
        } = Self::prefix(bytes)?;
        let len = to_usize(header_len);
        let Some(bytes) = bytes.get(..len) else {
            let found = to_u64(bytes.len());
            return Err(PART.cut_short(None, found, header_len.into()));
        };
        let cursor = &mut Cursor::new(PART, bytes);
        read_prefix(cursor)?;
        let [flags, kind, codec, split_mode] = read_flags(cursor)?;
        let kind = read_kind(cursor, kind)?;
        let content_len = cursor.count64("uncompressed bytes")?;
        if content_len > 0 && sizes == Sizes::Fixed {
            refuse_varlen(cursor, flags)?;
        }
        let section_len = cursor.count64("bytes of all chunks")?;
        let typesize = cursor.count32(I32, "typesize")?;
        if typesize == 0 {
            return Err(cursor.damaged(4, "typesize", 0, "at least 1"));
        }
        let blocksize = cursor.count32(I32, "blocksize")?;
        let chunk_size = read_chunk_size(cursor, content_len, sizes)?;
        let threads = (cursor.i16("threads")?, cursor.i16("threads")?);
        let has_vlmetalayers = read_vlmetalayers(cursor)?;
        let pipeline = Pipeline::read(cursor)?;
        let metalayers = Metalayers::decode(cursor, Holder::Header)?;
        if cursor.at() != len {
            return Err(cursor.damaged(0, "end of the last field", cursor.at(), len));
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
        header.check_room(header_len, sizes)?;
        Ok(header)
    }

    /// Checks that the number of chunks fits an index, and that the index begins before the trailer.
    fn check_room(&self, header_len: u32, sizes: Sizes) -> Result<()> {
        let is_empty = match sizes {
            Sizes::Fixed => self.nchunks()? == 0,
            Sizes::Varying => self.content_len == 0,
        };
        if is_empty || self.kind == FrameKind::Sparse {
            return Ok(());
        }
        let used = u64::from(header_len) + to_u64(Trailer::MIN_LEN);
        let room = self.frame_len.checked_sub(used);
        if room.is_some_and(|room| self.section_len <= room) {
            return Ok(());
        }
        let expected = format!(
            "less, in a frame of {} bytes with {used} of header and trailer",
            self.frame_len
        );
        let (field, found) = ("bytes of all chunks", self.section_len);
        Err(PART.damaged(None, field, found, expected))
    }

    /// The header as Blosc2 writes it, byte by byte: [`encoded_len`](Self::encoded_len) bytes.
    ///
    /// An unknown chunk size is written as -1, or as 0 if the flags allow chunks of varying length. [`FrameHeader::frame_len`]
    /// is not checked, but readers refuse one that is smaller than header and trailer.
    ///
    /// # Errors
    /// Returns [`Code::CannotStore`](bloscpack_error::Code::CannotStore) for values that do not fit their fields, for flags
    /// that do not fit the content, and for more than 16 metalayers.
    pub fn encode(&self) -> Result<Vec<u8>> {
        self.check_bits()?;
        let kind = match self.kind {
            FrameKind::Contiguous => 0,
            FrameKind::Sparse => 1,
        };
        let bits = [
            self.flags,
            kind,
            self.codec | self.level << 4,
            self.split_mode,
        ];
        let chunk_size = match self.chunk_size {
            Some(size) => as_i32(&PART, "chunk size", size)?,
            None if self.flags & VARLEN_CHUNKS != 0 => [0; 4],
            None => NO_CHUNK_SIZE.to_be_bytes(),
        };
        let int = |field, value: u32| as_i32(&PART, field, value);
        let long = |field, value: u64| as_i64(&PART, field, value);
        let len = as_i32(&PART, "length of the header", self.encoded_len())?;
        let mut bytes = MAGIC.to_vec();
        let to = &mut bytes;
        put(to, I32, &len);
        put(to, U64, &self.frame_len.to_be_bytes());
        put(to, TEXT | 4, &bits);
        put(to, I64, &long("uncompressed bytes", self.content_len)?);
        put(to, I64, &long("bytes of all chunks", self.section_len)?);
        put(to, I32, &int("typesize", self.typesize)?);
        put(to, I32, &int("blocksize", self.blocksize)?);
        put(to, I32, &chunk_size);
        put(to, I16, &self.threads.0.to_be_bytes());
        put(to, I16, &self.threads.1.to_be_bytes());
        to.push(if self.has_vlmetalayers { TRUE } else { FALSE });
        put(to, SIXTEEN, &[FILTERS]);
        to.extend_from_slice(&self.filters);
        to.extend_from_slice(&[self.codec_id, self.codec_meta]);
        to.extend_from_slice(&self.filters_meta);
        to.extend_from_slice(&[u8::from(self.use_dict), 0]);
        self.metalayers.encode(to, Holder::Header)?;
        Ok(bytes)
    }

    /// Checks that codec and level fit four bits each, and that the flags fit the content.
    fn check_bits(&self) -> Result<()> {
        let most = "at most 15";
        if self.codec > 0x0f {
            return Err(PART.cannot_store("codec", self.codec, most));
        }
        if self.level > 0x0f {
            return Err(PART.cannot_store("level", self.level, most));
        }
        // Content without a chunk size is that of chunks of any length.
        let may_vary = self.content_len == 0 || self.chunk_size.is_none();
        let varies = may_vary && VARLEN_FLAGS.contains(&self.flags);
        if self.flags != Self::FLAGS && !varies {
            let found = format!("{:02x}", self.flags);
            let expected = format!("{:02x}, for chunks of a fixed size", Self::FLAGS);
            return Err(PART.cannot_store("flags", found, expected));
        }
        Ok(())
    }

    /// Bytes of the header.
    #[must_use]
    pub fn encoded_len(&self) -> usize {
        FIXED_LEN + self.metalayers.encoded_len()
    }

    /// The number of chunks. All contain [`chunk_size`](Self::chunk_size) bytes of data; the last may contain fewer.
    ///
    /// # Errors
    /// Returns [`Code::Unsupported`](bloscpack_error::Code::Unsupported) for chunks of varying length, and
    /// [`Damaged`](bloscpack_error::Category::Damaged) for more chunks than an index has entries for (2^28 - 1).
    pub fn nchunks(&self) -> Result<u64> {
        let len = self.content_len;
        if len == 0 {
            return Ok(0);
        }
        let Some(size) = self.chunk_size.filter(|size| *size > 0) else {
            return Err(chunks_vary(None));
        };
        let nchunks = len.div_ceil(size.into());
        if nchunks > MAX_NCHUNKS {
            let found = format!("{len} in chunks of {size}");
            let expected = format!("at most {MAX_NCHUNKS} chunks");
            let field = "uncompressed bytes";
            return Err(PART.damaged(None, field, found, expected));
        }
        Ok(nchunks)
    }
}

#[cfg(test)]
mod tests;
