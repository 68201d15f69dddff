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
/// By default each record is a chunk of its own, in layout V2 as in Bloscpack's proposal for variable-length data, with a
/// *seal*, a crc32 of header, metadata and offset table.
///
/// | records | setting |
/// |---|---|
/// | of 1 KiB or more: documents, images, messages | the defaults |
/// | many small ones, to save space | [`small`](Self::small) |
/// | many small ones, to read single ones fast | [`quick`](Self::quick) |
/// | in a file to which others are often appended | [`version`](Self::version) V3 |
///
/// The last call decides what is built: [`write_to`](Self::write_to) for pipes and sockets,
/// [`write_to_file`](Self::write_to_file) for files, [`write_to_seek`](Self::write_to_seek) for targets that can seek but not
/// be read, `write_async` for async targets. It refuses options that are out of range or contradict each other.
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
    /// Changes the options that writers of records and of content have in common.
    pub(crate) fn with(
        mut self,
        change: impl FnOnce(EncoderBuilder) -> Result<EncoderBuilder>,
    ) -> Result<Self> {
        self.options = change(self.options)?;
        Ok(self)
    }

    /// Packs many records into a chunk of up to this many uncompressed bytes, 64 to 16 777 216. A record then costs 1, 2 or 4
    /// bytes instead of about 28. A record that is too large gets a larger chunk of its own. Off by default.
    #[must_use]
    pub fn packed(mut self, chunk_size: u32) -> Self {
        self.packed = Some(chunk_size);
        self
    }

    /// The setting *small*, which saves space: chunks of 1 MiB of records, Zstd at level 6.
    /// `docs/benchmarks/records.md` contains measurements.
    #[must_use]
    pub fn small(self) -> Self {
        self.packed(1 << 20).compressor(Compressor::Zstd).level(6)
    }

    /// The setting *quick*, which makes reading single records fast: chunks of 4 KiB of records, LZ4.
    #[must_use]
    pub fn quick(self) -> Self {
        self.packed(4 << 10).compressor(Compressor::Lz4)
    }

    /// The compressor; LZ4 by default. One that this build does not have is an error of the last call.
    #[must_use]
    pub fn compressor(mut self, compressor: Compressor) -> Self {
        self.options = self.options.compressor(compressor);
        self
    }

    /// The level, from 0 (stored without compression) to 9 (smallest); by default the
    /// [default](Compressor::default_level) of the compressor.
    #[must_use]
    pub fn level(mut self, level: u8) -> Self {
        self.options = self.options.level(level);
        self
    }

    /// The filter; none by default. Use one, with a [`typesize`](Self::typesize), for records that contain numbers of a fixed
    /// size.
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

    /// The checksum whose digest follows every chunk; crc32 by default.
    #[must_use]
    pub fn checksum(mut self, checksum: Checksum) -> Self {
        self.options = self.options.checksum(checksum);
        self
    }

    /// The limits that readers of the output will have, as [`EncoderBuilder::limits`]. A record that is too long for their
    /// limit on chunks is [`Code::WriteLimit`](bloscpack_error::Code::WriteLimit).
    ///
    /// ```
    /// use bloscpack::{Code, Limits, records::RecordWriter};
    /// let limits = Limits::new().chunk(1000);
    /// let mut writer = RecordWriter::builder().limits(limits).write_to(Vec::new())?;
    /// assert_eq!(writer.push([0; 1001]).unwrap_err().code(), Code::WriteLimit);
    /// writer.push([0; 1000])?;
    /// assert_eq!(writer.records(), 1);
    /// # Ok::<(), bloscpack::Error>(())
    /// ```
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.options = self.options.limits(limits);
        self
    }

    /// The implementations that compute digests. Readers need the same ([`Options::hashers`](crate::Options::hashers())).
    #[must_use]
    pub fn hashers(mut self, hashers: Hashers) -> Self {
        self.options = self.options.hashers(hashers);
        self
    }

    /// The version of the layout: V2 (the default), or V3, whose offset table has spare entries. Appending to V3 writes only
    /// the new chunks; appending to V2 rewrites the file. V1 has no records.
    #[must_use]
    pub fn version(mut self, version: FormatVersion) -> Self {
        self.options = self.options.version(version);
        self
    }

    /// Whether to write an offset table; true by default. A target that cannot seek gets one, filled with -1, only if the
    /// number of chunks is known beforehand: with [`count`](Self::count), and without packing.
    #[must_use]
    pub fn offsets(mut self, offsets: bool) -> Self {
        self.options = self.options.offsets(offsets);
        self
    }

    /// Spare entries of the offset table for appending later, only in V3; ten times the number of chunks by default.
    #[must_use]
    pub fn max_app_chunks(mut self, spare: u64) -> Self {
        self.options = self.options.max_app_chunks(spare);
        self
    }

    /// The `dtype` in the metadata, which declares the type of a record: by default `varbinary` (any bytes); use `varchar` for
    /// text. The records are not compared with it.
    #[must_use]
    pub fn dtype(mut self, dtype: impl Into<String>) -> Self {
        self.records.dtype = dtype.into();
        self
    }

    /// Further metadata, which must be a JSON object. Its keys `shape` and `packing` are replaced by the values that describe
    /// the records.
    #[must_use]
    pub fn metadata(mut self, metadata: Metadata) -> Self {
        self.options = self.options.metadata(metadata);
        self
    }

    /// The number of records, if it is known beforehand. Any other number is an error of `push` or `finish`,
    /// [`Code::WrongCount`](bloscpack_error::Code::WrongCount).
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

    /// Threads that compress; one by default, which is the caller's own. Records are faster on more threads only if their
    /// chunks have 4 KiB or more.
    #[must_use]
    pub fn threads(mut self, threads: usize) -> Self {
        self.options = self.options.threads(threads);
        self
    }

    /// Builds a writer for a target that only takes bytes: a pipe, a socket, standard output.
    ///
    /// Header and metadata are written at once. If the number of records is not known beforehand, or if they are packed, the
    /// stream has no offset table, and ends with an end mark. If the number is known, the stream gets an offset table of -1,
    /// which [`RecordEditor::reindex`](crate::edit::RecordEditor::reindex) can fill in later.
    ///
    /// # Errors
    /// Returns a [`Usage`](bloscpack_error::Category::Usage) error for options that are out of range or that the version cannot
    /// express, and for metadata that is not an object; [`Code::NotBuilt`](bloscpack_error::Code::NotBuilt) for a compressor
    /// that this build does not have; [`Code::WriteLimit`](bloscpack_error::Code::WriteLimit) for what the
    /// [limits](Self::limits) refuse; any error of the writer.
    pub fn write_to<W: Write>(self, writer: W) -> Result<RecordWriter<W>> {
        let (plan, records) = self.plan(false)?;
        RecordWriter::with_plan(writer, plan, &records)
    }

    /// The same options, with compression on the crew of this process.
    #[cfg(feature = "aio")]
    pub(crate) fn on_crew(mut self) -> Self {
        self.options = self.options.on_crew();
        self
    }

    /// Builds a writer for a file or another target that can be written, read and sought: `finish` fills in header, metadata
    /// and offset table, also if the number of records was not known beforehand.
    ///
    /// As with [`EncoderBuilder::write_to_file`](crate::EncoderBuilder::write_to_file), the file must be open for reading and
    /// writing, and the member begins at the target's position and should be the last thing in it. In V2, whose offset table
    /// has no spare entries, all chunks are moved once at the end if their number was not known and they exceed 256 KiB.
    ///
    /// # Errors
    /// Returns the same errors as [`write_to`](Self::write_to).
    pub fn write_to_file<W: Read + Write + Seek>(self, file: W) -> Result<SeekRecordWriter<W>> {
        let (plan, records) = self.plan(true)?;
        SeekRecordWriter::with_plan(file, plan, &records, Some(move_up))
    }

    /// Builds a writer for a target that can be written and sought, but not read. It works like
    /// [`write_to_file`](Self::write_to_file), for records that are not packed and whose number is known beforehand
    /// ([`count`](Self::count)).
    ///
    /// # Errors
    /// Returns the same errors as [`write_to`](Self::write_to), and a [`Usage`](bloscpack_error::Category::Usage) error if the
    /// number of chunks is not known, unless [`offsets`](Self::offsets) is false.
    pub fn write_to_seek<W: Write + Seek>(self, target: W) -> Result<SeekRecordWriter<W>> {
        let (plan, records) = self.plan(true)?;
        SeekRecordWriter::with_plan(target, plan, &records, None)
    }

    /// Checks the options. With `seeks`, the target can be patched.
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
    /// The options for a [`RecordWriter`] or a [`SeekRecordWriter`], all with their defaults.
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
