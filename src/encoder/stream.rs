//! [`Encoder`]: for targets that only take bytes.

use super::EncoderBuilder;
use super::chunk_compressor::Sink;
use super::chunker::Stage;
use super::plan::Plan;
use crate::shared_source::Shared;
use blosc1::{ChunkHeader, ChunkSettings, Tuned};
use bloscpack_error::{IoSide, Result};
use bloscpack_storage::ReadAt;
use bloscpack_wire::offsets::ENTRY_LEN;
use std::io::{self, Read, Write};
use std::ops::Range;
use std::sync::Arc;

/// Writes a Bloscpack stream to anything that takes bytes: a pipe, a socket, a buffer.
///
/// Data is compressed chunk by chunk, on several threads if the [builder](Self::builder) is told
/// so. There is no table of offsets. A length given beforehand makes the header complete; else it
/// says -1, and an end mark behind the last chunk tells a whole stream from one that was cut.
///
/// Only [`finish`](Self::finish) completes it: a dropped encoder leaves a stream that every reader
/// refuses as cut short.
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
    stage: Stage,
    plan: Plan,
    sink: StreamSink<W>,
}

pub(crate) struct StreamSink<W> {
    pub writer: W,
    pub total_out: u64,
    /// What stands before the chunks, as long as the first data may change it.
    waiting: Option<Box<Plan>>,
}

impl<W: Write> StreamSink<W> {
    /// Writes what stands before the chunks.
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

    fn open(&mut self, plan: &Plan) -> Result<()> {
        let header = match plan.known {
            Some(total) => plan.full_header(total, 0),
            None => plan.open_header(),
        };
        let entries = header.table_len().unwrap_or(0);
        let header = plan.seal(header, unfilled(entries))?;
        self.write(&header)?;
        self.write(&plan.metadata)?;
        for entries in unfilled(entries) {
            self.write(entries)?;
        }
        Ok(())
    }

    /// Writes the end mark, where the length was not known, and flushes.
    pub(crate) fn finish(&mut self, plan: &Plan) -> Result<()> {
        if plan.known.is_none() {
            let mark = ChunkHeader::END_MARK;
            self.write(&mark)?;
            self.write(plan.hashers.digest(plan.checksum(), &mark).as_bytes())?;
        }
        self.writer.flush()?;
        Ok(())
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.writer.write_all(bytes)?;
        self.total_out = self
            .total_out
            .saturating_add(u64::try_from(bytes.len()).unwrap_or(0));
        Ok(())
    }
}

impl<W: Write> Sink for StreamSink<W> {
    fn put(&mut self, chunks: &[u8], _: &[usize]) -> Result<()> {
        self.write(chunks).writing()
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

/// A table of offsets that cannot be filled in, piece by piece.
pub(super) fn unfilled(entries: u64) -> impl Iterator<Item = &'static [u8]> {
    let mut left = entries.saturating_mul(ENTRY_LEN);
    std::iter::from_fn(move || {
        let len = usize::try_from(left)
            .unwrap_or(usize::MAX)
            .min(ENTRIES.len());
        left = left.saturating_sub(u64::try_from(len).unwrap_or(left));
        ENTRIES.get(..len).filter(|piece| !piece.is_empty())
    })
}

impl Encoder<io::Sink> {
    /// Options for an encoder.
    #[must_use]
    pub fn builder() -> EncoderBuilder {
        EncoderBuilder::default()
    }
}

impl<W: Write> Encoder<W> {
    /// An encoder with all defaults, on the caller's thread, for a length that is not known.
    ///
    /// # Errors
    /// Those of the writer, to which the header goes at once.
    pub fn new(writer: W) -> Result<Self> {
        EncoderBuilder::default().write_to(writer)
    }

    pub(super) fn with_plan(writer: W, plan: Plan) -> Result<Self> {
        let stage = plan.stage()?;
        let sink = StreamSink::begin(writer, &plan).writing()?;
        Ok(Self { stage, plan, sink })
    }

    /// Compresses all that the reader has, without a copy in between; returns how many bytes that
    /// was.
    ///
    /// # Errors
    /// Those of the reader and of the writer.
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
    /// let mut encoder = Encoder::builder().threads(2).write_to(Vec::new())?;
    /// assert_eq!(encoder.read_at(source, 5..2_999_999)?, 2_999_994);
    /// let file = encoder.finish()?;
    /// assert_eq!(bloscpack::decompress(&file)?.len(), 2_999_994);
    /// # Ok::<(), bloscpack::Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of the source and of the writer; after one, nothing can follow, and `finish` is an error, too.
    pub fn read_at<S>(&mut self, source: Arc<S>, bytes: Range<u64>) -> Result<u64>
    where
        S: ReadAt + Send + Sync + 'static,
    {
        let source: Shared = source;
        self.stage.read_at(&source, bytes, &mut self.sink).writing()
    }

    /// Writes what is left, and the end mark where the length was not known, and gives back the
    /// writer.
    ///
    /// # Errors
    /// Those of the writer; [`ErrorKind::WrongSize`](bloscpack_error::ErrorKind::WrongSize) if fewer bytes
    /// came than were promised. The stream is then not complete.
    pub fn finish(mut self) -> Result<W> {
        self.stage
            .finish(self.plan.known.is_none(), &mut self.sink)
            .writing()?;
        self.sink.finish(&self.plan).writing()?;
        Ok(self.sink.writer)
    }

    /// The writer underneath.
    pub fn get_ref(&self) -> &W {
        &self.sink.writer
    }

    /// The writer underneath. What is written to it gets into the stream.
    pub fn get_mut(&mut self) -> &mut W {
        &mut self.sink.writer
    }

    /// What [`auto`](EncoderBuilder::auto) chose and why; `None` before it has, and without it.
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

    /// Bytes written; what is still being compressed does not count.
    pub fn total_out(&self) -> u64 {
        self.sink.total_out
    }
}

impl<W: Write> Write for Encoder<W> {
    fn write(&mut self, data: &[u8]) -> io::Result<usize> {
        if data.is_empty() {
            return Ok(0);
        }
        Ok(self.stage.write(data, &mut self.sink)?)
    }

    /// Writes all full chunks and flushes the writer; a chunk that is not full stays here, since
    /// only the last one may be shorter.
    fn flush(&mut self) -> io::Result<()> {
        self.stage.flush(&mut self.sink)?;
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
