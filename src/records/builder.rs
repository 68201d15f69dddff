//! [`RecordWriterBuilder`]: the options of a writer of records.

use super::writer::{RecordWriter, SeekRecordWriter};
use crate::encoder::{Encoder, EncoderBuilder, Plan, RecordOptions, move_up};
use blosc1::{Compressor, Filter};
use bloscpack_error::{Error, Result};
use bloscpack_wire::{Checksum, FormatVersion, Hashers, Limits, Metadata, Packing};
use std::io::{self, Read, Seek, Write};

/// The `dtype` of records that are any bytes.
pub(crate) const VARBINARY: &str = "varbinary";

/// Options of a [`RecordWriter`] or a [`SeekRecordWriter`]; created by [`RecordWriter::builder`].
///
/// By default each record is a chunk of its own, in layout V2 as in the proposal for variable-length data, and sealed.
/// [`small`](Self::small) and [`quick`](Self::quick) are two settings for many small records.
///
/// ```
/// use bloscpack::records::{IndexedRecordReader, RecordWriter};
/// let mut writer = RecordWriter::builder().small().write_to(Vec::new())?;
/// for word in ["alpha", "beta", "gamma"] {
///     writer.push(word)?;
/// }
/// let file = writer.finish()?;
/// assert_eq!(IndexedRecordReader::open(file)?.get(2)?, "gamma");
/// # Ok::<(), bloscpack::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct RecordWriterBuilder {
    options: EncoderBuilder,
    records: RecordOptions,
    /// Uncompressed bytes of a packed chunk.
    packed: Option<u32>,
}

impl Default for RecordWriterBuilder {
    fn default() -> Self {
        let options = Encoder::builder();
        Self {
            options: options
                .version(FormatVersion::V2)
                .typesize(1)
                .filter(Filter::None),
            records: RecordOptions {
                dtype: VARBINARY.to_owned(),
                packing: None,
                count: None,
            },
            packed: None,
        }
    }
}

impl RecordWriterBuilder {
    /// Changes the options that records share with content.
    pub(crate) fn with(
        mut self,
        change: impl FnOnce(EncoderBuilder) -> Result<EncoderBuilder>,
    ) -> Result<Self> {
        self.options = change(self.options)?;
        Ok(self)
    }

    /// Packs many records into a chunk of up to this many uncompressed bytes, 64 to 16 MiB. That costs 1 to 4 bytes for each
    /// record instead of about 28. A record too large for it gets a chunk of its own.
    #[must_use]
    pub fn packed(mut self, chunk_size: u32) -> Self {
        self.packed = Some(chunk_size);
        self
    }

    /// The setting *small*, which saves space: chunks of 1 MiB of records, Zstd at level 6. `docs/records.md` contains
    /// measurements.
    #[must_use]
    pub fn small(self) -> Self {
        self.packed(1 << 20).compressor(Compressor::Zstd).level(6)
    }

    /// The setting *quick*, which makes reading single records fast: chunks of 4 KiB of records, LZ4.
    #[must_use]
    pub fn quick(self) -> Self {
        self.packed(4 << 10).compressor(Compressor::Lz4)
    }

    /// The compressor; LZ4 by default.
    #[must_use]
    pub fn compressor(mut self, compressor: Compressor) -> Self {
        self.options = self.options.compressor(compressor);
        self
    }

    /// The level, from 0 (only stored) to 9 (smallest); the compressor's
    /// [own](Compressor::default_level) by default.
    #[must_use]
    pub fn level(mut self, level: u8) -> Self {
        self.options = self.options.level(level);
        self
    }

    /// The filter; none by default, since records consist of single bytes.
    #[must_use]
    pub fn filter(mut self, filter: Filter) -> Self {
        self.options = self.options.filter(filter);
        self
    }

    /// Element size of the records in bytes, 1 to 255; 1 by default.
    #[must_use]
    pub fn typesize(mut self, typesize: u8) -> Self {
        self.options = self.options.typesize(typesize);
        self
    }

    /// The checksum after every chunk; crc32 by default.
    #[must_use]
    pub fn checksum(mut self, checksum: Checksum) -> Self {
        self.options = self.options.checksum(checksum);
        self
    }

