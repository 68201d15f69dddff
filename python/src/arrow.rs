//! Rows as Arrow streams, through the PyCapsule interface, and tables written from such streams.

use crate::array::Opened;
use crate::error::{OrRaise, raised};
use crate::options::{compressor, filter};
use crate::table::Opened as Table;
use crate::work::Signals;
use bloscpack::dtype::DType;
use bloscpack::{Error, Options, Result};
use bloscpack_open::datasets::{CTableBuilder, DatasetLayout};
use bloscpack_open::exchange::arrow_array::{ArrayRef, RecordBatch, StructArray};
use bloscpack_open::exchange::arrow_schema::{ArrowError, Field, FieldRef, SchemaRef};
use bloscpack_open::exchange::{
    ArraySource, Batch, BoxedSource, ImportOptions, RecordBatches, Schema, Source, import_table,
    of_record_batches, record_batches,
};
use bloscpack_open::{Bounds, Container, Part, Selection};
use pyo3::exceptions::{PyKeyboardInterrupt, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyTuple};
use pyo3_arrow::PyRecordBatchReader;
use pyo3_arrow::ffi::{
    ArrayIterator, to_array_pycapsules, to_schema_pycapsule, to_stream_pycapsule,
};
use std::collections::HashMap;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::{Arc, PoisonError, RwLock};

/// The approximate number of bytes in a batch.
const BATCH: usize = 16 << 20;

/// Where rows are read from. It may be shared with other readers.
#[derive(Clone)]
pub enum Place {
    /// A table.
    Table(Arc<RwLock<Table>>),
    /// An array.
    Array(Arc<RwLock<Option<Opened>>>),
    /// An input of any kind.
    Container(Arc<Box<dyn Container>>),
}

/// Rows to export, as a table or as the values of one column.
#[derive(Clone)]
pub struct Rows {
    /// Where they are read from.
    pub place: Place,
    /// Columns of a table, or fields of an array; `None` for the elements of an array.
    pub names: Option<Vec<String>>,
    /// Whether the rows are exported as a table. Otherwise they are the values of one column.
    pub as_table: bool,
}

impl Rows {
    /// Passes the batches of these rows to `take`.
    fn read<T>(
        &self,
        rows: Range<u64>,
        bytes: usize,
        take: impl FnOnce(&mut RecordBatches<'_>) -> Result<T>,
    ) -> Result<T> {
        match &self.place {
            Place::Table(table) => {
                let table = table.read().unwrap_or_else(PoisonError::into_inner);
                let names = self.names.as_deref().unwrap_or_default();
                let mut source = table.source(names, rows)?;
                take(&mut record_batches(&mut *source)?.batch_bytes(bytes))
            }
            Place::Array(array) => {
                let array = array.read().unwrap_or_else(PoisonError::into_inner);
                let closed = || Error::usage("the array is closed");
                let elements = array.as_ref().ok_or_else(closed)?.elements()?;
                let mut source: BoxedSource<'_> =
                    Box::new(ArraySource::new(elements)?.range(rows)?);
                if self.names.is_some() {
                    source = source.fields()?;
                }
                take(&mut record_batches(&mut *source)?.batch_bytes(bytes))
            }
            Place::Container(container) => {
                let part = Part::Rows(Bounds::from(rows));
                let columns = self.names.iter().flatten();
                let selection = Selection::of(part).columns(columns);
                let mut source = container.columns(&selection)?.fields()?;
                take(&mut record_batches(&mut *source)?.batch_bytes(bytes))
            }
        }
    }

    /// The positions of the columns in a batch.
    fn columns(&self, schema: &SchemaRef) -> Result<Vec<usize>> {
        let all = schema.fields().iter().map(|field| field.name());
        let names = match &self.names {
            None => all.collect(),
            Some(names) => names.iter().collect::<Vec<_>>(),
        };
        let numbers = names.iter().map(|name| schema.index_of(name));
        let numbers: std::result::Result<_, _> = numbers.collect();
        numbers.map_err(|error| Error::usage(error.to_string()))
    }

    fn schema(&self) -> Result<SchemaRef> {
        self.read(0..0, BATCH, |batches| {
            let schema = batches.schema();
            let part = schema.project(&self.columns(&schema)?);
            Ok(Arc::new(
                part.map_err(|error| Error::bug(error.to_string()))?,
            ))
        })
    }

    /// The first of these rows, as one batch of at most `bytes` bytes.
    fn batch(&self, rows: Range<u64>, bytes: usize) -> Result<Option<RecordBatch>> {
        self.read(rows, bytes, |batches| {
            let columns = self.columns(&batches.schema())?;
            let batch = batches.next().transpose()?;
            let part = batch.map(|batch| batch.project(&columns)).transpose();
            part.map_err(|error| Error::bug(error.to_string()))
        })
    }
}

/// Batches of rows, decoded on demand.
struct Batches {
    rows: Rows,
    left: Range<u64>,
}

impl Batches {
    fn read(&mut self) -> std::result::Result<Option<RecordBatch>, ArrowError> {
        if self.left.is_empty() {
            return Ok(None);
        }
        let batch = interruptible(|| self.rows.batch(self.left.clone(), BATCH))?;
        let len = batch.as_ref().map_or(0, RecordBatch::num_rows);
        match u64::try_from(len) {
            Ok(len) if (1..=self.left.end - self.left.start).contains(&len) => {
                self.left.start += len;
            }
            _ => return Err(external(Error::bug(format!("a batch of {len} rows")))),
        }
        Ok(batch)
    }
}

/// Returns nothing more after an error.
impl Iterator for Batches {
    type Item = std::result::Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        let read = self.read();
        if read.is_err() {
            self.left = 0..0;
        }
        read.transpose()
    }
}

