//! [`Array`]: an n-dimensional array of any format.

use crate::{Attributes, Grid, Zones, bytes_of};
use blosc1::{ChunkHeader, ChunkSettings};
use bloscpack_dtype::{ByteOrder, DType};
use bloscpack_error::checked::zeros;
use bloscpack_error::{Error, Result};
use std::ops::Range;
use std::sync::Arc;

/// An n-dimensional array of any format: it tells its shape and dtype, and reads any box of its elements.
///
/// A slice is a box: one range per axis, in elements. Its bytes are in C order, each element in the byte order of the dtype. An
/// array without axes (`shape` is empty) has one element; its only slice is `&[]`.
///
/// Several threads may read one array at once. Reading blocks. Implementations are `CArray`, `NdArray` and `ZarrArray` in the
/// crates of the formats, and [`Flat`](crate::Flat) for uncompressed elements; [`Window`](crate::Window), [`Retyped`] and
/// [`Reordered`] are views of another array.
///
/// ```
/// use bloscpack_array::{Array, Flat};
/// use bloscpack_dtype::DType;
///
/// let array: Box<dyn Array> = Box::new(Flat::new(vec![1, 2, 3, 4, 5, 6], DType::U8, &[2, 3], false)?);
/// assert_eq!(array.grid().shape(), [2, 3]);
/// assert_eq!(array.read_slice(&[0..2, 1..3])?, [2, 3, 5, 6]);
/// # Ok::<(), bloscpack_error::Error>(())
/// ```
pub trait Array: Send + Sync {
    /// The shape of the array, cut into the smallest parts that are worth reading: slices that begin and end at the boundaries
    /// of these parts decompress nothing twice.
    fn grid(&self) -> &Grid;

    /// The type of the elements; void (`V`) of the element's size where the format does not store a type.
    fn dtype(&self) -> &DType;

    /// Reads a slice into `out`, whose length must be exactly the slice's bytes.
    ///
    /// An empty slice reads nothing. After an error the content of `out` is unspecified.
    ///
    /// # Errors
    /// Returns `Code::OutOfBounds` for a slice that is not within the array, `Code::Usage` for another length of `out`, any I/O
    /// error, and any damage to what the slice touches.
    fn read_slice_into(&self, slice: &[Range<u64>], out: &mut [u8]) -> Result<()>;

    /// Reads a slice into a new vector.
    ///
    /// # Errors
    /// Returns the errors of [`read_slice_into`](Self::read_slice_into), and `Code::NoMemory` for a slice that does not fit
    /// into memory.
    fn read_slice(&self, slice: &[Range<u64>]) -> Result<Vec<u8>> {
        self.grid().check(slice)?;
        let mut out = zeros(bytes_of(slice, self.dtype().itemsize()))?;
        self.read_slice_into(slice, &mut out)?;
        Ok(out)
    }

    /// Attributes, fill value, axis names and compression: what a copy in another format keeps. The default is empty.
    ///
    /// # Errors
    /// Returns I/O errors and damage of the metadata.
    fn description(&self) -> Result<Description> {
        Ok(Description::default())
    }

    /// A chunk of the grid as a Blosc chunk, which a copy can store without recompressing it.
    ///
    /// `at` is the position of the chunk in [`grid`](Self::grid). The Blosc chunk holds exactly the elements of that grid
    /// chunk, in C order, or in Fortran order if [`Description::is_fortran`] is set. `None` if no stored chunk matches, which
    /// is the default.
    ///
    /// # Errors
    /// Returns any I/O error, and damage that shows without decompressing.
    fn stored(&self, at: &[u64]) -> Result<Option<Vec<u8>>> {
        let _ = at;
        Ok(None)
    }

    /// Where the chunk that [`stored`](Self::stored) reads lies, for readers that fetch it themselves. Only its header is read.
    /// `None` if no stored chunk matches, or if its place is not known, which is the default.
    ///
    /// # Errors
    /// Returns any I/O error, and damage that shows in the header.
    fn place(&self, at: &[u64]) -> Result<Option<Place>> {
        let _ = at;
        Ok(None)
    }

    /// Minimum, maximum and number of missing values of runs of rows, from an index; `None` if the array has no index.
    fn zones(&self) -> Option<&dyn Zones> {
        None
    }
}

/// The place of a stored chunk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The file with the chunk, relative to the folder of the array or table, with `/` between names; empty if the array is in
    /// one file.
    pub file: String,
    /// The bytes of the chunk in that file.
    pub bytes: Range<u64>,
    /// The header of the chunk.
    pub header: ChunkHeader,
}

/// What a format stores about an array apart from shape, dtype and elements. Each format fills in what it has.
#[derive(Debug, Clone, Default)]
pub struct Description {
    /// The user's attributes.
    pub attributes: Attributes,
    /// The names of attributes that JSON cannot express. A copy drops them and warns.
    pub lost: Vec<String>,
    /// The bytes of an element that was never written; `None` for zeros, or if the format does not store one.
    pub fill: Option<Vec<u8>>,
    /// The names of the axes, one entry per axis; `None` for an axis, or for all, without a name.
    pub axes: Option<Vec<Option<String>>>,
    /// Compressor, level and filters of its chunks; `None` if they are not Blosc chunks or not known.
    pub settings: Option<ChunkSettings>,
    /// Whether the elements of a stored chunk are in Fortran order: the first axis counts fastest.
    pub is_fortran: bool,
}

