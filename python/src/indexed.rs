//! Bloscpack files with random access.

use crate::error::OrRaise;
use crate::file::source;
use crate::options::EncoderOptions;
use crate::work::Signals;
use bloscpack::edit::Editor;
use bloscpack::indexed::IndexedReader;
use bloscpack::storage::SharedSource;
use bloscpack::{Error, Options};
use numpy::{PyReadonlyArray1, PyReadwriteArray1};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::io::Write;
use std::path::PathBuf;

/// Bytes that are processed between two checks for signals, some for each thread.
const PIECE: usize = 64 << 20;

/// A Bloscpack file that is read at any position.
#[pyclass(frozen, module = "bloscpack._native")]
pub struct IndexedFile {
    reader: IndexedReader<SharedSource>,
}

#[pymethods]
impl IndexedFile {
    #[new]
    fn new(
        py: Python<'_>,
        object: &Bound<'_, PyAny>,
        threads: usize,
        cache: usize,
        unended: bool,
    ) -> PyResult<Self> {
        let source = source(object)?;
        let reader = py.detach(|| {
            let options = Options::new().threads(threads).cache(cache);
            IndexedReader::with_options(source, options.allow_unterminated(unended))
        });
        reader.or_raise(py).map(|reader| Self { reader })
    }

    #[getter]
    fn size(&self) -> u64 {
        self.reader.content_len()
    }

    #[getter]
    fn chunks(&self) -> u64 {
        self.reader.chunks()
    }

    #[getter]
    fn members(&self) -> usize {
        self.reader.members()
    }

    /// The metadata as JSON.
    #[getter]
    fn metadata(&self) -> Option<&str> {
        self.reader.metadata().map(|metadata| metadata.text())
    }

    /// The fields of the header of the first member.
    #[getter]
    fn header<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyDict>>> {
        let Some(header) = self.reader.header() else {
            return Ok(None);
        };
        let fields = PyDict::new(py);
        fields.set_item("offsets", header.offsets)?;
        fields.set_item("checksum", header.checksum.name())?;
        fields.set_item("typesize", header.typesize)?;
        fields.set_item("chunk_size", header.chunk_size)?;
        fields.set_item("last_chunk", header.last_chunk)?;
        fields.set_item("nchunks", header.nchunks)?;
        fields.set_item("max_app_chunks", header.max_app_chunks)?;
        Ok(Some(fields))
    }

    /// Fills the array from this position on, up to the end of the content. Returns the number of bytes.
    fn read_at(
        &self,
        py: Python<'_>,
        at: u64,
        mut out: PyReadwriteArray1<'_, u8>,
    ) -> PyResult<usize> {
        let out = out.as_slice_mut()?;
        let left = self.size().saturating_sub(at);
        let len = usize::try_from(left.min(u64::try_from(out.len())?))?;
        let (out, _) = out.split_at_mut(len);
        let signals = Signals::new();
        py.detach(|| {
            for (at, piece) in (at..).step_by(PIECE).zip(out.chunks_mut(PIECE)) {
                self.reader.read_exact_at(at, piece)?;
                signals.check()?;
            }
            Ok::<_, Error>(())
        })
        .or_raise(py)?;
        Ok(len)
    }
}

/// Appends bytes to a file. After a crash, the file has the old or the new content. Returns the number of chunks.
#[pyfunction]
pub fn append_file(
    py: Python<'_>,
    path: PathBuf,
    data: PyReadonlyArray1<'_, u8>,
    options: EncoderOptions,
) -> PyResult<u64> {
    let builder = options.editor(py)?;
    let data = data.as_slice()?;
    let signals = Signals::new();
    py.detach(|| {
        let mut editor: Editor = builder.open(&path).map_err(|error| error.in_file(&path))?;
        let mut appender = editor.append()?;
        for piece in data.chunks(PIECE) {
            appender.write_all(piece)?;
            signals.check()?;
        }
        appender.finish()?;
        Ok::<_, Error>(editor.chunks())
    })
    .or_raise(py)
}
