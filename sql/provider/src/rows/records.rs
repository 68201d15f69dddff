//! The rows of a file with records.

use super::{Rows, batch_of, in_memory};
use bloscpack::records::IndexedRecordReader;
use bloscpack::storage::SharedSource;
use bloscpack::{Error, Result};
use datafusion::arrow::array::{ArrayRef, RecordBatch, StringViewBuilder};
use datafusion::arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use datafusion::arrow::error::ArrowError;
use datafusion::arrow::json::ReaderBuilder;
use datafusion::arrow::json::reader::infer_json_schema;
use std::ops::Range;
use std::sync::Arc;

/// The number of records that are examined to find the keys of JSON objects and their types.
const LOOK: u64 = 1000;
/// Records per read.
const ROWS: u64 = 8192;
/// The name of the column for records that are not JSON objects.
const VALUE: &str = "value";

/// Records, each of which is a row.
pub(super) struct RecordRows {
    reader: IndexedRecordReader<SharedSource>,
    schema: SchemaRef,
    form: Form,
    row_bytes: u64,
}

/// How records become columns.
enum Form {
    /// One column of text.
    Text,
    /// A column for each key.
    Json,
}

impl RecordRows {
    pub(super) fn new(source: SharedSource) -> Result<Self> {
        let reader = IndexedRecordReader::open(source)?;
        let (mut first, mut count) = (Vec::new(), 0);
        for record in reader.range(0..reader.len().min(LOOK)) {
            first.extend_from_slice(&record?);
            first.push(b'\n');
            count += 1;
        }
        let row_bytes = u64::try_from(first.len()).unwrap_or(u64::MAX) / count.max(1);
        let (form, schema) = match json_schema(&first) {
            Some(schema) => (Form::Json, schema),
            None => {
                let text = Field::new(VALUE, DataType::Utf8View, false);
                (Form::Text, Schema::new(vec![text]))
            }
        };
        Ok(Self {
            reader,
            schema: Arc::new(schema),
            form,
            row_bytes,
        })
    }

    fn text(&self, rows: Range<u64>) -> Result<ArrayRef> {
        let mut texts = StringViewBuilder::new();
        for (number, record) in rows.clone().zip(self.reader.range(rows)) {
            let record = record?;
            let text = std::str::from_utf8(&record);
            texts.append_value(text.map_err(|error| {
                Error::usage(format!("record {number} is not text in UTF-8: {error}"))
            })?);
        }
        Ok(Arc::new(texts.finish()))
    }

    fn json(&self, columns: &[usize], rows: Range<u64>) -> Result<Vec<ArrayRef>> {
        let failed = |number: u64, error: &ArrowError| {
            let why = format!("record {number} does not have the columns of the first {LOOK}");
            Error::usage(format!("{why}: {error}"))
        };
        let schema = self.schema.project(columns);
        let schema = schema.map_err(|error| Error::bug(error.to_string()))?;
        let size = in_memory(rows.end - rows.start)?;
        let decoder = ReaderBuilder::new(Arc::new(schema)).with_batch_size(size);
        let mut decoder = decoder
            .build_decoder()
            .map_err(|error| Error::bug(error.to_string()))?;
        for (number, record) in rows.clone().zip(self.reader.range(rows.clone())) {
            let record = record?;
            let mut whole = || {
                decoder.decode(&record)?;
                decoder.decode(b"\n")
            };
            whole().map_err(|error| failed(number, &error))?;
        }
        let batch = decoder
            .flush()
            .map_err(|error| failed(rows.start, &error))?;
        let batch = batch.filter(|batch| batch.num_rows() == size);
        let batch = batch.ok_or_else(|| {
            Error::usage(format!("records {rows:?} are not one JSON object each"))
        })?;
        Ok(batch.columns().to_vec())
    }
}

/// The columns of JSON objects, one per line; `None` if a line is not an object.
fn json_schema(lines: &[u8]) -> Option<Schema> {
    let (schema, _) = infer_json_schema(lines, None).ok()?;
    (!schema.fields().is_empty()).then_some(schema)
}

impl Rows for RecordRows {
    fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    fn len(&self) -> u64 {
        self.reader.len()
    }

    fn chunk_rows(&self, _: usize) -> u64 {
        ROWS
    }

    fn row_bytes(&self, _: usize) -> u64 {
        self.row_bytes
    }

    fn are_columns_apart(&self) -> bool {
        false
    }

    fn read(&self, columns: &[usize], rows: Range<u64>) -> Result<RecordBatch> {
        let arrays = match self.form {
            _ if columns.is_empty() || rows.is_empty() => Vec::new(),
            Form::Text => vec![self.text(rows.clone())?; columns.len()],
            Form::Json => self.json(columns, rows.clone())?,
        };
        batch_of(&self.schema, columns, arrays, rows)
    }
}
