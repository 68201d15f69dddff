//! The native half of the Python module `bloscpack`: thin, private bindings. The Python half adds names, defaults and
//! documentation.
//!
//! The interpreter lock is released during work. Bytes are passed as NumPy arrays of `uint8`, so results are decoded
//! directly into the caller's array.
#![forbid(unsafe_code)]

mod array;
mod arrow;
mod chunk;
mod container;
mod convert;
mod error;
mod file;
mod indexed;
mod options;
mod records;
mod remote;
mod rows;
mod stream;
mod table;
mod work;

use pyo3::prelude::*;

/// The native half of `bloscpack`. Use the functions and classes of `bloscpack` itself.
#[pymodule(gil_used = false)]
fn _native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("VERSION", env!("CARGO_PKG_VERSION"))?;
    module.add_class::<array::Array>()?;
    module.add_class::<table::Table>()?;
    module.add_class::<rows::RowReader>()?;
    module.add_class::<stream::Encoder>()?;
    module.add_class::<stream::Decoder>()?;
    module.add_class::<indexed::IndexedFile>()?;
    module.add_class::<records::RecordFile>()?;
    module.add_class::<records::RecordStream>()?;
    module.add_class::<records::RecordBatches>()?;
    module.add_class::<records::RecordSink>()?;
    module.add_function(wrap_pyfunction!(chunk::compress_chunk, module)?)?;
    module.add_function(wrap_pyfunction!(chunk::decompress_chunk_into, module)?)?;
    module.add_function(wrap_pyfunction!(chunk::chunk_header, module)?)?;
    module.add_function(wrap_pyfunction!(container::kind, module)?)?;
    module.add_function(wrap_pyfunction!(container::role, module)?)?;
    module.add_function(wrap_pyfunction!(remote::is_url, module)?)?;
    module.add_function(wrap_pyfunction!(container::is_table, module)?)?;
    module.add_function(wrap_pyfunction!(container::info, module)?)?;
    module.add_function(wrap_pyfunction!(container::verify, module)?)?;
    module.add_function(wrap_pyfunction!(container::recover, module)?)?;
    module.add_function(wrap_pyfunction!(convert::convert, module)?)?;
    module.add_function(wrap_pyfunction!(convert::refs, module)?)?;
    module.add_function(wrap_pyfunction!(container::members, module)?)?;
    module.add_function(wrap_pyfunction!(container::walk, module)?)?;
    module.add_function(wrap_pyfunction!(container::ending, module)?)?;
    module.add_function(wrap_pyfunction!(arrow::write_stream, module)?)?;
    module.add_function(wrap_pyfunction!(records::append_records, module)?)?;
    module.add_function(wrap_pyfunction!(indexed::append_file, module)?)?;
    Ok(())
}
