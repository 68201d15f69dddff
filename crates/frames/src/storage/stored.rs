//! [`StoredChunk`]: the bytes of a chunk, read from a file.
//!
//! Each read is checked against the *room* of the chunk, the bytes between its beginning and the end of the part of the file
//! that may contain chunks. Memory is allocated only for chunks whose header fits their room.

use super::Origin;
use crate::part::FramePart;
use blosc1::{ChunkError, ChunkHeader, HEADER_LEN};
use bloscpack_error::checked::{in_memory, to_u64, to_usize};
use bloscpack_error::{Error, Result};
use bloscpack_storage::{Access, Key, ReadAhead, ReadAt};
use bloscpack_wire::{Limit, Limits, Position, Section};

/// Chunks of up to 16 KiB are read whole, even if only some of their blocks are needed.
pub(crate) const SMALL: usize = 16 << 10;
/// The most bytes that are read of a chunk before its header was checked.
const MOST: u64 = 1 << 20;

/// Bytes of a chunk that are not data: the longest header (32 bytes) and the longest repeated value (255 bytes).
const OVERHEAD: u64 = 32 + 255;
/// The same for each block: its entry in the table of blocks (4 bytes), and the bytes by which its streams may exceed the data.
const PER_BLOCK: u64 = 4 + 68;

/// A chunk in a file. Nothing is read before one of its methods is called.
pub(crate) struct StoredChunk<'a> {
    /// The number of the chunk, for errors.
    number: u64,
    source: Source<'a>,
    /// The offset of the chunk in its file.
    start: u64,
    /// The maximum length of the chunk in bytes.
    room: u64,
}

/// The file that contains the chunk.
enum Source<'a> {
    /// A file that contains other chunks as well.
    Shared(&'a dyn ReadAt, &'a Origin),
    /// A chunk file of a sparse frame, which ends with the chunk.
    Own(Box<dyn ReadAt>, (Key, Access)),
}

impl<'a> StoredChunk<'a> {
    /// The chunk at offset `start` of a file in which no chunk extends past `end`.
    pub(super) fn within(
        number: u64,
        (source, origin): (&'a dyn ReadAt, &'a Origin),
        start: u64,
        end: u64,
    ) -> Self {
        Self {
            number,
            source: Source::Shared(source, origin),
            start,
            // A damaged index may place the chunk past the end: it then has no room.
            room: end.saturating_sub(start),
        }
    }

    /// The chunk in a file of its own. Asks for the size of the file.
    pub(super) fn alone(number: u64, source: Box<dyn ReadAt>, file: (Key, Access)) -> Result<Self> {
        let size = source.size();
        let source = ReadAhead::new(source, SMALL);
        let mut chunk = Self {
            number,
            source: Source::Own(Box::new(source), file),
            start: 0,
            room: 0,
        };
        chunk.room = chunk.io(size)?;
        Ok(chunk)
    }

    /// The same chunk, read through a read-ahead window that several chunks of one file share.
    pub(crate) fn through(self, ahead: Option<&'a ReadAhead<&'a dyn ReadAt>>) -> Self {
        let source = match (self.source, ahead) {
            (Source::Shared(_, origin), Some(ahead)) => Source::Shared(ahead, origin),
            (source, _) => source,
        };
        Self { source, ..self }
    }

    /// The maximum length of the chunk in bytes.
    pub(crate) fn room(&self) -> u64 {
        self.room
    }

    /// The offset of the chunk in its file.
    pub(crate) fn byte(&self) -> u64 {
        self.start
    }

    pub(crate) fn part(&self) -> FramePart {
        FramePart::Chunk(self.number)
    }

    /// Adds the position of this chunk to an error of its content.
    pub(crate) fn error(&self, error: ChunkError) -> Error {
        self.located(error.into())
    }

    /// Adds the position of this chunk to an error.
    pub(crate) fn located(&self, error: Error) -> Error {
        error.at(Position {
            byte: self.start,
            member: 0,
            chunk: Some(self.number),
            section: Section::Chunk,
        })
    }

    /// Adds the side and the path of the file to an error of I/O.
    fn io<T>(&self, done: std::io::Result<T>) -> Result<T> {
        match &self.source {
            Source::Shared(_, origin) => origin.io(done),
            Source::Own(_, (key, access)) => {
                done.or_else(|error| Origin::of(*access, Some(key)).io(Err(error)))
            }
        }
    }

    /// Fills `buf` with the bytes of the chunk that begin at `at`. Fewer bytes are an error.
    fn read(&self, at: usize, buf: &mut [u8]) -> Result<()> {
        self.io(self.source().read_exact_at(self.start + to_u64(at), buf))
    }

    fn source(&self) -> &dyn ReadAt {
        match &self.source {
            Source::Shared(source, _) => *source,
            Source::Own(source, ..) => &**source,
        }
    }

    /// Reads and checks the first 16 bytes. The chunk must fit its room: otherwise it is damaged, or, in a file of its own, cut
    /// short.
    pub(crate) fn header(&self) -> Result<ChunkHeader> {
        self.check_room(to_u64(HEADER_LEN))?;
        let mut first = [0; HEADER_LEN];
        self.read(0, &mut first)?;
        self.parse(&first)
    }

    /// Parses the header at the beginning of `bytes`, and checks that the whole chunk fits its room.
    fn parse(&self, bytes: &[u8]) -> Result<ChunkHeader> {
        let first = bytes.first_chunk();
        let first = first.ok_or_else(|| Error::bug(format!("{} bytes of a chunk", bytes.len())))?;
        let header = ChunkHeader::parse(first).map_err(|error| self.error(error))?;
        self.check_room(header.ctbytes.into())?;
        Ok(header)
    }

