//! [`SeekEncoder`]: for targets that can be patched.
//!
//! ```text
//!   header (unknown: -1) | metadata | room: entries of -1 | chunk | chunk | ...
//! ```
//!
//! A member of unknown length is held back in memory while it is small; its offset table then gets exactly the right length.
//! A larger one begins with room for [`FIRST_ROOM`] entries. When they run out, the chunks are moved up to double the room.

use super::chunk_compressor::ChunkSink;
use super::chunker::Chunker;
use super::plan::{Plan, Total};
use super::stream::unfilled;
use blosc1::{ChunkSettings, Tuned};
use bloscpack_error::checked::{in_memory, slice, slice_mut, to_u64, to_usize};
use bloscpack_error::{Error, IoSide, Result};
use bloscpack_storage::ReadAt;
use bloscpack_storage::SharedSource;
use bloscpack_wire::{FormatVersion, Header, Offsets, internal::ENTRY_LEN};
use std::borrow::Cow;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::ops::Range;
use std::sync::Arc;

/// The most compressed bytes of a member of unknown length that are held back in memory.
const HELD_BACK: usize = 256 << 10;
/// Entries in the first offset table of a member of unknown length.
const FIRST_ROOM: u64 = 1024;
/// Entries of the table that are encoded at once.
const ENTRIES_AT_ONCE: usize = 512;
/// Bytes moved at once.
const MOVE_LEN: u64 = 1 << 20;
/// The last position at which a member may begin. The length of the member is bounded by its table and by the disk, so no
/// position in the target exceeds 63 bits.
const LAST_BASE: u64 = 1 << 61;

/// Moves `len` bytes from one position of a target up to another.
pub(crate) type Mover<W> = fn(&mut W, from: u64, to: u64, len: u64) -> Result<()>;

/// Writes a Bloscpack file to a target that can seek, with header and offset table filled in at the end; created by
/// [`EncoderBuilder::write_to_file`](super::EncoderBuilder::write_to_file) and
/// [`write_to_seek`](super::EncoderBuilder::write_to_seek).
///
/// The offset table lets an [`IndexedReader`](crate::indexed::IndexedReader) find any chunk at once. Its entries take 8 bytes
/// of memory per chunk until [`finish`](Self::finish).
///
/// Until `finish`, the number of chunks or all offsets are -1: an encoder that is dropped earlier leaves a file that every
/// reader of this project refuses as unfinished. A file of unknown length with less than 256 KiB of compressed data is
/// written by `finish` alone.
///
/// Errors are the same as of an [`Encoder`](super::Encoder).
///
/// ```
/// use bloscpack::{Encoder, Options, survey::Survey};
/// use std::io::{Cursor, Write};
/// let mut encoder = Encoder::builder().write_to_file(Cursor::new(Vec::new()))?;
/// encoder.write_all(&[7; 3000])?;
/// let file = encoder.finish()?.into_inner();
///
/// let survey = Survey::of(file.as_slice(), &Options::new())?;
/// let header = &survey.members[0].header;
/// assert!(header.offsets);
/// assert_eq!((header.nchunks, header.last_chunk), (Some(1), Some(3000)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct SeekEncoder<W: Write + Seek> {
    chunker: Chunker,
    sink: SeekSink<W>,
}

/// Writes chunks, and the parts before them once these are known.
pub(crate) struct SeekSink<W> {
    pub target: W,
    plan: Plan,
    mover: Option<Mover<W>>,
    /// Where the member begins in the target.
    base: u64,
    /// Chunks that are held back, as long as nothing has been written.
    held: Option<Vec<u8>>,
    /// Entries for which the offset table has room.
    room: u64,
    /// Where the chunks begin, counted from the beginning of the member.
    chunks_at: u64,
    /// Length of the chunks so far.
    pub len: u64,
    /// Number of the chunks so far.
    chunks: u64,
    /// Where each chunk begins, counted from the first, if the file gets an offset table.
    starts: Vec<u64>,
}

