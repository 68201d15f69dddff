//! Opens a reader of records by number.

use super::indexed::IndexedRecordReader;
use super::indexed_builder::IndexedRecordReaderBuilder;
use crate::indexed::{Fetcher, Index};
use bloscpack_error::{IoSide, Result};
use bloscpack_storage::ReadAt;
use std::sync::Arc;

impl IndexedRecordReaderBuilder {
    /// Opens a source: reads its header and, if a table of offsets is not sufficient, passes once over the headers of its
    /// chunks. The seal of V2 is checked, which reads the table.
    ///
    /// # Errors
    /// Returns any error of the source; an error in the structure of the input; that of a damaged last chunk of packed
    /// records if the metadata does not contain their number; [`Unsupported`](bloscpack_error::Category::Unsupported) for
    /// chunks that do not hold records, records packed in an unknown way, and concatenations with packed members.
    pub fn open<S: ReadAt>(self, source: S) -> Result<IndexedRecordReader<S>> {
        let index = self.index(&source, None).reading()?;
        self.with_index(source, index.into()).reading()
    }

    /// Builds a reader of a source whose index is known.
    pub(crate) fn with_index<S: ReadAt>(
        self,
        source: S,
        index: Arc<Index>,
    ) -> Result<IndexedRecordReader<S>> {
        let fetcher = Fetcher::new(self.hashers.clone(), self.limits, true);
        let mut reader = IndexedRecordReader::unbegun(source, fetcher, self);
        reader.begin(index)?;
        Ok(reader)
    }
}

impl IndexedRecordReader<Vec<u8>> {
    /// Options for a reader.
    #[must_use]
    pub fn builder() -> IndexedRecordReaderBuilder {
        IndexedRecordReaderBuilder::default()
    }
}

impl<S: ReadAt> IndexedRecordReader<S> {
    /// Opens a source with all defaults.
    ///
    /// # Errors
    /// Returns the same errors as [`IndexedRecordReaderBuilder::open`].
    pub fn open(source: S) -> Result<Self> {
        IndexedRecordReaderBuilder::default().open(source)
    }
}
