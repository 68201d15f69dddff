//! Reads elements.

use super::{Blocks, CArray};
use bloscpack_array::{Array, Description, Grid, Zones, bytes_of};
use bloscpack_dtype::DType;
use bloscpack_dtype::native::{self, Element};
use bloscpack_error::checked::{in_memory, to_u64};
use bloscpack_error::{Error, Result};
use std::ops::Range;

/// Bytes that are read at once. A hostile shape must not take memory for elements that no chunk contains.
const STEP: u64 = 64 << 20;

impl CArray {
    /// The bytes of these rows, in C order and in the byte order of the dtype.
    ///
    /// ```
    /// # testkit::enter_testdata();
    /// # use bloscpack_datasets::CArray;
    /// let array = CArray::open("testdata/datasets/bcolz/py2_int64")?;
    /// assert_eq!(array.read_rows(0..2)?.len(), 16);
    /// # Ok::<(), bloscpack_error::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns [`Code::OutOfBounds`](bloscpack_error::Code::OutOfBounds) for rows that do not exist,
    /// [`Code::Unsupported`](bloscpack_error::Code::Unsupported) for an array of Python objects, and any error of the
    /// superchunks.
    pub fn read_rows(&self, rows: Range<u64>) -> Result<Vec<u8>> {
        self.read_in_steps(&self.storage.grid().whole_rows(rows))
    }

    /// Reads a box in steps, each of which is in memory only if chunks contain it.
    fn read_in_steps<T: bytemuck::Pod>(&self, slice: &[Range<u64>]) -> Result<Vec<T>> {
        let grid = self.storage.grid();
        grid.check(slice)?;
        let size = to_u64(size_of::<T>());
        let Some((rows, rest)) = slice.split_first() else {
            return Ok(Vec::new());
        };
        let total = bytes_of(slice, grid.itemsize());
        let row_bytes = total.checked_div(rows.end - rows.start).unwrap_or(0);
        let per_step = (STEP / row_bytes.max(1))
            .max(1)
            .next_multiple_of(grid.band_rows());
        self.storage.check_plain()?;
        self.storage.check_first(slice)?;
        // Zeros that are not written take no memory. Where there is no space for all of them, the vector grows step by step.
        let count = in_memory(total / size)?;
        let mut values = bytemuck::try_zeroed_vec(count).unwrap_or_else(|()| Vec::new());
        let (mut filled, mut row) = (0usize, rows.start);
        while row < rows.end {
            // After the first, steps begin where bands do.
            let end = ((row / per_step + 1) * per_step).min(rows.end);
            let step: Vec<Range<u64>> = std::iter::once(row..end)
                .chain(rest.iter().cloned())
                .collect();
            let next = filled + in_memory(bytes_of(&step, grid.itemsize()) / size)?;
            if values.len() < next {
                values
                    .try_reserve(next - values.len())
                    .map_err(|_| Error::no_memory(total))?;
                values.resize(next, T::zeroed());
            }
            let len = values.len();
            let out = values
                .get_mut(filled..next)
                .ok_or_else(|| Error::bug(format!("values {filled}..{next} of {len}")))?;
            self.storage
                .read_box(&step, bytemuck::cast_slice_mut(out))?;
            (filled, row) = (next, end);
        }
        Ok(values)
    }

    /// Reads these rows into `out`, which has exactly [`row_bytes`](Self::row_bytes) for each.
    ///
    /// # Errors
    /// Returns the errors of [`read_rows`](Self::read_rows), and a usage error for a buffer of another length.
    pub fn read_rows_into(&self, rows: Range<u64>, out: &mut [u8]) -> Result<()> {
        self.storage
            .read_box(&self.storage.grid().whole_rows(rows), out)
    }

    /// The bytes of a box of elements in C order. `slice` has a range for each axis. Only the blocks of chunks that contain
    /// elements of the box are decompressed.
    ///
    /// # Errors
    /// Returns the errors of [`read_rows`](Self::read_rows).
    pub fn read_slice(&self, slice: &[Range<u64>]) -> Result<Vec<u8>> {
        self.read_in_steps(slice)
    }

