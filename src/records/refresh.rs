//! New records in a file that is read by number.

use super::IndexedRecordReader;
use super::indexed::record_index;
use bloscpack_error::{Error, IoSide, Result};
use bloscpack_storage::{Refresh, Refreshed};

impl<S: Refresh> IndexedRecordReader<S> {
    /// Goes on to the records that the file has now, and returns the numbers of those that are new.
    ///
    /// If a file with a table of offsets was appended to, only the header, the metadata, the new entries of the table and
    /// the last packed chunk are read, and unpacked chunks are kept. Any other file is opened again.
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
    /// Returns any error of opening the file again, which leaves the reader as it was. Returns the errors of
    /// [`IndexedRecordReader::with_options`] for what the file contains now; the
    /// reader then has no records until it is refreshed without an error.
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

    /// Reads the index again. What is known of the same file is kept, unless that has become shorter.
    fn take_index(&mut self, is_same: bool) -> Result<()> {
        let known = is_same.then_some(&*self.index);
        let index = record_index(&self.source, &self.options, known)?;
        if !is_same || index.chunks() < self.chunks() {
            (self.index, self.packed) = Default::default();
        }
        self.begin(index.into())
    }
}
