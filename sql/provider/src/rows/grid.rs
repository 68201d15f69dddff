//! The rows of an array with several axes: its elements, with their coordinates.

use super::once::{Once, fields_of};
use super::zones::Zones;
use super::{Rows, at, batch_of, in_memory};
use bloscpack::{Error, Result};
use bloscpack_open::Container;
use bloscpack_open::array::{Array, Grid};
use bloscpack_open::exchange::{ArraySource, BatchConverter, Schema, Source};
use datafusion::arrow::array::{
    ArrayRef, DictionaryArray, Int32Array, Int64Array, RecordBatch, UInt64Array,
};
use datafusion::arrow::compute::concat_batches;
use datafusion::arrow::datatypes::{DataType, Field, Int32Type, Schema as ArrowSchema, SchemaRef};
use std::collections::HashSet;
use std::ops::Range;
use std::sync::Arc;

/// The maximum number of chunks whose coordinates are kept, to find the chunks that may match a condition.
const CHUNKS: u64 = 1 << 16;
/// The maximum number of coordinates in a dictionary; the column of a longer axis has no dictionary.
const KEYS: u64 = 1 << 20;
/// Rows per read in longer chunks.
const ROWS: u64 = 1 << 20;

/// The elements of an array: chunk by chunk, and in C order within a chunk.
pub(super) struct GridRows {
    container: Box<dyn Container>,
    shape: Vec<u64>,
    chunk_shape: Vec<u64>,
    /// The coordinates along each axis; `None` if the axis is too long for a dictionary.
    axes: Vec<Option<Arc<Int64Array>>>,
    stored: Schema,
    converter: BatchConverter,
    schema: SchemaRef,
    zones: Vec<Zones>,
    len: u64,
}

/// The part of the array in one chunk.
struct Place {
    /// The elements of the chunk that are within the array, as a range per axis.
    within: Vec<Range<u64>>,
    /// The number of rows before the chunk.
    start: u64,
}

impl Place {
    fn lens(&self) -> impl DoubleEndedIterator<Item = u64> + '_ {
        self.within.iter().map(|range| range.end - range.start)
    }

    fn len(&self) -> u64 {
        self.lens().product()
    }
}

impl GridRows {
    /// Rows for the elements of an array with two axes or more.
    ///
    /// # Errors
    /// Returns an error if 64 bits cannot count the elements.
    pub(super) fn new(container: Box<dyn Container>) -> Result<Self> {
        let array = array(&*container)?;
        let (shape, stored) = (array.grid().shape().to_vec(), element_schema(&*array)?);
        let chunk_shape = array.grid().chunk_shape().to_vec();
        let names = names_of_axes(&*array)?;
        drop(array);
        let len = shape
            .iter()
            .try_fold(1u64, |len, axis| len.checked_mul(*axis));
        let len = len.ok_or_else(|| Error::usage("the array has more than 2^64 elements"))?;
        let coordinates = |len: &u64| {
            let len = i64::try_from(*len).ok().filter(|_| *len <= KEYS)?;
            Some(Arc::new(Int64Array::from_iter_values(0..len)))
        };
        let axes: Vec<_> = shape.iter().map(coordinates).collect();
        let converter = BatchConverter::new(fields_of(&stored)?)?.string_views()?;
        let named = axes.iter().zip(names).map(|(keys, name)| {
            let data_type = match keys {
                Some(_) => DataType::Dictionary(DataType::Int32.into(), DataType::Int64.into()),
                None => DataType::Int64,
            };
            Arc::new(Field::new(name, data_type, false))
        });
        let mut fields: Vec<Arc<Field>> = named.collect();
        fields.extend(converter.schema().fields().iter().cloned());
        let mut rows = Self {
            shape,
            chunk_shape,
            axes,
            stored,
            converter,
            schema: Arc::new(ArrowSchema::new(fields)),
            zones: Vec::new(),
            len,
            container,
        };
        rows.zones = rows.zones_of_axes();
        Ok(rows)
    }

    fn chunks(&self) -> u64 {
        let grid = Grid::new(self.shape.clone(), self.chunk_shape.clone());
        grid.count().unwrap_or(u64::MAX)
    }

    /// The range of coordinates in each chunk, as zones of each axis.
    fn zones_of_axes(&self) -> Vec<Zones> {
        if self.chunks() > CHUNKS || self.len == 0 {
            return Vec::new();
        }
        let (mut starts, mut boxes, mut row) = (Vec::new(), Vec::new(), 0);
        while row < self.len {
            let place = self.place(row);
            starts.push(row);
            row += place.len();
            boxes.push(place.within);
        }
        starts.push(row);
        let zones = (0..self.shape.len()).map(|axis| {
            let column = |of: fn(&Range<u64>) -> u64| -> ArrayRef {
                let values = boxes.iter().map(|within: &Vec<Range<u64>>| {
                    within
                        .get(axis)
                        .map(of)
                        .and_then(|value| i64::try_from(value).ok())
                });
                Arc::new(Int64Array::from_iter(values))
            };
            Zones {
                starts: starts.clone(),
                min: column(|range| range.start),
                max: column(|range| range.end - 1),
                nulls: Arc::new(UInt64Array::from(vec![0; boxes.len()])),
            }
        });
        zones.collect()
    }

    /// The chunk that contains a row.
    fn place(&self, row: u64) -> Place {
        let (mut rest, mut start, mut before) = (row, 0, 1);
        let mut within = Vec::with_capacity(self.shape.len());
        let axes = self.shape.iter().zip(&self.chunk_shape).enumerate();
        for (axis, (len, chunk)) in axes {
            let inner: u64 = self.shape.iter().skip(axis + 1).product();
            // All chunks before this one have the full length along the axis.
            let each = (before * inner * chunk.min(len)).max(1);
            let number = rest / each;
            start += number * each;
            rest -= number * each;
            let range = number * chunk..(number * chunk + chunk).min(*len);
            before *= range.end - range.start;
            within.push(range);
        }
        Place { within, start }
    }

