//! [`Rows`]: what every kind of input is to a scan.

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

/// Columns of the same number of rows, of which several threads read any part.
pub(crate) trait Rows: Send + Sync {
    /// All columns.
    fn schema(&self) -> &SchemaRef;

    /// How many rows there are.
    fn len(&self) -> u64;

    /// Rows of a chunk of this column. Reads that begin and end at multiples of it decompress nothing twice.
    fn chunk_rows(&self, column: usize) -> u64;

    /// Bytes of a row of this column, about.
    fn row_bytes(&self, column: usize) -> u64;

    /// The statistics of a column, if it has any.
    fn zones(&self, _column: usize) -> Option<&Zones> {
        None
    }

    /// Whether the statistics of a zone are true of the data as it is now.
    fn zone_holds(&self, _column: usize, _zone: usize) -> Result<bool> {
        Ok(true)
    }

    /// Whether reading one column after another costs no more than reading them at once.
    fn are_columns_apart(&self) -> bool {
        true
    }

    /// These rows of these columns, in their order.
    fn read(&self, columns: &[usize], rows: Range<u64>) -> Result<RecordBatch>;

    /// These rows, if several processes read them.
    fn planned(&self) -> Option<&Planned> {
        None
    }
}

/// The rows of an input, if wanted with null in place of NaN.
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
    // Elements of several axes are rows with coordinates where arrays of several axes are what the format is for.
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

/// A batch of these columns of a schema, which may be none.
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

/// A number of rows as one in memory.
fn in_memory(count: u64) -> Result<usize> {
    usize::try_from(count).map_err(|_| Error::usage(format!("{count} rows at once")))
}

/// The item at this position, which the caller has made sure is there.
fn at<T>(items: &[T], index: usize) -> Result<&T> {
    items
        .get(index)
        .ok_or_else(|| Error::bug(format!("column {index} of {}", items.len())))
}
