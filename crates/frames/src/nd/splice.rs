//! Stretches of an axis, put in and taken out.

use super::NdArray;
use super::grid::{Grid, box_len};
use bloscpack_dtype::boxes::to_usize;
use bloscpack_error::{Error, Result};
use std::ops::Range;

impl NdArray {
    /// Lengthens an axis by as many elements as `data` has, which are its new end. `data` is a box in C order, as long as the
    /// array along all other axes.
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
    /// As [`insert`](Self::insert).
    pub fn append(&mut self, axis: usize, data: &[u8]) -> Result<()> {
        let end = self.len_of(axis)?;
        self.insert(axis, end, data)
    }

    /// Puts new elements into an axis, before those that are at this position now. Where chunks begin there, and as many of
    /// them as are put in are whole, none is moved; elsewhere all behind them are written anew.
    ///
    /// # Errors
    /// [`Usage`](bloscpack_error::Category::Usage) if there is no such axis or position, if `data` is no whole number of what the axis is
    /// made of, and if the array was opened for reading only; as [`resize`](Self::resize) and
    /// [`write_slice`](Self::write_slice). If chunks that have to move cannot be read or kept, the array has to be opened
    /// again, and is as the last flush left it.
    pub fn insert(&mut self, axis: usize, at: u64, data: &[u8]) -> Result<()> {
        let len = self.len_of(axis)?;
        if at > len {
            return Err(Error::usage(format!("position {at} of an axis of {len}")));
        }
        let count = self.count_in(axis, data.len())?;
        if count == 0 {
            return Ok(());
        }
        let longer = len
            .checked_add(count)
            .ok_or_else(|| Error::usage("no axis is as long"))?;
        let shape = with(self.shape(), axis, longer);
        if at < len && is_whole(&self.grid, axis, at, count) {
            self.frame.begin()?;
            self.spill()?;
            let (first, chunks) = in_chunks(&self.grid, axis, at, count);
            self.reshape(&shape, |at, _| {
                let position = *at.get(axis)?;
                match position {
                    _ if position < first => Some(at.to_vec()),
                    _ if position < first.saturating_add(chunks) => None,
                    _ => Some(with(at, axis, position.saturating_sub(chunks))),
                }
            })?;
        } else {
            self.resize(&shape)?;
            self.as_a_whole(|array| array.shift(axis, at..len, Shift::Up(count)))?;
        }
        let mut slice = self.grid.whole();
        if let Some(range) = slice.get_mut(axis) {
            *range = at..at.saturating_add(count);
        }
        self.as_a_whole(|array| array.write_slice(&slice, data))
    }

    /// Takes a stretch out of an axis. Where that is whole chunks, none is moved; elsewhere all behind it are written anew.
    ///
    /// # Errors
    /// As [`insert`](Self::insert).
    pub fn delete(&mut self, axis: usize, range: Range<u64>) -> Result<()> {
        let len = self.len_of(axis)?;
        if range.start > range.end || range.end > len {
            return Err(Error::usage(format!(
                "the stretch {range:?} of an axis of {len}"
            )));
        }
        let count = range.end.saturating_sub(range.start);
        if count == 0 {
            return Ok(());
        }
        let shape = with(self.shape(), axis, len.saturating_sub(count));
        if range.end < len && is_whole(&self.grid, axis, range.start, count) {
            self.frame.begin()?;
            self.spill()?;
            let (first, chunks) = in_chunks(&self.grid, axis, range.start, count);
            return self.reshape(&shape, |at, _| {
                let position = *at.get(axis)?;
                match position < first {
                    true => Some(at.to_vec()),
                    false => Some(with(at, axis, position.saturating_add(chunks))),
                }
            });
        }
        self.frame.begin()?;
        self.as_a_whole(|array| {
            array.shift(axis, range.end..len, Shift::Down(count))?;
            array.resize(&shape)
        })
    }

    /// Moves a stretch of an axis, in steps that memory has room for.
    fn shift(&mut self, axis: usize, range: Range<u64>, shift: Shift) -> Result<()> {
        let mut slice = self.grid.whole();
        if let Some(place) = slice.get_mut(axis) {
            *place = 0..1;
        }
        let one = box_len(&slice, self.grid.itemsize)
            .unwrap_or(usize::MAX)
            .max(1);
        let step = self
            .frame
            .coders
            .buffer
            .checked_div(one)
            .unwrap_or(1)
            .max(1);
        let step = u64::try_from(step).unwrap_or(1);
        let mut left = range;
        while left.start < left.end {
            let part = match shift {
                Shift::Up(_) => left.end.saturating_sub(step).max(left.start)..left.end,
                Shift::Down(_) => left.start..left.start.saturating_add(step).min(left.end),
            };
            let moved = match shift {
                Shift::Up(by) => part.start.saturating_add(by)..part.end.saturating_add(by),
                Shift::Down(by) => part.start.saturating_sub(by)..part.end.saturating_sub(by),
            };
            match shift {
                Shift::Up(_) => left.end = part.start,
                Shift::Down(_) => left.start = part.end,
            }
            let place = |range: Range<u64>| {
                let mut slice = slice.clone();
                if let Some(place) = slice.get_mut(axis) {
                    *place = range;
                }
                slice
            };
            let data = self.read_slice(&place(part))?;
            self.write_slice(&place(moved), &data)?;
        }
        Ok(())
    }

    fn len_of(&self, axis: usize) -> Result<u64> {
        let len = self.shape().get(axis).copied();
        len.ok_or_else(|| Error::usage(format!("axis {axis} of {}", self.shape().len())))
    }

    /// How many of what an axis is made of these bytes are.
    fn count_in(&self, axis: usize, bytes: usize) -> Result<u64> {
        let others = self
            .shape()
            .iter()
            .enumerate()
            .filter(|(other, _)| *other != axis);
        let one = others.fold(self.grid.itemsize, |one, (_, len)| {
            one.saturating_mul(to_usize(*len))
        });
        match (one, bytes) {
            (0, 0) => Ok(0),
            (1.., _) if bytes.is_multiple_of(one) => Ok(u64::try_from(bytes / one).unwrap_or(0)),
            _ => Err(Error::usage(format!(
                "{bytes} bytes, where axis {axis} is made of {one} bytes each"
            ))),
        }
    }
}

#[derive(Clone, Copy)]
enum Shift {
    Up(u64),
    Down(u64),
}

/// Whether a stretch of an axis is whole chunks.
fn is_whole(grid: &Grid, axis: usize, at: u64, count: u64) -> bool {
    let chunk = grid.chunk.get(axis).copied().unwrap_or(0);
    chunk > 0 && at.is_multiple_of(chunk) && count.is_multiple_of(chunk)
}

/// The first chunk of a stretch, and how many they are.
fn in_chunks(grid: &Grid, axis: usize, at: u64, count: u64) -> (u64, u64) {
    let chunk = grid.chunk.get(axis).copied().unwrap_or(1).max(1);
    (at / chunk, count / chunk)
}

/// The same with another number at one axis.
fn with(numbers: &[u64], axis: usize, number: u64) -> Vec<u64> {
    let mut numbers = numbers.to_vec();
    if let Some(place) = numbers.get_mut(axis) {
        *place = number;
    }
    numbers
}
