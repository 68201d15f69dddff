//! [`FrameBuilder`]: how a new frame is to be.

use super::coders::{codec_id, settings};
use super::home::{FileHome, FolderHome, OUTLINE};
use super::layers::compressed;
use super::outline::Outline;
use super::{Frame, FrameOptions};
use crate::wire::{ChunkPlace, FrameHeader, FrameKind, Metalayers, Trailer, chunk_file_name};
use blosc1::{Blosc2Encoder, ChunkSettings, Compressor, FilterPipeline, MAX_NBYTES};
use bloscpack_error::{Error, Result};
use bloscpack_storage::{
    Access, Disk, DiskStore, Folder, JournaledFile, JournaledStore, Key, Memory, Store, WriteAt,
};
use std::ffi::OsStr;
use std::io;
use std::path::Path;
use std::sync::Arc;

/// The name of a frame in memory.
pub(super) const IN_MEMORY: &str = "frame";

/// How a new frame is to be; made by [`Frame::builder`].
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
    /// How many chunks there are from the beginning, all the same.
    count: u64,
    filling: Filling,
    options: FrameOptions,
}

/// What the chunks of a new frame are.
#[derive(Debug, Clone)]
pub(super) enum Filling {
    /// Nothing that is stored.
    Place(ChunkPlace),
    /// This one, over and over.
    Chunk(Vec<u8>),
}

