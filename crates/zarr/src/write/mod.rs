//! [`ArrayWriter`]: writes an array.
//!
//! ```text
//!  NewArray ─> ArrayWriter::create: folder, metadata ─> write_chunk, fill_from, RowWriter: chunk files ─> finish: sync
//!                                                                                                     ─> create_group
//! ```

mod copy;
mod new;
mod rows;

pub use copy::ChunkCounts;
pub use new::NewArray;
pub use rows::RowWriter;

use crate::codec::Packer;
use crate::int::byte_len;
use crate::keys::ChunkKeys;
use crate::meta::{Encoded, Format, encode_array, encode_group, plain_group};
use bloscpack_array::{Place, Region, copy};
use bloscpack_error::checked::{to_u64, zeros};
use bloscpack_error::{Error, IoSide as _, Result};
use bloscpack_storage::parallel;
use bloscpack_storage::{Key, Store};
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::sync::{Arc, Mutex, PoisonError};

/// Writes a new array into a folder of a store.
///
/// Chunks may be written in any order and by several threads; chunks that are not written have the fill value. The names of
/// chunk files are `0.1` in version 2 and `c/0/1` in version 3.
///
/// Nothing is atomic: write into a store that appears under its name when it is complete.
///
/// ```
/// use bloscpack::Options;
/// use bloscpack_array::Flat;
/// use bloscpack_dtype::DType;
/// use bloscpack_storage::{Key, Memory};
/// use bloscpack_zarr::{ArrayWriter, Format, NewArray, ZarrArray};
/// use std::sync::Arc;
///
/// let store = Arc::new(Memory::new());
/// let mut new = NewArray::new(Format::V3, DType::U8, &[2, 3], &[2, 2]);
/// new.dimension_names = Some(vec!["y".to_owned(), "x".to_owned()]);
/// let writer = ArrayWriter::create(store.clone(), Key::root(), new)?;
/// let source = Flat::new(vec![1, 2, 3, 4, 5, 6], DType::U8, &[2, 3], false)?;
/// let counts = writer.fill_from(&source, false, 1, &mut |_| Ok(()))?;
/// writer.finish()?;
/// assert_eq!((counts.taken, counts.compressed), (0, 2));
///
/// let array = ZarrArray::open(store, &Key::root(), &Options::new())?;
/// assert_eq!(array.read_slice(&[0..2, 1..3])?, [2, 3, 5, 6]);
/// # Ok::<(), bloscpack_error::Error>(())
/// ```
#[derive(Debug)]
pub struct ArrayWriter {
    store: Arc<dyn Store>,
    folder: Key,
    new: NewArray,
    keys: ChunkKeys,
    metadata: Encoded,
    packer: Packer,
    made: Made,
    /// The chunks that stay where they are, by key; `None` if all are written.
    places: Option<Mutex<BTreeMap<String, Place>>>,
}

impl ArrayWriter {
    /// Creates the folder, unless it exists, and writes the metadata.
    ///
    /// # Errors
    /// Returns [`Code::CannotStore`](bloscpack_error::Code::CannotStore) for a dtype that this version of Zarr does not have,
    /// [`Code::Usage`](bloscpack_error::Code::Usage) for shapes or a fill value that do not fit, and any I/O error, such as one
    /// of the kind [`AlreadyExists`](io::ErrorKind::AlreadyExists) for a folder with an array.
    pub fn create(store: Arc<dyn Store>, folder: Key, new: NewArray) -> Result<Self> {
        new.check()?;
        let metadata = encode_array(&new)?;
        let order = new.fortran.then(|| (0..new.shape.len()).rev().collect());
        let packer = Packer::of_blosc(new.settings, order, new.fill_bytes()?);
        let made = Made::default();
        made.folder(&*store, &folder)?;
        for (name, text) in &metadata {
            made.file(&*store, &folder.join(name).writing()?, text.as_bytes())?;
        }
        Ok(Self {
            keys: match new.format {
                Format::V2 => ChunkKeys::new(false, '.'),
                Format::V3 => ChunkKeys::new(true, '/'),
            },
            store,
            folder,
            new,
            metadata,
            packer,
            made,
            places: None,
        })
    }

    /// Lets [`fill_from`](Self::fill_from) leave chunks where they are: [`ArrayFiles::places`] then says where readers find them.
    #[must_use]
    pub fn by_reference(self) -> Self {
        Self {
            places: Some(Mutex::default()),
            ..self
        }
    }

