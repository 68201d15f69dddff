//! [`Encoder`] and [`SeekEncoder`]: a Bloscpack file or stream, as a writer.
//!
//! [`plan`] makes the header, [`chunker`] cuts the data into chunks, [`chunk_compressor`] compresses them on several threads,
//! [`stream`] and [`seek`] write them to the target.

mod auto;
mod chunk_compressor;
mod chunker;
mod plan;
mod seek;
mod stream;

pub(super) use chunk_compressor::{Batch, ChunkCompressor, ChunkOptions, ChunkSink, Totals};
pub(super) use chunker::Chunker;
pub(super) use plan::{
    MOST_SPARE, Plan, RecordOptions, Total, check_of_content, check_of_records, check_table,
    default_spare, last_chunk_len,
};
pub use seek::SeekEncoder;
pub(super) use seek::{Mover, SeekSink, move_up};
pub use stream::Encoder;
pub(super) use stream::StreamSink;

use blosc1::{Aim, ChunkSettings, Compressor, Filter, Tuned, Tuner};
use bloscpack_error::Result;
use bloscpack_storage::{ReadAt, parallel::Crew};
use bloscpack_wire::{Checksum, FormatVersion, Hashers, Limits, Metadata};
use std::io::{Read, Seek, Write};
use std::ops::Range;
use std::sync::Arc;

/// Uncompressed bytes of a chunk by default: 1 MiB, as in the reference implementation.
pub const DEFAULT_CHUNK_SIZE: u32 = 1 << 20;

/// Options of an [`Encoder`] or a [`SeekEncoder`]; created by [`Encoder::builder`].
///
/// The last call decides which one is built: [`write_to`](Self::write_to) for pipes and sockets,
/// [`write_to_file`](Self::write_to_file) for files, [`write_to_seek`](Self::write_to_seek) for targets that can seek but
/// cannot be read.
///
/// ```
/// use bloscpack::{Checksum, Compressor, Encoder, Filter};
/// use std::io::Write;
///
/// let mut encoder = Encoder::builder()
///     .compressor(Compressor::Lz4)
///     .filter(Filter::Bit)
///     .typesize(4)
///     .checksum(Checksum::Sha256)
///     .chunk_size(64 << 10)
///     .write_to(Vec::new())?;
/// encoder.write_all(&[1, 0, 0, 0].repeat(50_000))?;
/// assert!(encoder.finish()?.len() < 5000);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct EncoderBuilder {
    chunk: ChunkSettings,
    level: Option<u8>,
    auto: Option<Aim>,
    /// The settings that were given, which stay where the rest is chosen.
    tuner: Tuner,
    chunk_size: u32,
    interactive: bool,
    checksum: Option<Checksum>,
    hashers: Hashers,
    limits: Limits,
    version: FormatVersion,
    offsets: bool,
    metadata: Option<Metadata>,
    max_app_chunks: Option<u64>,
    spare_space: u32,
    size: Option<u64>,
    threads: usize,
    crew: Option<Arc<Crew>>,
}

impl Default for EncoderBuilder {
    fn default() -> Self {
        Self {
            chunk: ChunkSettings::default(),
            level: None,
            auto: None,
            tuner: Tuner::default(),
            chunk_size: DEFAULT_CHUNK_SIZE,
            interactive: false,
            checksum: None,
            hashers: Hashers::default(),
            limits: Limits::default(),
            version: FormatVersion::V3,
            offsets: true,
            metadata: None,
            max_app_chunks: None,
            spare_space: 0,
            size: None,
            threads: 1,
            crew: None,
        }
    }
}

impl EncoderBuilder {
    /// The compressor; LZ4 by default.
    #[must_use]
    pub fn compressor(mut self, compressor: Compressor) -> Self {
        self.chunk.compressor = compressor;
        self.tuner = self.tuner.compressor(compressor);
        self
    }

    /// The level, from 0 (only stored) to 9 (smallest); the compressor's
    /// [own](Compressor::default_level) by default.
    #[must_use]
    pub fn level(mut self, level: u8) -> Self {
        self.level = Some(level);
        self.tuner = self.tuner.level(level);
        self
    }

    /// The filter; byte shuffle by default.
    #[must_use]
    pub fn filter(mut self, filter: Filter) -> Self {
        self.chunk.filter = filter;
        self.tuner = self.tuner.filter(filter);
        self
    }

    /// Element size in bytes, 1 to 255; 8 by default.
    #[must_use]
    pub fn typesize(mut self, typesize: u8) -> Self {
        self.chunk.typesize = typesize;
        self.tuner = self.tuner.typesize(typesize);
        self
    }

