//! [`EditorBuilder`]: how an editor writes.

use super::file_state::Frame;
use super::{Editor, RecordEditor};
use crate::encoder::MOST_SPARE;
use crate::engine::Wanted;
use blosc1::{Compressor, Filter};
use bloscpack_error::{Error, IoSide, Result};
use bloscpack_storage::{Disk, Folder, JournaledFile, LockTimeout};
use bloscpack_wire::{Hashers, Limits};
use std::ffi::OsStr;
use std::path::Path;
use std::time::Duration;

/// How long a change waits for readers, unless told otherwise.
const PATIENCE: Duration = Duration::from_secs(10);

/// Sets up an [`Editor`]; made by [`Editor::builder`].
#[derive(Debug, Clone)]
pub struct EditorBuilder {
    pub(super) compressor: Option<Compressor>,
    pub(super) level: Option<u8>,
    pub(super) filter: Option<Filter>,
    pub(super) typesize: Option<u8>,
    pub(super) chunk_size: Option<u32>,
    pub(super) max_app_chunks: Option<u64>,
    pub(super) threads: usize,
    pub(super) limits: Limits,
    pub(super) hashers: Hashers,
    patience: LockTimeout,
}

impl Default for EditorBuilder {
    fn default() -> Self {
        Self {
            compressor: None,
            level: None,
            filter: None,
            typesize: None,
            chunk_size: None,
            max_app_chunks: None,
            threads: 1,
            limits: Limits::default(),
            hashers: Hashers::default(),
            patience: LockTimeout::new(PATIENCE),
        }
    }
}

impl EditorBuilder {
    /// The compressor of new chunks; that of the file by default.
    #[must_use]
    pub fn compressor(mut self, compressor: Compressor) -> Self {
        self.compressor = Some(compressor);
        self
    }

    /// The level of new chunks, from 0 to 9. By default that of the file, which is found by trying,
    /// since no chunk tells; the compressor's own where the compressor is another one.
    #[must_use]
    pub fn level(mut self, level: u8) -> Self {
        self.level = Some(level);
        self
    }

    /// The filter of new chunks; that of the file by default.
    #[must_use]
    pub fn filter(mut self, filter: Filter) -> Self {
        self.filter = Some(filter);
        self
    }

    /// Bytes an element in new chunks; those of the file by default.
    #[must_use]
    pub fn typesize(mut self, typesize: u8) -> Self {
        self.typesize = Some(typesize);
        self
    }

    /// Uncompressed bytes of a chunk, where the file has no more than one and leaves it open; at
    /// least [`DEFAULT_CHUNK_SIZE`](crate::DEFAULT_CHUNK_SIZE) by default. Where there are more
    /// chunks, all are as long as the first.
    #[must_use]
    pub fn chunk_size(mut self, bytes: u32) -> Self {
        self.chunk_size = Some(bytes);
        self
    }

    /// Spare offsets that a table gets when it has to grow; ten times the number of chunks, and at
    /// least 64, by default.
    #[must_use]
    pub fn max_app_chunks(mut self, spare: u64) -> Self {
        self.max_app_chunks = Some(spare);
        self
    }

    /// Threads that compress what is appended; one by default, which is the caller's own.
    #[must_use]
    pub fn threads(mut self, threads: usize) -> Self {
        self.threads = threads;
        self
    }

    /// What the file may ask for when it is read; new chunks are made as those that are there, and may have larger blocks.
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// What computes digests.
    #[must_use]
    pub fn hashers(mut self, hashers: Hashers) -> Self {
        self.hashers = hashers;
        self
    }

    /// How long a change waits for those who are reading the file; ten seconds by default.
    #[must_use]
    pub fn patience(mut self, patience: Duration) -> Self {
        self.patience.set_limit(patience);
        self
    }

    /// Asks while a change waits for readers, many times a second and with the time that it has
    /// waited; it waits on as long as the answer is true and its patience lasts.
    #[must_use]
    pub fn while_waiting(
        mut self,
        goes_on: impl Fn(Duration) -> bool + Send + Sync + 'static,
    ) -> Self {
        self.patience.keep_waiting_while(goes_on);
        self
    }

    /// Opens the file at this path, symbolic links followed.
    ///
    /// # Errors
    /// As [`open_in`](Self::open_in).
    pub fn open(self, path: impl AsRef<Path>) -> Result<Editor> {
        let (folder, name) = Disk::of(path).writing()?;
        self.open_in(folder, &name)
    }

    /// Opens a file of a folder, and completes a change that was interrupted.
    ///
    /// # Errors
    /// [`ResourceBusy`](std::io::ErrorKind::ResourceBusy) if another editor has it open; whatever
    /// is wrong with the structure of the file, unfinished and unterminated ones included;
    /// [`Unsupported`](bloscpack_error::Category::Unsupported) for several members, records, and the layouts
    /// that are only read; [`Usage`](bloscpack_error::Category::Usage) for more spare offsets than an encoder
    /// takes.
    pub fn open_in<F: Folder>(self, folder: F, name: &OsStr) -> Result<Editor<F>> {
        self.open_for(folder, name, Wanted::Content).writing()
    }

    /// Opens the file of records at this path, symbolic links followed.
    ///
    /// # Errors
    /// As [`open_records_in`](Self::open_records_in).
    pub fn open_records(self, path: impl AsRef<Path>) -> Result<RecordEditor> {
        let (folder, name) = Disk::of(path).writing()?;
        self.open_records_in(folder, &name)
    }

    /// Opens a file of records, and completes a change that was interrupted.
    ///
    /// # Errors
    /// As [`open_in`](Self::open_in), but [`Unsupported`](bloscpack_error::Category::Unsupported) for a file
    /// without records, or with records packed in an unknown way.
    pub fn open_records_in<F: Folder>(self, folder: F, name: &OsStr) -> Result<RecordEditor<F>> {
        let editor = self.open_for(folder, name, Wanted::Records).writing()?;
        RecordEditor::of(editor).writing()
    }

    fn open_for<F: Folder>(self, folder: F, name: &OsStr, wanted: Wanted) -> Result<Editor<F>> {
        if let Some(spare) = self.max_app_chunks.filter(|spare| *spare > MOST_SPARE) {
            return Err(Error::usage(format!(
                "{spare} spare offsets: there may be up to {MOST_SPARE}"
            )));
        }
        let held = JournaledFile::open(folder, name, &self.patience)?;
        let frame = Frame::of(held.file(), &self.limits)?;
        frame.check_editable(wanted)?;
        frame.check_behind(held.file(), &self.limits)?;
        Ok(Editor {
            held,
            frame,
            options: self,
            known: None,
        })
    }
}