impl<W: Write + Seek> SeekEncoder<W> {
    pub(super) fn new(target: W, plan: Plan, mover: Option<Mover<W>>) -> Result<Self> {
        let chunker = plan.chunker()?;
        let sink = SeekSink::new(target, plan, mover).writing()?;
        Ok(Self { chunker, sink })
    }

    /// Compresses everything from the reader, without a copy in between, and returns its length in bytes. It may be called
    /// several times, and mixed with [`write`](Write::write): the data of all calls is one content.
    ///
    /// # Errors
    /// Returns any error of the reader, on [`Side::Source`](bloscpack_error::Side::Source), after which the call may be
    /// repeated, and any error of the target, on [`Side::Target`](bloscpack_error::Side::Target).
    pub fn read_from<R: Read>(&mut self, mut reader: R) -> Result<u64> {
        self.chunker
            .read_from(&mut reader, &mut self.sink)
            .writing()
    }

    /// Compresses these bytes of a source that can be read at any position, and returns how many bytes were read.
    ///
    /// The threads that compress also read the source, in parallel, which is faster than [`read_from`](Self::read_from) for a
    /// file. A source that ends before the range does is an error of the kind
    /// [`UnexpectedEof`](std::io::ErrorKind::UnexpectedEof), or results in fewer bytes, depending on where it ends.
    ///
    /// ```
    /// use bloscpack::Encoder;
    /// use std::sync::Arc;
    /// let source = Arc::new(vec![7; 3_000_000]);
    /// let mut encoder = Encoder::builder().threads(2).write_to_file(std::io::Cursor::new(Vec::new()))?;
    /// assert_eq!(encoder.read_at(source, 5..2_999_999)?, 2_999_994);
    /// let file = encoder.finish()?.into_inner();
    /// assert_eq!(bloscpack::decompress(&file)?.len(), 2_999_994);
    /// # Ok::<(), bloscpack::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns any error of the source, on [`Side::Source`](bloscpack_error::Side::Source), and of the target, on
    /// [`Side::Target`](bloscpack_error::Side::Target). After an error, all further calls fail, also `finish`.
    pub fn read_at<S>(&mut self, source: Arc<S>, bytes: Range<u64>) -> Result<u64>
    where
        S: ReadAt + 'static,
    {
        let source: SharedSource = source;
        self.chunker
            .read_at(&source, bytes, &mut self.sink)
            .writing()
    }

    /// Compresses and writes the rest, fills in offset table and header, flushes the target and returns it, positioned at the
    /// end of the member. Nothing is synced to disk.
    ///
    /// # Errors
    /// Returns any error of the target, and [`Code::WrongSize`](bloscpack_error::Code::WrongSize) if fewer bytes
    /// arrived than were announced. The file is then unfinished.
    pub fn finish(mut self) -> Result<W> {
        self.chunker.finish(false, &mut self.sink).writing()?;
        self.sink.finish(self.chunker.total_in()).writing()?;
        Ok(self.sink.target)
    }

    /// The target underneath.
    pub fn get_ref(&self) -> &W {
        &self.sink.target
    }

    /// The settings that [`auto`](super::EncoderBuilder::auto) chose, and the reason; `None` before the choice, and without
    /// `auto`.
    pub fn tuned(&self) -> Option<&Tuned> {
        self.chunker.tuned()
    }

    /// As [`tuned`](Self::tuned), but makes the choice now if it has not been made, by the data of the first chunk so far.
    /// Call it before [`finish`](Self::finish) if the data may be shorter than a chunk; `finish` would choose the same.
    ///
    /// # Errors
    /// Returns any error of the target, since header and metadata may be written now.
    pub fn tune(&mut self) -> Result<Option<&Tuned>> {
        self.chunker.tune(&mut self.sink).writing()
    }

    /// Uncompressed bytes taken in so far.
    pub fn total_in(&self) -> u64 {
        self.chunker.total_in()
    }

    /// Bytes of all chunks so far with their digests, without header and offset table, and without chunks that are still being
    /// compressed.
    pub fn total_out(&self) -> u64 {
        self.sink.len
    }
}

