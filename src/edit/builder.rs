//! [`EditorBuilder`]: the options of an editor.

use crate::Options;
use blosc1::{Compressor, Filter};

/// Options of an [`Editor`](crate::edit::Editor) or a [`RecordEditor`](crate::edit::RecordEditor); created by
/// [`Editor::builder`](crate::edit::Editor::builder).
///
/// ```
/// use bloscpack::blosc::Compressor;
/// use bloscpack::{Options, storage::Memory, edit::Editor};
/// use std::io::Write;
/// use std::time::Duration;
/// let folder = Memory::from([("a.blp", bloscpack::compress(b"old, ")?)]);
/// let options = Options::new().lock_timeout(Duration::from_secs(60));
/// let builder = Editor::builder().compressor(Compressor::Zstd).options(options);
/// let mut editor = builder.open_in(folder, "a.blp".as_ref())?;
///
/// let mut appender = editor.append()?;
/// appender.write_all(b"new")?;
/// assert_eq!(appender.finish()?, 3);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct EditorBuilder {
    pub(super) compressor: Option<Compressor>,
    pub(super) level: Option<u8>,
    pub(super) filter: Option<Filter>,
    pub(super) typesize: Option<u8>,
    pub(super) chunk_size: Option<u32>,
    pub(super) max_app_chunks: Option<u64>,
    pub(super) options: Options,
}

impl EditorBuilder {
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

    /// Spare offsets that a table gets when it has to grow; ten times the number of chunks by default.
    #[must_use]
    pub fn max_app_chunks(mut self, spare: u64) -> Self {
        self.max_app_chunks = Some(spare);
        self
    }

    /// How the file is read: the limits on memory and work, the implementations of digests, and how long opening waits for other
    /// writers, and a change for readers that lock the file, as those of earlier versions do. Appended data is compressed on the
    /// threads of the options. New chunks are made like the existing ones, and may have larger blocks than the limits allow.
    #[must_use]
    pub fn options(mut self, options: Options) -> Self {
        self.options = options;
        self
    }
}
