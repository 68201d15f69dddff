//! [`FrameBuilder`]: the settings of a new frame.

use super::metalayers::{check_layer, vlmetalayer_chunk};
use super::{Frame, VaryingFrame};
use crate::coder::{codec_id, settings};
use crate::meta::FrameMeta;
use crate::part::FramePart;
use crate::storage::{FileStorage, METADATA_FILE, Origin, SparseStorage, check_chunk_len};
use crate::wire::header::FrameHeader;
use crate::wire::kind::FrameKind;
use crate::wire::metalayers::Metalayers;
use crate::wire::{ChunkPlace, Trailer, chunk_file_name};
use blosc1::{
    Blosc2Encoder, ChunkError, ChunkHeader, ChunkSettings, Compressor, FilterPipeline, MAX_NBYTES,
};
use bloscpack::Options;
use bloscpack_error::checked::to_u64;
use bloscpack_error::{Error, Result};
use bloscpack_storage::{
    Access, Disk, DiskStore, Folder, JournaledFile, JournaledStore, Key, Memory, Store, WriteAt,
};
use bloscpack_wire::Limit;
use std::ffi::OsStr;
use std::io;
use std::path::Path;
use std::sync::Arc;

/// The file name of a frame in memory.
pub(super) const IN_MEMORY: &str = "frame";

/// The settings of a new frame, made by [`Frame::builder`].
///
/// | setting | default |
/// |---|---|
/// | [`compressor`](Self::compressor) | LZ4 |
/// | [`level`](Self::level) | depends on the compressor |
/// | [`filters`](Self::filters) | shuffle |
/// | [`blocksize`](Self::blocksize) | depends on compressor and level |
/// | [`options`](Self::options) | [`Options::default`] |
///
/// End the chain with [`in_memory`](Self::in_memory) or a method whose name begins with `create`. These methods check all
/// settings, and return a frame that can be changed, without chunks.
///
/// ```
/// use blosc1::Compressor;
/// use bloscpack_frames::Frame;
/// let mut frame = Frame::builder(4, 4000).compressor(Compressor::Zstd).level(5).in_memory()?;
/// frame.set_vlmetalayer("unit", b"metres")?;
/// frame.append(&[0; 4000])?;
/// assert_eq!(frame.vlmetalayer("unit")?.as_deref(), Some(b"metres".as_slice()));
/// # Ok::<(), bloscpack_error::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct FrameBuilder {
    typesize: u32,
    chunk_size: u32,
    blocksize: Option<u32>,
    compressor: Compressor,
    level: Option<u8>,
    filters: FilterPipeline,
    metalayers: Metalayers,
    vlmetalayers: Metalayers,
    initial: InitialChunks,
    /// Whether chunks and blocks may have any length.
    varies: bool,
    options: Options,
}

/// The chunks of a new frame, all with the same content.
#[derive(Debug, Clone)]
pub(crate) enum InitialChunks {
    /// This many chunks that are not stored.
    Special(u64, ChunkPlace),
    /// This many copies of a chunk.
    Stored(u64, Vec<u8>),
}

impl InitialChunks {
    fn count(&self) -> u64 {
        match self {
            Self::Special(count, _) | Self::Stored(count, _) => *count,
        }
    }

    /// The index entries of the chunks in a frame of this kind, and the stored bytes of all chunks; `None` for 2^64 bytes or
    /// more.
    fn places(&self, kind: FrameKind) -> Option<(Vec<ChunkPlace>, u64)> {
        let (count, chunk) = match self {
            Self::Special(count, place) => {
                return Some(((0..*count).map(|_| *place).collect(), 0));
            }
            Self::Stored(count, chunk) => (*count, to_u64(chunk.len())),
        };
        let bytes = count.checked_mul(chunk)?;
        let step = match kind {
            FrameKind::Contiguous => chunk,
            FrameKind::Sparse => 1,
        };
        // Less than `bytes`: does not overflow.
        let place = |number| ChunkPlace::At(number * step);
        Some(((0..count).map(place).collect(), bytes))
    }

    /// Writes the chunks to a file, beginning at `at`. Returns where they end.
    fn write(&self, file: &impl WriteAt, mut at: u64) -> io::Result<u64> {
        if let Self::Stored(count, chunk) = self {
            for _ in 0..*count {
                file.write_all_at(at, chunk)?;
                at += to_u64(chunk.len());
            }
        }
        Ok(at)
    }
}

impl FrameBuilder {
    /// Default settings. Sizes are checked when the frame is created.
    pub(crate) fn new(typesize: u32, chunk_size: u32) -> Self {
        let ChunkSettings { compressor, .. } = ChunkSettings::default();
        Self {
            typesize,
            chunk_size,
            blocksize: None,
            compressor,
            level: None,
            filters: FilterPipeline::default(),
            metalayers: Metalayers::new(),
            vlmetalayers: Metalayers::new(),
            initial: InitialChunks::Special(0, ChunkPlace::Zeros),
            varies: false,
            options: Options::default(),
        }
    }

