//! [`Once`]: a source of rows that were already read.

use bloscpack::Result;
use bloscpack_open::exchange::{Batch, Schema, Source};

/// A source of a single batch.
pub(super) struct Once {
    schema: Schema,
    rows: u64,
    batch: Option<Batch>,
}

impl Once {
    /// A source of rows of one column.
    pub(super) fn new(schema: &Schema, rows: u64, bytes: Vec<u8>) -> Self {
        Self {
            schema: schema.clone(),
            rows,
            batch: Some(Batch::new(schema, rows, vec![bytes])),
        }
    }

    /// The rows, with the fields of structured elements as columns.
    pub(super) fn split(self) -> Result<Batch> {
        let source: Box<dyn Source> = Box::new(self);
        Ok(source.fields()?.next_batch(usize::MAX)?.unwrap_or_default())
    }
}

/// The columns of a source, with the fields of structured elements as columns.
pub(super) fn fields_of(schema: &Schema) -> Result<Schema> {
    let none: Box<dyn Source> = Box::new(Once::new(schema, 0, Vec::new()));
    Ok(none.fields()?.schema().clone())
}

impl Source for Once {
    fn schema(&self) -> &Schema {
        &self.schema
    }

    fn rows(&self) -> Option<u64> {
        Some(self.rows)
    }

    fn next_batch(&mut self, _: usize) -> Result<Option<Batch>> {
        Ok(self.batch.take())
    }
}
