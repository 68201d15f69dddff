//! Zarr: all of `bloscpack-zarr`, and arrays of other formats that become Zarr arrays without being compressed anew.
//!
//! ```
//! # testkit::enter_testdata();
//! use bloscpack_open::datasets::CArray;
//! use bloscpack::storage::{Key, Memory};
//! use bloscpack::Options;
//! use bloscpack_open::zarr::{Conversion, Format, ZarrArray};
//! use std::sync::Arc;
//!
//! let array = CArray::open("testdata/datasets/bcolz/py2_int64")?;
//! let store = Arc::new(Memory::new());
//! let (_, counts) = Conversion::of(&array, Format::V3)?
//!     .write(store.clone(), Key::root(), 2, &mut |_| Ok(()))?;
//! assert_eq!(counts.taken + counts.compressed, array.chunks());
//! let made = ZarrArray::open(store, &Key::root(), &Options::new())?;
//! assert_eq!(made.read_slice(&[0..5])?, array.read_rows(0..5)?);
//! # Ok::<(), bloscpack::Error>(())
//! ```

pub use bloscpack_zarr::*;

use blosc1::{ChunkSettings, Compressor};
use bloscpack_array::{Array, Reordered};
use bloscpack_dtype::{ByteOrder, DType};
use bloscpack_error::Result;
use bloscpack_storage::{Key, Store};
use std::sync::Arc;

/// An array of another format, and the Zarr array that it becomes.
pub struct Conversion<'a> {
    /// The new array. Other shapes or settings of its chunks mean that all are compressed anew.
    pub new: NewArray,
    source: Box<dyn Array + 'a>,
    /// The grid and the settings for which chunks can be taken.
    like: (Vec<u64>, ChunkSettings),
}

impl std::fmt::Debug for Conversion<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Conversion")
            .field("new", &self.new)
            .finish_non_exhaustive()
    }
}

impl<'a> Conversion<'a> {
    /// An array of any format. Its stored chunks can be taken as they are where they are Blosc chunks of the elements that a chunk of
    /// the new array has.
    ///
    /// # Errors
    /// Returns damage of the metadata.
    pub fn of(array: impl Array + 'a, format: Format) -> Result<Self> {
        let (grid, about) = (array.grid(), array.description()?);
        // In Zarr, the lengths of a chunk are at least 1.
        let chunk: Vec<u64> = grid.chunk_shape().iter().map(|len| (*len).max(1)).collect();
        let mut new = NewArray::new(format, array.dtype().clone(), grid.shape(), &chunk);
        new.fill = about.fill;
        new.fortran = about.is_fortran;
        new.settings = about.settings.unwrap_or(new.settings);
        about.attributes.text().clone_into(&mut new.attributes);
        // Zarr has a name for each axis, or none.
        new.dimension_names = about.axes.and_then(|names| names.into_iter().collect());
        // numcodecs has no Snappy.
        if new.settings.compressor == Compressor::Snappy {
            let compressor = Compressor::Lz4;
            new.settings = new
                .settings
                .compressor(compressor)
                .level(compressor.default_level());
        }
        let like = (new.chunk_shape.clone(), new.settings);
        let source: Box<dyn Array + 'a> = match swapped(&new) {
            None => Box::new(array),
            Some(dtype) => {
                new.dtype = dtype.clone().with_order(ByteOrder::Little);
                new.fill = new.fill.map(|mut fill| {
                    dtype.to_little(&mut fill);
                    fill
                });
                Box::new(Reordered::new(array, new.dtype.clone())?)
            }
        };
        Ok(Self { new, source, like })
    }

    /// Writes the array into a folder of a store, and returns what a group has to know of it, and how its chunks were made.
    /// `progress` is called with the bytes of each chunk, and ends the work with an error.
    ///
    /// # Errors
    /// Returns the errors of [`ArrayWriter`] and of reading the array, and that of `progress`.
    pub fn write(
        self,
        store: Arc<dyn Store>,
        folder: Key,
        threads: usize,
        progress: &mut dyn FnMut(u64) -> Result<()>,
    ) -> Result<(ArrayFiles, ChunkCounts)> {
        let is_like = self.like == (self.new.chunk_shape.clone(), self.new.settings);
        let writer = ArrayWriter::create(store, folder, self.new)?;
        let counts = writer.fill_from(&*self.source, is_like, threads, progress)?;
        Ok((writer.finish()?, counts))
    }
}

/// The dtype of fields that version 3 has no byte order for, if it is that.
fn swapped(new: &NewArray) -> Option<DType> {
    let is_swapped = new.format == Format::V3 && new.dtype.fields().is_some() && new.dtype.is_big();
    is_swapped.then(|| new.dtype.clone())
}
