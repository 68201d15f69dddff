//! [`GridSource`]: an array, or a box of it.

use super::{Batch, Schema, Source, check_rows, first_len, next_rows, row_shape};
use crate::schema::Column;
use bloscpack_array::{check, lens};
use bloscpack_datasets::{Attributes, CArray};
use bloscpack_dtype::DType;
use bloscpack_error::{Error, Result};
use bloscpack_frames::NdArray;
use std::ops::Range;

/// An array of which boxes are read.
pub trait Grid {
    /// The length of each axis.
    fn shape(&self) -> &[u64];

    /// Rows of a chunk: reading starts at multiples of it, so that no chunk is decompressed twice.
    fn chunk_rows(&self) -> u64;

    /// The elements of a box in C order: a range for each axis.
    ///
    /// # Errors
    /// Returns errors of reading and any damage found.
    fn read_slice(&self, slice: &[Range<u64>]) -> Result<Vec<u8>>;
}

impl Grid for &CArray {
    fn shape(&self) -> &[u64] {
        CArray::shape(self)
    }

    fn chunk_rows(&self) -> u64 {
        first_len(self.chunk_shape())
    }

    fn read_slice(&self, slice: &[Range<u64>]) -> Result<Vec<u8>> {
        CArray::read_slice(self, slice)
    }
}

impl Grid for &NdArray {
    fn shape(&self) -> &[u64] {
        NdArray::shape(self)
    }

    fn chunk_rows(&self) -> u64 {
        first_len(self.chunk_shape()).into()
    }

    fn read_slice(&self, slice: &[Range<u64>]) -> Result<Vec<u8>> {
        NdArray::read_slice(self, slice)
    }
}

/// An array of a dataset, or a box of it.
///
/// ```
/// # testkit::enter_testdata();
/// use bloscpack_datasets::CArray;
/// use bloscpack_exchange::{ArraySource, Source};
///
/// let array = CArray::open("testdata/datasets/bcolz/py2_int64")?;
/// let mut source = ArraySource::new(&array).range(10..20)?;
/// let batch = source.next_batch(1 << 20)?.ok_or("no rows")?;
/// assert_eq!(batch.columns, [array.read_rows(10..20)?]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub type ArraySource<'a> = GridSource<&'a CArray>;

/// An array of a Blosc2 frame, or a box of it.
///
/// ```
/// use bloscpack_exchange::{NdSource, Source};
/// use bloscpack_frames::NdArray;
///
/// let array = NdArray::of_type::<i16>(&[30, 4]).in_memory()?;
/// let mut source = NdSource::new(&array)?.slice(&[10..20])?;
/// assert_eq!((source.rows(), source.schema().row_bytes()), (10, 8));
/// let batch = source.next_batch(1 << 20)?.ok_or("no rows")?;
/// assert_eq!(batch.columns, [array.read_slice(&[10..20, 0..4])?]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub type NdSource<'a> = GridSource<&'a NdArray>;

/// An array, or a box of it. One without axes is a row.
#[derive(Debug)]
pub struct GridSource<G> {
    grid: G,
    schema: Schema,
    rows: u64,
    rest: Range<u64>,
    /// The box along the axes after the first.
    within: Vec<Range<u64>>,
}

impl<G: Grid> GridSource<G> {
    /// The whole array, of elements of this dtype.
    #[must_use]
    pub fn of(grid: G, dtype: DType) -> Self {
        let (rows, row_shape) = (first_len(grid.shape()), row_shape(grid.shape()));
        let mut schema = Schema::array(dtype, row_shape);
        schema.is_scalar = grid.shape().is_empty();
        Self {
            schema,
            rows,
            rest: 0..rows,
            within: row_shape.iter().map(|axis| 0..*axis).collect(),
            grid,
        }
    }

    /// The array.
    pub fn grid(&self) -> &G {
        &self.grid
    }

    /// The name of its column where columns have names, instead of `value`.
    #[must_use]
    pub fn named(mut self, name: &str) -> Self {
        for column in &mut self.schema.columns {
            name.clone_into(&mut column.name);
        }
        self
    }

    /// The attributes of the array, instead of none.
    #[must_use]
    pub fn attributes(mut self, attributes: Attributes) -> Self {
        self.schema.attributes = attributes;
        self
    }

