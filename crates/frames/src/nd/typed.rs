//! Elements as Rust values.

use super::{NdArray, NdArrayBuilder};
use bloscpack_dtype::{DType, Element, native};
use bloscpack_error::checked::to_u64;
use bloscpack_error::{Code, Error, Result};
use std::ops::Range;

impl NdArray {
    /// A builder for a new array of this shape, with elements of type `T`.
    #[must_use]
    pub fn of_type<T: Element>(shape: &[u64]) -> NdArrayBuilder {
        NdArrayBuilder::new(shape, size_of_u32::<T>()).dtype(T::DTYPE)
    }

    /// A builder for a new array of this shape, with elements of so many bytes. [`NdArrayBuilder::dtype`] says what they mean.
    #[must_use]
    pub fn builder(shape: &[u64], itemsize: u32) -> NdArrayBuilder {
        NdArrayBuilder::new(shape, itemsize)
    }

    /// The elements of a slice, in C order.
    ///
    /// The array must have a dtype that `T` fits, or no dtype and elements of the same size, which then are little-endian.
    ///
    /// # Errors
    /// Returns [`Usage`](bloscpack_error::Category::Usage) for elements of another type, and the errors of
    /// [`read_slice`](Self::read_slice).
    pub fn to_vec<T: Element>(&self, slice: &[Range<u64>]) -> Result<Vec<T>> {
        self.check_type::<T>()?;
        self.grid().chunks.check(slice)?;
        let len = self.grid().slice_len(slice)?;
        // Pages that nothing has touched yet are touched first by the threads that fill them.
        let values = bytemuck::allocation::try_zeroed_vec(len / size_of::<T>());
        let mut values: Vec<T> = values.map_err(|()| Error::no_memory(to_u64(len)))?;
        self.read(slice, &mut values)?;
        Ok(values)
    }

    /// Reads the elements of a slice into `out`, in C order; `out` has to have exactly as many.
    ///
    /// # Errors
    /// Returns the errors of [`to_vec`](Self::to_vec), and [`Code::Usage`] for another number of elements.
    pub fn read<T: Element>(&self, slice: &[Range<u64>], out: &mut [T]) -> Result<()> {
        self.check_type::<T>()?;
        self.read_slice_into(slice, bytemuck::cast_slice_mut(out))?;
        native::turn(&self.dtype_as::<T>(), out);
        Ok(())
    }

    /// Replaces the elements of a slice with these values, in C order.
    ///
    /// # Errors
    /// Returns [`Usage`](bloscpack_error::Category::Usage) for elements of another type, and the errors of
    /// [`write_slice`](Self::write_slice).
    pub fn write<T: Element>(&mut self, slice: &[Range<u64>], values: &[T]) -> Result<()> {
        self.check_type::<T>()?;
        let dtype = self.dtype_as::<T>();
        if !native::is_turned::<T>(&dtype) {
            return self.write_slice(slice, bytemuck::cast_slice(values));
        }
        let mut turned = values.to_vec();
        native::turn(&dtype, &mut turned);
        self.write_slice(slice, bytemuck::cast_slice(&turned))
    }

    /// The dtype of elements that are `T`. Without one they are little-endian, as the machines were that wrote them.
    fn dtype_as<T: Element>(&self) -> DType {
        self.dtype.clone().unwrap_or(T::DTYPE)
    }

    fn check_type<T: Element>(&self) -> Result<()> {
        if let Some(dtype) = &self.dtype {
            return Ok(native::check::<T>(dtype)?);
        }
        match (self.dtype_text(), size_of::<T>() == self.grid().itemsize) {
            (None, true) => Ok(()),
            (text, _) => {
                let (itemsize, asked) = (self.grid().itemsize, std::any::type_name::<T>());
                let dtype = text.map_or_else(String::new, |text| format!(" ({text})"));
                Err(Error::new(
                    Code::WrongType,
                    format!("elements have {itemsize} bytes{dtype}, which is not {asked}"),
                ))
            }
        }
    }
}

/// Bytes of a value of this type.
const fn size_of_u32<T>() -> u32 {
    const { assert!(size_of::<T>() <= 255, "an element is a number") };
    #[expect(clippy::cast_possible_truncation, reason = "checked above")]
    let size = size_of::<T>() as u32;
    size
}
