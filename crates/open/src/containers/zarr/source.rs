//! Zarr arrays and tables as columns.

use crate::Selection;
use crate::error::needs_column;
use crate::exchange::{Batch, Grid, GridSource, Schema, Source, next_rows};
use bloscpack_datasets::Attributes;
use bloscpack_error::Result;
use bloscpack_zarr::ZarrArray;
use std::ops::Range;

/// An array whose boxes are read.
#[derive(Clone, Copy)]
pub(crate) struct Elements<'a>(&'a ZarrArray);

impl Grid for Elements<'_> {
    fn shape(&self) -> &[u64] {
        self.0.shape()
    }

    fn chunk_rows(&self) -> u64 {
        let shape = self.0.meta().inner_chunk_shape();
        shape.first().copied().unwrap_or(1)
    }

    fn read_slice(&self, slice: &[Range<u64>]) -> Result<Vec<u8>> {
        self.0.read_slice(slice)
    }
}

/// The attributes as those of a dataset. One that is too long is left out.
fn attributes(text: &str) -> Attributes {
    Attributes::parse(text.as_bytes()).unwrap_or_default()
}

/// The part of an array that is selected.
pub(crate) fn array<'a>(
    array: &'a ZarrArray,
    selection: &Selection,
) -> Result<GridSource<Elements<'a>>> {
    let region = selection.part.region(array.shape())?;
    whole(array).slice(&region.ranges)
}

/// An array with its attributes. If they say so, NaN stands for missing values.
fn whole(array: &ZarrArray) -> GridSource<Elements<'_>> {
    let attributes = attributes(array.attributes());
    let has_missing = attributes.has_missing();
    let source = GridSource::of(Elements(array), array.dtype().clone()).attributes(attributes);
    if has_missing {
        source.nan_as_null()
    } else {
        source
    }
}

/// Columns of a table.
pub(crate) struct TableSource<'a> {
    columns: Vec<Elements<'a>>,
    schema: Schema,
    rows: u64,
    rest: Range<u64>,
}

impl<'a> TableSource<'a> {
    pub(crate) fn new(
        columns: &'a [(String, ZarrArray)],
        text: &str,
        selection: &Selection,
    ) -> Result<Self> {
        let mut chosen = Vec::new();
        for name in &selection.columns {
            let found = columns.iter().find(|(column, _)| column == name);
            chosen.push(found.ok_or_else(|| {
                let names: Vec<String> = columns.iter().map(|(name, _)| name.clone()).collect();
                needs_column(&names)
            })?);
        }
        if selection.columns.is_empty() {
            chosen.extend(columns);
        }
        let (mut columns, mut schema) = (Vec::new(), Schema::table(Vec::new()));
        for (name, array) in chosen {
            let column = whole(array).named(name);
            schema
                .columns
                .extend(column.schema().columns.iter().cloned());
            columns.push(Elements(array));
        }
        schema.attributes = attributes(text);
        let there = columns.first().and_then(|column| column.shape().first());
        let region = selection.part.region(&[there.copied().unwrap_or(0)])?;
        let rest = region.ranges.first().cloned().unwrap_or(0..0);
        Ok(Self {
            columns,
            schema,
            rows: rest.end - rest.start,
            rest,
        })
    }
}

impl Source for TableSource<'_> {
    fn schema(&self) -> &Schema {
        &self.schema
    }

    fn rows(&self) -> u64 {
        self.rows
    }

    fn next_batch(&mut self, bytes: usize) -> Result<Option<Batch>> {
        let stride = self.columns.iter().map(Grid::chunk_rows).max();
        let (row_bytes, stride) = (self.schema.row_bytes(), stride.unwrap_or(1));
        let Some(rows) = next_rows(&mut self.rest, row_bytes, stride, bytes) else {
            return Ok(None);
        };
        let read = |column: &Elements<'_>| {
            let mut slice = vec![rows.clone()];
            slice.extend(column.shape().iter().skip(1).map(|axis| 0..*axis));
            column.read_slice(&slice)
        };
        let columns = self.columns.iter().map(read).collect::<Result<_>>()?;
        let count = rows.end - rows.start;
        Ok(Some(Batch::new(&self.schema, count, columns)))
    }
}
