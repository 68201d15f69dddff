//! Import and export: all of `bloscpack-exchange`, and the NumPy array in a Bloscpack file as a source.

use bloscpack::{indexed::IndexedReader, npy};
use bloscpack_datasets::Attributes;
use bloscpack_dtype::npy::NpyHeader;
use bloscpack_error::{Error, Result};
use bloscpack_exchange::{Batch, Content, Flat, GridSource, Schema, Source};
use bloscpack_storage::ReadAt;
use bloscpack_wire::{FormatError, Metadata, internal::to_u64};
use std::ops::Range;

/// The array in a Bloscpack file whose metadata describes one, as Bloscpack's `pack_ndarray` writes it, or whose content is a
/// `.npy` file.
///
/// An array in Fortran order is transposed while it is read.
///
/// ```
/// use bloscpack_open::exchange::{FileSource, Source};
/// use bloscpack::{Encoder, Metadata, indexed::IndexedReader};
/// use std::io::Write;
///
/// let text = r#"{"dtype": "'<i2'", "shape": [2, 3], "order": "F", "container": "numpy"}"#;
/// let mut encoder = Encoder::builder().metadata(Metadata::from_json(text)?).write_to(Vec::new())?;
/// for number in [11i16, 21, 12, 22, 13, 23] {
///     encoder.write_all(&number.to_le_bytes())?;
/// }
/// let mut source = FileSource::new(IndexedReader::open(encoder.finish()?)?)?;
/// let batch = source.next_batch(1 << 20)?.ok_or("no rows")?;
/// assert_eq!(batch.columns, [[11, 0, 12, 0, 13, 0, 21, 0, 22, 0, 23, 0]]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct FileSource<S> {
    source: GridSource<Flat<Elements<S>>>,
    header: NpyHeader,
}

/// The content of a file from the first element on.
#[derive(Debug)]
struct Elements<S> {
    reader: IndexedReader<S>,
    start: u64,
}

impl<S: ReadAt> Content for Elements<S> {
    fn fill(&self, at: u64, buf: &mut [u8]) -> Result<()> {
        let at = self.start.checked_add(at);
        let at = at.ok_or_else(|| Error::bug("an element past the end of the content"))?;
        self.reader.read_exact_at(at, buf)
    }
}

impl<S: ReadAt> FileSource<S> {
    /// A source of the whole array.
    ///
    /// # Errors
    /// Returns a [`Usage`](bloscpack_error::Category::Usage) error if the metadata does not describe an array; a
    /// [`Damaged`](bloscpack_error::Category::Damaged) one if the array does not fit the content; an
    /// [`Unsupported`](bloscpack_error::Category::Unsupported) one if the elements are Python objects.
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
        let elements = Elements { reader, start };
        let itemsize = header.dtype.itemsize();
        let flat = Flat::new(elements, itemsize, &header.shape, header.fortran_order)?;
        Ok(Self {
            source: GridSource::of(flat, header.dtype.clone()),
            header,
        })
    }

    /// Dtype, shape and order of the array.
    pub(crate) fn header(&self) -> &NpyHeader {
        &self.header
    }

    /// The same source for a slice of the array: a range for each axis; further axes are whole.
    ///
    /// # Errors
    /// Returns a [`Usage`](bloscpack_error::Category::Usage) error for more ranges than axes, or a range outside of its axis.
    pub fn slice(mut self, slice: &[Range<u64>]) -> Result<Self> {
        self.source = self.source.slice(slice)?;
        Ok(self)
    }

    /// The elements of a slice in C order: a range for each axis; further axes are whole.
    ///
    /// # Errors
    /// Returns the errors of [`slice`](Self::slice), errors of reading, and damage.
    pub fn read(&self, slice: &[Range<u64>]) -> Result<Vec<u8>> {
        self.source.grid().read(slice)
    }
}

/// The keys by which metadata describes an array of NumPy.
const NUMPY: [&str; 4] = ["dtype", "shape", "order", "container"];
/// The key of the attributes of an array that became a file.
const ATTRIBUTES: &str = "attributes";

/// The user's part of metadata: all but what describes an array of NumPy, and the attributes of an array that became a file.
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

/// The header of the `.npy` file that is the content, and its length.
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

impl<S: ReadAt> Source for FileSource<S> {
    fn schema(&self) -> &Schema {
        self.source.schema()
    }

    fn rows(&self) -> u64 {
        self.source.rows()
    }

    fn next_batch(&mut self, bytes: usize) -> Result<Option<Batch>> {
        self.source.next_batch(bytes)
    }
}
