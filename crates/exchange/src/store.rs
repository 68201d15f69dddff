//! [`import_store`]: append a source to a table of python-blosc2.

use bloscpack_array::Cells;
use bloscpack_array::{Batch, Column, Schema, names};
use bloscpack_array::{Progress, Source, for_each};
use bloscpack_dtype::{DType, Kind, TimeBase, TimeUnit};
use bloscpack_error::checked::{in_memory, to_u64};
use bloscpack_error::{Error, Result};
use bloscpack_stores::{ColumnData, ColumnKind, ItemKind, StoreColumn, TableWriter, Value};
use std::borrow::Cow;

/// NaT, "not a time".
const NOT_A_TIME: i64 = i64::MIN;

/// The columns of a new python-blosc2 table for this schema. Text gets a varying length, unless `keeps_length` returns true for
/// the column. Times in weeks, days, hours and minutes become seconds.
///
/// ```
/// use bloscpack_dtype::DType;
/// use bloscpack_exchange::{Column, Schema, store_columns};
/// let day = Column::new("day", DType::parse("<M8[D]")?);
/// let schema = Schema::table(vec![day, Column::new("name", DType::text(8)?)]);
/// let columns = store_columns(&schema, |_| false)?;
/// assert_eq!(columns[0].stored_kind, "timestamp");
/// assert_eq!(columns[1].stored_kind, "utf8");
/// # Ok::<(), bloscpack_error::Error>(())
/// ```
///
/// # Errors
/// Returns an error for a name or a type that such a table cannot have.
pub fn store_columns(
    schema: &Schema,
    keeps_length: impl Fn(&str) -> bool,
) -> Result<Vec<StoreColumn>> {
    let column = |column: &Column| -> Result<StoreColumn> {
        let varies = column.varying == Some(ItemKind::Text)
            || is_text(column) && !keeps_length(&column.name);
        if varies && column.is_dictionary {
            return StoreColumn::dictionary(&column.name, column.nullable);
        }
        let kind = match &column.varying {
            _ if varies => ColumnKind::Varying(ItemKind::Text),
            Some(kind) => ColumnKind::Varying(kind.clone()),
            None => ColumnKind::Fixed {
                dtype: in_seconds(&column.dtype)?,
                row_shape: column.row_shape.clone(),
            },
        };
        let made = StoreColumn::new(&column.name, kind, column.nullable)?;
        Ok(made.timezone(column.zone.clone()))
    };
    schema.columns.iter().map(column).collect()
}

fn is_text(column: &Column) -> bool {
    *column.dtype.kind() == Kind::Text && column.row_shape.is_empty()
}

/// The type with the unit that timestamps have.
fn in_seconds(dtype: &DType) -> Result<DType> {
    match dtype.kind() {
        Kind::Datetime(unit) if seconds(*unit).is_some() => {
            Ok(DType::datetime(TimeUnit::one(TimeBase::Second))?)
        }
        _ => Ok(dtype.clone()),
    }
}

/// The seconds of one step, for units of whole seconds.
fn seconds(unit: TimeUnit) -> Option<i64> {
    let base = match unit.base? {
        TimeBase::Week => 7 * 86_400,
        TimeBase::Day => 86_400,
        TimeBase::Hour => 3600,
        TimeBase::Minute => 60,
        TimeBase::Second => 1,
        _ => return None,
    };
    Some(i64::from(unit.count) * base)
}

/// Appends all rows of a source to a table. Columns are matched by name. The table is complete when its writer is
/// [finished](TableWriter::finish).
///
/// # Errors
/// Returns `Code::Usage` for columns that the table does not have or lacks, and for other types; errors of the source and of
/// the table.
pub fn import_store(
    source: &mut dyn Source,
    table: &mut TableWriter,
    progress: &mut Progress<'_>,
) -> Result<()> {
    let mappings = mappings(source.schema(), table.columns())?;
    for_each(source, progress, |schema, mut batch| {
        let data = mappings.iter().map(|(from, to)| {
            let column = schema.columns.get(*from);
            let column = column.ok_or_else(|| Error::bug("a batch without one of its columns"))?;
            data(column, to, *from, &mut batch)
                .map_err(|error| error.in_file(format!("column {}", column.name)))
        });
        let data = data.collect::<Result<Vec<_>>>()?;
        table.append(batch.rows, &data)
    })
}

/// The source's column for each column of the table.
fn mappings(schema: &Schema, table: &[StoreColumn]) -> Result<Vec<(usize, StoreColumn)>> {
    let mut mappings = Vec::new();
    for column in table {
        let mut all = schema.columns.iter();
        let from = all.position(|found| found.name == column.name);
        let from = from.ok_or_else(|| {
            let (name, found) = (&column.name, names(&schema.columns));
            Error::usage(format!("input has no column {name:?} (found: {found})"))
        })?;
        mappings.push((from, column.clone()));
    }
    if schema.columns.len() == mappings.len() {
        Ok(mappings)
    } else {
        let names: Vec<_> = table.iter().map(|column| column.name.as_str()).collect();
        Err(Error::usage(format!(
            "the table has columns {}, but the input has {}",
            names.join(", "),
            bloscpack_array::names(&schema.columns)
        )))
    }
}

