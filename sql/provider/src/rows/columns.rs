//! The rows of a table or an array of any kind.

use super::index::ColumnIndex;
use super::once::fields_of;
use super::{Rows, Zones, at, batch_of};
use bloscpack::{Error, Result};
use bloscpack_open::array::{Array, first_len};
use bloscpack_open::exchange::{BatchConverter, Schema};
use bloscpack_open::{Bounds, Container, Part, Selection};
use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::compute::concat_batches;
use datafusion::arrow::datatypes::{Schema as ArrowSchema, SchemaRef};
use std::ops::Range;
use std::sync::{Arc, OnceLock};

/// Rows per read if the chunks do not define it.
const ROWS: u64 = 1 << 16;

/// The approximate size of a value of varying length.
const VARYING: u64 = 32;

/// The columns of a table, or an array whose elements may have fields.
pub(super) struct ColumnRows {
    container: Box<dyn Container>,
    is_table: bool,
    columns: Vec<Column>,
    schema: SchemaRef,
    len: u64,
}

/// A column of a table, or a field of an array's elements.
struct Column {
    name: String,
    converter: BatchConverter,
    chunk_rows: u64,
    row_bytes: u64,
    /// Read once a condition names the column.
    index: OnceLock<Option<ColumnIndex>>,
}

impl ColumnRows {
    pub(super) fn new(container: Box<dyn Container>) -> Result<Self> {
        let is_table = container.outline()?.columns.is_some();
        let source = container.columns(&Selection::default())?;
        let len = source.known_rows()?;
        let schema = if is_table {
            source.schema().clone()
        } else {
            fields_of(source.schema())?
        };
        drop(source);
        let mut columns = Vec::new();
        for column in &schema.columns {
            let failed = |error: Error| error.in_file(format!("column {}", column.name));
            let one = Schema::table(vec![column.clone()]);
            let converter = BatchConverter::new(one).and_then(BatchConverter::string_views);
            let array = container.array(is_table.then_some(&column.name))?;
            let chunk = array.map(|array| first_len(array.grid().chunk_shape()));
            columns.push(Column {
                name: column.name.clone(),
                converter: converter.map_err(failed)?,
                chunk_rows: chunk.unwrap_or(ROWS).max(1),
                row_bytes: match column.varying {
                    Some(_) => VARYING,
                    None => column.row_bytes(),
                },
                index: OnceLock::new(),
            });
        }
        let fields = columns.iter().map(|column| column.converter.schema());
        let fields: Vec<_> = fields.flat_map(|schema| schema.fields().to_vec()).collect();
        Ok(Self {
            schema: Arc::new(ArrowSchema::new(fields)),
            is_table,
            columns,
            len,
            container,
        })
    }

    /// The array of a column; `None` for a field.
    fn array(&self, column: usize) -> Result<Option<Box<dyn Array + '_>>> {
        if self.is_table {
            let name = &at(&self.columns, column)?.name;
            self.container.array(Some(name))
        } else if self.columns.len() == 1 {
            self.container.array(None)
        } else {
            Ok(None)
        }
    }

    fn index(&self, column: usize) -> Option<&ColumnIndex> {
        let of = self.columns.get(column)?;
        let read = || {
            let array = self.array(column).ok()??;
            // Without an index, every row is read.
            ColumnIndex::read(&*array, &of.converter).ok().flatten()
        };
        of.index.get_or_init(read).as_ref()
    }
}

impl Rows for ColumnRows {
    fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    fn len(&self) -> u64 {
        self.len
    }

    fn chunk_rows(&self, column: usize) -> u64 {
        let column = self.columns.get(column);
        column.map_or(1, |column| column.chunk_rows)
    }

    fn row_bytes(&self, column: usize) -> u64 {
        let column = self.columns.get(column);
        column.map_or(0, |column| column.row_bytes)
    }

    fn zones(&self, column: usize) -> Option<&Zones> {
        self.index(column).map(|index| &index.zones)
    }

    fn zone_holds(&self, column: usize, zone: usize) -> Result<bool> {
        match (self.index(column), self.array(column)?) {
            (Some(index), Some(array)) => index.holds(&*array, zone),
            _ => Ok(false),
        }
    }

    fn are_columns_apart(&self) -> bool {
        self.is_table
    }

    fn read(&self, columns: &[usize], rows: Range<u64>) -> Result<RecordBatch> {
        if columns.is_empty() {
            return batch_of(&self.schema, columns, Vec::new(), rows);
        }
        let selection = Selection::of(Part::Rows(Bounds::from(rows.clone())));
        let (selection, wanted) = if self.is_table {
            let names = columns.iter().map(|index| at(&self.columns, *index));
            let names = names.map(|column| Ok(column?.name.clone()));
            let names = names.collect::<Result<Vec<_>>>()?;
            (selection.columns(names), (0..columns.len()).collect())
        } else {
            (selection, columns.to_vec())
        };
        let mut source = self.container.columns(&selection)?;
        if !self.is_table {
            source = source.fields()?;
        }
        let converter = BatchConverter::new(source.schema().clone())?.string_views()?;
        let mut batches = Vec::new();
        while let Some(batch) = source.next_batch(usize::MAX)? {
            batches.push(converter.convert(batch)?);
        }
        let read = concat_batches(&converter.schema(), &batches);
        let read = read.map_err(|error| Error::usage(error.to_string()))?;
        let arrays = wanted
            .into_iter()
            .map(|index| at(read.columns(), index).cloned());
        batch_of(&self.schema, columns, arrays.collect::<Result<_>>()?, rows)
    }
}
