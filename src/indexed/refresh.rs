//! New content in a file that is read by position.

use super::cache::Cache;
use super::{CACHE, IndexedReader, content_index};
use bloscpack_error::{Error, IoSide, Result};
use bloscpack_storage::{Refresh, Refreshed};
use std::sync::Mutex;

impl<S: Refresh> IndexedReader<S> {
    /// Moves on to the current content of the file, and returns which bytes of the content are new.
    ///
    /// | result | meaning |
    /// |---|---|
    /// | [`Refreshed::Unchanged`] | the file has not changed |
    /// | [`Refreshed::Changed`] | these bytes of the content are new; earlier ones may have been patched |
    /// | [`Refreshed::Replaced`] | another file has taken its place, or it has become shorter: read everything again |
    ///
    /// After an append to a file with an offset table of up to 65,536 entries, only the header, the metadata and the new
    /// entries of the table are read; any other file is opened again. The cache is emptied, since chunks may have been patched.
    ///
    /// ```
    /// use bloscpack::{edit::Editor, indexed::IndexedReader, storage::{Memory, Refreshed, Snapshot}};
    /// use std::io::Write;
    /// let folder = Memory::from([("a.blp", bloscpack::compress(b"one")?)]);
    /// let mut reader = IndexedReader::open(Snapshot::open_in(&folder, "a.blp".as_ref())?)?;
    ///
    /// let mut editor = Editor::open_in(folder, "a.blp".as_ref())?;
    /// let mut appender = editor.append()?;
    /// appender.write_all(b", two")?;
    /// appender.finish()?;
    /// assert_eq!(reader.content_len(), 3);
    /// assert_eq!(reader.refresh()?, Refreshed::Changed(3..8));
    /// assert_eq!(reader.content_len(), 8);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Returns any error of opening the file again, which leaves the reader as it was, and the errors of
    /// [`IndexedReader::with_options`] for the current content, after which the reader is empty until a refresh succeeds.
    pub fn refresh(&mut self) -> Result<Refreshed> {
        let found = self.source.refresh().map_err(Error::from).reading()?;
        let has_index = self.index.members() > 0;
        if has_index && found == Refreshed::Unchanged {
            return Ok(found);
        }
        let known = std::mem::take(&mut self.index);
        let is_same = has_index && found != Refreshed::Replaced;
        self.cache = Mutex::new(Cache::new(self.options.cache.unwrap_or(CACHE)));
        let index = content_index(&self.source, &self.options, is_same.then_some(&known))?;
        self.index = index.into();
        if is_same {
            Ok(found.counted(known.content_len(), self.content_len()))
        } else {
            Ok(Refreshed::Replaced)
        }
    }
}
