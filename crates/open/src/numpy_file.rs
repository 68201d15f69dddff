//! [`NumpyFile`]: the NumPy array in a Bloscpack file, and the metadata that describes it.

use blosc1::{ChunkSettings, Compressor, MAX_NBYTES};
use bloscpack::{indexed::IndexedReader, npy};
use bloscpack_array::{Array, Attributes, Description, Flat, Grid, Place};
use bloscpack_dtype::DType;
use bloscpack_dtype::npy::NpyHeader;
use bloscpack_error::{Error, Result};
use bloscpack_storage::ReadAt;
use bloscpack_wire::{FormatError, Metadata, internal::to_u64};
use std::ops::Range;

/// The NumPy array in a Bloscpack file: described by the file's metadata, as Bloscpack's `pack_ndarray` writes it, or by the
/// header of a `.npy` file that is the content.
///
/// Its grid has the rows of a chunk of the file. An array in Fortran order is transposed while it is read.
///
/// ```
/// use bloscpack_open::exchange::NumpyFile;
/// use bloscpack_open::array::Array;
/// use bloscpack::{Encoder, Metadata, indexed::IndexedReader};
/// use std::io::Write;
///
/// let text = r#"{"dtype": "'<i2'", "shape": [2, 3], "order": "F", "container": "numpy"}"#;
/// let mut encoder = Encoder::builder().metadata(Metadata::from_json(text)?).write_to(Vec::new())?;
/// for number in [11i16, 21, 12, 22, 13, 23] {
///     encoder.write_all(&number.to_le_bytes())?;
/// }
/// let array = NumpyFile::new(IndexedReader::open(encoder.finish()?)?)?;
/// assert_eq!(array.read_slice(&[0..1, 0..3])?, [11, 0, 12, 0, 13, 0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct NumpyFile<S> {
    elements: Flat<IndexedReader<S>>,
    grid: Grid,
    /// The axis along which chunks follow each other: the first, in Fortran order the last.
    axis: usize,
    /// Whether each chunk of the file holds whole positions along that axis, so it can be taken as a chunk of the grid.
    is_aligned: bool,
    is_fortran: bool,
}

impl<S: ReadAt> NumpyFile<S> {
    /// Finds the array in a file.
    ///
    /// # Errors
    /// Returns `Code::Usage` if neither metadata nor content describes an array, a
    /// [`Damaged`](bloscpack_error::Category::Damaged) error if the array has another length than the content, and an
    /// [`Unsupported`](bloscpack_error::Category::Unsupported) one for Python objects.
    pub fn new(reader: IndexedReader<S>) -> Result<Self> {
        let described = reader.metadata().map(npy::described).transpose()?.flatten();
        let (header, start) = match described {
            Some(header) => (header, 0),
            None => npy_within(&reader)?,
        };
        if header.dtype.has_object() {
            let what = "the elements are Python objects (pickles), which cannot be read";
            return Err(FormatError::Unsupported { what: what.into() }.into());
        }
        // The header of a `.npy` file is part of the content.
        let found = reader.content_len() - start;
        if header.content_len() != Some(found) {
            let expected = header.content_len();
            let expected = expected.map_or("2^64 or more".to_owned(), |len| len.to_string());
            let dtype = &header.dtype;
            let why = format!(
                "the array of {dtype} should have {expected} bytes, but the file contains {found}"
            );
            return Err(FormatError::MetadataData { why }.into());
        }
        let is_fortran = header.fortran_order && header.shape.len() > 1;
        let axis = if is_fortran {
            header.shape.len() - 1
        } else {
            0
        };
        // The content of a `.npy` file begins with its header, so its chunks are not aligned.
        let (rows, is_aligned) = rows_of_chunk(&reader, &header, axis);
        let mut chunk = header.shape.clone();
        if let Some(len) = chunk.get_mut(axis) {
            *len = rows;
        }
        Ok(Self {
            elements: Flat::new(reader, header.dtype, &header.shape, header.fortran_order)?
                .from(start),
            grid: Grid::new(header.shape, chunk),
            axis,
            is_aligned,
            is_fortran,
        })
    }

    fn reader(&self) -> &IndexedReader<S> {
        self.elements.source()
    }
}

/// The rows of a chunk of the file, and whether chunks hold whole rows and nothing else.
fn rows_of_chunk<S: ReadAt>(
    reader: &IndexedReader<S>,
    header: &NpyHeader,
    axis: usize,
) -> (u64, bool) {
    let itemsize = header.dtype.itemsize();
    let others = header.shape.iter().enumerate();
    let lens = others.filter(|(other, _)| *other != axis);
    let lens = lens.map(|(_, len)| (*len).max(1));
    // The array has the bytes of the content, or none.
    let row = lens.fold(itemsize.max(1), u64::saturating_mul);
    let first = reader.chunk_range(0).ok().flatten().unwrap_or(0..0);
    let bytes = (first.end - first.start).clamp(1, MAX_NBYTES.into());
    let shape = header.shape.iter();
    let content = shape.fold(itemsize, |all, len| all.saturating_mul(*len));
    let is_aligned = bytes.is_multiple_of(row) && reader.content_len() == content;
    ((bytes / row).max(1), is_aligned)
}

