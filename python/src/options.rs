//! The options of encoders, as the Python half passes them.

use crate::error::OrRaise;
use bloscpack::edit::{Editor, EditorBuilder};
use bloscpack::records::{RecordWriter, RecordWriterBuilder};
use bloscpack::{Checksum, Compressor, Encoder, EncoderBuilder, Filter, Metadata, Options};
use pyo3::prelude::*;

/// The options of an encoder; `None` for a default.
#[derive(FromPyObject, Default)]
#[pyo3(from_item_all)]
pub struct EncoderOptions {
    cname: Option<String>,
    clevel: Option<u8>,
    shuffle: Option<u8>,
    typesize: Option<u8>,
    chunk_size: Option<u32>,
    checksum: Option<String>,
    offsets: Option<bool>,
    /// The metadata as JSON.
    metadata: Option<String>,
    max_app_chunks: Option<u64>,
    pub size: Option<u64>,
    threads: Option<usize>,
    packed: Option<u32>,
    interactive: Option<bool>,
}

pub fn compressor(py: Python<'_>, name: &str) -> PyResult<Compressor> {
    name.parse::<Compressor>().map_err(|error| usage(py, error))
}

pub fn filter(py: Python<'_>, shuffle: u8) -> PyResult<Filter> {
    match shuffle {
        0 => Ok(Filter::None),
        1 => Ok(Filter::Byte),
        2 => Ok(Filter::Bit),
        _ => Err(usage(py, "shuffle must be 0 (none), 1 (bytes) or 2 (bits)")),
    }
}

pub fn checksum(py: Python<'_>, name: &str) -> PyResult<Checksum> {
    name.parse::<Checksum>().map_err(|error| usage(py, error))
}

pub fn usage(py: Python<'_>, error: impl std::fmt::Display) -> PyErr {
    crate::error::raised(py, bloscpack::Error::usage(error.to_string()))
}

/// Applies the options that are set.
macro_rules! apply {
    ($builder:expr, $($method:ident: $value:expr),* $(,)?) => {{
        let mut builder = $builder;
        $(if let Some(value) = $value { builder = builder.$method(value); })*
        builder
    }};
}

impl EncoderOptions {
    pub fn encoder(self, py: Python<'_>) -> PyResult<EncoderBuilder> {
        let metadata = self.metadata.map(Metadata::from_json).transpose();
        Ok(apply!(Encoder::builder(),
            compressor: self.cname.map(|name| compressor(py, &name)).transpose()?,
            level: self.clevel,
            filter: self.shuffle.map(|shuffle| filter(py, shuffle)).transpose()?,
            typesize: self.typesize,
            chunk_size: self.chunk_size,
            checksum: self.checksum.map(|name| checksum(py, &name)).transpose()?,
            offsets: self.offsets,
            metadata: metadata.or_raise(py)?,
            max_app_chunks: self.max_app_chunks,
            size: self.size,
            threads: self.threads,
            interactive: self.interactive,
        ))
    }

    pub fn editor(self, py: Python<'_>) -> PyResult<EditorBuilder> {
        Ok(apply!(Editor::builder(),
            compressor: self.cname.map(|name| compressor(py, &name)).transpose()?,
            level: self.clevel,
            filter: self.shuffle.map(|shuffle| filter(py, shuffle)).transpose()?,
            typesize: self.typesize,
            options: self.threads.map(|threads| Options::new().threads(threads)),
        ))
    }

    pub fn records(self, py: Python<'_>) -> PyResult<RecordWriterBuilder> {
        let metadata = self.metadata.map(Metadata::from_json).transpose();
        Ok(apply!(RecordWriter::<std::io::Sink>::builder(),
            compressor: self.cname.map(|name| compressor(py, &name)).transpose()?,
            level: self.clevel,
            filter: self.shuffle.map(|shuffle| filter(py, shuffle)).transpose()?,
            typesize: self.typesize,
            checksum: self.checksum.map(|name| checksum(py, &name)).transpose()?,
            offsets: self.offsets,
            metadata: metadata.or_raise(py)?,
            max_app_chunks: self.max_app_chunks,
            count: self.size,
            threads: self.threads,
            packed: self.packed,
        ))
    }
}
