//! [`VaryingFrame`]: a frame whose chunks and blocks may have any length.
//!
//! ```text
//!  0  06 | 01 | flags | typesize     a chunk with blocks of varying length
//!  4  u32 nbytes                     uncompressed, of all blocks together
//!  8  u32 blocks                     their number
//! 12  u32 ctbytes
//! 16  the extension of the header, with bit 0 of byte 30 set
//! 32  u32 x blocks                   the offset of each in the chunk
//!     [u32 length | dictionary]      with bit 0 of byte 31
//!     each block: u32 length of its data | its data, compressed unless it has that length
//! ```
//!
//! `docs/format-stores.md`, "Chunks and frames of varying length", describes where python-blosc2 uses them.

use super::Frame;
use crate::coder::settings;
use crate::part::FramePart;
use crate::storage::check_chunk_len;
use crate::wire::ChunkPlace;
use crate::wire::header::{FrameHeader, VARYING_FLAGS};
use blosc1::{Blosc2Encoder, ChunkHeader, HEADER_LEN};
use bloscpack::Options;
use bloscpack_error::checked::{to_u64, to_usize};
use bloscpack_error::{Error, IoSide as _, Result};
use bloscpack_storage::ReadAt;
use std::path::Path;

/// Bytes of a chunk header with its extension.
const EXTENDED_LEN: usize = 32;
/// The versions of chunks with blocks of varying length and of ordinary chunks.
const VARYING: u8 = 6;
const ORDINARY: u8 = 5;
/// The flags for data that is not compressed, and for blocks that are not split into streams.
const PURE_COPY: u8 = 0x02;
const UNSPLIT: u8 = 0x10;
/// The bit of byte 31 for a dictionary after the table of blocks.
const DICTIONARY: u8 = 0x01;
/// The byte of a chunk whose bit 0 marks blocks of varying length.
const FLAGS2_AT: usize = 30;

/// A frame whose chunks and blocks may have any length. python-blosc2 writes them in stores: one object in each chunk, or a
/// batch of them with one block for each group of objects.
///
/// The frame is contiguous. [`FrameBuilder::create_varying`](crate::FrameBuilder::create_varying) creates one.
///
/// ```
/// use bloscpack::Options;
/// use bloscpack_frames::{Frame, VaryingFrame};
/// # let temp = tempfile::tempdir()?;
/// # let path = temp.path().join("texts.b2b");
/// let mut frame = Frame::builder(1, 1).create_varying(&path)?;
/// frame.append(&[b"a batch of", b"two blocks"])?;
/// frame.append(&[&[b'x'; 1000]])?;
/// frame.flush()?;
/// drop(frame);
///
/// let mut frame = VaryingFrame::edit(&path, &Options::new())?;
/// assert_eq!(frame.blocks(0)?, [b"a batch of", b"two blocks"]);
/// frame.truncate(1)?;
/// frame.flush()?;
/// assert_eq!(frame.frame().chunks(), 1);
/// # Ok::<(), bloscpack_error::Error>(())
/// ```
#[derive(Debug)]
pub struct VaryingFrame {
    /// Gives the metadata and the places of chunks. It has no chunk size, and cannot read chunks.
    frame: Frame,
}

impl VaryingFrame {
    /// The frame, which has no chunk size.
    pub(super) fn of(frame: Frame) -> Self {
        Self { frame }
    }

    /// Opens the frame in a file for reading and changing it. The frame stays locked until it is dropped.
    ///
    /// # Errors
    /// Returns the errors of [`Frame::edit`].
    pub fn edit(path: impl AsRef<Path>, options: &Options) -> Result<Self> {
        let mut frame = Frame::edit_varying(path.as_ref(), options)?;
        frame.meta.header.chunk_size = None;
        Ok(Self::of(frame))
    }

    /// Compresses these blocks and appends them as one chunk. The chunk is written at once, and becomes part of the frame with
    /// the next [`flush`](Self::flush).
    ///
    /// # Errors
    /// Returns [`Code::Usage`](bloscpack_error::Code::Usage) for no blocks, an empty block, and 2 GiB of data or more; the
    /// errors of [`Frame::append`].
    pub fn append(&mut self, blocks: &[&[u8]]) -> Result<()> {
        self.frame.begin()?;
        let (chunk, nbytes) = self.encoded(blocks)?;
        let number = self.frame.chunks();
        check_chunk_len(part(number), nbytes.into(), &self.frame.coder.limits)?;
        let place = ChunkPlace::At(self.frame.storage.put(&chunk)?);
        self.frame.insert_place(number, place, nbytes.into())
    }