/// Converts the rows of a column, and takes them out of the batch.
fn data(column: &Column, to: &StoreColumn, from: usize, batch: &mut Batch) -> Result<ColumnData> {
    let bytes = batch.columns.get_mut(from).map(std::mem::take);
    let bytes = bytes.unwrap_or_default();
    let cells = batch.cells.get_mut(from).map(std::mem::take);
    let present = match cells.unwrap_or_default() {
        Cells::Elements => None,
        Cells::Present(present) => Some(present),
        Cells::Varying(values) => return varying(values, to),
    };
    match &to.kind {
        ColumnKind::Varying(ItemKind::Text) if is_text(column) => {
            let mut bytes = bytes;
            column.dtype.to_little(&mut bytes);
            let size = in_memory(column.dtype.itemsize())?.max(1);
            let texts = bytes.chunks_exact(size).map(text);
            let mut texts = texts.collect::<Result<Vec<_>>>()?;
            for (text, present) in texts.iter_mut().zip(present.unwrap_or_default()) {
                if !present {
                    *text = Value::Nil;
                }
            }
            Ok(ColumnData::Varying(texts))
        }
        ColumnKind::Fixed { dtype, row_shape } if *row_shape == column.row_shape => {
            let bytes = elements(bytes, &column.dtype, dtype)?;
            Ok(ColumnData::Fixed { bytes, present })
        }
        _ => Err(mismatch(&column.dtype.to_string(), to)),
    }
}

fn mismatch(found: &str, to: &StoreColumn) -> Error {
    let kind = &to.stored_kind;
    Error::usage(format!("{found}, but the column of the table is {kind}"))
}

fn varying(values: Vec<Value>, to: &StoreColumn) -> Result<ColumnData> {
    match &to.kind {
        ColumnKind::Varying(_) => Ok(ColumnData::Varying(values)),
        _ => Err(mismatch("values of varying length", to)),
    }
}

/// The text of an element, without trailing zeros.
fn text(element: &[u8]) -> Result<Value> {
    let (chars, _) = element.as_chunks::<4>();
    let chars = chars.iter().map(|char| u32::from_le_bytes(*char));
    let len = chars
        .clone()
        .rposition(|char| char != 0)
        .map_or(0, |last| last + 1);
    let text = chars.take(len).map(|char| {
        char::from_u32(char)
            .ok_or_else(|| Error::usage(format!("{char:#x} is not a character of Unicode")))
    });
    text.collect::<Result<String>>().map(Value::Text)
}

/// Converts elements to another type.
fn elements(mut bytes: Vec<u8>, from: &DType, to: &DType) -> Result<Vec<u8>> {
    from.to_little(&mut bytes);
    let same = from.kind() == to.kind() && from.itemsize() == to.itemsize();
    match (from.kind(), to.kind()) {
        _ if same => Ok(bytes),
        (Kind::Text, Kind::Text) | (Kind::Bytes, Kind::Bytes) => resized(&bytes, from, to),
        (Kind::Datetime(from), Kind::Datetime(to)) if seconds(*to) == Some(1) => {
            match seconds(*from) {
                Some(scale) => scaled(&bytes, scale),
                None => Err(Error::usage(format!(
                    "times in {from}, expected those in {to}"
                ))),
            }
        }
        _ => Err(Error::usage(format!("elements of {from}, expected {to}"))),
    }
}

/// Multiplies counts by `scale`. NaT stays NaT.
fn scaled(bytes: &[u8], scale: i64) -> Result<Vec<u8>> {
    let (counts, _) = bytes.as_chunks::<8>();
    let mut all = Vec::with_capacity(bytes.len());
    for count in counts {
        let count = i64::from_le_bytes(*count);
        let scaled = match count {
            NOT_A_TIME => Some(count),
            _ => count.checked_mul(scale),
        };
        let scaled =
            scaled.ok_or_else(|| Error::usage(format!("{count} times {scale} seconds")))?;
        all.extend(scaled.to_le_bytes());
    }
    Ok(all)
}

/// Changes the length of strings. A string that does not fit is an error.
fn resized<'a>(bytes: &'a [u8], from: &DType, to: &DType) -> Result<Vec<u8>> {
    let (old, new) = (
        in_memory(from.itemsize())?.max(1),
        in_memory(to.itemsize())?,
    );
    let strings = bytes.chunks_exact(old).map(|string: &'a [u8]| {
        let (kept, cut) = string.split_at_checked(new).unwrap_or((string, &[]));
        if cut.iter().any(|byte| *byte != 0) {
            let len = to_u64(string.len());
            let what = format!("a string of up to {len} bytes does not fit {to}");
            return Err(Error::usage(what));
        }
        let mut string = Cow::Borrowed(kept);
        if kept.len() < new {
            string.to_mut().resize(new, 0);
        }
        Ok(string)
    });
    let strings = strings.collect::<Result<Vec<_>>>()?;
    Ok(strings.concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_get_another_length_or_are_refused() {
        let (two, three) = (DType::bytes(2).unwrap(), DType::bytes(3).unwrap());
        assert_eq!(resized(b"a\0bc", &two, &three).unwrap(), b"a\0\0bc\0");
        assert_eq!(resized(b"a\0\0bc\0", &three, &two).unwrap(), b"a\0bc");
        assert!(resized(b"abc", &three, &two).is_err());
    }

    #[test]
    fn days_become_seconds() {
        let days = DType::parse("<M8[D]").unwrap();
        let to = in_seconds(&days).unwrap();
        let counts = [1, -1, NOT_A_TIME].map(i64::to_le_bytes).concat();
        let expected = [86_400, -86_400, NOT_A_TIME].map(i64::to_le_bytes).concat();
        assert_eq!(elements(counts, &days, &to).unwrap(), expected);
        let far = i64::MAX.to_le_bytes().to_vec();
        assert!(elements(far, &days, &to).is_err());
    }

    #[test]
    fn zeros_at_the_end_are_not_text() {
        let element: Vec<u8> = ['a', '\0', 'é', '\0']
            .into_iter()
            .map(u32::from)
            .flat_map(u32::to_le_bytes)
            .collect();
        assert_eq!(text(&element).unwrap(), Value::Text("a\0é".to_owned()));
        assert!(text(&[0, 0, 0, 0xff]).is_err());
    }
}
