//! Encoders and decoders over file objects.

use crate::error::OrRaise;
use crate::file::{PyFile, Target, target};
use crate::options::EncoderOptions;
use crate::work::{Own, Signals};
use bloscpack::{
    Decoder as BloscpackDecoder, Encoder as StreamEncoder, Error, Options, SeekEncoder,
};
use numpy::{PyReadonlyArray1, PyReadwriteArray1};
use pyo3::prelude::*;
use std::io::{Read, Write};

/// Bytes that are processed between two checks for signals.
const PIECE: usize = 256 << 10;

enum Sink {
    Stream(Box<StreamEncoder<PyFile>>),
    Seek(Box<SeekEncoder<Box<dyn Target>>>),
}

/// Compresses data into a Bloscpack file.
#[pyclass(frozen, module = "bloscpack._native")]
pub struct Encoder(Own<Sink>);

#[pymethods]
impl Encoder {
    /// `object` is the path of an existing, empty file, or a file object. If `seekable`, the offset table is written at the
    /// end.
    #[new]
    fn new(
        py: Python<'_>,
        object: &Bound<'_, PyAny>,
        seekable: bool,
        options: EncoderOptions,
    ) -> PyResult<Self> {
        let builder = options.encoder(py)?;
        let sink = if !seekable {
            let encoder = builder.write_to(PyFile::new(object.clone()));
            Sink::Stream(Box::new(encoder.or_raise(py)?))
        } else {
            let encoder = builder.write_to_file(target(object)?);
            Sink::Seek(Box::new(encoder.or_raise(py)?))
        };
        Ok(Self(Own::new(sink)))
    }

    fn write(&self, py: Python<'_>, data: PyReadonlyArray1<'_, u8>) -> PyResult<()> {
        let data = data.as_slice()?;
        for piece in data.chunks(PIECE) {
            let written = py.detach(|| {
                self.0.with(|sink| match sink {
                    Sink::Stream(encoder) => Ok(encoder.write_all(piece)?),
                    Sink::Seek(encoder) => Ok(encoder.write_all(piece)?),
                })
            });
            written.or_raise(py)?;
            py.check_signals()?;
        }
        Ok(())
    }

    fn flush(&self, py: Python<'_>) -> PyResult<()> {
        let flushed = py.detach(|| {
            self.0.with(|sink| match sink {
                Sink::Stream(encoder) => Ok(encoder.flush()?),
                Sink::Seek(encoder) => Ok(encoder.flush()?),
            })
        });
        flushed.or_raise(py)
    }

    /// Closes without completing the file, and does not wait for chunks that are being compressed.
    fn abandon(&self) {
        if let Ok(sink) = self.0.take() {
            std::thread::spawn(move || drop(sink));
        }
    }

    /// Completes the file. No other method does.
    fn finish(&self, py: Python<'_>) -> PyResult<()> {
        let sink = self.0.take().or_raise(py)?;
        let finished = py.detach(|| match sink {
            Sink::Stream(encoder) => encoder.finish()?.flush().map_err(Error::from),
            Sink::Seek(encoder) => encoder.finish()?.flush().map_err(Error::from),
        });
        finished.or_raise(py)
    }
}

/// Decompresses a file object, from its current position on.
#[pyclass(frozen, module = "bloscpack._native")]
pub struct Decoder(Own<BloscpackDecoder<PyFile>>);

#[pymethods]
impl Decoder {
    #[new]
    fn new(source: &Bound<'_, PyAny>, threads: usize, unended: bool) -> Self {
        let options = Options::new().threads(threads).allow_unterminated(unended);
        let decoder = BloscpackDecoder::with_options(PyFile::new(source.clone()), options);
        Self(Own::new(decoder))
    }

    /// Fills the array up to the end of the content, and returns the number of bytes.
    fn readinto(&self, py: Python<'_>, mut out: PyReadwriteArray1<'_, u8>) -> PyResult<usize> {
        let out = out.as_slice_mut()?;
        let signals = Signals::new();
        py.detach(|| {
            self.0.with(|decoder| {
                let mut done = 0;
                while let Some(rest) = out.get_mut(done..).filter(|rest| !rest.is_empty()) {
                    let (piece, _) = rest.split_at_mut(rest.len().min(PIECE));
                    match decoder.read(piece)? {
                        0 => break,
                        len => done += len,
                    }
                    signals.check()?;
                }
                Ok(done)
            })
        })
        .or_raise(py)
    }

    /// The metadata as JSON.
    fn metadata(&self, py: Python<'_>) -> PyResult<Option<String>> {
        let metadata = |decoder: &mut BloscpackDecoder<PyFile>| {
            let metadata = decoder.read_metadata()?;
            Ok(metadata.map(|metadata| metadata.text().to_owned()))
        };
        py.detach(|| self.0.with(metadata)).or_raise(py)
    }
}