    /// Removes all chunks after the first `chunks`. Those must not have been added since the last [`flush`](Self::flush).
    ///
    /// # Errors
    /// Returns the errors of [`Frame::remove`], and those of [`blocks`](Self::blocks) for the last chunks.
    pub fn truncate(&mut self, chunks: u64) -> Result<()> {
        self.frame.begin()?;
        while self.frame.chunks() > chunks {
            let number = self.frame.chunks() - 1;
            let header = self.stored(number)?;
            let nbytes = u32_at(&header, 4).unwrap_or_default();
            let content = self.frame.content_len();
            let left = content.checked_sub(nbytes.into());
            let left = left.ok_or_else(|| damaged(number, "nbytes", nbytes, content))?;
            self.frame.meta.header.content_len = left;
            let place = self.frame.meta.places.pop();
            self.frame.discard(place.unwrap_or(ChunkPlace::Zeros))?;
        }
        Ok(())
    }

    /// Sets a metalayer in the trailer.
    ///
    /// # Errors
    /// Returns the errors of [`Frame::set_vlmetalayer`].
    pub fn set_vlmetalayer(&mut self, name: &str, bytes: &[u8]) -> Result<()> {
        self.frame.set_vlmetalayer(name, bytes)
    }

    /// Makes all changes since the last flush permanent, atomically.
    ///
    /// # Errors
    /// Returns the errors of [`Frame::flush`].
    pub fn flush(&mut self) -> Result<()> {
        self.frame.meta.header.flags = match self.frame.chunks() {
            0 => FrameHeader::FLAGS,
            _ => VARYING_FLAGS,
        };
        self.frame.flush()
    }

    /// A chunk of these blocks, and the number of uncompressed bytes.
    fn encoded(&self, blocks: &[&[u8]]) -> Result<(Vec<u8>, u32)> {
        let too_long = || Error::usage("a chunk contains less than 2 GiB of data");
        let (mut head, mut starts, mut body) = (Vec::new(), Vec::new(), Vec::new());
        let (mut total, table) = (0u32, blocks.len().checked_mul(4).ok_or_else(too_long)?);
        for block in blocks {
            let len = u32::try_from(block.len()).map_err(|_| too_long())?;
            if len == 0 {
                return Err(Error::usage("a block without data"));
            }
            total = total.checked_add(len).ok_or_else(too_long)?;
            let mut chunk = Vec::new();
            let settings = settings(&self.frame.meta.header)?.blocksize(Some(len));
            Blosc2Encoder::new(settings)?.encode(block, &mut chunk)?;
            starts.push(EXTENDED_LEN + table + body.len());
            body.extend(len.to_le_bytes());
            let stream = only_stream(&chunk);
            body.extend_from_slice(stream.unwrap_or(block));
            // The flags of a chunk that is not compressed do not name the compressor.
            if stream.is_some() || head.is_empty() {
                chunk.truncate(EXTENDED_LEN);
                head = chunk;
            }
        }
        let mut chunk = head;
        let len = EXTENDED_LEN + table + body.len();
        let len = i32::try_from(len).map_err(|_| too_long())?;
        let count = u32::try_from(blocks.len()).map_err(|_| too_long())?;
        let fields = [total.to_le_bytes(), count.to_le_bytes(), len.to_le_bytes()];
        let [version, _, flags, ..] = chunk.as_mut_slice() else {
            return Err(Error::usage("a chunk without blocks"));
        };
        (*version, *flags) = (VARYING, *flags & !PURE_COPY | UNSPLIT);
        let changed = [(4, fields.concat()), (FLAGS2_AT, vec![1, 0])];
        for (at, bytes) in changed {
            let to = chunk.iter_mut().skip(at);
            to.zip(bytes).for_each(|(to, from)| *to = from);
        }
        for start in starts {
            let start = u32::try_from(start).map_err(|_| too_long())?;
            chunk.extend(start.to_le_bytes());
        }
        chunk.extend(body);
        Ok((chunk, total))
    }

    /// Opens a frame for reading, whether or not its chunks vary in length. Reads only the metadata.
    ///
    /// # Errors
    /// Returns the errors of [`Frame::read_with`].
    pub fn open(source: Box<dyn ReadAt>, options: &Options) -> Result<Self> {
        Frame::read_varying(source, options).map(Self::of)
    }

    /// The frame. If it [varies](Self::varies), only its metadata can be read.
    #[must_use]
    pub fn frame(&self) -> &Frame {
        &self.frame
    }

    /// Whether chunks or blocks vary in length, so that [`Frame`] cannot read it. An empty frame never varies.
    #[must_use]
    pub fn varies(&self) -> bool {
        self.frame.header().flags != FrameHeader::FLAGS && self.frame.chunks() > 0
    }

