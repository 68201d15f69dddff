//! Converts Arrow arrays to elements.

use super::types::scale_of;
use crate::error::{missing_value, not_utf8, too_long};
use arrow_array::cast::AsArray;
use arrow_array::types::{
    BinaryViewType, ByteArrayType, ByteViewType, GenericBinaryType, GenericStringType,
    StringViewType,
};
use arrow_array::{Array, StructArray};
use arrow_schema::DataType;
use bloscpack_array::is_value_of_nothing;
use bloscpack_array::too_large;
use bloscpack_dtype::{DType, Kind, TimeBase, TimeUnit};
use bloscpack_error::checked::{in_memory, to_u64};
use bloscpack_error::{Code, Error};
use std::fmt::Display;

/// An error in an element, with its row.
#[derive(Debug)]
pub(super) struct RowError {
    pub row: usize,
    pub error: Error,
}

/// An error of all rows, reported for the first.
impl From<Error> for RowError {
    fn from(error: Error) -> Self {
        Self { row: 0, error }
    }
}

type Result<T> = std::result::Result<T, RowError>;

/// The error for values of another type than the file's schema says.
fn mismatch(expected: impl Display, found: impl Display) -> Error {
    Error::new(Code::Value, format!("expected {expected}, found {found}"))
}

/// The bytes of `count` elements in memory.
fn total(count: usize, each: usize) -> bloscpack_error::Result<usize> {
    count.checked_mul(each).ok_or_else(too_large)
}

/// The bytes of a row of elements.
fn row_len(dtype: &DType, shape: &[u64]) -> bloscpack_error::Result<usize> {
    let mut axes = shape.iter();
    let len = axes.try_fold(dtype.itemsize(), |len, axis| len.checked_mul(*axis));
    in_memory(len.ok_or_else(too_large)?)
}

/// The bytes of all rows of an array whose type was found to suit `dtype` and `shape`.
pub(super) fn bytes_of(
    array: &dyn Array,
    dtype: &DType,
    shape: &[u64],
    fill: Option<&str>,
) -> Result<Vec<u8>> {
    let Some((len, within)) = shape.split_first() else {
        return elements(array, dtype, fill);
    };
    let Some(list) = array.as_fixed_size_list_opt() else {
        return Err(mismatch("lists", array.data_type()).into());
    };
    let len = in_memory(*len)?;
    let start = usize::try_from(list.value_offset(0))
        .map_err(|_| mismatch("a list", "one that begins before its values"))?;
    let values = list.values();
    let count = total(list.len(), len)?;
    let values = if values.len() == count {
        values.clone()
    } else {
        values.slice(start, count)
    };
    // The values of a missing list have no meaning, and may be null.
    let row_bytes = row_len(dtype, shape)?;
    if list.null_count() == 0 {
        let bytes = bytes_of(&values, dtype, within, fill);
        return bytes.map_err(|error| RowError {
            // An error that is not about one of the values is reported for the first row.
            row: error.row.checked_div(len).unwrap_or(0),
            ..error
        });
    }
    let mut out = Vec::new();
    for row in 0..list.len() {
        if list.is_null(row) {
            let element = missing(dtype, fill).map_err(|error| RowError { row, error })?;
            // Elements without bytes add nothing, however many there are.
            let count = row_bytes.checked_div(element.len()).unwrap_or(0);
            out.extend(element.repeat(count));
        } else {
            let bytes = bytes_of(&list.value(row), dtype, within, fill);
            out.extend(bytes.map_err(|error| RowError { row, ..error })?);
        }
    }
    Ok(out)
}

/// The element that replaces a missing value.
fn missing(dtype: &DType, fill: Option<&str>) -> bloscpack_error::Result<Vec<u8>> {
    let Some(text) = fill.or(is_value_of_nothing(dtype).then_some("")) else {
        return Err(missing_value(dtype));
    };
    let mut element = vec![0; in_memory(dtype.itemsize())?];
    dtype.parse_text(text, &mut element)?;
    Ok(element)
}

