//! Slices copied between bytes in memory, which have to contain all of them.

use bloscpack_dtype::strided::{self, Place};
use bloscpack_error::{Error, Result};

/// Copies so many elements along each axis.
pub(super) fn copy_slice(
    lens: &[usize],
    itemsize: usize,
    from: Place<'_, &[u8]>,
    to: Place<'_, &mut [u8]>,
) -> Result<()> {
    check(lens, itemsize, (from.start, from.strides), from.bytes.len())?;
    check(lens, itemsize, (to.start, to.strides), to.bytes.len())?;
    strided::copy(lens, itemsize, from, to);
    Ok(())
}

/// Sets so many elements along each axis to this one.
pub(super) fn fill_slice(lens: &[usize], element: &[u8], to: Place<'_, &mut [u8]>) -> Result<()> {
    check(lens, element.len(), (to.start, to.strides), to.bytes.len())?;
    strided::fill(lens, element, to);
    Ok(())
}

/// A slice that is partly outside of its bytes would only be copied in part.
fn check(
    lens: &[usize],
    itemsize: usize,
    (start, strides): (usize, &[usize]),
    len: usize,
) -> Result<()> {
    let mut axes = lens.iter().zip(strides);
    let end = start.checked_add(itemsize).and_then(|end| {
        axes.try_fold(end, |end, (len, stride)| {
            end.checked_add(len.saturating_sub(1).checked_mul(*stride)?)
        })
    });
    let is_inside = lens.len() == strides.len() && end.is_some_and(|end| end <= len);
    match is_inside || lens.contains(&0) {
        true => Ok(()),
        false => Err(Error::bug(format!(
            "a slice of {lens:?} elements from byte {start} on, with strides of {strides:?}, is outside of {len} bytes"
        ))),
    }
}
