//! How frames are opened.

use super::Frame;
use crate::FrameOptions;
use crate::meta::Outline;
use crate::storage::{BytesHome, FileHome, FolderHome, OUTLINE};
use crate::wire::FrameKind;
use blosc1::Fault;
use bloscpack_error::Result;
use bloscpack_storage::{
    Access, Disk, DiskStore, Folder, Held, Key, ReadAt, Root, Snapshot, Store,
};
use bloscpack_wire::Limits;
use std::ffi::OsStr;
use std::path::Path;
use std::sync::Arc;

impl FrameOptions {
    /// Opens the frame at this path for reading: a file, or the directory of a sparse one.
    ///
    /// # Errors
    /// Those of the file system; [`Unsupported`](bloscpack_error::Category::Unsupported) if no frame is there;
    /// [`Damaged`](bloscpack_error::Category::Damaged) and [`CutShort`](bloscpack_error::Category::CutShort) if it is not whole.
    pub fn open(&self, path: impl AsRef<Path>) -> Result<Frame> {
        let path = path.as_ref();
        match path.is_dir() {
            true => self.open_store(DiskStore::open(path)?),
            false => {
                let snapshot = Snapshot::open(path)?;
                let interrupted = snapshot.is_interrupted();
                let frame = self.read(snapshot)?;
                Ok(Frame {
                    interrupted,
                    ..frame
                })
            }
        }
    }

    /// Opens the frame at this path for reading and changing it. There is one such at a time.
    ///
    /// # Errors
    /// As [`open`](Self::open), and [`ResourceBusy`](std::io::ErrorKind::ResourceBusy) if another one changes it.
    pub fn edit(&self, path: impl AsRef<Path>) -> Result<Frame> {
        let path = path.as_ref();
        if path.is_dir() {
            return self.edit_store(DiskStore::open(path)?);
        }
        let (folder, name) = Disk::of(path)?;
        self.edit_in(folder, &name)
    }

    /// Opens a contiguous frame in a file of a folder for reading and changing it.
    ///
    /// # Errors
    /// As [`edit`](Self::edit).
    pub fn edit_in<F>(&self, folder: F, name: &OsStr) -> Result<Frame>
    where
        F: Folder<File: Send + Sync + 'static> + Send + Sync + 'static,
    {
        let held = Held::open(folder, name, &self.patience)?;
        let outline = read_file(held.file(), &self.limits)?;
        let home = FileHome::new(held, &outline)?;
        Frame::new(Box::new(home), outline, self)
    }

    /// Reads a contiguous frame in anything that is read at any position; see [`Seekable`](bloscpack_storage::Seekable) for what
    /// only reads and seeks.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn read(&self, source: impl ReadAt + Send + Sync + 'static) -> Result<Frame> {
        let outline = read_file(&source, &self.limits)?;
        let home = BytesHome::new(Box::new(source), &outline);
        Frame::new(Box::new(home), outline, self)
    }

    /// Opens a sparse frame at the root of a store for reading.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn open_store(&self, store: impl Store + 'static) -> Result<Frame> {
        self.folder(Arc::new(store), Access::Read)
    }

    /// Opens a sparse frame at the root of a store for reading and changing it.
    ///
    /// # Errors
    /// As [`edit`](Self::edit).
    pub fn edit_store(&self, store: impl Store + 'static) -> Result<Frame> {
        self.folder(Arc::new(store), Access::Write)
    }

    fn folder(&self, store: Arc<dyn Store>, access: Access) -> Result<Frame> {
        // Looked at before anything is made there that only a writer of frames would.
        let key = Key::root().join(OUTLINE)?;
        if store.kind(&key)?.is_none() {
            let what =
                format!("no Blosc2 frame is here: a directory with {OUTLINE} in it would be one");
            return Err(crate::error::frame(Fault::Unsupported, what));
        }
        let root = Root::open_with(store, access, self.patience.clone())?;
        let outline = Outline::read(&*root.read(&key)?, &self.limits);
        let outline = outline.map_err(|error| error.in_file(&key))?;
        if outline.header.kind != FrameKind::Sparse {
            let what = "a contiguous frame, where that of a sparse one should be";
            return Err(crate::error::frame(Fault::Damaged, what).in_file(&key));
        }
        let interrupted = root.was_interrupted();
        let home = FolderHome::new(root, access, &outline)?;
        let frame = Frame::new(Box::new(home), outline, self)?;
        Ok(Frame {
            interrupted,
            ..frame
        })
    }
}

/// The outline of a frame in one file.
fn read_file(source: &(impl ReadAt + Send + Sync), limits: &Limits) -> Result<Outline> {
    let outline = Outline::read(source, limits)?;
    match outline.header.kind {
        FrameKind::Contiguous => Ok(outline),
        FrameKind::Sparse => Err(crate::error::frame(
            Fault::Unsupported,
            "the outline of a sparse frame: open the directory that it lies in",
        )),
    }
}
