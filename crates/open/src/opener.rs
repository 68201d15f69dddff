//! The functions that open.

use super::bytes::Bytes;
use super::watch::Watched;
use super::{Container, Family, INTERRUPTED, Options, probe};
use crate::containers::exchange::open_file;
use crate::containers::file::BloscpackFile;
use crate::exchange::{Format, ImportOptions};
use bloscpack_datasets::Dataset;
use bloscpack_error::{Error, IoSide, Result};
use bloscpack_storage::SharedSource;
use bloscpack_storage::{Key, Store};
use bloscpack_storage::{ReadAt, Snapshot};
use bloscpack_stores::FrameStore;
use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;

/// Bytes of decompressed chunks of a dataset that are kept by default.
const CACHE: usize = 64 << 20;

/// Opens what a path leads to, for reading.
///
/// Regular files and directories are locked against changes by this library, and read as their last complete change left
/// them. Anything that is not recognized is opened as a Bloscpack file, whose errors say what was found instead.
///
/// ```
/// # testkit::enter_testdata();
/// use bloscpack_open::{Options, open};
/// let mut table = open("testdata/datasets/bcolz/table_mixed".as_ref(), &Options::new())?;
/// let outline = table.outline()?;
/// assert!(outline.columns.is_some_and(|names| names.len() > 1));
/// # Ok::<(), bloscpack::Error>(())
/// ```
///
/// # Errors
/// Returns errors of the file system, with the path; those of opening a dataset or a frame; and
/// [`Unsupported`](bloscpack_error::Category::Unsupported) for a directory that is not a dataset.
pub fn open(path: &Path, options: &Options) -> Result<Box<dyn Container>> {
    open_with(path, &ImportOptions::new(), options)
}

/// As [`open`]; `reading` says of a file of text what it does not say itself.
///
/// # Errors
/// Returns the errors of [`open`].
pub fn open_with(
    path: &Path,
    reading: &ImportOptions,
    options: &Options,
) -> Result<Box<dyn Container>> {
    if let Some(found) = crate::containers::store::open_path(path, options)? {
        return Ok(found);
    }
    let failed = |error: Error| error.in_file(path);
    let family = probe(path).reading().map_err(failed)?.family;
    if family == Some(Family::Zarr) {
        return crate::containers::zarr::open_path(path, options);
    }
    if family == Some(Family::Archive)
        && let Some(found) = crate::containers::zarr::in_archive_at(path, options)?
    {
        return Ok(found);
    }
    if matches!(family, Some(Family::Directory | Family::Archive)) {
        return dataset(path, options);
    }
    let metadata = path.metadata().reading().map_err(failed)?;
    if metadata.is_dir() {
        return sparse_frame(path, options);
    }
    if !metadata.is_file() {
        return open_stream(File::open(path).reading().map_err(failed)?, options);
    }
    let snapshot = Snapshot::open(path)
        .map_err(Error::from)
        .reading()
        .map_err(failed)?;
    // The lines of text show no format.
    let named = Format::of_path(path).filter(|format| family.is_none() && format.is_read());
    if let Some(format) = named {
        return open_file(Arc::new(snapshot), format, reading, options).map_err(failed);
    }
    let warning = snapshot.is_interrupted().then(|| INTERRUPTED.to_owned());
    open_shared(Arc::new(snapshot), options, Vec::from_iter(warning))
}

/// Opens a source that can be read at any position: a Bloscpack file, a contiguous frame, or a ZIP
/// archive with a dataset, a store or Zarr.
///
/// # Errors
/// Returns errors of reading the first bytes, and those of opening a frame. Damage of a Bloscpack file is reported where the
/// file is read.
pub fn open_source(
    source: impl ReadAt + Send + Sync + 'static,
    options: &Options,
) -> Result<Box<dyn Container>> {
    open_shared(Arc::new(source), options, Vec::new())
}

fn open_shared(
    source: SharedSource,
    options: &Options,
    warnings: Vec<String>,
) -> Result<Box<dyn Container>> {
    let family = super::probe_source(&source).reading()?.family;
    if family == Some(Family::Archive) {
        if let Some(tree) = crate::containers::store::in_archive(Arc::clone(&source), options)? {
            return crate::containers::store::container(Arc::new(tree), "", options);
        }
        if let Some(found) = crate::containers::zarr::in_archive(Arc::clone(&source), options)? {
            return Ok(found);
        }
        if is_npz(&source) {
            return open_file(source, Format::Npz, &ImportOptions::new(), options);
        }
        return contained(
            Dataset::open_zip(source, &dataset_options(options))?,
            options,
        );
    }
    if let Some(Family::File(format)) = family {
        return open_file(source, format, &ImportOptions::new(), options);
    }
    if family == Some(Family::Frame) {
        let opened = crate::containers::frame::open_source(source.clone(), options, warnings)?;
        return if FrameStore::is_frame(opened.frame()) {
            crate::containers::store::open_frame(source, options)
        } else {
            Ok(Box::new(opened))
        };
    }
    let source: SharedSource = if options.watch.is_set() {
        Arc::new(Watched {
            total: source.size().ok(),
            watch: options.watch.clone(),
            inner: source,
        })
    } else {
        source
    };
    Ok(Box::new(BloscpackFile::new(Bytes::of_source(
        source, options, warnings,
    )?)))
}

