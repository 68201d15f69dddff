//! Opens datasets from paths and stores.

use crate::carray::CArray;
use crate::ctable::CTable;
use crate::dataset::Dataset;
use crate::files::Files;
use crate::handle::Handle;
use crate::layout;
use crate::wire::RootDirs;
use bloscpack::Options;
use bloscpack_array::Resources;
use bloscpack_error::checked::in_memory;
use bloscpack_error::{Code, Error, IoSide as _, Result};
use bloscpack_storage::{Access, DiskStore, Key, Store};
#[cfg(feature = "zip")]
use bloscpack_storage::{Below, ReadAt, ZipStore};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Bytes of the longest `__rootdirs__` that is read to find out whether a directory is a column of a table.
const MAX_ROOTDIRS: u64 = 16 << 20;

impl Dataset {
    /// Opens the dataset in a directory for reading, with default options. Nothing is written.
    ///
    /// Reads the small files that describe the dataset, and in the layouts of the documents the index of each column's first
    /// superchunk. In `bcolz` and `blz`, the columns of a table are opened when they are first used. The reader keeps the
    /// version that it opened; [`CArray::refresh`] and [`CTable::refresh`] update it.
    ///
    /// The path of a column opens it as an array. With the feature `zip`, the path may lead to a ZIP archive, or to a folder in
    /// one: `archive.zip/eeg`.
    ///
    /// ```
    /// # testkit::enter_testdata();
    /// use bloscpack_datasets::Dataset;
    /// let dataset = Dataset::open("testdata/datasets/bcolz/py2_int64")?;
    /// assert!(matches!(dataset, Dataset::Array(_)));
    /// assert_eq!(dataset.rows()?, 1000);
    /// # Ok::<(), bloscpack_error::Error>(())
    /// ```
    ///
    /// # Errors
    /// * [`Code::UnknownFormat`] if the directory is not a dataset
    /// * [`Code::NotBuilt`] for a layout that this build does not support
    /// * the categories [`Damaged`](bloscpack_error::Category::Damaged) and [`CutShort`](bloscpack_error::Category::CutShort)
    ///   if the small files are damaged or contradict each other, or the journal of an interrupted change is damaged
    /// * [`Code::OverLimit`] if a small file exceeds 64 MiB, or the elements of an array exceed
    ///   [`Limits::total`](bloscpack_wire::Limits::total)
    /// * any error of the file system
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        Self::open_with(path, &Options::new())
    }

    /// Opens the dataset in a directory for reading and changing it, with default options. Only one process can do so at a
    /// time; others wait for up to 10 seconds. A change that an earlier writer did not complete is completed first.
    ///
    /// The path of a column opens it through its table, as an array whose elements, attributes and index can be changed, but
    /// not its number of rows.
    ///
    /// # Errors
    /// Returns the errors of [`open`](Self::open), and [`ResourceBusy`](std::io::ErrorKind::ResourceBusy) if another process
    /// has the dataset open for changes.
    pub fn edit(path: impl AsRef<Path>) -> Result<Self> {
        Self::edit_with(path, &Options::new())
    }

    /// Opens the dataset in a directory for reading, with options.
    ///
    /// | option | effect |
    /// |---|---|
    /// | `threads` | threads that read and decompress; all processors by default |
    /// | `cache` | bytes of chunks kept in memory, shared by all columns; 256 MiB by default |
    /// | `limits` | bytes of the whole array, and of a chunk |
    /// | `lenient` | ignore the 16 bytes before each chunk in the layouts `bcolz` and `blz` |
    ///
    /// ```
    /// # testkit::enter_testdata();
    /// use bloscpack::Options;
    /// use bloscpack_datasets::Dataset;
    /// let options = Options::new().threads(2).cache(16 << 20);
    /// let dataset = Dataset::open_with("testdata/datasets/bcolz/py2_int64", &options)?;
    /// assert_eq!(dataset.rows()?, 1000);
    /// # Ok::<(), bloscpack_error::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns the errors of [`open`](Self::open).
    pub fn open_with(path: impl AsRef<Path>, options: &Options) -> Result<Self> {
        open_path(path.as_ref(), options, Access::Read)
    }

    /// Opens the dataset in a directory for reading and changing it, with the options of [`open_with`](Self::open_with) and
    /// `lock_timeout`.
    ///
    /// # Errors
    /// Returns the errors of [`edit`](Self::edit).
    pub fn edit_with(path: impl AsRef<Path>, options: &Options) -> Result<Self> {
        open_path(path.as_ref(), options, Access::Write)
    }

    /// Opens the dataset at the root of a store for reading.
    ///
    /// # Errors
    /// Returns the errors of [`open`](Self::open).
    pub fn open_in(store: impl Store + 'static, options: &Options) -> Result<Self> {
        open_at(Arc::new(store), &Key::root(), options, Access::Read)
    }

    /// Opens the dataset at the root of a store for reading and changing it.
    ///
    /// ```
    /// use bloscpack::Options;
    /// use bloscpack_datasets::{CArray, Dataset};
    /// use bloscpack_storage::Memory;
    ///
    /// let store = Memory::new();
    /// CArray::of::<u8>().create_in(store.clone())?.flush()?;
    ///
    /// let mut array = Dataset::edit_in(store, &Options::new())?.into_array()?;
    /// array.append(&[1, 2, 3])?;
    /// array.flush()?;
    /// assert_eq!(array.rows(), 3);
    /// # Ok::<(), bloscpack_error::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns the errors of [`edit`](Self::edit).
    pub fn edit_in(store: impl Store + 'static, options: &Options) -> Result<Self> {
        open_at(Arc::new(store), &Key::root(), options, Access::Write)
    }

    /// Opens the dataset in a ZIP archive for reading: at its root, or in the innermost folder that contains all of its files.
    ///
    /// # Errors
    /// Returns the errors of [`open`](Self::open), and the errors of [`ZipStore`](bloscpack_storage::ZipStore).
    #[cfg(feature = "zip")]
    pub fn open_zip(archive: impl ReadAt + 'static, options: &Options) -> Result<Self> {
        Self::open_in(in_archive(archive, "").reading()?, options)
    }
}

