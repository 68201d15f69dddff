//! [`SeekEncoder`]: for targets that can be patched.
//!
//! ```text
//!   header (unknown: -1) | metadata | room: entries of -1 | chunk | chunk | ...
//! ```
//!
//! The beginning of a member of unknown length is held back while it is small, since then its
//! table can be made to measure. Beyond that the table gets room for [`FIRST_ROOM`] entries; when
//! they run out, the chunks are moved up to double it.

use super::chunk_compressor::Sink;
use super::chunker::Stage;
use super::plan::{Plan, Total};
use super::stream::unfilled;
use crate::shared_source::Shared;
use blosc1::{ChunkSettings, Tuned};
use bloscpack_error::{Error, IoSide, Result};
use bloscpack_storage::ReadAt;
use bloscpack_wire::{FormatVersion, Header, Offsets, offsets::ENTRY_LEN};
use std::borrow::Cow;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::ops::Range;
use std::sync::Arc;

/// Compressed bytes of a member of unknown length that are held back.
const HOLD: usize = 256 << 10;
/// Entries of the first table of unknown length.
const FIRST_ROOM: u64 = 1024;
/// Entries of the table that are encoded at once.
const ENTRIES_AT_ONCE: usize = 512;
/// Bytes moved at once.
const MOVE_LEN: usize = 1 << 20;

/// Moves `len` bytes from one position of a target up to another.
pub(crate) type Mover<W> = fn(&mut W, from: u64, to: u64, len: u64) -> io::Result<()>;

/// Writes a Bloscpack file to a target that can seek, with header and offsets filled in at the
/// end.
///
/// Until [`finish`](Self::finish), the number of chunks or the offsets are -1: what is dropped
/// before is a file that every reader here refuses as unfinished.
///
/// ```
/// use bloscpack::{Encoder, Survey};
/// use std::io::{Cursor, Write};
/// let mut encoder = Encoder::builder().write_to_file(Cursor::new(Vec::new()))?;
/// encoder.write_all(&[7; 3000])?;
/// let file = encoder.finish()?.into_inner();
///
/// let survey = Survey::of(file.as_slice(), &Default::default())?;
/// let header = &survey.members[0].header;
/// assert!(header.offsets);
/// assert_eq!((header.nchunks, header.last_chunk), (Some(1), Some(3000)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct SeekEncoder<W: Write + Seek> {
    stage: Stage,
    sink: SeekSink<W>,
}

pub(crate) struct SeekSink<W> {
    pub target: W,
    plan: Plan,
    mover: Option<Mover<W>>,
    /// Where the member begins in the target.
    base: u64,
    /// Chunks that are held back, as long as nothing has been written.
    held: Option<Vec<u8>>,
    /// Entries that the table has room for.
    room: u64,
    /// Where the chunks begin, from the beginning of the member.
    chunks_at: u64,
    /// Length of the chunks so far, their number, and where each begins among them.
    pub len: u64,
    chunks: u64,
    starts: Vec<u64>,
}

impl<W: Write + Seek> SeekEncoder<W> {
    pub(super) fn new(target: W, plan: Plan, mover: Option<Mover<W>>) -> Result<Self> {
        let stage = plan.stage()?;
        let sink = SeekSink::new(target, plan, mover).writing()?;
        Ok(Self { stage, sink })
    }

    /// Compresses all that the reader has, without a copy in between; returns how many bytes that
    /// was.
    ///
    /// # Errors
    /// Those of the reader and of the target.
    pub fn read_from<R: Read>(&mut self, mut reader: R) -> Result<u64> {
        self.stage.read_from(&mut reader, &mut self.sink).writing()
    }

    /// Compresses these bytes of a source that can be read at any position; returns how many that was.
    ///
    /// The threads that compress read what they need themselves, at the same time: faster than
    /// [`read_from`](Self::read_from) for a file. If the source turns out to be shorter, that may be an error of the
    /// kind [`UnexpectedEof`](std::io::ErrorKind::UnexpectedEof), or fewer bytes than asked for.
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
    /// Those of the source and of the target; after one, nothing can follow, and `finish` is an error, too.
    pub fn read_at<S>(&mut self, source: Arc<S>, bytes: Range<u64>) -> Result<u64>
    where
        S: ReadAt + Send + Sync + 'static,
    {
        let source: Shared = source;
        self.stage.read_at(&source, bytes, &mut self.sink).writing()
    }

