//! The functions that open inputs.

use super::bytes::Bytes;
use super::located::archive_of;
use super::probe::{is_about_name, probe_folder};
use super::watch::Watched;
use super::{Container, Family, INTERRUPTED, Options, probe};
use crate::containers::exchange::open_file;
use crate::containers::file::BloscpackFile;
use crate::containers::{folder, frame, store, zarr};
use crate::exchange::{Format, ImportOptions};
use bloscpack_datasets::Dataset;
use bloscpack_error::{Code, Error, IoSide as _, Result};
use bloscpack_frames::VaryingFrame;
use bloscpack_storage::{
    Below, DiskStore, EntryKind, Key, ReadAt, SharedSource, Snapshot, Store, ZipStore,
};
use bloscpack_stores::FrameStore;
use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;

/// Opens a path for reading: a file, a directory, or something inside an archive, a store or a Zarr group.
///
/// The content is recognized, not the name, except for text: `.csv`, `.tsv` and `.jsonl` and their variants. Anything else that
/// is not recognized is opened as a Bloscpack file, and reading it reports the error. A pipe is read as a stream.
///
/// Files, datasets and frames are read as their last complete change left them, even if a writer of this library changes them
/// in the meantime. An interrupted change is read through its journal, with a [warning](Container::take_warnings).
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
/// Returns errors of the file system, with the path; errors of opening a dataset, a frame, a store, Zarr or a file of another
/// program; and `Code::UnknownFormat` for a directory that is none of these: [`open_folder`] searches it.
pub fn open(path: &Path, options: &Options) -> Result<Box<dyn Container>> {
    open_with(path, &ImportOptions::new(), options)
}

/// Like [`open`]; `reading` gives the types, separators and columns of a text file, which the file does not store.
///
/// # Errors
/// Returns the errors of [`open`].
pub fn open_with(
    path: &Path,
    reading: &ImportOptions,
    options: &Options,
) -> Result<Box<dyn Container>> {
    if let Some(found) = store::open_path(path, options)? {
        return Ok(found);
    }
    let failed = |error: Error| error.in_file(path);
    let metadata = match path.metadata() {
        Err(error) if is_about_name(&error) => match archive_of(path) {
            Some((file, inside)) => {
                let source = Arc::new(File::open(file).reading().map_err(failed)?);
                return in_archive(source, &inside, options).map_err(failed);
            }
            None => Err(error),
        },
        found => found,
    };
    let metadata = metadata.reading().map_err(failed)?;
    let family = probe(path).reading().map_err(failed)?.family;
    if metadata.is_dir() {
        return match family {
            // A column is opened through its table, whose writer also changes the column.
            None | Some(Family::Directory | Family::Dataset) => {
                contained(Dataset::open_with(path, options)?, options)
            }
            Some(family) => {
                let store = DiskStore::open(path).reading().map_err(failed)?;
                let folder = Below::new(Arc::new(store), Key::root());
                in_folder(family, folder, options).map_err(failed)
            }
        };
    }
    if !metadata.is_file() {
        return open_stream(File::open(path).reading().map_err(failed)?, options);
    }
    let snapshot = Snapshot::open(path)
        .map_err(Error::from)
        .reading()
        .map_err(failed)?;
    // Text has no magic number; only the name tells the format.
    let named = Format::of_path(path).filter(|format| family.is_none() && format.is_read());
    if let Some(format) = named {
        return open_file(Arc::new(snapshot), format, reading, options).map_err(failed);
    }
    let warning = snapshot.is_interrupted().then(|| INTERRUPTED.to_owned());
    open_shared(Arc::new(snapshot), options, Vec::from_iter(warning))
}

/// Opens a source that can be read at any position: a Bloscpack file, a contiguous frame, a `.npy`, Arrow or Parquet file, or a
/// ZIP archive with a dataset, a store, Zarr, NumPy arrays or several inputs.
///
/// # Errors
/// Returns errors of reading the first bytes, errors of opening the input, and `Code::UnknownFormat` for a single Blosc chunk
/// without a container. Damage of a Bloscpack file is reported by the methods that read it.
pub fn open_source(source: impl ReadAt + 'static, options: &Options) -> Result<Box<dyn Container>> {
    open_shared(Arc::new(source), options, Vec::new())
}

