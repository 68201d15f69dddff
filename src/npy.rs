//! NumPy arrays in Bloscpack files: how metadata describes them.
//!
//! A Bloscpack file that contains an array has its elements as content, and these four keys in its metadata, as Bloscpack for
//! Python writes them:
//!
//! | key | value |
//! |---|---|
//! | `dtype` | the type of an element, as the `repr` of NumPy's type: `"'<i2'"`, or a list of fields |
//! | `shape` | elements along each axis |
//! | `order` | `"C"` (the last axis varies fastest; the default) or `"F"` (the first axis varies fastest) |
//! | `container` | `"numpy"` |
//!
//! The content has `product of shape × bytes of an element` bytes. Appending
//! ([`Appender::read_npy_from`](crate::edit::Appender::read_npy_from)) lets the first axis grow, in order F the last.

use bloscpack_dtype::{DType, npy::NpyHeader};
use bloscpack_error::{Error, Result};
use bloscpack_wire::{FormatError, Metadata, NumpyArray, NumpyOrder};
use std::io::{self, Read};

/// The dtype in the metadata of an array.
fn dtype_of(metadata: &Metadata) -> Result<DType> {
    let wrong = |why: String| FormatError::MetadataData { why };
    // Parse no other key: the rest may be long, and may contain values that only Python accepts, such as NaN.
    let text = metadata.get_text("dtype");
    let text = text.ok_or_else(|| wrong("metadata without a dtype".to_owned()))?;
    let value: serde_json::Value =
        serde_json::from_str(text).map_err(|error| wrong(format!("metadata: dtype: {error}")))?;
    Ok(match &value {
        serde_json::Value::String(text) => DType::parse(text)?,
        other => DType::from_json(other)?,
    })
}

/// The NumPy array that metadata describes, as the header that its `.npy` file would have; `None` if it describes none. The
/// length of the content is not compared with the shape.
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
/// Returns [`Code::Metadata`](bloscpack_error::Code::Metadata) for a wrong description, such as one without a shape, and an
/// error for a dtype that NumPy does not have.
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
/// Returns any error of the reader, and an error if it is not a header that NumPy writes.
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

/// Refuses a `.npy` file whose bytes, appended to an array, would not be further rows of the array.
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
