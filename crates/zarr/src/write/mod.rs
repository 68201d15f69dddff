//! [`ArrayWriter`]: an array that is written.

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
use bloscpack_array::{Region, copy};
use bloscpack_error::checked::{to_u64, zeros};
use bloscpack_error::{Error, IoSide as _, Result};
use bloscpack_storage::parallel;
use bloscpack_storage::{Key, Store};
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::sync::{Arc, Mutex, PoisonError};

/// Writes an array into a folder of a store that can be written to. Chunks are written in any order, by any threads; what is not
/// written is the fill value.
///
/// Nothing is atomic: write into a store that appears under its name when it is complete.
#[derive(Debug)]
pub struct ArrayWriter {
    store: Arc<dyn Store>,
    folder: Key,
    new: NewArray,
    keys: ChunkKeys,
    metadata: Encoded,
    packer: Packer,
    made: Made,
}

impl ArrayWriter {
    /// Begins an array in a folder, which is made if it is not there, and writes its metadata.
    ///
    /// # Errors
    /// Returns [`Code::CannotStore`](bloscpack_error::Code::CannotStore) for a dtype that this version of Zarr does not have, wrong
    /// usage for shapes that do not fit, and any I/O error.
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
        })
    }

    /// The array that is written.
    #[must_use]
    pub fn array(&self) -> &NewArray {
        &self.new
    }

    /// Writes a chunk: all its elements in C order, also those past the end of the array.
    ///
    /// # Errors
    /// Returns wrong usage for another number of bytes, and any I/O error.
    pub fn write_chunk(&self, at: &[u64], data: &[u8]) -> Result<()> {
        self.put(at, &self.encode(data)?)
    }

    /// A chunk of these elements, encoded.
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

    /// Writes the bytes of a chunk that is encoded. In a sharded array, these are those of a shard.
    fn put(&self, at: &[u64], stored: &[u8]) -> Result<()> {
        let key = self.keys.key(&self.folder, at).writing()?;
        if let Some((folder, _)) = key.split() {
            self.made.folder(&*self.store, &folder)?;
        }
        self.made.file(&*self.store, &key, stored)
    }

    /// Waits until everything that was written would survive a power cut.
    ///
    /// # Errors
    /// Returns any I/O error.
    pub fn finish(self) -> Result<ArrayFiles> {
        self.made.sync(&*self.store)?;
        let path = self.folder.as_str().to_owned();
        Ok(ArrayFiles {
            path,
            metadata: self.metadata,
        })
    }
}

/// The facts of an array that its group has to know.
#[derive(Debug, Clone)]
pub struct ArrayFiles {
    path: String,
    metadata: Encoded,
}

/// Makes a group of arrays at the root of a store, with these attributes: the text of a JSON object. The arrays are those below
/// it, which were written; their metadata is in that of the group, too. Each folder between the root and an array becomes a group,
/// with the attributes that `groups` has for its path.
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

/// The files and folders that were made.
#[derive(Debug, Default)]
pub(crate) struct Made {
    folders: Mutex<BTreeSet<Key>>,
    files: Mutex<Vec<Key>>,
}

impl Made {
    /// Makes a folder and those above it.
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

    fn file(&self, store: &dyn Store, key: &Key, bytes: &[u8]) -> Result<()> {
        let created = store.create(key, bytes).writing();
        created.map_err(|error| error.in_file(key.as_str()))?;
        let mut files = self.files.lock().unwrap_or_else(PoisonError::into_inner);
        files.push(key.clone());
        Ok(())
    }

    /// Puts a file in the place of the one that has this key, if there is one: at every moment it is the old or the new one.
    pub(crate) fn replace(&self, store: &dyn Store, key: &Key, bytes: &[u8]) -> Result<()> {
        let bug = || Error::bug("a file without a name");
        let (folder, name) = key.split().ok_or_else(bug)?;
        self.folder(store, &folder)?;
        // As zarr-python names them.
        let part = folder.join(&format!("{name}.partial")).writing()?;
        self.remove(store, &part)?;
        let replaced = store.create_like(&part, key, bytes);
        let replaced = replaced.and_then(|()| store.sync(&part));
        let replaced = replaced.and_then(|()| store.rename(&part, key));
        replaced
            .writing()
            .map_err(|error| error.in_file(key.as_str()))
    }

    /// Removes a file, if there is one.
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

    /// Waits until what was made would survive a power cut.
    pub(crate) fn sync(&self, store: &dyn Store) -> Result<()> {
        let files = std::mem::take(&mut *self.files.lock().unwrap_or_else(PoisonError::into_inner));
        let folders =
            std::mem::take(&mut *self.folders.lock().unwrap_or_else(PoisonError::into_inner));
        let keys: Vec<Key> = files
            .into_iter()
            .chain(folders)
            .chain([Key::root()])
            .collect();
        parallel::for_each(SYNCED, keys.into_iter(), |key| {
            store.sync(&key).map_err(Error::from)
        })
        .map_err(|error| error.on(bloscpack_error::Side::Target))
    }
}

/// Files that are waited for at once, since a disk does several at a time.
const SYNCED: usize = 8;

/// The elements of a chunk at the end of an axis, padded with an element.
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
