//! [`RecordEditor`] and [`RecordAppender`]: append to a file of records.

use super::append::AppendSink;
use super::file_state::FileState;
use super::header::counted as counted_header;
use super::preamble::NewMetadata;
use super::{Editor, EditorBuilder};
use crate::encoder::check_of_records;
use crate::records::{
    IndexedRecordReader, RecordChunker, ToRecord, Unpacked, VARBINARY, record_of_value,
};
use blosc1::MAX_NBYTES;
use bloscpack_error::checked::to_u64;
use bloscpack_error::{IoSide, Result};
use bloscpack_storage::{Disk, Folder};
use bloscpack_wire::{Form, Header, Metadata, Packing, counted, declared};
use std::path::Path;
use std::sync::Arc;

/// Appends records to a file of records, and changes its metadata. Each change is atomic, and no other editor can open the
/// file while this one exists; see [`Editor`] for journal, locks and errors.
///
/// Existing records cannot be changed. Appending to a V3 file with an offset table writes only the new chunks; a V2 file is
/// rewritten completely.
///
/// ```
/// use bloscpack::{FormatVersion, storage::Memory, edit::RecordEditor, records::RecordWriter};
/// use std::io::Cursor;
/// let mut writer = RecordWriter::builder().version(FormatVersion::V3).write_to_file(Cursor::new(Vec::new()))?;
/// writer.push("one")?;
/// let folder = Memory::from([("a.blp", writer.finish()?.into_inner())]);
///
/// let mut editor = RecordEditor::open_in(folder, "a.blp".as_ref())?;
/// let mut appender = editor.append()?;
/// appender.push("two")?;
/// appender.push("three")?;
/// assert_eq!(appender.finish()?, 2);
/// assert_eq!(editor.len(), 3);
/// assert_eq!(editor.reader()?.get(2)?, "three");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct RecordEditor<F: Folder = Disk> {
    pub(super) editor: Editor<F>,
    packing: Option<Packing>,
    pub(super) len: u64,
}

impl RecordEditor {
    /// Opens the file at this path with all defaults, and completes a change that was interrupted. Symbolic links are
    /// followed. [`Editor::builder`] has the options.
    ///
    /// # Errors
    /// Returns the same errors as [`EditorBuilder::open_records_in`].
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        EditorBuilder::default().open_records(path)
    }
}

impl<F: Folder> RecordEditor<F> {
    /// Opens a file of a folder, on disk or in memory, with all defaults.
    ///
    /// # Errors
    /// Returns the same errors as [`EditorBuilder::open_records_in`].
    pub fn open_in(folder: F, name: &std::ffi::OsStr) -> Result<Self> {
        EditorBuilder::default().open_records_in(folder, name)
    }

    pub(super) fn of(editor: Editor<F>) -> Result<Self> {
        let packing = match editor.state.form()? {
            Form::Packed { packing, .. } => Some(packing),
            _ => None,
        };
        let mut editor = Self {
            editor,
            packing,
            len: 0,
        };
        editor.len = editor.reader()?.len();
        Ok(editor)
    }

    /// Number of records, as of the last change.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Whether the file has no records.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Number of chunks.
    pub fn chunks(&self) -> u64 {
        self.editor.chunks()
    }

    /// How the records are packed; `None` if each record is a chunk.
    pub fn packing(&self) -> Option<Packing> {
        self.packing
    }

    /// The header.
    pub fn header(&self) -> &Header {
        self.editor.header()
    }

    /// The metadata, including the keys that describe the records.
    pub fn metadata(&self) -> Option<&Metadata> {
        self.editor.metadata()
    }

    /// A reader of the current records. It borrows the editor, so no change can be made while it exists.
    ///
    /// # Errors
    /// Returns the error of a damaged last packed chunk if the metadata does not contain the number of records.
    pub fn reader(&self) -> Result<IndexedRecordReader<&F::File>> {
        let index = Arc::clone(&self.editor.state.index);
        let options = self.editor.builder.options.clone();
        IndexedRecordReader::with_index(self.editor.held.file(), options, index).writing()
    }

    /// Replaces all metadata of the user. The keys `shape` and `packing`, which describe the records, keep their values, and so
    /// does `dtype` unless the new metadata contains it.
    ///
    /// # Errors
    /// Returns the same errors as [`Editor::set_metadata`], and [`Usage`](bloscpack_error::Category::Usage) for metadata that
    /// is not a JSON object.
    pub fn set_metadata(&mut self, metadata: &Metadata) -> Result<()> {
        check_of_records(metadata)?;
        let metadata = self.declared(metadata, self.len)?;
        self.editor.set_metadata(&metadata)
    }

