//! [`Planned`]: rows that several processes read, and the facts to plan a query.

use super::{Rows, Zones};
use crate::open::OpenedBy;
use bloscpack::{Error, Result};
use datafusion::arrow::array::{RecordBatch, RecordBatchOptions};
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::{DataType, Field, FieldRef, Fields, Schema, SchemaRef};
use std::ops::Range;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// Rows with the facts that planning a query needs. The input is opened when it is read.
pub(crate) struct Planned {
    pub opened_by: Arc<OpenedBy>,
    pub known: Known,
    rows: OnceLock<Arc<dyn Rows>>,
    /// Held while a thread opens the input.
    opening: Mutex<()>,
}

/// The facts about rows that are available before they are read.
#[derive(Debug, Clone)]
pub(crate) struct Known {
    pub schema: SchemaRef,
    pub len: u64,
    /// The number of rows in a chunk, for each column.
    pub chunk_rows: Vec<u64>,
    /// The number of bytes in a row, for each column.
    pub row_bytes: Vec<u64>,
}

impl Planned {
    /// Rows of an opened input.
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

    /// Rows of an input that is not opened yet.
    pub(crate) fn unopened(known: Known, opened_by: Arc<OpenedBy>) -> Self {
        Self {
            opened_by,
            known,
            rows: OnceLock::new(),
            opening: Mutex::default(),
        }
    }

    /// The rows of the input, which is opened if necessary.
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

/// The field, with text that is not a view type.
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
        // An input that cannot be opened fails when it is read.
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
