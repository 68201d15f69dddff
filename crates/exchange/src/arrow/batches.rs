//! Record batches of Arrow's, in memory.

use super::types::{TypeMapping, schema_of};
use super::write::record_batch;
use crate::source::{BATCH, Source, check_empty_rows};
use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use bloscpack_error::Result;
use std::sync::Arc;

/// The rows of a source as record batches of Arrow's, in order; created by [`record_batches`].
pub struct RecordBatches<'a> {
    source: &'a mut dyn Source,
    schema: SchemaRef,
    mapping: TypeMapping,
    has_failed: bool,
}

/// The rows of a source as record batches of Arrow's, of about a MiB each, without a file.
///
/// ```
/// use bloscpack_datasets::CTable;
/// use bloscpack_exchange::{Source, TableSource, record_batches};
///
/// let table = CTable::open("../../testdata/datasets/bcolz/table_mixed")?;
/// let mut source = TableSource::new(&table)?;
/// let rows = source.rows();
/// let batches = record_batches(&mut source)?.collect::<Result<Vec<_>, _>>()?;
/// assert_eq!(batches.iter().map(|batch| batch.num_rows() as u64).sum::<u64>(), rows);
/// # Ok::<(), bloscpack_error::Error>(())
/// ```
///
/// # Errors
/// Returns wrong usage for what Arrow has no type for, and for more than a million rows that have no bytes.
pub fn record_batches(source: &mut dyn Source) -> Result<RecordBatches<'_>> {
    check_empty_rows(source)?;
    let mapping = TypeMapping {
        parquet: false,
        nan_is_null: source.schema().nan_is_null,
    };
    let schema = Arc::new(schema_of(source.schema(), mapping)?);
    Ok(RecordBatches {
        source,
        schema,
        mapping,
        has_failed: false,
    })
}

impl RecordBatches<'_> {
    /// The schema of all batches.
    #[must_use]
    pub fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    fn read(&mut self) -> Result<Option<RecordBatch>> {
        let Some(batch) = self.source.next_batch(BATCH)? else {
            return Ok(None);
        };
        let columns = self.source.schema();
        batch.check(columns)?;
        record_batch(&self.schema, columns, &batch, self.mapping).map(Some)
    }
}

/// Returns each batch. After an error it returns nothing more.
impl Iterator for RecordBatches<'_> {
    type Item = Result<RecordBatch>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.has_failed {
            return None;
        }
        let read = self.read().transpose();
        self.has_failed = matches!(read, Some(Err(_)));
        read
    }
}
