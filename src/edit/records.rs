//! [`RecordEditor`] and [`RecordAppender`]: records behind those of a file.

use super::append::AppendSink;
use super::file_state::Frame;
use super::preamble::{NewMetadata, counted as counted_header};
use super::{Editor, EditorBuilder};
use crate::encoder::check_of_records;
use crate::records::{
    IndexedRecordReader, IndexedRecordReaderBuilder, RecordStage, ToRecord, Unpacked, VARBINARY,
    record_of_value,
};
use blosc1::MAX_NBYTES;
use bloscpack_error::{IoSide, Result};
use bloscpack_storage::{Disk, Folder};
use bloscpack_wire::{Form, Header, Metadata, Packing, counted, declared};
use std::path::Path;
use std::sync::Arc;

/// Grows a file of records, as an [`Editor`] does one of content: nobody else writes it meanwhile,
/// and each change is made as a whole or not at all.
///
/// ```
/// use bloscpack::{FormatVersion, RecordEditor, RecordWriter, storage::Memory};
/// use std::io::Cursor;
/// let mut writer = RecordWriter::builder().layout(FormatVersion::V3).write_to_file(Cursor::new(Vec::new()))?;
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
    editor: Editor<F>,
    packing: Option<Packing>,
    len: u64,
}

impl RecordEditor {
    /// Opens the file at this path with all defaults; [`Editor::builder`] has the options.
    ///
    /// # Errors
    /// As [`EditorBuilder::open_records_in`].
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        EditorBuilder::default().open_records(path)
    }
}

impl<F: Folder> RecordEditor<F> {
    /// Opens a file of a folder with all defaults.
    ///
    /// # Errors
    /// As [`EditorBuilder::open_records_in`].
    pub fn open_in(folder: F, name: &std::ffi::OsStr) -> Result<Self> {
        EditorBuilder::default().open_records_in(folder, name)
    }

