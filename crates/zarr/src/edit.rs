//! [`ZarrEditor`]: an array that grows and shrinks.
//!
//! ```text
//!   growing    files of chunks, whole, by renaming ─▶ sync ─▶ the shape in the metadata ─▶ its copies in groups above
//!   shrinking  the shape ─▶ its copies ─▶ files that are outside are removed
//! ```
//!
//! At every moment the metadata has the old or the new shape, and every element within it is there: what is written before the
//! new shape is outside of the old one.

use crate::array::ZarrArray;
use crate::codec::Packer;
use crate::meta::{ArrayMeta, Document, Format};
use crate::read::open_file;
use bloscpack::Options;
use bloscpack_array::Reordered;
use bloscpack_array::{Array, Grid, Region, common, copy, relative};
use bloscpack_error::checked::{in_memory, zeros};
use bloscpack_error::{Error, IoSide as _, Result};
use bloscpack_storage::parallel;
use bloscpack_storage::{Key, Store};
use bloscpack_wire::internal::{Members, with_value};
use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

/// Chunks that are planned at once.
const PLANNED: usize = 1 << 10;
/// Files that are waited for at once, since a disk does several at a time.
const SYNCED: usize = 8;

/// Called with the bytes of each chunk that was written; ends the work with an error.
pub type Written<'a> = dyn FnMut(u64) -> Result<()> + 'a;

/// An array that grows and shrinks in place. Only one process may change an array at a time: Zarr has no locks.
#[derive(Debug)]
pub struct ZarrEditor {
    store: Arc<dyn Store>,
    folder: Key,
    options: Options,
    array: ZarrArray,
    packer: Packer,
    /// The metadata as it was read.
    text: Vec<u8>,
}

impl ZarrEditor {
    /// Opens the array in this folder of a store to change it. The groups above it in the store may have copies of its metadata,
    /// which follow.
    ///
    /// ```
    /// use bloscpack::Options;
    /// use bloscpack_array::Flat;
    /// use bloscpack_dtype::DType;
    /// use bloscpack_storage::{Key, Memory};
    /// use bloscpack_zarr::{ArrayWriter, Format, NewArray, ZarrEditor};
    /// use std::sync::Arc;
    ///
    /// let store = Arc::new(Memory::new());
    /// let new = NewArray::new(Format::V3, DType::U8, &[2], &[3]);
    /// let writer = ArrayWriter::create(store.clone(), Key::root(), new)?;
    /// writer.write_chunk(&[0], &[1, 2, 0])?;
    /// writer.finish()?;
    ///
    /// let mut editor = ZarrEditor::open(store, Key::root(), &Options::new())?;
    /// editor.append(0, &Flat::new(vec![3, 4], DType::U8, &[2], false)?, &mut |_| Ok(()))?;
    /// assert_eq!(editor.array().read_slice(&[0..4])?, [1, 2, 3, 4]);
    /// # Ok::<(), bloscpack_error::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns the errors of [`ZarrArray::open`], and an error for settings of codecs that cannot be written.
    pub fn open(store: Arc<dyn Store>, folder: Key, options: &Options) -> Result<Self> {
        let array = ZarrArray::open(Arc::clone(&store), &folder, options)?;
        let meta = array.meta();
        let text = read(&*store, &folder, name(meta.format))?;
        let itemsize = in_memory(meta.dtype.itemsize())?;
        let fill = meta.fill.clone().unwrap_or_else(|| vec![0; itemsize]);
        let document = Document::parse(&text)?;
        let fields = document.fields();
        let packer = match meta.format {
            Format::V2 => Packer::of_compressor(&meta.codecs, fields.get("compressor"), &fill)?,
            Format::V3 => Packer::of_list(&meta.codecs, fields.list("codecs")?, &fill)?,
        };
        Ok(Self {
            store,
            folder,
            options: options.clone(),
            array,
            packer,
            text,
        })
    }