    /// Writes what is left, fills in offsets and header, flushes, and gives back the target, which
    /// then stands at the end of the member. Nothing is synced to disk.
    ///
    /// # Errors
    /// Those of the target; [`ErrorKind::WrongSize`](bloscpack_error::ErrorKind::WrongSize) if fewer bytes
    /// came than were promised. The file is then unfinished.
    pub fn finish(mut self) -> Result<W> {
        self.stage.finish(false, &mut self.sink).writing()?;
        self.sink.finish(self.stage.total_in()).writing()?;
        Ok(self.sink.target)
    }

    /// The target underneath.
    pub fn get_ref(&self) -> &W {
        &self.sink.target
    }

    /// What [`auto`](super::EncoderBuilder::auto) chose and why; `None` before it has, and without it.
    pub fn tuned(&self) -> Option<&Tuned> {
        self.stage.tuned()
    }

    /// The same, but chooses now if that is still to be done, by what there is of the first chunk: before
    /// [`finish`](Self::finish) of short data, which would choose the same.
    ///
    /// # Errors
    /// Those of the target, to which what stands before the chunks may go now.
    pub fn tune(&mut self) -> Result<Option<&Tuned>> {
        self.stage.tune(&mut self.sink).writing()
    }

    /// Uncompressed bytes taken in.
    pub fn total_in(&self) -> u64 {
        self.stage.total_in()
    }

    /// Bytes of all chunks so far, header and table not counted.
    pub fn total_out(&self) -> u64 {
        self.sink.len
    }
}

impl<W: Write + Seek> Write for SeekEncoder<W> {
    fn write(&mut self, data: &[u8]) -> io::Result<usize> {
        if data.is_empty() {
            return Ok(0);
        }
        Ok(self.stage.write(data, &mut self.sink)?)
    }

    /// Writes all full chunks and flushes the target; the file stays unfinished.
    fn flush(&mut self) -> io::Result<()> {
        self.stage.flush(&mut self.sink)?;
        self.sink.target.flush()
    }
}

impl<W: Write + Seek> Sink for SeekSink<W> {
    /// The header is written again at the end.
    fn tuned(&mut self, settings: &ChunkSettings) -> Result<()> {
        self.plan.adopt(settings);
        Ok(())
    }