/// Takes bytes into the current chunk. A call blocks only while all threads are busy, or on the target.
impl<W: Write + Seek> Write for SeekEncoder<W> {
    fn write(&mut self, data: &[u8]) -> io::Result<usize> {
        if data.is_empty() {
            return Ok(0);
        }
        Ok(self.chunker.write(data, &mut self.sink)?)
    }

    /// Writes all full chunks and flushes the target; the file stays unfinished.
    fn flush(&mut self) -> io::Result<()> {
        self.chunker.flush(&mut self.sink)?;
        self.sink.target.flush()
    }
}

impl<W: Write + Seek> ChunkSink for SeekSink<W> {
    /// The header is written again at the end.
    fn tuned(&mut self, settings: &ChunkSettings) -> Result<()> {
        self.plan.adopt(settings);
        Ok(())
    }

    fn put(&mut self, chunks: &[u8], ends: &[usize]) -> Result<()> {
        let held = self.held.as_ref();
        if held.is_some_and(|held| held.len() + chunks.len() > HELD_BACK) {
            self.begin_open()?;
        }
        if self.plan.spare_space == 0 {
            return self.put_run(chunks, ends);
        }
        let mut from = 0;
        for to in ends {
            let chunk = slice(chunks, from..*to)?;
            self.put_run(chunk, &[chunk.len()])?;
            self.leave_space()?;
            from = *to;
        }
        Ok(())
    }
}

impl<W: Write + Seek> SeekSink<W> {
    pub(crate) fn new(mut target: W, plan: Plan, mover: Option<Mover<W>>) -> Result<Self> {
        if plan.known.is_none() && plan.has_offsets() && mover.is_none() {
            return Err(Error::usage(
                "a table of offsets needs the size beforehand, or a target that can also be read",
            ));
        }
        let base = target.stream_position()?;
        if base > LAST_BASE {
            let why = format!("the target is at byte {base}, past the maximum length of a file");
            return Err(Error::usage(why));
        }
        let held = plan.known.is_none().then(Vec::new);
        let mut sink = Self {
            target,
            plan,
            mover,
            base,
            held,
            room: 0,
            chunks_at: 0,
            len: 0,
            chunks: 0,
            starts: Vec::new(),
        };
        if let Some(total) = sink.plan.known {
            sink.begin_known(total)?;
        }
        Ok(sink)
    }

    /// Writes chunks that follow each other without a gap.
    fn put_run(&mut self, chunks: &[u8], ends: &[usize]) -> Result<()> {
        let mut start = self.len;
        for end in ends {
            if self.plan.has_offsets() {
                self.starts.push(start);
            }
            start = self.len + to_u64(*end);
            self.chunks += 1;
        }
        self.plan.check_chunks(self.chunks)?;
        if self.held.is_none() {
            self.make_room()?;
        }
        self.write(chunks)?;
        self.len += to_u64(chunks.len());
        if start != self.len {
            let len = self.len;
            let why = format!("chunks that end at {start}, where {len} bytes were written");
            return Err(Error::bug(why));
        }
        Ok(())
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        match &mut self.held {
            Some(held) => held.extend_from_slice(bytes),
            None => self.target.write_all(bytes)?,
        }
        Ok(())
    }

    /// Writes the spare space after a chunk.
    fn leave_space(&mut self) -> Result<()> {
        let len = self.plan.spare_space;
        self.write(&vec![0; to_usize(len)])?;
        self.len += u64::from(len);
        Ok(())
    }

    /// Writes the parts before the chunks of a member whose length is known, with offsets of -1.
    fn begin_known(&mut self, total: Total) -> Result<()> {
        let spare = self.plan.spare_for(total.chunks);
        let header = self.plan.full_header(total, spare)?;
        // Only the finished file is sealed; until then, word and bit of the seal are clear. A header without offsets has no
        // table length.
        self.begin(&header.encode()?, header.table_len().unwrap_or(0))
    }

    /// Writes the parts before the chunks of a member whose length is not known, and the chunks that were held back.
    fn begin_open(&mut self) -> Result<()> {
        let has_spares = self.plan.version() == FormatVersion::V3 && self.plan.has_offsets();
        let header = self.plan.open_header().encode()?;
        self.begin(&header, if has_spares { FIRST_ROOM } else { 0 })?;
        self.write_held()
    }