/// Opens a Bloscpack file that can only be read once, in order. It reads up to the metadata.
///
/// ```
/// use bloscpack_open::{Options, Selection, open_stream};
/// let file = bloscpack::compress(b"content")?;
/// let mut container = open_stream(std::io::Cursor::new(file), &Options::new())?;
/// let mut out = Vec::new();
/// container.copy(&Selection::default(), &mut out)?;
/// assert_eq!(out, b"content");
/// assert!(container.copy(&Selection::default(), &mut out).is_err()); // it was read
/// # Ok::<(), bloscpack::Error>(())
/// ```
///
/// # Errors
/// Returns errors of the reader.
pub fn open_stream(
    reader: impl Read + Send + 'static,
    options: &Options,
) -> Result<Box<dyn Container>> {
    let reader = Watched {
        inner: reader,
        watch: options.watch.clone(),
        total: None,
    };
    Ok(Box::new(BloscpackFile::new(Bytes::of_stream(
        reader, options,
    )?)))
}

/// Opens what is at the root of a store, for reading: a dataset, or a sparse frame.
///
/// ```
/// use bloscpack_open::datasets::CArray;
/// use bloscpack_open::{Options, open_store};
/// use bloscpack::storage::Memory;
/// let store = Memory::new();
/// CArray::of::<u8>().create_in(store.clone())?.flush()?;
/// let array = open_store(store, &Options::new())?;
/// assert_eq!(array.kind().name(), "carray");
/// # Ok::<(), bloscpack::Error>(())
/// ```
///
/// # Errors
/// Returns errors of the store, and those of opening a dataset or a frame. Paths in them are relative to the root.
pub fn open_store(
    store: impl Store + Clone + 'static,
    options: &Options,
) -> Result<Box<dyn Container>> {
    let metadata = Key::root().join(bloscpack_frames::wire::METADATA_FILE)?;
    if store.kind(&metadata).reading()?.is_some() {
        return crate::containers::frame::open_store(store, options);
    }
    if let Some(tree) = crate::containers::store::in_store(Arc::new(store.clone()), options)? {
        return crate::containers::store::container(Arc::new(tree), "", options);
    }
    if let Some(found) =
        crate::containers::zarr::in_store(Arc::new(store.clone()), &Key::root(), options)?
    {
        return Ok(found);
    }
    contained(Dataset::open_in(store, &dataset_options(options))?, options)
}

/// Options for a dataset, with a cache of 64 MiB by default.
fn dataset_options(options: &Options) -> Options {
    let cache = options.cache.unwrap_or(CACHE);
    options.clone().cache(cache)
}

fn dataset(path: &Path, options: &Options) -> Result<Box<dyn Container>> {
    contained(
        Dataset::open_with(path, &dataset_options(options))?,
        options,
    )
}

fn contained(dataset: Dataset, options: &Options) -> Result<Box<dyn Container>> {
    if options.dtype.is_some() {
        return Err(super::error::has_dtype());
    }
    let is_interrupted = dataset.was_interrupted();
    let common = crate::containers::dataset::Common {
        is_interrupted,
        warnings: is_interrupted.then_some(INTERRUPTED).into_iter().collect(),
        watch: options.watch.clone(),
    };
    Ok(match dataset {
        Dataset::Array(array) => Box::new(crate::containers::array::Array::new(*array, common)),
        Dataset::Table(table) => Box::new(crate::containers::table::Table::new(*table, common)),
    })
}

/// Whether an archive has nothing but arrays of NumPy.
fn is_npz(source: &SharedSource) -> bool {
    let Ok(store) = bloscpack_storage::ZipStore::open(source.clone()) else {
        return false;
    };
    let entries = store.list(&Key::root()).unwrap_or_default();
    let mut names = entries.iter().map(|entry| entry.name.to_str());
    !entries.is_empty() && names.all(|name| name.is_some_and(|name| name.ends_with(".npy")))
}

fn sparse_frame(path: &Path, options: &Options) -> Result<Box<dyn Container>> {
    crate::containers::frame::open_sparse(path, options)
}
