//! Python file objects, and paths, as sources and targets.

use crate::container::opened;
use crate::error::OrRaise;
use crate::remote::{remote, url};
use bloscpack::error::IoSide;
use bloscpack::storage::{ReadAt, SharedSource};
use bloscpack::{Error, Options};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::PyBytes;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

/// A Python file object. It may lack some of `read`, `write`, `seek` and `tell`.
pub struct PyFile(Py<PyAny>);

impl PyFile {
    pub fn new(object: Bound<'_, PyAny>) -> Self {
        Self(object.unbind())
    }
}

impl Read for PyFile {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        if buf.is_empty() {
            return Ok(0);
        }
        Python::attach(|py| {
            let read = self.0.bind(py).call_method1("read", (buf.len(),))?;
            if read.is_none() {
                return Err(io::ErrorKind::WouldBlock.into());
            }
            let bytes: PyBackedBytes = read.extract().map_err(|_| {
                PyTypeError::new_err("read() of the file object returned something else than bytes")
            })?;
            let target = buf.get_mut(..bytes.len()).ok_or_else(|| {
                PyValueError::new_err("read() of the file object returned more than was asked for")
            })?;
            target.copy_from_slice(&bytes);
            Ok(bytes.len())
        })
    }
}

impl Write for PyFile {
    fn write(&mut self, buf: &[u8]) -> io::Result<usize> {
        Python::attach(|py| {
            let file = self.0.bind(py);
            let written = file.call_method1("write", (PyBytes::new(py, buf),))?;
            // Some file-like objects return `None`.
            match written.extract::<Option<usize>>()? {
                Some(len) if len > buf.len() => {
                    Err(PyValueError::new_err("write() returned more than it was given").into())
                }
                written => Ok(written.unwrap_or(buf.len())),
            }
        })
    }

    fn flush(&mut self) -> io::Result<()> {
        Python::attach(|py| {
            let file = self.0.bind(py);
            if file.hasattr("flush")? {
                file.call_method0("flush")?;
            }
            Ok(())
        })
    }
}

impl Seek for PyFile {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        Python::attach(|py| {
            let file = self.0.bind(py);
            match to {
                SeekFrom::Start(at) => file.call_method1("seek", (at, 0))?,
                SeekFrom::Current(by) => file.call_method1("seek", (by, 1))?,
                SeekFrom::End(by) => file.call_method1("seek", (by, 2))?,
            };
            Ok(file.call_method0("tell")?.extract()?)
        })
    }
}

/// A file object that is read at any position, by one thread at a time.
pub struct PySource(Mutex<PyFile>);

impl ReadAt for PySource {
    fn read_at(&self, at: u64, buf: &mut [u8]) -> io::Result<usize> {
        let mut file = self.locked()?;
        file.seek(SeekFrom::Start(at))?;
        file.read(buf)
    }

    fn size(&self) -> io::Result<u64> {
        self.locked()?.seek(SeekFrom::End(0))
    }
}

impl PySource {
    fn locked(&self) -> io::Result<std::sync::MutexGuard<'_, PyFile>> {
        let poisoned = |_| io::Error::other("another thread panicked while it used the file");
        self.0.lock().map_err(poisoned)
    }
}

/// Opens a path, a URL, the bytes of a file, or a seekable file object as a source. A path or URL may lead into an archive.
pub fn source(object: &Bound<'_, PyAny>) -> PyResult<SharedSource> {
    let py = object.py();
    if let Ok(bytes) = object.extract::<PyBackedBytes>() {
        return Ok(Arc::new(Bytes(bytes)));
    }
    if object.hasattr("read")? {
        return Ok(Arc::new(PySource(Mutex::new(PyFile::new(object.clone())))));
    }
    let found: Result<SharedSource, Error> = if let Some(url) = url(object) {
        let remote = remote(py)?;
        let object = py.detach(|| remote.object(&url)).reading();
        object.map(|object| Arc::new(object) as SharedSource)
    } else {
        let path: PathBuf = object.extract()?;
        let file = File::open(&path).reading();
        let file = file.map(|file| Arc::new(file) as SharedSource);
        file.map_err(|error| error.in_file(path))
    };
    let within = |error| {
        let opened = opened(py, object, &Options::new()).ok();
        opened
            .and_then(|opened| opened.source().cloned())
            .ok_or(error)
    };
    found.or_else(within).or_raise(py)
}

/// The bytes of a Python object.
struct Bytes(PyBackedBytes);

impl ReadAt for Bytes {
    fn read_at(&self, at: u64, buf: &mut [u8]) -> io::Result<usize> {
        let bytes: &[u8] = &self.0;
        bytes.read_at(at, buf)
    }

    fn size(&self) -> io::Result<u64> {
        let bytes: &[u8] = &self.0;
        bytes.size()
    }
}

/// The target of an encoder: a file object, or the existing, empty file at a path.
pub fn target(object: &Bound<'_, PyAny>) -> PyResult<Box<dyn Target>> {
    if object.hasattr("write")? {
        return Ok(Box::new(PyFile::new(object.clone())));
    }
    let path: PathBuf = object.extract()?;
    let mut options = File::options();
    let file = options.read(true).write(true).open(&path);
    let file = file.map_err(|error| Error::from(error).in_file(&path));
    Ok(Box::new(file.or_raise(object.py())?))
}

/// A target that can also be read, if the file object can.
pub trait Target: Read + Write + Seek + Send {}

impl<T: Read + Write + Seek + Send> Target for T {}
