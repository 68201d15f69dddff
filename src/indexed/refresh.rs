//! New content in a file that is read by position.

use super::cache::Cache;
use super::{CACHE, IndexedReader, content_index};
use bloscpack_error::{Error, IoSide, Result};
use bloscpack_storage::{Refresh, Refreshed};
use std::sync::Mutex;

impl<S: Refresh> IndexedReader<S> {
    /// Goes on to the content that the file has now, and returns which bytes of it are new.
    ///
    /// If a file with a table of offsets was appended to, only the header, the metadata and the new entries of the table
    /// are read. Any other file is opened again. Chunks that were decoded are decoded again when they are needed, for
    /// they may have been patched.
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
    /// Returns any error of opening the file again, which leaves the reader as it was. Returns the errors of
    /// [`IndexedReader::with_options`] for what the file contains now; the reader then has
    /// no content until it is refreshed without an error.
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