    /// Sets the uncompressed bytes of a block, the part of a chunk that is compressed on its own (default: chosen by compressor
    /// and level). Smaller blocks make reading small ranges faster and compress less.
    #[must_use]
    pub fn blocksize(mut self, bytes: u32) -> Self {
        self.blocksize = Some(bytes);
        self
    }

    /// Sets the compressor of new chunks (default LZ4). Blosc2 has no Snappy. A compressor that this build lacks is refused
    /// when the frame is created.
    #[must_use]
    pub fn compressor(mut self, compressor: Compressor) -> Self {
        self.compressor = compressor;
        self
    }

    /// Sets the compression level of new chunks, 0 to 9 (default: the default of the compressor).
    #[must_use]
    pub fn level(mut self, level: u8) -> Self {
        self.level = Some(level);
        self
    }

    /// Sets the filters, which rearrange the bytes of a block before it is compressed (default: shuffle).
    #[must_use]
    pub fn filters(mut self, filters: impl Into<FilterPipeline>) -> Self {
        self.filters = filters.into();
        self
    }

    /// Adds a metalayer of fixed length to the header, or replaces the one with this name. A header holds at most 16; that is
    /// checked when the frame is created.
    ///
    /// # Errors
    /// Returns [`Code::CannotStore`](bloscpack_error::Code::CannotStore) for a name of 0 or more than 31 bytes.
    pub fn metalayer(mut self, name: &str, bytes: impl Into<Vec<u8>>) -> Result<Self> {
        self.metalayers.set(name, bytes.into())?;
        Ok(self)
    }

    /// Adds a metalayer of varying length to the trailer, or replaces the one with this name. The value is compressed at once.
    ///
    /// # Errors
    /// Returns [`Code::CannotStore`](bloscpack_error::Code::CannotStore) for a name of 0 or more than 31 bytes.
    pub fn vlmetalayer(mut self, name: &str, bytes: &[u8]) -> Result<Self> {
        self.vlmetalayers.set(name, vlmetalayer_chunk(bytes)?)?;
        Ok(self)
    }

    /// Sets the bytes of a chunk and of a block, for callers that know them only when the frame is created.
    pub(crate) fn sizes(mut self, chunk_size: u32, blocksize: u32) -> Self {
        (self.chunk_size, self.blocksize) = (chunk_size, Some(blocksize));
        self
    }

    /// Sets the chunks that the new frame contains.
    pub(crate) fn initial(mut self, chunks: InitialChunks) -> Self {
        self.initial = chunks;
        self
    }

    /// Sets threads, limits, cache and lock timeout of the frame (default: [`Options::default`]).
    #[must_use]
    pub fn options(mut self, options: Options) -> Self {
        self.options = options;
        self
    }

    /// The limits in the options.
    pub(crate) fn limits(&self) -> &bloscpack_wire::Limits {
        &self.options.limits
    }