    fn put(&mut self, chunks: &[u8], ends: &[usize]) -> Result<()> {
        if self
            .held
            .as_ref()
            .is_some_and(|held| held.len().saturating_add(chunks.len()) > HOLD)
        {
            self.begin_open()?;
        }
        if self.plan.spare_space == 0 {
            return self.put_run(chunks, ends);
        }
        let mut from = 0;
        for to in ends {
            let chunk = chunks.get(from..*to).unwrap_or_default();
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

    /// Writes chunks that lie one behind the other.
    fn put_run(&mut self, chunks: &[u8], ends: &[usize]) -> Result<()> {
        let mut start = self.len;
        for end in ends {
            if self.plan.has_offsets() {
                self.starts.push(start);
            }
            let end = u64::try_from(*end).unwrap_or(u64::MAX);
            start = self.len.saturating_add(end);
            self.chunks = self.chunks.saturating_add(1);
        }
        if self.held.is_none() {
            self.make_room()?;
        }
        self.write(chunks)?;
        self.len = start;
        Ok(())
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        match &mut self.held {
            Some(held) => held.extend_from_slice(bytes),
            None => self.target.write_all(bytes)?,
        }
        Ok(())
    }

    /// Writes the spare space behind a chunk.
    fn leave_space(&mut self) -> io::Result<()> {
        let len = self.plan.spare_space;
        self.write(&vec![0; usize::try_from(len).unwrap_or(0)])?;
        self.len = self.len.saturating_add(len.into());
        Ok(())
    }

    /// Writes the beginning of a member whose length is known: all but the offsets.
    fn begin_known(&mut self, total: Total) -> Result<()> {
        let spare = self.plan.spare_for(total.chunks);
        let header = self.plan.full_header(total, spare);
        // The seal belongs to the finished file; until then its word and bit are clear.
        self.begin(&header.encode()?, header.table_len().unwrap_or(0))
    }

    /// Writes the beginning of a member whose length is not known, and what was held back.
    fn begin_open(&mut self) -> Result<()> {
        let spares = self.plan.layout() == FormatVersion::V3 && self.plan.has_offsets();
        let header = self.plan.open_header().encode()?;
        self.begin(&header, if spares { FIRST_ROOM } else { 0 })?;
        let held = self.held.take().unwrap_or_default();
        self.target.write_all(&held)?;
        Ok(())
    }

    fn begin(&mut self, header: &[u8], room: u64) -> Result<()> {
        self.target.write_all(header)?;
        self.target.write_all(&self.plan.metadata)?;
        self.room = room;
        self.chunks_at = self
            .table_at()
            .saturating_add(room.saturating_mul(ENTRY_LEN));
        io::copy(
            &mut io::repeat(0xff).take(room.saturating_mul(ENTRY_LEN)),
            &mut self.target,
        )?;
        Ok(())
    }

    fn table_at(&self) -> u64 {
        let before = self
            .plan
            .layout()
            .header_len()
            .saturating_add(self.plan.metadata.len());
        u64::try_from(before).unwrap_or(u64::MAX)
    }

    /// Makes the table larger where it is of unknown length and used up.
    fn make_room(&mut self) -> Result<()> {
        let grows = self.plan.known.is_none() && self.plan.layout() == FormatVersion::V3;
        let mut room = self.room;
        while grows && self.plan.has_offsets() && self.chunks > room {
            room = room.saturating_mul(2).max(1);
        }
        if room > self.room {
            self.grow(room)?;
        }
        Ok(())
    }

    /// Moves the chunks up so that the table has this many entries.
    fn grow(&mut self, room: u64) -> Result<()> {
        let Some(mover) = self.mover else {
            return Err(Error::bug(
                "the table of offsets is full and the target cannot be read",
            ));
        };
        let added = room.saturating_sub(self.room).saturating_mul(ENTRY_LEN);
        let from = self.base.saturating_add(self.chunks_at);
        mover(&mut self.target, from, from.saturating_add(added), self.len)?;
        self.target.seek(SeekFrom::Start(from))?;
        io::copy(&mut io::repeat(0xff).take(added), &mut self.target)?;
        self.chunks_at = self.chunks_at.saturating_add(added);
        self.room = room;
        self.seek_to_end()?;
        Ok(())
    }

    fn seek_to_end(&mut self) -> io::Result<()> {
        let end = self
            .base
            .saturating_add(self.chunks_at)
            .saturating_add(self.len);
        self.target.seek(SeekFrom::Start(end)).map(|_| ())
    }

    /// Fills in all that is known now: first the offsets, then the header that vouches for them.
    pub(crate) fn finish(&mut self, amount: u64) -> Result<()> {
        let chunks = self.chunks;
        let total = Total { chunks, amount };
        self.plan.settle(total, self.held.is_none())?;
        if let Some(held) = self.held.take() {
            self.begin_known(total)?;
            self.target.write_all(&held)?;
        }
        // What is left over is spare; more is worth moving all chunks only if it was asked for.
        let wanted = self.plan.least_spare().saturating_add(chunks);
        if self.plan.has_offsets() && self.room < wanted {
            self.grow(wanted)?;
        }
        let spare = self.room.saturating_sub(chunks);
        let spare = if self.plan.has_offsets() { spare } else { 0 };
        let header = self.plan.full_header(total, spare);
        self.patch(header, spare)?;
        self.seek_to_end()?;
        self.target.flush()?;
        Ok(())
    }

    /// Fills in the offsets of the chunks, behind which the spare entries are -1 from the beginning, and the header.
    fn patch(&mut self, header: Header, spare: u64) -> Result<()> {
        let starts: &[u64] = match self.plan.has_offsets() {
            true => &self.starts,
            false => &[],
        };
        let chunks_at = self.chunks_at;
        let pieces = || {
            starts.chunks(ENTRIES_AT_ONCE).map(|starts| {
                let offsets = starts.iter().map(|start| start.saturating_add(chunks_at));
                Offsets::encode(&offsets.collect::<Vec<_>>(), 0)
            })
        };
        if !starts.is_empty() {
            debug_assert_eq!(self.plan.geometry(&header)?.chunks_at, chunks_at);
            let table_at = self.base.saturating_add(self.table_at());
            self.target.seek(SeekFrom::Start(table_at))?;
            pieces().try_for_each(|piece| self.target.write_all(&piece))?;
        }
        let spares = unfilled(spare).map(Cow::Borrowed);
        let table = pieces().map(Cow::Owned).chain(spares);
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

/// Moves bytes up, from the last to the first, so that none is overwritten before it is read.
pub(crate) fn move_up<W: Read + Write + Seek>(
    target: &mut W,
    from: u64,
    to: u64,
    len: u64,
) -> io::Result<()> {
    let mut buffer = vec![0; MOVE_LEN];
    let mut left = len;
    while left > 0 {
        let step = buffer
            .len()
            .min(usize::try_from(left).unwrap_or(usize::MAX));
        left = left.saturating_sub(u64::try_from(step).unwrap_or(left));
        let piece = buffer.get_mut(..step).unwrap_or_default();
        target.seek(SeekFrom::Start(from.saturating_add(left)))?;
        target.read_exact(piece)?;
        target.seek(SeekFrom::Start(to.saturating_add(left)))?;
        target.write_all(piece)?;
    }
    Ok(())
}
