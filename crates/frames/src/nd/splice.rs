//! Inserts elements into an axis, and deletes them.

use super::NdArray;
use bloscpack_array::{Grid, outside};
use bloscpack_array::{along, with_range};
use bloscpack_error::checked::to_u64;
use bloscpack_error::{Error, Result};
use std::ops::Range;

impl NdArray {
    /// Appends elements to an axis. `data` is in C order. Along all other axes it is as long as the array; its length gives the
    /// number of new positions.
    ///
    /// ```
    /// use bloscpack_frames::NdArray;
    /// let mut array = NdArray::of_type::<u8>(&[2, 2]).in_memory()?;
    /// array.append(1, &[5, 6])?;
    /// assert_eq!(array.to_vec::<u8>(&[0..2, 0..3])?, [0, 0, 5, 0, 0, 6]);
    /// # Ok::<(), bloscpack_error::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns the errors of [`insert`](Self::insert).
    pub fn append(&mut self, axis: usize, data: &[u8]) -> Result<()> {
        let end = self.len_of(axis)?;
        self.insert(axis, end, data)
    }

    /// Inserts elements into an axis, before the ones at position `at`. `data` is in C order. Along all other axes it is as
    /// long as the array; its length gives the number of new positions. Empty `data` changes nothing.
    ///
    /// If whole chunks are inserted where a chunk begins, only the index changes for the others. Otherwise all elements after
    /// `at` move, and their chunks are rewritten.
    ///
    /// ```
    /// use bloscpack_frames::NdArray;
    /// let mut array = NdArray::of_type::<u8>(&[3]).in_memory()?;
    /// array.write(&[0..3], &[1u8, 2, 3])?;
    /// array.insert(0, 1, &[8, 9])?;
    /// assert_eq!(array.to_vec::<u8>(&[0..5])?, [1, 8, 9, 2, 3]);
    /// # Ok::<(), bloscpack_error::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns [`Code::OutOfBounds`](bloscpack_error::Code::OutOfBounds) for an axis or a position outside of the array,
    /// [`Code::Usage`](bloscpack_error::Code::Usage) for a length of `data` that is not a multiple of one position of the axis,
    /// [`Code::ReadOnly`](bloscpack_error::Code::ReadOnly) if the array was opened for reading, and the errors of
    /// [`resize`](Self::resize) and [`write_slice`](Self::write_slice). If chunks that have to move cannot be read or written,
    /// the array must be reopened; it is unchanged since the last flush.
    pub fn insert(&mut self, axis: usize, at: u64, data: &[u8]) -> Result<()> {
        let len = self.len_of(axis)?;
        if at > len {
            return Err(self.out_of_bounds(format!("position {at} of axis {axis}")));
        }
        let count = self.count_in(axis, data.len())?;
        if count == 0 {
            return Ok(());
        }
        let longer = len.checked_add(count).ok_or_else(|| {
            Error::usage(format!(
                "axis {axis} would have 2^64 or more elements with {count} more"
            ))
        })?;
        let shape = with(self.shape(), axis, longer)?;
        if at < len && is_whole(&self.grid().chunks, axis, at, count)? {
            self.frame_mut().begin()?;
            self.spill()?;
            let (first, chunks) = in_chunks(&self.grid().chunks, axis, at, count)?;
            self.reshape(&shape, |at| {
                let position = along(at, axis)?;
                match position.checked_sub(chunks) {
                    _ if position < first => Ok(Some(at.to_vec())),
                    Some(old) if old >= first => with(at, axis, old).map(Some),
                    _ => Ok(None),
                }
            })?;
        } else {
            self.resize(&shape)?;
            self.all_or_poison(|array| array.shift(axis, at..len, Shift::Up(count)))?;
        }
        let slice = with_range(&self.grid().chunks.whole(), axis, at..at + count)?;
        self.all_or_poison(|array| array.write_slice(&slice, data))
    }

