//! [`Encoder`] and [`SeekEncoder`]: a Bloscpack file or stream, as a writer.
//!
//! ```text
//!   EncoderBuilder ─► plan (header, metadata)
//!   data ─► chunker (cuts; auto chooses settings) ─► chunk_compressor (threads) ─► stream or seek (writes to the target)
//! ```

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
/// The last call decides what is built:
///
/// | last call | target | writes | offset table |
/// |---|---|---|---|
/// | [`write_to`](Self::write_to) | takes bytes: a pipe, a socket | header first, end mark last if the length is unknown | no |
/// | [`write_to_file`](Self::write_to_file) | can seek and be read: a file | header and offset table at the end | yes |
/// | [`write_to_seek`](Self::write_to_seek) | can seek but not be read | the same; needs [`size`](Self::size) | yes |
/// | `write_async` (features `tokio`, `futures-io`) | async | as `write_to` | no |
///
/// | option | default | range |
/// |---|---|---|
/// | [`compressor`](Self::compressor), [`level`](Self::level) | LZ4 at level 9 | levels 0 to 9 |
/// | [`filter`](Self::filter), [`typesize`](Self::typesize) | byte shuffle, 8 | 1 to 255 bytes |
/// | [`auto`](Self::auto) | off | speed, balance, size |
/// | [`chunk_size`](Self::chunk_size) | 1 MiB | 1 to 2 147 483 631 bytes |
/// | [`checksum`](Self::checksum) | crc32 | |
/// | [`version`](Self::version) | V3 | V1, V2, V3 |
/// | [`size`](Self::size) | unknown | |
/// | [`threads`](Self::threads) | 1, the caller's | |
///
/// The setters check nothing; the last call refuses options that are out of range or contradict each other.
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
    /// The settings that the caller has set; `auto` chooses only the others.
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
    /// The compressor; LZ4 by default. One that this build does not have is an error of the last call.
    #[must_use]
    pub fn compressor(mut self, compressor: Compressor) -> Self {
        self.chunk.compressor = compressor;
        self.tuner = self.tuner.compressor(compressor);
        self
    }

    /// The level, from 0 (stored without compression) to 9 (smallest); by default the
    /// [default](Compressor::default_level) of the compressor.
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

    /// Element size in bytes, 1 to 255; 8 by default. The filter groups bytes or bits by it. The data need not be a whole
    /// number of elements.
    #[must_use]
    pub fn typesize(mut self, typesize: u8) -> Self {
        self.chunk.typesize = typesize;
        self.tuner = self.tuner.typesize(typesize);
        self
    }

    /// Chooses compressor, level, filter and typesize by a sample of the data, as a [`Tuner`] does. Settings that the caller
    /// sets, before or after this call, are kept. A `.npy` header at the beginning of the data determines the typesize.
    ///
    /// The sample is the first chunk. If the first bytes come from `read_at`, the sample consists of pieces from the whole
    /// range. The same data, written in the same way, results in the same file. The header, which is otherwise written before
    /// any data, is written after the sample. `tuned` reports the choice.
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

    /// The settings that [`auto`](Self::auto) would choose for these bytes of a source, and the reason; `None` without `auto`.
    /// It reads a sample and compresses it with several settings, which takes tens of milliseconds, or about a second for
    /// [`Aim::Size`].
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

    /// The tuner, which chooses the settings that the caller has not set.
    fn auto_tuner(&self) -> Option<Tuner> {
        let tuner = self.tuner.chunk_size(self.chunk_size);
        self.auto.map(|aim| tuner.aim(aim))
    }

    /// Uncompressed bytes of each chunk except the last, 1 to 2 147 483 631; [`DEFAULT_CHUNK_SIZE`] by default.
    ///
    /// A chunk is the unit of reading: larger chunks compress better, smaller ones let a reader decode less for a short range.
    /// Memory grows with the chunk size: see [`threads`](Self::threads).
    #[must_use]
    pub fn chunk_size(mut self, bytes: u32) -> Self {
        self.chunk_size = bytes;
        self
    }

    /// Whether [`flush`](Write::flush) ends the current chunk, which delivers everything written before the flush; false by
    /// default.
    ///
    /// An interactive stream has layout V3 and an end mark; its header declares that chunks may have any length up to
    /// [`chunk_size`](Self::chunk_size). Only [`write_to`](Self::write_to) writes it, without [`size`](Self::size). Each flush
    /// that ends a chunk costs a chunk header and a digest, 20 bytes with crc32, and the compressor sees less data at once. All
    /// readers of this project read such a stream; Bloscpack 0.16 unpacks nothing from any stream of unknown length.
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

    /// The checksum whose digest follows every chunk; crc32 by default, and none in V1, which has no field for it.
    #[must_use]
    pub fn checksum(mut self, checksum: Checksum) -> Self {
        self.checksum = Some(checksum);
        self
    }

    /// The implementations that compute digests. Readers need the same ([`Options::hashers`](crate::Options::hashers())).
    #[must_use]
    pub fn hashers(mut self, hashers: Hashers) -> Self {
        self.hashers = hashers;
        self
    }

    /// The limits that readers of the output will have; [`Limits::new`] by default. A chunk size, metadata or an offset table
    /// that such readers would refuse is an error, [`Code::WriteLimit`](bloscpack_error::Code::WriteLimit), if possible before
    /// anything is written.
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

    /// The version of the layout: V3 (the default), V2 or V1. `docs/format.md` compares them; V0 and Dev2012 cannot be written.
    ///
    /// | | V1 | V2 | V3 |
    /// |---|---|---|---|
    /// | checksum, typesize, chunk size in the header | no | yes | yes |
    /// | metadata | no | unchanged JSON text | with digest, zlib, and room to grow |
    /// | offset table | no | exactly one entry per chunk | with spare entries |
    /// | header protected | no | by a seal | no |
    /// | read by Bloscpack for Python | 0.1 | 0.2 | 0.3 to 0.16 |
    #[must_use]
    pub fn version(mut self, version: FormatVersion) -> Self {
        self.version = version;
        self
    }

    /// Whether a target that can seek gets an offset table, with which readers find any chunk at once; true by default. V1 has
    /// none, and a target that cannot seek never gets one, because it could not be filled in.
    #[must_use]
    pub fn offsets(mut self, offsets: bool) -> Self {
        self.offsets = offsets;
        self
    }

    /// The user's metadata, any JSON value; none by default. V1 has no place for it, and metadata that declares packed records
    /// is refused, since readers would look for records.
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

    /// Spare entries of the offset table, of 8 bytes each, for appending later; ten times the number of chunks by default. Only
    /// V3 with an offset table has them; at most 134 217 728 are allowed. If the length was not known beforehand, the spare
    /// entries are the rest of the room that was reserved, and at least as many as are set here.
    #[must_use]
    pub fn max_app_chunks(mut self, spare: u64) -> Self {
        self.max_app_chunks = Some(spare);
        self
    }

    /// Bytes of zeros after every chunk, into which a patched chunk can grow without rewriting the file; 0 by default. Only V2
    /// with an offset table can have them: readers of the other versions expect each chunk directly after the previous one.
    #[must_use]
    pub fn spare_space(mut self, bytes: u32) -> Self {
        self.spare_space = bytes;
        self
    }

    /// The length of the data in bytes, if it is known beforehand: the header of a stream is then complete, and no end mark
    /// follows. Any other length is an error of [`Write::write`] or `finish`,
    /// [`Code::WrongSize`](bloscpack_error::Code::WrongSize). The last chunk is written only by `finish`.
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

    /// Threads that compress; one by default, which is the caller's own. With more, compression runs while the caller
    /// continues to write. Their number does not change the output.
    ///
    /// Peak memory is about `(threads + 3) × 2 × chunk`, plus the contexts of the compressor.
    #[must_use]
    pub fn threads(mut self, threads: usize) -> Self {
        self.threads = threads;
        self
    }

    /// Builds an encoder for a target that only takes bytes: a pipe, a socket, standard output.
    ///
    /// Header and metadata are written at once (with [`auto`](Self::auto), before the first chunk), so the output has no offset
    /// table. If the length is not known beforehand, the output ends with an end mark.
    ///
    /// # Errors
    /// Returns a [`Usage`](bloscpack_error::Category::Usage) error for options that are out of range or that the version cannot
    /// express (V1 needs the size), [`Code::NotBuilt`](bloscpack_error::Code::NotBuilt) for a compressor that this build does
    /// not have, [`Code::WriteLimit`](bloscpack_error::Code::WriteLimit) for what the [limits](Self::limits) refuse, and any
    /// error of the writer.
    pub fn write_to<W: Write>(self, writer: W) -> Result<Encoder<W>> {
        Encoder::with_plan(writer, Plan::new(self, false)?)
    }

    /// The same options, with compression on the crew of this process.
    #[cfg(feature = "aio")]
    pub(crate) fn on_crew(mut self) -> Self {
        self.crew = Some(bloscpack_storage::parallel::crew());
        self
    }

    /// Builds an encoder for a file or another target that can be written, read and sought: `finish` fills in the header and
    /// the offset table, also if the length was not known beforehand.
    ///
    /// The file must be open for reading and writing, and not in append mode. The member begins at the target's position and
    /// should be the last thing in it: the target is not truncated, and readers refuse a file in which old bytes reach further
    /// than the new ones. Data is read back only if the offset table of a file of unknown length needs more room: then all
    /// chunks are moved.
    ///
    /// ```
    /// use bloscpack::{Encoder, indexed::IndexedReader};
    /// use std::{fs::File, io::Write};
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("numbers.blp");
    /// let file = File::options().read(true).write(true).create(true).truncate(true).open(&path)?;
    /// let mut encoder = Encoder::builder().typesize(8).write_to_file(file)?;
    /// for number in 0..1000_u64 {
    ///     encoder.write_all(&number.to_le_bytes())?;
    /// }
    /// encoder.finish()?;
    ///
    /// let reader = IndexedReader::open(File::open(&path)?)?;
    /// let mut number = [0; 8];
    /// reader.read_exact_at(8 * 765, &mut number)?;
    /// assert_eq!(u64::from_le_bytes(number), 765);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Returns the same errors as [`write_to`](Self::write_to).
    pub fn write_to_file<W: Read + Write + Seek>(self, file: W) -> Result<SeekEncoder<W>> {
        SeekEncoder::new(file, Plan::new(self, true)?, Some(move_up))
    }

    /// Builds an encoder for a target that can be written and sought, but not read. It works like
    /// [`write_to_file`](Self::write_to_file), for a length that is known beforehand ([`size`](Self::size)).
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
    /// Returns the same errors as [`write_to`](Self::write_to), and a [`Usage`](bloscpack_error::Category::Usage) error without
    /// [`size`](Self::size), unless [`offsets`](Self::offsets) is false.
    pub fn write_to_seek<W: Write + Seek>(self, target: W) -> Result<SeekEncoder<W>> {
        SeekEncoder::new(target, Plan::new(self, true)?, None)
    }
}