    /// Reads rows of one chunk, numbered from its first row.
    fn part(&self, columns: &[usize], place: &Place, rows: Range<u64>) -> Result<RecordBatch> {
        let count = rows.end - rows.start;
        let names_value = columns.iter().any(|column| *column >= self.axes.len());
        let values = if names_value {
            self.values(place, &rows)?.columns().to_vec()
        } else {
            Vec::new()
        };
        let arrays = columns
            .iter()
            .map(|column| match column.checked_sub(self.axes.len()) {
                Some(field) => at(&values, field).cloned(),
                None => self.coordinates(*column, place, &rows),
            });
        batch_of(
            &self.schema,
            columns,
            arrays.collect::<Result<_>>()?,
            0..count,
        )
    }

    /// Reads the elements of these rows of a chunk.
    fn values(&self, place: &Place, rows: &Range<u64>) -> Result<RecordBatch> {
        // The planes along the first axis that contain the rows.
        let plane = place.lens().skip(1).product::<u64>().max(1);
        let planes = rows.start / plane..rows.end.div_ceil(plane);
        let mut slice = place.within.clone();
        if let Some(first) = slice.first_mut() {
            *first = first.start + planes.start..first.start + planes.end;
        }
        let mut bytes = array(&*self.container)?.read_slice(&slice)?;
        let itemsize = self.stored.row_bytes();
        let wanted = |row: u64| in_memory((row - planes.start * plane) * itemsize);
        bytes.truncate(wanted(rows.end)?);
        bytes.drain(..wanted(rows.start)?);
        let split = Once::new(&self.stored, rows.end - rows.start, bytes).split()?;
        self.converter.convert(split)
    }

    /// The coordinates along an axis for these rows of a chunk.
    fn coordinates(&self, axis: usize, place: &Place, rows: &Range<u64>) -> Result<ArrayRef> {
        let range = at(&place.within, axis)?;
        let (first, len) = (range.start, range.end - range.start);
        let inner: u64 = place.lens().skip(axis + 1).product();
        let along = rows.clone().map(|row| first + row / inner % len);
        let Some(values) = at(&self.axes, axis)? else {
            let values = along.map(|position| i64::try_from(position).ok());
            return Ok(Arc::new(Int64Array::from_iter(values)));
        };
        let keys = Int32Array::from_iter(along.map(|position| i32::try_from(position).ok()));
        let values = Arc::clone(values) as ArrayRef;
        let array = DictionaryArray::<Int32Type>::try_new(keys, values);
        Ok(Arc::new(
            array.map_err(|error| Error::bug(error.to_string()))?,
        ))
    }
}

/// The array in a container that was opened as an array.
fn array(container: &dyn Container) -> Result<Box<dyn Array + '_>> {
    let array = container.array(None)?;
    array.ok_or_else(|| Error::bug("an array that is something else"))
}

/// The names of the coordinate columns: the names of the axes, if each axis has a unique one.
fn names_of_axes(array: &dyn Array) -> Result<Vec<String>> {
    let axes = 0..array.grid().shape().len();
    let named = array.description()?.axes.and_then(|names| {
        let names = names.into_iter().collect::<Option<Vec<_>>>()?;
        let different: HashSet<_> = names.iter().map(|name| name.to_lowercase()).collect();
        let is_usable = different.len() == axes.len()
            && !different.contains("value")
            && !different.contains("");
        is_usable.then_some(names)
    });
    Ok(named.unwrap_or_else(|| axes.map(|axis| format!("axis_{axis}")).collect()))
}

/// The schema of a column with one element per row.
fn element_schema(array: &dyn Array) -> Result<Schema> {
    let mut schema = ArraySource::new(array)?.schema().clone();
    for column in &mut schema.columns {
        column.row_shape.clear();
    }
    Ok(schema)
}

impl Rows for GridRows {
    fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    fn len(&self) -> u64 {
        self.len
    }

    fn chunk_rows(&self, _: usize) -> u64 {
        self.chunk_shape
            .iter()
            .copied()
            .fold(1, u64::saturating_mul)
            .min(ROWS)
    }

    fn row_bytes(&self, column: usize) -> u64 {
        if column < self.axes.len() {
            4
        } else {
            self.stored.row_bytes()
        }
    }

    fn zones(&self, column: usize) -> Option<&Zones> {
        self.zones.get(column)
    }

    fn read(&self, columns: &[usize], rows: Range<u64>) -> Result<RecordBatch> {
        let (mut parts, mut row) = (Vec::new(), rows.start);
        while row < rows.end {
            let place = self.place(row);
            let end = rows.end.min(place.start + place.len());
            let within = row - place.start..end - place.start;
            parts.push(self.part(columns, &place, within)?);
            row = end;
        }
        let [part] = parts.as_slice() else {
            let schema = self.schema.project(columns).map(Arc::new);
            let joined = schema.and_then(|schema| concat_batches(&schema, &parts));
            let count = in_memory(rows.end - rows.start)?;
            return match (columns.is_empty(), joined) {
                (true, _) => batch_of(&self.schema, columns, Vec::new(), rows),
                (_, Ok(joined)) if joined.num_rows() == count => Ok(joined),
                (_, Ok(joined)) => {
                    Err(Error::bug(format!("{} rows of {count}", joined.num_rows())))
                }
                (_, Err(error)) => Err(Error::bug(error.to_string())),
            };
        };
        Ok(part.clone())
    }
}