impl FrameBuilder {
    pub(super) fn new(typesize: u32, chunk_size: u32) -> Self {
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
            count: 0,
            filling: Filling::Place(ChunkPlace::Zeros),
            options: FrameOptions::default(),
        }
    }

    /// Bytes of a block; by compressor and level if it is not said.
    #[must_use]
    pub fn blocksize(mut self, bytes: u32) -> Self {
        self.blocksize = Some(bytes);
        self
    }

    /// What compresses; LZ4 by default.
    #[must_use]
    pub fn compressor(mut self, compressor: Compressor) -> Self {
        self.compressor = compressor;
        self
    }

    /// From 0 to 9; the compressor's own default if it is not said.
    #[must_use]
    pub fn level(mut self, level: u8) -> Self {
        self.level = Some(level);
        self
    }

    /// What is done to blocks beforehand; shuffle by default.
    #[must_use]
    pub fn filters(mut self, filters: impl Into<FilterPipeline>) -> Self {
        self.filters = filters.into();
        self
    }

    /// A layer of metadata before the chunks.
    ///
    /// # Errors
    /// As [`Frame::set_metalayer`].
    pub fn metalayer(mut self, name: &str, bytes: impl Into<Vec<u8>>) -> Result<Self> {
        self.metalayers.set(name, bytes.into())?;
        Ok(self)
    }

    /// A layer of metadata behind the chunks.
    ///
    /// # Errors
    /// As [`Frame::set_vlmetalayer`].
    pub fn vlmetalayer(mut self, name: &str, bytes: &[u8]) -> Result<Self> {
        self.vlmetalayers.set(name, compressed(bytes)?)?;
        Ok(self)
    }

    /// So many chunks from the beginning.
    pub(super) fn filled(mut self, count: u64, filling: Filling) -> Self {
        (self.count, self.filling) = (count, filling);
        self
    }

    /// Threads, limits and patience of the frame.
    #[must_use]
    pub fn options(mut self, options: FrameOptions) -> Self {
        self.options = options;
        self
    }

    /// Creates a contiguous frame at this path, without chunks.
    ///
    /// A crash before this has returned may leave a file that is cut short.
    ///
    /// # Errors
    /// [`AlreadyExists`](io::ErrorKind::AlreadyExists), and those of the file system; [`Usage`](bloscpack_error::Category::Usage) for
    /// sizes and settings that cannot be.
    pub fn create(self, path: impl AsRef<Path>) -> Result<Frame> {
        let path = path.as_ref();
        let folder = match path.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => Disk::new(folder),
            _ => Disk::new("."),
        };
        let name = path.file_name().ok_or_else(|| {
            io::Error::new(
                io::ErrorKind::InvalidInput,
                "a path that does not end in the name of a file",
            )
        })?;
        self.create_in(folder, name)
    }

    /// Creates a contiguous frame in a file of a folder, without chunks.
    ///
    /// # Errors
    /// As [`create`](Self::create).
    pub fn create_in<F>(self, folder: F, name: &OsStr) -> Result<Frame>
    where
        F: Folder<File: Send + Sync + 'static> + Send + Sync + 'static,
    {
        let (outline, [header, back]) = self.outline(FrameKind::Contiguous)?;
        let file = folder.create(name, None)?;
        let written = self.write_chunks(&file, outline.header_len());
        let written = written.and_then(|end| {
            file.write_all_at(end, &back)?;
            file.write_all_at(0, &header)?;
            file.sync()
        });
        drop(file);
        let held = match written {
            Ok(()) => folder.sync().map_err(Error::from),
            Err(error) => Err(error.into()),
        };
        if let Err(error) = held {
            // Nobody has seen it but as half a frame.
            let _ = folder.remove(name);
            return Err(error);
        }
        let held = JournaledFile::open(folder, name, &self.options.patience)?;
        let home = FileHome::new(held, &outline)?;
        Frame::new(Box::new(home), outline, &self.options)
    }

    /// Creates a sparse frame in a directory at this path, which is made.
    ///
    /// # Errors
    /// As [`create`](Self::create), and [`AlreadyExists`](io::ErrorKind::AlreadyExists) if there is anything in it.
    pub fn create_sparse(self, path: impl AsRef<Path>) -> Result<Frame> {
        let path = path.as_ref();
        let store = match DiskStore::create(path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => DiskStore::open(path)?,
            created => created?,
        };
        self.create_in_store(store)
    }

    /// Creates a sparse frame at the root of a store, where nothing is.
    ///
    /// # Errors
    /// As [`create_sparse`](Self::create_sparse).
    pub fn create_in_store(self, store: impl Store + 'static) -> Result<Frame> {
        let (outline, [mut bytes, back]) = self.outline(FrameKind::Sparse)?;
        bytes.extend_from_slice(&back);
        let root = JournaledStore::open_with(
            Arc::new(store),
            Access::Write,
            self.options.patience.clone(),
        )?;
        if !root.list(&Key::root())?.is_empty() {
            let what = "there is something in this directory already";
            return Err(io::Error::new(io::ErrorKind::AlreadyExists, what).into());
        }
        if let Filling::Chunk(chunk) = &self.filling {
            for number in 0..self.count {
                root.put(&Key::root().join(&chunk_file_name(number))?, chunk)?;
            }
        }
        let key = Key::root().join(OUTLINE)?;
        root.put(&key, &bytes)?;
        root.commit_counts(&[key], false)?;
        let home = FolderHome::new(root, Access::Write, &outline)?;
        Frame::new(Box::new(home), outline, &self.options)
    }

    /// Creates a contiguous frame in memory; [`Frame::to_bytes`] gives it away.
    ///
    /// # Errors
    /// [`Usage`](bloscpack_error::Category::Usage) for sizes and settings that cannot be.
    pub fn in_memory(self) -> Result<Frame> {
        self.create_in(Memory::new(), OsStr::new(IN_MEMORY))
    }

    /// Writes the chunks that are there from the beginning, and tells where they end.
    fn write_chunks(&self, file: &impl WriteAt, mut at: u64) -> io::Result<u64> {
        if let Filling::Chunk(chunk) = &self.filling {
            for _ in 0..self.count {
                file.write_all_at(at, chunk)?;
                at = at.saturating_add(len_of(chunk));
            }
        }
        Ok(at)
    }

    /// The places of the chunks that are there from the beginning, and their bytes.
    fn places(&self, kind: FrameKind) -> (Vec<ChunkPlace>, u64) {
        let len = match &self.filling {
            Filling::Place(place) => {
                return ((0..self.count).map(|_| *place).collect(), 0);
            }
            Filling::Chunk(chunk) => len_of(chunk),
        };
        let step = match kind {
            FrameKind::Contiguous => len,
            FrameKind::Sparse => 1,
        };
        let place = |number: u64| ChunkPlace::At(number.saturating_mul(step));
        let places = (0..self.count).map(place).collect();
        (places, self.count.saturating_mul(len))
    }

    /// All of a new frame but its chunks, and the bytes before and behind these.
    fn outline(&self, kind: FrameKind) -> Result<(Outline, [Vec<u8>; 2])> {
        let level = self
            .level
            .unwrap_or_else(|| self.compressor.default_level());
        if self.typesize == 0 || level > 9 || self.chunk_size == 0 || self.chunk_size > MAX_NBYTES {
            let (typesize, size) = (self.typesize, self.chunk_size);
            return Err(Error::usage(format!(
                "typesize {typesize}, level {level}, chunks of {size} bytes: \
                 expected at least 1, up to 9, 1 to {MAX_NBYTES}"
            )));
        }
        if !self.compressor.is_available() {
            return Err(blosc1::ChunkError::NotBuilt {
                feature: self.compressor.format().name(),
            }
            .into());
        }
        let codec = codec_id(self.compressor)?;
        self.metalayers.check_header()?;
        self.vlmetalayers.check_trailer()?;
        let (places, section_len) = self.places(kind);
        let header = FrameHeader {
            kind,
            flags: FrameHeader::FLAGS,
            frame_len: 0,
            content_len: self.count.saturating_mul(self.chunk_size.into()),
            section_len,
            typesize: self.typesize,
            blocksize: self.blocksize.unwrap_or(0),
            chunk_size: Some(self.chunk_size),
            codec,
            level,
            split_mode: SPLIT_AS_BEFORE,
            threads: (1, 1),
            has_vlmetalayers: !self.vlmetalayers.is_empty(),
            filters: self.filters.ids(),
            filters_meta: self.filters.metas(),
            codec_id: codec,
            codec_meta: 0,
            use_dict: false,
            metalayers: self.metalayers.clone(),
        };
        // What no chunk could be made with is told before a file is.
        Blosc2Encoder::new(settings(&header)?)?;
        let outline = Outline {
            header,
            trailer: Trailer {
                vlmetalayers: self.vlmetalayers.clone(),
            },
            places,
        };
        outline.check_metadata(&self.options.limits)?;
        finished(outline)
    }
}