    /// Chooses compressor, level, filter and typesize by a sample of the data, as a [`Tuner`] does. Settings that are
    /// given, before or after this call, stay as they are. A `.npy` header at the beginning of the data states the typesize.
    ///
    /// The sample is the first chunk; if the first bytes are read with `read_at`, it is taken from all over the range that
    /// is read. The same data, written in the same way, results in the same file. The header, which is otherwise written
    /// before any data, waits for the sample. `tuned` reports the choice.
    ///
    /// ```
    /// use bloscpack::Encoder;
    /// use bloscpack::blosc::Aim;
    /// use std::io::Write;
    ///
    /// let numbers: Vec<u8> = (0..400_000_u32).flat_map(|n| (n * 7).to_le_bytes()).collect();
    /// let mut encoder = Encoder::builder().auto(Aim::Balance).write_to(Vec::new())?;
    /// encoder.write_all(&numbers)?;
    /// assert_eq!(encoder.tuned().map(|tuned| tuned.settings().typesize), Some(4));
    /// assert!(encoder.finish()?.len() < numbers.len() / 20);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn auto(mut self, aim: Aim) -> Self {
        self.auto = Some(aim);
        self
    }

    /// The settings that [`auto`](Self::auto) would choose for these bytes of a source, and why; `None` without `auto`.
    ///
    /// ```
    /// use bloscpack::{Encoder, blosc::Aim};
    ///
    /// let numbers: Vec<u8> = (0..400_000_u32).flat_map(|n| (n * 7).to_le_bytes()).collect();
    /// let builder = Encoder::builder().auto(Aim::Size);
    /// let tuned = builder.tune_at(&numbers, 0..1_600_000)?;
    /// assert_eq!(tuned.map(|tuned| tuned.settings().typesize), Some(4));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Returns any error of the source.
    pub fn tune_at<S: ReadAt>(&self, source: &S, bytes: Range<u64>) -> Result<Option<Tuned>> {
        let tuner = self.auto_tuner();
        tuner
            .map(|tuner| auto::tuned_at(tuner, source, &bytes))
            .transpose()
    }

    /// The tuner that chooses what was not given.
    fn auto_tuner(&self) -> Option<Tuner> {
        let tuner = self.tuner.chunk_size(self.chunk_size);
        self.auto.map(|aim| tuner.aim(aim))
    }

    /// Uncompressed bytes of a chunk, 1 to 2147483631; [`DEFAULT_CHUNK_SIZE`] by default.
    #[must_use]
    pub fn chunk_size(mut self, bytes: u32) -> Self {
        self.chunk_size = bytes;
        self
    }

    /// Whether [`flush`](Write::flush) ends the chunk that is being filled, so that everything written before it reaches the
    /// target; false by default.
    ///
    /// The header says from the start that chunks may have any length up to [`chunk_size`](Self::chunk_size). Such a stream
    /// is of V3, has an end mark, and is written by [`write_to`](Self::write_to) alone. Each flush that ends a chunk costs
    /// the header and the digest of a chunk, 20 bytes with crc32, and the compressor sees less at once. All readers here
    /// take it; Bloscpack 0.16 unpacks nothing from any stream of unknown length.
    ///
    /// ```
    /// use bloscpack::{Decoder, Encoder};
    /// use std::io::{Read, Write};
    /// let mut encoder = Encoder::builder().interactive(true).write_to(Vec::new())?;
    /// encoder.write_all(b"ping")?;
    /// encoder.flush()?;
    ///
    /// let mut received = [0; 4];
    /// Decoder::new(encoder.get_ref().as_slice()).read_exact(&mut received)?;
    /// assert_eq!(&received, b"ping");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn interactive(mut self, interactive: bool) -> Self {
        self.interactive = interactive;
        self
    }

    /// The checksum after every chunk; crc32 by default, and none in V1, which has no field for it.
    #[must_use]
    pub fn checksum(mut self, checksum: Checksum) -> Self {
        self.checksum = Some(checksum);
        self
    }

    /// The implementations that compute digests.
    #[must_use]
    pub fn hashers(mut self, hashers: Hashers) -> Self {
        self.hashers = hashers;
        self
    }

    /// The limits of the readers of the output, the defaults by default: a chunk size, metadata or a table of offsets that
    /// these would refuse is an error, before anything is written where that can be known.
    ///
    /// ```
    /// use bloscpack::{Category, Decoder, Encoder, Limits, Metadata, Options};
    /// let metadata = Metadata::from_json(format!("\"{}\"", "a".repeat(65 << 20)))?;
    /// let builder = Encoder::builder().metadata(metadata);
    /// let error = builder.clone().write_to(Vec::new()).unwrap_err();
    /// assert_eq!(error.category(), Category::OverLimit);
    ///
    /// let limits = Limits::new().metadata(100 << 20);
    /// let file = builder.limits(limits).write_to(Vec::new())?.finish()?;
    /// let mut reader = Decoder::with_options(file.as_slice(), Options::new().limits(limits));
    /// assert!(reader.read_metadata()?.is_some());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// The version of the header: V3 (the default), V2 or V1.
    #[must_use]
    pub fn version(mut self, version: FormatVersion) -> Self {
        self.version = version;
        self
    }

    /// Whether a target that can seek gets a table of offsets; true by default. V1 has none, and a target that cannot
    /// seek never gets one, since it could not be filled in.
    #[must_use]
    pub fn offsets(mut self, offsets: bool) -> Self {
        self.offsets = offsets;
        self
    }

    /// The user's metadata. V1 has no room for any.
    ///
    /// ```
    /// use bloscpack::{Decoder, Encoder, wire::Metadata};
    /// let metadata = Metadata::from_json(r#"{"sensor": 7, "unit": "mV"}"#)?;
    /// let file = Encoder::builder().metadata(metadata.clone()).write_to(Vec::new())?.finish()?;
    /// assert_eq!(Decoder::new(file.as_slice()).read_metadata()?, Some(&metadata));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn metadata(mut self, metadata: Metadata) -> Self {
        self.metadata = Some(metadata);
        self
    }

    /// Spare offsets for appending later, in V3 with offsets; ten times the number of chunks by default.
    /// If the length was not known, they are the rest of the table's room, and at least as many as asked for.
    #[must_use]
    pub fn max_app_chunks(mut self, spare: u64) -> Self {
        self.max_app_chunks = Some(spare);
        self
    }

    /// Zeros after every chunk, 0 by default, so that a patched chunk may become longer without a new file. Only V2 with
    /// offsets can have them, since readers of the other versions expect each chunk right after the one before it.
    #[must_use]
    pub fn spare_space(mut self, bytes: u32) -> Self {
        self.spare_space = bytes;
        self
    }

    /// The length of the data in bytes, if it is known beforehand. Any other length is an error of [`Write::write`] or
    /// `finish`.
    ///
    /// ```
    /// use bloscpack::{Code, Encoder};
    /// use std::io::Write;
    /// let mut encoder = Encoder::builder().size(10).write_to(Vec::new())?;
    /// encoder.write_all(b"too short")?;
    /// let error = encoder.finish().unwrap_err();
    /// assert_eq!(error.code(), Code::WrongSize);
    /// assert_eq!(error.to_string(), "expected 10 bytes, got only 9");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn size(mut self, bytes: u64) -> Self {
        self.size = Some(bytes);
        self
    }

    /// Threads that compress; one by default, which is the caller's own.
    ///
    /// Peak memory is about `(threads + 3) × 2 × chunk`, plus the contexts of the compressor.
    #[must_use]
    pub fn threads(mut self, threads: usize) -> Self {
        self.threads = threads;
        self
    }

    /// Builds an encoder for a target that only takes bytes: a pipe, a socket, standard output.
    ///
    /// The header is written at once, so the output has no table of offsets. If the length is not known beforehand, the
    /// output is a stream that ends with an end mark.
    ///
    /// # Errors
    /// Returns a [`Usage`](bloscpack_error::Category::Usage) error for options that are out of range or that the header's
    /// version cannot express (V1 needs the size), and any error of the writer.
    pub fn write_to<W: Write>(self, writer: W) -> Result<Encoder<W>> {
        Encoder::with_plan(writer, Plan::new(self, false)?)
    }

    /// The same options for the crew of this process.
    #[cfg(feature = "aio")]
    pub(crate) fn on_crew(mut self) -> Self {
        self.crew = Some(bloscpack_storage::parallel::crew());
        self
    }

    /// Builds an encoder for a file or anything else that can be written, read and sought: `finish` fills in all of the
    /// header and the table of offsets, even if nothing was known beforehand.
    ///
    /// The member begins at the target's position and should be the last thing in it: the target is not truncated, and
    /// readers refuse a file in which old bytes reach further than the new ones. Data is read back only to move it, when
    /// a table of a length that was not known beforehand needs more room. The file must also be open for reading, and not
    /// in append mode.
    ///
    /// # Errors
    /// Returns the same errors as [`write_to`](Self::write_to).
    pub fn write_to_file<W: Read + Write + Seek>(self, file: W) -> Result<SeekEncoder<W>> {
        SeekEncoder::new(file, Plan::new(self, true)?, Some(move_up))
    }

    /// Builds an encoder for a target that can be written and sought, but not read: as
    /// [`write_to_file`](Self::write_to_file), for a length that is known beforehand.
    ///
    /// ```
    /// use bloscpack::{Encoder, indexed::IndexedReader};
    /// use std::io::{Cursor, Write};
    /// let mut encoder = Encoder::builder().size(5).write_to_seek(Cursor::new(Vec::new()))?;
    /// encoder.write_all(b"hello")?;
    /// let file = encoder.finish()?.into_inner();
    /// assert!(IndexedReader::open(file)?.header().is_some_and(|header| header.offsets));
    ///
    /// let unknown = Encoder::builder().write_to_seek(Cursor::new(Vec::new()));
    /// assert!(unknown.is_err());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Returns the same errors as [`write_to`](Self::write_to), and a [`Usage`](bloscpack_error::Category::Usage) error if
    /// there are to be offsets and [`size`](Self::size) was not given.
    pub fn write_to_seek<W: Write + Seek>(self, target: W) -> Result<SeekEncoder<W>> {
        SeekEncoder::new(target, Plan::new(self, true)?, None)
    }
}
