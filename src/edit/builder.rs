//! [`EditorBuilder`]: the options of an editor.

use crate::Options;
use blosc1::{Compressor, Filter};

/// Options of an [`Editor`](crate::edit::Editor) or a [`RecordEditor`](crate::edit::RecordEditor); created by
/// [`Editor::builder`](crate::edit::Editor::builder).
///
/// By default, new chunks are compressed like the existing ones: an editor reads compressor, filter and typesize from the last
/// chunks. Checksum and version of a file cannot be changed.
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
    /// The compressor of new chunks; by default the one of the existing chunks.
    #[must_use]
    pub fn compressor(mut self, compressor: Compressor) -> Self {
        self.compressor = Some(compressor);
        self
    }

    /// The level of new chunks, from 0 to 9; by default the [default](Compressor::default_level) of the compressor, since a
    /// file does not contain its level.
    #[must_use]
    pub fn level(mut self, level: u8) -> Self {
        self.level = Some(level);
        self
    }

    /// The filter of new chunks; by default the one of the existing chunks.
    #[must_use]
    pub fn filter(mut self, filter: Filter) -> Self {
        self.filter = Some(filter);
        self
    }

    /// Element size in bytes of new chunks, 1 to 255; by default the one of the file.
    #[must_use]
    pub fn typesize(mut self, typesize: u8) -> Self {
        self.typesize = Some(typesize);
        self
    }

    /// Uncompressed bytes of a chunk, 1 to 2 147 483 631, for appending to a file with at most one chunk, whose chunk size is
    /// still open; by default [`DEFAULT_CHUNK_SIZE`](crate::DEFAULT_CHUNK_SIZE), or the length of a longer chunk. In a file
    /// with more chunks, new chunks are as long as the first, and this option is ignored.
    #[must_use]
    pub fn chunk_size(mut self, bytes: u32) -> Self {
        self.chunk_size = Some(bytes);
        self
    }

    /// Spare entries that an offset table gets when it has to grow, in V3; ten times the number of chunks by default. More than
    /// 134 217 728 are refused.
    #[must_use]
    pub fn max_app_chunks(mut self, spare: u64) -> Self {
        self.max_app_chunks = Some(spare);
        self
    }

    /// How the file is read and locked. An editor uses
    ///
    /// - the [threads](Options::threads), to compress appended data,
    /// - the [limits](Options::limits) on memory and work, also for the output: a table or metadata that readers with these
    ///   limits would refuse is not written, but new chunks, made like the existing ones, may have larger blocks,
    /// - the [hashers](Options::hashers),
    /// - the [lock timeout](Options::lock_timeout): how long opening waits for other writers, and a change for readers that
    ///   lock the file, as readers of earlier versions do.
    #[must_use]
    pub fn options(mut self, options: Options) -> Self {
        self.options = options;
        self
    }
}
