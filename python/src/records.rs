//! Records: objects of any length, in order or by number.

use crate::error::{OrRaise, raised};
use crate::file::{PyFile, Target, source, target};
use crate::options::EncoderOptions;
use crate::work::Own;
use bloscpack::Error;
use bloscpack::Options;
use bloscpack::records::{IndexedRecordReader, RecordReader, RecordWriter, SeekRecordWriter};
use bloscpack::storage::SharedSource;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::PyBytes;
use std::io::Write;
use std::path::PathBuf;

/// A file of records, by number.
#[pyclass(frozen, module = "bloscpack._native")]
pub struct RecordFile(IndexedRecordReader<SharedSource>);

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
            let options = Options::new().cache(cache).allow_unterminated(unended);
            IndexedRecordReader::with_options(source, options)
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

    fn push(&self, py: Python<'_>, record: PyBackedBytes) -> PyResult<()> {
        let push = |sink: &mut Sink| match sink {
            Sink::Stream(writer) => writer.push(&record),
            Sink::Seek(writer) => writer.push(&record),
        };
        py.detach(|| self.0.with(push)).or_raise(py)
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
    for record in records.try_iter()? {
        let record: PyBackedBytes = record?.extract()?;
        appender.push(&record).map_err(failed)?;
    }
    py.detach(|| appender.finish().map(|_| ()))
        .map_err(failed)?;
    Ok(editor.len())
}