    /// The description of the array.
    #[must_use]
    pub fn array(&self) -> &NewArray {
        &self.new
    }

    /// Compresses and writes a chunk: `data` is all of its elements in C order, including those past the end of the array. `at`
    /// is the number of the chunk along each axis; it is not compared with the shape.
    ///
    /// Write each chunk once. Not for sharded arrays: use [`fill_from`](Self::fill_from) or [`RowWriter`].
    ///
    /// # Errors
    /// Returns [`Code::Usage`](bloscpack_error::Code::Usage) for another number of bytes than a chunk has, and any I/O error.
    pub fn write_chunk(&self, at: &[u64], data: &[u8]) -> Result<()> {
        self.put(at, &self.encode(data)?)
    }

    /// Encodes the elements of a chunk.
    fn encode(&self, data: &[u8]) -> Result<Vec<u8>> {
        let expected = byte_len(&self.new.chunk_shape, self.new.dtype.itemsize());
        if Some(to_u64(data.len())) != expected {
            let found = data.len();
            return Err(Error::usage(format!(
                "a chunk of {found} bytes, expected {expected:?}"
            )));
        }
        self.packer.pack(data, &self.new.chunk_shape)
    }

    /// Writes the encoded bytes of a chunk, or in a sharded array of a shard.
    fn put(&self, at: &[u64], stored: &[u8]) -> Result<()> {
        let key = self.keys.key(&self.folder, at).writing()?;
        if let Some((folder, _)) = key.split() {
            self.made.folder(&*self.store, &folder)?;
        }
        self.made.file(&*self.store, &key, stored)
    }

    /// Syncs everything that was written. Returns what [`create_group`] needs to know about the array.
    ///
    /// # Errors
    /// Returns any I/O error.
    pub fn finish(self) -> Result<ArrayFiles> {
        self.made.sync(&*self.store)?;
        let path = self.folder.as_str().to_owned();
        let places = self.places.unwrap_or_default();
        Ok(ArrayFiles {
            path,
            metadata: self.metadata,
            places: places.into_inner().unwrap_or_else(PoisonError::into_inner),
        })
    }
}

/// An array that was written: what its group needs to know.
#[derive(Debug, Clone)]
pub struct ArrayFiles {
    path: String,
    metadata: Encoded,
    places: BTreeMap<String, Place>,
}

impl ArrayFiles {
    /// The chunks that were not written, by key: they stay in the source ([`ArrayWriter::by_reference`]).
    #[must_use]
    pub fn places(&self) -> &BTreeMap<String, Place> {
        &self.places
    }
}

/// Writes the metadata of a group at the root of a store, and syncs it.
///
/// `attributes` is the text of a JSON object. `arrays` are all arrays below the root; the group gets copies of their metadata
/// (consolidated metadata). Each folder between the root and an array becomes a group as well, with the attributes that
/// `groups` has for its path, or none.
///
/// # Errors
/// Returns any I/O error.
pub fn create_group(
    store: &dyn Store,
    format: Format,
    attributes: &str,
    arrays: &[ArrayFiles],
    groups: &BTreeMap<String, String>,
) -> Result<()> {
    let made = Made::default();
    let mut folders: BTreeSet<&str> = groups.keys().map(String::as_str).collect();
    for array in arrays {
        let mut path = array.path.as_str();
        while let Some((folder, _)) = path.rsplit_once('/') {
            folders.insert(folder);
            path = folder;
        }
    }
    let mut members = Vec::new();
    for path in folders {
        let attributes = groups.get(path).map_or("{}", String::as_str);
        let metadata = plain_group(format, attributes)?;
        let folder = Key::parse(path).writing()?;
        made.folder(store, &folder)?;
        for (name, text) in &metadata {
            made.file(store, &folder.join(name).writing()?, text.as_bytes())?;
        }
        members.push((path.to_owned(), metadata));
    }
    let arrays = arrays.iter();
    members.extend(arrays.map(|array| (array.path.clone(), array.metadata.clone())));
    for (name, text) in encode_group(format, attributes, &members)? {
        made.file(store, &Key::root().join(name).writing()?, text.as_bytes())?;
    }
    made.sync(store)
}

/// The files and folders that were made or changed, and must be synced.
#[derive(Debug, Default)]
pub(crate) struct Made {
    folders: Mutex<BTreeSet<Key>>,
    unsynced: Mutex<Unsynced>,
}

