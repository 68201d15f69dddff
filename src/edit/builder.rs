//! [`EditorBuilder`]: the options of an editor.

use crate::Options;
use blosc1::{Compressor, Filter};
use bloscpack_storage::LockTimeout;
use bloscpack_wire::{Hashers, Limits};
use std::time::Duration;

/// Options of an [`Editor`](crate::edit::Editor) or a [`RecordEditor`](crate::edit::RecordEditor); created by
/// [`Editor::builder`](crate::edit::Editor::builder).
///
/// ```
/// use bloscpack::blosc::Compressor;
/// use bloscpack::{storage::Memory, edit::Editor};
/// use std::io::Write;
/// use std::time::Duration;
/// let folder = Memory::from([("a.blp", bloscpack::compress(b"old, ")?)]);
/// let options = Editor::builder().compressor(Compressor::Zstd).lock_timeout(Duration::from_secs(60));
/// let mut editor = options.open_in(folder, "a.blp".as_ref())?;
///
/// let mut appender = editor.append()?;
/// appender.write_all(b"new")?;
/// assert_eq!(appender.finish()?, 3);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
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
    pub(super) lock_timeout: LockTimeout,
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
            lock_timeout: LockTimeout::default(),
        }
    }
}

impl EditorBuilder {
    /// How the file is read.
    pub(super) fn reading(&self) -> Options {
        Options::new()
            .limits(self.limits)
            .hashers(self.hashers.clone())
    }

    /// The compressor of new chunks; that of the file by default.
    #[must_use]
    pub fn compressor(mut self, compressor: Compressor) -> Self {
        self.compressor = Some(compressor);
        self
    }

    /// The level of new chunks, from 0 to 9; the default of the compressor by default, since a file does not contain its level.
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

    /// Element size in bytes of new chunks; that of the file by default.
    #[must_use]
    pub fn typesize(mut self, typesize: u8) -> Self {
        self.typesize = Some(typesize);
        self
    }

    /// Uncompressed bytes of a chunk, for a file with no more than one chunk, whose size is still open; at least
    /// [`DEFAULT_CHUNK_SIZE`](crate::DEFAULT_CHUNK_SIZE) by default. In a file with more chunks, all are as long as the
    /// first.
    #[must_use]
    pub fn chunk_size(mut self, bytes: u32) -> Self {
        self.chunk_size = Some(bytes);
        self
    }

    /// Spare offsets that a table gets when it has to grow; ten times the number of chunks by default, and at least 64.
    #[must_use]
    pub fn max_app_chunks(mut self, spare: u64) -> Self {
        self.max_app_chunks = Some(spare);
        self
    }

    /// Threads that compress the appended data; one by default, which is the caller's own.
    #[must_use]
    pub fn threads(mut self, threads: usize) -> Self {
        self.threads = threads;
        self
    }

    /// How much memory and work the file may demand when it is read. New chunks are made like the existing ones, and may
    /// have larger blocks.
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// The implementations that compute digests.
    #[must_use]
    pub fn hashers(mut self, hashers: Hashers) -> Self {
        self.hashers = hashers;
        self
    }

    /// How long opening waits for other writers, and a change for readers that lock the file, as those of earlier versions
    /// do; ten seconds by default.
    #[must_use]
    pub fn lock_timeout(mut self, timeout: Duration) -> Self {
        self.lock_timeout.set_limit(timeout);
        self
    }

    /// Calls `goes_on` while opening or a change waits for others, many times a second and with the time that it has waited.
    /// It keeps waiting as long as the result is true and the lock timeout allows.
    #[must_use]
    pub fn while_waiting(
        mut self,
        goes_on: impl Fn(Duration) -> bool + Send + Sync + 'static,
    ) -> Self {
        self.lock_timeout.keep_waiting_while(goes_on);
        self
    }
}
