//! [`Encoder`]: for targets that only take bytes.

use super::EncoderBuilder;
use super::plan::Plan;
use super::stage::{Sink, Stage};
use crate::blosc::ChunkHeader;
use crate::error::Result;
use std::io::{self, Read, Write};

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

struct StreamSink<W> {
    writer: W,
    total_out: u64,
}

impl<W: Write> Sink for StreamSink<W> {
    fn put(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.writer.write_all(bytes)?;
        self.total_out = self
            .total_out
            .saturating_add(u64::try_from(bytes.len()).unwrap_or(0));
        Ok(())
    }
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
        let header = match plan.size {
            Some(size) => plan.full_header(size, 0),
            None => plan.open_header(),
        };
        let header = plan.seal(header, &[])?;
        let mut sink = StreamSink {
            writer,
            total_out: 0,
        };
        let stage = Stage::new(&plan.recipe())?;
        sink.put(&header)?;
        sink.put(&plan.metadata)?;
        Ok(Self { stage, plan, sink })
    }

    /// Compresses all that the reader has, without a copy in between; returns how many bytes that
    /// was.
    ///
    /// # Errors
    /// Those of the reader and of the writer.
    pub fn read_from<R: Read>(&mut self, mut reader: R) -> Result<u64> {
        self.stage.read_from(&mut reader, &mut self.sink)
    }

    /// Writes what is left, and the end mark where the length was not known, and gives back the
    /// writer.
    ///
    /// # Errors
    /// Those of the writer; [`ErrorKind::WrongSize`](crate::ErrorKind::WrongSize) if fewer bytes
    /// came than were promised. The stream is then not complete.
    pub fn finish(mut self) -> Result<W> {
        let ends_with_mark = self.plan.size.is_none();
        self.stage.finish(ends_with_mark, &mut self.sink)?;
        if ends_with_mark {
            let mark = ChunkHeader::END_MARK;
            self.sink.put(&mark)?;
            self.sink.put(
                self.plan
                    .hashers
                    .digest(self.plan.checksum(), &mark)
                    .as_bytes(),
            )?;
        }
        self.sink.writer.flush()?;
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
