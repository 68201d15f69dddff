//! Rows of a table in a store of frames.

use super::{Rows, at, batch_of};
use bloscpack::{Error, Result};
use bloscpack_open::exchange::{BatchConverter, Schema, Source, StoreSource};
use bloscpack_open::stores::StoreTable;
use bloscpack_open::{Container, Inner};
use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::compute::concat_batches;
use datafusion::arrow::datatypes::SchemaRef;
use std::ops::Range;

/// Rows that are read together: blocks of columns are about as long, and their chunks are read block by block.
const ROWS: u64 = 1 << 16;

/// Bytes of a value of varying length, about.
const VARYING: u64 = 32;

/// A table of python-blosc2's.
pub(super) struct StoreRows {
    container: Box<dyn Container>,
    schema: SchemaRef,
    columns: Schema,
    len: u64,
}

impl StoreRows {
    pub(super) fn new(container: Box<dyn Container>) -> Result<Self> {
        let all: [&str; 0] = [];
        let source = StoreSource::new(table(&*container)?, &all)?;
        let (len, columns) = (source.rows(), source.schema().clone());
        Ok(Self {
            schema: BatchConverter::new(columns.clone())?
                .string_views()?
                .schema(),
            columns,
            len,
            container,
        })
    }
}

fn table(container: &dyn Container) -> Result<&StoreTable> {
    match container.inner() {
        Inner::StoreTable(table) => Ok(table),
        _ => Err(Error::bug("a table that is something else")),
    }
}

impl Rows for StoreRows {
    fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    fn len(&self) -> u64 {
        self.len
    }

    fn chunk_rows(&self, _: usize) -> u64 {
        ROWS
    }

    fn row_bytes(&self, column: usize) -> u64 {
        match self.columns.columns.get(column) {
            Some(column) if column.varying.is_none() => column.row_bytes(),
            _ => VARYING,
        }
    }

    fn read(&self, columns: &[usize], rows: Range<u64>) -> Result<RecordBatch> {
        if columns.is_empty() {
            return batch_of(&self.schema, columns, Vec::new(), rows);
        }
        let wanted = columns
            .iter()
            .map(|index| at(&self.columns.columns, *index));
        let wanted = wanted.collect::<Result<Vec<_>>>()?;
        let names: Vec<&str> = wanted.iter().map(|column| column.name.as_str()).collect();
        let mut source = StoreSource::new(table(&*self.container)?, &names)?.range(rows)?;
        let converter = BatchConverter::new(source.schema().clone())?.string_views()?;
        let mut batches = Vec::new();
        while let Some(batch) = source.next_batch(usize::MAX)? {
            batches.push(converter.convert(batch)?);
        }
        concat_batches(&converter.schema(), &batches)
            .map_err(|error| Error::usage(error.to_string()))
    }
}