    /// Merges a JSON object into the metadata: it adds new keys, and replaces the values of existing ones.
    ///
    /// ```
    /// use bloscpack::{Metadata, edit::RecordEditor, records::RecordWriter, storage::Memory};
    /// let mut writer = RecordWriter::new(Vec::new())?;
    /// writer.push("one")?;
    /// let folder = Memory::from([("a.blp", writer.finish()?)]);
    /// let mut editor = RecordEditor::open_in(folder, "a.blp".as_ref())?;
    ///
    /// editor.merge_metadata(&Metadata::from_json(r#"{"source": "log"}"#)?)?;
    /// let metadata = editor.metadata().ok_or("no metadata")?;
    /// assert_eq!(metadata.value()["source"], "log");
    /// assert_eq!(metadata.value()["shape"][0], 1);
    /// assert!(editor.merge_metadata(&Metadata::from_json(r#"{"shape": [7]}"#)?).is_err());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Returns the errors of [`set_metadata`](Self::set_metadata), and [`Usage`](bloscpack_error::Category::Usage) if `shape`
    /// or `packing` would get another value.
    pub fn merge_metadata(&mut self, others: &Metadata) -> Result<()> {
        let merged = self.editor.state.merged(others)?;
        self.set_metadata(&merged)
    }

    /// The metadata of the user with the keys that describe this number of records.
    pub(super) fn declared(&self, own: &Metadata, len: u64) -> Result<Metadata> {
        let old = self.metadata().and_then(|old| old.get_text("dtype"));
        let dtype = old.and_then(|text| serde_json::from_str::<String>(text).ok());
        let dtype = dtype.as_deref().unwrap_or(VARBINARY);
        let declared = declared(Some(own), dtype, Some(len), self.packing);
        Ok(declared?)
    }

    /// Fills in an offset table that its writer has left at -1, as after writing records to a pipe. Returns false if it was
    /// filled already.
    ///
    /// ```
    /// use bloscpack::{storage::Memory, edit::RecordEditor, records::RecordWriter};
    /// let mut writer = RecordWriter::builder().count(2).write_to(Vec::new())?;
    /// writer.push("one")?;
    /// writer.push("two")?;
    /// let folder = Memory::from([("a.blp", writer.finish()?)]);
    ///
    /// let mut editor = RecordEditor::open_in(folder, "a.blp".as_ref())?;
    /// assert!(editor.reindex()?);
    /// assert!(!editor.reindex()?);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Returns the same errors as [`Editor::reindex`].
    pub fn reindex(&mut self) -> Result<bool> {
        self.editor.reindex()
    }

    /// Begins to append.
    ///
    /// Compressor, filter and typesize are taken from the file, and the level is the compressor's default, unless the
    /// [builder](Editor::builder) sets them. If the last packed chunk has room left, it is packed again with the appended
    /// records. In V3 with an offset table, only the new chunks are written while the table has spare entries. V2 has none, so
    /// the file is rewritten completely.
    ///
    /// # Errors
    /// Returns any error of the file, and the error of a damaged last packed chunk.
    pub fn append(&mut self) -> Result<RecordAppender<'_, F>> {
        self.begin_append().writing()
    }

    /// Determines where new chunks begin. The records of a last packed chunk with room left are pushed again.
    fn begin_append(&mut self) -> Result<RecordAppender<'_, F>> {
        self.editor.held.check()?;
        let options = self.editor.chunk_options()?;
        let (mut kept, mut at) = (self.chunks(), self.editor.state.end);
        let (mut first, mut refill) = (self.len, None);
        if let (Some(packing), Some(last)) = (self.packing, self.chunks().checked_sub(1))
            && let Some((unpacked, begin)) = self.reader()?.open_chunk(last, packing)?
        {
            (kept, at, first) = (last, begin, unpacked.head.first);
            refill = Some(unpacked);
        }
        let editor = &mut self.editor;
        let change = editor.held.change(editor.state.free_from())?;
        let mut appender = RecordAppender {
            chunker: RecordChunker::new(&options, self.packing, first, None)?,
            sink: AppendSink {
                change,
                at,
                starts: Vec::new(),
                len: 0,
            },
            state: &mut editor.state,
            builder: &editor.builder,
            kept,
            packing: self.packing,
            len: &mut self.len,
            buffer: Vec::new(),
        };
        for record in refill.iter().flat_map(Unpacked::records) {
            appender.push(record?)?;
        }
        Ok(appender)
    }
}

