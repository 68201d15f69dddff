//! [`Editor`]: a file that grows and changes.
//!
//! ```text
//!   builder     EditorBuilder: the options         open        files, opened with them
//!   file_state  the state of the file: head, chunks, and their end
//!   header      the header, counted again
//!   preamble    the bytes before the chunks, as a change leaves them
//!   append      Appender: data after the content
//!   records     RecordEditor, RecordAppender: the same for records
//!   patch       data over the content      recompress  chunks with new content
//!   metadata    other metadata             reindex     offsets of -1 filled in
//!   rewrite     a new file in place of the old one, if a change does not fit
//! ```
//!
//! Every change goes through the journal of [`storage`](bloscpack_storage), which makes it atomic.

mod append;
mod builder;
mod file_state;
mod header;
mod metadata;
mod open;
mod patch;
mod preamble;
mod recompress;
mod records;
mod reindex;
mod rewrite;
mod settings;

pub use append::Appender;
pub use builder::EditorBuilder;
pub use records::{RecordAppender, RecordEditor};

use super::indexed::IndexedReader;
use bloscpack_error::Result;
use bloscpack_storage::{Disk, Folder, JournaledFile};
use bloscpack_wire::{Header, Metadata};
use file_state::FileState;
use std::path::Path;
use std::sync::Arc;

/// Grows, changes and indexes a Bloscpack file of a single member, of layout V1, V2 or V3.
///
/// While it exists, no other editor can open the file. Each change is atomic: after a crash or a power cut at any moment the
/// file is the old one or the new one. If the change was in progress at that moment, the next editor completes it, and a
/// [`Snapshot`](bloscpack_storage::Snapshot) reads the file as if that had happened. A change that fails leaves the content
/// as it was.
///
/// The journal is a file in the same folder, in which the user must be allowed to create files. A file with several names
/// (hard links) is refused, and one that is moved or replaced while it is open is not changed any more.
///
/// All I/O errors are on [`Side::Target`](bloscpack_error::Side::Target), also those of reading the file, except for errors
/// of a reader that the caller passes.
///
/// ```
/// use bloscpack::{storage::Memory, edit::Editor};
/// use std::io::Write;
/// let folder = Memory::from([("a.blp", bloscpack::compress(b"one two")?)]);
/// let mut editor = Editor::open_in(folder.clone(), "a.blp".as_ref())?;
///
/// let mut appender = editor.append()?;
/// appender.write_all(b" three")?;
/// appender.finish()?;
/// editor.patch(4, b"TWO".as_slice())?;
/// assert_eq!(editor.content_len(), 13);
///
/// let file = folder.bytes("a.blp").ok_or("gone")?;
/// assert_eq!(bloscpack::decompress(&file)?, b"one TWO three");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Editor<F: Folder = Disk> {
    held: JournaledFile<F>,
    state: FileState,
    builder: EditorBuilder,
}

impl Editor {
    /// Options for an editor.
    #[must_use]
    pub fn builder() -> EditorBuilder {
        EditorBuilder::default()
    }

    /// Opens the file at this path with all defaults.
    ///
    /// # Errors
    /// Returns the same errors as [`EditorBuilder::open_in`].
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        EditorBuilder::default().open(path)
    }
}

impl<F: Folder> Editor<F> {
    /// Opens a file of a folder with all defaults.
    ///
    /// # Errors
    /// Returns the same errors as [`EditorBuilder::open_in`].
    pub fn open_in(folder: F, name: &std::ffi::OsStr) -> Result<Self> {
        EditorBuilder::default().open_in(folder, name)
    }

    /// Uncompressed bytes.
    pub fn content_len(&self) -> u64 {
        self.state.index.content_len()
    }

    /// Number of chunks.
    pub fn chunks(&self) -> u64 {
        self.state.index.chunks()
    }

    /// The header.
    pub fn header(&self) -> &Header {
        &self.state.map.header
    }

    /// The metadata.
    pub fn metadata(&self) -> Option<&Metadata> {
        self.state.map.metadata.as_ref()
    }

    /// A reader of the file as it is now.
    pub fn reader(&self) -> IndexedReader<&F::File> {
        let index = Arc::clone(&self.state.index);
        IndexedReader::with_index(self.held.file(), self.builder.options.clone(), index)
    }
}

impl<F: Folder> std::fmt::Debug for Editor<F> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Editor")
            .field("chunks", &self.chunks())
            .field("content_len", &self.content_len())
            .finish_non_exhaustive()
    }
}
