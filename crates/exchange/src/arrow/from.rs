//! Arrays of Arrow as elements.

use super::types::{is_text, scale_of};
use crate::cells::is_value_of_nothing;
use crate::source::{to_u64, to_usize};
use arrow_array::cast::AsArray;
use arrow_array::types::{
    BinaryViewType, ByteArrayType, ByteViewType, GenericBinaryType, GenericStringType,
    StringViewType,
};
use arrow_array::{Array, StructArray};
use arrow_schema::DataType;
use bloscpack_dtype::{DType, Kind, TimeBase, TimeUnit};

/// An error in an element, and its row.
#[derive(Debug)]
pub(super) struct Wrong {
    pub row: usize,
    pub why: String,
}

type Result<T> = std::result::Result<T, Wrong>;

fn wrong<T>(row: usize, why: impl Into<String>) -> Result<T> {
    let why = why.into();
    Err(Wrong { row, why })
}

/// The bytes of all rows of an array that is known to fit the type and the shape of its rows.
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
        return wrong(0, format!("expected lists, found {}", array.data_type()));
    };
    let len = to_usize(*len);
    let start = usize::try_from(list.value_offset(0)).unwrap_or(0);
    let values = list.values();
    let count = list.len().saturating_mul(len);
    let values = match values.len() == count {
        true => values.clone(),
        false => values.slice(start, count),
    };
    // The values of a missing list have no meaning, and may be null.
    let row_bytes = within
        .iter()
        .fold(dtype.itemsize(), |size, axis| size.saturating_mul(*axis));
    let row_bytes = to_usize(row_bytes).saturating_mul(len);
    if list.null_count() == 0 {
        let bytes = bytes_of(&values, dtype, within, fill);
        return bytes.map_err(|error| Wrong {
            row: error.row.checked_div(len).unwrap_or(0),
            ..error
        });
    }
    let mut out = Vec::new();
    for row in 0..list.len() {
        match list.is_null(row) {
            true => {
                let element = missing(dtype, fill).map_err(|why| Wrong { row, why })?;
                let count = row_bytes.checked_div(element.len()).unwrap_or(0);
                out.extend(element.repeat(count));
            }
            false => {
                let bytes = bytes_of(&list.value(row), dtype, within, fill);
                out.extend(bytes.map_err(|error| Wrong { row, ..error })?);
            }
        }
    }
    Ok(out)
}

/// The element for a missing value.
fn missing(dtype: &DType, fill: Option<&str>) -> std::result::Result<Vec<u8>, String> {
    let Some(text) = fill.or(is_value_of_nothing(dtype).then_some("")) else {
        return Err(format!(
            "the value is null, and {dtype} has none for that: say what to fill in"
        ));
    };
    let mut element = vec![0; to_usize(dtype.itemsize())];
    let parsed = dtype.parse_text(text, &mut element);
    parsed.map_err(|error| error.to_string())?;
    Ok(element)
}

fn elements(array: &dyn Array, dtype: &DType, fill: Option<&str>) -> Result<Vec<u8>> {
    let keyed = array.as_any_dictionary_opt();
    let keys = keyed.map(|keyed| keyed.normalized_keys());
    let values: &dyn Array = keyed.map_or(array, |keyed| keyed.values().as_ref());
    let itemsize = to_usize(dtype.itemsize());
    let len = array.len();
    let mut out = vec![0; len.saturating_mul(itemsize)];
    let places = out.chunks_exact_mut(itemsize.max(1)).enumerate();
    let place_of = |row: usize| match &keys {
        Some(keys) => keys.get(row).copied().unwrap_or(0),
        None => row,
    };
    let is_null =
        |row: usize| array.is_null(row) || keys.is_some() && values.is_null(place_of(row));
    let nulls = array.null_count() > 0 || keys.is_some() && values.null_count() > 0;
    let put = dense(values, dtype, fill)?;
    let mut instead = None;
    for (row, place) in places {
        if nulls && is_null(row) {
            if instead.is_none() {
                instead = Some(missing(dtype, fill).map_err(|why| Wrong { row, why })?);
            }
            place.copy_from_slice(instead.as_deref().unwrap_or_default());
            continue;
        }
        put(place_of(row), place).map_err(|why| Wrong { row, why })?;
    }
    Ok(out)
}

