//! Converts sources to and from Arrow record batches in memory.

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

/// Converts batches of rows to Arrow record batches.
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
    /// A converter for these columns. NaN becomes null in columns whose `nan_is_null` is set; NaT always becomes null.
    ///
    /// # Errors
    /// Returns `Code::Unsupported` for a type that Arrow lacks, and `Code::Usage` for rows that are too long for it.
    pub fn new(columns: Schema) -> Result<Self> {
        Self::with_mapping(columns, TypeMapping::default())
    }

    /// Converts strings (`S` and `U`) to `Utf8View`, which query engines compare without a cast, and drops time zones. Bytes
    /// that are not UTF-8 are then an error of the batch that contains them.
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

    /// The Arrow schema of all batches.
    #[must_use]
    pub fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    /// Converts a batch. Numbers are moved without a copy, other elements are converted.
    ///
    /// # Errors
    /// Returns `Code::Usage` for a batch of other columns and for values that Arrow cannot store, with the name of the column.
    pub fn convert(&self, batch: Batch) -> Result<RecordBatch> {
        batch.check(&self.columns)?;
        record_batch(&self.schema, &self.columns, batch, self.mapping)
    }
}

/// Iterates over the rows of a source as Arrow record batches, in order. Made by [`record_batches`].
pub struct RecordBatches<'a> {
    source: &'a mut dyn Source,
    converter: BatchConverter,
    bytes: usize,
    has_failed: bool,
}

/// Reads a source as Arrow record batches of about 16 MiB each.
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
/// Returns the errors of [`BatchConverter::new`], and `Code::Usage` for more than 2^20 rows without bytes.
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
    /// Sets the approximate bytes of a batch; 16 MiB by default. A batch has at least one row.
    #[must_use]
    pub fn batch_bytes(mut self, bytes: usize) -> Self {
        self.bytes = bytes;
        self
    }

    /// The Arrow schema of all batches.
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

/// Reads Arrow record batches in memory as a source. Strings are measured first, because each column gets the length of its
/// longest string.
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
/// Returns `Code::Usage` for options that do not suit the schema and for a batch with another schema, `Code::Unsupported` for a
/// type that NumPy lacks, and `Code::OverLimit` for a column with a string of more than 65,536 characters.
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
