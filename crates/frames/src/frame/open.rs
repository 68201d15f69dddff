//! How frames are opened.

use super::Frame;
use crate::FrameOptions;
use crate::error::not_a_frame;
use crate::meta::FrameMeta;
use crate::storage::{FileStorage, METADATA_FILE, Origin, ReaderStorage, SparseStorage};
use crate::wire::header::Sizes;
use crate::wire::kind::FrameKind;
use bloscpack_error::{Code, Error, Result};
use bloscpack_storage::{
    Access, Disk, DiskStore, Folder, JournaledFile, JournaledStore, Key, Object, ReadAt, Snapshot,
    Store,
};
use bloscpack_wire::Limits;
use std::ffi::OsStr;
use std::path::Path;
use std::sync::Arc;

impl FrameOptions {
    /// Opens the frame at this path for reading: a file, or the directory of a sparse frame.
    ///
    /// A frame that another program changes at the same time is read as it was after its last flush.
    ///
    /// # Errors
    /// Returns any I/O error, with the path; [`Code::UnknownFormat`] for anything else;
    /// [`Category::Damaged`](bloscpack_error::Category::Damaged) and [`Code::CutShort`] for a frame whose beginning or end is
    /// not intact; [`Code::Unsupported`] for features that this library does not support; and [`Code::OverLimit`] for a frame
    /// that exceeds the [limits](Self::limits).
    pub fn open(&self, path: impl AsRef<Path>) -> Result<Frame> {
        let path = path.as_ref();
        let origin = Origin::source(Some(path));
        if path.is_dir() {
            self.open_store(origin.io(DiskStore::open(path))?)
        } else {
            let snapshot = origin.io(Snapshot::open(path))?;
            let interrupted = snapshot.is_interrupted();
            let mut frame = self.read_with(snapshot, origin)?;
            frame.interrupted = interrupted;
            let (options, path) = (self.clone(), path.to_owned());
            frame.reopen = Some(Box::new(move || options.open(&path)));
            Ok(frame)
        }
    }

    /// Opens the frame at this path for reading and changing it. Only one program at a time can do so.
    ///
    /// A change in which the last writer was interrupted is completed first.
    ///
    /// # Errors
    /// Returns the errors of [`open`](Self::open); an I/O error of the kind [`ResourceBusy`](std::io::ErrorKind::ResourceBusy)
    /// while another program changes the frame; and [`Code::Unsupported`] for a file that contains more than one.
    pub fn edit(&self, path: impl AsRef<Path>) -> Result<Frame> {
        let path = path.as_ref();
        let origin = Origin::target(Some(path));
        if path.is_dir() {
            return self.edit_store(origin.io(DiskStore::open(path))?);
        }
        let (folder, name) = origin.io(Disk::of(path))?;
        self.edit_with(folder, &name, origin)
    }

    /// Opens a contiguous frame in a file of a folder for reading and changing it.
    ///
    /// # Errors
    /// Returns the errors of [`edit`](Self::edit).
    pub fn edit_in<F>(&self, folder: F, name: &OsStr) -> Result<Frame>
    where
        F: Folder<File: Send + Sync + 'static> + Send + Sync + 'static,
    {
        self.edit_with(folder, name, Origin::target(Some(Path::new(name))))
    }

    fn edit_with<F>(&self, folder: F, name: &OsStr, origin: Origin) -> Result<Frame>
    where
        F: Folder<File: Send + Sync + 'static> + Send + Sync + 'static,
    {
        let held = origin.io(JournaledFile::open(folder, name, &self.lock_timeout))?;
        let meta = read_contiguous(held.file(), &origin, &self.limits)?;
        let storage = FileStorage::new(held, origin, &meta)?;
        Ok(Frame::new(Box::new(storage), meta, self))
    }

