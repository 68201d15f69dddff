//! [`FrameOptions`]: how a frame is opened.

use super::home::{BytesHome, FileHome, FolderHome, OUTLINE};
use super::outline::Outline;
use super::{Frame, NdArray};
use crate::wire::FrameKind;
use blosc1::Fault;
use bloscpack_error::Result;
use bloscpack_storage::{
    Access, Disk, DiskStore, Folder, JournaledFile, JournaledStore, Key, LockTimeout, ReadAt,
    Snapshot, Store,
};
use bloscpack_wire::Limits;
use std::ffi::OsStr;
use std::path::Path;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

/// How long a change waits for readers, unless told otherwise.
const PATIENCE: Duration = Duration::from_secs(10);
/// Decompressed chunks that are kept until they are written, in bytes.
const DEFAULT_BUFFER: usize = 64 << 20;

/// How a frame, or the array in it, is opened.
///
/// ```
/// use bloscpack_frames::FrameOptions;
/// let frame = FrameOptions::new().threads(2).open("../../testdata/frames/caterva/x_vlmeta_c.cat")?;
/// assert!(frame.chunks() > 0);
/// # Ok::<(), bloscpack_error::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct FrameOptions {
    pub(super) threads: usize,
    pub(super) buffer: usize,
    pub(super) limits: Limits,
    pub(super) patience: LockTimeout,
}

impl Default for FrameOptions {
    fn default() -> Self {
        Self {
            threads: thread::available_parallelism().map_or(1, std::num::NonZero::get),
            buffer: DEFAULT_BUFFER,
            limits: Limits::default(),
            patience: LockTimeout::new(PATIENCE),
        }
    }
}

impl FrameOptions {
    /// All processors, the default limits.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Threads that compress and decompress; as many as there are processors by default.
    #[must_use]
    pub fn threads(mut self, threads: usize) -> Self {
        self.threads = threads.max(1);
        self
    }

    /// Keeps up to so many bytes of changed chunks in memory before they are compressed, one chunk at least; 64 MiB by default.
    /// No more threads compress than there are chunks in it.
    #[must_use]
    pub fn buffer(mut self, bytes: usize) -> Self {
        self.buffer = bytes;
        self
    }

    /// Bounds what the frame may ask for.
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// How long [`flush`](Frame::flush) waits for those who are reading; ten seconds by default.
    #[must_use]
    pub fn patience(mut self, patience: Duration) -> Self {
        self.patience.set_limit(patience);
        self
    }

    /// Asks while it waits for readers, with the time that it has waited; it waits on as long as the answer is true.
    #[must_use]
    pub fn while_waiting(
        mut self,
        goes_on: impl Fn(Duration) -> bool + Send + Sync + 'static,
    ) -> Self {
        self.patience.keep_waiting_while(goes_on);
        self
    }

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
        let held = JournaledFile::open(folder, name, &self.patience)?;
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

    /// Opens the array at this path for reading.
    ///
    /// # Errors
    /// As [`open`](Self::open), and [`Unsupported`](bloscpack_error::Category::Unsupported) if the frame holds no array.
    pub fn open_array(&self, path: impl AsRef<Path>) -> Result<NdArray> {
        NdArray::of(self.open(path)?)
    }

    /// Opens the array at this path for reading and changing it.
    ///
    /// # Errors
    /// As [`edit`](Self::edit), and [`Unsupported`](bloscpack_error::Category::Unsupported) if the frame holds no array.
    pub fn edit_array(&self, path: impl AsRef<Path>) -> Result<NdArray> {
        NdArray::of(self.edit(path)?)
    }

    pub(super) fn folder(&self, store: Arc<dyn Store>, access: Access) -> Result<Frame> {
        // Looked at before anything is made there that only a writer of frames would.
        let key = Key::root().join(OUTLINE)?;
        if store.kind(&key)?.is_none() {
            let what =
                format!("no Blosc2 frame is here: a directory with {OUTLINE} in it would be one");
            return Err(crate::error::frame(Fault::Unsupported, what));
        }
        let root = JournaledStore::open_with(store, access, self.patience.clone())?;
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