impl<S: ReadAt> Array for NumpyFile<S> {
    fn grid(&self) -> &Grid {
        &self.grid
    }

    fn dtype(&self) -> &DType {
        self.elements.dtype()
    }

    fn read_slice_into(&self, slice: &[Range<u64>], out: &mut [u8]) -> Result<()> {
        self.elements.read_slice_into(slice, out)
    }

    fn description(&self) -> Result<Description> {
        let metadata = self.reader().metadata().filter(|all| all.is_object());
        let attributes = metadata.map(attributes_of_metadata).transpose()?;
        Ok(Description {
            attributes: attributes.unwrap_or_default(),
            settings: self.settings(),
            is_fortran: self.is_fortran,
            ..Description::default()
        })
    }

    fn stored(&self, at: &[u64]) -> Result<Option<Vec<u8>>> {
        let chunk = self.chunk(at);
        chunk
            .map(|chunk| self.reader().read_stored_chunk(chunk))
            .transpose()
    }

    fn place(&self, at: &[u64]) -> Result<Option<Place>> {
        let Some(chunk) = self.chunk(at) else {
            return Ok(None);
        };
        let (bytes, header) = self.reader().chunk_place(chunk)?;
        Ok(Some(Place {
            file: String::new(),
            bytes,
            header,
        }))
    }
}

impl<S: ReadAt> NumpyFile<S> {
    /// The number of the chunk of the file that contains a chunk of the grid, and nothing else.
    fn chunk(&self, at: &[u64]) -> Option<u64> {
        // An array without axes is one element, in one chunk.
        let number = at.get(self.axis).copied().unwrap_or(0);
        (self.is_aligned && number < self.reader().chunks()).then_some(number)
    }

    /// The settings of the first chunk. It does not store the level, nor which of two compressors with the same format wrote
    /// it.
    fn settings(&self) -> Option<ChunkSettings> {
        let first = self.reader().read_stored_chunk(0).ok()?;
        let header = blosc1::read_header(&first).ok()?;
        let default = ChunkSettings::default();
        let mut all = Compressor::ALL.into_iter();
        let found =
            all.find(|one| Some(one.format()) == header.compressor_format() && one.is_available());
        let compressor = found.unwrap_or(default.compressor);
        Some(
            default
                .compressor(compressor)
                .level(compressor.default_level())
                .filter(header.filter())
                .typesize(header.typesize.max(1)),
        )
    }
}

/// The metadata keys that describe a NumPy array.
const NUMPY: [&str; 4] = ["dtype", "shape", "order", "container"];
/// The metadata key of the user's attributes.
const ATTRIBUTES: &str = "attributes";

/// The user's part of the metadata: without the keys that describe a NumPy array, and with the content of `attributes`.
pub(crate) fn attributes_of_metadata(metadata: &Metadata) -> Result<Attributes> {
    let mut attributes = Attributes::parse(metadata.text().as_bytes())?;
    if metadata.get_text("container").is_some() {
        for key in NUMPY {
            attributes.remove(key);
        }
        let packed = attributes.get_text(ATTRIBUTES);
        let packed = packed.and_then(|text| Attributes::parse(text.as_bytes()).ok());
        if let Some(packed) = packed {
            attributes.remove(ATTRIBUTES);
            for key in packed.keys() {
                attributes.set_text(&key, packed.get_text(&key).unwrap_or("null"))?;
            }
        }
    }
    Ok(attributes)
}

/// The header of the `.npy` file that is the content, and its length in bytes.
fn npy_within<S: ReadAt>(reader: &IndexedReader<S>) -> Result<(NpyHeader, u64)> {
    let no_array = "this file contains bytes; its metadata does not describe a NumPy array, and they are not those of a .npy file";
    let there = reader.content_len();
    let read = |len: usize| -> Result<Vec<u8>> {
        let mut start = vec![0; len.min(usize::try_from(there).unwrap_or(len))];
        reader.read_exact_at(0, &mut start)?;
        Ok(start)
    };
    let len = NpyHeader::len_of(&read(NpyHeader::START)?);
    let len = len.map_err(|_| Error::usage(no_array))?;
    let header = NpyHeader::parse(&read(len)?);
    let (header, len) = header.map_err(|error| FormatError::Unsupported {
        what: error.to_string(),
    })?;
    Ok((header, to_u64(len)))
}

/// The metadata that describes an array as Bloscpack's `pack_ndarray` does, with attributes in their writer's spelling.
///
/// # Errors
/// Returns an error for a dtype that `.npy` headers cannot express, and for metadata that is too deeply nested.
pub fn numpy_metadata(
    dtype: &DType,
    shape: &[u64],
    is_fortran: bool,
    attributes: &Attributes,
) -> Result<Metadata> {
    let object = serde_json::json!({
        "dtype": dtype.descr()?,
        "shape": shape,
        "order": if is_fortran { "F" } else { "C" },
        "container": "numpy",
    });
    let mut text = object.to_string();
    if !attributes.is_empty() {
        // serde_json cannot hold `NaN` and infinities, so the text is inserted.
        text.pop();
        text += &format!(",\"{ATTRIBUTES}\":{}}}", attributes.text());
    }
    Ok(Metadata::from_json(text)?)
}