fn open_shared(
    source: SharedSource,
    options: &Options,
    warnings: Vec<String>,
) -> Result<Box<dyn Container>> {
    let family = super::probe_source(&source).reading()?.family;
    if family == Some(Family::Archive) {
        return in_archive(source, "", options);
    }
    if let Some(Family::File(format)) = family {
        return open_file(source, format, &ImportOptions::new(), options);
    }
    if family == Some(Family::Frame) {
        let opened = match frame::open_source(source.clone(), options, warnings) {
            Ok(opened) => opened,
            // The chunks of objects vary in length, so the frame reader refuses them.
            Err(_) if is_objects(&source, options) => return store::open_objects(source, options),
            Err(error) => return Err(error),
        };
        return if FrameStore::is_objects(opened.frame()) {
            store::open_objects(source, options)
        } else if FrameStore::is_frame(opened.frame()) {
            store::open_in_frame(source, "", options)
        } else {
            Ok(Box::new(opened))
        };
    }
    if family.is_none() && is_bare_chunk(&source) {
        let what = "a single Blosc chunk, without a container";
        return Err(Error::new(Code::UnknownFormat, what).with_hint(
            "blosc.decompress and blosc2.decompress2 of Python read it, and the crate blosc1",
        ));
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

/// Opens a Bloscpack file that can only be read once, in order, such as a pipe. It reads the header and the metadata.
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
/// Returns errors of the reader, and `Code::Usage` if the options have a dtype.
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

/// Opens the root of a store for reading: a dataset, a sparse frame, a tree of frames, Zarr, or a folder that holds any of
/// these.
///
/// A store is a tree of files by key: a directory, a ZIP archive, memory, or an object store of `bloscpack-remote`. A folder is
/// searched completely.
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
/// Returns errors of the store and of opening the input, with paths relative to the root, and `Code::UnknownFormat` if nothing
/// in it can be opened.
pub fn open_store(store: impl Store + 'static, options: &Options) -> Result<Box<dyn Container>> {
    let folder = Below::new(Arc::new(store), Key::root());
    in_folder(probe_folder(&folder).reading()?, folder, options)
}

/// Searches a whole directory for inputs, and opens it as a tree of them; `None` if there are none. Folders are recognized by
/// their files. Files are members if their names end with `.blp`, `.b2nd`, `.b2frame` or `.b2z`.
///
/// ```
/// # testkit::enter_testdata();
/// use bloscpack_open::{Options, open_folder};
/// let folder = open_folder("testdata/datasets/bcolz".as_ref(), &Options::new())?;
/// assert!(folder.is_some_and(|folder| folder.is_tree()));
/// # Ok::<(), bloscpack::Error>(())
/// ```
///
/// # Errors
/// Returns errors of the file system.
pub fn open_folder(path: &Path, options: &Options) -> Result<Option<Box<dyn Container>>> {
    let store = Arc::new(DiskStore::open(path).reading()?);
    let (path, of_member) = (path.to_owned(), options.clone());
    let open = move |member: &str| open(&path.join(member), &of_member);
    folder::of_store(&Below::new(store, Key::root()), open, Vec::new, options)
}

/// Opens a folder of this family.
fn in_folder(family: Family, folder: Below, options: &Options) -> Result<Box<dyn Container>> {
    match family {
        Family::Frame => frame::open_folder(folder, options),
        Family::Store => store::open_folder(folder, options),
        Family::Zarr => zarr::open_folder(folder, options),
        _ => {
            let opened = Dataset::open_in(folder.clone(), options);
            match opened {
                Err(error) if error.code() == Code::UnknownFormat => {
                    let (below, of_member, checked) =
                        (folder.clone(), options.clone(), folder.clone());
                    let open = move |member: &str| {
                        let opened = open_below(&below, member, &of_member);
                        opened.map_err(|error| error.in_file(member))
                    };
                    let place = move || checked.verify(&Key::root());
                    folder::of_store(&folder, open, place, options)?.ok_or(error)
                }
                opened => contained(opened?, options),
            }
        }
    }
}

/// Opens a path inside an archive. If a single folder contains everything, the path may begin inside it.
fn in_archive(source: SharedSource, inside: &str, options: &Options) -> Result<Box<dyn Container>> {
    let archive = ZipStore::open(Arc::clone(&source)).reading()?;
    if FrameStore::is_in(&archive)? {
        let tree = store::in_archive(archive, options)?;
        let inside = store::inside_of(&tree, inside);
        return store::container(tree, &inside, options);
    }
    if inside.is_empty() && is_npz(&archive) {
        return open_file(source, Format::Npz, &ImportOptions::new(), options);
    }
    // If a single folder contains everything, its name can be left out.
    let (key, only) = (Key::parse(inside).reading()?, archive.only_folder());
    let is_there = !inside.is_empty() && archive.kind(&first_of(&key)).reading()?.is_some();
    let at = if is_there {
        key
    } else {
        key.names()
            .try_fold(only, |at, name| at.join(name))
            .reading()?
    };
    open_below(
        &Below::new(Arc::new(archive), Key::root()),
        at.as_str(),
        options,
    )
}

/// The first name of a key.
fn first_of(key: &Key) -> Key {
    let mut first = key.clone();
    while let Some((above, _)) = first.split().filter(|(above, _)| *above != Key::root()) {
        first = above;
    }
    first
}

/// Whether a frame that may vary in length contains objects of Python.
fn is_objects(source: &SharedSource, options: &Options) -> bool {
    let frame = VaryingFrame::open(Box::new(Arc::clone(source)), options);
    frame.is_ok_and(|frame| FrameStore::is_objects(frame.frame()))
}

/// Opens a path inside a source: an archive, or a frame that is a tree of others.
///
/// ```
/// # testkit::enter_testdata();
/// use bloscpack_open::{Options, open_within};
/// let file = std::fs::File::open("testdata/stores/tree.b2e")?;
/// let array = open_within(file, "a/x", &Options::new())?;
/// assert_eq!(array.outline()?.shape, Some(vec![3]));
/// # Ok::<(), bloscpack::Error>(())
/// ```
///
/// # Errors
/// Returns the errors of [`open_source`], and an error of the category [`Usage`](bloscpack_error::Category::Usage) if the path
/// does not exist or the source has nothing inside.
pub fn open_within(
    source: impl ReadAt + 'static,
    path: &str,
    options: &Options,
) -> Result<Box<dyn Container>> {
    let source: SharedSource = Arc::new(source);
    match super::probe_source(&source).reading()?.family {
        Some(Family::Archive) => in_archive(source, path, options),
        Some(Family::Frame) => store::open_in_frame(source, path, options),
        _ => Err(Error::usage("a file, which has nothing within it").in_part(path)),
    }
}

/// Opens the file or folder at a path of a store, or a path inside such a file.
pub(crate) fn open_below(
    store: &Below,
    path: &str,
    options: &Options,
) -> Result<Box<dyn Container>> {
    let key = Key::parse(path).reading()?;
    let (mut above, mut inside) = (Key::root(), path);
    while let Some(EntryKind::Folder) = store.kind(&above).reading()?
        && !inside.is_empty()
    {
        let (name, rest) = inside.split_once('/').unwrap_or((inside, ""));
        (above, inside) = (above.join(name).reading()?, rest);
    }
    match store.kind(&above).reading()? {
        Some(EntryKind::File) if inside.is_empty() => {
            open_shared(Arc::new(store.open(&key).reading()?), options, Vec::new())
        }
        Some(EntryKind::File) => open_within(store.open(&above).reading()?, inside, options),
        Some(_) => open_store(Below::new(Arc::new(store.clone()), key), options),
        None => Err(nothing_at(path)),
    }
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

/// Whether the file is exactly one Blosc chunk.
fn is_bare_chunk(source: &SharedSource) -> bool {
    let mut header = [0; 16];
    let header = source.read_exact_at(0, &mut header).map(|()| header);
    let chunk = header
        .ok()
        .and_then(|header| blosc1::read_header(&header).ok());
    chunk.is_some_and(|chunk| source.size().ok() == Some(chunk.ctbytes.into()))
}

fn nothing_at(path: &str) -> Error {
    let error = Error::new(Code::NotFound, "there is nothing at this path").in_part(path);
    error.with_hint("blpk ls lists what is within")
}

/// Whether all files at the root of an archive are NumPy arrays.
fn is_npz(archive: &ZipStore) -> bool {
    let entries = archive.list(&Key::root()).unwrap_or_default();
    let mut names = entries.iter().map(|entry| entry.name.to_str());
    !entries.is_empty() && names.all(|name| name.is_some_and(|name| name.ends_with(".npy")))
}
