//! Writes arrays of the crate `ndarray`.

use super::CArray;
use bloscpack_dtype::native::Element;
use bloscpack_error::checked::to_u64;
use bloscpack_error::{Error, Result};
use ndarray::{ArrayBase, Data, Dimension};
use std::borrow::Cow;
use std::ops::Range;

impl CArray {
    /// Appends the rows of an array of the crate `ndarray`: its items along the first axis. Its order in memory does not
    /// matter; if it is not C order, the elements are copied.
    ///
    /// ```
    /// use bloscpack_datasets::CArray;
    /// use bloscpack_storage::Memory;
    /// let mut array = CArray::of::<f64>().row_shape(&[2]).create_in(Memory::new())?;
    /// let values = ndarray::array![[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]];
    /// array.append_ndarray(&values.t())?;
    /// array.set_ndarray(&[1, 0], &ndarray::array![[7.0]])?;
    /// assert_eq!(array.to_vec::<f64>(0..3)?, [1.0, 4.0, 7.0, 5.0, 3.0, 6.0]);
    /// # Ok::<(), bloscpack_error::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns the errors of [`append_values`](Self::append_values), and a usage error for rows of another shape and for an
    /// array without axes.
    pub fn append_ndarray<T: Element, S: Data<Elem = T>, D: Dimension>(
        &mut self,
        values: &ArrayBase<S, D>,
    ) -> Result<()> {
        let found: Vec<u64> = values
            .shape()
            .iter()
            .skip(1)
            .map(|len| to_u64(*len))
            .collect();
        let expected = self.storage.grid().row_shape();
        if values.ndim() == 0 || found != expected {
            return Err(Error::usage(format!(
                "the rows have the shape {found:?}, but those of the array {expected:?}"
            )));
        }
        self.append_values(&in_order(values))
    }

    /// Sets the box that begins at position `at` to the elements of an array of the crate `ndarray`. Its order in memory does
    /// not matter.
    ///
    /// # Errors
    /// Returns the errors of [`set`](Self::set), and a usage error if `at` and `values` have different numbers of axes.
    pub fn set_ndarray<T: Element, S: Data<Elem = T>, D: Dimension>(
        &mut self,
        at: &[u64],
        values: &ArrayBase<S, D>,
    ) -> Result<()> {
        if at.len() != values.ndim() {
            let (found, axes) = (at.len(), values.ndim());
            return Err(Error::usage(format!(
                "the position {at:?} has {found} axes, but the values have {axes}"
            )));
        }
        let axes = at.iter().zip(values.shape());
        let slice = axes.map(|(at, len)| Some(*at..at.checked_add(to_u64(*len))?));
        let slice: Option<Vec<Range<u64>>> = slice.collect();
        let slice =
            slice.ok_or_else(|| Error::usage(format!("no array has elements after {at:?}")))?;
        self.set(&slice, &in_order(values))
    }
}

/// The elements in C order.
fn in_order<T: Element, S: Data<Elem = T>, D: Dimension>(values: &ArrayBase<S, D>) -> Cow<'_, [T]> {
    match values.as_slice() {
        Some(values) => values.into(),
        None => values.iter().copied().collect(),
    }
}
