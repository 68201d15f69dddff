//! Reads and writes `.npy`, a NumPy array in a file.

use super::error::{wrong_length, wrong_magic};
use super::format::Format;
use super::refuse::{refuse_missing, refuse_varying};
use bloscpack_array::too_large;
use bloscpack_array::{Array, ArraySource, Flat, Grid, Progress, Source, for_each};
use bloscpack_array::{Batch, Schema, structured};
use bloscpack_dtype::{
    DType,
    npy::{NpyError, NpyHeader},
};
use bloscpack_error::checked::{in_memory, to_u64};
use bloscpack_error::{Code, Error, Result};
use bloscpack_storage::ReadAt;
use std::io::Write;
use std::ops::Range;

/// Writes an array as NumPy's `save` does, byte for byte, in C order. A table becomes an array whose elements have its columns
/// as fields, without gaps.
///
/// ```
/// # testkit::enter_testdata();
/// use bloscpack_datasets::CArray;
/// use bloscpack_exchange::{ArraySource, write_npy};
///
/// let array = CArray::open("testdata/datasets/bcolz/py2_int64")?;
/// let mut file = Vec::new();
/// write_npy(&mut ArraySource::new(&array)?, &mut file, &mut |_| ())?;
/// assert!(file[10..].starts_with(b"{'descr': '<i8', 'fortran_order': False, 'shape': (1000,), }"));
/// # Ok::<(), bloscpack_error::Error>(())
/// ```
///
/// # Errors
/// Returns `Code::Usage` for an unknown number of rows and for elements that the header cannot describe, such as overlapping
/// fields or two columns with one name; `Code::CannotStore` for missing values and values of varying length; errors of the
/// source and of the writer.
pub fn write_npy(
    source: &mut dyn Source,
    mut to: impl Write,
    progress: &mut Progress<'_>,
) -> Result<()> {
    let schema = source.schema();
    refuse_varying(schema, Format::Npy)?;
    let (dtype, shape) = match schema.columns.as_slice() {
        [column] if !schema.is_table => (column.dtype.clone(), schema.shape(source.known_rows()?)?),
        columns => (structured(columns)?, vec![source.known_rows()?]),
    };
    to.write_all(&npy_header(&dtype, shape)?)?;
    for_each(source, progress, |schema, batch| {
        refuse_missing(schema, &batch, Format::Npy)?;
        match batch.columns.as_slice() {
            [bytes] => to.write_all(bytes)?,
            _ => to.write_all(&interleaved(schema, &batch)?)?,
        }
        Ok(())
    })?;
    Ok(to.flush()?)
}

/// The `.npy` header, with magic number and length, of an array in C order.
///
/// # Errors
/// Returns `Code::Usage` for elements that the format cannot describe.
pub fn npy_header(dtype: &DType, shape: Vec<u64>) -> Result<Vec<u8>> {
    let header = NpyHeader {
        dtype: dtype.clone(),
        fortran_order: false,
        shape,
    };
    let no_place = |error: NpyError| Error::usage(error.to_string());
    header.encode().map_err(no_place)
}

/// Interleaves the columns of a batch: row by row, column by column.
fn interleaved(schema: &Schema, batch: &Batch) -> Result<Vec<u8>> {
    let row = in_memory(schema.row_bytes())?;
    let total = schema.row_bytes().checked_mul(batch.rows);
    let mut out = vec![0; in_memory(total.ok_or_else(too_large)?)?];
    let mut start = 0usize;
    for (column, bytes) in schema.columns.iter().zip(&batch.columns) {
        // The ends add up to the length of a row.
        let end = start + in_memory(column.row_bytes())?;
        if end == start {
            continue;
        }
        let elements = out.chunks_exact_mut(row);
        for (element, part) in elements.zip(bytes.chunks_exact(end - start)) {
            element
                .get_mut(start..end)
                .ok_or_else(|| Error::bug(format!("bytes {start}..{end} of a row of {row}")))?
                .copy_from_slice(part);
        }
        start = end;
    }
    Ok(out)
}

/// Opens a `.npy` file. An array in Fortran order is transposed while it is read.
pub(super) fn open_npy(bytes: impl ReadAt + 'static) -> Result<Box<dyn Source>> {
    Ok(Box::new(ArraySource::of(NpyFile::open_at(bytes)?)))
}

