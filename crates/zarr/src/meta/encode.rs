//! Encodes the metadata of arrays and groups.

use super::{Format, dtype3, fill};
use crate::error::cannot_store;
use crate::write::NewArray;
use blosc1::Filter;
use bloscpack_array::DIMENSIONS;
use bloscpack_dtype::{ByteOrder, DType, Field, Struct};
use bloscpack_error::{Error, Result};
use bloscpack_wire::internal::{Members, json};
use serde_json::{Value, json};

/// Metadata files: their names and texts.
pub(crate) type Encoded = Vec<(&'static str, String)>;

/// The metadata files of an array: `.zarray` and, if there are attributes, `.zattrs`; or `zarr.json`.
pub(crate) fn array(new: &NewArray) -> Result<Encoded> {
    check_dtype(new.format, &new.dtype)?;
    match new.format {
        Format::V2 => array_v2(new),
        Format::V3 => Ok(vec![("zarr.json", array_v3(new)?)]),
    }
}

/// The files of version 2. The names of the axes become the attribute `_ARRAY_DIMENSIONS`.
fn array_v2(new: &NewArray) -> Result<Encoded> {
    let settings = &new.settings;
    let array = json!({
        "zarr_format": 2,
        "shape": new.shape,
        "chunks": new.chunk_shape,
        "dtype": new.dtype.to_json(),
        "compressor": {
            "id": "blosc",
            "cname": settings.compressor.name(),
            "clevel": settings.level,
            "shuffle": shuffle_number(settings.filter),
            "blocksize": settings.blocksize.unwrap_or(0),
        },
        "fill_value": if new.without_fill {
            Value::Null
        } else {
            fill::write(new.format, &new.dtype, &new.fill_bytes()?)
        },
        "order": if new.fortran { "F" } else { "C" },
        "filters": null,
    });
    let mut files = vec![(".zarray", pretty(&array)?)];
    let attributes = dimensioned(&new.attributes, new.dimension_names.as_deref())?;
    if Members::of(&attributes).next().is_some() {
        files.push((".zattrs", attributes));
    }
    Ok(files)
}

/// Attributes with the names of the axes as `_ARRAY_DIMENSIONS`, from which xarray reads them in version 2.
pub(crate) fn dimensioned(attributes: &str, names: Option<&[String]>) -> Result<String> {
    let is_there = Members::of(attributes).any(|member| member.is(DIMENSIONS));
    match names {
        Some(names) if !is_there => {
            with_member(attributes, DIMENSIONS, &Value::from(names).to_string())
        }
        _ => Ok(attributes.to_owned()),
    }
}

/// The text of a JSON object with one more member at its end.
fn with_member(text: &str, name: &str, value: &str) -> Result<String> {
    let open = text.trim_ascii().strip_suffix('}').map(str::trim_ascii_end);
    let open = open.ok_or_else(|| Error::bug("attributes that are not an object"))?;
    let comma = if open.ends_with('{') { "" } else { ", " };
    Ok(format!("{open}{comma}{}: {value}}}", Value::from(name)))
}

/// The `zarr.json` of an array, with a default chunk key encoding and no storage transformers.
fn array_v3(new: &NewArray) -> Result<String> {
    let mut members = vec![
        ("zarr_format", json!(3)),
        ("node_type", json!("array")),
        ("shape", json!(new.shape)),
        ("data_type", dtype3::write(&new.dtype)?),
        (
            "chunk_grid",
            json!({ "name": "regular", "configuration": { "chunk_shape": new.outer_shape()? } }),
        ),
        (
            "chunk_key_encoding",
            json!({ "name": "default", "configuration": { "separator": "/" } }),
        ),
        (
            "fill_value",
            fill::write(new.format, &new.dtype, &new.fill_bytes()?),
        ),
        ("codecs", codecs_v3(new)),
        ("storage_transformers", json!([])),
    ];
    if let Some(names) = &new.dimension_names {
        members.push(("dimension_names", json!(names)));
    }
    object(members, &new.attributes)
}

/// The text of a JSON object with these members and with attributes. The text of the attributes is kept, except for `NaN` and
/// infinities, which only Python reads: they become strings.
fn object(members: Vec<(&'static str, Value)>, attributes: &str) -> Result<String> {
    let plain = json::plain(attributes).map_err(|error| Error::bug(error.to_string()))?;
    let mut text = "{".to_owned();
    for (name, value) in members {
        let value = serde_json::to_string(&value).map_err(|error| Error::bug(error.to_string()))?;
        text.push_str(&format!("\n  \"{name}\": {value},"));
    }
    text.push_str(&format!("\n  \"attributes\": {}\n}}", plain.trim_ascii()));
    Ok(text)
}

/// The codec `bytes`, with the byte order of elements that have one. Fields are little-endian.
fn bytes_codec(dtype: &DType) -> Value {
    let is_big = dtype.order() == ByteOrder::Big && dtype.fields().is_none();
    match (dtype3::has_order(dtype), is_big) {
        (false, _) => json!({ "name": "bytes" }),
        (_, true) => json!({ "name": "bytes", "configuration": { "endian": "big" } }),
        _ => json!({ "name": "bytes", "configuration": { "endian": "little" } }),
    }
}

/// The codecs of an array: transposition, bytes, Blosc; in shards if there are any.
fn codecs_v3(new: &NewArray) -> Value {
    let settings = &new.settings;
    let mut codecs = Vec::new();
    if new.fortran {
        let order: Vec<usize> = (0..new.shape.len()).rev().collect();
        codecs.push(json!({ "name": "transpose", "configuration": { "order": order } }));
    }
    codecs.push(bytes_codec(&new.dtype));
    codecs.push(json!({ "name": "blosc", "configuration": {
        "cname": settings.compressor.name(),
        "clevel": settings.level,
        "shuffle": shuffle_name(settings.filter),
        "typesize": settings.typesize,
        "blocksize": settings.blocksize.unwrap_or(0),
    }}));
    if new.chunks_per_shard < 2 {
        return codecs.into();
    }
    json!([{ "name": "sharding_indexed", "configuration": {
        "chunk_shape": new.chunk_shape,
        "codecs": codecs,
        "index_codecs": [
            { "name": "bytes", "configuration": { "endian": "little" } },
            { "name": "crc32c" },
        ],
        "index_location": "end",
    }}])
}

fn shuffle_number(filter: Filter) -> u8 {
    match filter {
        Filter::None => 0,
        Filter::Byte => 1,
        Filter::Bit => 2,
    }
}

fn shuffle_name(filter: Filter) -> &'static str {
    match filter {
        Filter::None => "noshuffle",
        Filter::Byte => "shuffle",
        Filter::Bit => "bitshuffle",
    }
}

/// The metadata files of a group with consolidated metadata: copies of the files in `arrays`, by path.
pub(crate) fn group(
    format: Format,
    attributes: &str,
    arrays: &[(String, Encoded)],
) -> Result<Encoded> {
    match format {
        Format::V2 => group_v2(attributes, arrays),
        Format::V3 => group_v3(attributes, arrays),
    }
}

/// The metadata files of a group without consolidated metadata.
pub(crate) fn plain_group(format: Format, attributes: &str) -> Result<Encoded> {
    match format {
        Format::V2 => {
            let mut files = vec![(".zgroup", pretty(&json!({ "zarr_format": 2 }))?)];
            if Members::of(attributes).next().is_some() {
                files.push((".zattrs", attributes.to_owned()));
            }
            Ok(files)
        }
        Format::V3 => {
            let members = vec![("zarr_format", json!(3)), ("node_type", json!("group"))];
            Ok(vec![("zarr.json", object(members, attributes)?)])
        }
    }
}

/// The files of version 2: `.zgroup`, `.zmetadata`, and `.zattrs` if there are attributes.
fn group_v2(attributes: &str, arrays: &[(String, Encoded)]) -> Result<Encoded> {
    let group = pretty(&json!({ "zarr_format": 2 }))?;
    let has_attributes = Members::of(attributes).next().is_some();
    let mut all = format!("\n    \".zgroup\": {group}");
    if has_attributes {
        all.push_str(&format!(",\n    \".zattrs\": {attributes}"));
    }
    for (path, files) in arrays {
        for (name, text) in files {
            let key = Value::from(format!("{path}/{name}"));
            all.push_str(&format!(",\n    {key}: {text}"));
        }
    }
    let consolidated =
        format!("{{\n  \"zarr_consolidated_format\": 1,\n  \"metadata\": {{{all}\n  }}\n}}");
    let mut files = vec![(".zgroup", group), (".zmetadata", consolidated)];
    if has_attributes {
        files.push((".zattrs", attributes.to_owned()));
    }
    Ok(files)
}

/// The `zarr.json` of a group, with the metadata of its members in `consolidated_metadata`.
fn group_v3(attributes: &str, arrays: &[(String, Encoded)]) -> Result<Encoded> {
    let mut texts = Vec::new();
    for (path, files) in arrays {
        let (_, text) = files
            .first()
            .ok_or_else(|| Error::bug("an array without metadata"))?;
        texts.push(format!("{}: {text}", Value::from(path.as_str())));
    }
    let members = vec![("zarr_format", json!(3)), ("node_type", json!("group"))];
    let group = object(members, attributes)?;
    let consolidated = format!(
        "{{\"kind\": \"inline\", \"must_understand\": false, \"metadata\": {{{}}}}}",
        texts.join(", ")
    );
    let text = with_member(&group, "consolidated_metadata", &consolidated)?;
    Ok(vec![("zarr.json", text)])
}

fn pretty(value: &Value) -> Result<String> {
    serde_json::to_string_pretty(value).map_err(|error| Error::bug(error.to_string()))
}

/// Refuses dtypes that a version cannot store, with the reason.
fn check_dtype(format: Format, dtype: &DType) -> Result<()> {
    let refuse = |reason| Err(cannot_store(dtype, format, reason));
    if dtype.has_object() {
        return refuse("its elements are Python objects");
    }
    if dtype.itemsize() == 0 {
        return refuse("its elements have no bytes");
    }
    match dtype.fields() {
        Some(_) if !is_packed(dtype) => {
            refuse("there are bytes between its fields, or its fields have titles")
        }
        Some(_) if format == Format::V3 && dtype.is_big() => {
            refuse("fields have no byte order of their own")
        }
        _ => Ok(()),
    }
}

/// Whether fields follow each other without gaps and without titles, at all levels.
fn is_packed(dtype: &DType) -> bool {
    let bloscpack_dtype::Kind::Struct(of) = dtype.kind() else {
        return true;
    };
    let within = |field: &Field| field.title.is_none() && is_packed(&field.dtype);
    ends(of) == Some(dtype.itemsize()) && of.fields.iter().all(within)
}

/// The end of the last field; `None` if there are gaps between fields.
fn ends(of: &Struct) -> Option<u64> {
    of.fields.iter().try_fold(0u64, |end, field| {
        let count = field
            .shape
            .iter()
            .try_fold(1u64, |all, len| all.checked_mul(*len))?;
        let len = count.checked_mul(field.dtype.itemsize())?;
        (field.offset == end)
            .then(|| end.checked_add(len))
            .flatten()
    })
}
