//! [`RecordWriter`] and [`SeekRecordWriter`]: records to a stream, and to a file.

use super::builder::RecordWriterBuilder;
use super::chunker::RecordStage;
use super::typed::{ToRecord, record_of_value};
use crate::encoder::{Mover, Plan, RecordOptions, SeekSink, StreamSink};
use bloscpack_error::{IoSide, Result};
use std::io::{self, Seek, Write};

/// Writes records to anything that takes bytes: a pipe, a socket, a buffer.
///
/// Only [`finish`](Self::finish) completes it: a dropped writer leaves a stream that every reader
/// refuses as cut short.
///
/// ```
/// use bloscpack::{RecordReader, RecordWriter};
/// let mut writer = RecordWriter::new(Vec::new())?;
/// writer.push("one")?;
/// writer.push([])?;
/// writer.push([2, 2, 2])?;
/// let stream = writer.finish()?;
///
/// let records = RecordReader::new(stream.as_slice()).collect::<Result<Vec<_>, _>>()?;
/// assert_eq!(records, [&b"one"[..], b"", &[2, 2, 2]]);
/// # Ok::<(), bloscpack::Error>(())
/// ```
pub struct RecordWriter<W: Write> {
    stage: RecordStage,
    plan: Plan,
    sink: StreamSink<W>,
    buffer: Vec<u8>,
}

impl RecordWriter<io::Sink> {
    /// Options for a writer.
    #[must_use]
    pub fn builder() -> RecordWriterBuilder {
        RecordWriterBuilder::default()
    }
}

impl<W: Write> RecordWriter<W> {
    /// A writer with all defaults, on the caller's thread, for a number that is not known.
    ///
    /// # Errors
    /// Those of the target, to which the header goes at once.
    pub fn new(target: W) -> Result<Self> {
        RecordWriterBuilder::default().write_to(target)
    }

    pub(super) fn with_plan(target: W, plan: Plan, records: &RecordOptions) -> Result<Self> {
        let stage = RecordStage::new(&plan.recipe(), records.packing, 0, records.count)?;
        let sink = StreamSink::begin(target, &plan).writing()?;
        Ok(Self {
            stage,
            plan,
            sink,
            buffer: Vec::new(),
        })
    }

    /// Writes a record: anything that is bytes, none and up to 2 GiB of them.
    ///
    /// It may stay here until others have come, or [`flush`](Self::flush).
    ///
    /// # Errors
    /// [`Usage`](bloscpack_error::Category::Usage) for a record that is too long, which is left out; those of
    /// the target; [`ErrorKind::WrongCount`](bloscpack_error::ErrorKind::WrongCount) for more records than
    /// were promised.
    pub fn push(&mut self, record: impl AsRef<[u8]>) -> Result<()> {
        self.stage.push(record.as_ref(), &mut self.sink).writing()
    }

    /// Writes a value as a record.
    ///
    /// # Errors
    /// As for [`push`](Self::push), and a value that cannot be written as one.
    pub fn push_as<T: ToRecord + ?Sized>(&mut self, value: &T) -> Result<()> {
        record_of_value(value, self.stage.records(), &mut self.buffer)?;
        self.stage.push(&self.buffer, &mut self.sink).writing()
    }

    /// Writes all records that were pushed and flushes the target, so that who reads from it has
    /// them. Of a number that was promised, the last stays here: it makes the stream complete.
    ///
    /// # Errors
    /// Those of the target.
    pub fn flush(&mut self) -> Result<()> {
        self.stage.flush(&mut self.sink).writing()?;
        self.sink.writer.flush().writing()
    }

    /// Writes what is left, and the end mark where the number was not known, and gives back the
    /// target.
    ///
    /// # Errors
    /// Those of the target; [`ErrorKind::WrongCount`](bloscpack_error::ErrorKind::WrongCount) if fewer records
    /// came than were promised. The stream is then not complete.
    pub fn finish(mut self) -> Result<W> {
        self.stage.finish(&mut self.sink).writing()?;
        self.sink.finish(&self.plan).writing()?;
        Ok(self.sink.writer)
    }

