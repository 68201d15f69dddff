//! Encoders and decoders over file objects.

use crate::error::{OrRaise, usage};
use crate::file::{PyFile, Target};
use crate::options::Options;
use crate::work::Signals;
use bloscpack::{Decoder as BloscpackDecoder, Encoder as StreamEncoder, Error, SeekEncoder};
use numpy::{PyReadonlyArray1, PyReadwriteArray1};
use pyo3::prelude::*;
use std::fs::OpenOptions;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

/// Bytes that are processed between two looks at signals.
const PIECE: usize = 256 << 10;

enum Sink {
    Stream(Box<StreamEncoder<PyFile>>),
    Seek(Box<SeekEncoder<Box<dyn Target>>>),
}

/// Compresses what is written into a Bloscpack file.
#[pyclass(frozen, module = "bloscpack._native")]
pub struct Encoder(Mutex<Option<Sink>>);

#[pymethods]
impl Encoder {
    /// `target` is a path, or a file object. With `seekable` the table of offsets is written at the end.
    #[new]
    fn new(
        py: Python<'_>,
        target: &Bound<'_, PyAny>,
        seekable: bool,
        options: Options,
    ) -> PyResult<Self> {
        let builder = options.encoder(py)?;
        let sink = if !seekable {
            let encoder = builder.write_to(PyFile::new(target.clone()));
            Sink::Stream(Box::new(encoder.or_raise(py)?))
        } else {
            let target: Box<dyn Target> = match target.hasattr("write")? {
                true => Box::new(PyFile::new(target.clone())),
                false => Box::new(new_file(py, &target.extract::<PathBuf>()?)?),
            };
            Sink::Seek(Box::new(builder.write_to_file(target).or_raise(py)?))
        };
        Ok(Self(Mutex::new(Some(sink))))
    }

    fn write(&self, py: Python<'_>, data: PyReadonlyArray1<'_, u8>) -> PyResult<()> {
        let data = data.as_slice()?;
        for piece in data.chunks(PIECE) {
            let written = py.detach(|| {
                self.with(|sink| match sink {
                    Sink::Stream(encoder) => encoder.write_all(piece),
                    Sink::Seek(encoder) => encoder.write_all(piece),
                })
            });
            written.or_raise(py)?;
            py.check_signals()?;
        }
        Ok(())
    }

    fn flush(&self, py: Python<'_>) -> PyResult<()> {
        let flushed = py.detach(|| {
            self.with(|sink| match sink {
                Sink::Stream(encoder) => encoder.flush(),
                Sink::Seek(encoder) => encoder.flush(),
            })
        });
        flushed.or_raise(py)
    }

    /// Ends without completing the file. The chunks that are being compressed are not waited for.
    fn abandon(&self) {
        let sink = self.0.lock().ok().and_then(|mut sink| sink.take());
        std::thread::spawn(move || drop(sink));
    }

    /// Completes the file. Nothing else does.
    fn finish(&self, py: Python<'_>) -> PyResult<()> {
        let Some(sink) = self.0.lock().ok().and_then(|mut sink| sink.take()) else {
            return usage(py, "the writer is closed");
        };
        let finished = py.detach(|| match sink {
            Sink::Stream(encoder) => encoder.finish()?.flush().map_err(Error::from),
            Sink::Seek(encoder) => encoder.finish()?.flush().map_err(Error::from),
        });
        finished.or_raise(py)
    }
}

impl Encoder {
    fn with(&self, work: impl FnOnce(&mut Sink) -> std::io::Result<()>) -> Result<(), Error> {
        let mut sink = self
            .0
            .lock()
            .map_err(|_| Error::bug("a writer that panicked"))?;
        let sink = sink
            .as_mut()
            .ok_or_else(|| Error::usage("the writer is closed"))?;
        Ok(work(sink)?)
    }
}

fn new_file(py: Python<'_>, path: &Path) -> PyResult<std::fs::File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(true);
    let opened = options.open(path);
    opened
        .map_err(|error| Error::from(error).in_file(path))
        .or_raise(py)
}

/// Decompresses a file object from its position on.
#[pyclass(frozen, module = "bloscpack._native")]
pub struct Decoder(Mutex<BloscpackDecoder<PyFile>>);

#[pymethods]
impl Decoder {
    #[new]
    fn new(source: &Bound<'_, PyAny>, threads: usize, unended: bool) -> Self {
        let decoder = BloscpackDecoder::builder()
            .threads(threads)
            .allow_unterminated(unended)
            .read_from(PyFile::new(source.clone()));
        Self(Mutex::new(decoder))
    }

    /// Fills the array as far as there is content, and returns the number of bytes.
    fn readinto(&self, py: Python<'_>, mut out: PyReadwriteArray1<'_, u8>) -> PyResult<usize> {
        let out = out.as_slice_mut()?;
        let signals = Signals::new();
        py.detach(|| {
            let mut decoder = self
                .0
                .lock()
                .map_err(|_| Error::bug("a reader that panicked"))?;
            let mut done = 0;
            while let Some(rest) = out.get_mut(done..).filter(|rest| !rest.is_empty()) {
                let (piece, _) = rest.split_at_mut(rest.len().min(PIECE));
                match decoder.read(piece)? {
                    0 => break,
                    len => done += len,
                }
                signals.check()?;
            }
            Ok::<_, Error>(done)
        })
        .or_raise(py)
    }

    /// The metadata as JSON.
    fn metadata(&self, py: Python<'_>) -> PyResult<Option<String>> {
        py.detach(|| {
            let mut decoder = self
                .0
                .lock()
                .map_err(|_| Error::bug("a reader that panicked"))?;
            let metadata = decoder.read_metadata()?;
            Ok::<_, Error>(metadata.map(|metadata| metadata.text().to_owned()))
        })
        .or_raise(py)
    }
}