fn external(error: impl std::error::Error + Send + Sync + 'static) -> ArrowError {
    ArrowError::ExternalError(Box::new(error))
}

/// Works without the interpreter lock, and checks for signals. The caller may hold the lock or not.
///
/// The consumer replaces exceptions by its own error, so `KeyboardInterrupt` is raised again when the consumer returns.
fn interruptible<T: Send>(
    work: impl FnOnce() -> Result<T> + Send,
) -> std::result::Result<T, ArrowError> {
    let done = Python::try_attach(|py| {
        if let Err(exception) = py.check_signals() {
            if exception.is_instance_of::<PyKeyboardInterrupt>(py) {
                let again = py.import("_thread");
                again
                    .and_then(|thread| thread.call_method0("interrupt_main"))
                    .map_err(external)?;
            }
            return Err(external(exception));
        }
        py.detach(work).map_err(external)
    });
    done.unwrap_or_else(|| {
        Err(ArrowError::CDataInterface(
            "the interpreter has ended".to_owned(),
        ))
    })
}

/// The only column of an array.
fn only(schema: &SchemaRef) -> Result<FieldRef> {
    let first = schema.fields().first().cloned();
    first.ok_or_else(|| Error::bug("an array without a column"))
}

fn values(batch: &RecordBatch) -> std::result::Result<ArrayRef, ArrowError> {
    let first = batch.columns().first().cloned();
    first.ok_or_else(|| external(Error::bug("an array without a column")))
}

