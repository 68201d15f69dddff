//! [`StoredChunk`]: the bytes of a chunk, read from where they are.

use super::Origin;
use crate::part::FramePart;
use blosc1::{ChunkError, ChunkHeader, HEADER_LEN};
use bloscpack_error::checked::{in_memory, to_u64, to_usize};
use bloscpack_error::{Error, Result};
use bloscpack_storage::{Access, Key, ReadAhead, StoreFile};
use bloscpack_wire::{Limit, Limits, Position, Section};

/// Chunks of up to so many bytes are read at once, however few blocks are wanted.
pub(crate) const SMALL: usize = 16 << 10;
/// The most bytes of a chunk that are read before its header is known.
const MOST: u64 = 1 << 20;

/// Bytes of a chunk besides its data: those of the longest header, with a value of any length.
const OVERHEAD: u64 = 32 + 255;
/// The same for each block: its entry in the table, and what its streams may be longer than the data.
const PER_BLOCK: u64 = 4 + 68;

/// The bytes of one chunk, of which nothing has been read yet.
pub(crate) struct StoredChunk<'a> {
    number: u64,
    source: Source<'a>,
    start: u64,
    /// The maximum length of the chunk in bytes.
    room: u64,
}

enum Source<'a> {
    /// A file that contains other chunks, too.
    Shared(&'a dyn StoreFile, &'a Origin),
    /// A file of its own, which ends with the chunk.
    Own(Box<dyn StoreFile>, (Key, Access)),
}

impl<'a> StoredChunk<'a> {
    /// A chunk that begins at `start` of a file in which no chunk extends past `end`.
    pub(super) fn within(
        number: u64,
        (source, origin): (&'a dyn StoreFile, &'a Origin),
        start: u64,
        end: u64,
    ) -> Self {
        Self {
            number,
            source: Source::Shared(source, origin),
            start,
            // A chunk that begins past the end has no room at all.
            room: end.saturating_sub(start),
        }
    }

    /// A chunk in a file of its own.
    pub(super) fn alone(
        number: u64,
        source: Box<dyn StoreFile>,
        file: (Key, Access),
    ) -> Result<Self> {
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

    /// The same chunk of a frame in one file, read through a window that several chunks share.
    pub(crate) fn through(self, ahead: Option<&'a ReadAhead<&'a dyn StoreFile>>) -> Self {
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

    /// The byte of its file at which it begins.
    pub(crate) fn byte(&self) -> u64 {
        self.start
    }

    pub(crate) fn part(&self) -> FramePart {
        FramePart::Chunk(self.number)
    }

    /// The error of this chunk's content, with its position.
    pub(crate) fn error(&self, error: ChunkError) -> Error {
        self.located(error.into())
    }

    /// The error with the position of this chunk.
    pub(crate) fn located(&self, error: Error) -> Error {
        error.at(Position {
            byte: self.start,
            member: 0,
            chunk: Some(self.number),
            section: Section::Chunk,
        })
    }

    fn io<T>(&self, done: std::io::Result<T>) -> Result<T> {
        match &self.source {
            Source::Shared(_, origin) => origin.io(done),
            Source::Own(_, (key, access)) => {
                done.or_else(|error| Origin::of(*access, Some(key)).io(Err(error)))
            }
        }
    }

    /// Fills `buf` with the chunk's bytes from `at` on, all of which have to be there.
    fn read(&self, at: usize, buf: &mut [u8]) -> Result<()> {
        self.io(self.source().read_exact_at(self.start + to_u64(at), buf))
    }

    fn source(&self) -> &dyn StoreFile {
        match &self.source {
            Source::Shared(source, _) => *source,
            Source::Own(source, ..) => &**source,
        }
    }

    /// Reads the header. The whole chunk has room where it is.
    pub(crate) fn header(&self) -> Result<ChunkHeader> {
        self.check_room(to_u64(HEADER_LEN))?;
        let mut first = [0; HEADER_LEN];
        self.read(0, &mut first)?;
        self.parse(&first)
    }

    /// The header that a chunk begins with. The whole chunk has room where it is.
    fn parse(&self, bytes: &[u8]) -> Result<ChunkHeader> {
        let first = bytes.first_chunk();
        let first = first.ok_or_else(|| Error::bug(format!("{} bytes of a chunk", bytes.len())))?;
        let header = ChunkHeader::parse(first).map_err(|error| self.error(error))?;
        self.check_room(header.ctbytes.into())?;
        Ok(header)
    }

    /// Reads all of a chunk that probably has `len` bytes, at once if that is true and it is not large. `check` may refuse its
    /// header before memory is taken for it.
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

    /// Refuses a chunk that would extend past the part of the file that contains chunks, or past the end of its own file,
    /// which has then been cut.
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

    /// Reads all bytes of the chunk, which has this header.
    pub(crate) fn read_all(&self, header: &ChunkHeader, bytes: &mut Vec<u8>) -> Result<()> {
        self.make_room(bytes, header.ctbytes.into())?;
        self.read(0, bytes)
    }

    /// Reads the bytes of the chunk that these blocks need, to their positions in `bytes`. The other bytes are undefined, unless
    /// it was simpler to read all: then the result is true.
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

    /// Makes `bytes` as long as a chunk, or as what is read of it first, and keeps what is in it.
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

/// The maximum length of a chunk with this header: with all streams as long as C-Blosc lets Snappy make them.
fn longest(header: &ChunkHeader) -> u64 {
    let nbytes = u64::from(header.nbytes);
    let blocks = u64::from(header.nblocks()) * PER_BLOCK;
    nbytes + nbytes / 6 + blocks + OVERHEAD
}

/// Refuses chunks that are over a limit, or longer than any program makes them: many entries of an index may refer to one
/// chunk, and each would read all of it.
pub(crate) fn check_header(number: u64, header: &ChunkHeader, limits: &Limits) -> Result<()> {
    let part = FramePart::Chunk(number);
    if u64::from(header.ctbytes) > longest(header) {
        let (most, nbytes) = (longest(header), header.nbytes);
        let expected = format!("at most {most} for {nbytes} bytes of data");
        return Err(part.damaged(None, "length", header.ctbytes, expected));
    }
    check_chunk_len(part, header.nbytes.into(), limits)
}

/// Refuses a chunk with more data than the limit `chunk`.
pub(crate) fn check_chunk_len(part: FramePart, found: u64, limits: &Limits) -> Result<()> {
    let allowed = limits.chunk.into();
    part.check_limit(Limit::Chunk, found, allowed)
}
