//! `zarr.json` of an array.

use super::{ArrayMeta, Document, Fields, Format, check_dtype, codecs3, dtype3, fill};
use crate::error::{unsupported, wrong_field};
use crate::keys::ChunkKeys;
use bloscpack_dtype::ByteOrder;
use bloscpack_error::Result;
use serde_json::Value;

/// The fields that an array may have. Any other has to say that it need not be understood.
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
    // Fields are little-endian then, as zarr-python 3.1 writes them.
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

fn chunk_shape(fields: &Fields<'_>) -> Result<Vec<u64>> {
    let value = fields.required("chunk_grid")?;
    match Fields::named("chunk_grid", value)? {
        ("regular", grid) => grid.lengths("chunk_shape"),
        (other, _) => Err(unsupported("the chunk grid", other, "regular")),
    }
}

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