impl Rows {
    /// The capsule of the schema: a struct for a table, the type of the elements for an array.
    pub fn schema_capsule<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        let schema = py.detach(|| self.schema()).or_raise(py)?;
        if self.as_table {
            Ok(to_schema_pycapsule(py, schema.as_ref())?)
        } else {
            Ok(to_schema_pycapsule(
                py,
                only(&schema).or_raise(py)?.as_ref(),
            )?)
        }
    }

    /// A stream capsule with these rows.
    pub fn stream<'py>(
        &self,
        py: Python<'py>,
        rows: Range<u64>,
        requested: Option<Bound<'py, PyCapsule>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        let schema = py.detach(|| self.schema()).or_raise(py)?;
        let batches = Batches {
            rows: self.clone(),
            left: rows,
        };
        let reader = if self.as_table {
            let field = Field::new_struct("", schema.fields().clone(), false);
            let field = field.with_metadata(schema.metadata().clone());
            let structs = batches.map(|batch| Ok(Arc::new(StructArray::from(batch?)) as _));
            Box::new(ArrayIterator::new(structs, field.into())) as Box<_>
        } else {
            let field = only(&schema).or_raise(py)?;
            let values = batches.map(|batch| values(&batch?));
            Box::new(ArrayIterator::new(values, field))
                as Box<dyn pyo3_arrow::ffi::ArrayReader + Send>
        };
        Ok(to_stream_pycapsule(py, reader, requested)?)
    }

    /// The capsules of all rows of an array, as one piece.
    pub fn array<'py>(
        &self,
        py: Python<'py>,
        rows: u64,
        requested: Option<Bound<'py, PyCapsule>>,
    ) -> PyResult<Bound<'py, PyTuple>> {
        let whole = py.detach(|| {
            let schema = self.schema()?;
            let batch = self.batch(0..rows, usize::MAX)?;
            Ok::<_, Error>((
                only(&schema)?,
                batch.unwrap_or_else(|| RecordBatch::new_empty(schema)),
            ))
        });
        let (field, batch) = whole.or_raise(py)?;
        let values = values(&batch).map_err(|error| raised(py, Error::bug(error.to_string())))?;
        Ok(to_array_pycapsules(py, field, &values, requested)?)
    }
}

/// A source that checks for signals before each batch.
struct Interruptible(BoxedSource<'static>, Signals);

impl Source for Interruptible {
    fn schema(&self) -> &Schema {
        self.0.schema()
    }

    fn rows(&self) -> Option<u64> {
        self.0.rows()
    }

    fn next_batch(&mut self, bytes: usize) -> Result<Option<Batch>> {
        self.1.check()?;
        self.0.next_batch(bytes)
    }
}

/// The options for writing a table from a stream.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct WriteOptions {
    cname: String,
    clevel: u8,
    shuffle: u8,
    replace: bool,
    threads: usize,
    /// The dtypes of string columns, in NumPy's notation.
    dtypes: HashMap<String, String>,
    /// The values that replace nulls.
    fill: HashMap<String, String>,
}

impl WriteOptions {
    fn import(&self) -> Result<ImportOptions> {
        let mut options = ImportOptions::new();
        for (name, dtype) in &self.dtypes {
            options = options.dtype(name, DType::parse(dtype)?);
        }
        for (name, text) in &self.fill {
            options = options.fill(name, text);
        }
        Ok(options)
    }
}

/// Writes a table from any object with `__arrow_c_stream__`. Returns the number of rows.
#[pyfunction]
pub fn write_stream(
    py: Python<'_>,
    source: &Bound<'_, PyAny>,
    path: PathBuf,
    options: WriteOptions,
) -> PyResult<u64> {
    let stream: PyRecordBatchReader = source.extract()?;
    let stream = stream.into_reader()?;
    let schema = stream.schema();
    let (compressor, filter) = (
        compressor(py, &options.cname)?,
        filter(py, options.shuffle)?,
    );
    let signals = Signals::new();
    let batches = py.detach(|| {
        let each = stream.map(|batch| {
            signals.check().map_err(PyErr::from)?;
            // The errors come from the program that produced the stream.
            batch.map_err(|error| PyTypeError::new_err(error.to_string()))
        });
        each.collect::<PyResult<Vec<_>>>()
    })?;
    let written = py.detach(|| {
        let source = of_record_batches(&schema, batches, &options.import()?)?;
        let mut source = Interruptible(source, signals);
        let rows = source.known_rows()?;
        let builder = CTableBuilder::of_schema(source.schema(), |_, column| {
            let column = column.compressor(compressor).filter(filter);
            column.level(options.clevel).expected_rows(rows)
        });
        let builder = builder
            .layout(DatasetLayout::Bcolz)
            .replace(options.replace)
            .options(Options::new().threads(options.threads));
        let mut table = builder
            .create(&path)
            .map_err(|error| error.in_file(&path))?;
        import_table(&mut source, &mut table, &mut |_| ())?;
        Ok::<_, Error>(rows)
    });
    written.or_raise(py)
}
