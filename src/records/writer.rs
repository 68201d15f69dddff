//! [`RecordWriter`] and [`SeekRecordWriter`]: records to a stream, and to a file.

use super::chunker::RecordChunker;
use super::typed::{ToRecord, record_of_value};
use crate::encoder::{Mover, Plan, RecordOptions, SeekSink, StreamSink};
use bloscpack_error::{IoSide, Result};
use std::io::{Seek, Write};

/// Writes records to a target that takes bytes: a pipe, a socket, a buffer.
///
/// Records are collected and compressed in batches; [`flush`](Self::flush) delivers all records pushed so far. Only
/// [`finish`](Self::finish) completes the stream: a dropped writer leaves one that every reader refuses as cut short.
///
/// After an error of the target or of a worker, the output has a gap, and each further call fails.
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

    /// Writes a record of 0 to 2 147 483 631 bytes, or 20 bytes less if records are packed. The bytes are copied; they reach
    /// the target with later records or with the next [`flush`](Self::flush).
    ///
    /// # Errors
    /// Returns a [`Usage`](bloscpack_error::Category::Usage) error for a record that is too long, and
    /// [`Code::WriteLimit`](bloscpack_error::Code::WriteLimit) for one that readers' limits would refuse: the record is left
    /// out, and the writer can be used further. Returns any error of the target, and
    /// [`Code::WrongCount`](bloscpack_error::Code::WrongCount) for more records than were announced.
    pub fn push(&mut self, record: impl AsRef<[u8]>) -> Result<()> {
        self.chunker.push(record.as_ref(), &mut self.sink).writing()
    }

    /// Writes a value as a record. Its bytes go into a buffer that is reused for each value.
    ///
    /// # Errors
    /// Returns the same errors as [`push`](Self::push), and [`Code::RecordValue`](bloscpack_error::Code::RecordValue), with the
    /// number of the record, for a value that cannot be a record. The value is then left out.
    pub fn push_as<T: ToRecord + ?Sized>(&mut self, value: &T) -> Result<()> {
        record_of_value(value, self.chunker.records(), &mut self.buffer)?;
        self.chunker.push(&self.buffer, &mut self.sink).writing()
    }

    /// Writes all pushed records and flushes the target: a reader at the other end can read them. It ends a packed chunk
    /// early, so frequent flushes cost space. If the number of records was announced and they are not packed, the last one
    /// is held back until [`finish`](Self::finish), since it completes the stream.
    ///
    /// # Errors
    /// Returns any error of the target.
    pub fn flush(&mut self) -> Result<()> {
        self.chunker.flush(&mut self.sink).writing()?;
        self.sink.writer.flush().writing()
    }

    /// Writes the rest and, if the number of chunks was not known, the end mark, flushes the target and returns it.
    ///
    /// # Errors
    /// Returns any error of the target, and [`Code::WrongCount`](bloscpack_error::Code::WrongCount) if fewer records
    /// arrived than were announced. The stream is then not complete.
    pub fn finish(mut self) -> Result<W> {
        self.chunker.finish(&mut self.sink).writing()?;
        self.sink.finish(&self.plan).writing()?;
        Ok(self.sink.writer)
    }

    /// Records taken in so far, which is the number that the next one gets.
    pub fn records(&self) -> u64 {
        self.chunker.records()
    }

    /// Bytes written so far, including header and metadata, without records that still wait or are being compressed.
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

/// Writes records to a file, with an offset table by which an [`IndexedRecordReader`](super::IndexedRecordReader) finds each
/// of them; created by [`RecordWriterBuilder::write_to_file`](super::RecordWriterBuilder::write_to_file).
///
/// Until [`finish`](Self::finish) all offsets are -1: a writer that is dropped earlier leaves a file that every reader of this
/// project refuses as unfinished. The offset table takes 8 bytes of memory per chunk.
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

    /// Writes a value as a record, as [`RecordWriter::push_as`].
    ///
    /// # Errors
    /// Returns the same errors as [`RecordWriter::push_as`].
    pub fn push_as<T: ToRecord + ?Sized>(&mut self, value: &T) -> Result<()> {
        record_of_value(value, self.chunker.records(), &mut self.buffer)?;
        self.chunker.push(&self.buffer, &mut self.sink).writing()
    }

    /// Writes all pushed records and flushes the target. The file stays unfinished, and readers refuse it until
    /// [`finish`](Self::finish).
    ///
    /// # Errors
    /// Returns any error of the target.
    pub fn flush(&mut self) -> Result<()> {
        self.chunker.flush(&mut self.sink).writing()?;
        self.sink.target.flush().writing()
    }

    /// Writes the rest, fills in offset table, metadata and header, flushes the target and returns it, positioned at the end
    /// of the member. Nothing is synced to disk.
    ///
    /// # Errors
    /// Returns the same errors as [`RecordWriter::finish`]. The file is then unfinished.
    pub fn finish(mut self) -> Result<W> {
        self.chunker.finish(&mut self.sink).writing()?;
        self.sink.finish(self.chunker.records()).writing()?;
        Ok(self.sink.target)
    }

    /// Records taken in so far, which is the number that the next one gets.
    pub fn records(&self) -> u64 {
        self.chunker.records()
    }

    /// Bytes of all chunks so far with their digests, without header and offset table, and without records that still wait or
    /// are being compressed.
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
