//! [`Rows`]: the interface between scans and every kind of input.

mod columns;
mod grid;
mod index;
mod nulls;
mod once;
mod planned;
mod records;
mod zones;

pub(crate) use planned::{Known, Planned};
pub(crate) use zones::Zones;

use bloscpack::{Error, Result};
use bloscpack_open::{Container, Kind};
use datafusion::arrow::array::{ArrayRef, RecordBatch, RecordBatchOptions};
use datafusion::arrow::datatypes::SchemaRef;
use std::ops::Range;
use std::sync::Arc;

/// Columns of equal length, of which several threads read any part at once.
pub(crate) trait Rows: Send + Sync {
    /// The schema of all columns.
    fn schema(&self) -> &SchemaRef;

    /// The number of rows.
    fn len(&self) -> u64;

    /// The number of rows in a chunk of this column. Reads that begin and end at multiples of it decompress nothing twice.
    fn chunk_rows(&self, column: usize) -> u64;

    /// The approximate number of bytes in a row of this column.
    fn row_bytes(&self, column: usize) -> u64;

    /// The statistics of a column, if it has any.
    fn zones(&self, _column: usize) -> Option<&Zones> {
        None
    }

    /// Whether the statistics of a zone match the current data.
    fn zone_holds(&self, _column: usize, _zone: usize) -> Result<bool> {
        Ok(true)
    }

    /// Whether reading columns one after another costs no more than reading them together.
    fn are_columns_apart(&self) -> bool {
        true
    }

    /// Reads these rows of these columns, in their order.
    fn read(&self, columns: &[usize], rows: Range<u64>) -> Result<RecordBatch>;

    /// The rows as [`Planned`], if several processes read them.
    fn planned(&self) -> Option<&Planned> {
        None
    }
}

/// The rows of an input, optionally with null in place of NaN.
pub(crate) fn of(container: Box<dyn Container>, nan_as_null: bool) -> Result<Arc<dyn Rows>> {
    let rows = stored(container)?;
    Ok(if nan_as_null {
        Arc::new(nulls::NanAsNull::new(rows))
    } else {
        rows
    })
}

/// The rows of an input as they are stored.
fn stored(container: Box<dyn Container>) -> Result<Arc<dyn Rows>> {
    if let (Kind::Records, Some(source)) = (container.kind(), container.source()) {
        return Ok(Arc::new(records::RecordRows::new(Arc::clone(source))?));
    }
    // In the formats for arrays of several axes, such arrays become rows with coordinates.
    let axes = match container.kind() {
        Kind::Frame | Kind::Zarr => container
            .array(None)?
            .map(|array| array.grid().shape().len()),
        _ => None,
    };
    Ok(match axes {
        Some(2..) => Arc::new(grid::GridRows::new(container)?),
        _ => Arc::new(columns::ColumnRows::new(container)?),
    })
}

/// A batch of these columns of a schema. There may be none; the batch then has only a number of rows.
fn batch_of(
    schema: &SchemaRef,
    columns: &[usize],
    arrays: Vec<ArrayRef>,
    rows: Range<u64>,
) -> Result<RecordBatch> {
    let failed = |error: datafusion::arrow::error::ArrowError| Error::bug(error.to_string());
    let schema = schema.project(columns).map_err(failed)?;
    let rows = RecordBatchOptions::new().with_row_count(Some(in_memory(rows.end - rows.start)?));
    RecordBatch::try_new_with_options(Arc::new(schema), arrays, &rows).map_err(failed)
}

/// A number of rows as a `usize`.
fn in_memory(count: u64) -> Result<usize> {
    usize::try_from(count).map_err(|_| Error::usage(format!("{count} rows at once")))
}

/// The item at this position, which must exist.
fn at<T>(items: &[T], index: usize) -> Result<&T> {
    items
        .get(index)
        .ok_or_else(|| Error::bug(format!("column {index} of {}", items.len())))
}
