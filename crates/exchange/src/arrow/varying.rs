//! Converts values of varying length, and missing values, to Arrow arrays.

use super::types::{TypeMapping, item_field};
use arrow_array::{
    Array, ArrayRef, BinaryArray, BooleanArray, Float64Array, Int64Array, ListArray, StringArray,
    StringViewArray, UInt64Array, make_array,
};
use arrow_buffer::{NullBuffer, OffsetBuffer};
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

/// The array with nulls where `present` is false.
pub(super) fn only_present(array: &ArrayRef, present: &[bool]) -> Result<ArrayRef> {
    let nulls = NullBuffer::from_iter(present.iter().copied());
    let nulls = NullBuffer::union(Some(&nulls), array.nulls());
    let data = array.to_data().into_builder().nulls(nulls).build();
    Ok(make_array(data.map_err(|error| {
        Error::usage(format!("Arrow: {error}"))
    })?))
}
