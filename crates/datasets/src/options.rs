//! [`DatasetOptions`]: how a dataset is opened.

use super::leaf::Means;
use super::{CArray, CTable, Dataset};
use bloscpack_error::Result;
use bloscpack_storage::{Access, DiskStore, JournaledStore, Key, LockTimeout, Store};
use bloscpack_wire::Limits;
use std::path::Path;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

/// Chunks that are kept in memory, in bytes, unless it is said otherwise.
pub(crate) const DEFAULT_CACHE: usize = 256 << 20;

/// Columns of a table that are too many to keep half a megabyte for each.
const WIDE: usize = 256;

/// How long a change waits for readers, unless told otherwise.
const PATIENCE: Duration = Duration::from_secs(10);

/// How a dataset is opened.
///
/// ```
/// use bloscpack_datasets::DatasetOptions;
/// let dataset = DatasetOptions::new()
///     .threads(2)
///     .cache(16 << 20)
///     .open("../../testdata/datasets/bcolz/py2_int64")?;
/// assert_eq!(dataset.rows()?, 1000);
/// # Ok::<(), bloscpack_error::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct DatasetOptions {
    pub(super) means: Means,
    pub(super) lenient: bool,
    pub(super) patience: LockTimeout,
}

impl Default for DatasetOptions {
    fn default() -> Self {
        let threads = thread::available_parallelism().map_or(1, std::num::NonZero::get);
        Self {
            means: Means {
                threads,
                cache: DEFAULT_CACHE,
                limits: Limits::default(),
                keeps_idle: true,
            },
            lenient: false,
            patience: LockTimeout::new(PATIENCE),
        }
    }
}

impl DatasetOptions {
    /// All processors, a cache of 256 MiB, the default limits.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Compresses and decompresses on so many threads; 0 counts as 1.
    #[must_use]
    pub fn threads(mut self, threads: usize) -> Self {
        self.means.threads = threads.max(1);
        self
    }

    /// Keeps up to so many bytes of the chunks that were used last, of an array or of all columns of a table, each of which has
    /// the same part of it. 0 keeps none.
    #[must_use]
    pub fn cache(mut self, bytes: usize) -> Self {
        self.means.cache = bytes;
        self
    }

    /// Bounds what the dataset may ask for.
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.means.limits = limits;
        self
    }

    /// Does not look at the first 16 bytes of superchunks, as bcolz does not.
    #[must_use]
    pub fn lenient(mut self, lenient: bool) -> Self {
        self.lenient = lenient;
        self
    }

    /// How long [`flush`](CArray::flush) waits for those who are reading, which keeps it from being made; ten seconds by default.
    #[must_use]
    pub fn patience(mut self, patience: Duration) -> Self {
        self.patience.set_limit(patience);
        self
    }

    /// Asks while it waits for readers, many times a second and with the time that it has waited; it waits on as long as the
    /// answer is true and its patience lasts.
    #[must_use]
    pub fn while_waiting(
        mut self,
        goes_on: impl Fn(Duration) -> bool + Send + Sync + 'static,
    ) -> Self {
        self.patience.keep_waiting_while(goes_on);
        self
    }

    /// Opens the dataset in this directory for reading. Nothing is written, whatever is called.
    ///
    /// # Errors
    /// Those of the file system; [`Unsupported`](bloscpack_error::Category::Unsupported) if no dataset is there;
    /// [`Damaged`](bloscpack_error::Category::Damaged) if what describes it does not hold together.
    pub fn open(&self, path: impl AsRef<Path>) -> Result<Dataset> {
        let (store, at) = beneath(path.as_ref())?;
        self.open_at(Arc::new(store), &at, Access::Read)
    }

    /// Opens the dataset in this directory for reading and changing it. There is one such at a time.
    ///
    /// # Errors
    /// As [`open`](Self::open), and [`ResourceBusy`](std::io::ErrorKind::ResourceBusy) if another process changes it.
    pub fn edit(&self, path: impl AsRef<Path>) -> Result<Dataset> {
        let (store, at) = beneath(path.as_ref())?;
        self.open_at(Arc::new(store), &at, Access::Write)
    }

    /// Opens the dataset at the root of a store for reading.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn open_in(&self, store: impl Store + 'static) -> Result<Dataset> {
        self.open_at(Arc::new(store), &Key::root(), Access::Read)
    }

    /// Opens the dataset at the root of a store for reading and changing it.
    ///
    /// # Errors
    /// As [`edit`](Self::edit).
    pub fn edit_in(&self, store: impl Store + 'static) -> Result<Dataset> {
        self.open_at(Arc::new(store), &Key::root(), Access::Write)
    }

    /// For each of so many columns of one table.
    pub(super) fn for_columns(mut self, columns: usize) -> Self {
        self.means.keeps_idle = columns < WIDE;
        self.means.cache /= columns.max(1);
        self
    }

    fn open_at(&self, store: Arc<dyn Store>, at: &Key, access: Access) -> Result<Dataset> {
        let root = Arc::new(JournaledStore::open_with(
            store,
            access,
            self.patience.clone(),
        )?);
        Dataset::open_beneath(&root, at, self, access)
    }

    pub(super) fn array(&self, path: &Path, access: Access) -> Result<CArray> {
        let (store, at) = beneath(path)?;
        self.open_at(Arc::new(store), &at, access)?.into_array()
    }

    pub(super) fn table(&self, path: &Path, access: Access) -> Result<CTable> {
        let (store, at) = beneath(path)?;
        self.open_at(Arc::new(store), &at, access)?.into_table()
    }
}

/// The store of a directory, and where in it the dataset lies: a column is opened through its table, whose writers it has to do
/// with.
pub(super) fn beneath(path: &Path) -> Result<(DiskStore, Key)> {
    if let Some((table, column)) = table_of(path) {
        return Ok((DiskStore::open(table)?, Key::root().join(&column)?));
    }
    Ok((DiskStore::open(path)?, Key::root()))
}

/// The table whose column lies at this path.
pub(super) fn table_of(path: &Path) -> Option<(std::path::PathBuf, String)> {
    let path = std::fs::canonicalize(path).ok()?;
    let (table, column) = (path.parent()?, path.file_name()?.to_str()?);
    let store = DiskStore::open(table).ok()?;
    let rootdirs = store.open(&Key::root().join("__rootdirs__").ok()?).ok()?;
    let mut text = vec![0; usize::try_from(rootdirs.size().ok()?.min(16 << 20)).ok()?];
    rootdirs.read_exact_at(0, &mut text).ok()?;
    let dirs = crate::wire::RootDirs::parse(&text).ok()?;
    let is_column = dirs.folders().iter().any(|folder| folder == column);
    is_column.then(|| (table.to_owned(), column.to_owned()))
}
