//! Converts elements to Arrow arrays.

use super::types::{TypeMapping, parts, unit_of};
use super::varying;
use crate::error::not_utf8;
use arrow_array::builder::{StringBuilder, make_view};
use arrow_array::{
    Array, ArrayRef, BinaryArray, BooleanArray, FixedSizeListArray, RecordBatch,
    RecordBatchOptions, StringArray, StringViewArray, StructArray, make_array,
};
use arrow_buffer::{BooleanBuffer, Buffer, NullBuffer};
use arrow_data::ArrayData;
use arrow_schema::{ArrowError, DataType, Field, Fields, SchemaRef, TimeUnit as Unit};
use bloscpack_array::Cells;
use bloscpack_array::{Batch, Column, Schema};
use bloscpack_dtype::{DType, Field as DTypeField, Kind, TimeUnit};
use bloscpack_error::checked::in_memory;
use bloscpack_error::{Error, Result};
use std::sync::Arc;

/// The longest text in bytes that a view holds itself.
const IN_A_VIEW: usize = 12;

/// The error for a type that Arrow lacks.
fn no_place(error: &ArrowError) -> Error {
    Error::usage(format!("Arrow: {error}"))
}

/// Converts a batch to a record batch.
pub(super) fn record_batch(
    schema: &SchemaRef,
    columns: &Schema,
    batch: Batch,
    mapping: TypeMapping,
) -> Result<RecordBatch> {
    let fields = schema.fields().iter();
    let mut cells = batch.cells.into_iter();
    let parts = fields.zip(columns.columns.iter().zip(batch.columns));
    let arrays = parts.map(|(field, (column, bytes))| {
        let cells = cells.next().unwrap_or_default();
        column_array(field, column, bytes, &cells, mapping)
            .map_err(|error| error.in_file(format!("column {}", column.name)))
    });
    let arrays = arrays.collect::<Result<Vec<_>>>()?;
    let rows = RecordBatchOptions::new().with_row_count(Some(in_memory(batch.rows)?));
    RecordBatch::try_new_with_options(Arc::clone(schema), arrays, &rows)
        .map_err(|error| Error::usage(format!("Arrow: {error}")))
}

/// Converts the rows of a column.
fn column_array(
    of: &Field,
    column: &Column,
    bytes: Vec<u8>,
    cells: &Cells,
    mapping: TypeMapping,
) -> Result<ArrayRef> {
    if let (Cells::Varying(values), Some(kind)) = (cells, &column.varying) {
        return varying::array(kind, &values.iter().collect::<Vec<_>>(), mapping);
    }
    // For other elements, the mapping decides which are null.
    let parts = match (cells, column.dtype.kind()) {
        (Cells::Elements, Kind::Complex) => column.cells(&bytes),
        _ => Cells::Elements,
    };
    let mapping = mapping.of(column);
    let array = array_of(of, &column.dtype, &column.row_shape, bytes, mapping)?;
    match if parts == Cells::Elements {
        cells
    } else {
        &parts
    } {
        Cells::Present(present) => varying::only_present(&array, present),
        _ => Ok(array),
    }
}

/// Converts elements, or lists of them, to an array of the field's type.
fn array_of(
    of: &Field,
    dtype: &DType,
    shape: &[u64],
    bytes: Vec<u8>,
    mapping: TypeMapping,
) -> Result<ArrayRef> {
    let (Some((_, within)), DataType::FixedSizeList(item, len)) =
        (shape.split_first(), of.data_type())
    else {
        return elements(of.data_type(), dtype, bytes, mapping);
    };
    let values = array_of(item, dtype, within, bytes, mapping)?;
    let list = FixedSizeListArray::try_new(Arc::clone(item), *len, values, None);
    Ok(Arc::new(list.map_err(|error| no_place(&error))?))
}

