//! [`Encoder`] and [`SeekEncoder`]: a Bloscpack file or stream, as a writer.
//!
//! [`plan`] decides what the header says, [`stage`] cuts the data into chunks, [`line`] has them
//! compressed, [`stream`] and [`seek`] put them where they belong.

mod auto;
mod chunk_compressor;
mod chunker;
mod plan;
mod seek;
mod stream;

pub(super) use chunk_compressor::{Batch, Line, Recipe, Sink};
pub(super) use chunker::Stage;
pub(super) use plan::{MOST_SPARE, Plan, RecordOptions, check_of_records, default_spare};
pub use seek::SeekEncoder;
pub(super) use seek::{Mover, SeekSink, move_up};
pub use stream::Encoder;
pub(super) use stream::StreamSink;

use blosc1::{Aim, ChunkSettings, Compressor, Filter, Tuner};
use bloscpack_error::Result;
use bloscpack_wire::{Checksum, FormatVersion, Hashers, Metadata};
use std::io::{Read, Seek, Write};

/// Uncompressed bytes of a chunk, unless told otherwise: 1 MiB, as the reference has it.
pub const DEFAULT_CHUNK_SIZE: u32 = 1 << 20;

/// Sets up an [`Encoder`] or a [`SeekEncoder`]; made by [`Encoder::builder`].
///
/// The last word decides what is built: [`write_to`](Self::write_to) for pipes and sockets,
/// [`write_to_file`](Self::write_to_file) for files, [`write_to_seek`](Self::write_to_seek) for
/// targets that seek but cannot be read.
#[derive(Debug, Clone)]
pub struct EncoderBuilder {
    chunk: ChunkSettings,
    level: Option<u8>,
    auto: Option<Aim>,
    /// What was given, which stays where the rest is chosen.
    tuner: Tuner,
    chunk_size: u32,
    checksum: Option<Checksum>,
    hashers: Hashers,
    layout: FormatVersion,
    offsets: bool,
    metadata: Option<Metadata>,
    max_app_chunks: Option<u64>,
    spare_space: u32,
    size: Option<u64>,
    threads: usize,
}

impl Default for EncoderBuilder {
    fn default() -> Self {
        Self {
            chunk: ChunkSettings::default(),
            level: None,
            auto: None,
            tuner: Tuner::default(),
            chunk_size: DEFAULT_CHUNK_SIZE,
            checksum: None,
            hashers: Hashers::default(),
            layout: FormatVersion::V3,
            offsets: true,
            metadata: None,
            max_app_chunks: None,
            spare_space: 0,
            size: None,
            threads: 1,
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

    /// Bytes an element, 1 to 255; 8 by default.
    #[must_use]
    pub fn typesize(mut self, typesize: u8) -> Self {
        self.chunk.typesize = typesize;
        self.tuner = self.tuner.typesize(typesize);
        self
    }

    /// Chooses compressor, level, filter and typesize by a sample of the data, as a [`Tuner`] does; those
    /// of them that are set, before or after this, stay as they are.
    ///
    /// The sample is the first chunk; where the first bytes come through `read_at`, it is from all over
    /// what is read. The same data in the same way gives the same file. A header that goes out before any
    /// data otherwise waits for the sample here. `tuned` tells what was chosen.
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

    /// Uncompressed bytes of a chunk, 1 to 2147483631; [`DEFAULT_CHUNK_SIZE`] by default.
    #[must_use]
    pub fn chunk_size(mut self, bytes: u32) -> Self {
        self.chunk_size = bytes;
        self
    }

    /// The checksum behind every chunk; crc32 by default, and none in V1, which has no place for it.
    #[must_use]
    pub fn checksum(mut self, checksum: Checksum) -> Self {
        self.checksum = Some(checksum);
        self
    }

    /// What computes digests.
    #[must_use]
    pub fn hashers(mut self, hashers: Hashers) -> Self {
        self.hashers = hashers;
        self
    }

    /// The layout of the header: V3 (the default), V2 or V1.
    #[must_use]
    pub fn layout(mut self, layout: FormatVersion) -> Self {
        self.layout = layout;
        self
    }

    /// Whether a target that can seek gets a table of offsets; true by default. V1 has none, and
    /// a target that cannot seek never gets one, since it could not be filled in.
    #[must_use]
    pub fn offsets(mut self, offsets: bool) -> Self {
        self.offsets = offsets;
        self
    }

    /// User metadata. V1 has no place for it.
    #[must_use]
    pub fn metadata(mut self, metadata: Metadata) -> Self {
        self.metadata = Some(metadata);
        self
    }

    /// Spare offsets for appending later, in V3 with offsets; ten times the number of chunks, and
    /// at least 64, by default. Where the length was not known, they are what is left of the
    /// table's room, and at least as many as asked for.
    #[must_use]
    pub fn max_app_chunks(mut self, spare: u64) -> Self {
        self.max_app_chunks = Some(spare);
        self
    }

    /// Zeros behind every chunk, 0 by default, so that a patched one may become longer without a new
    /// file. Only V2 with offsets can have them, since other readers expect one chunk right behind
    /// the other.
    #[must_use]
    pub fn spare_space(mut self, bytes: u32) -> Self {
        self.spare_space = bytes;
        self
    }

    /// The length of the data, where it is known beforehand. Another one is an error of
    /// [`Write::write`] or `finish`.
    #[must_use]
    pub fn size(mut self, bytes: u64) -> Self {
        self.size = Some(bytes);
        self
    }

    /// Threads that compress; one by default, which is the caller's own.
    ///
    /// Peak memory is about `(threads + 3) × 2 × chunk`, beside the contexts of the compressor.
    #[must_use]
    pub fn threads(mut self, threads: usize) -> Self {
        self.threads = threads;
        self
    }

    /// An encoder for a target that only takes bytes: a pipe, a socket, standard output.
    ///
    /// The header goes out at once, so there is no table of offsets; a length that is not known
    /// beforehand makes it a stream that ends with an end mark.
    ///
    /// # Errors
    /// Options that are out of range or that the layout cannot express (V1 needs the size), and
    /// errors of the writer.
    pub fn write_to<W: Write>(self, writer: W) -> Result<Encoder<W>> {
        Encoder::with_plan(writer, Plan::new(self, false)?)
    }

    /// An encoder for a file or anything else that can be written, read and sought: all of the
    /// header and the table of offsets are filled in by `finish`, whatever was known beforehand.
    ///
    /// The member begins where the target stands, and should be the last thing in it: nothing is
    /// cut off, and old bytes that reach further than the new ones make readers refuse the file.
    /// Data is read back only to move it when the table, of a length not known beforehand, needs
    /// more room. The file must be open for reading, too, and not in append mode.
    ///
    /// # Errors
    /// As for [`write_to`](Self::write_to).
    pub fn write_to_file<W: Read + Write + Seek>(self, file: W) -> Result<SeekEncoder<W>> {
        SeekEncoder::new(file, Plan::new(self, true)?, Some(move_up))
    }

    /// An encoder for a target that can be written and sought, but not read: as
    /// [`write_to_file`](Self::write_to_file), for a length that is known beforehand.
    ///
    /// # Errors
    /// As for [`write_to`](Self::write_to), and where [`size`](Self::size) was not given although
    /// there are to be offsets.
    pub fn write_to_seek<W: Write + Seek>(self, target: W) -> Result<SeekEncoder<W>> {
        SeekEncoder::new(target, Plan::new(self, true)?, None)
    }
}