    /// The array as it is now.
    #[must_use]
    pub fn array(&self) -> &ZarrArray {
        &self.array
    }

    /// Appends the elements of an array along an axis. Along the others, it has to be as long as this one.
    ///
    /// # Errors
    /// Returns wrong usage for another shape or another type of elements; the errors of the source, of damage to the chunks at the
    /// old end, and of writing. The array is as before, then.
    pub fn append(
        &mut self,
        axis: usize,
        source: &dyn Array,
        written: &mut Written<'_>,
    ) -> Result<()> {
        let grid = Array::grid(&self.array);
        grid.check_joins(source.grid().shape(), axis)?;
        let source = Reordered::new(source, self.array.dtype().clone())?;
        let mut shape = grid.shape().to_vec();
        let begin = shape.get(axis).copied().unwrap_or(0);
        let more = source.grid().shape().get(axis).copied().unwrap_or(0);
        if let Some(len) = shape.get_mut(axis) {
            let too_long = || Error::usage("an array of more than 2^64 elements along an axis");
            *len = begin.checked_add(more).ok_or_else(too_long)?;
        }
        let text = self.reshaped(&shape)?;
        let mut new = Region::all(&shape).ranges;
        if let Some(range) = new.get_mut(axis) {
            range.start = begin;
        }
        let mut origin = vec![0; shape.len()];
        if let Some(at) = origin.get_mut(axis) {
            *at = begin;
        }
        let source = Added {
            array: &source,
            place: &new,
            origin: &origin,
        };
        self.write_region(&shape, &new, Some(&source), written)?;
        self.commit(text)
    }

    /// Gives the array another shape. What is new is the fill value; what is cut off is removed.
    ///
    /// # Errors
    /// Returns wrong usage for another number of axes; the errors of [`append`](Self::append).
    pub fn resize(&mut self, shape: &[u64], written: &mut Written<'_>) -> Result<()> {
        let old = self.array.shape().to_vec();
        if old.len() != shape.len() {
            let (found, expected) = (shape.len(), old.len());
            return Err(Error::usage(format!(
                "a shape of {found} axes for an array of {expected}"
            )));
        }
        let least: Vec<u64> = old
            .iter()
            .zip(shape)
            .map(|(old, new)| *old.min(new))
            .collect();
        if least != old {
            self.commit(self.reshaped(&least)?)?;
            self.remove_outside(&old)?;
        }
        if least == *shape {
            return Ok(());
        }
        let text = self.reshaped(shape)?;
        // Whoever cut the array off may have left elements in the chunks at the end of an axis.
        for (axis, (old, new)) in least.iter().zip(shape).enumerate() {
            let mut last = Region::all(&least).ranges;
            if let Some(range) = last.get_mut(axis).filter(|_| old < new) {
                range.start = old.saturating_sub(1);
                self.write_region(shape, &last, None, written)?;
            }
        }
        self.commit(text)
    }

    /// Writes the files of chunks that have elements of this region. Without a source, those that do not exist stay so.
    fn write_region(
        &self,
        shape: &[u64],
        region: &[Range<u64>],
        source: Option<&Added<'_>>,
        written: &mut Written<'_>,
    ) -> Result<()> {
        let files = Grid::new(shape.to_vec(), self.array.chunk_shape().to_vec());
        let changed = Changed::default();
        let bytes = Region::all(files.chunk_shape()).bytes(self.array.dtype().itemsize());
        let mut all = files.positions(region);
        loop {
            let some: Vec<Vec<u64>> = all.by_ref().take(PLANNED).collect();
            if some.is_empty() {
                break;
            }
            let write = |at: Vec<u64>| self.write_file(&files, &at, source, &changed);
            parallel::map_in_order(self.options.workers(), some.into_iter(), write, |()| {
                written(bytes)
            })?;
        }
        changed.sync(&*self.store)
    }