/// The bytes of single elements, also of a dictionary.
fn elements(array: &dyn Array, dtype: &DType, fill: Option<&str>) -> Result<Vec<u8>> {
    let keyed = array.as_any_dictionary_opt();
    // Without values, all keys are null, and arrow-rs panics.
    let some = keyed.filter(|keyed| !keyed.values().is_empty());
    let keys = some.map(|keyed| keyed.normalized_keys());
    let values: &dyn Array = keyed.map_or(array, |keyed| keyed.values().as_ref());
    let itemsize = in_memory(dtype.itemsize())?;
    let len = array.len();
    let mut out = vec![0; total(len, itemsize)?];
    let places = out.chunks_exact_mut(itemsize.max(1)).enumerate();
    let index_of = |row: usize| match &keys {
        Some(keys) => {
            let key = keys.get(row).copied();
            key.ok_or_else(|| mismatch("as many keys as rows", keys.len()))
        }
        None => Ok(row),
    };
    let nulls = array.null_count() > 0 || keys.is_some() && values.null_count() > 0;
    let put = dense(values, dtype, fill)?;
    let mut instead = None;
    for (row, place) in places {
        let in_row = |error| RowError { row, error };
        let index = index_of(row).map_err(in_row)?;
        if nulls && (array.is_null(row) || keys.is_some() && values.is_null(index)) {
            let element = match &mut instead {
                Some(element) => element,
                none => none.insert(missing(dtype, fill).map_err(in_row)?),
            };
            place.copy_from_slice(element);
            continue;
        }
        put(index, place).map_err(in_row)?;
    }
    Ok(out)
}

/// Writes the element with a number into its place.
type Put<'a> = Box<dyn Fn(usize, &mut [u8]) -> bloscpack_error::Result<()> + 'a>;

/// A function that copies elements of an array to their places. It is not called for null elements.
fn dense<'a>(array: &'a dyn Array, dtype: &'a DType, fill: Option<&str>) -> Result<Put<'a>> {
    match (dtype.kind(), array.data_type()) {
        (Kind::Bytes | Kind::Text, _) => Ok(strings(array, dtype)),
        (Kind::Bool, _) => {
            let Some(bits) = array.as_boolean_opt() else {
                return Err(mismatch("booleans", array.data_type()).into());
            };
            Ok(Box::new(|at, place| {
                place.fill(u8::from(bits.value(at)));
                Ok(())
            }))
        }
        (Kind::Struct(_) | Kind::Complex, DataType::Struct(_)) => {
            let all = structs(array, dtype, fill)?;
            Ok(copied(all))
        }
        (Kind::Datetime(unit) | Kind::Timedelta(unit), _) => times(array, dtype, *unit),
        _ => {
            let mut all = raw(array, in_memory(dtype.itemsize())?)?;
            // Arrow arrays are little-endian here.
            dtype.to_little(&mut all);
            Ok(copied(all))
        }
    }
}

/// Copies from consecutive elements.
fn copied<'a>(all: Vec<u8>) -> Put<'a> {
    Box::new(move |at, place| {
        let start = at.checked_mul(place.len());
        let element = start.and_then(|start| all.get(start..)?.get(..place.len()));
        let element = element.ok_or_else(|| no_element(at, all.len()))?;
        place.copy_from_slice(element);
        Ok(())
    })
}

fn no_element(at: usize, len: usize) -> Error {
    mismatch(format!("element {at}"), format!("{len} bytes"))
}

/// The bytes of elements of fixed length.
fn raw(array: &dyn Array, itemsize: usize) -> Result<Vec<u8>> {
    let data = array.to_data();
    let start = total(data.offset(), itemsize)?;
    let len = total(data.len(), itemsize)?;
    let bytes = data
        .buffers()
        .first()
        .and_then(|buffer| buffer.as_slice().get(start..)?.get(..len));
    match bytes {
        Some(bytes) => Ok(bytes.to_vec()),
        None => {
            let expected = format!("elements of {itemsize} bytes");
            Err(mismatch(expected, array.data_type()).into())
        }
    }
}