    /// Opens a contiguous frame for reading, in anything that can be read at any position. A source that only reads and seeks
    /// becomes one with [`Seekable`](bloscpack_storage::Seekable).
    ///
    /// # Errors
    /// Returns the errors of [`open`](Self::open).
    pub fn read(&self, source: impl ReadAt + Send + Sync + 'static) -> Result<Frame> {
        self.read_with(source, Origin::source(None))
    }

    /// Opens a contiguous frame whose chunks and blocks may be of any length. Only its metadata can be read by the methods of
    /// `Frame`.
    pub(crate) fn read_varying(&self, source: Box<dyn Object>) -> Result<Frame> {
        let origin = Origin::source(None);
        let meta = FrameMeta::read_as(&*source, &origin, &self.limits, Sizes::Varying)?;
        let meta = contiguous(meta)?;
        let storage = ReaderStorage::new(source, origin, &meta);
        Ok(Frame::new(Box::new(storage), meta, self))
    }

    fn read_with(
        &self,
        source: impl ReadAt + Send + Sync + 'static,
        origin: Origin,
    ) -> Result<Frame> {
        let meta = read_contiguous(&source, &origin, &self.limits)?;
        let storage = ReaderStorage::new(Box::new(source), origin, &meta);
        Ok(Frame::new(Box::new(storage), meta, self))
    }

    /// Opens a sparse frame at the root of a store for reading.
    ///
    /// # Errors
    /// Returns the errors of [`open`](Self::open). Paths in I/O errors are relative to the root.
    pub fn open_store(&self, store: impl Store + 'static) -> Result<Frame> {
        self.in_store(Arc::new(store), Access::Read)
    }

    /// Opens a sparse frame at the root of a store for reading and changing it.
    ///
    /// # Errors
    /// Returns the errors of [`edit`](Self::edit). Paths in I/O errors are relative to the root.
    pub fn edit_store(&self, store: impl Store + 'static) -> Result<Frame> {
        self.in_store(Arc::new(store), Access::Write)
    }

    fn in_store(&self, store: Arc<dyn Store>, access: Access) -> Result<Frame> {
        let key = Key::root().join(METADATA_FILE)?;
        let origin = Origin::of(access, Some(&key));
        // Checked before a writer leaves any file there.
        if origin.io(store.kind(&key))?.is_none() {
            let found = format_args!("a directory without a file {METADATA_FILE:?}");
            return Err(not_a_frame(found));
        }
        let options = self.clone();
        let again = Arc::clone(&store);
        let root = JournaledStore::open_with(store, access, self.lock_timeout.clone());
        let root = Origin::of(access, None).io(root)?;
        let file = origin.io(root.read(&key))?;
        let meta = FrameMeta::read(&*file, &origin, &self.limits);
        let meta = meta.map_err(|error| error.in_file(&key))?;
        if meta.header.kind != FrameKind::Sparse {
            let what = "this is a contiguous frame, where that of a sparse frame should be";
            return Err(Error::new(Code::Damaged, what).in_file(&key));
        }
        let interrupted = root.was_interrupted();
        let storage = SparseStorage::new(root, access, &meta)?;
        let mut frame = Frame::new(Box::new(storage), meta, self);
        frame.interrupted = interrupted;
        if access == Access::Read {
            let reopen = move || options.in_store(Arc::clone(&again), access);
            frame.reopen = Some(Box::new(reopen));
        }
        Ok(frame)
    }
}

/// The metadata of a frame in one file.
fn read_contiguous(source: &dyn Object, origin: &Origin, limits: &Limits) -> Result<FrameMeta> {
    contiguous(FrameMeta::read(source, origin, limits)?)
}

fn contiguous(meta: FrameMeta) -> Result<FrameMeta> {
    match meta.header.kind {
        FrameKind::Contiguous => Ok(meta),
        FrameKind::Sparse => {
            let what = "this file is the metadata of a sparse frame, which is a directory";
            let error = Error::new(Code::Unsupported, what);
            Err(error.with_hint("open the directory that contains this file"))
        }
    }
}
