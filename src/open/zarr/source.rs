//! Zarr arrays and tables as columns.

use crate::exchange::{Batch, Column, Schema, Source};
use crate::open::{Region, Selection, SelectionError};
use bloscpack_datasets::Attributes;
use bloscpack_error::Result;
use bloscpack_zarr::ZarrArray;
use std::ops::Range;

/// An array, or a box of it. One without axes is a row.
pub(super) struct ArraySource<'a> {
    array: &'a ZarrArray,
    schema: Schema,
    rows: u64,
    rest: Range<u64>,
    /// The box along the axes after the first.
    within: Vec<Range<u64>>,
}

/// The attributes as those of a dataset. One that is too long is left out.
fn attributes(text: &str) -> Attributes {
    Attributes::parse(text.as_bytes()).unwrap_or_default()
}

impl<'a> ArraySource<'a> {
    pub(super) fn new(array: &'a ZarrArray, selection: &Selection) -> Result<Self> {
        let region = selection.part.region(array.shape())?;
        let (rows, within) = match region.ranges.split_first() {
            Some((rows, within)) => (rows.clone(), within.to_vec()),
            None => (0..1, Vec::new()),
        };
        let row_shape = Region {
            ranges: within.clone(),
        }
        .shape();
        let mut schema = Schema::array(array.dtype().clone(), &row_shape);
        schema.attributes = attributes(array.attributes());
        Ok(Self {
            array,
            schema,
            rows: rows.end - rows.start,
            rest: rows,
            within,
        })
    }

    /// The name of its column.
    pub(super) fn named(mut self, name: &str) -> Self {
        for column in &mut self.schema.columns {
            name.clone_into(&mut column.name);
        }
        self
    }

    fn read(&self, rows: Range<u64>) -> Result<Vec<u8>> {
        let mut slice = vec![rows];
        slice.extend(self.within.iter().cloned());
        // An array without axes has one element, which is its only row.
        slice.truncate(self.array.shape().len());
        self.array.read_slice(&slice)
    }
}

/// Rows of a chunk of an array.
fn stride(array: &ZarrArray) -> u64 {
    array
        .meta()
        .inner_chunk_shape()
        .first()
        .copied()
        .unwrap_or(1)
}

/// As many rows from `rest` as these bytes have room for, at least one; to a multiple of `stride`, if there is room for one.
fn next_rows(
    rest: &mut Range<u64>,
    row_bytes: u64,
    stride: u64,
    bytes: usize,
) -> Option<Range<u64>> {
    if rest.is_empty() {
        return None;
    }
    let most = (crate::checked::to_u64(bytes) / row_bytes.max(1)).max(1);
    let step = if most >= stride {
        most - most % stride.max(1)
    } else {
        most
    };
    let next = (rest.start / step).saturating_add(1).saturating_mul(step);
    let rows = rest.start..next.min(rest.end);
    rest.start = rows.end;
    Some(rows)
}

impl Source for ArraySource<'_> {
    fn schema(&self) -> &Schema {
        &self.schema
    }

    fn rows(&self) -> u64 {
        self.rows
    }

    fn next_batch(&mut self, bytes: usize) -> Result<Option<Batch>> {
        let (row_bytes, stride) = (self.schema.row_bytes(), stride(self.array));
        let Some(rows) = next_rows(&mut self.rest, row_bytes, stride, bytes) else {
            return Ok(None);
        };
        Ok(Some(Batch {
            rows: rows.end - rows.start,
            columns: vec![self.read(rows)?],
            ..Batch::default()
        }))
    }
}

/// Columns of a table.
pub(super) struct TableSource<'a> {
    columns: Vec<ArraySource<'a>>,
    schema: Schema,
    rows: u64,
    rest: Range<u64>,
    stride: u64,
}

impl<'a> TableSource<'a> {
    pub(super) fn new(
        columns: &'a [(String, ZarrArray)],
        text: &str,
        selection: &Selection,
    ) -> Result<Self> {
        let mut chosen = Vec::new();
        for name in &selection.columns {
            let found = columns.iter().find(|(column, _)| column == name);
            chosen.push(found.ok_or_else(|| SelectionError::NeedsColumn {
                columns: columns.iter().map(|(name, _)| name.clone()).collect(),
            })?);
        }
        if selection.columns.is_empty() {
            chosen.extend(columns);
        }
        let there = chosen
            .first()
            .and_then(|(_, array)| array.shape().first().copied());
        let region = selection.part.region(&[there.unwrap_or(0)])?;
        let rest = region.ranges.first().cloned().unwrap_or(0..0);
        let (mut sources, mut schema_columns, mut step) = (Vec::new(), Vec::new(), 1);
        for (name, array) in chosen {
            let source = ArraySource::new(array, &Selection::default())?;
            let mut column = Column::new(name, array.dtype().clone());
            column.row_shape = Region {
                ranges: source.within.clone(),
            }
            .shape();
            schema_columns.push(column);
            step = step.max(stride(array));
            sources.push(source);
        }
        let mut schema = Schema::table(schema_columns);
        schema.attributes = attributes(text);
        Ok(Self {
            columns: sources,
            schema,
            rows: rest.end - rest.start,
            rest,
            stride: step,
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
        let row_bytes = self.schema.row_bytes();
        let Some(rows) = next_rows(&mut self.rest, row_bytes, self.stride, bytes) else {
            return Ok(None);
        };
        let columns = self.columns.iter().map(|column| column.read(rows.clone()));
        Ok(Some(Batch {
            columns: columns.collect::<Result<_>>()?,
            rows: rows.end - rows.start,
            ..Batch::default()
        }))
    }
}
