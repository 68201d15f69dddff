//! The codecs of version 3.
//!
//! ```text
//!  "codecs": [{"name": "transpose", "configuration": {"order": [1, 0]}},                optional, at most one
//!             {"name": "bytes", "configuration": {"endian": "little"}},                 or:
//!             {"name": "sharding_indexed", "configuration": {"chunk_shape": [..], "codecs": [..], "index_location": "end",
//!                 "index_codecs": [{"name": "bytes", "configuration": {"endian": "little"}}, {"name": "crc32c"}]}},
//!             {"name": "blosc", "configuration": {..}}, {"name": "crc32c"}]             any number of codecs of bytes
//! ```
//!
//! A codec without a configuration may be its name alone. The settings of compressors are only needed for writing.

use super::Fields;
use crate::codec::{BytesCodec, Codecs, Serializer, Shard};
use crate::error::{unsupported, wrong_field};
use bloscpack_dtype::ByteOrder;
use bloscpack_error::{Error, Result};
use serde_json::Value;

/// Parses a list of codecs: at most one transposition, then a codec that makes bytes of elements, then any number that change
/// bytes. Also returns the byte order of the elements, if the list gives it.
pub(super) fn parse(list: &[Value]) -> Result<(Codecs, Option<ByteOrder>)> {
    let (mut transpose, mut serializer, mut bytes) = (None, None, Vec::new());
    for value in list {
        let (name, fields) = Fields::named("codecs", value)?;
        match (&serializer, name) {
            (None, "transpose") => {
                if transpose.is_some() {
                    return Err(unsupported("a second codec", name, ""));
                }
                transpose = Some(order(&fields)?);
            }
            (None, "bytes") => serializer = Some((Serializer::Bytes, endian(&fields)?)),
            (None, "sharding_indexed") => {
                let (shard, order) = shard(&fields)?;
                serializer = Some((Serializer::Sharding(Box::new(shard)), order));
            }
            (None, _) => return Err(unknown(name)),
            (Some(_), _) => bytes.push(bytes_codec(name)?),
        }
    }
    let missing = || wrong_field("codecs", "none of them", "bytes or sharding_indexed");
    let (serializer, order) = serializer.ok_or_else(missing)?;
    let codecs = Codecs {
        transpose,
        serializer,
        bytes,
    };
    Ok((codecs, order))
}

/// The error for a codec that is not supported, or at another place in the list.
fn unknown(name: &str) -> Error {
    let expected =
        "transpose, bytes, sharding_indexed, blosc, gzip, zstd, zlib, lz4 or crc32c in this order";
    unsupported("the codec", name, expected)
}

/// The codec of bytes with this name.
fn bytes_codec(name: &str) -> Result<BytesCodec> {
    Ok(match name {
        "blosc" | "numcodecs.blosc" => BytesCodec::Blosc,
        "gzip" | "numcodecs.gzip" => BytesCodec::Gzip,
        "zstd" | "numcodecs.zstd" => BytesCodec::Zstd,
        "zlib" | "numcodecs.zlib" => BytesCodec::Zlib,
        "numcodecs.lz4" => BytesCodec::Lz4,
        "crc32c" => BytesCodec::Crc32c,
        other => return Err(unknown(other)),
    })
}

/// The error for multi-byte numbers without a byte order.
pub(super) fn no_endian() -> Error {
    wrong_field("bytes: endian", "nothing", "little or big")
}

/// The byte order in the configuration of `bytes`; `None` if it is missing.
fn endian(fields: &Fields<'_>) -> Result<Option<ByteOrder>> {
    match fields.get("endian").map(Value::as_str) {
        None => Ok(None),
        Some(Some("little")) => Ok(Some(ByteOrder::Little)),
        Some(Some("big")) => Ok(Some(ByteOrder::Big)),
        _ => {
            let found = fields.required("endian")?;
            Err(wrong_field("bytes: endian", found, "little or big"))
        }
    }
}

/// The order of axes of a `transpose`. The letters `C` and `F` of early drafts are refused.
fn order(fields: &Fields<'_>) -> Result<Vec<usize>> {
    let axes = fields.lengths("order")?;
    let narrow = |axis: &u64| usize::try_from(*axis).ok();
    let order: Option<Vec<usize>> = axes.iter().map(narrow).collect();
    order.ok_or_else(|| wrong_field("transpose: order", format!("{axes:?}"), "numbers of axes"))
}

/// The configuration of `sharding_indexed`, and the byte order of the elements in its chunks.
fn shard(fields: &Fields<'_>) -> Result<(Shard, Option<ByteOrder>)> {
    let (codecs, order) = parse(fields.list("codecs")?)?;
    let (index, index_order) = parse(fields.list("index_codecs")?)?;
    let has_crc = match (&index.serializer, &index.transpose, index.bytes.as_slice()) {
        (Serializer::Bytes, None, []) => false,
        (Serializer::Bytes, None, [BytesCodec::Crc32c]) => true,
        _ => {
            let found = Value::from(fields.list("index_codecs")?);
            return Err(unsupported("index_codecs", found, "bytes and crc32c"));
        }
    };
    let at_start = match fields.get("index_location").map(Value::as_str) {
        None | Some(Some("end")) => false,
        Some(Some("start")) => true,
        _ => {
            let found = fields.required("index_location")?;
            let field = "sharding_indexed: index_location";
            return Err(wrong_field(field, found, "start or end"));
        }
    };
    let shard = Shard {
        chunk_shape: fields.lengths("chunk_shape")?,
        codecs,
        index_order: index_order.ok_or_else(no_endian)?,
        has_crc,
        at_start,
    };
    Ok((shard, order))
}
