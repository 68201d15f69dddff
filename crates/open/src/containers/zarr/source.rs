//! Zarr arrays and tables as columns.

use crate::Selection;
use crate::error::needs_column;
use crate::exchange::{ArraySource, Source as _, TableSource};
use bloscpack_array::Array;
use bloscpack_datasets::Attributes;
use bloscpack_error::Result;
use bloscpack_zarr::ZarrArray;

/// The part of an array that is selected.
pub(crate) fn array<'a>(
    array: &'a ZarrArray,
    selection: &Selection,
) -> Result<ArraySource<&'a ZarrArray>> {
    let region = selection.part.region(array.shape())?;
    ArraySource::new(array)?.slice(&region.ranges)
}

/// Columns of a table.
pub(crate) fn table<'a>(
    columns: &'a [(String, ZarrArray)],
    text: &str,
    selection: &Selection,
) -> Result<TableSource<'a>> {
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
    let rows = columns.first().and_then(|(_, array)| array.shape().first());
    let rows = rows.copied().unwrap_or(0);
    let arrays = chosen.into_iter().map(|(name, array)| {
        let array: Box<dyn Array + 'a> = Box::new(array);
        (name.clone(), array)
    });
    // Attributes that are too long are left out.
    let source = TableSource::of(rows, arrays.collect())?
        .attributes(Attributes::parse(text.as_bytes()).unwrap_or_default());
    let region = selection.part.region(&[source.rows()])?;
    source.range(region.ranges.first().cloned().unwrap_or(0..0))
}