    /// The limits of the readers of the output, as [`EncoderBuilder::limits`]: a longer record than they allow is an error.
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.options = self.options.limits(limits);
        self
    }

    /// The implementations that compute digests.
    #[must_use]
    pub fn hashers(mut self, hashers: Hashers) -> Self {
        self.options = self.options.hashers(hashers);
        self
    }

    /// The version of the header: V2 (the default), or V3 for a file that grows often, since it has room for further
    /// offsets.
    #[must_use]
    pub fn version(mut self, version: FormatVersion) -> Self {
        self.options = self.options.version(version);
        self
    }

    /// Whether there is a table of offsets; true by default. A target that cannot seek gets one, of -1, only if the number
    /// of chunks is known beforehand.
    #[must_use]
    pub fn offsets(mut self, offsets: bool) -> Self {
        self.options = self.options.offsets(offsets);
        self
    }

    /// Spare offsets for appending later, in V3; ten times the number of chunks by default.
    #[must_use]
    pub fn max_app_chunks(mut self, spare: u64) -> Self {
        self.options = self.options.max_app_chunks(spare);
        self
    }

    /// The `dtype` in the metadata, which says what each record contains: `varbinary` (any bytes) by default; use `varchar`
    /// for text.
    #[must_use]
    pub fn dtype(mut self, dtype: impl Into<String>) -> Self {
        self.records.dtype = dtype.into();
        self
    }

    /// Further metadata: a JSON object, whose keys `shape` and `packing` are replaced by the values that they have for
    /// records.
    #[must_use]
    pub fn metadata(mut self, metadata: Metadata) -> Self {
        self.options = self.options.metadata(metadata);
        self
    }

    /// The number of records, if it is known beforehand. Any other number is an error of `push` or `finish`.
    ///
    /// ```
    /// use bloscpack::{error::Code, records::RecordWriter};
    /// let mut writer = RecordWriter::builder().count(2).write_to(Vec::new())?;
    /// writer.push("one")?;
    /// let error = writer.finish().unwrap_err();
    /// assert_eq!(error.code(), Code::WrongCount);
    /// assert_eq!(error.to_string(), "expected 2 records, got only 1");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn count(mut self, records: u64) -> Self {
        self.records.count = Some(records);
        self
    }

    /// Threads that compress; one by default, which is the caller's own.
    #[must_use]
    pub fn threads(mut self, threads: usize) -> Self {
        self.options = self.options.threads(threads);
        self
    }

    /// Builds a writer for a target that only takes bytes: a pipe, a socket, standard output.
    ///
    /// The header is written at once. If the number of records is not known beforehand, or if they are packed, the stream
    /// has no table of offsets, and an end mark distinguishes a complete stream from one that was cut. If the number is known
    /// beforehand, the stream gets a table of -1, which [`RecordEditor::reindex`](crate::edit::RecordEditor::reindex) can fill in later.
    ///
    /// # Errors
    /// Returns a [`Usage`](bloscpack_error::Category::Usage) error for options that are out of range or that the header's
    /// version cannot express, and for metadata that is not an object; any error of the writer.
    pub fn write_to<W: Write>(self, writer: W) -> Result<RecordWriter<W>> {
        let (plan, records) = self.plan(false)?;
        RecordWriter::with_plan(writer, plan, &records)
    }

    /// The same options for the crew of this process.
    #[cfg(feature = "aio")]
    pub(crate) fn on_crew(mut self) -> Self {
        self.options = self.options.on_crew();
        self
    }

    /// Builds a writer for a file or anything else that can be written, read and sought: `finish` fills in header, metadata
    /// and table of offsets, even if nothing was known beforehand.
    ///
    /// As with [`EncoderBuilder::write_to_file`](crate::EncoderBuilder::write_to_file), the member begins at the target's
    /// position and should be the last thing in it. In V2, whose table has no spare entries, all chunks are moved once at
    /// the end if their number was not known.
    ///
    /// # Errors
    /// Returns the same errors as [`write_to`](Self::write_to).
    pub fn write_to_file<W: Read + Write + Seek>(self, file: W) -> Result<SeekRecordWriter<W>> {
        let (plan, records) = self.plan(true)?;
        SeekRecordWriter::with_plan(file, plan, &records, Some(move_up))
    }

    /// Builds a writer for a target that can be written and sought, but not read: as
    /// [`write_to_file`](Self::write_to_file), for unpacked records whose number is known beforehand.
    ///
    /// # Errors
    /// Returns the same errors as [`write_to`](Self::write_to), and a [`Usage`](bloscpack_error::Category::Usage) error if
    /// there are to be offsets and their number is not known.
    pub fn write_to_seek<W: Write + Seek>(self, target: W) -> Result<SeekRecordWriter<W>> {
        let (plan, records) = self.plan(true)?;
        SeekRecordWriter::with_plan(target, plan, &records, None)
    }

    fn plan(self, seeks: bool) -> Result<(Plan, RecordOptions)> {
        let mut records = self.records;
        if let Some(chunk_size) = self.packed {
            let packing = Packing::new(chunk_size);
            records.packing = Some(packing.ok_or_else(|| {
                let most = Packing::MAX_CHUNK_SIZE;
                Error::usage(format!(
                    "packed chunks of {chunk_size} bytes are out of range: they must have 64 to {most} bytes"
                ))
            })?);
        }
        let plan = Plan::of_records(self.options, records.clone(), seeks)?;
        Ok((plan, records))
    }
}

impl RecordWriter<io::Sink> {
    /// Options for a writer.
    #[must_use]
    pub fn builder() -> RecordWriterBuilder {
        RecordWriterBuilder::default()
    }
}

impl<W: Write> RecordWriter<W> {
    /// Creates a writer with all defaults, on the caller's thread, for an unknown number of records.
    ///
    /// # Errors
    /// Returns any error of the target, since the header is written at once.
    pub fn new(target: W) -> Result<Self> {
        RecordWriterBuilder::default().write_to(target)
    }
}