    /// NaN and "not a time" stand for missing values.
    #[must_use]
    pub fn nan_as_null(mut self) -> Self {
        let columns = std::mem::take(&mut self.schema.columns).into_iter();
        self.schema.columns = columns.map(Column::nan_as_null).collect();
        self
    }

    /// Only these rows.
    ///
    /// # Errors
    /// Returns wrong usage if there are not so many.
    pub fn range(mut self, rows: Range<u64>) -> Result<Self> {
        check_rows(&rows, first_len(self.grid.shape()))?;
        self.rows = rows.end - rows.start;
        // Without its element, it is an array of no rows.
        self.schema.is_scalar &= self.rows == 1;
        self.rest = rows;
        Ok(self)
    }

    /// Only this box of it, a range for each axis; axes that are not named are whole.
    ///
    /// # Errors
    /// Returns wrong usage for more axes than there are, or a range outside of its axis.
    pub fn slice(mut self, slice: &[Range<u64>]) -> Result<Self> {
        let (rows, within) = checked_slice(self.grid.shape(), slice)?;
        for column in &mut self.schema.columns {
            column.row_shape = lens(&within);
        }
        self.within = within;
        self.range(rows)
    }
}

impl<'a> GridSource<&'a CArray> {
    /// The whole array, with its attributes.
    #[must_use]
    pub fn new(array: &'a CArray) -> Self {
        let source = Self::of(array, array.dtype().clone());
        let source = source.attributes(array.attributes().clone());
        if array.has_missing() {
            source.nan_as_null()
        } else {
            source
        }
    }
}

impl<'a> GridSource<&'a NdArray> {
    /// The whole array. Elements without a dtype, as in Caterva frames, are void.
    ///
    /// # Errors
    /// Returns an error for elements without a dtype of 2 GiB and more.
    pub fn new(array: &'a NdArray) -> Result<Self> {
        let dtype = match array.dtype() {
            Some(dtype) => dtype.clone(),
            None => DType::void(array.itemsize().into())?,
        };
        Ok(Self::of(array, dtype))
    }

    /// Sets the dtype of its elements, whatever the file says.
    ///
    /// # Errors
    /// Returns wrong usage for a type of another size.
    pub fn dtype(mut self, dtype: DType) -> Result<Self> {
        let itemsize = u64::from(self.grid.itemsize());
        if dtype.itemsize() != itemsize {
            return Err(Error::usage(format!(
                "{dtype} has {} bytes, but the elements have {itemsize}",
                dtype.itemsize()
            )));
        }
        for column in &mut self.schema.columns {
            column.dtype = dtype.clone();
        }
        Ok(self)
    }
}

/// A range for each axis, the first apart.
pub(super) fn checked_slice(
    shape: &[u64],
    slice: &[Range<u64>],
) -> Result<(Range<u64>, Vec<Range<u64>>)> {
    // Axes that are not named are whole.
    let others = shape.iter().skip(slice.len()).map(|len| 0..*len);
    let ranges: Vec<Range<u64>> = slice.iter().cloned().chain(others).collect();
    check(&ranges, shape)?;
    match ranges.split_first() {
        Some((rows, within)) => Ok((rows.clone(), within.to_vec())),
        None => Ok((0..1, Vec::new())),
    }
}

impl<G: Grid> Source for GridSource<G> {
    fn schema(&self) -> &Schema {
        &self.schema
    }

    fn rows(&self) -> u64 {
        self.rows
    }

    fn next_batch(&mut self, bytes: usize) -> Result<Option<Batch>> {
        let (row_bytes, stride) = (self.schema.row_bytes(), self.grid.chunk_rows());
        let Some(rows) = next_rows(&mut self.rest, row_bytes, stride, bytes) else {
            return Ok(None);
        };
        let count = rows.end - rows.start;
        let mut slice = vec![rows];
        slice.extend(self.within.iter().cloned());
        // An array without axes has one element, which is its only row.
        slice.truncate(self.grid.shape().len());
        let read = self.grid.read_slice(&slice);
        let columns = vec![read.inspect_err(|_| self.rest = 0..0)?];
        Ok(Some(Batch::new(&self.schema, count, columns)))
    }
}
