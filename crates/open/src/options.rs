//! [`OpenOptions`]: how an input is opened.

use super::watch::Watch;
use bloscpack::Options;
use bloscpack_dtype::DType;
use bloscpack_storage::parallel::processors;
use bloscpack_wire::{Hashers, Limits};
use std::io;
use std::sync::Arc;

/// Bytes of decompressed chunks that are kept by default.
const CACHE: usize = 64 << 20;

/// How an input is opened.
///
/// ```
/// # testkit::enter_testdata();
/// use bloscpack::Limits;
/// use bloscpack_open::{OpenOptions, open};
/// let mut limits = Limits::default();
/// limits.chunk = 1 << 20;
/// let options = OpenOptions::new().threads(2).limits(limits);
/// let array = open("testdata/datasets/bcolz/py2_int64".as_ref(), &options)?;
/// assert_eq!(array.kind().name(), "carray");
/// # Ok::<(), bloscpack::Error>(())
/// ```
#[derive(Clone)]
pub struct OpenOptions {
    threads: Option<usize>,
    pub(crate) limits: Limits,
    pub(crate) hashers: Hashers,
    pub(crate) cache: usize,
    pub(crate) dtype: Option<DType>,
    pub(crate) watch: Watch,
}

impl std::fmt::Debug for OpenOptions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("OpenOptions")
            .field("threads", &self.threads)
            .field("limits", &self.limits)
            .field("hashers", &self.hashers)
            .field("cache", &self.cache)
            .field("dtype", &self.dtype)
            .finish_non_exhaustive()
    }
}

impl Default for OpenOptions {
    fn default() -> Self {
        Self {
            threads: None,
            limits: Limits::default(),
            hashers: Hashers::default(),
            cache: CACHE,
            dtype: None,
            watch: Watch::default(),
        }
    }
}

impl OpenOptions {
    /// The default options: a thread for each processor, the default limits, a cache of 64 MiB.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Decompresses with this many threads. 0 counts as 1.
    #[must_use]
    pub fn threads(mut self, threads: usize) -> Self {
        self.threads = Some(threads.max(1));
        self
    }

    /// The number of threads.
    pub(crate) fn workers(&self) -> usize {
        self.threads.unwrap_or_else(processors)
    }

    /// How much memory and work the input may demand.
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// The implementations that compute the digests of Bloscpack files.
    #[must_use]
    pub fn hashers(mut self, hashers: Hashers) -> Self {
        self.hashers = hashers;
        self
    }

    /// Bytes of decompressed chunks of a dataset to keep, which its columns share. 0 keeps none.
    #[must_use]
    pub fn cache(mut self, bytes: usize) -> Self {
        self.cache = bytes;
        self
    }

    /// The dtype of the elements of a frame that does not store it. Opening anything else is wrong
    /// usage.
    #[must_use]
    pub fn dtype(mut self, dtype: DType) -> Self {
        self.dtype = Some(dtype);
        self
    }

    /// Calls this function as the work goes on, perhaps from several threads: with the bytes that were processed since the
    /// last call, and how many there will be in all where that is known. For Bloscpack files these are bytes of the file,
    /// elsewhere those of the uncompressed content. An error that it returns ends the work, except for the verification
    /// of datasets and frames.
    ///
    /// ```
    /// use bloscpack_open::{OpenOptions, Selection, open_source};
    /// use std::sync::{Arc, atomic::{AtomicU64, Ordering}};
    /// let done = Arc::new(AtomicU64::new(0));
    /// let count = Arc::clone(&done);
    /// let options = OpenOptions::new().watch(move |bytes, _total| {
    ///     count.fetch_add(bytes, Ordering::Relaxed);
    ///     Ok(())
    /// });
    /// let mut container = open_source(bloscpack::compress(&[7; 5000])?, &options)?;
    /// container.copy(&Selection::default(), &mut std::io::sink())?;
    /// assert!(done.load(Ordering::Relaxed) > 0);
    /// # Ok::<(), bloscpack::Error>(())
    /// ```
    #[must_use]
    pub fn watch(
        mut self,
        callback: impl Fn(u64, Option<u64>) -> io::Result<()> + Send + Sync + 'static,
    ) -> Self {
        self.watch = Watch(Some(Arc::new(callback)));
        self
    }
}

impl OpenOptions {
    /// The same for functions that take these.
    pub(crate) fn reading(&self) -> Options {
        Options::new()
            .limits(self.limits)
            .hashers(self.hashers.clone())
            .threads(self.workers())
    }
}

/// The warning about a change that was interrupted.
pub(crate) const INTERRUPTED: &str =
    "a change was interrupted; reading the result of the change, in part from the journal";
