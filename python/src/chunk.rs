//! Single Blosc chunks.

use crate::error::OrRaise;
use crate::options::{compressor, filter};
use bloscpack::blosc::{ChunkDecoder, ChunkEncoder, ChunkSettings, read_header};
use numpy::{PyReadonlyArray1, PyReadwriteArray1};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use std::cell::Cell;

/// The maximum size of the buffer that a thread keeps for its next chunk.
const KEPT: usize = 8 << 20;

/// An encoder with its buffers, and the last chunk.
struct Encoding {
    encoder: ChunkEncoder,
    chunk: Vec<u8>,
}

thread_local! {
    /// Keeps buffers between calls. A call takes it out, because a signal handler may run on this thread and compress as
    /// well.
    static ENCODING: Cell<Option<Encoding>> = const { Cell::new(None) };
    static DECODER: Cell<Option<ChunkDecoder>> = const { Cell::new(None) };
}

fn decoding<T>(threads: usize, work: impl FnOnce(&mut ChunkDecoder) -> T) -> T {
    let mut decoder = DECODER.take().unwrap_or_default();
    decoder.set_threads(threads);
    let result = work(&mut decoder);
    DECODER.set(Some(decoder));
    result
}

/// Compresses bytes into a chunk.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "they are those of Python")]
pub fn compress_chunk<'py>(
    py: Python<'py>,
    data: PyReadonlyArray1<'py, u8>,
    typesize: u8,
    clevel: u8,
    shuffle: u8,
    cname: &str,
    blocksize: Option<u32>,
    threads: usize,
) -> PyResult<Bound<'py, PyBytes>> {
    let settings = ChunkSettings::default()
        .compressor(compressor(py, cname)?)
        .level(clevel)
        .filter(filter(py, shuffle)?)
        .typesize(typesize)
        .blocksize(blocksize);
    let data = data.as_slice()?;
    let mut encoding = match ENCODING.take() {
        Some(kept) => kept,
        None => Encoding {
            encoder: ChunkEncoder::new(settings).or_raise(py)?,
            chunk: Vec::new(),
        },
    };
    py.detach(|| {
        encoding.encoder.set_settings(settings)?;
        encoding.encoder.set_threads(threads);
        encoding.chunk.clear();
        encoding.encoder.encode(data, &mut encoding.chunk)
    })
    .or_raise(py)?;
    let chunk = PyBytes::new(py, &encoding.chunk);
    if encoding.chunk.capacity() > KEPT {
        encoding.chunk = Vec::new();
    }
    ENCODING.set(Some(encoding));
    Ok(chunk)
}

/// Decompresses the content of a chunk from `start` on into an array, and returns the length of the whole content.
#[pyfunction]
pub fn decompress_chunk_into<'py>(
    py: Python<'py>,
    chunk: PyReadonlyArray1<'py, u8>,
    start: Option<u32>,
    mut out: PyReadwriteArray1<'py, u8>,
    threads: usize,
) -> PyResult<u32> {
    let (chunk, out) = (chunk.as_slice()?, out.as_slice_mut()?);
    let header = py.detach(|| {
        decoding(threads, |decoder| match start {
            Some(start) => decoder.decode_range(chunk, start, out),
            None => decoder.decode(chunk, out),
        })
    });
    Ok(header.or_raise(py)?.nbytes)
}

/// The fields of a chunk's header.
#[pyfunction]
pub fn chunk_header<'py>(
    py: Python<'py>,
    chunk: PyReadonlyArray1<'py, u8>,
) -> PyResult<Bound<'py, PyDict>> {
    let header = read_header(chunk.as_slice()?).or_raise(py)?;
    let fields = PyDict::new(py);
    fields.set_item("nbytes", header.nbytes)?;
    fields.set_item("cbytes", header.ctbytes)?;
    fields.set_item("blocksize", header.blocksize)?;
    fields.set_item("typesize", header.typesize)?;
    fields.set_item("shuffle", header.filter().name())?;
    fields.set_item(
        "cname",
        header.compressor_format().map(|format| format.name()),
    )?;
    fields.set_item("is_copy", header.is_pure_copy())?;
    Ok(fields)
}