/// Converts single elements.
fn elements(
    data_type: &DataType,
    dtype: &DType,
    mut bytes: Vec<u8>,
    mapping: TypeMapping,
) -> Result<ArrayRef> {
    let itemsize = in_memory(dtype.itemsize())?.max(1);
    // Fields have their own byte order.
    if !matches!(dtype.kind(), Kind::Struct(_)) {
        dtype.to_little(&mut bytes);
    }
    Ok(match (dtype.kind(), data_type) {
        (Kind::Bool, _) => {
            let bits: BooleanBuffer = bytes.iter().map(|byte| *byte != 0).collect();
            Arc::new(BooleanArray::new(bits, None))
        }
        (Kind::Bytes, DataType::Utf8View) => {
            check_offsets(&bytes)?;
            Arc::new(views(bytes, itemsize)?)
        }
        (Kind::Text, DataType::Utf8View) => {
            check_offsets(&bytes)?;
            Arc::new(StringViewArray::from(&texts(&bytes, itemsize)?))
        }
        (Kind::Bytes, DataType::Utf8) => {
            check_offsets(&bytes)?;
            let rows = bytes.chunks_exact(itemsize).map(without_zeros);
            let texts = rows.map(|row| {
                std::str::from_utf8(row)
                    .map_err(|_| not_utf8(format!("\"{}\"", row.escape_ascii())))
            });
            Arc::new(StringArray::from_iter_values(
                texts.collect::<Result<Vec<_>>>()?,
            ))
        }
        (Kind::Bytes, _) => {
            let rows = bytes.chunks_exact(itemsize).map(without_zeros);
            check_offsets(&bytes)?;
            Arc::new(BinaryArray::from_iter_values(rows))
        }
        (Kind::Text, _) => {
            check_offsets(&bytes)?;
            Arc::new(texts(&bytes, itemsize)?)
        }
        (Kind::Complex, DataType::Struct(_)) => complex(&bytes, itemsize)?,
        (Kind::Struct(of), DataType::Struct(fields)) => {
            structs(fields, &of.fields, &bytes, itemsize, mapping)?
        }
        (Kind::Datetime(unit) | Kind::Timedelta(unit), _) => {
            times(data_type, dtype, *unit, &bytes)?
        }
        _ => {
            let nulls = mapping.has_null(dtype).then(|| numbers(&bytes, itemsize));
            let nulls = nulls.filter(|nulls| nulls.null_count() > 0);
            let len = bytes.len() / itemsize;
            raw(data_type.clone(), len, Buffer::from_vec(bytes), nulls)?
        }
    })
}

/// A null buffer that is false for NaN.
fn numbers(bytes: &[u8], itemsize: usize) -> NullBuffer {
    let floats = bytes.chunks_exact(itemsize);
    NullBuffer::from_iter(floats.map(|float| {
        let bits = float.iter().rev();
        let bits = bits.fold(0u64, |bits, byte| bits << 8 | u64::from(*byte));
        // Without the sign, a NaN is greater than infinity.
        match itemsize {
            2 => bits & 0x7fff <= 0x7c00,
            4 => bits & 0x7fff_ffff <= 0x7f80_0000,
            _ => bits & (u64::MAX >> 1) <= 0x7ff0_0000_0000_0000,
        }
    }))
}

/// Refuses strings of 2 GiB and more: their offsets have 32 bits.
fn check_offsets(bytes: &[u8]) -> Result<()> {
    match i32::try_from(bytes.len()) {
        Ok(_) => Ok(()),
        Err(_) => Err(Error::usage("Arrow: a row of strings exceeds 2 GiB")),
    }
}

/// An array of elements of fixed length, without a copy.
fn raw(
    data_type: DataType,
    len: usize,
    values: Buffer,
    nulls: Option<NullBuffer>,
) -> Result<ArrayRef> {
    let data = ArrayData::builder(data_type)
        .len(len)
        .add_buffer(values)
        .nulls(nulls)
        // Memory for bytes is usually aligned for numbers, but this is not guaranteed.
        .align_buffers(true)
        .build();
    Ok(make_array(data.map_err(|error| no_place(&error))?))
}

/// A string without trailing zeros.
pub(super) fn without_zeros(bytes: &[u8]) -> &[u8] {
    let zeros = bytes.iter().rev().take_while(|byte| **byte == 0).count();
    bytes.split_at(bytes.len() - zeros).0
}

/// Strings in UTF-8 without trailing zeros. Short ones are copied into their views, longer ones stay in place.
fn views(bytes: Vec<u8>, itemsize: usize) -> Result<StringViewArray> {
    let starts = (0u32..).step_by(itemsize);
    let elements = bytes.chunks_exact(itemsize).zip(starts);
    let views: Vec<u128> = elements
        .map(|(element, start)| make_view(without_zeros(element), 0, start))
        .collect();
    let buffers = match itemsize {
        ..=IN_A_VIEW => Vec::new(),
        _ => vec![Buffer::from_vec(bytes)],
    };
    let made = StringViewArray::try_new(views.into(), buffers, None);
    made.map_err(|error| no_place(&error))
}