/// An array whose bytes are read as another dtype of the same size, for formats that do not store one.
///
/// ```
/// use bloscpack_array::{Array, Flat, Retyped};
/// use bloscpack_dtype::DType;
///
/// let bytes = Flat::new(vec![0, 1, 2, 3], DType::void(2)?, &[2], false)?;
/// let numbers = Retyped::new(bytes, DType::U16)?;
/// assert_eq!((numbers.dtype(), numbers.read_slice(&[0..2])?), (&DType::U16, vec![0, 1, 2, 3]));
/// # Ok::<(), bloscpack_error::Error>(())
/// ```
#[derive(Debug)]
pub struct Retyped<A> {
    array: A,
    dtype: DType,
    has_attributes: bool,
}

impl<A: Array> Retyped<A> {
    /// Reads `array` as elements of `dtype`. The bytes stay as they are.
    ///
    /// # Errors
    /// Returns `Code::Usage` if the sizes of the two types differ.
    pub fn new(array: A, dtype: DType) -> Result<Self> {
        let (found, itemsize) = (dtype.itemsize(), array.dtype().itemsize());
        if found == itemsize {
            Ok(Self {
                array,
                dtype,
                has_attributes: true,
            })
        } else {
            Err(Error::usage(format!(
                "dtype {dtype} has {found} bytes, but an element has {itemsize}"
            )))
        }
    }
}

impl<A> Retyped<A> {
    /// Hides the description of the inner array: attributes, axis names, fill value and compression settings.
    #[must_use]
    pub fn without_attributes(mut self) -> Self {
        self.has_attributes = false;
        self
    }
}

impl<A: Array> Array for Retyped<A> {
    fn grid(&self) -> &Grid {
        self.array.grid()
    }

    fn dtype(&self) -> &DType {
        &self.dtype
    }

    fn read_slice_into(&self, slice: &[Range<u64>], out: &mut [u8]) -> Result<()> {
        self.array.read_slice_into(slice, out)
    }

    fn read_slice(&self, slice: &[Range<u64>]) -> Result<Vec<u8>> {
        self.array.read_slice(slice)
    }

    fn description(&self) -> Result<Description> {
        if self.has_attributes {
            self.array.description()
        } else {
            Ok(Description::default())
        }
    }

    fn stored(&self, at: &[u64]) -> Result<Option<Vec<u8>>> {
        self.array.stored(at)
    }

    fn place(&self, at: &[u64]) -> Result<Option<Place>> {
        self.array.place(at)
    }

    fn zones(&self) -> Option<&dyn Zones> {
        self.array.zones()
    }
}

/// An array whose elements are read in another byte order. It has no description and gives out no stored chunks.
///
/// ```
/// use bloscpack_array::{Array, Flat, Reordered};
/// use bloscpack_dtype::DType;
///
/// let big = Flat::new(vec![0, 1, 0, 2], DType::parse(">u2")?, &[2], false)?;
/// assert_eq!(Reordered::new(big, DType::U16)?.read_slice(&[0..2])?, [1, 0, 2, 0]);
/// # Ok::<(), bloscpack_error::Error>(())
/// ```
#[derive(Debug)]
pub struct Reordered<A> {
    array: A,
    dtype: DType,
}

impl<A: Array> Reordered<A> {
    /// Reads `array` as elements of `dtype`, swapping bytes where the orders differ.
    ///
    /// # Errors
    /// Returns `Code::Usage` if `dtype` differs from the array's in more than the byte order.
    pub fn new(array: A, dtype: DType) -> Result<Self> {
        let own = array.dtype();
        let little = |dtype: &DType| dtype.clone().with_order(ByteOrder::Little);
        if little(own) == little(&dtype) {
            Ok(Self { array, dtype })
        } else {
            Err(Error::usage(format!(
                "elements of {own}, and {dtype} is needed"
            )))
        }
    }
}

impl<A: Array> Array for Reordered<A> {
    fn grid(&self) -> &Grid {
        self.array.grid()
    }

    fn dtype(&self) -> &DType {
        &self.dtype
    }

    fn read_slice_into(&self, slice: &[Range<u64>], out: &mut [u8]) -> Result<()> {
        self.array.read_slice_into(slice, out)?;
        if *self.array.dtype() != self.dtype {
            self.array.dtype().to_little(out);
            self.dtype.to_little(out);
        }
        Ok(())
    }
}

macro_rules! forward {
    ($($type:ty),*) => {$(
        impl<A: Array + ?Sized> Array for $type {
            fn grid(&self) -> &Grid {
                (**self).grid()
            }

            fn dtype(&self) -> &DType {
                (**self).dtype()
            }

            fn read_slice_into(&self, slice: &[Range<u64>], out: &mut [u8]) -> Result<()> {
                (**self).read_slice_into(slice, out)
            }

            fn read_slice(&self, slice: &[Range<u64>]) -> Result<Vec<u8>> {
                (**self).read_slice(slice)
            }

            fn description(&self) -> Result<Description> {
                (**self).description()
            }

            fn stored(&self, at: &[u64]) -> Result<Option<Vec<u8>>> {
                (**self).stored(at)
            }

            fn place(&self, at: &[u64]) -> Result<Option<Place>> {
                (**self).place(at)
            }

            fn zones(&self) -> Option<&dyn Zones> {
                (**self).zones()
            }
        }
    )*};
}

forward!(&A, Box<A>, Arc<A>);
