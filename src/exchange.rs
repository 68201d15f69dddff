//! Import and export: all of `bloscpack-exchange`, and the NumPy array in a Bloscpack file as a source.

pub use bloscpack_exchange::*;

use crate::indexed::IndexedReader;
use bloscpack_dtype::DType;
use bloscpack_error::{Error, Result};
use bloscpack_storage::ReadAt;
use bloscpack_wire::{FormatError, Metadata, NumpyArray, NumpyOrder};
use std::ops::Range;

/// The array in a Bloscpack file whose metadata describes one, as Bloscpack's `pack_ndarray` writes it.
///
/// An array in Fortran order is transposed while it is read.
///
/// ```
/// use bloscpack::exchange::{FileSource, Source};
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
    flat: Flat<IndexedReader<S>>,
}

impl<S: ReadAt> Content for IndexedReader<S> {
    fn fill(&self, at: u64, buf: &mut [u8]) -> Result<()> {
        self.read_exact_at(at, buf)
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
        let no_array = "this file contains bytes; its metadata does not describe a NumPy array";
        let metadata = reader.metadata().ok_or_else(|| Error::usage(no_array))?;
        let array = NumpyArray::of(metadata)?.ok_or_else(|| Error::usage(no_array))?;
        let dtype = dtype_of(metadata)?;
        if dtype.has_object() {
            let what = "the elements are Python objects (pickles), which cannot be read";
            return Err(FormatError::Unsupported { what: what.into() }.into());
        }
        let (said, there) = (array.content_len(), reader.content_len());
        if said != there || dtype.itemsize() != array.itemsize {
            let why = format!(
                "the array of {dtype} should have {said} bytes, but the file contains {there}"
            );
            return Err(FormatError::MetadataData { why }.into());
        }
        let fortran = array.order == NumpyOrder::F;
        let flat = Flat::new(reader, dtype, &array.shape, fortran)?;
        Ok(Self { flat })
    }

    /// The same source for a slice of the array: a range for each axis; further axes are whole.
    ///
    /// # Errors
    /// Returns a [`Usage`](bloscpack_error::Category::Usage) error for more ranges than axes, or a range outside of its axis.
    pub fn slice(self, slice: &[Range<u64>]) -> Result<Self> {
        let flat = self.flat.slice(slice)?;
        Ok(Self { flat })
    }
}

fn dtype_of(metadata: &Metadata) -> Result<DType> {
    let wrong = |why: String| FormatError::MetadataData { why };
    // The rest of the metadata may be long, and contain values that only Python knows.
    let text = metadata.get_text("dtype");
    let text = text.ok_or_else(|| wrong("metadata without a dtype".to_owned()))?;
    let value: serde_json::Value =
        serde_json::from_str(text).map_err(|error| wrong(format!("metadata: dtype: {error}")))?;
    Ok(match &value {
        serde_json::Value::String(text) => DType::parse(text)?,
        other => DType::from_json(other)?,
    })
}

impl<S: ReadAt> Source for FileSource<S> {
    fn schema(&self) -> &Schema {
        self.flat.schema()
    }

    fn rows(&self) -> u64 {
        self.flat.rows()
    }

    fn next_batch(&mut self, bytes: usize) -> Result<Option<Batch>> {
        self.flat.next_batch(bytes)
    }
}
