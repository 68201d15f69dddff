//! [`Flat`]: an array of consecutive elements, in C or Fortran order.

use crate::schema::too_large;
use crate::source::checked_slice;
use crate::{Array, Grid, bytes_of, lens};
use bloscpack_dtype::DType;
use bloscpack_error::checked::{in_memory, to_u64};
use bloscpack_error::{Error, IoSide as _, Result};
use bloscpack_storage::ReadAt;
use std::ops::Range;

/// An array of consecutive uncompressed elements, in C or Fortran order, in a source that can be read by position.
///
/// Reading joins adjacent elements into long reads, and reads nothing else. A slice in Fortran order reads each stretch along
/// the first axis at once, into a buffer of that length.
///
/// ```
/// use bloscpack_array::{Array, Flat};
/// use bloscpack_dtype::DType;
///
/// // 2 rows of 3 in Fortran order, after a header of 1 byte.
/// let file = vec![0xff, 1, 4, 2, 5, 3, 6];
/// let array = Flat::new(file, DType::U8, &[2, 3], true)?.from(1);
/// assert_eq!(array.read_slice(&[0..2, 0..3])?, [1, 2, 3, 4, 5, 6]);
/// # Ok::<(), bloscpack_error::Error>(())
/// ```
#[derive(Debug)]
pub struct Flat<S> {
    source: S,
    /// The position of the first element in the source.
    start: u64,
    dtype: DType,
    grid: Grid,
    /// Bytes from one element to the next along each axis of the file. An array without axes has one axis here.
    strides: Vec<u64>,
}

impl<S: ReadAt> Flat<S> {
    /// An array that begins at byte 0 of the source. The last axis counts fastest, in Fortran order the first.
    ///
    /// The length of the source is not checked: an element past its end is an I/O error when it is read.
    ///
    /// # Errors
    /// Returns `Code::NoMemory` for an array of more bytes than 64 bits count.
    pub fn new(source: S, dtype: DType, shape: &[u64], fortran: bool) -> Result<Self> {
        let mut chunk = shape.to_vec();
        if let Some(rows) = chunk.first_mut() {
            *rows = 1;
        }
        let itemsize = dtype.itemsize();
        Ok(Self {
            source,
            start: 0,
            dtype,
            strides: strides(&rows_of(shape), itemsize, fortran)?,
            grid: Grid::new(shape.to_vec(), chunk),
        })
    }

    /// Moves the first element to this byte of the source, for a file with a header.
    #[must_use]
    pub fn from(mut self, start: u64) -> Self {
        self.start = start;
        self
    }

    /// The source of the bytes.
    pub fn source(&self) -> &S {
        &self.source
    }

    fn fill(&self, at: u64, buf: &mut [u8]) -> Result<()> {
        let at = self.start.checked_add(at);
        let at = at.ok_or_else(|| Error::bug("an element past the end of the source"))?;
        self.source.read_exact_at(at, buf).reading()
    }

    fn read(&self, slice: &[Range<u64>], out: &mut [u8]) -> Result<()> {
        let (rows, mut ranges) = checked_slice(&rows_of(self.grid.shape()), slice)?;
        ranges.insert(0, rows);
        let itemsize = self.dtype.itemsize();
        let shape = lens(&ranges);
        if bytes_of(&ranges, itemsize) != to_u64(out.len()) {
            let found = out.len();
            return Err(Error::usage(format!(
                "room of {found} bytes for a slice of {shape:?}"
            )));
        }
        let axes: Vec<Axis> = shape
            .iter()
            .zip(&ranges)
            .zip(self.strides.iter().zip(strides(&shape, itemsize, false)?))
            .map(|((len, range), (from, to))| Axis {
                len: *len,
                start: range.start,
                from: *from,
                to,
            })
            .collect();
        self.gather(&axes, out)
    }

