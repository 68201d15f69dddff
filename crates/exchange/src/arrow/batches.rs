//! Record batches of Arrow's, in memory.

use super::guard::guarded;
use super::measure::Plans;
use super::pieces::ArrowSource;
use super::to::record_batch;
use super::types::{TypeMapping, noted, schema_of};
use crate::format::Format;
use crate::options::ImportOptions;
use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use bloscpack_array::{BATCH, BoxedSource, Source, check_empty_rows};
use bloscpack_array::{Batch, Schema};
use bloscpack_error::checked::to_u64;
use bloscpack_error::{Error, Result};
use std::sync::Arc;

/// Converts rows of these columns to record batches of Arrow's.
///
/// ```
/// # testkit::enter_testdata();
/// use bloscpack_datasets::CTable;
/// use bloscpack_exchange::{BatchConverter, Source};
///
/// let table = CTable::open("testdata/datasets/bcolz/table_mixed")?;
/// let mut source = table.source()?;
/// let converter = BatchConverter::new(source.schema().clone())?.string_views()?;
/// let batch = source.next_batch(1 << 20)?.ok_or("no rows")?;
/// let rows = batch.rows;
/// assert_eq!(converter.convert(batch)?.num_rows() as u64, rows);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct BatchConverter {
    columns: Schema,
    schema: SchemaRef,
    mapping: TypeMapping,
}

impl BatchConverter {
    /// A converter of these columns. NaN becomes null in those that say so.
    ///
    /// # Errors
    /// Returns wrong usage for what Arrow has no type for.
    pub fn new(columns: Schema) -> Result<Self> {
        Self::with_mapping(columns, TypeMapping::default())
    }

    /// The same, with strings of both kinds as views of text, which query engines compare without a cast. Bytes that are
    /// not UTF-8 are then an error of the batch that contains them.
    ///
    /// # Errors
    /// Returns the errors of [`new`](Self::new).
    pub fn string_views(self) -> Result<Self> {
        let mapping = TypeMapping {
            string_views: true,
            ..self.mapping
        };
        Self::with_mapping(self.columns, mapping)
    }

    fn with_mapping(columns: Schema, mapping: TypeMapping) -> Result<Self> {
        Ok(Self {
            schema: Arc::new(schema_of(&columns, mapping)?),
            columns,
            mapping,
        })
    }

    /// The schema of all batches.
    #[must_use]
    pub fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    /// These rows as a record batch.
    ///
    /// # Errors
    /// Returns wrong usage for a batch of other columns, and for values that Arrow has no place for; the error names the
    /// column.
    pub fn convert(&self, batch: Batch) -> Result<RecordBatch> {
        batch.check(&self.columns)?;
        record_batch(&self.schema, &self.columns, batch, self.mapping)
    }
}

/// The rows of a source as record batches of Arrow's, in order; created by [`record_batches`].
pub struct RecordBatches<'a> {
    source: &'a mut dyn Source,
    converter: BatchConverter,
    bytes: usize,
    has_failed: bool,
}

/// The rows of a source as record batches of Arrow's, of about 16 MiB each, without a file.
///
/// ```
/// # testkit::enter_testdata();
/// use bloscpack_datasets::CTable;
/// use bloscpack_exchange::{Source, record_batches};
///
/// let table = CTable::open("testdata/datasets/bcolz/table_mixed")?;
/// let mut source = table.source()?;
/// let rows = table.rows()?;
/// let batches = record_batches(&mut source)?.collect::<Result<Vec<_>, _>>()?;
/// assert_eq!(batches.iter().map(|batch| batch.num_rows() as u64).sum::<u64>(), rows);
/// # Ok::<(), bloscpack_error::Error>(())
/// ```
///
/// # Errors
/// Returns wrong usage for what Arrow has no type for, and for more than a million rows that have no bytes.
pub fn record_batches(source: &mut dyn Source) -> Result<RecordBatches<'_>> {
    check_empty_rows(source)?;
    Ok(RecordBatches {
        converter: BatchConverter::new(source.schema().clone())?,
        source,
        bytes: BATCH,
        has_failed: false,
    })
}

impl RecordBatches<'_> {
    /// Bytes of a batch, about; 16 MiB by default.
    #[must_use]
    pub fn batch_bytes(mut self, bytes: usize) -> Self {
        self.bytes = bytes;
        self
    }

    /// The schema of all batches.
    #[must_use]
    pub fn schema(&self) -> SchemaRef {
        self.converter.schema()
    }

    fn read(&mut self) -> Result<Option<RecordBatch>> {
        let batch = self.source.next_batch(self.bytes)?;
        batch.map(|batch| self.converter.convert(batch)).transpose()
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

/// Record batches of Arrow's, which are kept in memory, as columns. Where strings are only as long as the longest, all of them
/// are looked at.
///
/// ```
/// # testkit::enter_testdata();
/// use bloscpack_datasets::CTable;
/// use bloscpack_exchange::{ImportOptions, Source, of_record_batches, record_batches};
///
/// let table = CTable::open("testdata/datasets/bcolz/table_mixed")?;
/// let mut source = table.source()?;
/// let columns = source.schema().clone();
/// let batches = record_batches(&mut source)?;
/// let schema = batches.schema();
/// let batches = batches.collect::<Result<Vec<_>, _>>()?;
/// let back = of_record_batches(&schema, batches, &ImportOptions::new())?;
/// assert_eq!(back.schema(), &columns);
/// # Ok::<(), bloscpack_error::Error>(())
/// ```
///
/// # Errors
/// Returns wrong usage for options that do not fit; `Unsupported` for types that NumPy lacks; and an error of the category
/// [`OverLimit`](bloscpack_error::Category::OverLimit) for strings that are too long for a fixed length.
pub fn of_record_batches(
    schema: &SchemaRef,
    batches: Vec<RecordBatch>,
    options: &ImportOptions,
) -> Result<BoxedSource<'static>> {
    guarded(Format::Arrow, || {
        let mut plans = Plans::of(Format::Arrow, schema, options)?;
        let unknown = plans.unknown();
        let mut count = 0u64;
        for batch in &batches {
            if batch.schema_ref().fields() != schema.fields() {
                return Err(Error::usage("Arrow: a batch with another schema"));
            }
            let part = batch.project(&unknown);
            plans.see(&part.map_err(|error| Error::usage(format!("Arrow: {error}")))?)?;
            count = count.saturating_add(to_u64(batch.num_rows())); // memory has fewer
        }
        let schema = noted(schema, plans.columns()?)?;
        let mut batches = batches.into_iter();
        let next = Box::new(move || Ok(batches.next()));
        let source = ArrowSource::new(Format::Arrow, schema, options, count, next);
        Ok(Box::new(source) as BoxedSource<'static>)
    })
}