    /// Writes the chunks that were held back. Later chunks go directly to the target.
    fn write_held(&mut self) -> Result<()> {
        if let Some(held) = self.held.take() {
            self.target.write_all(&held)?;
        }
        Ok(())
    }

    fn begin(&mut self, header: &[u8], room: u64) -> Result<()> {
        self.target.write_all(header)?;
        self.target.write_all(&self.plan.metadata)?;
        self.room = room;
        self.chunks_at = self.table_at() + room * ENTRY_LEN;
        self.write_unfilled(room)?;
        Ok(())
    }

    /// Writes this many offsets of -1.
    fn write_unfilled(&mut self, entries: u64) -> io::Result<()> {
        unfilled(entries).try_for_each(|piece| self.target.write_all(piece))
    }

    /// Where the offset table begins, counted from the beginning of the member.
    fn table_at(&self) -> u64 {
        to_u64(self.plan.version().header_len() + self.plan.metadata.len())
    }

    /// Enlarges the offset table of a member of unknown length if it is used up.
    fn make_room(&mut self) -> Result<()> {
        let grows = self.plan.known.is_none() && self.plan.version() == FormatVersion::V3;
        let mut room = self.room;
        while grows && self.plan.has_offsets() && self.chunks > room {
            room = (room * 2).max(1);
        }
        if room > self.room {
            self.grow(room)?;
        }
        Ok(())
    }

    /// Moves the chunks up to make room for this many entries of the offset table.
    fn grow(&mut self, room: u64) -> Result<()> {
        let Some(mover) = self.mover else {
            return Err(Error::bug(
                "the table of offsets is full, and the target cannot be read",
            ));
        };
        let added = room - self.room;
        let from = self.base + self.chunks_at;
        mover(&mut self.target, from, from + added * ENTRY_LEN, self.len)?;
        self.target.seek(SeekFrom::Start(from))?;
        self.write_unfilled(added)?;
        self.chunks_at += added * ENTRY_LEN;
        self.room = room;
        self.seek_to_end()
    }

    /// Moves to the end of the last chunk.
    fn seek_to_end(&mut self) -> Result<()> {
        let end = self.base + self.chunks_at + self.len;
        self.target.seek(SeekFrom::Start(end))?;
        Ok(())
    }

    /// Fills in the offset table, and then the header, which makes the file valid.
    pub(crate) fn finish(&mut self, amount: u64) -> Result<()> {
        let chunks = self.chunks;
        let total = Total { chunks, amount };
        self.check_starts()?;
        self.plan.settle(total, self.held.is_none())?;
        if self.held.is_some() {
            self.begin_known(total)?;
            self.write_held()?;
        }
        // The unused entries are the spare ones. All chunks are moved only if the caller has asked for more.
        let wanted = self.plan.least_spare() + chunks;
        if self.plan.has_offsets() && self.room < wanted {
            self.grow(wanted)?;
        }
        let spare = if self.plan.has_offsets() {
            self.room - chunks
        } else {
            0
        };
        let header = self.plan.full_header(total, spare)?;
        self.patch(header, spare)?;
        self.seek_to_end()?;
        self.target.flush()?;
        Ok(())
    }

    /// Checks that the beginning of each chunk is known, if the file gets an offset table.
    fn check_starts(&self) -> Result<()> {
        let (starts, chunks) = (to_u64(self.starts.len()), self.chunks);
        let expected = if self.plan.has_offsets() { chunks } else { 0 };
        if starts == expected && self.starts.is_sorted_by(|one, next| one < next) {
            return Ok(());
        }
        let why = format!("{starts} offsets of {chunks} chunks, or not in order");
        Err(Error::bug(why))
    }