    /// Reads a box of elements into `out`, which has exactly their bytes, in C order.
    ///
    /// # Errors
    /// Returns the errors of [`read_slice`](Self::read_slice), and a usage error for a buffer of another length.
    pub fn read_slice_into(&self, slice: &[Range<u64>], out: &mut [u8]) -> Result<()> {
        self.storage.read_box(slice, out)
    }

    /// Reads a box of elements as values, in C order and in the byte order of this machine.
    ///
    /// ```
    /// # testkit::enter_testdata();
    /// # use bloscpack_datasets::CArray;
    /// let array = CArray::open("testdata/datasets/bcolz/py2_int64")?;
    /// let mut values = [0i64; 3];
    /// array.read(&[10..13], &mut values)?;
    /// assert_eq!(array.to_vec::<i64>(10..13)?, values);
    /// # Ok::<(), bloscpack_error::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns the errors of [`read_slice_into`](Self::read_slice_into), and a usage error if the elements have another type.
    pub fn read<T: Element>(&self, slice: &[Range<u64>], out: &mut [T]) -> Result<()> {
        native::check::<T>(self.dtype())?;
        self.storage
            .read_box(slice, bytemuck::cast_slice_mut(out))?;
        native::turn(self.dtype(), out);
        Ok(())
    }

    /// The values of these rows, in C order.
    ///
    /// # Errors
    /// Returns the errors of [`read`](Self::read).
    pub fn to_vec<T: Element>(&self, rows: Range<u64>) -> Result<Vec<T>> {
        native::check::<T>(self.dtype())?;
        let mut values = self.read_in_steps(&self.storage.grid().whole_rows(rows))?;
        native::turn(self.dtype(), &mut values);
        Ok(values)
    }

    /// A box of elements as an array of the crate `ndarray`.
    ///
    /// # Errors
    /// Returns the errors of [`read`](Self::read).
    #[cfg(feature = "ndarray")]
    pub fn to_ndarray<T: Element>(&self, slice: &[Range<u64>]) -> Result<ndarray::ArrayD<T>> {
        native::check::<T>(self.dtype())?;
        let mut values: Vec<T> = self.read_in_steps(slice)?;
        native::turn(self.dtype(), &mut values);
        let lens = bloscpack_array::lens(slice).into_iter().map(in_memory);
        let shape = lens.collect::<Result<Vec<usize>>>()?;
        ndarray::ArrayD::from_shape_vec(shape, values)
            .map_err(|error| Error::usage(error.to_string()))
    }

    /// An iterator over these rows, in blocks of up to `bytes` bytes, but at least a row. Only one block is in memory at a
    /// time.
    #[must_use]
    pub fn blocks(&self, rows: Range<u64>, bytes: usize) -> Blocks<'_> {
        Blocks::new(self, rows, bytes)
    }
}

impl Array for CArray {
    fn grid(&self) -> &Grid {
        self.storage.grid()
    }

    fn dtype(&self) -> &DType {
        self.dtype()
    }

    fn read_slice_into(&self, slice: &[Range<u64>], out: &mut [u8]) -> Result<()> {
        self.read_slice_into(slice, out)
    }

    fn read_slice(&self, slice: &[Range<u64>]) -> Result<Vec<u8>> {
        self.read_slice(slice)
    }

    fn description(&self) -> Result<Description> {
        let itemsize = in_memory(self.dtype().itemsize())?;
        // The default may be that of a whole row, of which an element stands for all if they are the same.
        let first = self.default_element().and_then(|row| {
            let first = row.get(..itemsize).filter(|first| !first.is_empty())?;
            let is_same = row.chunks(itemsize).all(|other| other == first);
            is_same.then(|| first.to_vec())
        });
        Ok(Description {
            attributes: self.attributes().clone(),
            fill: first,
            settings: Some(self.chunk_settings()),
            ..Description::default()
        })
    }

    fn stored(&self, at: &[u64]) -> Result<Option<Vec<u8>>> {
        self.stored_chunk(self.storage.grid().number(at)).map(Some)
    }

    fn zones(&self) -> Option<&dyn Zones> {
        self.read_zones().map(|_| -> &dyn Zones { self })
    }
}
