//! Opens frames: from a path, a folder, a store, or any source that is read at positions.

use super::Frame;
use crate::error::not_a_frame;
use crate::meta::FrameMeta;
use crate::storage::{FileStorage, METADATA_FILE, Origin, ReaderStorage, SparseStorage};
use crate::wire::header::Sizes;
use crate::wire::kind::FrameKind;
use bloscpack::Options;
use bloscpack_error::{Code, Error, Result};
use bloscpack_storage::{
    Access, Disk, DiskStore, Folder, JournaledFile, JournaledStore, Key, ReadAt, Snapshot, Store,
};
use bloscpack_wire::Limits;
use std::ffi::OsStr;
use std::path::Path;
use std::sync::Arc;

impl Frame {
    /// Opens a frame for reading, with default options. The path is a file, or the directory of a sparse frame.
    ///
    /// Reads header, index and trailer; chunks are read when they are needed. The content does not change if a writer of this
    /// crate changes the file meanwhile: [`refresh`](Self::refresh) reads the new content. Bytes after the frame are ignored.
    ///
    /// # Errors
    /// Returns [`Code::Io`] with the path; [`Code::UnknownFormat`] for a file that is not a frame;
    /// [`Damaged`](bloscpack_error::Category::Damaged) and [`Code::CutShort`] for a frame whose header, index or trailer is not
    /// intact; [`Code::Unsupported`] for features that this crate does not have; and [`Code::OverLimit`] for a frame over the
    /// [limits](Options::limits()).
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        Self::open_with(path, &Options::new())
    }

    /// Opens a frame for reading and changing it, with default options. The path is a file, or the directory of a sparse frame.
    ///
    /// The frame stays locked until it is dropped: only one program can change it. Waits for another writer, by default up to
    /// ten seconds. If the last writer was interrupted in a change, the change is completed first.
    ///
    /// Bytes after a contiguous frame are cut off by the first flush.
    ///
    /// # Errors
    /// Returns the errors of [`open`](Self::open); [`Code::Io`] of the kind [`ResourceBusy`](std::io::ErrorKind::ResourceBusy)
    /// if another program keeps the frame locked; and [`Code::Unsupported`] for a file that contains more than one frame.
    pub fn edit(path: impl AsRef<Path>) -> Result<Self> {
        Self::edit_with(path, &Options::new())
    }

    /// Opens a contiguous frame in memory for reading, with default options.
    ///
    /// # Errors
    /// Returns the errors of [`open`](Self::open).
    pub fn from_bytes(bytes: Vec<u8>) -> Result<Self> {
        Self::read_with(bytes, &Options::new())
    }

    /// Opens a frame for reading, with these options. The path is a file, or the directory of a sparse frame.
    ///
    /// # Errors
    /// Returns the errors of [`open`](Self::open).
    pub fn open_with(path: impl AsRef<Path>, options: &Options) -> Result<Self> {
        let path = path.as_ref();
        let origin = Origin::source(Some(path));
        if path.is_dir() {
            Self::open_store(origin.io(DiskStore::open(path))?, options)
        } else {
            let snapshot = origin.io(Snapshot::open(path))?;
            let interrupted = snapshot.is_interrupted();
            let mut frame = read(snapshot, origin, options)?;
            frame.interrupted = interrupted;
            let (options, path) = (options.clone(), path.to_owned());
            frame.reopen = Some(Box::new(move || Self::open_with(&path, &options)));
            Ok(frame)
        }
    }

    /// Opens a frame for reading and changing it, with these options. The path is a file, or the directory of a sparse frame.
    ///
    /// # Errors
    /// Returns the errors of [`edit`](Self::edit).
    pub fn edit_with(path: impl AsRef<Path>, options: &Options) -> Result<Self> {
        let path = path.as_ref();
        let origin = Origin::target(Some(path));
        if path.is_dir() {
            return Self::edit_store(origin.io(DiskStore::open(path))?, options);
        }
        let (folder, name) = origin.io(Disk::of(path))?;
        edit(folder, &name, origin, options, Sizes::Fixed)
    }

    /// Opens the contiguous frame in the file `name` of a folder for reading and changing it.
    ///
    /// # Errors
    /// Returns the errors of [`edit`](Self::edit).
    pub fn edit_in<F>(folder: F, name: &OsStr, options: &Options) -> Result<Self>
    where
        F: Folder<File: 'static> + 'static,
    {
        let origin = Origin::target(Some(Path::new(name)));
        edit(folder, name, origin, options, Sizes::Fixed)
    }

    /// Opens a contiguous frame for reading from any source that can be read at any position: a file, bytes, a range of a
    /// remote object. Wrap a source that only reads and seeks in [`Seekable`](bloscpack_storage::Seekable).
    ///
    /// Nothing protects the frame from changes of the source, and [`refresh`](Self::refresh) is not possible.
    ///
    /// ```
    /// use bloscpack::Options;
    /// use bloscpack_frames::Frame;
    /// let mut frame = Frame::builder(8, 80_000).in_memory()?;
    /// frame.append(&[1; 80_000])?;
    /// let frame = Frame::read_with(frame.to_bytes()?, &Options::new().threads(2))?;
    /// assert_eq!(frame.chunks(), 1);
    /// # Ok::<(), bloscpack_error::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns the errors of [`open`](Self::open).
    pub fn read_with(source: impl ReadAt + 'static, options: &Options) -> Result<Self> {
        read(source, Origin::source(None), options)
    }

    /// Opens the contiguous frame in a file for changing it; its chunks and blocks may have any length.
    pub(crate) fn edit_varying(path: &Path, options: &Options) -> Result<Self> {
        let origin = Origin::target(Some(path));
        let (folder, name) = origin.io(Disk::of(path))?;
        edit(folder, &name, origin, options, Sizes::Varying)
    }

    /// Opens a contiguous frame whose chunks and blocks may have any length. Methods of `Frame` can read only its metadata.
    pub(crate) fn read_varying(source: Box<dyn ReadAt>, options: &Options) -> Result<Self> {
        let origin = Origin::source(None);
        let meta = read_contiguous(&*source, &origin, &options.limits, Sizes::Varying)?;
        let storage = ReaderStorage::new(source, origin, &meta);
        Ok(Self::new(Box::new(storage), meta, options))
    }

    /// Opens the sparse frame at the root of a store for reading.
    ///
    /// # Errors
    /// Returns the errors of [`open`](Self::open). Paths in I/O errors are relative to the root.
    pub fn open_store(store: impl Store + 'static, options: &Options) -> Result<Self> {
        open_sparse(Arc::new(store), Access::Read, options)
    }

    /// Opens the sparse frame at the root of a store for reading and changing it.
    ///
    /// # Errors
    /// Returns the errors of [`edit`](Self::edit). Paths in I/O errors are relative to the root.
    pub fn edit_store(store: impl Store + 'static, options: &Options) -> Result<Self> {
        open_sparse(Arc::new(store), Access::Write, options)
    }
}

