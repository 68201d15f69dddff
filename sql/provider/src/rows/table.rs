//! Rows of a ctable.

use super::index::ColumnIndex;
use super::{Rows, Zones, at, batch_of};
use bloscpack::{Error, Result};
use bloscpack_open::datasets::{CArray, CTable};
use bloscpack_open::exchange::{Batch, BatchConverter, Schema, Source};
use bloscpack_open::{Container, Inner};
use datafusion::arrow::array::{Array, RecordBatch};
use datafusion::arrow::datatypes::{Schema as ArrowSchema, SchemaRef};
use std::ops::Range;
use std::sync::{Arc, OnceLock};

/// A table of a dataset.
pub(super) struct TableRows {
    container: Box<dyn Container>,
    schema: SchemaRef,
    columns: Vec<Column>,
    len: u64,
}

/// A column of it.
struct Column {
    name: String,
    converter: BatchConverter,
    chunk_rows: u64,
    row_bytes: u64,
    /// Read when a condition names the column.
    index: OnceLock<Option<ColumnIndex>>,
}

impl TableRows {
    pub(super) fn new(container: Box<dyn Container>) -> Result<Self> {
        let table = table(&*container)?;
        let source = table.source()?;
        let len = source.rows();
        let mut columns = Vec::new();
        for column in &source.schema().columns {
            let chunk = table.column(&column.name)?.chunk_shape().first().copied();
            let failed = |error: Error| error.in_file(format!("column {}", column.name));
            let one = Schema::table(vec![column.clone()]);
            let converter = BatchConverter::new(one).and_then(BatchConverter::string_views);
            columns.push(Column {
                name: column.name.clone(),
                converter: converter.map_err(failed)?,
                chunk_rows: chunk.unwrap_or(1),
                row_bytes: column.row_bytes(),
                index: OnceLock::new(),
            });
        }
        let fields = columns.iter().map(|column| column.converter.schema());
        let fields: Vec<_> = fields.flat_map(|schema| schema.fields().to_vec()).collect();
        Ok(Self {
            schema: Arc::new(ArrowSchema::new(fields)),
            columns,
            len,
            container,
        })
    }
}

impl TableRows {
    fn array(&self, column: usize) -> Result<&CArray> {
        table(&*self.container)?.column(&at(&self.columns, column)?.name)
    }

    fn index(&self, column: usize) -> Option<&ColumnIndex> {
        let of = self.columns.get(column)?;
        let read = || {
            let array = self.array(column).ok()?;
            // Without an index, every row is read.
            ColumnIndex::read(array, &of.converter).ok().flatten()
        };
        of.index.get_or_init(read).as_ref()
    }
}

fn table(container: &dyn Container) -> Result<&CTable> {
    match container.inner() {
        Inner::Table(table) => Ok(table),
        _ => Err(Error::bug("a table that is something else")),
    }
}

impl Rows for TableRows {
    fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    fn len(&self) -> u64 {
        self.len
    }

    fn chunk_rows(&self, column: usize) -> u64 {
        self.columns
            .get(column)
            .map_or(1, |column| column.chunk_rows)
    }

    fn row_bytes(&self, column: usize) -> u64 {
        self.columns
            .get(column)
            .map_or(0, |column| column.row_bytes)
    }

    fn zones(&self, column: usize) -> Option<&Zones> {
        self.index(column).map(|index| &index.zones)
    }

    fn zone_holds(&self, column: usize, zone: usize) -> Result<bool> {
        match (self.index(column), self.array(column)?) {
            (Some(index), array) => index.holds(array, zone),
            (None, _) => Ok(false),
        }
    }

    fn read(&self, columns: &[usize], rows: Range<u64>) -> Result<RecordBatch> {
        let wanted = columns.iter().map(|index| at(&self.columns, *index));
        let wanted = wanted.collect::<Result<Vec<_>>>()?;
        let names: Vec<&str> = wanted.iter().map(|column| column.name.as_str()).collect();
        let read = table(&*self.container)?.read_rows(&names, rows.clone())?;
        let arrays = wanted.iter().zip(read).map(|(column, bytes)| {
            let batch = column.converter.convert(Batch {
                rows: rows.end - rows.start,
                columns: vec![bytes],
                ..Batch::default()
            })?;
            Ok(Arc::clone(at(batch.columns(), 0)?))
        });
        let arrays = arrays.collect::<Result<Vec<Arc<dyn Array>>>>()?;
        batch_of(&self.schema, columns, arrays, rows)
    }
}