/// Puts an element into its place, by its number.
type Put<'a> = Box<dyn Fn(usize, &mut [u8]) -> std::result::Result<(), String> + 'a>;

/// Copies elements of an array to their places. Null elements are skipped.
fn dense<'a>(array: &'a dyn Array, dtype: &'a DType, fill: Option<&str>) -> Result<Put<'a>> {
    match (dtype.kind(), array.data_type()) {
        (Kind::Bytes | Kind::Text, _) => Ok(strings(array, dtype)),
        (Kind::Bool, _) => {
            let Some(bits) = array.as_boolean_opt() else {
                return wrong(0, format!("{} is not a boolean", array.data_type()));
            };
            Ok(Box::new(|at, place| {
                place.fill(u8::from(bits.value(at)));
                Ok(())
            }))
        }
        (Kind::Struct(_) | Kind::Complex, DataType::Struct(_)) => {
            let all = structs(array, dtype, fill)?;
            Ok(copied(all, dtype))
        }
        (Kind::Datetime(unit) | Kind::Timedelta(unit), _) => times(array, dtype, *unit),
        _ => {
            let mut all = raw(array, to_usize(dtype.itemsize()))?;
            // From little-endian, which is what arrays of Arrow are here.
            dtype.to_little(&mut all);
            Ok(copied(all, dtype))
        }
    }
}

/// Consecutive elements.
fn copied<'a>(all: Vec<u8>, dtype: &'a DType) -> Put<'a> {
    Box::new(move |at, place| {
        let start = at.saturating_mul(to_usize(dtype.itemsize()));
        let element = all.get(start..).and_then(|rest| rest.get(..place.len()));
        place.copy_from_slice(element.ok_or("no such element")?);
        Ok(())
    })
}

/// The bytes of elements of a fixed length.
fn raw(array: &dyn Array, itemsize: usize) -> Result<Vec<u8>> {
    let data = array.to_data();
    let start = data.offset().saturating_mul(itemsize);
    let len = data.len().saturating_mul(itemsize);
    let bytes = data
        .buffers()
        .first()
        .and_then(|buffer| buffer.as_slice().get(start..)?.get(..len));
    match bytes {
        Some(bytes) => Ok(bytes.to_vec()),
        None => wrong(0, format!("{} has another length", array.data_type())),
    }
}

fn structs(array: &dyn Array, dtype: &DType, fill: Option<&str>) -> Result<Vec<u8>> {
    let Some(of) = array.as_struct_opt() else {
        return wrong(0, format!("expected fields, found {}", array.data_type()));
    };
    let itemsize = to_usize(dtype.itemsize());
    let mut out = vec![0; of.len().saturating_mul(itemsize)];
    for (index, part) in parts(dtype).into_iter().enumerate() {
        let Some(column) = of.columns().get(index) else {
            return wrong(0, "a field is missing");
        };
        let bytes = field_bytes(of, column, &part, fill)?;
        let each = bytes.len().checked_div(of.len()).unwrap_or(0).max(1);
        let places = out.chunks_exact_mut(itemsize.max(1));
        for (element, bytes) in places.zip(bytes.chunks_exact(each)) {
            let place = element.get_mut(part.start..).unwrap_or_default();
            if let Some(place) = place.get_mut(..bytes.len()) {
                place.copy_from_slice(bytes);
            }
        }
    }
    Ok(out)
}