    /// Deletes a range of an axis. An empty range changes nothing.
    ///
    /// If whole chunks are deleted, only the index changes for the others. Otherwise all elements after the range move, and
    /// their chunks are rewritten.
    ///
    /// ```
    /// use bloscpack_frames::NdArray;
    /// let mut array = NdArray::of_type::<u8>(&[4]).in_memory()?;
    /// array.write(&[0..4], &[1u8, 2, 3, 4])?;
    /// array.delete(0, 1..3)?;
    /// assert_eq!(array.to_vec::<u8>(&[0..2])?, [1, 4]);
    /// # Ok::<(), bloscpack_error::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns the errors of [`insert`](Self::insert).
    pub fn delete(&mut self, axis: usize, range: Range<u64>) -> Result<()> {
        let len = self.len_of(axis)?;
        if range.start > range.end || range.end > len {
            return Err(self.out_of_bounds(format!("the range {range:?} of axis {axis}")));
        }
        let count = range.end - range.start;
        if count == 0 {
            return Ok(());
        }
        let shape = with(self.shape(), axis, len - count)?;
        if range.end < len && is_whole(&self.grid().chunks, axis, range.start, count)? {
            self.frame_mut().begin()?;
            self.spill()?;
            let (first, chunks) = in_chunks(&self.grid().chunks, axis, range.start, count)?;
            return self.reshape(&shape, |at| {
                let position = along(at, axis)?;
                if position < first {
                    Ok(Some(at.to_vec()))
                } else {
                    with(at, axis, position + chunks).map(Some)
                }
            });
        }
        self.frame_mut().begin()?;
        self.all_or_poison(|array| {
            array.shift(axis, range.end..len, Shift::Down(count))?;
            array.resize(&shape)
        })
    }

    /// Moves a range of an axis up or down, in steps of up to `buffer` bytes.
    fn shift(&mut self, axis: usize, range: Range<u64>, shift: Shift) -> Result<()> {
        if range.is_empty() {
            return Ok(());
        }
        let whole = self.grid().chunks.whole();
        let one = self.grid().slice_len(&with_range(&whole, axis, 0..1)?)?;
        let step = to_u64((self.frame().coder.buffer / one.max(1)).max(1));
        let mut left = range;
        while left.start < left.end {
            let step = step.min(left.end - left.start);
            // In an order that does not overwrite elements before they have moved.
            let part = match shift {
                Shift::Up(_) => left.end - step..left.end,
                Shift::Down(_) => left.start..left.start + step,
            };
            let moved = match shift {
                Shift::Up(by) => part.start + by..part.end + by,
                Shift::Down(by) => part.start - by..part.end - by,
            };
            match shift {
                Shift::Up(_) => left.end = part.start,
                Shift::Down(_) => left.start = part.end,
            }
            let data = self.read_slice(&with_range(&whole, axis, part)?)?;
            self.write_slice(&with_range(&whole, axis, moved)?, &data)?;
        }
        Ok(())
    }

    /// The length of an axis, or [`Code::OutOfBounds`](bloscpack_error::Code::OutOfBounds).
    fn len_of(&self, axis: usize) -> Result<u64> {
        let len = self.shape().get(axis).copied();
        len.ok_or_else(|| self.out_of_bounds(format!("axis {axis}")))
    }

    /// The error for a position outside of the array.
    fn out_of_bounds(&self, asked: String) -> Error {
        outside(asked, self.shape())
    }

    /// The number of positions of an axis that `bytes` bytes fill. Refuses a rest.
    fn count_in(&self, axis: usize, bytes: usize) -> Result<u64> {
        let bytes = to_u64(bytes);
        let others = self.shape().iter().enumerate();
        let mut others = others.filter(|(other, _)| *other != axis);
        let itemsize = u64::from(self.itemsize());
        let one = if others.clone().any(|(_, len)| *len == 0) {
            Some(0)
        } else {
            others.try_fold(itemsize, |one, (_, len)| one.checked_mul(*len))
        };
        match one {
            Some(0) if bytes == 0 => Ok(0),
            Some(one) if one > 0 && bytes.is_multiple_of(one) => Ok(bytes / one),
            _ => {
                let one = one.map_or_else(|| "2^64 or more".to_owned(), |one| one.to_string());
                Err(Error::usage(format!(
                    "{bytes} bytes are not a multiple of {one}, the bytes of one position of axis {axis}"
                )))
            }
        }
    }
}

/// A direction and a distance.
#[derive(Clone, Copy)]
enum Shift {
    Up(u64),
    Down(u64),
}

/// Whether `count` positions from `at` are whole chunks.
fn is_whole(grid: &Grid, axis: usize, at: u64, count: u64) -> Result<bool> {
    let chunk = along(grid.chunk_shape(), axis)?;
    Ok(chunk > 0 && at.is_multiple_of(chunk) && count.is_multiple_of(chunk))
}

/// The number of the first chunk, and the number of chunks, in a range of whole chunks.
fn in_chunks(grid: &Grid, axis: usize, at: u64, count: u64) -> Result<(u64, u64)> {
    let chunk = along(grid.chunk_shape(), axis)?.max(1);
    Ok((at / chunk, count / chunk))
}

/// The same numbers, with another one for one axis.
fn with(numbers: &[u64], axis: usize, number: u64) -> Result<Vec<u64>> {
    // Refuses an axis that does not exist.
    along(numbers, axis)?;
    let all = numbers.iter().enumerate();
    Ok(all
        .map(|(at, other)| if at == axis { number } else { *other })
        .collect())
}
