//! Lengths and slices with checked conversions: a value that does not fit is an error, never a truncated value.

use crate::{Error, Result};
pub use bloscpack_wire::internal::{to_u64, to_usize};
use std::ops::Range;

/// Converts a length in a file to a length in memory.
///
/// # Errors
/// Returns [`Code::NoMemory`](crate::Code::NoMemory) for more than `isize::MAX`, the maximum of any allocation.
#[inline]
pub fn in_memory(len: u64) -> Result<usize> {
    isize::try_from(len)
        .map(isize::unsigned_abs)
        .map_err(|_| Error::no_memory(len))
}

/// A zeroed buffer. Most systems assign its pages only when they are written.
///
/// # Errors
/// Returns [`Code::NoMemory`](crate::Code::NoMemory) if it cannot be allocated.
pub fn zeros(bytes: u64) -> Result<Vec<u8>> {
    bytemuck::try_zeroed_vec(in_memory(bytes)?).map_err(|()| Error::no_memory(bytes))
}

/// The length of a range; 0 if it ends before it begins.
pub const fn len_of(range: &Range<u64>) -> u64 {
    range.end.saturating_sub(range.start)
}

/// The bytes of a range that must be within the buffer.
///
/// # Errors
/// Returns [`Code::Bug`](crate::Code::Bug) if it is not.
#[inline]
pub fn slice(bytes: &[u8], range: Range<usize>) -> Result<&[u8]> {
    let len = bytes.len();
    bytes.get(range.clone()).ok_or_else(|| outside(&range, len))
}

/// As [`slice`], for writing.
///
/// # Errors
/// Returns [`Code::Bug`](crate::Code::Bug) if the range is not within the buffer.
pub fn slice_mut(bytes: &mut [u8], range: Range<usize>) -> Result<&mut [u8]> {
    let len = bytes.len();
    bytes
        .get_mut(range.clone())
        .ok_or_else(|| outside(&range, len))
}

#[cold]
fn outside(range: &Range<usize>, len: usize) -> Error {
    Error::bug(format!("bytes {range:?} of a buffer of {len} bytes"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Code;

    #[test]
    fn what_no_buffer_can_have_is_an_error() {
        assert_eq!(zeros(3).unwrap(), [0; 3]);
        for bytes in [u64::MAX, 1 << 63, (1 << 63) - 1] {
            let error = zeros(bytes).unwrap_err();
            assert_eq!(error.code(), Code::NoMemory);
            assert!(error.to_string().contains(&bytes.to_string()), "{error}");
        }
    }

    #[test]
    fn a_range_that_does_not_lie_inside_is_a_bug() {
        let mut bytes = [1, 2, 3];
        assert_eq!(slice(&bytes, 1..3).unwrap(), [2, 3]);
        assert!(slice(&bytes, 3..3).unwrap().is_empty());
        for (from, to) in [(0, 4), (2, 1), (4, 4)] {
            let error = slice(&bytes, from..to).unwrap_err();
            assert_eq!(error.code(), Code::Bug, "{from}..{to}");
            let error = slice_mut(&mut bytes, from..to).unwrap_err();
            assert_eq!(error.code(), Code::Bug, "{from}..{to}");
        }
    }
}