/// The bytes of structured elements or complex numbers.
fn structs(array: &dyn Array, dtype: &DType, fill: Option<&str>) -> Result<Vec<u8>> {
    let Some(of) = array.as_struct_opt() else {
        return Err(mismatch("fields", array.data_type()).into());
    };
    let itemsize = in_memory(dtype.itemsize())?;
    let mut out = vec![0; total(of.len(), itemsize)?];
    for (index, part) in parts(dtype)?.into_iter().enumerate() {
        let Some(column) = of.columns().get(index) else {
            let found = format!("{} fields", of.columns().len());
            return Err(mismatch(format!("field {index}"), found).into());
        };
        let each = row_len(&part.dtype, &part.shape)?;
        if each == 0 {
            continue;
        }
        let bytes = field_bytes(of, column, &part, fill)?;
        let expected = total(of.len(), each)?;
        if bytes.len() != expected {
            let (expected, found) = (format!("{expected} bytes"), bytes.len());
            return Err(mismatch(expected, found).into());
        }
        let elements = out.chunks_exact_mut(itemsize.max(1));
        for (element, bytes) in elements.zip(bytes.chunks_exact(each)) {
            let place = element.get_mut(part.start..);
            place
                .and_then(|rest| rest.get_mut(..each))
                .ok_or_else(|| mismatch("a field", "one outside of its element"))?
                .copy_from_slice(bytes);
        }
    }
    Ok(out)
}

/// The bytes of a field. The fields of a missing element have no meaning, and may be null.
fn field_bytes(
    of: &StructArray,
    column: &dyn Array,
    part: &FieldLayout,
    fill: Option<&str>,
) -> Result<Vec<u8>> {
    if of.null_count() == 0 {
        return bytes_of(column, &part.dtype, &part.shape, fill);
    }
    let each = row_len(&part.dtype, &part.shape)?;
    let mut out = Vec::new();
    for row in 0..of.len() {
        if of.is_null(row) {
            out.resize(out.len() + each, 0)
        } else {
            let bytes = bytes_of(&column.slice(row, 1), &part.dtype, &part.shape, fill);
            out.extend(bytes.map_err(|error| RowError { row, ..error })?);
        }
    }
    Ok(out)
}

/// A field of a structured element, or a half of a complex number.
struct FieldLayout {
    dtype: DType,
    shape: Vec<u64>,
    start: usize,
}

/// The fields of a structured type, or the halves of a complex one.
fn parts(dtype: &DType) -> bloscpack_error::Result<Vec<FieldLayout>> {
    if let Some(fields) = dtype.fields() {
        let part = |field: &bloscpack_dtype::Field| {
            Ok(FieldLayout {
                dtype: field.dtype.clone(),
                shape: field.shape.clone(),
                start: in_memory(field.offset)?,
            })
        };
        return fields.iter().map(part).collect();
    }
    let half = dtype.itemsize() / 2;
    let part = if half == 4 { DType::F32 } else { DType::F64 };
    let part = part.with_order(dtype.order());
    let part = |start: u64| {
        Ok::<_, Error>(FieldLayout {
            dtype: part.clone(),
            shape: Vec::new(),
            start: in_memory(start)?,
        })
    };
    Ok(vec![part(0)?, part(half)?])
}