    /// The uncompressed data of each block of a chunk. An ordinary chunk is returned as one block.
    ///
    /// Needs memory for the compressed chunk and its data; both are checked against the limits first.
    ///
    /// # Errors
    /// Returns [`Code::OutOfBounds`](bloscpack_error::Code::OutOfBounds) for a chunk that does not exist,
    /// [`Code::OverLimit`](bloscpack_error::Code::OverLimit) for one of more uncompressed bytes than the limit `chunk`, any I/O
    /// error, and [`Code::Chunk`](bloscpack_error::Code::Chunk) for damage.
    pub fn blocks(&self, number: u64) -> Result<Vec<Vec<u8>>> {
        let chunk = self.stored(number)?;
        if chunk.first() == Some(&VARYING) {
            let blocks = Blocks::of(&chunk, number)?;
            check_chunk_len(part(number), blocks.nbytes.into(), &self.frame.coder.limits)?;
            return blocks.each(|chunk, len| self.decode(number, chunk, len));
        }
        let (first, found) = (chunk.first_chunk(), chunk.len());
        let first = first.ok_or_else(|| damaged(number, "length", found, HEADER_LEN))?;
        let len = ChunkHeader::parse(first)?.nbytes;
        check_chunk_len(part(number), len.into(), &self.frame.coder.limits)?;
        Ok(vec![self.decode(number, &chunk, len)?])
    }

    /// Decompresses an ordinary chunk with `len` bytes of data.
    fn decode(&self, number: u64, chunk: &[u8], len: u32) -> Result<Vec<u8>> {
        let mut data = part(number).zeros(len.into())?;
        let decoded = self
            .frame
            .coder
            .decode(|decoder| decoder.decode(chunk, &mut data));
        decoded.map_err(|error| part(number).bad_chunk(error))?;
        Ok(data)
    }

    /// The compressed bytes of a chunk. They must lie within the chunk section of the frame.
    fn stored(&self, number: u64) -> Result<Vec<u8>> {
        let ChunkPlace::At(at) = self.frame.place(number)? else {
            return Err(damaged(
                number,
                "place",
                "a chunk of one value",
                "an offset",
            ));
        };
        let meta = &self.frame.meta;
        let file = self.frame.storage.file();
        let file = file.ok_or_else(|| Error::bug("a sparse frame of chunks of any length"))?;
        let section = meta.header.section_len;
        let outside = |len: usize| damaged(number, "end", format!("{at} + {len}"), section);
        let room = section.checked_sub(at);
        let room = room.filter(|room| *room >= to_u64(HEADER_LEN));
        let room = room.ok_or_else(|| outside(HEADER_LEN))?;
        let start = meta.header_len() + at;
        let mut header = [0; HEADER_LEN];
        file.read_exact_at(start, &mut header).reading()?;
        let [.., a, b, c, d] = header;
        let len = to_usize(u32::from_le_bytes([a, b, c, d]));
        if len < HEADER_LEN || to_u64(len) > room {
            return Err(outside(len));
        }
        let mut chunk = part(number).zeros(to_u64(len))?;
        file.read_exact_at(start, &mut chunk).reading()?;
        Ok(chunk)
    }
}

/// The chunk, for errors.
fn part(number: u64) -> FramePart {
    FramePart::Chunk(number)
}

fn damaged(
    number: u64,
    field: &'static str,
    found: impl std::fmt::Display,
    expected: impl std::fmt::Display,
) -> Error {
    part(number).damaged(None, field, found, expected)
}

/// The only stream of an ordinary chunk of one block. `None` if the chunk has none, because it did not become shorter.
fn only_stream(chunk: &[u8]) -> Option<&[u8]> {
    let [_, _, flags, ..] = chunk else {
        return None;
    };
    let start = u32_at(chunk, EXTENDED_LEN).filter(|_| flags & PURE_COPY == 0)?;
    let (len, stream) = chunk.get(to_usize(start)..)?.split_first_chunk()?;
    (to_usize(u32::from_le_bytes(*len)) == stream.len()).then_some(stream)
}

/// A parsed chunk with blocks of varying length.
struct Blocks<'a> {
    number: u64,
    chunk: &'a [u8],
    nbytes: u32,
    /// The offset of each block in the chunk.
    starts: Vec<usize>,
    /// The dictionary with its length, or nothing.
    dictionary: &'a [u8],
}