/// `BLOSC_FORWARD_COMPAT_SPLIT`, as the libraries have it by default, less one.
const SPLIT_AS_BEFORE: u8 = 3;

/// An outline with its lengths, and the bytes before and behind the chunks.
fn finished(mut outline: Outline) -> Result<(Outline, [Vec<u8>; 2])> {
    let back = outline.back()?;
    let chunks = match outline.header.kind {
        FrameKind::Contiguous => outline.header.section_len,
        FrameKind::Sparse => 0,
    };
    let before = outline.header_len().saturating_add(chunks);
    outline.header.frame_len = before.saturating_add(len_of(&back));
    let header = outline.header.encode()?;
    Ok((outline, [header, back]))
}

fn len_of(bytes: &[u8]) -> u64 {
    u64::try_from(bytes.len()).unwrap_or(u64::MAX)
}

impl Frame {
    /// A frame in memory with the same description and no chunks.
    pub(super) fn empty_copy(&self, kind: FrameKind, memory: &Memory) -> Result<Self> {
        let mut outline = self.outline.clone();
        outline.header.kind = kind;
        outline.header.content_len = 0;
        outline.header.section_len = 0;
        outline.places.clear();
        let (outline, [mut bytes, back]) = finished(outline)?;
        bytes.extend_from_slice(&back);
        let name = OsStr::new(IN_MEMORY);
        let file = memory.create(name, None)?;
        file.write_all_at(0, &bytes)?;
        drop(file);
        let options = FrameOptions::default()
            .threads(self.coders.threads)
            .limits(self.coders.limits);
        let held = JournaledFile::open(memory.clone(), name, &options.patience)?;
        let home = FileHome::new(held, &outline)?;
        Self::new(Box::new(home), outline, &options)
    }
}
