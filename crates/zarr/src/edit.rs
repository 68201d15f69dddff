//! [`ZarrEditor`]: changes the shape of an array.
//!
//! ```text
//!   files of chunks, whole, by renaming ─▶ sync ─▶ the shape in the metadata ─▶ its copies in groups above ─▶ remove files outside
//! ```
//!
//! At every moment the metadata has the old or the new shape, and every element within that shape is intact: before the shape
//! changes, only elements outside of the old shape change; after that, only elements outside of the new one.

use crate::array::ZarrArray;
use crate::codec::Packer;
use crate::group::Files;
use crate::meta::{ArrayMeta, Document, Format};
use crate::verify::Found;
use crate::write::Made;
use bloscpack::Options;
use bloscpack_array::{Array, Grid, Region, Reordered, common, copy, relative};
use bloscpack_error::checked::in_memory;
use bloscpack_error::{Error, IoSide as _, Result};
use bloscpack_storage::{Key, Store, parallel};
use bloscpack_wire::internal::{Members, with_value};
use std::sync::Arc;

/// Chunk files that are planned at once.
const PLANNED: usize = 1 << 10;

/// Called with the uncompressed bytes of each chunk file that was handled, for progress. An error from it ends the work.
pub type Written<'a> = dyn FnMut(u64) -> Result<()> + 'a;

/// Changes the shape of an array in place: appends elements, or resizes it.
///
/// New chunks are encoded with the codecs and settings in the metadata, in the layout of their writer. Each chunk file is
/// replaced as a whole, by renaming. After a crash, the array has the old or the new shape, and files ending in `.partial` may
/// remain.
///
/// Only one process may change an array at a time: Zarr has no locks.
#[derive(Debug)]
pub struct ZarrEditor {
    store: Arc<dyn Store>,
    folder: Key,
    options: Options,
    array: ZarrArray,
    packer: Packer,
    /// The metadata file as it was read. Before it is replaced, it is compared with the current one.
    text: Vec<u8>,
}

impl ZarrEditor {
    /// Opens the array in a folder of a store for changing. Changes also update the shape in the consolidated metadata of the
    /// groups above it in the store.
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
    /// Returns the errors of [`ZarrArray::open`], [`Code::Metadata`](bloscpack_error::Code::Metadata) for codec settings that
    /// are not possible, and [`Code::Unsupported`](bloscpack_error::Code::Unsupported) for a compressor of Blosc that this
    /// crate does not have.
    pub fn open(store: Arc<dyn Store>, folder: Key, options: &Options) -> Result<Self> {
        let array = ZarrArray::open(Arc::clone(&store), &folder, options)?;
        let meta = array.meta();
        let text = read(&store, &folder, name(meta.format), options)?.unwrap_or_default();
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

    /// The array with its current shape.
    #[must_use]
    pub fn array(&self) -> &ZarrArray {
        &self.array
    }

    /// Appends the elements of an array along an axis. The other axes must have the same lengths, and the dtypes may differ
    /// only in their byte order.
    ///
    /// Chunk files at the old end are read and rewritten. Files are encoded on the threads of the options.
    ///
    /// # Errors
    /// Returns [`Code::Usage`](bloscpack_error::Code::Usage) for another shape or another type of elements, and if another
    /// program has changed the metadata meanwhile. Returns the errors of the source, of `written` and of writing, and any
    /// damage to the chunks at the old end. The array then has the old or the new shape.
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
        let (text, _) = self.reshaped(&shape)?;
        let mut place = Region::all(&shape).ranges;
        if let Some(range) = place.get_mut(axis) {
            range.start = begin;
        }
        let mut origin = vec![0; shape.len()];
        if let Some(at) = origin.get_mut(axis) {
            *at = begin;
        }
        let files = Grid::new(shape, self.array.chunk_shape().to_vec());
        let made = Made::default();
        let bytes = Region::all(files.chunk_shape()).bytes(self.array.dtype().itemsize());
        let mut all = files.positions(&place);
        let write = |at: Vec<u64>| {
            let chunk = self.box_of(&at);
            let new = common(&chunk, &place);
            let elements = source.read_slice(&relative(&new, &origin))?;
            self.write_file(&at, Some((&new, &elements)), &made)
        };
        loop {
            let some: Vec<Vec<u64>> = all.by_ref().take(PLANNED).collect();
            if some.is_empty() {
                break;
            }
            let threads = self.options.workers();
            parallel::map_in_order(threads, some.into_iter(), write, |()| written(bytes))?;
        }
        self.commit(text, &made)
    }