fn open_path(path: &Path, options: &Options, access: Access) -> Result<Dataset> {
    #[cfg(feature = "zip")]
    if let Some((archive, inside)) = archive_of(path) {
        let opened = std::fs::File::open(archive).and_then(|file| in_archive(file, &inside));
        let store = opened.reading().map_err(|error| error.in_file(path))?;
        return open_at(Arc::new(store), &Key::root(), options, access);
    }
    let (store, at) = match access {
        Access::Read => store_of(path).reading(),
        Access::Write => store_of(path).writing(),
    }
    .map_err(|error| error.in_file(path))?;
    open_at(Arc::new(store), &at, options, access)
}

pub(crate) fn open_at(
    store: Arc<dyn Store>,
    at: &Key,
    options: &Options,
    access: Access,
) -> Result<Dataset> {
    let files = Files::open(Arc::clone(&store), access, options.lock_timeout.clone())?;
    let files = match access {
        Access::Read => files.opened_by(store, options.clone()),
        Access::Write => files,
    };
    open_beneath(&Arc::new(files), at, options, access)
}

impl CArray {
    /// Opens the array in a directory for reading. The path of a column opens that column.
    ///
    /// # Errors
    /// Returns the errors of [`Dataset::open`], and [`Code::NeedsColumn`] if the dataset is a table.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        Dataset::open(path)?.into_array()
    }

    /// Opens the array in a directory for reading and changing it; see [`Dataset::edit`].
    ///
    /// # Errors
    /// Returns the errors of [`Dataset::edit`], and [`Code::NeedsColumn`] if the dataset is a table.
    pub fn edit(path: impl AsRef<Path>) -> Result<Self> {
        Dataset::edit(path)?.into_array()
    }

    /// Opens the array at the root of a store for reading.
    ///
    /// # Errors
    /// Returns the errors of [`open`](Self::open).
    pub fn open_in(store: impl Store + 'static) -> Result<Self> {
        Dataset::open_in(store, &Options::new())?.into_array()
    }

    /// Opens the array at the root of a store for reading and changing it.
    ///
    /// # Errors
    /// Returns the errors of [`edit`](Self::edit).
    pub fn edit_in(store: impl Store + 'static) -> Result<Self> {
        Dataset::edit_in(store, &Options::new())?.into_array()
    }
}

