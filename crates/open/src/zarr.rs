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
//! let (_, counts) = Conversion::of_array(&array, Format::V3)
//!     .write(store.clone(), Key::root(), 2, &mut |_| Ok(()))?;
//! assert_eq!(counts.taken + counts.compressed, array.chunks());
//! let made = ZarrArray::open(store, &Key::root(), &Options::new())?;
//! assert_eq!(made.read_slice(&[0..5])?, array.read_rows(0..5)?);
//! # Ok::<(), bloscpack::Error>(())
//! ```

mod carray;
mod file;
mod frame;
mod other;

pub use bloscpack_zarr::*;

use blosc1::{ChunkSettings, Compressor};
use bloscpack_dtype::{ByteOrder, DType};
use bloscpack_error::Result;
use bloscpack_storage::{Key, Store};
use std::ops::Range;
use std::sync::Arc;

/// An array of another format, and the Zarr array that it becomes.
pub struct Conversion<'a> {
    /// The new array. Other shapes or settings of its chunks mean that all are compressed anew.
    pub new: NewArray,
    source: Box<dyn ChunkSource + 'a>,
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
    fn new(mut new: NewArray, source: impl ChunkSource + 'a) -> Self {
        // numcodecs has no Snappy.
        if new.settings.compressor == Compressor::Snappy {
            let compressor = Compressor::Lz4;
            new.settings = new
                .settings
                .compressor(compressor)
                .level(compressor.default_level());
        }
        let like = (new.chunk_shape.clone(), new.settings);
        let swapped = swapped(&new);
        let source: Box<dyn ChunkSource + 'a> = match swapped {
            None => Box::new(source),
            Some(dtype) => {
                new.dtype = dtype.clone().with_order(ByteOrder::Little);
                new.fill = new.fill.map(|mut fill| {
                    dtype.to_little(&mut fill);
                    fill
                });
                Box::new(Swapped { source, dtype })
            }
        };
        Self { new, source, like }
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
        let anew = Anew(&*self.source);
        let source: &dyn ChunkSource = if is_like { &*self.source } else { &anew };
        let counts = writer.fill_from(source, threads, progress)?;
        Ok((writer.finish()?, counts))
    }
}

/// The dtype of fields that version 3 has no byte order for, if it is that.
fn swapped(new: &NewArray) -> Option<DType> {
    let is_swapped = new.format == Format::V3 && new.dtype.fields().is_some() && new.dtype.is_big();
    is_swapped.then(|| new.dtype.clone())
}

/// A source whose chunks are not taken.
struct Anew<'a>(&'a dyn ChunkSource);

impl ChunkSource for Anew<'_> {
    fn read(&self, slice: &[Range<u64>]) -> Result<Vec<u8>> {
        self.0.read(slice)
    }

    fn stored(&self, _: &[u64]) -> Result<Option<Vec<u8>>> {
        Ok(None)
    }
}

/// A source whose elements become little-endian.
struct Swapped<S> {
    source: S,
    dtype: DType,
}

impl<S: ChunkSource> ChunkSource for Swapped<S> {
    fn read(&self, slice: &[Range<u64>]) -> Result<Vec<u8>> {
        let mut data = self.source.read(slice)?;
        self.dtype.to_little(&mut data);
        Ok(data)
    }

    fn stored(&self, _: &[u64]) -> Result<Option<Vec<u8>>> {
        Ok(None)
    }
}

/// The lengths of a chunk, which are at least 1 in Zarr.
fn positive(chunk: &[u64]) -> Vec<u64> {
    chunk.iter().map(|len| (*len).max(1)).collect()
}