/// Converts counts of one time unit to another.
fn times<'a>(array: &'a dyn Array, dtype: &'a DType, unit: TimeUnit) -> Result<Put<'a>> {
    let one = TimeUnit::one;
    let (width, found) = match array.data_type() {
        DataType::Int64 => (8, unit),
        DataType::Date32 => (4, one(TimeBase::Day)),
        DataType::Time32(found) => (4, unit_from(*found)),
        DataType::Date64 => (8, one(TimeBase::Milli)),
        DataType::Timestamp(found, _) | DataType::Duration(found) | DataType::Time64(found) => {
            (8, unit_from(*found))
        }
        other => return Err(mismatch("times", other).into()),
    };
    let (from, to) = match (found == unit, scale_of(found), scale_of(unit)) {
        (true, ..) => (1, 1),
        (false, Some(from), Some(to)) => (from, to),
        _ => {
            return Err(mismatch(format!("times in {unit}"), found).into());
        }
    };
    let all = raw(array, width)?;
    Ok(Box::new(move |at, place| {
        let start = at.checked_mul(width);
        let bytes = start.and_then(|start| all.get(start..)?.get(..width));
        let bytes = bytes.ok_or_else(|| no_element(at, all.len()))?;
        let count = match (<[u8; 4]>::try_from(bytes), <[u8; 8]>::try_from(bytes)) {
            (Ok(bytes), _) => i64::from(i32::from_le_bytes(bytes)),
            (_, Ok(bytes)) => i64::from_le_bytes(bytes),
            _ => return Err(no_element(at, all.len())),
        };
        let fine = i128::from(count) * from;
        let scaled = (fine % to == 0).then_some(fine / to);
        let scaled = scaled.and_then(|count| i64::try_from(count).ok());
        let scaled = scaled.filter(|count| *count != i64::MIN);
        let scaled = scaled.ok_or_else(|| {
            Error::new(
                Code::Value,
                format!("{count} of {found} is not a whole number of {unit}"),
            )
        })?;
        place.copy_from_slice(&scaled.to_le_bytes());
        dtype.to_little(place);
        Ok(())
    }))
}

fn unit_from(unit: arrow_schema::TimeUnit) -> TimeUnit {
    TimeUnit::one(match unit {
        arrow_schema::TimeUnit::Second => TimeBase::Second,
        arrow_schema::TimeUnit::Millisecond => TimeBase::Milli,
        arrow_schema::TimeUnit::Microsecond => TimeBase::Micro,
        arrow_schema::TimeUnit::Nanosecond => TimeBase::Nano,
    })
}

/// Returns a string by its number.
pub(super) type Get<'a> = Box<dyn Fn(usize) -> &'a [u8] + 'a>;

fn of_bytes<'a, T: ByteArrayType>(array: &'a dyn Array) -> Option<Get<'a>>
where
    T::Native: AsRef<[u8]>,
{
    let array = array.as_bytes_opt::<T>()?;
    Some(Box::new(|at| array.value(at).as_ref()))
}

fn of_views<'a, T: ByteViewType>(array: &'a dyn Array) -> Option<Get<'a>>
where
    T::Native: AsRef<[u8]>,
{
    let array = array.as_byte_view_opt::<T>()?;
    Some(Box::new(|at| array.value(at).as_ref()))
}

/// The strings of an array; `None` for an array of another type.
pub(super) fn getter(array: &dyn Array) -> Option<Get<'_>> {
    match array.data_type() {
        DataType::Utf8 => of_bytes::<GenericStringType<i32>>(array),
        DataType::LargeUtf8 => of_bytes::<GenericStringType<i64>>(array),
        DataType::Binary => of_bytes::<GenericBinaryType<i32>>(array),
        DataType::LargeBinary => of_bytes::<GenericBinaryType<i64>>(array),
        DataType::Utf8View => of_views::<StringViewType>(array),
        DataType::BinaryView => of_views::<BinaryViewType>(array),
        _ => None,
    }
}

/// Copies strings into elements of type `S` or `U`.
fn strings<'a>(array: &'a dyn Array, dtype: &'a DType) -> Put<'a> {
    let get = getter(array);
    let found = array.data_type();
    Box::new(move |at, place| {
        let get = get.as_ref();
        let get = get.ok_or_else(|| mismatch("strings", found))?;
        let bytes = get(at);
        if *dtype.kind() == Kind::Bytes {
            let place = place.get_mut(..bytes.len());
            let place = place.ok_or_else(|| too_long(bytes.len(), "bytes", dtype))?;
            place.copy_from_slice(bytes);
            return Ok(());
        }
        let text = std::str::from_utf8(bytes)
            .map_err(|error| not_utf8(format_args!("a value of {found} ({error})")))?;
        let count = text.chars().count();
        if to_u64(count) > dtype.itemsize() / 4 {
            return Err(too_long(count, "characters", dtype));
        }
        let (chars, _) = place.as_chunks_mut::<4>();
        for (place, c) in chars.iter_mut().zip(text.chars()) {
            *place = u32::from(c).to_le_bytes();
        }
        dtype.to_little(place);
        Ok(())
    })
}
