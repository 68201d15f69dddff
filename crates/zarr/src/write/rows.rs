//! [`RowWriter`]: writes an array row by row.

use super::{ArrayFiles, ArrayWriter};
use bloscpack_array::{Array, Flat, Grid, check};
use bloscpack_dtype::DType;
use bloscpack_error::checked::{in_memory, to_u64};
use bloscpack_error::{Error, Result};
use std::ops::Range;

/// Writes an array from its first row to its last, for sources that are read in order. The rows of one file (a chunk or a
/// shard) are in memory.
///
/// ```
/// use bloscpack::Options;
/// use bloscpack_dtype::DType;
/// use bloscpack_storage::{Key, Memory};
/// use bloscpack_zarr::{ArrayWriter, Format, NewArray, RowWriter, ZarrArray};
/// use std::sync::Arc;
///
/// let store = Arc::new(Memory::new());
/// let new = NewArray::new(Format::V2, DType::U8, &[3, 2], &[2, 2]);
/// let mut rows = RowWriter::new(ArrayWriter::create(store.clone(), Key::root(), new)?)?;
/// rows.push(&[1, 2])?;
/// rows.push(&[3, 4, 5, 6])?;
/// rows.finish()?;
/// let array = ZarrArray::open(store, &Key::root(), &Options::new())?;
/// assert_eq!(array.read_slice(&[1..3, 0..2])?, [3, 4, 5, 6]);
/// # Ok::<(), bloscpack_error::Error>(())
/// ```
#[derive(Debug)]
pub struct RowWriter {
    writer: ArrayWriter,
    grid: Grid,
    row_bytes: usize,
    rows: Vec<u8>,
    /// The number of the first row in memory.
    first: u64,
}

impl RowWriter {
    /// Writes the rows of this array. No chunk of it may have been written.
    ///
    /// # Errors
    /// Returns [`Code::Usage`](bloscpack_error::Code::Usage) for an array without axes, for rows of 0 bytes, and for chunks
    /// that are smaller than a row along another axis than the first.
    pub fn new(writer: ArrayWriter) -> Result<Self> {
        let new = writer.array();
        let grid = Grid::new(new.shape.clone(), new.outer_shape()?);
        let rows = new.shape.iter().zip(&new.chunk_shape).skip(1);
        let is_whole = rows.clone().all(|(len, chunk)| chunk >= len);
        let row = rows.fold(new.dtype.itemsize(), |bytes, (len, _)| {
            bytes.saturating_mul(*len)
        });
        if new.shape.is_empty() || row == 0 || !is_whole {
            let (shape, chunk) = (&new.shape, &new.chunk_shape);
            let message = format!("rows of an array of {shape:?} in chunks of {chunk:?}");
            return Err(Error::usage(message));
        }
        Ok(Self {
            row_bytes: in_memory(row)?,
            grid,
            writer,
            rows: Vec::new(),
            first: 0,
        })
    }

    /// Adds the bytes of further rows, in C order and in the byte order of the dtype. Each full chunk or shard is compressed
    /// and written at once.
    ///
    /// # Errors
    /// Returns [`Code::Usage`](bloscpack_error::Code::Usage) for more rows than the array has, and any I/O error.
    pub fn push(&mut self, rows: &[u8]) -> Result<()> {
        self.rows.extend_from_slice(rows);
        let band = self.grid.chunk_shape().first().copied().unwrap_or(1);
        let bytes = in_memory(band)?.saturating_mul(self.row_bytes);
        while self.rows.len() >= bytes {
            let rest = self.rows.split_off(bytes);
            let whole = std::mem::replace(&mut self.rows, rest);
            self.put(whole)?;
        }
        Ok(())
    }

    /// Writes the file that begins with the first row in memory. The last file may have fewer rows.
    fn put(&mut self, rows: Vec<u8>) -> Result<()> {
        let (all, found) = (self.grid.shape().first().copied().unwrap_or(0), rows.len());
        let count = to_u64(found / self.row_bytes);
        let end = self.first.checked_add(count).filter(|end| *end <= all);
        if end.is_none() || !found.is_multiple_of(self.row_bytes) {
            let message = format!("{found} bytes of rows after row {} of {all}", self.first);
            return Err(Error::usage(message));
        }
        let mut shape = self.grid.shape().to_vec();
        if let Some(first) = shape.first_mut() {
            *first = count;
        }
        let band = Band {
            rows: Flat::new(rows, self.writer.array().dtype.clone(), &shape, false)?,
            first: self.first,
            grid: self.grid.clone(),
        };
        let mut at = vec![0; shape.len()];
        if let (Some(at), Some(each)) = (at.first_mut(), self.grid.chunk_shape().first()) {
            *at = self.first / each;
        }
        self.writer.write_file(&at, (&band, false))?;
        self.first += count;
        Ok(())
    }

    /// Writes the last rows, and syncs everything. Returns what [`create_group`](crate::create_group) needs to know about the
    /// array.
    ///
    /// # Errors
    /// Returns [`Code::Usage`](bloscpack_error::Code::Usage) for fewer rows than the array has, or for an incomplete row, and
    /// any I/O error.
    pub fn finish(mut self) -> Result<ArrayFiles> {
        if !self.rows.is_empty() {
            let rest = std::mem::take(&mut self.rows);
            self.put(rest)?;
        }
        let all = self.grid.shape().first().copied().unwrap_or(0);
        if self.first != all {
            let found = self.first;
            return Err(Error::usage(format!("{found} rows of an array of {all}")));
        }
        self.writer.finish()
    }
}

/// Consecutive rows as the array that contains them. Only these rows can be read.
struct Band {
    rows: Flat<Vec<u8>>,
    first: u64,
    grid: Grid,
}

impl Array for Band {
    fn grid(&self) -> &Grid {
        &self.grid
    }

    fn dtype(&self) -> &DType {
        self.rows.dtype()
    }

    fn read_slice_into(&self, slice: &[Range<u64>], out: &mut [u8]) -> Result<()> {
        check(slice, self.grid.shape())?;
        let mut slice = slice.to_vec();
        if let Some(rows) = slice.first_mut() {
            *rows = rows.start.saturating_sub(self.first)..rows.end.saturating_sub(self.first);
        }
        self.rows.read_slice_into(&slice, out)
    }
}
