//! NumPy arrays in Bloscpack files: what metadata says of them, and `.npy` files that are appended.

use bloscpack_dtype::{DType, npy::NpyHeader};
use bloscpack_error::{Error, Result};
use bloscpack_wire::{FormatError, Metadata, NumpyArray, NumpyOrder};
use std::io::{self, Read};

/// The dtype in metadata that describes an array.
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

/// The NumPy array that metadata describes; `None` if it describes none.
///
/// ```
/// use bloscpack::{Metadata, npy};
/// let text = r#"{"dtype": "'<i2'", "shape": [2, 3], "order": "F", "container": "numpy"}"#;
/// let array = npy::described(&Metadata::from_json(text)?)?.ok_or("no array")?;
/// assert_eq!((array.shape.as_slice(), array.fortran_order), ([2, 3].as_slice(), true));
/// assert!(npy::described(&Metadata::from_json("{}")?)?.is_none());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// Returns an error for a description that is wrong, and for a dtype that NumPy does not have.
pub fn described(metadata: &Metadata) -> Result<Option<NpyHeader>> {
    let Some(array) = NumpyArray::of(metadata)? else {
        return Ok(None);
    };
    Ok(Some(NpyHeader {
        dtype: dtype_of(metadata)?,
        fortran_order: array.order == NumpyOrder::F,
        shape: array.shape,
    }))
}

/// Reads the header of a `.npy` file, up to its first element.
///
/// # Errors
/// Returns any error of the reader, and an error if it is no header that NumPy writes.
pub(crate) fn read_header(reader: &mut impl Read) -> Result<NpyHeader> {
    let mut bytes = Vec::new();
    let mut read = |len: usize| -> io::Result<Vec<u8>> {
        let more = u64::try_from(len.saturating_sub(bytes.len())).unwrap_or_default();
        reader.by_ref().take(more).read_to_end(&mut bytes)?;
        Ok(bytes.clone())
    };
    let len = NpyHeader::len_of(&read(NpyHeader::START)?)?;
    Ok(NpyHeader::parse(&read(len)?)?.0)
}

/// Refuses a `.npy` file whose elements, as they follow each other, are not more rows of an array.
///
/// # Errors
/// Returns [`Usage`](bloscpack_error::Category::Usage).
pub(crate) fn check_rows(array: &NpyHeader, more: &NpyHeader) -> Result<()> {
    let (ours, theirs) = (&array.dtype, &more.dtype);
    if ours != theirs {
        return Err(Error::usage(format!(
            "the elements of the .npy file are {theirs}, those of the array {ours}"
        )));
    }
    let rows = |header: &NpyHeader| {
        let mut shape = header.shape.clone();
        if array.fortran_order {
            shape.pop();
        } else {
            shape.drain(..1.min(shape.len()));
        }
        shape
    };
    if array.shape.len() != more.shape.len() || rows(array) != rows(more) {
        let (ours, theirs) = (&array.shape, &more.shape);
        return Err(Error::usage(format!(
            "the .npy file has the shape {theirs:?}, whose rows are not those of an array of shape {ours:?}"
        )));
    }
    if array.shape.len() > 1 && array.fortran_order != more.fortran_order {
        let order = |is_fortran| {
            if is_fortran {
                "Fortran order"
            } else {
                "C order"
            }
        };
        let (ours, theirs) = (order(array.fortran_order), order(more.fortran_order));
        return Err(Error::usage(format!(
            "the .npy file is in {theirs}, the array in {ours}"
        )));
    }
    Ok(())
}
