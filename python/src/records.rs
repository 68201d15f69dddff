//! Records: objects of any length, in order or by number.

use crate::error::{OrRaise, raised};
use crate::file::{PyFile, Target, source, target};
use crate::options::EncoderOptions;
use crate::work::Own;
use bloscpack::Error;
use bloscpack::Options;
use bloscpack::records::{IndexedRecordReader, RecordReader, RecordWriter, SeekRecordWriter};
use bloscpack::storage::{SharedSource, SourceReader};
use bytes::Bytes;
use numpy::PyReadonlyArray1;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::{PyBytes, PyMemoryView, PyString};
use std::io::Write;
use std::path::PathBuf;
use std::sync::Arc;

/// Bytes of records that are passed between Rust and Python at once.
const BATCH: usize = 1 << 20;
/// The memory of a Python object beside its content.
const OBJECT: usize = 64;

/// A file of records, by number.
#[pyclass(frozen, module = "bloscpack._native")]
pub struct RecordFile {
    reader: IndexedRecordReader<SharedSource>,
    source: Arc<SharedSource>,
    options: Options,
}

#[pymethods]
impl RecordFile {
    #[new]
    fn new(
        py: Python<'_>,
        object: &Bound<'_, PyAny>,
        threads: usize,
        cache: usize,
        unended: bool,
    ) -> PyResult<Self> {
        let source = source(object)?;
        let options = Options::new().threads(threads).cache(cache);
        let options = options.allow_unterminated(unended);
        let reader =
            py.detach(|| IndexedRecordReader::with_options(Arc::clone(&source), options.clone()));
        Ok(Self {
            reader: reader.or_raise(py)?,
            source: Arc::new(source),
            options,
        })
    }

    fn __len__(&self) -> PyResult<usize> {
        Ok(usize::try_from(self.reader.len())?)
    }

    fn get<'py>(&self, py: Python<'py>, number: u64) -> PyResult<Bound<'py, PyBytes>> {
        let record = py.detach(|| self.reader.get(number)).or_raise(py)?;
        Ok(PyBytes::new(py, &record))
    }

    fn get_many<'py>(
        &self,
        py: Python<'py>,
        numbers: PyReadonlyArray1<'py, u64>,
    ) -> PyResult<Vec<Bound<'py, PyBytes>>> {
        let numbers = numbers.as_slice()?;
        let records = py.detach(|| self.reader.get_many(numbers));
        Ok(objects(py, &records.or_raise(py)?))
    }

    fn range<'py>(
        &self,
        py: Python<'py>,
        start: u64,
        end: u64,
    ) -> PyResult<Vec<Bound<'py, PyBytes>>> {
        let records = || {
            self.reader
                .range(start..end)
                .collect::<Result<Vec<_>, Error>>()
        };
        Ok(objects(py, &py.detach(records).or_raise(py)?))
    }

    /// All records in order, as lists.
    fn batches(&self, py: Python<'_>) -> PyResult<RecordBatches> {
        let reader = RecordReader::from_source(Arc::clone(&self.source), self.options.clone());
        Ok(RecordBatches(Own::new((reader.or_raise(py)?, None))))
    }

    #[getter]
    fn metadata(&self) -> Option<&str> {
        self.reader.metadata().map(|metadata| metadata.text())
    }

    #[getter]
    fn chunks(&self) -> u64 {
        self.reader.chunks()
    }
}

fn objects<'py>(py: Python<'py>, records: &[Bytes]) -> Vec<Bound<'py, PyBytes>> {
    records
        .iter()
        .map(|record| PyBytes::new(py, record))
        .collect()
}

/// The records of a file in order, as lists of about a megabyte.
#[pyclass(frozen, module = "bloscpack._native")]
pub struct RecordBatches(Own<(Stored, Option<Error>)>);

type Stored = RecordReader<SourceReader<Arc<SharedSource>>>;

#[pymethods]
impl RecordBatches {
    fn __iter__(this: PyRef<'_, Self>) -> PyRef<'_, Self> {
        this
    }

    fn __next__<'py>(&self, py: Python<'py>) -> PyResult<Option<Vec<Bound<'py, PyBytes>>>> {
        // The records before a damaged chunk come before its error.
        let next = |(reader, failed): &mut (Stored, Option<Error>)| {
            let (mut records, mut size) = (Vec::new(), 0);
            while failed.is_none() && size < BATCH {
                match reader.next() {
                    Some(Ok(record)) => {
                        size += record.len() + OBJECT;
                        records.push(record);
                    }
                    Some(Err(error)) => *failed = Some(error),
                    None => break,
                }
            }
            match failed.take_if(|_| records.is_empty()) {
                Some(error) => Err(error),
                None => Ok(records),
            }
        };
        let records = py.detach(|| self.0.with(next)).or_raise(py)?;
        Ok((!records.is_empty()).then(|| objects(py, &records)))
    }
}

/// A stream of records, in order.
#[pyclass(frozen, module = "bloscpack._native")]
pub struct RecordStream(Own<RecordReader<PyFile>>);

#[pymethods]
impl RecordStream {
    #[new]
    fn new(object: &Bound<'_, PyAny>, threads: usize, unended: bool) -> Self {
        let options = Options::new().threads(threads).allow_unterminated(unended);
        let file = PyFile::new(object.clone());
        Self(Own::new(RecordReader::with_options(file, options)))
    }