/// The files that were not synced yet, and how many bytes they have.
#[derive(Debug, Default)]
struct Unsynced {
    files: Vec<Key>,
    bytes: usize,
}

impl Made {
    /// Creates a folder and all folders above it, unless this did so before.
    pub(crate) fn folder(&self, store: &dyn Store, folder: &Key) -> Result<()> {
        let mut folders = self.folders.lock().unwrap_or_else(PoisonError::into_inner);
        if *folder == Key::root() || folders.contains(folder) {
            return Ok(());
        }
        let mut key = Key::root();
        for name in folder.names() {
            key = key.join(name).writing()?;
            if folders.insert(key.clone()) {
                let made = store.make_folder(&key).writing();
                made.map_err(|error| error.in_file(key.as_str()))?;
            }
        }
        Ok(())
    }

    /// Creates a file. An existing one is an error. Now and then, this syncs what was made, while other threads write.
    fn file(&self, store: &dyn Store, key: &Key, bytes: &[u8]) -> Result<()> {
        let created = store.create(key, bytes).writing();
        created.map_err(|error| error.in_file(key.as_str()))?;
        let mut unsynced = self.unsynced.lock().unwrap_or_else(PoisonError::into_inner);
        unsynced.files.push(key.clone());
        unsynced.bytes += bytes.len();
        if unsynced.bytes < SYNCED_AFTER {
            return Ok(());
        }
        let due = std::mem::take(&mut *unsynced);
        drop(unsynced);
        sync(store, due.files)
    }

    /// Replaces a file, or creates it, atomically: writes and syncs a new file, then renames it.
    pub(crate) fn replace(&self, store: &dyn Store, key: &Key, bytes: &[u8]) -> Result<()> {
        let bug = || Error::bug("a file without a name");
        let (folder, name) = key.split().ok_or_else(bug)?;
        self.folder(store, &folder)?;
        // The name that zarr-python uses.
        let part = folder.join(&format!("{name}.partial")).writing()?;
        self.remove(store, &part)?;
        let replaced = store.create_like(&part, key, bytes);
        let replaced = replaced.and_then(|()| store.sync(&part));
        let replaced = replaced.and_then(|()| store.rename(&part, key));
        replaced
            .writing()
            .map_err(|error| error.in_file(key.as_str()))
    }

    /// Removes a file, if it exists.
    pub(crate) fn remove(&self, store: &dyn Store, key: &Key) -> Result<()> {
        if let Some((folder, _)) = key.split() {
            self.folder(store, &folder)?;
        }
        match store.remove(key) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            removed => removed
                .writing()
                .map_err(|error| error.in_file(key.as_str())),
        }
    }

    /// Syncs everything that was made: it then survives a power cut.
    pub(crate) fn sync(&self, store: &dyn Store) -> Result<()> {
        let mut unsynced = self.unsynced.lock().unwrap_or_else(PoisonError::into_inner);
        let files = std::mem::take(&mut *unsynced).files;
        drop(unsynced);
        let folders =
            std::mem::take(&mut *self.folders.lock().unwrap_or_else(PoisonError::into_inner));
        let keys = files.into_iter().chain(folders).chain([Key::root()]);
        sync(store, keys.collect())
    }
}

/// Files that are synced at once: disks handle several at a time.
const SYNCED: usize = 8;
/// Bytes after which a thread syncs them while others write, so that the disk does not wait for the last file.
const SYNCED_AFTER: usize = 64 << 20;

fn sync(store: &dyn Store, keys: Vec<Key>) -> Result<()> {
    let sync = |key| store.sync(&key).map_err(Error::from);
    parallel::for_each(SYNCED, keys.into_iter(), sync)
        .map_err(|error| error.on(bloscpack_error::Side::Target))
}

/// The elements of a chunk at the end of an axis, padded to the chunk shape with the element `fill`.
pub(crate) fn padded(data: Vec<u8>, lens: &[u64], chunk: &[u64], fill: &[u8]) -> Result<Vec<u8>> {
    if lens == chunk {
        return Ok(data);
    }
    let (part, whole) = (Region::all(lens), Region::all(chunk));
    let itemsize = to_u64(fill.len());
    let mut out = zeros(whole.bytes(itemsize))?;
    if fill.iter().any(|byte| *byte != 0) {
        out.chunks_exact_mut(fill.len())
            .for_each(|to| to.copy_from_slice(fill));
    }
    copy(&part, (&part, &data), (&whole, &mut out), itemsize)?;
    Ok(out)
}