    /// Fills in the offsets of the chunks and the header. The spare entries after them have been -1 from the beginning.
    fn patch(&mut self, header: Header, spare: u64) -> Result<()> {
        let chunks_at = self.chunks_at;
        let expected = self.plan.geometry(&header)?.chunks_at;
        if expected != chunks_at {
            let why = format!("chunks at byte {chunks_at}, where the header expects {expected}");
            return Err(Error::bug(why));
        }
        let starts = &self.starts;
        let pieces = || {
            starts.chunks(ENTRIES_AT_ONCE).map(|starts| {
                let offsets = starts.iter().map(|start| start + chunks_at);
                Ok(Offsets::encode(&offsets.collect::<Vec<_>>())?)
            })
        };
        if !starts.is_empty() {
            let table_at = self.base + self.table_at();
            self.target.seek(SeekFrom::Start(table_at))?;
            for piece in pieces() {
                self.target.write_all(&piece?)?;
            }
        }
        let spares = unfilled(spare).map(|piece| Ok(Cow::Borrowed(piece)));
        let table = pieces().map(|piece| piece.map(Cow::Owned)).chain(spares);
        let mut front = self.plan.seal(header, table)?;
        front.extend_from_slice(&self.plan.metadata);
        self.target.seek(SeekFrom::Start(self.base))?;
        self.target.write_all(&front)?;
        Ok(())
    }
}

impl<W: Write + Seek> std::fmt::Debug for SeekEncoder<W> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SeekEncoder")
            .field("total_in", &self.total_in())
            .field("total_out", &self.total_out())
            .finish_non_exhaustive()
    }
}

/// Moves bytes up, from the last to the first: none is overwritten before it is read.
pub(crate) fn move_up<W: Read + Write + Seek>(
    target: &mut W,
    from: u64,
    to: u64,
    len: u64,
) -> Result<()> {
    let mut buffer = vec![0; in_memory(len.min(MOVE_LEN))?];
    let mut left = len;
    while left > 0 {
        let step = left.min(MOVE_LEN);
        left -= step;
        let piece = slice_mut(&mut buffer, 0..in_memory(step)?)?;
        target.seek(SeekFrom::Start(from + left))?;
        target.read_exact(piece)?;
        target.seek(SeekFrom::Start(to + left))?;
        target.write_all(piece)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::encoder::Encoder;
    use bloscpack_error::Code;
    use std::io::Cursor;

    /// An encoder that has taken in some chunks.
    fn begun(size: Option<u64>) -> SeekEncoder<Cursor<Vec<u8>>> {
        let mut options = Encoder::builder().chunk_size(10).spare_space(0);
        options.size = size;
        let mut encoder = options.write_to_file(Cursor::new(Vec::new())).unwrap();
        encoder.write_all(&[7; 35]).unwrap();
        encoder.chunker.flush(&mut encoder.sink).unwrap();
        encoder
    }

    type Plant = fn(&mut SeekSink<Cursor<Vec<u8>>>);

    #[test]
    fn a_wrong_count_or_a_wrong_offset_is_never_finished() {
        let plants: [Plant; 6] = [
            |sink| sink.chunks += 1,
            |sink| sink.chunks -= 1,
            |sink| sink.starts.push(1 << 20),
            |sink| sink.starts.truncate(2),
            |sink| sink.starts.swap(0, 1),
            |sink| sink.chunks_at += 8,
        ];
        for size in [Some(35), None] {
            for (number, plant) in plants.into_iter().enumerate() {
                let mut encoder = begun(size);
                plant(&mut encoder.sink);
                let error = match encoder.finish() {
                    Err(error) => error,
                    // Where the chunks begin is found out later.
                    Ok(_) if size.is_none() && number == 5 => continue,
                    Ok(_) => panic!("{size:?} {number} was finished"),
                };
                assert_eq!(error.code(), Code::Bug, "{error:?}");
            }
            begun(size).finish().unwrap();
        }
    }

    #[test]
    fn ends_that_are_not_those_of_the_bytes_are_bugs() {
        let mut encoder = begun(Some(35));
        for ends in [&[5][..], &[20], &[]] {
            let error = encoder.sink.put_run(&[0; 10], ends).unwrap_err();
            assert_eq!(error.code(), Code::Bug, "{error:?}");
        }
    }
}
