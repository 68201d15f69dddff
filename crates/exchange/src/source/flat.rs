//! [`Flat`]: an array of consecutive elements, in C or Fortran order.

use super::array::{checked_slice, lens};
use super::{Batch, Schema, Source, next_rows, to_u64, to_usize};
use bloscpack_dtype::DType;
use bloscpack_error::{Error, Result};
use std::ops::Range;

/// Bytes that are read at any position.
pub trait Content {
    /// Fills `buf` from `at` on.
    fn fill(&self, at: u64, buf: &mut [u8]) -> Result<()>;
}

/// An array of consecutive elements, or a box of it.
#[derive(Debug)]
pub struct Flat<C> {
    content: C,
    /// Elements along each axis, and bytes from one to the next along it.
    shape: Vec<u64>,
    strides: Vec<u64>,
    schema: Schema,
    rows: u64,
    rest: Range<u64>,
    within: Vec<Range<u64>>,
}

impl<C: Content> Flat<C> {
    /// An array of these bytes: the last index counts fastest, in Fortran's order the first.
    pub fn new(content: C, dtype: DType, shape: &[u64], fortran: bool) -> Result<Self> {
        // A single element, without an axis, is a row.
        let shape = if shape.is_empty() {
            vec![1]
        } else {
            shape.to_vec()
        };
        let strides = strides(&shape, dtype.itemsize(), fortran);
        let schema = Schema::array(dtype, shape.get(1..).unwrap_or_default());
        let (rest, within) = checked_slice(&shape, &[])?;
        Ok(Self {
            content,
            rows: rest.end,
            shape,
            strides,
            schema,
            rest,
            within,
        })
    }

    /// Only this box of it, a range for each axis; axes that are not named are whole.
    pub fn slice(mut self, slice: &[Range<u64>]) -> Result<Self> {
        let (rows, within) = checked_slice(&self.shape, slice)?;
        for column in &mut self.schema.columns {
            column.row_shape = lens(&within);
        }
        self.rows = rows.end.saturating_sub(rows.start);
        (self.rest, self.within) = (rows, within);
        Ok(self)
    }

    /// The elements of a box, a range for each axis, in C order.
    pub fn read(&self, slice: &[Range<u64>]) -> Result<Vec<u8>> {
        let itemsize = self
            .schema
            .columns
            .first()
            .map_or(0, |column| column.dtype.itemsize());
        let shape = lens(slice);
        let total = match shape.contains(&0) {
            true => Some(0),
            false => shape
                .iter()
                .try_fold(itemsize, |product, len| product.checked_mul(*len)),
        };
        let mut out = Vec::new();
        let len = total.and_then(|total| usize::try_from(total).ok());
        let reserved = len.filter(|len| out.try_reserve_exact(*len).is_ok());
        let Some(len) = reserved else {
            return Err(Error::usage("a row is too large for memory"));
        };
        out.resize(len, 0);
        let axes: Vec<Axis> = shape
            .iter()
            .zip(slice)
            .zip(self.strides.iter().zip(strides(&shape, itemsize, false)))
            .map(|((len, range), (from, to))| Axis {
                len: *len,
                start: range.start,
                from: *from,
                to,
            })
            .collect();
        self.gather(&axes, itemsize, &mut out)?;
        Ok(out)
    }

    /// Reads runs of adjacent elements, and puts each where it belongs.
    fn gather(&self, axes: &[Axis], itemsize: u64, out: &mut [u8]) -> Result<()> {
        if out.is_empty() {
            return Ok(());
        }
        // Axes of the file from the fastest on: as long as they are adjacent in both, they are one run.
        let mut order: Vec<&Axis> = axes.iter().collect();
        order.sort_by_key(|axis| axis.from);
        let start = axes
            .iter()
            .fold(0, |sum, axis| sum + axis.start.saturating_mul(axis.from));
        let mut run = itemsize;
        let mut rest = order.as_slice();
        while let Some((axis, slower)) = rest.split_first() {
            if axis.len != 1 && (axis.from != run || axis.to != run) {
                break;
            }
            run = run.saturating_mul(axis.len);
            rest = slower;
        }
        // In Fortran order the first axis is contiguous in the file alone: it is read at once and distributed.
        let dealt = match rest.split_first() {
            Some((axis, slower)) if axis.from == run => {
                rest = slower;
                Some(*axis)
            }
            _ => None,
        };
        let many = dealt.map_or(1, |axis| axis.len);
        let mut buffer = vec![0; dealt.map_or(0, |_| to_usize(run.saturating_mul(many)))];
        let mut counts = vec![0u64; rest.len()];
        loop {
            let places = rest.iter().zip(&counts);
            let (from, to) = places.fold((start, 0), |(from, to), (axis, at)| {
                (from + axis.from * at, to + axis.to * at)
            });
            match dealt {
                None => self.content.fill(from, part(out, to, run)?)?,
                Some(axis) => {
                    self.content.fill(from, &mut buffer)?;
                    let pieces = buffer.chunks_exact(to_usize(run).max(1));
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

/// An axis of a box that is read.
#[derive(Debug)]
struct Axis {
    len: u64,
    /// Elements of the whole before it.
    start: u64,
    /// Bytes from one to the next in the whole.
    from: u64,
    /// And in the box.
    to: u64,
}

/// The next of all combinations; whether there is one.
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
    let (at, len) = (to_usize(at), to_usize(len));
    out.get_mut(at..)
        .and_then(|rest| rest.get_mut(..len))
        .ok_or_else(|| Error::usage("a part outside of its box"))
}

/// Bytes from one element to the next along each axis.
fn strides(shape: &[u64], itemsize: u64, fortran: bool) -> Vec<u64> {
    let mut strides = vec![itemsize; shape.len()];
    let mut step = itemsize;
    let mut of = |(stride, len): (&mut u64, &u64)| {
        *stride = step;
        step = step.saturating_mul(*len);
    };
    match fortran {
        true => strides.iter_mut().zip(shape).for_each(&mut of),
        false => strides.iter_mut().zip(shape).rev().for_each(&mut of),
    }
    strides
}

impl<C: Content> Source for Flat<C> {
    fn schema(&self) -> &Schema {
        &self.schema
    }

    fn rows(&self) -> u64 {
        self.rows
    }

    fn next_batch(&mut self, bytes: usize) -> Result<Option<Batch>> {
        let Some(rows) = next_rows(&mut self.rest, self.schema.row_bytes(), 1, bytes) else {
            return Ok(None);
        };
        let mut slice = vec![rows.clone()];
        slice.extend(self.within.iter().cloned());
        let read = self.read(&slice);
        Ok(Some(Batch {
            rows: rows.end.saturating_sub(rows.start),
            columns: vec![read.inspect_err(|_| self.rest = 0..0)?],
        }))
    }
}

impl Content for Vec<u8> {
    fn fill(&self, at: u64, buf: &mut [u8]) -> Result<()> {
        let end = at.saturating_add(to_u64(buf.len()));
        let bytes = self.get(to_usize(at)..to_usize(end));
        buf.copy_from_slice(bytes.ok_or_else(|| Error::usage("bytes past the end"))?);
        Ok(())
    }
}
