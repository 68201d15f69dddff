//! [`Planned`]: rows that several processes read, each by what is known of them.

use super::{Rows, Zones};
use crate::open::OpenedBy;
use bloscpack::{Error, Result};
use datafusion::arrow::array::{RecordBatch, RecordBatchOptions};
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::{DataType, Field, FieldRef, Fields, Schema, SchemaRef};
use std::ops::Range;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// Rows of which enough is known to plan a query. The input is opened when it is read.
pub(crate) struct Planned {
    pub opened_by: Arc<OpenedBy>,
    pub known: Known,
    rows: OnceLock<Arc<dyn Rows>>,
    /// Held while the input is opened.
    opening: Mutex<()>,
}

/// The facts about rows that are known before they are read.
#[derive(Debug, Clone)]
pub(crate) struct Known {
    pub schema: SchemaRef,
    pub len: u64,
    /// For each column, the rows of a chunk.
    pub chunk_rows: Vec<u64>,
    /// For each column, the bytes of a row.
    pub row_bytes: Vec<u64>,
}

impl Planned {
    /// Rows of an input that was opened.
    pub(crate) fn of(rows: Arc<dyn Rows>, opened_by: Arc<OpenedBy>) -> Self {
        let columns = 0..rows.schema().fields().len();
        let fields = rows.schema().fields().iter().map(without_views);
        let known = Known {
            schema: Arc::new(Schema::new(fields.collect::<Fields>())),
            len: rows.len(),
            chunk_rows: columns.clone().map(|at| rows.chunk_rows(at)).collect(),
            row_bytes: columns.map(|at| rows.row_bytes(at)).collect(),
        };
        Self {
            opened_by,
            known,
            rows: OnceLock::from(rows),
            opening: Mutex::default(),
        }
    }

    /// Rows of an input that is still to be opened.
    pub(crate) fn unopened(known: Known, opened_by: Arc<OpenedBy>) -> Self {
        Self {
            opened_by,
            known,
            rows: OnceLock::new(),
            opening: Mutex::default(),
        }
    }

    /// The rows of the input.
    fn rows(&self) -> Result<&Arc<dyn Rows>> {
        let _opening = self.opening.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(rows) = self.rows.get() {
            return Ok(rows);
        }
        let rows = super::of(self.opened_by.reopen()?, self.opened_by.is_nan_null())?;
        let fields = rows.schema().fields().iter().map(without_views);
        let is_same =
            rows.len() == self.known.len && fields.eq(self.known.schema.fields().iter().cloned());
        if is_same {
            Ok(self.rows.get_or_init(|| rows))
        } else {
            Err(Error::usage("the plan is of other data"))
        }
    }
}

/// A field whose text is not views.
fn without_views(field: &FieldRef) -> FieldRef {
    let data_type = match field.data_type() {
        DataType::Utf8View => DataType::Utf8,
        DataType::Struct(fields) => DataType::Struct(fields.iter().map(without_views).collect()),
        DataType::FixedSizeList(item, len) => DataType::FixedSizeList(without_views(item), *len),
        DataType::List(item) => DataType::List(without_views(item)),
        other => other.clone(),
    };
    Arc::new(Field::clone(field).with_data_type(data_type))
}

impl Rows for Planned {
    fn schema(&self) -> &SchemaRef {
        &self.known.schema
    }

    fn len(&self) -> u64 {
        self.known.len
    }

    fn chunk_rows(&self, column: usize) -> u64 {
        self.known.chunk_rows.get(column).copied().unwrap_or(1)
    }

    fn row_bytes(&self, column: usize) -> u64 {
        self.known.row_bytes.get(column).copied().unwrap_or(1)
    }

    fn zones(&self, column: usize) -> Option<&Zones> {
        self.rows().ok()?.zones(column)
    }

    fn zone_holds(&self, column: usize, zone: usize) -> Result<bool> {
        self.rows()?.zone_holds(column, zone)
    }

    fn are_columns_apart(&self) -> bool {
        // What cannot be opened fails when it is read.
        self.rows().map_or(true, |rows| rows.are_columns_apart())
    }

    fn read(&self, columns: &[usize], rows: Range<u64>) -> Result<RecordBatch> {
        let read = self.rows()?.read(columns, rows)?;
        let failed = |error: datafusion::arrow::error::ArrowError| Error::bug(error.to_string());
        let schema = Arc::new(self.known.schema.project(columns).map_err(failed)?);
        let fields = schema.fields().iter().zip(read.columns());
        let arrays = fields.map(|(field, array)| cast(array, field.data_type()));
        let arrays = arrays
            .collect::<std::result::Result<_, _>>()
            .map_err(failed)?;
        let count = RecordBatchOptions::new().with_row_count(Some(read.num_rows()));
        RecordBatch::try_new_with_options(schema, arrays, &count).map_err(failed)
    }

    fn planned(&self) -> Option<&Planned> {
        Some(self)
    }
}
