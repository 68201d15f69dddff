//! Records: objects of any length, in order or by number.

use crate::error::{OrRaise, raised, usage};
use crate::file::{PyFile, Source, Target, source};
use crate::options::Options;
use bloscpack::Error;
use bloscpack::records::{IndexedRecordReader, RecordReader, RecordWriter, SeekRecordWriter};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::PyBytes;
use std::io::Write;
use std::path::PathBuf;
use std::sync::Mutex;

/// A file of records, by number.
#[pyclass(frozen, module = "bloscpack._native")]
pub struct RecordFile(IndexedRecordReader<Source>);

#[pymethods]
impl RecordFile {
    #[new]
    fn new(
        py: Python<'_>,
        object: &Bound<'_, PyAny>,
        cache: usize,
        unended: bool,
    ) -> PyResult<Self> {
        let source = source(object)?;
        let reader = py.detach(|| {
            IndexedRecordReader::<Vec<u8>>::builder()
                .cache(cache)
                .allow_unterminated(unended)
                .open(source)
        });
        Ok(Self(reader.or_raise(py)?))
    }

    fn __len__(&self) -> PyResult<usize> {
        Ok(usize::try_from(self.0.len())?)
    }

    fn get<'py>(&self, py: Python<'py>, number: u64) -> PyResult<Bound<'py, PyBytes>> {
        let record = py.detach(|| self.0.get(number)).or_raise(py)?;
        Ok(PyBytes::new(py, &record))
    }

    fn range<'py>(
        &self,
        py: Python<'py>,
        start: u64,
        end: u64,
    ) -> PyResult<Vec<Bound<'py, PyBytes>>> {
        let records = py.detach(|| self.0.range(start..end).collect::<Result<Vec<_>, Error>>());
        let records = records.or_raise(py)?;
        Ok(records
            .iter()
            .map(|record| PyBytes::new(py, record))
            .collect())
    }

    #[getter]
    fn metadata(&self) -> Option<&str> {
        self.0.metadata().map(|metadata| metadata.text())
    }

    #[getter]
    fn chunks(&self) -> u64 {
        self.0.chunks()
    }
}

/// A stream of records, in order.
#[pyclass(frozen, module = "bloscpack._native")]
pub struct RecordStream(Mutex<RecordReader<PyFile>>);

#[pymethods]
impl RecordStream {
    #[new]
    fn new(object: &Bound<'_, PyAny>, threads: usize, unended: bool) -> Self {
        let reader = RecordReader::<std::io::Empty>::builder()
            .threads(threads)
            .allow_unterminated(unended)
            .read_from(PyFile::new(object.clone()));
        Self(Mutex::new(reader))
    }

    fn __iter__(this: PyRef<'_, Self>) -> PyRef<'_, Self> {
        this
    }

    fn __next__<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyBytes>>> {
        let record = py.detach(|| {
            let mut reader = self
                .0
                .lock()
                .map_err(|_| Error::bug("a reader that panicked"))?;
            Ok::<_, Error>(reader.next_record()?.map(<[u8]>::to_vec))
        });
        Ok(record.or_raise(py)?.map(|record| PyBytes::new(py, &record)))
    }
}

enum Sink {
    Stream(Box<RecordWriter<PyFile>>),
    Seek(Box<SeekRecordWriter<Box<dyn Target>>>),
}

/// Writes records.
#[pyclass(frozen, module = "bloscpack._native")]
pub struct RecordSink(Mutex<Option<Sink>>);

#[pymethods]
impl RecordSink {
    #[new]
    fn new(
        py: Python<'_>,
        target: &Bound<'_, PyAny>,
        seekable: bool,
        options: Options,
    ) -> PyResult<Self> {
        let builder = options.records(py)?;
        let target = PyFile::new(target.clone());
        let sink = if seekable {
            let target: Box<dyn Target> = Box::new(target);
            Sink::Seek(Box::new(builder.write_to_file(target).or_raise(py)?))
        } else {
            Sink::Stream(Box::new(builder.write_to(target).or_raise(py)?))
        };
        Ok(Self(Mutex::new(Some(sink))))
    }

    fn push(&self, py: Python<'_>, record: PyBackedBytes) -> PyResult<()> {
        self.with(py, |sink| match sink {
            Sink::Stream(writer) => writer.push(&record),
            Sink::Seek(writer) => writer.push(&record),
        })
    }

    fn flush(&self, py: Python<'_>) -> PyResult<()> {
        self.with(py, |sink| match sink {
            Sink::Stream(writer) => writer.flush(),
            Sink::Seek(writer) => writer.flush(),
        })
    }

    fn finish(&self, py: Python<'_>) -> PyResult<()> {
        let Some(sink) = self.0.lock().ok().and_then(|mut sink| sink.take()) else {
            return usage(py, "the writer is closed");
        };
        py.detach(|| match sink {
            Sink::Stream(writer) => writer.finish()?.flush().map_err(Error::from),
            Sink::Seek(writer) => writer.finish()?.flush().map_err(Error::from),
        })
        .or_raise(py)
    }
}

impl RecordSink {
    fn with(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut Sink) -> Result<(), Error> + Send,
    ) -> PyResult<()> {
        py.detach(|| {
            let mut sink = self
                .0
                .lock()
                .map_err(|_| Error::bug("a writer that panicked"))?;
            work(
                sink.as_mut()
                    .ok_or_else(|| Error::usage("the writer is closed"))?,
            )
        })
        .or_raise(py)
    }
}

/// Appends records to a file, which is the old one or the new one after a crash. Returns the number of records.
#[pyfunction]
pub fn append_records(
    py: Python<'_>,
    path: PathBuf,
    records: &Bound<'_, PyAny>,
    options: Options,
) -> PyResult<u64> {
    let builder = options.editor(py)?;
    let failed = |error: Error| raised(py, error);
    let mut editor = py
        .detach(|| builder.open_records(&path))
        .map_err(|error| failed(error.in_file(&path)))?;
    let mut appender = editor.append().map_err(failed)?;
    for record in records.try_iter()? {
        let record: PyBackedBytes = record?.extract()?;
        appender.push(&record).map_err(failed)?;
    }
    py.detach(|| appender.finish().map(|_| ()))
        .map_err(failed)?;
    Ok(editor.len())
}
