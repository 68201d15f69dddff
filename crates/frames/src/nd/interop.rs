//! Arrays of the crate `ndarray`, out and in.

use super::NdArray;
use super::builder::NdArrayBuilder;
use super::grid::lens;
use bloscpack_dtype::Element;
use bloscpack_error::{Error, Result};
use ndarray::{ArrayBase, ArrayD, Data, Dimension};
use std::ops::Range;

impl NdArray {
    /// A box of elements as an array of the crate `ndarray`.
    ///
    /// # Errors
    /// As [`to_vec`](Self::to_vec).
    pub fn to_ndarray<T: Element>(&self, slice: &[Range<u64>]) -> Result<ArrayD<T>> {
        let values = self.to_vec(slice)?;
        ArrayD::from_shape_vec(lens(slice), values).map_err(|error| Error::usage(error.to_string()))
    }

    /// Sets the box that begins at this position to the elements of an array of the crate `ndarray`, however they lie in memory.
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
    /// As [`write`](Self::write).
    pub fn write_ndarray<T: Element, S: Data<Elem = T>, D: Dimension>(
        &mut self,
        at: &[u64],
        values: &ArrayBase<S, D>,
    ) -> Result<()> {
        if at.len() != values.ndim() {
            let what = format!("position {at:?} for an array of {} axes", values.ndim());
            return Err(Error::usage(what));
        }
        let ends = at.iter().zip(values.shape());
        let slice: Vec<Range<u64>> = ends
            .map(|(at, len)| *at..at.saturating_add(u64::try_from(*len).unwrap_or(u64::MAX)))
            .collect();
        match values.as_slice() {
            Some(values) => self.write(&slice, values),
            None => self.write(&slice, &values.iter().copied().collect::<Vec<T>>()),
        }
    }

    /// How a new array with the shape and the elements' type of an array of the crate `ndarray` is to be;
    /// [`write_ndarray`](Self::write_ndarray) fills it.
    #[must_use]
    pub fn of_ndarray<T: Element, S: Data<Elem = T>, D: Dimension>(
        values: &ArrayBase<S, D>,
    ) -> NdArrayBuilder {
        let shape = values.shape().iter();
        let shape: Vec<u64> = shape
            .map(|len| u64::try_from(*len).unwrap_or(u64::MAX))
            .collect();
        Self::of_type::<T>(&shape)
    }
}