/// The bytes of a field. Where all of the fields are missing it has no meaning, and may be null itself.
fn field_bytes(
    of: &StructArray,
    column: &dyn Array,
    part: &Part,
    fill: Option<&str>,
) -> Result<Vec<u8>> {
    if of.null_count() == 0 {
        return bytes_of(column, &part.dtype, &part.shape, fill);
    }
    let each = part.shape.iter().fold(part.dtype.itemsize(), |size, axis| {
        size.saturating_mul(*axis)
    });
    let mut out = Vec::new();
    for row in 0..of.len() {
        match of.is_null(row) {
            true => out.resize(out.len().saturating_add(to_usize(each)), 0),
            false => {
                let bytes = bytes_of(&column.slice(row, 1), &part.dtype, &part.shape, fill);
                out.extend(bytes.map_err(|error| Wrong { row, ..error })?);
            }
        }
    }
    Ok(out)
}

/// A part of an element.
struct Part {
    dtype: DType,
    shape: Vec<u64>,
    start: usize,
}

fn parts(dtype: &DType) -> Vec<Part> {
    if let Some(fields) = dtype.fields() {
        let part = |field: &bloscpack_dtype::Field| Part {
            dtype: field.dtype.clone(),
            shape: field.shape.clone(),
            start: to_usize(field.offset),
        };
        return fields.iter().map(part).collect();
    }
    let half = dtype.itemsize() / 2;
    let part = if half == 4 { DType::F32 } else { DType::F64 };
    let part = part.with_order(dtype.order());
    let part = |start: u64| Part {
        dtype: part.clone(),
        shape: Vec::new(),
        start: to_usize(start),
    };
    vec![part(0), part(half)]
}

/// Counts of one unit as counts of another.
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
        other => return wrong(0, format!("{other} is not a time")),
    };
    let (from, to) = match (found == unit, scale_of(found), scale_of(unit)) {
        (true, ..) => (1, 1),
        (false, Some(from), Some(to)) => (from, to),
        _ => {
            return wrong(
                0,
                format!("counts of {found} cannot be converted to {unit}"),
            );
        }
    };
    let all = raw(array, width)?;
    Ok(Box::new(move |at, place| {
        let start = at.saturating_mul(width);
        let bytes = all.get(start..).and_then(|rest| rest.get(..width));
        let bytes = bytes.ok_or("no such element")?;
        let count = match (<[u8; 4]>::try_from(bytes), <[u8; 8]>::try_from(bytes)) {
            (Ok(bytes), _) => i64::from(i32::from_le_bytes(bytes)),
            (_, Ok(bytes)) => i64::from_le_bytes(bytes),
            _ => return Err("no such element".to_owned()),
        };
        let fine = i128::from(count) * from;
        let scaled = (fine % to == 0).then_some(fine / to);
        let scaled = scaled.and_then(|count| i64::try_from(count).ok());
        let scaled = scaled.filter(|count| *count != i64::MIN);
        let scaled =
            scaled.ok_or_else(|| format!("{count} of {found} is not a whole number of {unit}"))?;
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

/// A string by its number.
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

/// The strings of an array, if it has such.
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

fn strings<'a>(array: &'a dyn Array, dtype: &'a DType) -> Put<'a> {
    let get = getter(array);
    let sure = is_text(array.data_type());
    Box::new(move |at, place| {
        let get = get.as_ref().ok_or("no string")?;
        let bytes = get(at);
        if *dtype.kind() == Kind::Bytes {
            let found = bytes.len();
            let place = place.get_mut(..found);
            let place = place.ok_or_else(|| format!("{found} bytes do not fit {dtype}"))?;
            place.copy_from_slice(bytes);
            return Ok(());
        }
        let text = std::str::from_utf8(bytes).map_err(|error| match sure {
            true => format!("damaged text: {error}"),
            false => format!("not valid text: {error}"),
        })?;
        let found = to_u64(text.chars().count());
        if found.saturating_mul(4) > dtype.itemsize() {
            return Err(format!("{found} characters do not fit {dtype}"));
        }
        let (chars, _) = place.as_chunks_mut::<4>();
        for (place, c) in chars.iter_mut().zip(text.chars()) {
            *place = u32::from(c).to_le_bytes();
        }
        dtype.to_little(place);
        Ok(())
    })
}
