//! Elements as values of Rust.

use super::grid::box_len;
use super::{NdArray, NdArrayBuilder};
use blosc1::Fault;
use bloscpack_dtype::{Element, native};
use bloscpack_error::{Error, Result};
use std::ops::Range;

impl NdArray {
    /// How a new array of this shape is to be, whose elements are such values.
    #[must_use]
    pub fn of_type<T: Element>(shape: &[u64]) -> NdArrayBuilder {
        let itemsize = u32::try_from(size_of::<T>()).unwrap_or(u32::MAX);
        NdArrayBuilder::new(shape, itemsize).dtype(T::DTYPE)
    }

    /// How a new array of this shape is to be, whose elements are so many bytes of whatever it is.
    #[must_use]
    pub fn builder(shape: &[u64], itemsize: u32) -> NdArrayBuilder {
        NdArrayBuilder::new(shape, itemsize)
    }

    /// A box of elements as values, in C order.
    ///
    /// # Errors
    /// As [`read_slice`](Self::read_slice), and [`Usage`](bloscpack_error::Category::Usage) if the elements are of another type. Where
    /// the file does not tell their type, their size has to be right.
    pub fn to_vec<T: Element>(&self, slice: &[Range<u64>]) -> Result<Vec<T>> {
        self.check_type::<T>()?;
        self.grid.check(slice)?;
        let len = box_len(slice, self.grid.itemsize);
        let len = len.ok_or_else(|| Error::usage("the slice has more bytes than memory"))?;
        // Pages that nobody has touched yet are touched first by the threads that fill them.
        let values = bytemuck::allocation::try_zeroed_vec(len / size_of::<T>());
        let no_memory =
            |()| Error::usage(format!("no memory for {len} bytes: read less at a time"));
        let mut values: Vec<T> = values.map_err(no_memory)?;
        self.read(slice, &mut values)?;
        Ok(values)
    }

    /// Reads a box of elements as values into `out`, in C order.
    ///
    /// # Errors
    /// As [`to_vec`](Self::to_vec), and [`Usage`](bloscpack_error::Category::Usage) for another number of elements.
    pub fn read<T: Element>(&self, slice: &[Range<u64>], out: &mut [T]) -> Result<()> {
        self.check_type::<T>()?;
        self.read_slice_into(slice, bytemuck::cast_slice_mut(out))?;
        if let Some(dtype) = &self.dtype {
            native::turn(dtype, out);
        }
        Ok(())
    }

    /// Sets a box of elements to these values, in C order.
    ///
    /// # Errors
    /// As [`write_slice`](Self::write_slice), and [`Usage`](bloscpack_error::Category::Usage) if the elements are of another type.
    pub fn write<T: Element>(&mut self, slice: &[Range<u64>], values: &[T]) -> Result<()> {
        self.check_type::<T>()?;
        let is_native = self
            .dtype
            .as_ref()
            .is_none_or(|dtype| !native::is_turned::<T>(dtype));
        if is_native {
            return self.write_slice(slice, bytemuck::cast_slice(values));
        }
        let mut turned = values.to_vec();
        if let Some(dtype) = &self.dtype {
            native::turn(dtype, &mut turned);
        }
        self.write_slice(slice, bytemuck::cast_slice(&turned))
    }

    fn check_type<T: Element>(&self) -> Result<()> {
        if let Some(dtype) = &self.dtype {
            return Ok(native::check::<T>(dtype)?);
        }
        match (self.dtype_text(), size_of::<T>() == self.grid.itemsize) {
            (None, true) => Ok(()),
            (text, _) => {
                let text = text.map_or_else(String::new, |text| format!(" ({text})"));
                let what = format!(
                    "the elements have {} bytes{text}, and are not {}",
                    self.grid.itemsize,
                    std::any::type_name::<T>()
                );
                Err(crate::error::frame(Fault::Usage, what))
            }
        }
    }
}