/// Opens a contiguous frame for reading.
fn read(source: impl ReadAt + 'static, origin: Origin, options: &Options) -> Result<Frame> {
    let meta = read_contiguous(&source, &origin, &options.limits, Sizes::Fixed)?;
    let storage = ReaderStorage::new(Box::new(source), origin, &meta);
    Ok(Frame::new(Box::new(storage), meta, options))
}

/// Opens a contiguous frame for reading and changing it.
fn edit<F>(
    folder: F,
    name: &OsStr,
    origin: Origin,
    options: &Options,
    sizes: Sizes,
) -> Result<Frame>
where
    F: Folder<File: 'static> + 'static,
{
    let held = origin.io(JournaledFile::open(folder, name, &options.lock_timeout))?;
    let meta = read_contiguous(held.file(), &origin, &options.limits, sizes)?;
    let storage = FileStorage::new(held, origin, &meta)?;
    Ok(Frame::new(Box::new(storage), meta, options))
}

/// Opens the sparse frame at the root of a store. For reading, it can be refreshed.
fn open_sparse(store: Arc<dyn Store>, access: Access, options: &Options) -> Result<Frame> {
    let key = Key::root().join(METADATA_FILE)?;
    let origin = Origin::of(access, Some(&key));
    // Checked first: opening for writing leaves files in the directory.
    if origin.io(store.kind(&key))?.is_none() {
        let found = format_args!("a directory without a file {METADATA_FILE:?}");
        return Err(not_a_frame(found));
    }
    let again = Arc::clone(&store);
    let root = JournaledStore::open_with(store, access, options.lock_timeout.clone());
    let root = Origin::of(access, None).io(root)?;
    let file = origin.io(root.read(&key))?;
    let meta = FrameMeta::read(&*file, &origin, &options.limits);
    let meta = meta.map_err(|error| error.in_file(&key))?;
    if meta.header.kind != FrameKind::Sparse {
        let what = "this is a contiguous frame, where that of a sparse frame should be";
        return Err(Error::new(Code::Damaged, what).in_file(&key));
    }
    let interrupted = root.was_interrupted();
    let storage = SparseStorage::new(root, access, &meta)?;
    let mut frame = Frame::new(Box::new(storage), meta, options);
    frame.interrupted = interrupted;
    if access == Access::Read {
        let options = options.clone();
        let reopen = move || open_sparse(Arc::clone(&again), access, &options);
        frame.reopen = Some(Box::new(reopen));
    }
    Ok(frame)
}

/// The metadata of a frame in one file. Refuses that of a sparse frame, and advises to open its directory.
fn read_contiguous(
    source: &dyn ReadAt,
    origin: &Origin,
    limits: &Limits,
    sizes: Sizes,
) -> Result<FrameMeta> {
    let meta = FrameMeta::read_as(source, origin, limits, sizes)?;
    match meta.header.kind {
        FrameKind::Contiguous => Ok(meta),
        FrameKind::Sparse => {
            let what = "this file is the metadata of a sparse frame, which is a directory";
            let error = Error::new(Code::Unsupported, what);
            Err(error.with_hint("open the directory that contains this file"))
        }
    }
}
