//! New records in a file that is read by number.

use super::IndexedRecordReader;
use super::indexed::record_index;
use bloscpack_error::{Error, IoSide, Result};
use bloscpack_storage::{Refresh, Refreshed};

impl<S: Refresh> IndexedRecordReader<S> {
    /// Moves on to the current records of the file, and returns the numbers of the new ones: `Changed(3..5)` after two records
    /// were appended to three, and `Replaced` if another file has taken its place or it has become shorter.
    ///
    /// After an append to a file with an offset table of up to 65,536 entries, only the header, the metadata, the new entries
    /// of the table and the last packed chunk are read; other unpacked chunks stay in the cache. Any other file is opened
    /// again.
    ///
    /// ```
    /// use bloscpack::{FormatVersion, edit::RecordEditor, records::{IndexedRecordReader, RecordWriter}};
    /// use bloscpack::storage::{Memory, Refreshed, Snapshot};
    /// use std::io::Cursor;
    /// let mut writer = RecordWriter::builder().version(FormatVersion::V3).write_to_file(Cursor::new(Vec::new()))?;
    /// writer.push("one")?;
    /// let folder = Memory::from([("a.blp", writer.finish()?.into_inner())]);
    /// let mut records = IndexedRecordReader::open(Snapshot::open_in(&folder, "a.blp".as_ref())?)?;
    ///
    /// let mut editor = RecordEditor::open_in(folder, "a.blp".as_ref())?;
    /// let mut appender = editor.append()?;
    /// appender.push("two")?;
    /// appender.finish()?;
    /// assert_eq!(records.refresh()?, Refreshed::Changed(1..2));
    /// assert_eq!(records.get(1)?, "two");
    /// assert_eq!(records.refresh()?, Refreshed::Unchanged);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Returns any error of opening the file again, which leaves the reader as it was, and the errors of
    /// [`IndexedRecordReader::with_options`] for the current content, after which the reader is empty until a refresh succeeds.
    pub fn refresh(&mut self) -> Result<Refreshed> {
        let found = self.source.refresh().map_err(Error::from).reading()?;
        let has_index = self.index.members() > 0;
        if has_index && found == Refreshed::Unchanged {
            return Ok(found);
        }
        let is_same = has_index && found != Refreshed::Replaced;
        let len = std::mem::take(&mut self.len);
        if let Err(error) = self.take_index(is_same) {
            (self.index, self.len, self.packed) = Default::default();
            return Err(error).reading();
        }
        if is_same {
            Ok(found.counted(len, self.len()))
        } else {
            Ok(Refreshed::Replaced)
        }
    }

    /// Reads the index again. Knowledge of the same file is kept, unless the file has become shorter.
    fn take_index(&mut self, is_same: bool) -> Result<()> {
        let known = is_same.then_some(&*self.index);
        let index = record_index(&self.source, &self.options, known)?;
        if !is_same || index.chunks() < self.chunks() {
            (self.index, self.packed) = Default::default();
        }
        self.begin(index.into())
    }
}
