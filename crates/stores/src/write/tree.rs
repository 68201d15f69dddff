//! Writes trees of frames into a directory, and copies stores.

use super::meta::{layer, write_attributes};
use crate::error::over_limit;
use crate::{ATTRIBUTES, EMBED_FILE, MAX_DEPTH, split_ending};
use bloscpack_array::msgpack::Value;
use bloscpack_error::{Error, IoSide as _, Result};
use bloscpack_frames::{Frame, seal};
use bloscpack_storage::internal::sync_file;
use bloscpack_storage::{EntryKind, Key, Store};
use std::fs::{self, File};
use std::io;
use std::path::Path;

/// The chunk size of the frame of embedded values. python-blosc2 uses the same.
const CHUNK: u32 = 8192;
/// Bytes that are copied at once.
const STEP: u64 = 1 << 20;

/// Creates an empty tree in an existing directory: writes `embed.b2e`. Each array in a file that ends in `.b2nd`, in the
/// directory or in a folder below it, is then part of the tree.
///
/// ```
/// use bloscpack_stores::{FrameStore, create_tree, seal_store};
/// use bloscpack::Options;
/// use bloscpack_frames::NdArray;
/// use bloscpack_storage::DiskStore;
/// use std::sync::Arc;
///
/// let temp = tempfile::tempdir()?;
/// create_tree(temp.path())?;
/// NdArray::of_type::<i32>(&[10]).create(temp.path().join("x.b2nd"))?;
/// seal_store(temp.path())?;
/// let store = Arc::new(DiskStore::open(temp.path())?);
/// let tree = FrameStore::open(store, Options::new())?;
/// assert_eq!(tree.members().map(|(path, _)| path).collect::<Vec<_>>(), ["x"]);
/// # Ok::<(), bloscpack_error::Error>(())
/// ```
///
/// # Errors
/// Returns any I/O error, such as one of the kind [`AlreadyExists`](io::ErrorKind::AlreadyExists) if the directory is a store
/// already.
pub fn create_tree(folder: &Path) -> Result<()> {
    let map = |pairs: &[(&str, Value)]| {
        let pairs = pairs.iter().cloned();
        layer(&Value::Map(
            pairs
                .map(|(key, value)| (Value::Text(key.to_owned()), value))
                .collect(),
        ))
    };
    let places = [
        ("embed_map", Value::Map(Vec::new())),
        ("current_offset", Value::Int(0)),
    ];
    let frame = Frame::builder(1, CHUNK)
        .metalayer("b2tree", map(&[("version", Value::Int(1))])?)?
        .vlmetalayer("estore_metadata", &map(&places)?)?;
    frame.create(folder.join(EMBED_FILE)).map(drop)
}

/// Writes the user's attributes of a folder of a tree, which python-blosc2 shows as `TreeStore.vlmeta`.
///
/// ```
/// use bloscpack::Options;
/// use bloscpack_array::msgpack::Value;
/// use bloscpack_storage::DiskStore;
/// use bloscpack_stores::{FrameStore, create_tree, set_attributes};
/// use std::sync::Arc;
///
/// let temp = tempfile::tempdir()?;
/// create_tree(temp.path())?;
/// let attributes = [("title".to_owned(), Value::Text("day".to_owned()))];
/// set_attributes(temp.path(), &attributes)?;
/// let tree = FrameStore::open(Arc::new(DiskStore::open(temp.path())?), Options::new())?;
/// assert_eq!(tree.attributes("")?, attributes);
/// # Ok::<(), bloscpack_error::Error>(())
/// ```
///
/// # Errors
/// Returns any I/O error, such as one of the kind [`AlreadyExists`](io::ErrorKind::AlreadyExists) if the folder has attributes,
/// and an error for a name that a metalayer cannot have.
pub fn set_attributes(folder: &Path, attributes: &[(String, Value)]) -> Result<()> {
    write_attributes(folder, ATTRIBUTES, attributes)
}