/// Elements of type `U` as strings.
fn texts(bytes: &[u8], itemsize: usize) -> Result<StringArray> {
    let mut texts = StringBuilder::with_capacity(bytes.len() / itemsize, bytes.len() / 4);
    let mut text = String::new();
    for element in bytes.chunks_exact(itemsize) {
        let (chars, _) = element.as_chunks::<4>();
        text.clear();
        for code in chars {
            let char = char::from_u32(u32::from_le_bytes(*code));
            text.push(char.ok_or_else(|| {
                Error::usage("Arrow: text contains code points that are not characters")
            })?);
        }
        texts.append_value(text.trim_end_matches('\0'));
    }
    Ok(texts.finish())
}

/// A range of bytes of each element; `None` if it is outside the element.
fn part_of_each(bytes: &[u8], itemsize: usize, start: usize, len: usize) -> Option<Vec<u8>> {
    let elements = bytes.chunks_exact(itemsize);
    let parts = elements.map(|element| element.get(start..)?.get(..len));
    Some(parts.collect::<Option<Vec<_>>>()?.concat())
}

fn complex(bytes: &[u8], itemsize: usize) -> Result<ArrayRef> {
    let half = itemsize / 2;
    let len = bytes.len() / itemsize;
    let part_type = match half {
        4 => DataType::Float32,
        _ => DataType::Float64,
    };
    let part = |start: usize| {
        let dense = part_of_each(bytes, itemsize, start, half);
        let dense = dense.ok_or_else(|| Error::bug("a complex number without a half"))?;
        raw(part_type.clone(), len, Buffer::from_vec(dense), None)
    };
    let arrays = vec![part(0)?, part(half)?];
    let both = StructArray::try_new(parts(part_type.clone()), arrays, None);
    Ok(Arc::new(both.map_err(|error| no_place(&error))?))
}

fn structs(
    fields: &Fields,
    parts: &[DTypeField],
    bytes: &[u8],
    itemsize: usize,
    mapping: TypeMapping,
) -> Result<ArrayRef> {
    let no_field =
        || Error::usage("Arrow cannot store fields outside of their elements or without bytes");
    let len = bytes.len() / itemsize;
    let arrays = parts.iter().zip(fields).map(|(part, of)| {
        let mut axes = part.shape.iter();
        let each = axes.try_fold(part.dtype.itemsize(), |len, axis| len.checked_mul(*axis));
        let (start, each) = (
            in_memory(part.offset)?,
            in_memory(each.ok_or_else(no_field)?)?,
        );
        let dense = part_of_each(bytes, itemsize, start, each).ok_or_else(no_field)?;
        array_of(of, &part.dtype, &part.shape, dense, mapping)
    });
    let arrays = arrays.collect::<Result<Vec<_>>>()?;
    if arrays.iter().any(|array| array.len() != len) {
        return Err(no_field());
    }
    let both = StructArray::try_new(fields.clone(), arrays, None);
    Ok(Arc::new(both.map_err(|error| no_place(&error))?))
}

/// Counts of a time unit. NaT becomes null.
fn times(data_type: &DataType, dtype: &DType, unit: TimeUnit, bytes: &[u8]) -> Result<ArrayRef> {
    let (counts, _) = bytes.as_chunks::<8>();
    let counts = counts.iter().map(|count| i64::from_le_bytes(*count));
    let nulls = NullBuffer::from_iter(counts.clone().map(|count| count != i64::MIN));
    let nulls = Some(nulls).filter(|nulls| nulls.null_count() > 0);
    let len = counts.len();
    if *data_type == DataType::Date32 {
        let days = counts.map(|count| match count {
            i64::MIN => Ok(0),
            count => i32::try_from(count).map_err(|_| too_far(count, dtype, data_type)),
        });
        let days = Buffer::from_vec(days.collect::<Result<Vec<_>>>()?);
        return raw(DataType::Date32, len, days, nulls);
    }
    let finer = match (data_type, unit_of(unit)) {
        (DataType::Timestamp(Unit::Millisecond, _), Some(Unit::Second)) => 1000,
        _ => 1,
    };
    let scaled = counts.map(|count| match count {
        i64::MIN => Ok(0),
        count => count
            .checked_mul(finer)
            .filter(|scaled| *scaled != i64::MIN)
            .ok_or_else(|| too_far(count, dtype, data_type)),
    });
    let scaled = Buffer::from_vec(scaled.collect::<Result<Vec<_>>>()?);
    raw(data_type.clone(), len, scaled, nulls)
}

fn too_far(count: i64, dtype: &DType, data_type: &DataType) -> Error {
    Error::usage(format!(
        "{count} of {dtype} is too far from 1970 for {data_type}"
    ))
}