/// The array in a `.npy` file. It reads any box of elements, also of an array in Fortran order.
///
/// ```
/// use bloscpack_array::Array;
/// use bloscpack_dtype::DType;
/// use bloscpack_exchange::NpyFile;
///
/// let mut file = b"\x93NUMPY\x01\x00\x38\x00\
///     {'descr': '|u1', 'fortran_order': True, 'shape': (2, 3)}".to_vec();
/// file.extend([1, 4, 2, 5, 3, 6]);
/// let array = NpyFile::open_at(file)?;
/// assert_eq!((array.dtype(), array.shape()), (&DType::U8, &[2, 3][..]));
/// assert_eq!(array.read_slice(&[0..2, 1..3])?, [2, 3, 5, 6]);
/// # Ok::<(), bloscpack_error::Error>(())
/// ```
#[derive(Debug)]
pub struct NpyFile<S>(Flat<S>);

impl<S: ReadAt> NpyFile<S> {
    /// Opens the file, and checks that its length suits the header. The bytes must not change while they are read.
    ///
    /// # Errors
    /// Returns [`Code::UnknownFormat`] for a file of another format, [`Code::Header`] for a damaged header, [`Code::CutShort`]
    /// or [`Code::Trailing`] for missing or surplus bytes, and errors of the source.
    pub fn open_at(bytes: S) -> Result<Self> {
        opened(bytes).map(Self)
    }

    /// The shape; empty for a single element without axes.
    pub fn shape(&self) -> &[u64] {
        self.grid().shape()
    }
}

impl<S: ReadAt> Array for NpyFile<S> {
    fn grid(&self) -> &Grid {
        self.0.grid()
    }

    fn dtype(&self) -> &DType {
        self.0.dtype()
    }

    fn read_slice_into(&self, slice: &[Range<u64>], out: &mut [u8]) -> Result<()> {
        self.0.read_slice_into(slice, out)
    }
}

/// The elements of a file as an array.
fn opened<S: ReadAt>(bytes: S) -> Result<Flat<S>> {
    let size = bytes.size()?;
    let (header, len) = header_of(&bytes, size)?;
    // The header is not longer than the file.
    let found = size - to_u64(len);
    let expected = header
        .content_len()
        .ok_or_else(|| Error::bug("a .npy header for more than 2^64 bytes was accepted"))?;
    if found != expected {
        let (dtype, shape) = (&header.dtype, &header.shape);
        return Err(wrong_length(
            Format::Npy,
            format_args!("array of {dtype} with shape {shape:?}"),
            found,
            expected,
        ));
    }
    let array = Flat::new(bytes, header.dtype, &header.shape, header.fortran_order)?;
    Ok(array.from(to_u64(len)))
}

/// The magic number of every file.
const MAGIC: &[u8] = b"\x93NUMPY";

/// The header and its length in bytes. Reads no more than that.
fn header_of(bytes: &impl ReadAt, size: u64) -> Result<(NpyHeader, usize)> {
    let mut start = vec![0; in_memory(size.min(to_u64(NpyHeader::START)))?];
    bytes.read_exact_at(0, &mut start)?;
    let cut = |len: usize| wrong_length(Format::Npy, "header", size, to_u64(len));
    let damaged = |error: NpyError| Error::new(Code::Header, error.to_string());
    if MAGIC.starts_with(&start) {
        return Err(cut(NpyHeader::START));
    }
    if !start.starts_with(MAGIC) {
        return Err(wrong_magic(Format::Npy));
    }
    let version = start.get(MAGIC.len()..);
    let len = match (NpyHeader::len_of(&start), version) {
        (Ok(len), _) => len,
        // The start is valid but incomplete.
        (Err(_), Some([] | [1..=3] | [1..=3, 0, ..])) if start.len() < NpyHeader::START => {
            return Err(cut(NpyHeader::START));
        }
        (Err(error), _) => return Err(damaged(error)),
    };
    if to_u64(len) > size {
        return Err(cut(len));
    }
    let mut all = vec![0; len];
    bytes.read_exact_at(0, &mut all)?;
    NpyHeader::parse(&all).map_err(damaged)
}