/// Writes a fingerprint into every frame in the directory of a store, and syncs all of it.
/// [`verify`](crate::FrameStore::verify) then detects every changed bit.
///
/// Frames that have a fingerprint get a new one. Changes the files in place: call it before others can open the store.
///
/// # Errors
/// Returns any I/O error, [`Code::OverLimit`](bloscpack_error::Code::OverLimit) for more than 64 nested folders, and an error
/// for a file with the extension of a frame that is none.
pub fn seal_store(folder: &Path) -> Result<()> {
    seal_folder(folder, 0)
}

/// Seals the frames in a folder and below it, and syncs the folder.
fn seal_folder(folder: &Path, depth: usize) -> Result<()> {
    if depth > MAX_DEPTH {
        return Err(too_deep(folder));
    }
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let (path, kind) = (entry.path(), entry.file_type()?);
        let name = entry.file_name();
        let name = name.to_str().unwrap_or_default();
        if kind.is_dir() {
            seal_folder(&path, depth + 1)?;
        } else if kind.is_file() && (name == EMBED_FILE || split_ending(name).is_some()) {
            seal(&path).map_err(|error| error.in_file(&path))?;
        }
    }
    sync(folder)
}

/// Syncs the names in a folder, where the system can.
fn sync(folder: &Path) -> Result<()> {
    #[cfg(unix)]
    sync_file(&File::open(folder)?)?;
    #[cfg(not(unix))]
    let _ = folder;
    Ok(())
}

/// The error for too many nested folders.
fn too_deep(folder: impl AsRef<Path>) -> Error {
    let what = format!("more than {MAX_DEPTH} folders within each other");
    over_limit(folder.as_ref().display(), what)
}

/// Copies the files of a store, such as an archive, into an empty directory, and syncs each file. Links, and names that no key
/// can have, are left out.
///
/// ```
/// use bloscpack_storage::Memory;
/// use bloscpack_stores::unpack_store;
///
/// let store = Memory::from([("dir/x.b2nd", b"any bytes".to_vec())]);
/// let temp = tempfile::tempdir()?;
/// unpack_store(&store, temp.path())?;
/// assert_eq!(std::fs::read(temp.path().join("dir/x.b2nd"))?, b"any bytes");
/// # Ok::<(), bloscpack_error::Error>(())
/// ```
///
/// # Errors
/// Returns any error of the store, [`Code::OverLimit`](bloscpack_error::Code::OverLimit) for more than 64 nested folders, and
/// any I/O error.
pub fn unpack_store(store: &dyn Store, to: &Path) -> Result<()> {
    unpack(store, &Key::root(), to, 0)
}

/// Copies a folder of a store.
fn unpack(store: &dyn Store, folder: &Key, to: &Path, depth: usize) -> Result<()> {
    if depth > MAX_DEPTH {
        return Err(too_deep(folder.as_str()));
    }
    for entry in store.list(folder).reading()? {
        let Some(key) = entry.name.to_str().and_then(|name| folder.join(name).ok()) else {
            continue;
        };
        let path = to.join(&entry.name);
        match entry.kind {
            EntryKind::Folder => {
                fs::create_dir(&path).writing()?;
                unpack(store, &key, &path, depth + 1)?;
            }
            EntryKind::File => copy(store, &key, &path)?,
            EntryKind::Other => {}
        }
    }
    Ok(())
}

/// Copies a file of a store, 1 MiB at a time, and syncs the copy.
fn copy(store: &dyn Store, key: &Key, path: &Path) -> Result<()> {
    let from = store.open(key).reading()?;
    let mut to = File::create_new(path).writing()?;
    let (len, mut at, mut buffer) = (from.size().reading()?, 0, Vec::new());
    while at < len {
        let step = STEP.min(len - at);
        buffer.resize(bloscpack_error::checked::in_memory(step)?, 0);
        from.read_exact_at(at, &mut buffer).reading()?;
        io::Write::write_all(&mut to, &buffer).writing()?;
        at += step;
    }
    sync_file(&to).writing()
}
