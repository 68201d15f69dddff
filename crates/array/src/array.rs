//! [`Array`]: an n-dimensional array of any format.

use crate::{Attributes, Grid, Zones, bytes_of};
use blosc1::ChunkSettings;
use bloscpack_dtype::{ByteOrder, DType};
use bloscpack_error::checked::zeros;
use bloscpack_error::{Error, Result};
use std::ops::Range;
use std::sync::Arc;

/// An n-dimensional array of elements of one type: what every format of arrays can do.
///
/// A slice has a range for each axis; its bytes are in C order, and in the byte order of the dtype. An array without axes has one
/// element.
pub trait Array: Send + Sync {
    /// The shape, and that of the smallest parts that are read: where slices begin and end at their boundaries, nothing is
    /// decompressed twice.
    fn grid(&self) -> &Grid;

    /// The type of the elements; void where it is not known.
    fn dtype(&self) -> &DType;

    /// Reads a slice into `out`, which has exactly its length.
    ///
    /// # Errors
    /// Returns wrong usage for a slice that is not within the array or another length of `out`, any I/O error, and any damage to
    /// what the slice touches.
    fn read_slice_into(&self, slice: &[Range<u64>], out: &mut [u8]) -> Result<()>;

    /// The bytes of a slice.
    ///
    /// # Errors
    /// Returns the errors of [`read_slice_into`](Self::read_slice_into), and an error for a slice that memory has no room for.
    fn read_slice(&self, slice: &[Range<u64>]) -> Result<Vec<u8>> {
        self.grid().check(slice)?;
        let mut out = zeros(bytes_of(slice, self.dtype().itemsize()))?;
        self.read_slice_into(slice, &mut out)?;
        Ok(out)
    }

    /// What a copy in another format should know of it.
    ///
    /// # Errors
    /// Returns damage of the metadata.
    fn description(&self) -> Result<Description> {
        Ok(Description::default())
    }

    /// The Blosc chunk that has exactly the elements of the chunk at this position, in C order, or in Fortran's if the description
    /// says so; `None` if there is no such chunk.
    ///
    /// # Errors
    /// Returns any I/O error, and any damage that is seen without decompressing.
    fn stored(&self, at: &[u64]) -> Result<Option<Vec<u8>>> {
        let _ = at;
        Ok(None)
    }

    /// What is known of runs of rows without reading them; `None` where nothing is.
    fn zones(&self) -> Option<&dyn Zones> {
        None
    }
}

/// What an array is apart from its elements. Each format has a part of it.
#[derive(Debug, Clone, Default)]
pub struct Description {
    /// The attributes that users attached to it.
    pub attributes: Attributes,
    /// The names of attributes that JSON does not express.
    pub lost: Vec<String>,
    /// The bytes of an element that was never written; `None` for zeros, or where that is not known.
    pub fill: Option<Vec<u8>>,
    /// The names of the axes.
    pub axes: Option<Vec<Option<String>>>,
    /// How its chunks are compressed.
    pub settings: Option<ChunkSettings>,
    /// Whether the first axis counts fastest in a stored chunk.
    pub is_fortran: bool,
}

/// An array as elements of another type of the same size.
#[derive(Debug)]
pub struct Retyped<A> {
    array: A,
    dtype: DType,
    has_attributes: bool,
}

impl<A: Array> Retyped<A> {
    /// The array as elements of this type, whatever it says itself.
    ///
    /// # Errors
    /// Returns wrong usage for a type of another size.
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
    /// The same, described by nothing but its grid and its dtype.
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

    fn zones(&self) -> Option<&dyn Zones> {
        self.array.zones()
    }
}

/// An array as the same elements with their bytes in another order.
#[derive(Debug)]
pub struct Reordered<A> {
    array: A,
    dtype: DType,
}

impl<A: Array> Reordered<A> {
    /// The array as elements of this type.
    ///
    /// # Errors
    /// Returns wrong usage for a type that differs in more than the order of bytes.
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

            fn zones(&self) -> Option<&dyn Zones> {
                (**self).zones()
            }
        }
    )*};
}

forward!(&A, Box<A>, Arc<A>);
