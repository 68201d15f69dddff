//! [`DatasetOptions`]: threads, memory and limits.

use bloscpack_storage::{LockTimeout, parallel::processors};
use bloscpack_wire::Limits;
use std::time::Duration;

/// Bytes of chunks that are kept in memory by default.
const DEFAULT_CACHE: usize = 256 << 20;

/// The number of columns from which on none of them keeps encoders and decoders, which take half a megabyte each.
const WIDE_TABLE: usize = 256;

/// Threads, memory and limits of the operations on a dataset.
///
/// ```
/// # testkit::enter_testdata();
/// use bloscpack_datasets::DatasetOptions;
/// let dataset = DatasetOptions::new()
///     .threads(2)
///     .cache(16 << 20)
///     .open("testdata/datasets/bcolz/py2_int64")?;
/// assert_eq!(dataset.rows()?, 1000);
/// # Ok::<(), bloscpack_error::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct DatasetOptions {
    pub(crate) resources: Resources,
    pub(crate) lenient: bool,
    pub(crate) lock_timeout: LockTimeout,
}

/// The resources that an array may use.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Resources {
    pub threads: usize,
    /// Bytes of chunks that are kept.
    pub cache: usize,
    pub limits: Limits,
    /// Whether encoders and decoders are kept for their next use.
    pub keeps_idle: bool,
}

impl Default for DatasetOptions {
    fn default() -> Self {
        Self {
            resources: Resources {
                threads: processors(),
                cache: DEFAULT_CACHE,
                limits: Limits::default(),
                keeps_idle: true,
            },
            lenient: false,
            lock_timeout: LockTimeout::default(),
        }
    }
}

impl DatasetOptions {
    /// The default options: a thread for each processor, a cache of 256 MiB, the default limits, and a lock timeout of ten
    /// seconds.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Compresses and decompresses with this many threads. 0 counts as 1.
    #[must_use]
    pub fn threads(mut self, threads: usize) -> Self {
        self.resources.threads = threads.max(1);
        self
    }

    /// Keeps up to this many bytes of the chunks that were used last. The columns of a table share them equally. 0 keeps none.
    #[must_use]
    pub fn cache(mut self, bytes: usize) -> Self {
        self.resources.cache = bytes;
        self
    }

    /// Refuses datasets that exceed these limits: [`total`](Limits::total) when a dataset is opened,
    /// [`chunk`](Limits::chunk), [`block`](Limits::block) and [`ratio`](Limits::ratio) when a chunk is read.
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.resources.limits = limits;
        self
    }

    /// Ignores the first 16 bytes of superchunks, as bcolz does.
    #[must_use]
    pub fn lenient(mut self, lenient: bool) -> Self {
        self.lenient = lenient;
        self
    }

    /// How long opening waits for other writers, and [`flush`](crate::CArray::flush) for readers of earlier versions, which
    /// prevent it; ten seconds by default.
    #[must_use]
    pub fn lock_timeout(mut self, timeout: Duration) -> Self {
        self.lock_timeout.set_limit(timeout);
        self
    }

    /// Calls `goes_on` many times a second while waiting for others, with the time waited so far. Waiting ends when it
    /// returns false, or when the [`lock_timeout`](Self::lock_timeout) is over.
    #[must_use]
    pub fn while_waiting(
        mut self,
        goes_on: impl Fn(Duration) -> bool + Send + Sync + 'static,
    ) -> Self {
        self.lock_timeout.keep_waiting_while(goes_on);
        self
    }

    /// The options of each column of a table.
    pub(crate) fn for_columns(mut self, columns: usize) -> Self {
        self.resources.keeps_idle = columns < WIDE_TABLE;
        self.resources.cache /= columns.max(1);
        self
    }
}
