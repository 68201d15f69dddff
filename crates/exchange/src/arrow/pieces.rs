//! [`ArrowSource`]: Arrow record batches as a source.

use super::from::{RowError, bytes_of};
use super::guard::guarded;
use super::varying::values;
use crate::error::damaged;
use crate::format::Format;
use crate::options::ImportOptions;
use arrow_array::{Array as _, RecordBatch};
use bloscpack_array::Cells;
use bloscpack_array::Source;
use bloscpack_array::{Batch, Schema};
use bloscpack_dtype::{DType, Kind};
use bloscpack_error::Result;
use bloscpack_error::checked::{in_memory, to_u64};

/// Returns the next record batch; `None` after the last.
pub(super) type Batches = Box<dyn FnMut() -> Result<Option<RecordBatch>> + Send>;

/// A source that cuts record batches into pieces of the requested size.
pub(super) struct ArrowSource {
    pub format: Format,
    pub schema: Schema,
    pub fills: Vec<Option<String>>,
    pub rows: u64,
    pub batches: Batches,
    /// The current record batch, and how many of its rows were returned.
    current: Option<(RecordBatch, usize)>,
    done: u64,
}

impl ArrowSource {
    pub fn new(
        format: Format,
        schema: Schema,
        options: &ImportOptions,
        rows: u64,
        batches: Batches,
    ) -> Self {
        let mut schema = schema;
        for column in &mut schema.columns {
            column.nullable = column.varying.is_some() || options.keeps_missing(column);
        }
        let fills = schema.columns.iter();
        let fills = fills.map(|column| {
            if column.nullable {
                Some(nothing(&column.dtype).to_owned())
            } else {
                options.filling(column)
            }
        });
        let fills = fills.collect();
        Self {
            format,
            schema,
            fills,
            rows,
            batches,
            current: None,
            done: 0,
        }
    }

    /// Converts the next piece.
    fn next(&mut self, bytes: usize) -> Result<Option<Batch>> {
        let (rows, from) = loop {
            match self.current.take() {
                Some((rows, from)) if from < rows.num_rows() => break (rows, from),
                _ => match (self.batches)()? {
                    Some(rows) => self.current = Some((rows, 0)),
                    None => return Ok(None),
                },
            }
        };
        let most = self.schema.rows_within(bytes);
        let len = in_memory(most.min(to_u64(rows.num_rows() - from)))?;
        let piece = rows.slice(from, len);
        self.current = Some((rows, from + len));
        let columns = self.schema.columns.iter().zip(&self.fills);
        let columns = columns
            .zip(piece.columns())
            .map(|((column, fill), array)| {
                if column.varying.is_some() {
                    return Ok(Vec::new());
                }
                let bytes = bytes_of(array, &column.dtype, &column.row_shape, fill.as_deref());
                bytes.map_err(|RowError { row, error }| {
                    let (format, column) = (self.format, &column.name);
                    let row = self.done + to_u64(row);
                    error.in_part(format_args!("{format}: column {column:?}, row {row}"))
                })
            })
            .collect::<Result<Vec<_>>>()?;
        let cells = self.schema.columns.iter().zip(&self.fills);
        let cells = cells.zip(piece.columns());
        let cells = cells.map(|((column, fill), array)| {
            if column.varying.is_some() {
                return Ok(Cells::Varying(values(array)?));
            }
            let is_nan = fill.is_none() && column.dtype.has_nan() && column.row_shape.is_empty();
            Ok(match array.logical_nulls() {
                Some(nulls) if column.nullable || is_nan => Cells::Present(nulls.iter().collect()),
                _ => Cells::Elements,
            })
        });
        let cells = cells.collect::<Result<_>>()?;
        let rows = to_u64(len);
        self.done = self
            .done
            .checked_add(rows)
            .ok_or_else(|| damaged(self.format, "batch", "more than 2^64 rows"))?;
        Ok(Some(Batch {
            rows,
            columns,
            cells,
        }))
    }
}

/// The text of an element whose value does not matter.
fn nothing(dtype: &DType) -> &'static str {
    match dtype.kind() {
        Kind::Bool => "false",
        Kind::Int | Kind::Uint | Kind::Float | Kind::Complex => "0",
        _ => "",
    }
}

impl Source for ArrowSource {
    fn schema(&self) -> &Schema {
        &self.schema
    }

    fn rows(&self) -> Option<u64> {
        Some(self.rows)
    }

    fn next_batch(&mut self, bytes: usize) -> Result<Option<Batch>> {
        guarded(self.format, || self.next(bytes)).inspect_err(|_| {
            // Nothing is read after an error.
            self.current = None;
            self.batches = Box::new(|| Ok(None));
        })
    }
}
