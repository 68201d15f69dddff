//! Converts values of varying length, and missing values, to Arrow arrays and back.

use super::from::getter;
use super::types::{TypeMapping, is_text, item_field};
use arrow_array::cast::AsArray;
use arrow_array::types::{
    Float16Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type,
    UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{
    Array, ArrayRef, BinaryArray, BooleanArray, Float64Array, Int64Array, ListArray, StringArray,
    StringViewArray, UInt64Array, make_array,
};
use arrow_buffer::{NullBuffer, OffsetBuffer};
use arrow_schema::DataType;
use bloscpack_array::value_json;
use bloscpack_error::{Error, Result};
use bloscpack_stores::{ItemKind, Value};
use std::sync::Arc;

/// Converts the values to an array of the type that `type_of` returns for the kind. Values of any kind become JSON text.
pub(super) fn array(kind: &ItemKind, values: &[&Value], mapping: TypeMapping) -> Result<ArrayRef> {
    let each = values.iter().copied();
    Ok(match kind {
        ItemKind::Bool => Arc::new(BooleanArray::from_iter(each.map(|value| match value {
            Value::Bool(bool) => Some(*bool),
            _ => None,
        }))),
        ItemKind::Int => Arc::new(Int64Array::from_iter(each.map(|value| match value {
            Value::Int(number) => Some(*number),
            _ => None,
        }))),
        ItemKind::UInt => Arc::new(UInt64Array::from_iter(each.map(Value::as_count))),
        ItemKind::Float => Arc::new(Float64Array::from_iter(each.map(float))),
        ItemKind::Bytes => Arc::new(BinaryArray::from_iter(each.map(|value| match value {
            Value::Bytes(bytes) => Some(bytes),
            _ => None,
        }))),
        ItemKind::List(item) => list(item, values, mapping)?,
        ItemKind::Text => strings(each.map(Value::as_text), mapping),
        _ => {
            let json = each.map(|value| match value {
                Value::Nil => None,
                value => Some(value_json(value).to_string()),
            });
            strings(json, mapping)
        }
    })
}

fn strings(texts: impl Iterator<Item = Option<impl AsRef<str>>>, mapping: TypeMapping) -> ArrayRef {
    if mapping.string_views {
        Arc::new(StringViewArray::from_iter(texts))
    } else {
        Arc::new(StringArray::from_iter(texts))
    }
}

#[expect(
    clippy::cast_precision_loss,
    reason = "a float that Python wrote as an integer"
)]
fn float(value: &Value) -> Option<f64> {
    match value {
        Value::Float(float) => Some(*float),
        Value::Int(number) => Some(*number as f64),
        _ => None,
    }
}

fn list(item: &ItemKind, values: &[&Value], mapping: TypeMapping) -> Result<ArrayRef> {
    let lists = || values.iter().map(|value| value.as_list());
    let lens = OffsetBuffer::from_lengths(lists().map(|list| list.map_or(0, <[Value]>::len)));
    let items: Vec<&Value> = lists().flatten().flatten().collect();
    let nulls = NullBuffer::from_iter(lists().map(|list| list.is_some()));
    let field = Arc::new(item_field(item, mapping));
    let list = ListArray::try_new(field, lens, array(item, &items, mapping)?, Some(nulls));
    Ok(Arc::new(list.map_err(|error| {
        Error::usage(format!("Arrow: {error}"))
    })?))
}

/// Converts an array whose type has a kind of values to them. A null is nil.
pub(super) fn values(array: &dyn Array) -> Result<Vec<Value>> {
    macro_rules! numbers {
        ($type:ty, $value:expr) => {{
            let numbers = array.as_primitive::<$type>().iter();
            numbers
                .map(|number| number.map_or(Value::Nil, $value))
                .collect()
        }};
    }
    let integer = |number: i64| Value::Int(number);
    Ok(match array.data_type() {
        DataType::Boolean => {
            let bits = array.as_boolean().iter();
            bits.map(|bit| bit.map_or(Value::Nil, Value::Bool))
                .collect()
        }
        DataType::Int8 => numbers!(Int8Type, |number| integer(number.into())),
        DataType::Int16 => numbers!(Int16Type, |number| integer(number.into())),
        DataType::Int32 => numbers!(Int32Type, |number| integer(number.into())),
        DataType::Int64 => numbers!(Int64Type, integer),
        DataType::UInt8 => numbers!(UInt8Type, |number| integer(number.into())),
        DataType::UInt16 => numbers!(UInt16Type, |number| integer(number.into())),
        DataType::UInt32 => numbers!(UInt32Type, |number| integer(number.into())),
        DataType::UInt64 => numbers!(UInt64Type, |number| {
            i64::try_from(number).map_or(Value::UInt(number), Value::Int)
        }),
        DataType::Float16 => numbers!(Float16Type, |number| Value::Float(number.into())),
        DataType::Float32 => numbers!(Float32Type, |number| Value::Float(number.into())),
        DataType::Float64 => numbers!(Float64Type, Value::Float),
        DataType::List(_) => lists(array.len(), array.as_list::<i32>().iter())?,
        DataType::LargeList(_) => lists(array.len(), array.as_list::<i64>().iter())?,
        DataType::FixedSizeList(..) => lists(array.len(), array.as_fixed_size_list().iter())?,
        data_type => {
            let get = getter(array);
            let get = get.ok_or_else(|| Error::bug(format!("values of the type {data_type}")))?;
            let is_text = is_text(data_type);
            let value = |at| match array.is_valid(at) {
                false => Value::Nil,
                true if is_text => Value::Text(String::from_utf8_lossy(get(at)).into_owned()),
                true => Value::Bytes(get(at).to_vec()),
            };
            (0..array.len()).map(value).collect()
        }
    })
}

/// The values of lists.
fn lists(count: usize, each: impl Iterator<Item = Option<ArrayRef>>) -> Result<Vec<Value>> {
    let mut lists = Vec::with_capacity(count);
    for list in each {
        lists.push(match list {
            Some(list) => Value::List(values(&list)?),
            None => Value::Nil,
        });
    }
    Ok(lists)
}

/// The array with nulls where `present` is false.
pub(super) fn only_present(array: &ArrayRef, present: &[bool]) -> Result<ArrayRef> {
    let nulls = NullBuffer::from_iter(present.iter().copied());
    let nulls = NullBuffer::union(Some(&nulls), array.nulls());
    let data = array.to_data().into_builder().nulls(nulls).build();
    Ok(make_array(data.map_err(|error| {
        Error::usage(format!("Arrow: {error}"))
    })?))
}