impl<F: Folder> std::fmt::Debug for RecordEditor<F> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RecordEditor")
            .field("records", &self.len)
            .field("chunks", &self.chunks())
            .finish_non_exhaustive()
    }
}

/// Appends records to a file; created by [`RecordEditor::append`].
///
/// Until [`finish`](Self::finish) every reader sees the old records; an appender that is dropped without `finish` changes
/// nothing. All appended records are one atomic change.
///
/// ```
/// use bloscpack::{edit::RecordEditor, records::RecordWriter, storage::Memory};
/// let mut writer = RecordWriter::new(Vec::new())?;
/// writer.push("one")?;
/// let folder = Memory::from([("a.blp", writer.finish()?)]);
/// let mut editor = RecordEditor::open_in(folder, "a.blp".as_ref())?;
///
/// let mut dropped = editor.append()?;
/// dropped.push("two")?;
/// drop(dropped);
/// assert_eq!(editor.len(), 1);
///
/// let mut appender = editor.append()?;
/// appender.push("two")?;
/// assert_eq!(appender.finish()?, 1);
/// assert_eq!(editor.len(), 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct RecordAppender<'a, F: Folder = Disk> {
    chunker: RecordChunker,
    sink: AppendSink<'a, F>,
    state: &'a mut FileState,
    builder: &'a EditorBuilder,
    /// Number of chunks that are not changed.
    kept: u64,
    packing: Option<Packing>,
    /// Number of records of the file.
    len: &'a mut u64,
    buffer: Vec<u8>,
}

impl<F: Folder> RecordAppender<'_, F> {
    /// Appends a record, which gets the next number of the file.
    ///
    /// # Errors
    /// Returns the same errors as [`RecordWriter::push`](crate::records::RecordWriter::push).
    pub fn push(&mut self, record: impl AsRef<[u8]>) -> Result<()> {
        self.chunker.push(record.as_ref(), &mut self.sink).writing()
    }

    /// Appends a value as a record.
    ///
    /// # Errors
    /// Returns the same errors as [`push`](Self::push), and [`Code::RecordValue`](bloscpack_error::Code::RecordValue) for a
    /// value that cannot be a record.
    pub fn push_as<T: ToRecord + ?Sized>(&mut self, value: &T) -> Result<()> {
        record_of_value(value, self.chunker.records(), &mut self.buffer)?;
        self.chunker.push(&self.buffer, &mut self.sink).writing()
    }

    /// Records appended so far.
    pub fn records(&self) -> u64 {
        self.chunker.records() - *self.len
    }

    /// Makes the appended records part of the file, and returns their number. After it has returned, the records are on disk: a
    /// power cut does not undo the append. Without records, it changes nothing.
    ///
    /// # Errors
    /// Returns any error of the file, and [`ResourceBusy`](std::io::ErrorKind::ResourceBusy) if readers hold the file for
    /// longer than the [lock timeout](crate::Options::lock_timeout) of the editor. The file is then unchanged. After
    /// [`Committed`](bloscpack_error::Category::Committed), the append is permanent.
    pub fn finish(self) -> Result<u64> {
        self.commit().writing()
    }

    fn commit(mut self) -> Result<u64> {
        let appended = self.records();
        if appended == 0 {
            return Ok(0);
        }
        self.chunker.finish(&mut self.sink)?;
        let chunks = self.kept + to_u64(self.sink.starts.len());
        let header = counted_header(&self.state.map.header, chunks, MAX_NBYTES, 0);
        let metadata = self.metadata()?;
        self.sink
            .finish(self.state, self.kept, (header, metadata), self.builder)?;
        *self.len += appended;
        Ok(appended)
    }

    /// The metadata, with the new number of records.
    fn metadata(&self) -> Result<NewMetadata> {
        let Some(old) = &self.state.map.metadata else {
            return Ok(NewMetadata::Same);
        };
        let count = self.chunker.records();
        // The writer of a stream could not write the number.
        let new = if self.state.is_stream {
            Some(declared(Some(old), VARBINARY, Some(count), self.packing)?)
        } else {
            counted(old, count)?
        };
        new.map_or(Ok(NewMetadata::Same), |new| {
            NewMetadata::of(self.state, &new, self.builder)
        })
    }
}

impl<F: Folder> std::fmt::Debug for RecordAppender<'_, F> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RecordAppender")
            .field("records", &self.records())
            .finish_non_exhaustive()
    }
}
