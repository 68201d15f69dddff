//! `.zarray`: the metadata of an array of version 2.
//!
//! ```text
//!  {"zarr_format": 2, "shape": [1000, 50], "chunks": [100, 50], "dtype": "<f8", "order": "C", "filters": null,
//!   "fill_value": 0, "compressor": {"id": "blosc", ..}, "dimension_separator": "."}
//! ```
//!
//! `dtype` is a code of NumPy, or a list of fields. `order` is C or F. `dimension_separator` may be missing. Filters are not
//! supported.

use super::codecs2::compressor;
use super::{ArrayMeta, Document, Fields, Format, check_dtype, fill};
use crate::codec::{Codecs, Serializer};
use crate::error::{unsupported, wrong_field};
use crate::keys::ChunkKeys;
use bloscpack_dtype::DType;
use bloscpack_error::Result;

/// The metadata in a `.zarray`, with attributes that were read from `.zattrs`.
pub(super) fn parse(document: &Document<'_>, attributes: String) -> Result<ArrayMeta> {
    let fields = &document.fields();
    fields.expect("zarr_format", 2)?;
    let shape = fields.lengths("shape")?;
    check_filters(fields)?;
    let dtype = dtype(fields)?;
    check_dtype(&dtype)?;
    let codecs = Codecs {
        transpose: transpose(fields, shape.len())?,
        serializer: Serializer::Bytes,
        bytes: compressor(fields)?.into_iter().collect(),
    };
    Ok(ArrayMeta {
        format: Format::V2,
        chunk_shape: fields.lengths("chunks")?,
        keys: ChunkKeys::new(false, fields.separator("dimension_separator", '.')?),
        fill: fill::read(Format::V2, &dtype, document.member("fill_value"))?,
        dtype,
        codecs,
        attributes,
        dimension_names: None,
        shape,
    })
}

/// The dtype: a code of NumPy, or a list of fields.
fn dtype(fields: &Fields<'_>) -> Result<DType> {
    let value = fields.required("dtype")?;
    let parsed = match value.as_str() {
        Some(text) => DType::parse(text),
        None => DType::from_json(value),
    };
    parsed.map_err(|error| wrong_field("dtype", value, error.to_string()))
}

/// The order in which the axes of a chunk are stored; `None` for C order.
fn transpose(fields: &Fields<'_>, axes: usize) -> Result<Option<Vec<usize>>> {
    match fields.text("order")? {
        "C" => Ok(None),
        "F" if axes < 2 => Ok(None),
        "F" => Ok(Some((0..axes).rev().collect())),
        other => Err(wrong_field("order", other, "C or F")),
    }
}

/// Refuses filters. The error names the first.
fn check_filters(fields: &Fields<'_>) -> Result<()> {
    let Some(filters) = fields.get("filters") else {
        return Ok(());
    };
    let first = match filters.as_array().map(Vec::as_slice) {
        Some([]) => return Ok(()),
        Some([first, ..]) => Fields::of("filters", first)?.text("id")?,
        None => return Err(wrong_field("filters", filters, "null or a list")),
    };
    Err(unsupported("the filter", first, "none"))
}
