//! Reads and writes elements as Rust values.

use super::{NdArray, NdArrayBuilder};
use bloscpack_dtype::{DType, Element, native};
use bloscpack_error::checked::to_u64;
use bloscpack_error::{Code, Error, Result};
use std::ops::Range;

impl NdArray {
    /// A builder for a new array of this shape with elements of type `T`: an integer or a float. An empty shape has one
    /// element.
    #[must_use]
    pub fn of_type<T: Element>(shape: &[u64]) -> NdArrayBuilder {
        NdArrayBuilder::new(shape, size_of_u32::<T>()).dtype(T::DTYPE)
    }

    /// A builder for a new array of this shape with elements of `itemsize` bytes, at least 1. [`NdArrayBuilder::dtype`] sets
    /// their type.
    #[must_use]
    pub fn builder(shape: &[u64], itemsize: u32) -> NdArrayBuilder {
        NdArrayBuilder::new(shape, itemsize)
    }

    /// The elements of a slice as Rust values, in C order and in the byte order of the machine.
    ///
    /// `T` must match the dtype of the array: bools are `u8`, datetimes and timedeltas `i64`. If the frame does not store a
    /// dtype, `T` must have the element size, and elements are taken as little-endian.
    ///
    /// ```
    /// use bloscpack_frames::NdArray;
    /// let mut array = NdArray::of_type::<f32>(&[2, 2]).in_memory()?;
    /// array.write(&[0..2, 0..2], &[1.0f32, 2.0, 3.0, 4.0])?;
    /// assert_eq!(array.to_vec::<f32>(&[0..2, 1..2])?, [2.0, 4.0]);
    /// assert!(array.to_vec::<f64>(&[0..2, 1..2]).is_err());
    /// # Ok::<(), bloscpack_error::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns [`Code::WrongType`] for elements of another type, and the errors of [`read_slice`](Self::read_slice).
    pub fn to_vec<T: Element>(&self, slice: &[Range<u64>]) -> Result<Vec<T>> {
        self.check_type::<T>()?;
        self.grid().chunks.check(slice)?;
        let len = self.grid().slice_len(slice)?;
        // Zeroed pages are first touched by the threads that fill them.
        let values = bytemuck::allocation::try_zeroed_vec(len / size_of::<T>());
        let mut values: Vec<T> = values.map_err(|()| Error::no_memory(to_u64(len)))?;
        self.read(slice, &mut values)?;
        Ok(values)
    }

    /// Reads the elements of a slice into `out`, in C order. `out` must have exactly as many elements as the slice.
    ///
    /// # Errors
    /// Returns the errors of [`to_vec`](Self::to_vec), and [`Code::Usage`] for another number of elements.
    pub fn read<T: Element>(&self, slice: &[Range<u64>], out: &mut [T]) -> Result<()> {
        self.check_type::<T>()?;
        self.read_slice_into(slice, bytemuck::cast_slice_mut(out))?;
        native::turn(&self.dtype_as::<T>(), out);
        Ok(())
    }

    /// Replaces the elements of a slice with these values, in C order. They are copied only if the array has another byte order
    /// than the machine.
    ///
    /// See [`write_slice`](Self::write_slice) for when chunks are compressed.
    ///
    /// # Errors
    /// Returns [`Code::WrongType`] for elements of another type, and the errors of [`write_slice`](Self::write_slice).
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

    /// The dtype of elements that are `T`. Without a stored dtype they are little-endian, like the machines that wrote them.
    fn dtype_as<T: Element>(&self) -> DType {
        self.dtype.clone().unwrap_or(T::DTYPE)
    }

    /// Refuses a type that does not match the elements, with [`Code::WrongType`].
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