    fn __iter__(this: PyRef<'_, Self>) -> PyRef<'_, Self> {
        this
    }

    fn __next__<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyBytes>>> {
        let next =
            |reader: &mut RecordReader<PyFile>| Ok(reader.next_record()?.map(<[u8]>::to_vec));
        let record = py.detach(|| self.0.with(next));
        Ok(record.or_raise(py)?.map(|record| PyBytes::new(py, &record)))
    }
}

enum Sink {
    Stream(Box<RecordWriter<PyFile>>),
    Seek(Box<SeekRecordWriter<Box<dyn Target>>>),
}

/// Writes records to a file object, or to the existing, empty file at a path.
#[pyclass(frozen, module = "bloscpack._native")]
pub struct RecordSink(Own<Sink>);

#[pymethods]
impl RecordSink {
    #[new]
    fn new(
        py: Python<'_>,
        object: &Bound<'_, PyAny>,
        seekable: bool,
        options: EncoderOptions,
    ) -> PyResult<Self> {
        let builder = options.records(py)?;
        let sink = if seekable {
            let writer = builder.write_to_file(target(object)?);
            Sink::Seek(Box::new(writer.or_raise(py)?))
        } else {
            let writer = builder.write_to(PyFile::new(object.clone()));
            Sink::Stream(Box::new(writer.or_raise(py)?))
        };
        Ok(Self(Own::new(sink)))
    }

    fn push(&self, py: Python<'_>, record: &Bound<'_, PyAny>) -> PyResult<()> {
        self.push_all(py, &[bytes_of(record)?])
    }

    fn extend(&self, py: Python<'_>, records: &Bound<'_, PyAny>) -> PyResult<()> {
        in_batches(records, |records| self.push_all(py, records))
    }

    fn flush(&self, py: Python<'_>) -> PyResult<()> {
        let flush = |sink: &mut Sink| match sink {
            Sink::Stream(writer) => writer.flush(),
            Sink::Seek(writer) => writer.flush(),
        };
        py.detach(|| self.0.with(flush)).or_raise(py)
    }

    /// Closes without completing the file, and does not wait for chunks that are being compressed.
    fn abandon(&self) {
        if let Ok(sink) = self.0.take() {
            std::thread::spawn(move || drop(sink));
        }
    }

    fn finish(&self, py: Python<'_>) -> PyResult<()> {
        let sink = self.0.take().or_raise(py)?;
        py.detach(|| match sink {
            Sink::Stream(writer) => writer.finish()?.flush().map_err(Error::from),
            Sink::Seek(writer) => writer.finish()?.flush().map_err(Error::from),
        })
        .or_raise(py)
    }
}

impl RecordSink {
    fn push_all(&self, py: Python<'_>, records: &[PyBackedBytes]) -> PyResult<()> {
        let push = |sink: &mut Sink| match sink {
            Sink::Stream(writer) => records.iter().try_for_each(|record| writer.push(record)),
            Sink::Seek(writer) => records.iter().try_for_each(|record| writer.push(record)),
        };
        py.detach(|| self.0.with(push)).or_raise(py)
    }
}

/// Passes the objects of an iterable on, about a megabyte at once; those before an error come before it.
fn in_batches(
    records: &Bound<'_, PyAny>,
    mut take: impl FnMut(&[PyBackedBytes]) -> PyResult<()>,
) -> PyResult<()> {
    let (mut batch, mut size) = (Vec::new(), 0);
    for record in records.try_iter()? {
        match record.and_then(|record| bytes_of(&record)) {
            Ok(record) => {
                size += record.len() + OBJECT;
                batch.push(record);
            }
            Err(error) => {
                take(&batch)?;
                return Err(error);
            }
        }
        if size >= BATCH {
            take(&batch)?;
            batch.clear();
            size = 0;
        }
    }
    take(&batch)
}

fn bytes_of(record: &Bound<'_, PyAny>) -> PyResult<PyBackedBytes> {
    if let Ok(bytes) = record.extract() {
        return Ok(bytes);
    }
    if record.is_instance_of::<PyString>() {
        let message = "bytes expected, not str: text.encode()";
        return Err(PyTypeError::new_err(message));
    }
    let bytes = PyMemoryView::from(record)?.call_method0("tobytes")?;
    Ok(bytes.extract()?)
}

/// Appends records to a file. After a crash, the file has the old or the new content. Returns the number of records.
#[pyfunction]
pub fn append_records(
    py: Python<'_>,
    path: PathBuf,
    records: &Bound<'_, PyAny>,
    options: EncoderOptions,
) -> PyResult<u64> {
    let builder = options.editor(py)?;
    let failed = |error: Error| raised(py, error);
    let mut editor = py
        .detach(|| builder.open_records(&path))
        .map_err(|error| failed(error.in_file(&path)))?;
    let mut appender = editor.append().map_err(failed)?;
    in_batches(records, |records| {
        let mut records = records.iter();
        py.detach(|| records.try_for_each(|record| appender.push(record)))
            .map_err(failed)
    })?;
    py.detach(|| appender.finish().map(|_| ()))
        .map_err(failed)?;
    Ok(editor.len())
}
