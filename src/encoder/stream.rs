//! [`Encoder`]: for targets that only take bytes.

use super::EncoderBuilder;
use super::chunk_compressor::ChunkSink;
use super::chunker::Chunker;
use super::plan::Plan;
use blosc1::{ChunkHeader, ChunkSettings, Tuned};
use bloscpack_error::checked::to_u64;
use bloscpack_error::{Error, IoSide, Result};
use bloscpack_storage::ReadAt;
use bloscpack_storage::SharedSource;
use bloscpack_wire::internal::ENTRY_LEN;
use std::io::{self, Read, Write};
use std::ops::Range;
use std::sync::Arc;

/// Writes a Bloscpack stream to a target that takes bytes: a pipe, a socket, a buffer.
///
/// Data is compressed chunk by chunk, on as many [threads](EncoderBuilder::threads) as the builder sets. The stream has no
/// offset table. If its length is known beforehand ([`size`](EncoderBuilder::size)), the header is complete; otherwise its
/// counts are -1, and an end mark after the last chunk distinguishes a complete stream from one that was cut. A stream of
/// unknown length without data has no chunk, one with size 0 has one empty chunk.
///
/// [`flush`](Write::flush) delivers full chunks only, unless the encoder is
/// [interactive](EncoderBuilder::interactive).
///
/// Only [`finish`](Self::finish) completes the stream: a dropped encoder leaves one that every reader refuses as cut
/// short.
///
/// # Errors
/// As a [`Write`], returns an [`io::Error`] that contains an [`Error`](bloscpack_error::Error); `Error::from` extracts it. An
/// I/O error of the target is returned unchanged, without its [side](bloscpack_error::Side), which is always the target.
/// After an error of the target or of a worker, the output has a gap, and each further call fails, also `finish`. More bytes
/// than announced are [`Code::WrongSize`](bloscpack_error::Code::WrongSize).
///
/// ```
/// use bloscpack::{Decoder, Encoder};
/// use std::io::{Read, Write};
/// let mut encoder = Encoder::new(Vec::new())?;
/// encoder.write_all(b"one, two, ")?;
/// encoder.write_all(b"three")?;
/// let stream = encoder.finish()?;
///
/// let mut text = String::new();
/// Decoder::new(stream.as_slice()).read_to_string(&mut text)?;
/// assert_eq!(text, "one, two, three");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Encoder<W: Write> {
    pub(crate) chunker: Chunker,
    pub(crate) plan: Plan,
    pub(crate) sink: StreamSink<W>,
}

/// Writes header, metadata and chunks in order.
pub(crate) struct StreamSink<W> {
    pub writer: W,
    pub total_out: u64,
    /// The plan for the bytes before the chunks, until the first data has decided the settings.
    waiting: Option<Box<Plan>>,
}

impl<W: Write> StreamSink<W> {
    /// Writes the bytes before the chunks, unless the first data decides the settings.
    pub(crate) fn begin(writer: W, plan: &Plan) -> Result<Self> {
        let mut sink = Self {
            writer,
            total_out: 0,
            waiting: None,
        };
        if plan.is_open_to_choice() {
            sink.waiting = Some(Box::new(plan.clone()));
        } else {
            sink.open(plan)?;
        }
        Ok(sink)
    }

    /// Writes header, metadata and, of records of known number, an offset table of -1.
    fn open(&mut self, plan: &Plan) -> Result<()> {
        let header = match plan.known {
            Some(total) => plan.full_header(total, 0)?,
            None => plan.open_header(),
        };
        // A header without offsets has no table.
        let entries = header.table_len().unwrap_or(0);
        let header = plan.seal(header, unfilled(entries).map(Ok))?;
        self.write(&header)?;
        self.write(&plan.metadata)?;
        unfilled(entries).try_for_each(|entries| self.write(entries))
    }

    /// Writes the end mark if the length was not known, and flushes.
    pub(crate) fn finish(&mut self, plan: &Plan) -> Result<()> {
        if self.waiting.is_some() {
            return Err(Error::bug("the end of a stream without a header"));
        }
        if plan.known.is_none() {
            let mark = ChunkHeader::END_MARK;
            self.write(&mark)?;
            let digest = plan.hashers.stored_digest(plan.checksum(), &mark)?;
            self.write(digest.as_bytes())?;
        }
        self.writer.flush().writing()
    }

    fn write(&mut self, bytes: &[u8]) -> Result<()> {
        self.writer.write_all(bytes).writing()?;
        self.total_out += to_u64(bytes.len());
        Ok(())
    }
}

impl<W: Write> ChunkSink for StreamSink<W> {
    fn put(&mut self, chunks: &[u8], _: &[usize]) -> Result<()> {
        self.write(chunks)
    }

    fn tuned(&mut self, settings: &ChunkSettings) -> Result<()> {
        let Some(mut plan) = self.waiting.take() else {
            return Ok(());
        };
        plan.adopt(settings);
        self.open(&plan)
    }
}

/// Some entries of -1.
const ENTRIES: [u8; 1 << 12] = [0xff; 1 << 12];

