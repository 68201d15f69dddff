//! Copies elements of an array to a writer, in C order.

use super::{Part, Region, watch};
use bloscpack::Watch;
use bloscpack_array::Array;
use bloscpack_error::Result;
use bloscpack_error::checked::{in_memory, slice};
use bloscpack_error::{Error, Side};
use std::io::Write;
use std::ops::Range;

/// Writes a part of an array, and returns the number of bytes.
pub(crate) fn copy(
    array: &dyn Array,
    part: &Part,
    to: &mut (impl Write + ?Sized),
    watch: &Watch,
) -> Result<u64> {
    if let Some(stepped) = part.stepped(array)? {
        return copy(&stepped, &Part::All, to, watch);
    }
    let (grid, itemsize) = (array.grid(), array.dtype().itemsize());
    let (region, bytes) = part.resolve(grid.shape(), grid.chunk_shape(), itemsize)?;
    let total = region.bytes(itemsize);
    let (mut at, mut written) = (0, 0);
    region.for_each_part(itemsize, grid.chunk_shape(), |part| {
        let len = part.bytes(itemsize);
        let wanted = within(&bytes, at, len);
        at += len;
        if !wanted.is_empty() {
            written += write(to, cut(&array.read_slice(part)?, wanted)?)?;
        }
        watch::advance(watch, len, Some(total))
    })?;
    part.check(written, Region::all(grid.shape()).bytes(itemsize))
}

/// Writes bytes, and returns how many. An error is on the side of the target.
pub(crate) fn write(to: &mut (impl Write + ?Sized), data: &[u8]) -> Result<u64> {
    to.write_all(data)
        .map_err(|error| Error::from(error).on(Side::Target))?;
    Ok(bloscpack_wire::internal::to_u64(data.len()))
}

/// A range of the bytes.
pub(crate) fn cut(data: &[u8], range: Range<u64>) -> Result<&[u8]> {
    slice(data, in_memory(range.start)?..in_memory(range.end)?)
}

/// The part of `wanted` inside the `len` bytes at `at`, relative to `at`.
pub(crate) fn within(wanted: &Range<u64>, at: u64, len: u64) -> Range<u64> {
    // Positions before `at` become 0.
    let clip = |position: u64| position.saturating_sub(at).min(len);
    clip(wanted.start)..clip(wanted.end)
}

#[cfg(test)]
mod tests {
    use super::{cut, within};

    #[test]
    fn ranges_are_clipped() {
        assert_eq!(within(&(3..7), 0, 10), 3..7);
        assert_eq!(within(&(3..7), 5, 10), 0..2);
        assert_eq!(within(&(3..u64::MAX), 5, 10), 0..10);
        assert!(within(&(3..5), 5, 10).is_empty());
        assert!(within(&(15..20), 5, 10).is_empty());
    }

    #[test]
    fn missing_bytes_are_a_bug() {
        assert_eq!(cut(b"abc", 1..3).unwrap(), b"bc");
        assert!(cut(b"abc", 2..4).is_err());
    }
}
