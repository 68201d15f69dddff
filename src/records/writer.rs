//! [`RecordWriter`] and [`SeekRecordWriter`]: records to a stream, and to a file.

use super::chunker::RecordChunker;
use super::typed::{ToRecord, record_of_value};
use crate::encoder::{Mover, Plan, RecordOptions, SeekSink, StreamSink};
use bloscpack_error::{IoSide, Result};
use std::io::{Seek, Write};

/// Writes records to anything that takes bytes: a pipe, a socket, a buffer.
///
/// Only [`finish`](Self::finish) completes the stream: a dropped writer leaves one that every reader refuses as cut short.
///
/// ```
/// use bloscpack::records::{RecordReader, RecordWriter};
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
    pub(crate) chunker: RecordChunker,
    pub(crate) plan: Plan,
    pub(crate) sink: StreamSink<W>,
    buffer: Vec<u8>,
}

impl<W: Write> RecordWriter<W> {
    pub(super) fn with_plan(target: W, plan: Plan, records: &RecordOptions) -> Result<Self> {
        let chunker = RecordChunker::new(&plan.chunk_options(), records.packing, 0, records.count)?;
        let sink = StreamSink::begin(target, &plan).writing()?;
        Ok(Self {
            chunker,
            plan,
            sink,
            buffer: Vec::new(),
        })
    }

    /// Writes a record: any bytes, from none to 2 GiB.
    ///
    /// It may wait here for others, up to the next [`flush`](Self::flush).
    ///
    /// # Errors
    /// Returns a [`Usage`](bloscpack_error::Category::Usage) error for a record that is too long, which is left out; any error
    /// of the target; [`Code::WrongCount`](bloscpack_error::Code::WrongCount) for more records than were announced.
    pub fn push(&mut self, record: impl AsRef<[u8]>) -> Result<()> {
        self.chunker.push(record.as_ref(), &mut self.sink).writing()
    }

    /// Writes a value as a record.
    ///
    /// # Errors
    /// Returns the same errors as [`push`](Self::push), and [`Code::RecordValue`](bloscpack_error::Code::RecordValue) for a
    /// value that cannot be a record.
    pub fn push_as<T: ToRecord + ?Sized>(&mut self, value: &T) -> Result<()> {
        record_of_value(value, self.chunker.records(), &mut self.buffer)?;
        self.chunker.push(&self.buffer, &mut self.sink).writing()
    }

    /// Writes all records that were pushed and flushes the target, so that its reader can read them. The last one of a
    /// announced number stays here, since it completes the stream.
    ///
    /// # Errors
    /// Returns any error of the target.
    pub fn flush(&mut self) -> Result<()> {
        self.chunker.flush(&mut self.sink).writing()?;
        self.sink.writer.flush().writing()
    }

    /// Writes the rest, and the end mark if the number was not known, and returns the target.
    ///
    /// # Errors
    /// Returns any error of the target, and [`Code::WrongCount`](bloscpack_error::Code::WrongCount) if fewer records
    /// arrived than were announced. The stream is then not complete.
    pub fn finish(mut self) -> Result<W> {
        self.chunker.finish(&mut self.sink).writing()?;
        self.sink.finish(&self.plan).writing()?;
        Ok(self.sink.writer)
    }

    /// Records taken in so far.
    pub fn records(&self) -> u64 {
        self.chunker.records()
    }

    /// Bytes written so far, without chunks that are still being compressed.
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

/// Writes records to a file, with a table of offsets through which each of them is found at once.
///
/// Until [`finish`](Self::finish) all offsets are -1: a writer that is dropped before leaves a file that every reader here
/// refuses as unfinished.
///
/// ```
/// use bloscpack::records::{IndexedRecordReader, RecordWriter};
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
    chunker: RecordChunker,
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
        let chunker = RecordChunker::new(&plan.chunk_options(), records.packing, 0, records.count)?;
        let sink = SeekSink::new(target, plan, mover).writing()?;
        Ok(Self {
            chunker,
            sink,
            buffer: Vec::new(),
        })
    }

    /// Writes a record, as [`RecordWriter::push`].
    ///
    /// # Errors
    /// Returns the same errors as [`RecordWriter::push`].
    pub fn push(&mut self, record: impl AsRef<[u8]>) -> Result<()> {
        self.chunker.push(record.as_ref(), &mut self.sink).writing()
    }

    /// Writes a value as a record.
    ///
    /// # Errors
    /// Returns the same errors as [`push`](Self::push), and [`Code::RecordValue`](bloscpack_error::Code::RecordValue) for a
    /// value that cannot be a record.
    pub fn push_as<T: ToRecord + ?Sized>(&mut self, value: &T) -> Result<()> {
        record_of_value(value, self.chunker.records(), &mut self.buffer)?;
        self.chunker.push(&self.buffer, &mut self.sink).writing()
    }

    /// Writes all records that were pushed and flushes the target; the file stays unfinished.
    ///
    /// # Errors
    /// Returns any error of the target.
    pub fn flush(&mut self) -> Result<()> {
        self.chunker.flush(&mut self.sink).writing()?;
        self.sink.target.flush().writing()
    }

    /// Writes the rest, fills in offsets, metadata and header, flushes, and returns the target, whose position is then the
    /// end of the member. Nothing is synced to disk.
    ///
    /// # Errors
    /// Returns the same errors as [`RecordWriter::finish`]. The file is then unfinished.
    pub fn finish(mut self) -> Result<W> {
        self.chunker.finish(&mut self.sink).writing()?;
        self.sink.finish(self.chunker.records()).writing()?;
        Ok(self.sink.target)
    }

    /// Records taken in so far.
    pub fn records(&self) -> u64 {
        self.chunker.records()
    }

    /// Bytes of all chunks written so far, without header and table.
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