    fn write_file(
        &self,
        files: &Grid,
        at: &[u64],
        source: Option<&Added<'_>>,
        changed: &Changed,
    ) -> Result<()> {
        let key = self.array.meta().keys.key(&self.folder, at).writing()?;
        if source.is_none() && self.store.kind(&key).reading()?.is_none() {
            return Ok(());
        }
        let itemsize = self.array.dtype().itemsize();
        let origin = files.origin(at);
        let lens = origin.iter().zip(files.chunk_shape());
        let chunk = Region {
            ranges: lens
                .map(|(begin, len)| *begin..begin.saturating_add(*len))
                .collect(),
        };
        let mut data = zeros(chunk.bytes(itemsize))?;
        if let Some(fill) = self
            .array
            .meta()
            .fill
            .as_deref()
            .filter(|fill| !fill.is_empty())
        {
            data.chunks_exact_mut(fill.len())
                .for_each(|to| to.copy_from_slice(fill));
        }
        let old = common(&chunk, &Region::all(self.array.shape()));
        let mut put = |part: &Region, elements: &[u8]| {
            copy(part, (part, elements), (&chunk, &mut data), itemsize)
        };
        if has_elements(&old) {
            put(&old, &self.array.read_slice(&old)?)?;
        }
        if let Some(source) = source {
            let new = common(&chunk, source.place);
            if has_elements(&new) {
                let there = relative(&new, source.origin);
                put(&new, &source.array.read_slice(&there)?)?;
            }
        }
        let stored = self.packer.pack(data, files.chunk_shape())?;
        changed.put(&*self.store, &key, &stored)
    }

    /// Removes the files of chunks that are outside of the array, which had this shape.
    fn remove_outside(&self, old: &[u64]) -> Result<()> {
        let files = Grid::new(old.to_vec(), self.array.chunk_shape().to_vec());
        let shape = self.array.shape();
        for (axis, (len, chunk)) in shape.iter().zip(self.array.chunk_shape()).enumerate() {
            let mut outside = Region::all(old).ranges;
            if let Some(range) = outside.get_mut(axis) {
                range.start = len.next_multiple_of((*chunk).max(1));
            }
            for at in files.positions(&outside) {
                let key = self.array.meta().keys.key(&self.folder, &at).writing()?;
                match self.store.remove(&key) {
                    Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                        return Err(Error::from(error).in_file(key.as_str()));
                    }
                    _ => {}
                }
            }
        }
        Ok(())
    }

    /// The metadata with another shape, which was checked.
    fn reshaped(&self, shape: &[u64]) -> Result<String> {
        let text = std::str::from_utf8(&self.text).map_err(|_| Error::bug("text that was read"))?;
        let text = replaced(text, &["shape"], &json(shape));
        let text = text.ok_or_else(|| Error::bug("metadata without a shape"))?;
        match self.array.format() {
            Format::V2 => ArrayMeta::parse_v2(text.as_bytes(), None, &self.options.limits)?,
            Format::V3 => ArrayMeta::parse_v3(text.as_bytes(), &self.options.limits)?,
        };
        Ok(text)
    }

    /// Puts the metadata in its place, and copies of the shape into those of the groups above.
    fn commit(&mut self, text: String) -> Result<()> {
        let file = name(self.array.format());
        if read(&*self.store, &self.folder, file)? != self.text {
            return Err(Error::usage(
                "the array was changed by another program meanwhile",
            ));
        }
        let changed = Changed::default();
        changed.put(
            &*self.store,
            &self.folder.join(file).writing()?,
            text.as_bytes(),
        )?;
        changed.sync(&*self.store)?;
        self.text = text.into_bytes();
        self.array = ZarrArray::open(Arc::clone(&self.store), &self.folder, &self.options)?;
        let shape = json(self.array.shape());
        let mut group = self.folder.clone();
        let mut path = String::new();
        while let Some((above, own)) = group.split() {
            path = match path.as_str() {
                "" => own.to_owned(),
                below => format!("{own}/{below}"),
            };
            let of_array = match self.array.format() {
                Format::V2 => format!("{path}/.zarray"),
                Format::V3 => path.clone(),
            };
            let (file, place) = match self.array.format() {
                Format::V2 => (".zmetadata", vec!["metadata", &of_array, "shape"]),
                Format::V3 => (
                    "zarr.json",
                    vec!["consolidated_metadata", "metadata", &of_array, "shape"],
                ),
            };
            let key = above.join(file).writing()?;
            if self.store.kind(&key).reading()?.is_some() {
                let text = read(&*self.store, &above, file)?;
                let text = std::str::from_utf8(&text).unwrap_or_default();
                if let Some(text) = replaced(text, &place, &shape) {
                    changed.put(&*self.store, &key, text.as_bytes())?;
                }
            }
            group = above;
        }
        changed.sync(&*self.store)
    }
}