    /// Reads runs of adjacent elements, and copies each to its place in `out`.
    ///
    /// The arithmetic cannot overflow: positions in the file are below the size of the array, positions in the box below the
    /// length of `out`. Both fit 64 bits, as [`strides`] has checked.
    fn gather(&self, axes: &[Axis], out: &mut [u8]) -> Result<()> {
        if out.is_empty() {
            return Ok(());
        }
        // Axes from the fastest in the file: as long as they are adjacent in both file and output, they form one run.
        let mut order: Vec<&Axis> = axes.iter().collect();
        order.sort_by_key(|axis| axis.from);
        let start = axes
            .iter()
            .fold(0, |sum, axis| sum + axis.start * axis.from);
        let mut run = self.dtype.itemsize();
        let mut rest = order.as_slice();
        while let Some((axis, slower)) = rest.split_first() {
            if axis.len != 1 && (axis.from != run || axis.to != run) {
                break;
            }
            run *= axis.len;
            rest = slower;
        }
        // In Fortran order the first axis is contiguous only in the file: it is read at once and distributed.
        let dealt = match rest.split_first() {
            Some((axis, slower)) if axis.from == run => {
                rest = slower;
                Some(*axis)
            }
            _ => None,
        };
        let many = dealt.map_or(1, |axis| axis.len);
        let run_len = in_memory(run)?;
        let mut buffer = match dealt {
            Some(_) => vec![0; in_memory(run * many)?],
            None => Vec::new(),
        };
        let mut counts = vec![0u64; rest.len()];
        loop {
            let places = rest.iter().zip(&counts);
            let (from, to) = places.fold((start, 0), |(from, to), (axis, at)| {
                (from + axis.from * at, to + axis.to * at)
            });
            match dealt {
                None => self.fill(from, part(out, to, run)?)?,
                Some(axis) => {
                    self.fill(from, &mut buffer)?;
                    let pieces = buffer.chunks_exact(run_len);
                    for (at, piece) in (0u64..).zip(pieces) {
                        part(out, to + axis.to * at, run)?.copy_from_slice(piece);
                    }
                }
            }
            if !count(&mut counts, rest) {
                return Ok(());
            }
        }
    }
}

/// An axis of the box that is read.
#[derive(Debug)]
struct Axis {
    len: u64,
    /// The first element of the box along this axis of the array.
    start: u64,
    /// Bytes from one element to the next in the file.
    from: u64,
    /// Bytes from one element to the next in the output.
    to: u64,
}

/// Moves to the next combination; false after the last.
fn count(counts: &mut [u64], axes: &[&Axis]) -> bool {
    for (at, axis) in counts.iter_mut().zip(axes) {
        *at += 1;
        if *at < axis.len {
            return true;
        }
        *at = 0;
    }
    false
}

fn part(out: &mut [u8], at: u64, len: u64) -> Result<&mut [u8]> {
    let (start, len) = (in_memory(at)?, in_memory(len)?);
    out.get_mut(start..)
        .and_then(|rest| rest.get_mut(..len))
        .ok_or_else(|| Error::bug(format!("{len} bytes at {at} are outside of their slice")))
}

/// Bytes from one element to the next along each axis; an error for an array of more bytes than 64 bits count.
fn strides(shape: &[u64], itemsize: u64, fortran: bool) -> Result<Vec<u64>> {
    let mut strides = vec![0; shape.len()];
    // No element of an empty array follows another, and its other axes may have any length.
    if shape.contains(&0) {
        return Ok(strides);
    }
    let mut step = itemsize;
    let mut next = |(stride, len): (&mut u64, &u64)| {
        *stride = step;
        step = step.checked_mul(*len).ok_or_else(too_large)?;
        Ok::<_, Error>(())
    };
    let mut axes = strides.iter_mut().zip(shape);
    if fortran {
        axes.try_for_each(&mut next)?
    } else {
        axes.rev().try_for_each(&mut next)?
    }
    Ok(strides)
}

/// The shape; `[1]` for an array without axes.
fn rows_of(shape: &[u64]) -> Vec<u64> {
    if shape.is_empty() {
        vec![1]
    } else {
        shape.to_vec()
    }
}

impl<S: ReadAt> Array for Flat<S> {
    fn grid(&self) -> &Grid {
        &self.grid
    }

    fn dtype(&self) -> &DType {
        &self.dtype
    }

    fn read_slice_into(&self, slice: &[Range<u64>], out: &mut [u8]) -> Result<()> {
        self.read(slice, out)
    }
}