    /// Reads the whole chunk into `bytes`, in a single read if `len` is its length and at most 1 MiB. `len` is a guess: any
    /// value is allowed.
    ///
    /// `check` may refuse the header before memory for the whole chunk is allocated.
    pub(crate) fn load(
        &self,
        len: u64,
        bytes: &mut Vec<u8>,
        check: impl FnOnce(&ChunkHeader) -> Result<()>,
    ) -> Result<ChunkHeader> {
        self.check_room(to_u64(HEADER_LEN))?;
        let first = len.clamp(to_u64(HEADER_LEN), MOST).min(self.room);
        self.make_room(bytes, first)?;
        self.read(0, bytes)?;
        let header = self.parse(bytes)?;
        check(&header)?;
        self.make_room(bytes, header.ctbytes.into())?;
        let first = in_memory(first)?;
        match bytes.get_mut(first..) {
            Some(rest) => self.read(first, rest).map(|()| header),
            None => Ok(header),
        }
    }

    /// Refuses `len` bytes if the chunk has less room: [`Code::CutShort`](bloscpack_error::Code::CutShort) in a file of its
    /// own, else [`Code::Chunk`](bloscpack_error::Code::Chunk).
    fn check_room(&self, len: u64) -> Result<()> {
        if len <= self.room {
            return Ok(());
        }
        let (part, at) = (self.part(), Some(self.start));
        Err(match self.source {
            Source::Own(..) => part.cut_short(at, self.room, len),
            Source::Shared(..) => {
                let expected = format!("at most {}", self.room);
                part.damaged(at, "length", len, expected)
            }
        })
    }

    /// Reads the whole chunk, whose header is known, into `bytes`.
    pub(crate) fn read_all(&self, header: &ChunkHeader, bytes: &mut Vec<u8>) -> Result<()> {
        self.make_room(bytes, header.ctbytes.into())?;
        self.read(0, bytes)
    }

    /// Reads the parts of the chunk that are needed to decompress these blocks. `blocks` is ascending.
    ///
    /// Each part is placed at its offset in the chunk; all other bytes are unspecified. If the chunk is small, not compressed,
    /// or at least half of its blocks are needed, it is read whole, and the result is true.
    pub(crate) fn read_blocks(
        &self,
        header: &ChunkHeader,
        blocks: &[u32],
        bytes: &mut Vec<u8>,
    ) -> Result<bool> {
        let is_most = blocks.len() >= to_usize(header.nblocks()).div_ceil(2);
        if is_most || header.is_pure_copy() || to_usize(header.ctbytes) <= SMALL {
            return self.read_all(header, bytes).map(|()| true);
        }
        self.make_room(bytes, header.ctbytes.into())?;
        let head_len = blosc1::internal::head_len(header).min(bytes.len());
        let (head, _) = bytes.split_at_mut(head_len);
        self.read(0, head)?;
        let extents = blosc1::internal::extents(head, blocks).map_err(|error| self.error(error))?;
        let (mut ranges, mut rest, mut at) = (Vec::new(), bytes.as_mut_slice(), 0);
        for extent in extents {
            let skip = extent.start.checked_sub(at).map(to_usize);
            let part = skip
                .and_then(|skip| rest.split_at_mut_checked(skip))
                .and_then(|(_, rest)| {
                    rest.split_at_mut_checked(to_usize(extent.end - extent.start))
                });
            let (part, later) = part.ok_or_else(|| {
                let (number, len) = (self.number, header.ctbytes);
                Error::bug(format!(
                    "bytes {extent:?} of chunk {number}, which has {len}"
                ))
            })?;
            ranges.push((self.start + u64::from(extent.start), part));
            (rest, at) = (later, extent.end);
        }
        self.io(self.source().read_ranges(&mut ranges))?;
        let checked = blosc1::internal::check_extents(bytes, blocks);
        checked.map(|()| false).map_err(|error| self.error(error))
    }

    /// Sets the length of `bytes` to `len`, and keeps the bytes it contains.
    fn make_room(&self, bytes: &mut Vec<u8>, len: u64) -> Result<()> {
        let wanted = in_memory(len)?;
        if bytes.capacity() < wanted {
            let mut larger = self.part().zeros(len)?;
            larger
                .iter_mut()
                .zip(bytes.iter())
                .for_each(|(to, from)| *to = *from);
            *bytes = larger;
        }
        bytes.resize(wanted, 0);
        Ok(())
    }
}

/// The maximum length of a chunk with this header, if every stream is as long as C-Blosc lets Snappy make it: more than any
/// program writes.
fn longest(header: &ChunkHeader) -> u64 {
    let nbytes = u64::from(header.nbytes);
    let blocks = u64::from(header.nblocks()) * PER_BLOCK;
    nbytes + nbytes / 6 + blocks + OVERHEAD
}

/// Refuses a chunk over the limit `chunk`, or longer than any program makes one for its data.
///
/// Many index entries may refer to one chunk, and reading each of them reads the whole chunk. The length bounds that work.
pub(crate) fn check_header(number: u64, header: &ChunkHeader, limits: &Limits) -> Result<()> {
    let part = FramePart::Chunk(number);
    if u64::from(header.ctbytes) > longest(header) {
        let (most, nbytes) = (longest(header), header.nbytes);
        let expected = format!("at most {most} for {nbytes} bytes of data");
        return Err(part.damaged(None, "length", header.ctbytes, expected));
    }
    check_chunk_len(part, header.nbytes.into(), limits)
}

/// Refuses a chunk of more than `limits.chunk` uncompressed bytes.
pub(crate) fn check_chunk_len(part: FramePart, found: u64, limits: &Limits) -> Result<()> {
    let allowed = limits.chunk.into();
    part.check_limit(Limit::Chunk, found, allowed)
}
