//! [`Editor`]: a file that grows and changes.
//!
//! ```text
//!   frame     what is known of the file: head, chunks, where they end
//!   front     what stands before the chunks, as it is to be
//!   append    Appender: data behind the content
//!   records   RecordEditor, RecordAppender: the same for records
//!   patch     data over the content    press  chunks with new content
//!   metadata  other metadata          reindex   offsets of -1 filled in
//!   rewrite   a new file in place of the old one, where a change does not fit
//! ```
//!
//! Every change goes through [`storage`](bloscpack_storage)'s journal: it is made as a whole or not
//! at all.

mod append;
mod builder;
mod file_state;
mod metadata;
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

use super::indexed::{IndexedReader, IndexedReaderBuilder};
use bloscpack_error::Result;
use bloscpack_storage::{Disk, Folder, JournaledFile};
use bloscpack_wire::{Header, Metadata};
use file_state::Frame;
use std::path::Path;
use std::sync::Arc;

/// Grows, changes and indexes a Bloscpack file of a single member, of layout V1, V2 or V3.
///
/// As long as it lives, nobody else writes the file. Each change is made as a whole: after a crash
/// or a power cut at any moment the file is the old one or the new one. If a change was being made
/// just then, the next editor completes it, and a [`Snapshot`](bloscpack_storage::Snapshot) reads the
/// file as if it had. A change that fails leaves the content as it was.
///
/// The journal lies in the file's folder, in which the user has to be allowed to create files. A
/// file of several names (hard links) is refused, and one that is moved or replaced while it is
/// open is not changed any more.
///
/// ```
/// use bloscpack::{Editor, storage::Memory};
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
    frame: Frame,
    options: EditorBuilder,
    /// How chunks of this file are made, from an earlier patch.
    known: recompress::Known,
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
    /// As [`EditorBuilder::open_in`].
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        EditorBuilder::default().open(path)
    }
}

impl<F: Folder> Editor<F> {
    /// Opens a file of a folder with all defaults.
    ///
    /// # Errors
    /// As [`EditorBuilder::open_in`].
    pub fn open_in(folder: F, name: &std::ffi::OsStr) -> Result<Self> {
        EditorBuilder::default().open_in(folder, name)
    }

    /// Uncompressed bytes.
    pub fn content_len(&self) -> u64 {
        self.frame.index.content_len()
    }

    /// Number of chunks.
    pub fn chunks(&self) -> u64 {
        self.frame.index.chunks()
    }

    /// The header.
    pub fn header(&self) -> &Header {
        &self.frame.head.header
    }

    /// The metadata.
    pub fn metadata(&self) -> Option<&Metadata> {
        self.frame.head.metadata.as_ref()
    }

    /// A reader of the file as it is now.
    pub fn reader(&self) -> IndexedReader<&F::File> {
        let options = IndexedReaderBuilder::default()
            .limits(self.options.limits)
            .hashers(self.options.hashers);
        options.with_index(self.held.file(), Arc::clone(&self.frame.index))
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