    /// Changes the shape. New elements have the fill value, even in chunk files that still hold elements from before the array
    /// was last shortened. Files outside of the new shape are removed.
    ///
    /// ```
    /// use bloscpack::Options;
    /// use bloscpack_dtype::DType;
    /// use bloscpack_storage::{Key, Memory};
    /// use bloscpack_zarr::{ArrayWriter, Format, NewArray, ZarrEditor};
    /// use std::sync::Arc;
    ///
    /// let store = Arc::new(Memory::new());
    /// let mut new = NewArray::new(Format::V2, DType::U8, &[3], &[2]);
    /// new.fill = Some(vec![9]);
    /// let writer = ArrayWriter::create(store.clone(), Key::root(), new)?;
    /// writer.write_chunk(&[0], &[1, 2])?;
    /// writer.finish()?;
    ///
    /// let mut editor = ZarrEditor::open(store, Key::root(), &Options::new())?;
    /// editor.resize(&[1], &mut |_| Ok(()))?;
    /// editor.resize(&[4], &mut |_| Ok(()))?;
    /// assert_eq!(editor.array().read_slice(&[0..4])?, [1, 9, 9, 9]);
    /// # Ok::<(), bloscpack_error::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns [`Code::Usage`](bloscpack_error::Code::Usage) for another number of axes, and the errors of
    /// [`append`](Self::append).
    pub fn resize(&mut self, shape: &[u64], written: &mut Written<'_>) -> Result<()> {
        let old = self.array.shape().to_vec();
        if old.len() != shape.len() {
            let (found, expected) = (shape.len(), old.len());
            return Err(Error::usage(format!(
                "a shape of {found} axes for an array of {expected}"
            )));
        }
        let (text, meta) = self.reshaped(shape)?;
        let new = ZarrArray::new(&self.store, &self.folder, meta, &self.options)?;
        let (old_box, new_box) = (Region::all(&old), Region::all(shape));
        let has_both = |one: &Region, other: &Region| has_elements(&common(one, other));
        let made = Made::default();
        // Files outside of the old shape may hold elements from before the array was last shortened.
        new.for_each_file(&mut |found, _| {
            for file in found {
                let chunk = self.box_of(&file.at);
                let wanted = common(&chunk, &new_box);
                if !has_both(&chunk, &old_box) {
                    made.remove(&*self.store, &file.key)?;
                } else if common(&wanted, &old_box) != wanted {
                    self.write_file(&file.at, None, &made)?;
                }
                written(chunk.bytes(self.array.dtype().itemsize()))?;
            }
            Ok(())
        })?;
        let before = self.array.clone();
        self.commit(text, &made)?;
        before.for_each_file(&mut |found, _| {
            let has_none = |file: &&Found| !has_both(&self.box_of(&file.at), &new_box);
            let mut outside = found.iter().filter(has_none);
            outside.try_for_each(|file| made.remove(&*self.store, &file.key))
        })
    }

    /// The elements of the file at this position, including those past the end of the array.
    fn box_of(&self, at: &[u64]) -> Region {
        let axes = at.iter().zip(self.array.chunk_shape());
        // Saturates past the end of every array.
        let ranges = axes.map(|(at, len)| {
            let begin = at.saturating_mul(*len);
            begin..begin.saturating_add(*len)
        });
        Region {
            ranges: ranges.collect(),
        }
    }

    /// Rewrites a file: old elements in the array are kept, `new` ones are added, and all others get the fill value.
    fn write_file(&self, at: &[u64], new: Option<(&Region, &[u8])>, made: &Made) -> Result<()> {
        let (chunk, itemsize) = (self.box_of(at), self.array.dtype().itemsize());
        let mut data = self.array.chunks.store().reader().filled(&chunk)?;
        let old = common(&chunk, &Region::all(self.array.shape()));
        let mut put = |part: &Region, elements: &[u8]| {
            copy(part, (part, elements), (&chunk, &mut data), itemsize)
        };
        if has_elements(&old) {
            put(&old, &self.array.read_slice(&old)?)?;
        }
        if let Some((part, elements)) = new {
            put(part, elements)?;
        }
        let stored = self.packer.pack(&data, self.array.chunk_shape())?;
        let key = self.array.meta().keys.key(&self.folder, at).writing()?;
        made.replace(&*self.store, &key, &stored)
    }

    /// The metadata with another shape: its text, and as it parses.
    fn reshaped(&self, shape: &[u64]) -> Result<(String, ArrayMeta)> {
        let text = std::str::from_utf8(&self.text).map_err(|_| Error::bug("text that was read"))?;
        let text = replaced(text, &["shape"], &json(shape));
        let text = text.ok_or_else(|| Error::bug("metadata without a shape"))?;
        let meta = match self.array.format() {
            Format::V2 => ArrayMeta::parse_v2(text.as_bytes(), None, &self.options.limits)?,
            Format::V3 => ArrayMeta::parse_v3(text.as_bytes(), &self.options.limits)?,
        };
        Ok((text, meta))
    }

    /// Syncs the files, replaces the metadata, and updates the shape in the consolidated metadata of the groups above.
    fn commit(&mut self, text: String, made: &Made) -> Result<()> {
        made.sync(&*self.store)?;
        let file = name(self.array.format());
        let now = read(&self.store, &self.folder, file, &self.options)?;
        if now.is_none_or(|now| now != self.text) {
            let what = "the array was changed by another program meanwhile";
            return Err(Error::usage(what));
        }
        let key = self.folder.join(file).writing()?;
        made.replace(&*self.store, &key, text.as_bytes())?;
        made.sync(&*self.store)?;
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
            if let Some(text) = read(&self.store, &above, file, &self.options)? {
                let text = String::from_utf8(text).unwrap_or_default();
                if let Some(text) = replaced(&text, &place, &shape) {
                    let key = above.join(file).writing()?;
                    made.replace(&*self.store, &key, text.as_bytes())?;
                }
            }
            group = above;
        }
        made.sync(&*self.store)
    }
}

/// Whether a region has elements.
fn has_elements(region: &Region) -> bool {
    region.ranges.iter().all(|range| !range.is_empty())
}

/// The file with the metadata of an array.
const fn name(format: Format) -> &'static str {
    match format {
        Format::V2 => ".zarray",
        Format::V3 => "zarr.json",
    }
}

/// The bytes of a metadata file; `None` if there is none.
fn read(
    store: &Arc<dyn Store>,
    folder: &Key,
    name: &str,
    options: &Options,
) -> Result<Option<Vec<u8>>> {
    let limits = &options.limits;
    Files {
        store,
        folder,
        limits,
    }
    .read(name)
}

/// The text of a JSON object in which the value at this path of names is replaced; `None` if there is no such value. All other
/// bytes stay.
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

/// A shape as JSON.
fn json(shape: &[u64]) -> String {
    serde_json::Value::from(shape).to_string()
}