    /// Creates a contiguous frame without chunks, in a new file at this path. The file is written, synced and locked when this
    /// returns.
    ///
    /// A crash before that may leave an incomplete file. If writing it fails, the file is removed.
    ///
    /// # Errors
    /// Returns [`Code::Io`](bloscpack_error::Code::Io) with the path: of the kind
    /// [`AlreadyExists`](io::ErrorKind::AlreadyExists) if the path exists, and any other I/O error. Returns
    /// [`Usage`](bloscpack_error::Category::Usage) for sizes and settings that are not possible,
    /// [`Code::NotBuilt`](bloscpack_error::Code::NotBuilt) for a compressor that this build lacks, and
    /// [`Code::OverLimit`](bloscpack_error::Code::OverLimit) for chunks, blocks or metadata that a reader with the same limits
    /// would refuse.
    pub fn create(self, path: impl AsRef<Path>) -> Result<Frame> {
        let path = path.as_ref();
        let folder = match path.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => Disk::new(folder),
            _ => Disk::new("."),
        };
        let origin = Origin::target(Some(path));
        let name = path.file_name().ok_or_else(|| {
            let what = "the path does not end in a file name";
            io::Error::new(io::ErrorKind::InvalidInput, what)
        });
        let name = origin.io(name)?;
        self.create_with(folder, name, origin)
    }

    /// Creates a contiguous frame without chunks, in the new file `name` of a folder.
    ///
    /// # Errors
    /// Returns the errors of [`create`](Self::create).
    pub fn create_in<F>(self, folder: F, name: &OsStr) -> Result<Frame>
    where
        F: Folder<File: 'static> + 'static,
    {
        self.create_with(folder, name, Origin::target(Some(Path::new(name))))
    }

    /// Writes the new file, syncs it, and opens it for changing.
    fn create_with<F>(self, folder: F, name: &OsStr, origin: Origin) -> Result<Frame>
    where
        F: Folder<File: 'static> + 'static,
    {
        let (meta, [header, end]) = self.meta(FrameKind::Contiguous)?;
        let file = origin.io(folder.create(name, None))?;
        let written = self.initial.write(&file, meta.header_len());
        let written = written.and_then(|at| {
            file.write_all_at(at, &end)?;
            file.write_all_at(0, &header)?;
            file.sync()
        });
        drop(file);
        if let Err(error) = written.and_then(|()| folder.sync()) {
            // No reader can use the incomplete file. Of the two errors, the first one matters.
            let _ = folder.remove(name);
            return origin.io(Err(error));
        }
        let held = origin.io(JournaledFile::open(
            folder,
            name,
            &self.options.lock_timeout,
        ))?;
        let storage = FileStorage::new(held, origin, &meta)?;
        Ok(Frame::new(Box::new(storage), meta, &self.options))
    }

    /// Creates a sparse frame without chunks in a directory at this path. The directory is created; if it exists, it must be
    /// empty.
    ///
    /// ```
    /// use bloscpack_frames::Frame;
    /// # let temp = tempfile::tempdir()?;
    /// # let path = temp.path().join("sparse");
    /// let mut frame = Frame::builder(4, 400).create_sparse(&path)?;
    /// frame.append(&[5; 400])?;
    /// frame.flush()?;
    /// drop(frame);
    /// assert!(path.join("00000000.chunk").is_file());
    /// assert_eq!(Frame::open(&path)?.chunks(), 1);
    /// # Ok::<(), bloscpack_error::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns the errors of [`create`](Self::create). The kind is [`AlreadyExists`](io::ErrorKind::AlreadyExists) if the
    /// directory is not empty. Paths in I/O errors are relative to the directory.
    pub fn create_sparse(self, path: impl AsRef<Path>) -> Result<Frame> {
        let path = path.as_ref();
        let store = match DiskStore::create(path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => DiskStore::open(path),
            created => created,
        };
        let store = Origin::target(Some(path)).io(store)?;
        self.create_in_store(store)
    }

    /// Creates a sparse frame without chunks at the root of an empty store.
    ///
    /// # Errors
    /// Returns the errors of [`create_sparse`](Self::create_sparse).
    pub fn create_in_store(self, store: impl Store + 'static) -> Result<Frame> {
        let (meta, [mut bytes, end]) = self.meta(FrameKind::Sparse)?;
        bytes.extend_from_slice(&end);
        let (access, lock_timeout) = (Access::Write, self.options.lock_timeout.clone());
        let origin = Origin::of(access, None);
        let root = origin.io(JournaledStore::open_with(
            Arc::new(store),
            access,
            lock_timeout,
        ))?;
        if !origin.io(root.list(&Key::root()))?.is_empty() {
            let what = "the directory is not empty";
            let error = io::Error::new(io::ErrorKind::AlreadyExists, what);
            return origin.io(Err(error));
        }
        if let InitialChunks::Stored(count, chunk) = &self.initial {
            for number in 0..*count {
                let key = Key::root().join(&chunk_file_name(number))?;
                Origin::of(access, Some(&key)).io(root.put(&key, chunk))?;
            }
        }
        let key = Key::root().join(METADATA_FILE)?;
        Origin::of(access, Some(&key)).io(root.put(&key, &bytes))?;
        origin.io(root.commit_counts(&[key], false))?;
        let storage = SparseStorage::new(root, access, &meta)?;
        Ok(Frame::new(Box::new(storage), meta, &self.options))
    }

    /// Creates a contiguous frame in a new file at this path, for chunks of any length. The sizes of chunks and blocks in this
    /// builder, and its filters, have no effect.
    ///
    /// # Errors
    /// Returns the errors of [`create`](Self::create).
    pub fn create_varying(mut self, path: impl AsRef<Path>) -> Result<VaryingFrame> {
        (self.varies, self.blocksize) = (true, None);
        self.filters = blosc1::Filter::None.into();
        self.create(path).map(VaryingFrame::of)
    }

    /// Creates a contiguous frame without chunks in memory. [`Frame::to_bytes`] returns its bytes.
    ///
    /// # Errors
    /// Returns the errors of [`create`](Self::create), except I/O errors.
    pub fn in_memory(self) -> Result<Frame> {
        self.create_with(Memory::new(), OsStr::new(IN_MEMORY), Origin::target(None))
    }

    /// The metadata of the new frame, and its bytes: the header, and everything after the chunks. Checks all settings.
    fn meta(&self, kind: FrameKind) -> Result<(FrameMeta, [Vec<u8>; 2])> {
        let meta = FrameMeta {
            header: self.header(kind)?,
            trailer: Trailer {
                vlmetalayers: self.vlmetalayers.clone(),
                fingerprint: None,
            },
            places: Vec::new(),
        };
        // Refuses settings for which there is no encoder before a file is created.
        Blosc2Encoder::new(settings(&meta.header)?)?;
        meta.check_len(&self.options.limits)?;
        self.check_limits()?;
        let (places, section_len) = self.initial.places(kind).ok_or_else(too_long)?;
        let content_len = self.initial.count().checked_mul(self.chunk_size.into());
        let header = FrameHeader {
            content_len: content_len.ok_or_else(too_long)?,
            section_len,
            ..meta.header
        };
        with_lengths(FrameMeta {
            header,
            places,
            ..meta
        })
    }

    /// The header of the new frame; its lengths are 0.
    fn header(&self, kind: FrameKind) -> Result<FrameHeader> {
        let level = self
            .level
            .unwrap_or_else(|| self.compressor.default_level());
        self.check_sizes(level)?;
        if !self.compressor.is_available() {
            return Err(ChunkError::not_built(self.compressor).into());
        }
        let codec = codec_id(self.compressor)?;
        self.metalayers.check_header()?;
        self.vlmetalayers.check_trailer()?;
        Ok(FrameHeader {
            kind,
            flags: FrameHeader::FLAGS,
            frame_len: 0,
            content_len: 0,
            section_len: 0,
            typesize: self.typesize,
            blocksize: self.blocksize.unwrap_or(0),
            chunk_size: Some(self.chunk_size).filter(|_| !self.varies),
            codec,
            level,
            split_mode: SPLIT_AS_IN_BLOSC1,
            threads: (1, 1),
            has_vlmetalayers: !self.vlmetalayers.is_empty(),
            filters: self.filters.ids(),
            filters_meta: self.filters.metas(),
            codec_id: codec,
            codec_meta: 0,
            use_dict: false,
            metalayers: self.metalayers.clone(),
        })
    }

    /// Refuses sizes and metalayers that a reader with the same limits would refuse.
    fn check_limits(&self) -> Result<()> {
        let limits = &self.options.limits;
        check_chunk_len(FramePart::Chunks, self.chunk_size.into(), limits)?;
        let block = self.blocksize.unwrap_or(0).min(self.chunk_size);
        let (part, allowed) = (FramePart::Chunks, limits.block.into());
        part.check_limit(Limit::Block, block.into(), allowed)?;
        self.vlmetalayers.iter().try_for_each(|(name, chunk)| {
            let header = chunk.first_chunk().map(ChunkHeader::parse).transpose()?;
            check_layer(
                name,
                header.map_or(0, |header| header.nbytes.into()),
                limits,
            )
        })
    }

    /// Refuses an element size of 0, a level above 9, and a chunk size of 0 or above [`MAX_NBYTES`].
    fn check_sizes(&self, level: u8) -> Result<()> {
        let (field, found, expected) = match (self.typesize, level, self.chunk_size) {
            (0, ..) => ("typesize", 0, "at least 1".to_owned()),
            (_, 10.., _) => ("level", level.into(), "at most 9".to_owned()),
            (.., 1..=MAX_NBYTES) => return Ok(()),
            (.., size) => ("chunk size", size, format!("1 to {MAX_NBYTES} bytes")),
        };
        Err(FramePart::Header.cannot_store(field, found, expected))
    }
}

/// The split mode of new frames: `BLOSC_FORWARD_COMPAT_SPLIT`, the default of the C libraries, minus one.
const SPLIT_AS_IN_BLOSC1: u8 = 3;

/// The error for chunks of 2^63 bytes or more in total.
fn too_long() -> Error {
    let (part, field) = (FramePart::Chunks, "total length");
    part.cannot_store(field, "2^64 or more", "less than 2^63")
}

/// Sets the length of a frame in its header. Returns the metadata with the encoded header and the bytes after the chunks.
pub(super) fn with_lengths(mut meta: FrameMeta) -> Result<(FrameMeta, [Vec<u8>; 2])> {
    let end = meta.encoded_end()?;
    let chunks = match meta.header.kind {
        FrameKind::Contiguous => meta.header.section_len,
        FrameKind::Sparse => 0,
    };
    // Encoding the header checks the length of the chunks.
    let len = chunks.checked_add(meta.header_len() + to_u64(end.len()));
    meta.header.frame_len = len.ok_or_else(too_long)?;
    let header = meta.header.encode()?;
    Ok((meta, [header, end]))
}