/// An offset table with this many entries of -1, piece by piece.
pub(super) fn unfilled(entries: u64) -> impl Iterator<Item = &'static [u8]> {
    const ENTRIES_AT_ONCE: u64 = ENTRIES.len() as u64 / ENTRY_LEN;
    let mut left = entries;
    std::iter::from_fn(move || {
        let now = left.min(ENTRIES_AT_ONCE);
        left -= now;
        let len = usize::try_from(now * ENTRY_LEN).ok()?;
        ENTRIES.get(..len).filter(|piece| !piece.is_empty())
    })
}

impl Encoder<io::Sink> {
    /// The options for an [`Encoder`] or a [`SeekEncoder`](super::SeekEncoder), all with their defaults.
    #[must_use]
    pub fn builder() -> EncoderBuilder {
        EncoderBuilder::default()
    }
}

impl<W: Write> Encoder<W> {
    /// Creates an encoder with all defaults, on the caller's thread, for data of unknown length.
    ///
    /// # Errors
    /// Returns any error of the writer, since the header is written at once.
    pub fn new(writer: W) -> Result<Self> {
        EncoderBuilder::default().write_to(writer)
    }

    pub(super) fn with_plan(writer: W, plan: Plan) -> Result<Self> {
        let chunker = plan.chunker()?;
        let sink = StreamSink::begin(writer, &plan)?;
        Ok(Self {
            chunker,
            plan,
            sink,
        })
    }

    /// Compresses everything from the reader, without a copy in between, and returns its length in bytes. It may be called
    /// several times, and mixed with [`write`](Write::write): the data of all calls is one content.
    ///
    /// After a read that returns less than there is room for, all full chunks are sent to the workers: data from a pipe does
    /// not wait for more input once its chunk is full.
    ///
    /// ```
    /// use bloscpack::Encoder;
    /// let mut encoder = Encoder::new(Vec::new())?;
    /// assert_eq!(encoder.read_from(&b"from a reader"[..])?, 13);
    /// assert_eq!(bloscpack::decompress(&encoder.finish()?)?, b"from a reader");
    /// # Ok::<(), bloscpack::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns any error of the reader, on [`Side::Source`](bloscpack_error::Side::Source), after which the call may be
    /// repeated, and any error of the writer, on [`Side::Target`](bloscpack_error::Side::Target).
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
    /// let mut encoder = Encoder::builder().threads(2).write_to(Vec::new())?;
    /// assert_eq!(encoder.read_at(source, 5..2_999_999)?, 2_999_994);
    /// let file = encoder.finish()?;
    /// assert_eq!(bloscpack::decompress(&file)?.len(), 2_999_994);
    /// # Ok::<(), bloscpack::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns any error of the source, on [`Side::Source`](bloscpack_error::Side::Source), and of the writer, on
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

    /// Compresses the rest, writes it and, if the length was not known, the end mark, flushes the writer and returns it.
    ///
    /// # Errors
    /// Returns any error of the writer, and [`Code::WrongSize`](bloscpack_error::Code::WrongSize) if fewer bytes
    /// arrived than were announced. The stream is then not complete.
    pub fn finish(mut self) -> Result<W> {
        self.chunker
            .finish(self.plan.known.is_none(), &mut self.sink)
            .writing()?;
        self.sink.finish(&self.plan)?;
        Ok(self.sink.writer)
    }

    /// The writer underneath.
    pub fn get_ref(&self) -> &W {
        &self.sink.writer
    }

    /// The writer underneath. Anything written to it becomes part of the stream.
    pub fn get_mut(&mut self) -> &mut W {
        &mut self.sink.writer
    }

    /// The settings that [`auto`](EncoderBuilder::auto) chose, and the reason; `None` before the choice, and without `auto`.
    pub fn tuned(&self) -> Option<&Tuned> {
        self.chunker.tuned()
    }

    /// As [`tuned`](Self::tuned), but makes the choice now if it has not been made, by the data of the first chunk so far.
    /// Call it before [`finish`](Self::finish) if the data may be shorter than a chunk; `finish` would choose the same.
    ///
    /// # Errors
    /// Returns any error of the writer, since header and metadata may be written now.
    pub fn tune(&mut self) -> Result<Option<&Tuned>> {
        self.chunker.tune(&mut self.sink).writing()
    }

    /// Uncompressed bytes taken in so far.
    pub fn total_in(&self) -> u64 {
        self.chunker.total_in()
    }

    /// Bytes written so far, including header and metadata, without chunks that are still being compressed.
    pub fn total_out(&self) -> u64 {
        self.sink.total_out
    }
}

/// Takes bytes into the current chunk. A call blocks only while all threads are busy, or on the target.
impl<W: Write> Write for Encoder<W> {
    fn write(&mut self, data: &[u8]) -> io::Result<usize> {
        if data.is_empty() {
            return Ok(0);
        }
        Ok(self.chunker.write(data, &mut self.sink)?)
    }

    /// Writes all full chunks and flushes the writer. A chunk that is not full stays in the encoder, because only the last
    /// chunk may be shorter: the latest data reaches the other end of a socket only after [`finish`](Self::finish). An
    /// [interactive](EncoderBuilder::interactive) encoder ends the chunk and delivers everything.
    fn flush(&mut self) -> io::Result<()> {
        self.chunker.flush(&mut self.sink)?;
        self.sink.writer.flush()
    }
}

impl<W: Write> std::fmt::Debug for Encoder<W> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Encoder")
            .field("total_in", &self.total_in())
            .field("total_out", &self.total_out())
            .finish_non_exhaustive()
    }
}
