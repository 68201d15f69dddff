//! Reads elements of a [`CArray`].

use super::{Blocks, CArray};
use bloscpack_array::{Array, Description, Grid, Place, Zones, bytes_of};
use bloscpack_dtype::DType;
use bloscpack_dtype::native::{self, Element};
use bloscpack_error::checked::{in_memory, to_u64};
use bloscpack_error::{Error, Result};
use std::ops::Range;

/// Bytes that are read at once, so that a hostile shape takes no memory for elements that no chunk contains.
const STEP: u64 = 64 << 20;

impl CArray {
    /// Reads rows as bytes, in C order and in the byte order of the dtype.
    ///
    /// The result has [`row_bytes`](Self::row_bytes) bytes for each row. Memory is filled as chunks are found, so that a
    /// damaged count of rows does not exhaust it. An empty range within the array gives no bytes.
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
    /// * [`Code::OutOfBounds`](bloscpack_error::Code::OutOfBounds) for rows that do not exist
    /// * [`Code::Unsupported`](bloscpack_error::Code::Unsupported) for an array of Python objects
    /// * [`Code::NoMemory`](bloscpack_error::Code::NoMemory) if the result does not fit into memory
    /// * damage of the superchunks that contain the rows, with file, chunk and byte, and I/O errors
    pub fn read_rows(&self, rows: Range<u64>) -> Result<Vec<u8>> {
        self.read_in_steps(&self.storage.grid().whole_rows(rows))
    }

    /// Reads a box in steps of about [`STEP`] bytes. Each step touches memory only if its chunks exist.
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
        // Untouched zeros take no memory. If their address space cannot be reserved, the vector grows step by step.
        let count = in_memory(total / size)?;
        let mut values = bytemuck::try_zeroed_vec(count).unwrap_or_else(|()| Vec::new());
        let (mut filled, mut row) = (0usize, rows.start);
        while row < rows.end {
            // All steps but the first begin at a band, so that no chunk is decompressed twice.
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

    /// Reads rows into `out`, which must be exactly [`row_bytes`](Self::row_bytes) long for each row.
    ///
    /// # Errors
    /// Returns the errors of [`read_rows`](Self::read_rows), and a usage error for a buffer of another length. After an error
    /// the content of `out` is unspecified.
    pub fn read_rows_into(&self, rows: Range<u64>, out: &mut [u8]) -> Result<()> {
        self.storage
            .read_box(&self.storage.grid().whole_rows(rows), out)
    }

    /// Reads a box of elements as bytes, in C order and in the byte order of the dtype. `slice` has one range for each axis.
    ///
    /// Reads only the superchunks, and decompresses only the blocks of chunks, that contain elements of the box.
    ///
    /// ```
    /// use bloscpack_datasets::CArray;
    /// use bloscpack_storage::Memory;
    ///
    /// let mut array = CArray::of::<u8>().row_shape(&[3]).create_in(Memory::new())?;
    /// array.append_values(&[1u8, 2, 3, 4, 5, 6])?;
    /// assert_eq!(array.read_slice(&[0..2, 1..3])?, [2, 3, 5, 6]);
    /// # Ok::<(), bloscpack_error::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns the errors of [`read_rows`](Self::read_rows), also for another number of ranges than axes.
    pub fn read_slice(&self, slice: &[Range<u64>]) -> Result<Vec<u8>> {
        self.read_in_steps(slice)
    }

    /// Reads a box of elements into `out`, which must be exactly as long as their bytes.
    ///
    /// # Errors
    /// Returns the errors of [`read_slice`](Self::read_slice), and a usage error for a buffer of another length. After an error
    /// the content of `out` is unspecified.
    pub fn read_slice_into(&self, slice: &[Range<u64>], out: &mut [u8]) -> Result<()> {
        self.storage.read_box(slice, out)
    }

    /// Reads a box of elements as values of a Rust type, in C order and in the byte order of this machine. `out` has exactly
    /// one value for each element.
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
    /// Returns the errors of [`read_slice_into`](Self::read_slice_into), and
    /// [`Code::WrongType`](bloscpack_error::Code::WrongType) if [`Element::is`] is false for the dtype.
    pub fn read<T: Element>(&self, slice: &[Range<u64>], out: &mut [T]) -> Result<()> {
        native::check::<T>(self.dtype())?;
        self.storage
            .read_box(slice, bytemuck::cast_slice_mut(out))?;
        native::turn(self.dtype(), out);
        Ok(())
    }

    /// Reads rows as values of a Rust type, in C order: as many values for each row as a row has elements.
    ///
    /// # Errors
    /// Returns the errors of [`read_rows`](Self::read_rows), and [`Code::WrongType`](bloscpack_error::Code::WrongType) if
    /// [`Element::is`] is false for the dtype.
    pub fn to_vec<T: Element>(&self, rows: Range<u64>) -> Result<Vec<T>> {
        native::check::<T>(self.dtype())?;
        let mut values = self.read_in_steps(&self.storage.grid().whole_rows(rows))?;
        native::turn(self.dtype(), &mut values);
        Ok(values)
    }

    /// Reads a box of elements as an array of the crate `ndarray`, with as many axes as this array.
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

    /// Iterates over rows in blocks of up to `bytes` bytes, but at least one row. Each block is read when it is requested.
    ///
    /// If `bytes` is at least the size of a chunk's rows, blocks end at chunk boundaries, so that no chunk is decompressed
    /// twice. Rows that do not exist are an error of the first block that contains them.
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
        // The default may be a whole row. If all its elements are the same, one of them is the fill value.
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

    fn place(&self, at: &[u64]) -> Result<Option<Place>> {
        self.storage.check_plain()?;
        self.storage.check_own_files()?;
        let chunk = self.storage.grid().number(at);
        self.storage.place(chunk).map(Some)
    }

    fn zones(&self) -> Option<&dyn Zones> {
        self.read_zones().map(|_| -> &dyn Zones { self })
    }
}