/// An array that is added, and its place in the one that grows.
struct Added<'a> {
    array: &'a dyn Array,
    place: &'a [Range<u64>],
    /// The element of the array that grows at which the first of this one comes to be.
    origin: &'a [u64],
}

fn has_elements(region: &Region) -> bool {
    region.ranges.iter().all(|range| !range.is_empty())
}

/// The name of the file with the metadata of an array.
const fn name(format: Format) -> &'static str {
    match format {
        Format::V2 => ".zarray",
        Format::V3 => "zarr.json",
    }
}

fn read(store: &dyn Store, folder: &Key, name: &str) -> Result<Vec<u8>> {
    let key = folder.join(name).reading()?;
    let missing = || Error::from(std::io::Error::from(std::io::ErrorKind::NotFound));
    let file = open_file(store, &key)?.ok_or_else(missing)?;
    let size = file.size().reading()?;
    let bytes = file.read_bytes(0, in_memory(size)?).reading()?;
    Ok(bytes.to_vec())
}

/// The text of an object with another value in the object to which these names lead; `None` if there is none.
fn replaced(text: &str, path: &[&str], value: &str) -> Option<String> {
    match path {
        [] => None,
        [key] => with_value(text, key, value),
        [key, rest @ ..] => {
            let member = Members::of(text).filter(|member| member.is(key)).last()?;
            with_value(text, key, &replaced(member.text, rest, value)?)
        }
    }
}

fn json(shape: &[u64]) -> String {
    serde_json::Value::from(shape).to_string()
}

/// Files that were replaced, and the folders that they are in.
#[derive(Default)]
struct Changed(Mutex<BTreeSet<Key>>);

impl Changed {
    /// Puts a file in the place of the one that has this key, if there is one.
    fn put(&self, store: &dyn Store, key: &Key, bytes: &[u8]) -> Result<()> {
        let put = || -> std::io::Result<()> {
            let Some((folder, name)) = key.split() else {
                return Err(std::io::ErrorKind::InvalidInput.into());
            };
            let mut above = vec![Key::root()];
            let mut made = Key::root();
            for name in folder.names() {
                made = made.join(name)?;
                store.make_folder(&made)?;
                above.push(made.clone());
            }
            // Zarr's own stores leave such files behind as well.
            let part = folder.join(&format!("{name}.partial"))?;
            match store.remove(&part) {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
            store.create_like(&part, key, bytes)?;
            store.sync(&part)?;
            store.rename(&part, key)?;
            let mut changed = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            // A folder that is new has a name in the one above it.
            changed.extend(above);
            Ok(())
        };
        put()
            .map_err(|error| Error::from(error).in_file(key.as_str()))
            .map_err(|error| error.on(bloscpack_error::Side::Target))
    }

    /// Waits until the files would survive a power cut.
    fn sync(&self, store: &dyn Store) -> Result<()> {
        let changed = std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner));
        let keys: Vec<Key> = changed.into_iter().collect();
        parallel::for_each(SYNCED, keys.into_iter(), |key| {
            store.sync(&key).map_err(Error::from)
        })
        .map_err(|error| error.on(bloscpack_error::Side::Target))
    }
}