impl<'a> Blocks<'a> {
    /// Parses the header, the table of blocks and the dictionary.
    fn of(chunk: &'a [u8], number: u64) -> Result<Self> {
        let cut = || {
            damaged(
                number,
                "length",
                chunk.len(),
                "a header and a table of blocks",
            )
        };
        let u32_at = |at: usize| u32_at(chunk, at).ok_or_else(cut);
        let (nbytes, count) = (u32_at(4)?, to_usize(u32_at(8)?));
        let flags = chunk.get(2).zip(chunk.get(FLAGS2_AT..EXTENDED_LEN));
        let Some((flags, [flags2, blosc2_flags])) = flags else {
            return Err(cut());
        };
        if flags & UNSPLIT == 0 || flags & 0x07 != 0x05 || *flags2 != 1 {
            let found = format!("{flags:02x} {flags2:02x}");
            return Err(damaged(
                number,
                "flags",
                found,
                "unsplit blocks of varying length",
            ));
        }
        if blosc2_flags & !DICTIONARY != 0 {
            let found = format!("{blosc2_flags:02x}");
            return Err(damaged(number, "flags", found, "00 or 01"));
        }
        let table = count
            .checked_mul(4)
            .and_then(|len| len.checked_add(EXTENDED_LEN));
        let table = table.filter(|end| *end <= chunk.len()).ok_or_else(cut)?;
        let starts = (0..count).map(|block| u32_at(EXTENDED_LEN + block * 4).map(to_usize));
        let starts = starts.collect::<Result<Vec<_>>>()?;
        let dictionary = match blosc2_flags & DICTIONARY {
            0 => &[],
            _ => {
                let len = to_usize(u32_at(table)?).checked_add(4);
                let end = len.and_then(|len| len.checked_add(table));
                let end = end.ok_or_else(cut)?;
                chunk.get(table..end).ok_or_else(cut)?
            }
        };
        Ok(Self {
            number,
            chunk,
            nbytes,
            starts,
            dictionary,
        })
    }

    /// The data of each block. `decode` decompresses an ordinary chunk with the given number of bytes of data.
    ///
    /// Blocks may be stored in any order. Their lengths must add up to `nbytes`.
    fn each(&self, decode: impl Fn(&[u8], u32) -> Result<Vec<u8>>) -> Result<Vec<Vec<u8>>> {
        let wrong = |found: String, expected| damaged(self.number, "block", found, expected);
        let mut sorted = self.starts.clone();
        sorted.sort_unstable();
        let head = EXTENDED_LEN + self.starts.len() * 4 + self.dictionary.len();
        let (mut blocks, mut total) = (Vec::new(), 0u64);
        for start in &self.starts {
            // A block ends where the next one in the file begins.
            let next = sorted.partition_point(|other| other <= start);
            let end = sorted.get(next).copied().unwrap_or(self.chunk.len());
            let block = self.chunk.get(*start..end).filter(|_| *start >= head);
            let Some((len, data)) = block.and_then(|block| block.split_first_chunk::<4>()) else {
                return Err(wrong(
                    format!("one at {start}..{end}"),
                    "one within the chunk",
                ));
            };
            let len = u32::from_le_bytes(*len);
            total += u64::from(len);
            if total > self.nbytes.into() || to_usize(len) < data.len() {
                let found = format!("{} bytes for {len} of data", data.len());
                return Err(wrong(found, "no more than that, and all within nbytes"));
            }
            blocks.push(if to_usize(len) == data.len() {
                data.to_vec()
            } else {
                decode(&self.ordinary(len, data)?, len)?
            });
        }
        if total == u64::from(self.nbytes) {
            Ok(blocks)
        } else {
            Err(damaged(self.number, "nbytes", self.nbytes, total))
        }
    }

    /// A block as an ordinary chunk of one block with one stream.
    fn ordinary(&self, len: u32, data: &[u8]) -> Result<Vec<u8>> {
        let bug = || Error::bug("a block that is longer than its chunk");
        let at = EXTENDED_LEN + 4 + self.dictionary.len();
        let ctbytes = u32::try_from(at + 4 + data.len()).map_err(|_| bug())?;
        let stream = u32::try_from(data.len()).map_err(|_| bug())?;
        let mut chunk = self.chunk.get(..EXTENDED_LEN).ok_or_else(bug)?.to_vec();
        let fields = [len, len, ctbytes].map(u32::to_le_bytes).concat();
        for (to, from) in chunk.iter_mut().skip(4).zip(fields) {
            *to = from;
        }
        for (at, value) in [(0, ORDINARY), (FLAGS2_AT, 0)] {
            *chunk.get_mut(at).ok_or_else(bug)? = value;
        }
        let at = u32::try_from(at).map_err(|_| bug())?;
        chunk.extend_from_slice(&at.to_le_bytes());
        chunk.extend_from_slice(self.dictionary);
        chunk.extend_from_slice(&stream.to_le_bytes());
        chunk.extend_from_slice(data);
        Ok(chunk)
    }
}

/// The little-endian number at this offset; `None` past the end.
fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    let four = bytes.get(at..)?.first_chunk()?;
    Some(u32::from_le_bytes(*four))
}
