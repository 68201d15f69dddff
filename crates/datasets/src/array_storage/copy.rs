//! Copies boxes of elements between arrays in memory.

use crate::grid::{lens, starts};
use bloscpack_array::boxes::{Run, Window, runs};
use bloscpack_error::{Error, Result};
use std::ops::Range;

/// The shape of a part of an array that is contiguous in memory, and the index in the array of its first element.
pub(super) struct Region {
    pub shape: Vec<u64>,
    pub origin: Vec<u64>,
}

impl Region {
    /// The region of a selection that is contiguous in memory.
    pub(super) fn of(selection: &[Range<u64>]) -> Self {
        Self {
            shape: lens(selection),
            origin: starts(selection),
        }
    }

    fn window(&self) -> Window<'_> {
        Window {
            shape: &self.shape,
            origin: &self.origin,
        }
    }
}

/// Calls `each` for the runs of bytes of a selection that are contiguous in both regions.
pub(super) fn for_each_run(
    selected: &[Range<u64>],
    (from, to): (&Region, &Region),
    itemsize: u64,
    each: impl FnMut(Run) -> Result<()>,
) -> Result<()> {
    runs(selected, (from.window(), to.window()), itemsize, each)
}

/// Copies the selected elements, which are in both regions.
pub(super) fn copy_selected(
    selected: &[Range<u64>],
    (from, from_bytes): (&Region, &[u8]),
    (to, to_bytes): (&Region, &mut [u8]),
    itemsize: u64,
) -> Result<()> {
    for_each_run(selected, (from, to), itemsize, |run| {
        let (from_len, to_len) = (from_bytes.len(), to_bytes.len());
        let source = bytes_of(run.from, run.len).and_then(|range| from_bytes.get(range));
        let target = bytes_of(run.to, run.len).and_then(|range| to_bytes.get_mut(range));
        match (source, target) {
            (Some(source), Some(target)) => {
                target.copy_from_slice(source);
                Ok(())
            }
            _ => Err(Error::bug(format!(
                "a copy of {run:?} between regions of {from_len} and {to_len} bytes"
            ))),
        }
    })
}

/// The positions of `len` bytes.
pub(super) fn bytes_of(from: usize, len: usize) -> Option<Range<usize>> {
    Some(from..from.checked_add(len)?)
}