    /// Records taken in.
    pub fn records(&self) -> u64 {
        self.stage.records()
    }

    /// Bytes written; what is still being compressed does not count.
    pub fn total_out(&self) -> u64 {
        self.sink.total_out
    }

    /// The target underneath.
    pub fn get_ref(&self) -> &W {
        &self.sink.writer
    }
}

impl<W: Write> std::fmt::Debug for RecordWriter<W> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RecordWriter")
            .field("records", &self.records())
            .field("total_out", &self.total_out())
            .finish_non_exhaustive()
    }
}

/// Writes records to a file, with a table of offsets that finds each of them at once.
///
/// Until [`finish`](Self::finish) all offsets are -1: what is dropped before is a file that every
/// reader here refuses as unfinished.
///
/// ```
/// use bloscpack::{IndexedRecordReader, RecordWriter};
/// use std::io::Cursor;
/// let mut writer = RecordWriter::builder().dtype("varchar").write_to_file(Cursor::new(Vec::new()))?;
/// for line in "first\nsecond\nthird".lines() {
///     writer.push(line)?;
/// }
/// let file = writer.finish()?.into_inner();
///
/// let records = IndexedRecordReader::open(file)?;
/// assert_eq!(records.len(), 3);
/// assert_eq!(records.get(1)?, "second");
/// assert_eq!(records.metadata().unwrap().text(), r#"{"dtype": "varchar", "shape": [3]}"#);
/// # Ok::<(), bloscpack::Error>(())
/// ```
pub struct SeekRecordWriter<W: Write + Seek> {
    stage: RecordStage,
    sink: SeekSink<W>,
    buffer: Vec<u8>,
}

impl<W: Write + Seek> SeekRecordWriter<W> {
    pub(super) fn with_plan(
        target: W,
        plan: Plan,
        records: &RecordOptions,
        mover: Option<Mover<W>>,
    ) -> Result<Self> {
        let stage = RecordStage::new(&plan.recipe(), records.packing, 0, records.count)?;
        let sink = SeekSink::new(target, plan, mover).writing()?;
        Ok(Self {
            stage,
            sink,
            buffer: Vec::new(),
        })
    }

    /// Writes a record, as [`RecordWriter::push`].
    ///
    /// # Errors
    /// As for [`RecordWriter::push`].
    pub fn push(&mut self, record: impl AsRef<[u8]>) -> Result<()> {
        self.stage.push(record.as_ref(), &mut self.sink).writing()
    }

    /// Writes a value as a record.
    ///
    /// # Errors
    /// As for [`push`](Self::push), and a value that cannot be written as one.
    pub fn push_as<T: ToRecord + ?Sized>(&mut self, value: &T) -> Result<()> {
        record_of_value(value, self.stage.records(), &mut self.buffer)?;
        self.stage.push(&self.buffer, &mut self.sink).writing()
    }

    /// Writes all records that were pushed and flushes the target; the file stays unfinished.
    ///
    /// # Errors
    /// Those of the target.
    pub fn flush(&mut self) -> Result<()> {
        self.stage.flush(&mut self.sink).writing()?;
        self.sink.target.flush().writing()
    }

    /// Writes what is left, fills in offsets, metadata and header, flushes, and gives back the
    /// target, which then stands at the end of the member. Nothing is synced to disk.
    ///
    /// # Errors
    /// As for [`RecordWriter::finish`]. The file is then unfinished.
    pub fn finish(mut self) -> Result<W> {
        self.stage.finish(&mut self.sink).writing()?;
        self.sink.finish(self.stage.records()).writing()?;
        Ok(self.sink.target)
    }

    /// Records taken in.
    pub fn records(&self) -> u64 {
        self.stage.records()
    }

    /// Bytes of all chunks so far, header and table not counted.
    pub fn total_out(&self) -> u64 {
        self.sink.len
    }

    /// The target underneath.
    pub fn get_ref(&self) -> &W {
        &self.sink.target
    }
}

impl<W: Write + Seek> std::fmt::Debug for SeekRecordWriter<W> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SeekRecordWriter")
            .field("records", &self.records())
            .field("total_out", &self.total_out())
            .finish_non_exhaustive()
    }
}