impl CTable {
    /// Opens the table in a directory for reading; see [`Dataset::open`].
    ///
    /// # Errors
    /// Returns the errors of [`Dataset::open`], and [`Code::NotATable`] if the dataset is an array.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        Dataset::open(path)?.into_table()
    }

    /// Opens the table in a directory for reading and changing it; see [`Dataset::edit`].
    ///
    /// # Errors
    /// Returns the errors of [`Dataset::edit`], and [`Code::NotATable`] if the dataset is an array.
    pub fn edit(path: impl AsRef<Path>) -> Result<Self> {
        Dataset::edit(path)?.into_table()
    }

    /// Opens the table at the root of a store for reading.
    ///
    /// # Errors
    /// Returns the errors of [`open`](Self::open).
    pub fn open_in(store: impl Store + 'static) -> Result<Self> {
        Dataset::open_in(store, &Options::new())?.into_table()
    }

    /// Opens the table at the root of a store for reading and changing it.
    ///
    /// # Errors
    /// Returns the errors of [`edit`](Self::edit).
    pub fn edit_in(store: impl Store + 'static) -> Result<Self> {
        Dataset::edit_in(store, &Options::new())?.into_table()
    }
}

/// Opens the dataset in a folder of a store.
pub(crate) fn open_beneath(
    files: &Arc<Files>,
    at: &Key,
    options: &Options,
    access: Access,
) -> Result<Dataset> {
    let kind = layout::detect(files, at)?.ok_or_else(|| {
        Error::new(
            Code::UnknownFormat,
            "not a dataset: there is no meta/sizes, meta/shape or __rootdirs__",
        )
    })?;
    let mut handle = Handle::new(Arc::clone(files), at.clone(), kind.layout, access);
    // Only columns are opened at another folder than the root.
    handle.in_table = *at != Key::root();
    let (lenient, resources) = (options.lenient, Resources::new(options));
    Ok(if kind.is_table {
        Dataset::Table(Box::new(CTable::open_beneath(handle, lenient, &resources)?))
    } else {
        Dataset::Array(Box::new(CArray::open_beneath(
            handle,
            lenient,
            (&resources, 1),
        )?))
    })
}

/// The store of a directory, and the key of the dataset in it. The store of a column is that of its table, because they share a
/// writer.
pub(crate) fn store_of(path: &Path) -> std::io::Result<(DiskStore, Key)> {
    if let Some((table, column)) = table_of(path) {
        return Ok((DiskStore::open(table)?, Key::root().join(&column)?));
    }
    Ok((DiskStore::open(path)?, Key::root()))
}

/// The archive that a path leads to or into, and the path inside the archive.
#[cfg(feature = "zip")]
fn archive_of(path: &Path) -> Option<(&Path, String)> {
    let archive = path.ancestors().find(|path| path.exists())?;
    let inside = path.strip_prefix(archive).ok()?.iter();
    let names: Option<Vec<_>> = inside.map(|name| name.to_str()).collect();
    archive.is_file().then_some((archive, names?.join("/")))
}

/// The files of an archive, or of a folder in it.
#[cfg(feature = "zip")]
fn in_archive(archive: impl ReadAt + 'static, inside: &str) -> std::io::Result<Below> {
    let store = ZipStore::open(archive)?;
    let folder = match inside {
        "" => store.only_folder(),
        inside => Key::parse(inside)?,
    };
    store.list(&folder)?;
    Ok(Below::new(Arc::new(store), folder))
}

/// If this directory is a column: its table, and the name of its folder. `None` if it is not, or if the table cannot
/// be read.
pub(crate) fn table_of(path: &Path) -> Option<(PathBuf, String)> {
    let path = std::fs::canonicalize(path).ok()?;
    let (table, column) = (path.parent()?, path.file_name()?.to_str()?);
    let store = DiskStore::open(table).ok()?;
    let rootdirs = store.open(&Key::root().join("__rootdirs__").ok()?).ok()?;
    let mut text = vec![0; in_memory(rootdirs.size().ok()?.min(MAX_ROOTDIRS)).ok()?];
    rootdirs.read_exact_at(0, &mut text).ok()?;
    let dirs = RootDirs::parse(&text).ok()?;
    let is_column = dirs.folders().iter().any(|folder| folder == column);
    is_column.then(|| (table.to_owned(), column.to_owned()))
}
