//! Bloscpack files with random access.

use crate::error::OrRaise;
use crate::file::source;
use crate::options::EncoderOptions;
use crate::work::Signals;
use bloscpack::edit::Editor;
use bloscpack::indexed::IndexedReader;
use bloscpack::storage::SharedSource;
use bloscpack::{Decoder, Error, Options};
use numpy::{PyReadonlyArray1, PyReadwriteArray1};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::io::{Read, Write};
use std::path::PathBuf;
use std::sync::Arc;

/// The least length of a range that several threads decode.
const LONG: usize = 4 << 20;
/// Bytes that are processed between two checks for signals.
const PIECE: usize = 4 << 20;

/// A Bloscpack file that is read at any position.
#[pyclass(frozen, module = "bloscpack._native")]
pub struct IndexedFile {
    reader: IndexedReader<SharedSource>,
    source: SharedSource,
    threads: usize,
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
            let options = Options::new().cache(cache).allow_unterminated(unended);
            IndexedReader::with_options(Arc::clone(&source), options)
        });
        let reader = reader.or_raise(py)?;
        Ok(Self {
            reader,
            source,
            threads,
        })
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
            if len < LONG || self.threads < 2 {
                self.short(at, out, &signals)
            } else {
                self.long(at, out, &signals)
            }
        })
        .or_raise(py)?;
        Ok(len)
    }
}

impl IndexedFile {
    fn short(&self, mut at: u64, out: &mut [u8], signals: &Signals) -> Result<(), Error> {
        for piece in out.chunks_mut(PIECE) {
            self.reader.read_exact_at(at, piece)?;
            at = end_of(at, piece.len())?;
            signals.check()?;
        }
        Ok(())
    }

    /// Reads a long range in order, so that several threads decode its chunks.
    fn long(&self, at: u64, out: &mut [u8], signals: &Signals) -> Result<(), Error> {
        let end = end_of(at, out.len())?;
        let mut decoder = Decoder::from_source(
            Arc::new(Arc::clone(&self.source)),
            0,
            Options::new()
                .threads(self.threads)
                .allow_unterminated(true)
                .range(at..end),
        )?;
        let mut done = 0;
        while let Some(rest) = out.get_mut(done..).filter(|rest| !rest.is_empty()) {
            match decoder.read(rest)? {
                0 => {
                    return Err(Error::bug(format!(
                        "content ends at {done} of {}",
                        out.len()
                    )));
                }
                len => done += len,
            }
            signals.check()?;
        }
        Ok(())
    }
}

/// The position `len` bytes after `at`.
fn end_of(at: u64, len: usize) -> Result<u64, Error> {
    let len = u64::try_from(len).ok();
    len.and_then(|len| at.checked_add(len))
        .ok_or_else(|| Error::bug(format!("a position after {at}")))
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