    pub(super) fn of(editor: Editor<F>) -> Result<Self> {
        let packing = match editor.frame.form()? {
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

    /// Number of records.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Whether there are no records.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Number of chunks.
    pub fn chunks(&self) -> u64 {
        self.editor.chunks()
    }

    /// How the records are packed, if they are.
    pub fn packing(&self) -> Option<Packing> {
        self.packing
    }

    /// The header.
    pub fn header(&self) -> &Header {
        self.editor.header()
    }

    /// The metadata.
    pub fn metadata(&self) -> Option<&Metadata> {
        self.editor.metadata()
    }

    /// A reader of the file as it is now.
    ///
    /// # Errors
    /// A last packed chunk that is damaged, where the metadata does not count the records, either.
    pub fn reader(&self) -> Result<IndexedRecordReader<&F::File>> {
        let options = IndexedRecordReaderBuilder::default()
            .limits(self.editor.options.limits)
            .hashers(self.editor.options.hashers);
        let index = Arc::clone(&self.editor.frame.index);
        options.with_index(self.editor.held.file(), index).writing()
    }

    /// Replaces the user's own metadata; `shape` and `packing` stay what they mean, and so does
    /// `dtype` unless it is among it.
    ///
    /// # Errors
    /// As for [`Editor::set_metadata`], and [`Usage`](bloscpack_error::Category::Usage) for metadata that is no JSON object.
    pub fn set_metadata(&mut self, metadata: &Metadata) -> Result<()> {
        check_of_records(metadata)?;
        let metadata = self.declared(metadata)?;
        self.editor.set_metadata(&metadata)
    }

    fn declared(&self, own: &Metadata) -> Result<Metadata> {
        let old = self.metadata().and_then(|old| old.get_text("dtype"));
        let dtype = old.and_then(|text| serde_json::from_str::<String>(text).ok());
        let dtype = dtype.as_deref().unwrap_or(VARBINARY);
        let declared = declared(Some(own), dtype, Some(self.len), self.packing);
        Ok(declared?)
    }

    /// Fills in a table of offsets that its writer has left at -1; false if it was filled already.
    ///
    /// # Errors
    /// As for [`Editor::reindex`].
    pub fn reindex(&mut self) -> Result<bool> {
        self.editor.reindex()
    }

    /// Begins to append.
    ///
    /// Codec, level, filter and typesize are those of the file, unless the
    /// [builder](Editor::builder) was told otherwise. A packed chunk that has room left is packed
    /// anew with what is appended. In V3 with offsets, as long as its table has room, only what is
    /// new is written; V2, whose table has none, is written anew as a whole.
    ///
    /// # Errors
    /// Those of the file; a last packed chunk that is damaged.
    pub fn append(&mut self) -> Result<RecordAppender<'_, F>> {
        self.begin_append().writing()
    }

    fn begin_append(&mut self) -> Result<RecordAppender<'_, F>> {
        self.editor.held.check()?;
        let recipe = self.editor.recipe()?;
        let (mut kept, mut at) = (self.chunks(), self.editor.frame.end);
        let (mut first, mut refill) = (self.len, None);
        if let (Some(packing), Some(last)) = (self.packing, self.chunks().checked_sub(1))
            && let Some((unpacked, begin)) = self.reader()?.open_chunk(last, packing)?
        {
            (kept, at, first) = (last, begin, unpacked.head.first);
            refill = Some(unpacked);
        }
        let editor = &mut self.editor;
        let change = editor.held.change(editor.frame.free_from())?;
        let mut appender = RecordAppender {
            stage: RecordStage::new(&recipe, self.packing, first, None)?,
            sink: AppendSink {
                change,
                at,
                starts: Vec::new(),
            },
            frame: &mut editor.frame,
            options: &editor.options,
            kept,
            packing: self.packing,
            len: &mut self.len,
            buffer: Vec::new(),
        };
        for record in refill.iter().flat_map(Unpacked::records) {
            appender.push(record)?;
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

/// Appends records to a file; made by [`RecordEditor::append`].
///
/// Until [`finish`](Self::finish) the file stays as it was to everybody who reads it; without
/// `finish`, nothing has happened.
pub struct RecordAppender<'a, F: Folder = Disk> {
    stage: RecordStage,
    sink: AppendSink<'a, F>,
    frame: &'a mut Frame,
    options: &'a EditorBuilder,
    /// Chunks that stay as they are.
    kept: u64,
    packing: Option<Packing>,
    /// Records of the file.
    len: &'a mut u64,
    buffer: Vec<u8>,
}

impl<F: Folder> RecordAppender<'_, F> {
    /// Appends a record.
    ///
    /// # Errors
    /// As for [`RecordWriter::push`](crate::RecordWriter::push).
    pub fn push(&mut self, record: impl AsRef<[u8]>) -> Result<()> {
        self.stage.push(record.as_ref(), &mut self.sink).writing()
    }

    /// Appends a value as a record.
    ///
    /// # Errors
    /// As for [`push`](Self::push), and a value that cannot be written as one.
    pub fn push_as<T: ToRecord + ?Sized>(&mut self, value: &T) -> Result<()> {
        record_of_value(value, self.stage.records(), &mut self.buffer)?;
        self.stage.push(&self.buffer, &mut self.sink).writing()
    }

    /// Records appended so far.
    pub fn records(&self) -> u64 {
        self.stage.records().saturating_sub(*self.len)
    }

    /// Makes what was appended part of the file, and returns how many records it were. When this
    /// returns, a power cut does not undo it.
    ///
    /// # Errors
    /// Those of the file; [`ResourceBusy`](std::io::ErrorKind::ResourceBusy) if readers do not let
    /// go of it within the [patience](EditorBuilder::patience) of the editor. The file is then as it
    /// was.
    pub fn finish(self) -> Result<u64> {
        self.commit().writing()
    }

    fn commit(mut self) -> Result<u64> {
        let appended = self.records();
        if appended == 0 {
            return Ok(0);
        }
        self.stage.finish(&mut self.sink)?;
        let new = u64::try_from(self.sink.starts.len()).unwrap_or(u64::MAX);
        let chunks = self.kept.saturating_add(new);
        let header = counted_header(&self.frame.head.header, chunks, MAX_NBYTES, 0);
        let metadata = self.metadata()?;
        self.sink
            .finish(self.frame, self.kept, (header, metadata), self.options)?;
        *self.len = self.len.saturating_add(appended);
        Ok(appended)
    }

    /// The metadata, with the new number of records.
    fn metadata(&self) -> Result<NewMetadata> {
        let Some(old) = &self.frame.head.metadata else {
            return Ok(NewMetadata::Same);
        };
        let count = self.stage.records();
        // That of a stream could not say how many there are.
        let new = if self.frame.is_stream {
            Some(declared(Some(old), VARBINARY, Some(count), self.packing)?)
        } else {
            counted(old, count)?
        };
        new.map_or(Ok(NewMetadata::Same), |new| {
            NewMetadata::of(self.frame, &new, self.options)
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
