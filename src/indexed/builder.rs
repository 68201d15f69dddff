//! [`IndexedReaderBuilder`]: the options of an indexed reader.

use super::IndexedReader;
use super::cache::Cache;
use super::fetch::Fetcher;
use super::index::Index;
use bloscpack_error::{IoSide, Result};
use bloscpack_storage::ReadAt;
use bloscpack_wire::{FormatError, Hashers, Limit, Limits};
use std::sync::{Arc, Mutex};

/// Bytes of decoded chunks that are kept by default.
const CACHE: usize = 16 << 20;

/// Options of an [`IndexedReader`]; created by [`IndexedReader::builder`].
///
/// ```
/// use bloscpack::indexed::IndexedReader;
/// let file = bloscpack::compress(b"one two three")?;
/// // A larger cache, for many small reads from large chunks.
/// let reader = IndexedReader::builder().cache(64 << 20).open(file)?;
/// let mut word = [0; 3];
/// reader.read_exact_at(4, &mut word)?;
/// assert_eq!(&word, b"two");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct IndexedReaderBuilder {
    pub(super) limits: Limits,
    pub(super) hashers: Hashers,
    pub(super) cache: usize,
    pub(super) check_digests: bool,
    pub(super) allow_unterminated: bool,
}

impl Default for IndexedReaderBuilder {
    fn default() -> Self {
        Self {
            limits: Limits::default(),
            hashers: Hashers::default(),
            cache: CACHE,
            check_digests: true,
            allow_unterminated: false,
        }
    }
}

impl IndexedReaderBuilder {
    /// How much memory and work the input may demand.
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// The implementations that compute digests.
    #[must_use]
    pub fn hashers(mut self, hashers: Hashers) -> Self {
        self.hashers = hashers;
        self
    }

    /// Bytes of decoded chunks to keep: 16 MiB by default; 0 keeps none. A chunk that is larger than this is decoded again
    /// for every read.
    #[must_use]
    pub fn cache(mut self, bytes: usize) -> Self {
        self.cache = bytes;
        self
    }

    /// Whether the digest of a chunk is checked before any part of the chunk is decoded; true by default.
    #[must_use]
    pub fn check_digests(mut self, check: bool) -> Self {
        self.check_digests = check;
        self
    }

    /// Accepts input that its writer did not finish, as
    /// [`DecoderBuilder::allow_unterminated`](crate::DecoderBuilder::allow_unterminated).
    #[must_use]
    pub fn allow_unterminated(mut self, allow: bool) -> Self {
        self.allow_unterminated = allow;
        self
    }

    /// Opens a source: reads its header, and finds its chunks by the table of offsets or, if that is not sufficient, by one
    /// pass over the headers of the chunks.
    ///
    /// # Errors
    /// Returns any error of the source, an error in the structure of the input, and
    /// [`Unsupported`](bloscpack_error::Category::Unsupported) for packed records.
    pub fn open<S: ReadAt>(self, source: S) -> Result<IndexedReader<S>> {
        let index = self.index(&source, None)?;
        Ok(self.with_index(source, index.into()))
    }

    /// The index of a source, by these options.
    pub(super) fn index<S: ReadAt>(&self, source: &S, known: Option<&Index>) -> Result<Index> {
        let index = Index::of(
            source,
            &self.limits,
            &self.hashers,
            self.allow_unterminated,
            known,
        )
        .reading()?;
        index.check_content()?;
        self.check_total(index.content_len())?;
        Ok(index)
    }

    fn check_total(&self, found: u64) -> Result<()> {
        let (limit, allowed) = (Limit::Total, self.limits.total);
        if found > allowed {
            return Err(FormatError::Limit {
                limit,
                found,
                allowed,
            }
            .into());
        }
        Ok(())
    }

    /// Builds a reader of a source whose index is known.
    pub(crate) fn with_index<S>(self, source: S, index: Arc<Index>) -> IndexedReader<S> {
        IndexedReader {
            source,
            index,
            fetcher: Fetcher::new(self.hashers.clone(), self.limits, self.check_digests),
            cache: Mutex::new(Cache::new(self.cache)),
            options: self,
        }
    }
}
