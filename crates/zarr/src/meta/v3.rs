//! `zarr.json`: the metadata of an array of version 3.
//!
//! ```text
//!  {"zarr_format": 3, "node_type": "array", "shape": [1000, 50], "data_type": "float64", "fill_value": 0,
//!   "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [100, 50]}},
//!   "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}},
//!   "codecs": [..], "attributes": {..}, "dimension_names": ["row", null], "storage_transformers": []}
//! ```
//!
//! Attributes, dimension names and storage transformers may be missing. Unknown fields are refused unless they are objects with
//! `"must_understand": false`.

use super::{ArrayMeta, Document, Fields, Format, check_dtype, codecs3, dtype3, fill};
use crate::error::{unsupported, wrong_field};
use crate::keys::ChunkKeys;
use bloscpack_dtype::ByteOrder;
use bloscpack_error::Result;
use serde_json::Value;

/// The fields that an array may have.
const KNOWN: [&str; 12] = [
    "zarr_format",
    "node_type",
    "shape",
    "data_type",
    "chunk_grid",
    "chunk_key_encoding",
    "fill_value",
    "codecs",
    "attributes",
    "storage_transformers",
    "dimension_names",
    "consolidated_metadata",
];

/// The metadata in a `zarr.json` of an array.
pub(super) fn parse(document: &Document<'_>) -> Result<ArrayMeta> {
    let fields = &document.fields();
    fields.expect("zarr_format", 3)?;
    check_known(fields)?;
    fields.required("fill_value")?;
    match fields.text("node_type")? {
        "array" => {}
        other => return Err(wrong_field("node_type", other, "array")),
    }
    if fields.get("storage_transformers").is_some()
        && let [first, ..] = fields.list("storage_transformers")?
    {
        return Err(unsupported("the storage transformer", first, "none"));
    }
    let (codecs, order) = codecs3::parse(fields.list("codecs")?)?;
    let dtype = dtype3::read(fields.required("data_type")?)?;
    // Without a byte order, fields are little-endian, as zarr-python 3.1 writes them.
    if order.is_none() && dtype3::has_order(&dtype) && dtype.fields().is_none() {
        return Err(codecs3::no_endian());
    }
    let dtype = dtype.with_order(order.unwrap_or(ByteOrder::Little));
    check_dtype(&dtype)?;
    Ok(ArrayMeta {
        format: Format::V3,
        shape: fields.lengths("shape")?,
        chunk_shape: chunk_shape(fields)?,
        keys: keys(fields)?,
        fill: fill::read(Format::V3, &dtype, document.member("fill_value"))?,
        dtype,
        codecs,
        attributes: document.attributes()?.to_owned(),
        dimension_names: dimension_names(fields)?,
    })
}

/// Refuses unknown fields, unless they say that they need not be understood.
fn check_known(fields: &Fields<'_>) -> Result<()> {
    let unknown = fields.keys().filter(|key| !KNOWN.contains(key));
    for key in unknown {
        let may_be_ignored = fields
            .get(key)
            .is_some_and(|value| value.get("must_understand") == Some(&Value::Bool(false)));
        if !may_be_ignored {
            return Err(unsupported("the field", key, ""));
        }
    }
    Ok(())
}

/// The shape of the chunks of a regular grid. Other grids are refused.
fn chunk_shape(fields: &Fields<'_>) -> Result<Vec<u64>> {
    let value = fields.required("chunk_grid")?;
    match Fields::named("chunk_grid", value)? {
        ("regular", grid) => grid.lengths("chunk_shape"),
        (other, _) => Err(unsupported("the chunk grid", other, "regular")),
    }
}

/// The encoding of chunk names: `default` or `v2`.
fn keys(fields: &Fields<'_>) -> Result<ChunkKeys> {
    let value = fields.required("chunk_key_encoding")?;
    match Fields::named("chunk_key_encoding", value)? {
        ("default", keys) => Ok(ChunkKeys::new(true, keys.separator("separator", '/')?)),
        ("v2", keys) => Ok(ChunkKeys::new(false, keys.separator("separator", '.')?)),
        (other, _) => {
            let expected = "default or v2";
            Err(unsupported("the chunk key encoding", other, expected))
        }
    }
}

/// The names of the axes; null is an axis without a name.
fn dimension_names(fields: &Fields<'_>) -> Result<Option<Vec<Option<String>>>> {
    let Some(value) = fields.get("dimension_names") else {
        return Ok(None);
    };
    let wrong = || wrong_field("dimension_names", value, "a list of strings and nulls");
    let names = value
        .as_array()
        .ok_or_else(wrong)?
        .iter()
        .map(|name| match name {
            Value::Null => Ok(None),
            Value::String(name) => Ok(Some(name.clone())),
            _ => Err(wrong()),
        });
    names.collect::<Result<_>>().map(Some)
}
