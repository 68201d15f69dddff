//! Atomic changes of existing files: append, overwrite, other metadata, offsets filled in.
//!
//! ```text
//!   Editor ───────► append ─► Appender ───────► finish ─┐
//!   Editor ───────► patch, set_metadata, reindex ───────┼─► journal in the same folder ─► commit ─► the file
//!   RecordEditor ─► append ─► RecordAppender ─► finish ─┘   (or a new file, if the change does not fit)
//! ```
//!
//! | change | writes in place | writes a new file |
//! |---|---|---|
//! | append | the last chunk if it was not full, new chunks, their offsets, the header | see below |
//! | patch | the touched chunks | if a chunk becomes longer than its place |
//! | metadata | the metadata, within its room | if the room is too small |
//! | reindex | the offset table | never |
//!
//! An append writes a new file if the offset table has no spare entry for a new chunk, which in V2 is always so, and if the
//! file is a stream with an end mark. The new file gets an offset table with spare entries (V3). It needs disk space for old
//! and new content.
//!
//! Every change goes through the journal of [`storage`](bloscpack_storage), which makes it atomic: after a crash or a power
//! cut, readers see the old or the new content, and the next editor completes or discards the change.
// builder     EditorBuilder: the options        open        opens files with them
// file_state  header, index and end of the open file
// header      the header with other counts      preamble    the parts before the chunks after a change
// append      Appender                          records     RecordEditor, RecordAppender
// patch       data over the content             recompress  chunks with new content
// metadata    other metadata                    reindex     offsets of -1 filled in
// settings    how new chunks are compressed     rewrite     a new file in place of the old one

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
mod rotate;
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

/// Appends to, overwrites and indexes a Bloscpack file of content, with a single member, in layout V1, V2 or V3. For records,
/// use a [`RecordEditor`].
///
/// Each change is atomic: after a crash or a power cut at any moment, the file has its old or its new content. If a change
/// was committed but not completed at that moment, the next editor completes it, and a
/// [`Snapshot`](bloscpack_storage::Snapshot) already reads the new content. A change that fails before the commit leaves the
/// content as it was. After an error of the category [`Committed`](bloscpack_error::Category::Committed), the change is
/// permanent: open the file again, and do not repeat the change.
///
/// While an editor exists, no other editor can open the file. Readers continue: those with a `Snapshot` keep the old content;
/// a plain `File` may return a mixture.
///
/// The journal is a file in the same folder, so the user must be allowed to create files there. A file with several hard links
/// is refused. A file that is moved or replaced while it is open is not changed any more: further changes fail.
///
/// All I/O errors are on [`Side::Target`](bloscpack_error::Side::Target), also errors of reading the file, except for errors
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
    /// The options for an [`Editor`] or a [`RecordEditor`], all with their defaults.
    #[must_use]
    pub fn builder() -> EditorBuilder {
        EditorBuilder::default()
    }

    /// Opens the file at this path with all defaults, and completes a change that was interrupted. Symbolic links are
    /// followed.
    ///
    /// # Errors
    /// Returns the same errors as [`EditorBuilder::open_in`].
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        EditorBuilder::default().open(path)
    }
}

impl<F: Folder> Editor<F> {
    /// Opens a file of a folder, on disk or in memory, with all defaults.
    ///
    /// # Errors
    /// Returns the same errors as [`EditorBuilder::open_in`].
    pub fn open_in(folder: F, name: &std::ffi::OsStr) -> Result<Self> {
        EditorBuilder::default().open_in(folder, name)
    }

    /// Uncompressed bytes, as of the last change.
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

    /// A reader of the current content. It borrows the editor, so no change can be made while it exists. It has the editor's
    /// [options](EditorBuilder::options).
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
