//! Data types of version 3, in the spelling of zarr-python 3.4 and of the specification. `struct` is written, `structured` only
//! read.
//!
//! | data type | dtype |
//! |---|---|
//! | `bool`, `int8` to `uint64`, `float16` to `float64`, `complex64`, `complex128` | the NumPy type of this name |
//! | `r*`, such as `r16`; `raw_bytes` with `length_bytes` | void |
//! | `null_terminated_bytes` with `length_bytes` | bytes (`S`) |
//! | `fixed_length_utf32` with `length_bytes` | text (`U`) |
//! | `numpy.datetime64`, `numpy.timedelta64` with `unit` and `scale_factor` | `M8`, `m8` |
//! | `struct` with `fields`; `structured`, as zarr-python 3.1 writes it | packed fields |
//!
//! The byte order is not part of the data type: the codec `bytes` gives it.

use super::{Fields, Format};
use crate::error::{cannot_store, unsupported, wrong_field};
use bloscpack_dtype::{ByteOrder, DType, Field, Kind, Struct};
use bloscpack_error::Result;
use serde_json::{Value, json};

/// Data types that consist of a name alone.
const CORE: [(&str, DType); 14] = [
    ("bool", DType::BOOL),
    ("int8", DType::I8),
    ("int16", DType::I16),
    ("int32", DType::I32),
    ("int64", DType::I64),
    ("uint8", DType::U8),
    ("uint16", DType::U16),
    ("uint32", DType::U32),
    ("uint64", DType::U64),
    ("float16", DType::F16),
    ("float32", DType::F32),
    ("float64", DType::F64),
    ("complex64", DType::C64),
    ("complex128", DType::C128),
];

/// The dtype of a data type, in little-endian byte order.
pub(super) fn read(value: &Value) -> Result<DType> {
    let (name, fields) = Fields::named("data_type", value)?;
    if let Some((_, dtype)) = CORE.iter().find(|(core, _)| *core == name) {
        return Ok(dtype.clone());
    }
    let wrong =
        |error: bloscpack_dtype::DTypeError| wrong_field("data_type", value, error.to_string());
    let dtype = match name {
        "null_terminated_bytes" => DType::bytes(fields.number("length_bytes")?),
        "fixed_length_utf32" => DType::new(
            Kind::Text,
            ByteOrder::Little,
            fields.number("length_bytes")?,
        ),
        "raw_bytes" => DType::void(fields.number("length_bytes")?),
        "numpy.datetime64" => DType::parse(&time("M8", &fields)?),
        "numpy.timedelta64" => DType::parse(&time("m8", &fields)?),
        "structured" | "struct" => return structured(&fields),
        _ => match raw_bits(name) {
            Some(bits) => DType::void(bits / 8),
            None => {
                let expected = "a core type, r*, raw_bytes, null_terminated_bytes, fixed_length_utf32, numpy.datetime64, numpy.timedelta64 or struct";
                return Err(unsupported("the data type", name, expected));
            }
        },
    };
    dtype.map_err(wrong)
}

/// Whether the elements have more than one possible byte order.
pub(super) fn has_order(dtype: &DType) -> bool {
    dtype.clone().with_order(ByteOrder::Big).is_big()
}

/// The bits of a type `r*`, a multiple of 8; `None` for other names.
fn raw_bits(name: &str) -> Option<u64> {
    let bits: u64 = name.strip_prefix('r')?.parse().ok()?;
    (bits.is_multiple_of(8) && bits > 0).then_some(bits)
}

/// The code of a time, such as `<M8[10us]`.
fn time(code: &str, fields: &Fields<'_>) -> Result<String> {
    let unit = fields.text("unit")?;
    let count = match fields.get("scale_factor") {
        Some(_) => fields.number("scale_factor")?,
        None => 1,
    };
    Ok(match (unit, count) {
        ("generic", _) => format!("<{code}"),
        // NumPy calls it `us`.
        ("μs" | "µs", count) => format!("<{code}[{count}us]"),
        (unit, count) => format!("<{code}[{count}{unit}]"),
    })
}

/// Packed fields: each is `[name, type]`, or an object with `name` and `data_type`.
fn structured(fields: &Fields<'_>) -> Result<DType> {
    let list = fields.list("fields")?;
    let mut found = Vec::new();
    for field in list {
        let pair = match field.as_array().map(Vec::as_slice) {
            Some([Value::String(name), dtype]) => Some((name.as_str(), dtype)),
            Some(_) => None,
            None => {
                let fields = Fields::of("fields", field)?;
                Some((fields.text("name")?, fields.required("data_type")?))
            }
        };
        let expected = "a name and a data type";
        let (name, dtype) = pair.ok_or_else(|| wrong_field("fields", field, expected))?;
        found.push((name, read(dtype)?, Vec::new()));
    }
    let dtype = DType::structured(found, false);
    dtype.map_err(|error| wrong_field("fields", Value::from(list), error.to_string()))
}

/// The data type of a dtype. Its byte order is ignored.
pub(super) fn write(dtype: &DType) -> Result<Value> {
    let plain = dtype.clone().with_order(ByteOrder::Little);
    if let Some((name, _)) = CORE.iter().find(|(_, core)| *core == plain) {
        return Ok((*name).into());
    }
    let bytes = dtype.itemsize();
    let named =
        |name: &str, configuration: Value| json!({ "name": name, "configuration": configuration });
    Ok(match dtype.kind() {
        Kind::Bytes => named("null_terminated_bytes", json!({ "length_bytes": bytes })),
        Kind::Text => named("fixed_length_utf32", json!({ "length_bytes": bytes })),
        Kind::Void => named("raw_bytes", json!({ "length_bytes": bytes })),
        Kind::Datetime(unit) => named("numpy.datetime64", unit_of(unit)),
        Kind::Timedelta(unit) => named("numpy.timedelta64", unit_of(unit)),
        Kind::Struct(of) => named("struct", json!({ "fields": write_fields(of)? })),
        _ => {
            return Err(cannot_store(
                dtype,
                Format::V3,
                "there is no such data type",
            ));
        }
    })
}

/// The configuration of a time.
fn unit_of(unit: &bloscpack_dtype::TimeUnit) -> Value {
    let base = unit.base.map_or("generic", bloscpack_dtype::TimeBase::code);
    json!({ "unit": base, "scale_factor": unit.count })
}

/// The data types of fields. Fields that are arrays have none.
fn write_fields(of: &Struct) -> Result<Vec<Value>> {
    let each = |field: &Field| {
        if !field.shape.is_empty() {
            return Err(cannot_store(
                &field.dtype,
                Format::V3,
                "fields that are arrays have no data type",
            ));
        }
        Ok(json!({ "name": field.name, "data_type": write(&field.dtype)? }))
    };
    of.fields.iter().map(each).collect()
}
