//! Zarr: all of `bloscpack-zarr`, and [`Conversion`], which turns any array into a Zarr array and takes over its compressed
//! chunks where possible.
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

/// An array of any format, and the Zarr array that it becomes.
pub struct Conversion<'a> {
    /// The description of the new array. If you change the shape or the settings of its chunks, all chunks are compressed
    /// again.
    pub new: NewArray,
    /// Whether chunks that can be taken over stay where they are, as [`ArrayFiles::places`] of the result (default false). Then
    /// only chunks that are shorter than others are written, and whole chunks that readers of Zarr cannot decode are an error.
    pub by_reference: bool,
    source: Box<dyn Array + 'a>,
    /// The chunk shape and the settings with which chunks can be taken over.
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
    /// Prepares an array for Zarr, with its chunk shape, fill value, attributes, axis names and compression.
    ///
    /// A Blosc chunk is taken over without recompression if it holds exactly the elements of a chunk of the new array. Snappy
    /// becomes LZ4, which numcodecs can read.
    ///
    /// # Errors
    /// Returns damage of the metadata.
    pub fn of(array: impl Array + 'a, format: Format) -> Result<Self> {
        let (grid, about) = (array.grid(), array.description()?);
        // A chunk of Zarr has at least length 1 along each axis.
        let chunk: Vec<u64> = grid.chunk_shape().iter().map(|len| (*len).max(1)).collect();
        let mut new = NewArray::new(format, array.dtype().clone(), grid.shape(), &chunk);
        new.fill = about.fill;
        new.fortran = about.is_fortran;
        new.settings = about.settings.unwrap_or(new.settings);
        about.attributes.text().clone_into(&mut new.attributes);
        // Zarr names all axes or none.
        new.dimension_names = about.axes.and_then(|names| names.into_iter().collect());
        // numcodecs does not have Snappy.
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
        Ok(Self {
            new,
            by_reference: false,
            source,
            like,
        })
    }

    /// Writes the array into a folder of a store. Returns what a group needs to know about the array, and how many chunks were
    /// taken over and compressed.
    ///
    /// `progress` is called with the uncompressed bytes of each chunk; an error from it ends the work.
    ///
    /// # Errors
    /// Returns the errors of [`ArrayWriter`], of reading the array, and of `progress`.
    pub fn write(
        self,
        store: Arc<dyn Store>,
        folder: Key,
        threads: usize,
        progress: &mut dyn FnMut(u64) -> Result<()>,
    ) -> Result<(ArrayFiles, ChunkCounts)> {
        let is_like = self.like == (self.new.chunk_shape.clone(), self.new.settings);
        let mut writer = ArrayWriter::create(store, folder, self.new)?;
        if self.by_reference {
            writer = writer.by_reference();
        }
        let counts = writer.fill_from(&*self.source, is_like, threads, progress)?;
        Ok((writer.finish()?, counts))
    }
}

/// The dtype, if it has big-endian fields, which Zarr 3 cannot express.
fn swapped(new: &NewArray) -> Option<DType> {
    let is_swapped = new.format == Format::V3 && new.dtype.fields().is_some() && new.dtype.is_big();
    is_swapped.then(|| new.dtype.clone())
}
