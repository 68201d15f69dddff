//! Conversion from and to arrays of the crate `ndarray`.

use super::NdArray;
use super::builder::NdArrayBuilder;
use bloscpack_array::sizes as lens;
use bloscpack_dtype::Element;
use bloscpack_error::checked::to_u64;
use bloscpack_error::{Error, Result};
use ndarray::{ArrayBase, ArrayD, Data, Dimension};
use std::ops::Range;

impl NdArray {
    /// The elements of a slice as an array of the crate `ndarray`, in C order. It has all axes of the slice, including axes of
    /// length 1.
    ///
    /// # Errors
    /// Returns the errors of [`to_vec`](Self::to_vec).
    pub fn to_ndarray<T: Element>(&self, slice: &[Range<u64>]) -> Result<ArrayD<T>> {
        let values = self.to_vec(slice)?;
        ArrayD::from_shape_vec(lens(slice)?, values)
            .map_err(|error| Error::usage(error.to_string()))
    }

    /// Replaces the slice that begins at this position with the elements of an array of the crate `ndarray`. It may have any
    /// order in memory; if that is not C order, the elements are copied first.
    ///
    /// ```
    /// use bloscpack_frames::NdArray;
    /// let mut array = NdArray::of_type::<f64>(&[10, 10]).in_memory()?;
    /// let values = ndarray::array![[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]];
    /// array.write_ndarray(&[4, 0], &values.t())?;
    /// assert_eq!(array.to_ndarray::<f64>(&[4..7, 0..2])?, values.t().into_dyn());
    /// # Ok::<(), bloscpack_error::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns the errors of [`write`](Self::write), and [`Usage`](bloscpack_error::Category::Usage) for another number of
    /// axes.
    pub fn write_ndarray<T: Element, S: Data<Elem = T>, D: Dimension>(
        &mut self,
        at: &[u64],
        values: &ArrayBase<S, D>,
    ) -> Result<()> {
        if at.len() != values.ndim() {
            let axes = values.ndim();
            return Err(Error::usage(format!(
                "the position {at:?} has {} axes, but the values have {axes}",
                at.len()
            )));
        }
        let axes = at.iter().zip(values.shape());
        let slice = axes.map(|(at, len)| Some(*at..at.checked_add(to_u64(*len))?));
        let slice: Option<Vec<Range<u64>>> = slice.collect();
        let slice =
            slice.ok_or_else(|| Error::usage(format!("no array has elements after {at:?}")))?;
        match values.as_slice() {
            Some(values) => self.write(&slice, values),
            None => self.write(&slice, &values.iter().copied().collect::<Vec<T>>()),
        }
    }

    /// A builder for a new array with the shape and the element type of an array of the crate `ndarray`. To copy the elements,
    /// call [`write_ndarray`](Self::write_ndarray) afterwards.
    #[must_use]
    pub fn of_ndarray<T: Element, S: Data<Elem = T>, D: Dimension>(
        values: &ArrayBase<S, D>,
    ) -> NdArrayBuilder {
        let shape: Vec<u64> = values.shape().iter().map(|len| to_u64(*len)).collect();
        Self::of_type::<T>(&shape)
    }
}
