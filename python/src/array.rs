//! Arrays of datasets and frames.

use crate::arrow::{Place, Rows};
use crate::error::{OrRaise, raised, usage};
use crate::options::{compressor, filter};
use crate::work::Signals;
use bloscpack::dtype::DType;
use bloscpack::storage::Memory;
use bloscpack::{Error, Options, serde_json};
use bloscpack_open::datasets::{CArray, CArrayBuilder, Dataset, DatasetLayout};
use bloscpack_open::frames::{Frame, NdArray};
use numpy::{PyReadonlyArray1, PyReadwriteArray1};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::sync::RwLockExt;
use pyo3::types::{PyCapsule, PyDict, PyTuple};
use std::ops::Range;
use std::path::PathBuf;
use std::sync::{Arc, RwLock, RwLockReadGuard, RwLockWriteGuard};

/// Bytes that are read between two looks at signals.
const PIECE: u64 = 32 << 20;

/// How an array is created.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct ArrayOptions {
    /// As NumPy spells it in `.npy` files.
    dtype: String,
    row_shape: Vec<u64>,
    chunk_rows: Option<u64>,
    expected_rows: Option<u64>,
    default: Option<PyBackedBytes>,
    cname: String,
    clevel: u8,
    shuffle: u8,
}

impl ArrayOptions {
    pub fn builder(&self, py: Python<'_>) -> PyResult<CArrayBuilder> {
        let dtype = DType::parse(&self.dtype).or_raise(py)?;
        let mut builder = CArray::builder(dtype)
            .row_shape(&self.row_shape)
            .compressor(compressor(py, &self.cname)?)
            .level(self.clevel)
            .filter(filter(py, self.shuffle)?)
            .layout(DatasetLayout::Bcolz);
        if let Some(rows) = self.chunk_rows {
            builder = builder.chunk_rows(rows);
        }
        if let Some(rows) = self.expected_rows {
            builder = builder.expected_rows(rows);
        }
        if let Some(element) = &self.default {
            builder = builder.default_element(element);
        }
        Ok(builder)
    }
}

/// The open array, by its kind.
pub enum Inner {
    /// An array of a dataset.
    Rows(Box<CArray>),
    /// An array in a frame.
    Nd(Box<NdArray>),
}

/// An array in a directory, a frame or in memory.
#[pyclass(frozen, module = "bloscpack._native")]
pub struct Array(Arc<RwLock<Option<Inner>>>);

/// Opens a dataset in a directory or in a ZIP archive.
pub fn dataset(
    py: Python<'_>,
    object: &Bound<'_, PyAny>,
    writable: bool,
    threads: usize,
) -> PyResult<Dataset> {
    let options = Options::new().threads(threads);
    let Ok(path) = object.extract::<PathBuf>() else {
        let source = crate::file::source(object)?;
        return py
            .detach(|| Dataset::open_zip(source, &options))
            .or_raise(py);
    };
    let opened = py.detach(|| {
        let opened = if writable {
            Dataset::edit_with(&path, &options)
        } else {
            Dataset::open_with(&path, &options)
        };
        opened.map_err(|error| error.in_file(&path))
    });
    opened.or_raise(py)
}

/// The facts about an array of a dataset.
pub fn facts<'py>(py: Python<'py>, array: &CArray) -> PyResult<Bound<'py, PyDict>> {
    let facts = PyDict::new(py);
    facts.set_item("dtype", array.dtype().descr().or_raise(py)?)?;
    facts.set_item("shape", array.shape().to_vec())?;
    facts.set_item("chunks", array.chunk_shape().to_vec())?;
    facts.set_item("nbytes", array.nbytes())?;
    facts.set_item("cbytes", array.stated_cbytes())?;
    facts.set_item("nchunks", array.chunks())?;
    facts.set_item("layout", array.layout().name())?;
    facts.set_item("default", array.default_element())?;
    Ok(facts)
}

/// Ranges of a box from its two corners.
pub fn ranges(start: &[u64], stop: &[u64]) -> Vec<Range<u64>> {
    start
        .iter()
        .zip(stop)
        .map(|(start, stop)| *start..*stop)
        .collect()
}

/// Reads a box, and looks at signals now and then.
pub fn read_box(
    py: Python<'_>,
    slice: &[Range<u64>],
    chunk_rows: u64,
    out: &mut [u8],
    read: impl Fn(&[Range<u64>], &mut [u8]) -> Result<(), Error> + Send + Sync,
) -> PyResult<()> {
    let Some((rows, rest)) = slice.split_first() else {
        return py.detach(|| read(slice, out)).or_raise(py);
    };
    let count = rows.end.saturating_sub(rows.start);
    let bytes = u64::try_from(out.len())?;
    let row = bytes.checked_div(count).unwrap_or(0);
    let step = PIECE.checked_div(row).unwrap_or(count).max(1);
    let chunk = chunk_rows.max(1);
    let step = step.div_ceil(chunk).saturating_mul(chunk).max(1);
    if count <= step {
        return py.detach(|| read(slice, out)).or_raise(py);
    }
    let signals = Signals::new();
    let whole = usize::try_from(row)?;
    py.detach(|| {
        let (mut from, mut left) = (rows.start, out);
        while from < rows.end {
            let to = (from / chunk * chunk).saturating_add(step).min(rows.end);
            let len = usize::try_from(to - from)
                .ok()
                .and_then(|rows| rows.checked_mul(whole));
            let split = left.split_at_mut_checked(len.unwrap_or(usize::MAX));
            let (piece, after) = split.ok_or_else(|| Error::bug("a box of another length"))?;
            let part = std::iter::once(from..to).chain(rest.iter().cloned());
            read(&part.collect::<Vec<_>>(), piece)?;
            signals.check()?;
            (from, left) = (to, after);
        }
        Ok::<_, Error>(())
    })
    .or_raise(py)
}

#[pymethods]
impl Array {
    /// Opens an array of a dataset: a path to a directory or a ZIP archive, or the bytes or a file object of an archive.
    #[staticmethod]
    fn open(
        py: Python<'_>,
        object: &Bound<'_, PyAny>,
        writable: bool,
        threads: usize,
    ) -> PyResult<Self> {
        let array = dataset(py, object, writable, threads)?;
        let array = array.into_array().or_raise(py)?;
        Ok(Self::of(Inner::Rows(Box::new(array))))
    }

    /// Opens the array in a frame: a path, or the bytes of the frame.
    #[staticmethod]
    fn open_frame(py: Python<'_>, object: &Bound<'_, PyAny>, threads: usize) -> PyResult<Self> {
        let options = Options::new().threads(threads);
        let frame: Result<Frame, Error> = match object.extract::<PathBuf>() {
            Ok(path) => py
                .detach(|| Frame::open_with(&path, &options).map_err(|error| error.in_file(&path))),
            Err(_) => {
                let source = crate::file::source(object)?;
                py.detach(|| Frame::read_with(source, &options))
            }
        };
        let array = frame.and_then(NdArray::of).or_raise(py)?;
        Ok(Self::of(Inner::Nd(Box::new(array))))
    }

    /// Creates an array of a dataset, in a directory or in memory.
    #[staticmethod]
    fn create(
        py: Python<'_>,
        path: Option<PathBuf>,
        options: ArrayOptions,
        replace: bool,
        threads: usize,
    ) -> PyResult<Self> {
        let builder = options
            .builder(py)?
            .replace(replace)
            .options(Options::new().threads(threads));
        let array = py.detach(|| match &path {
            Some(path) => builder.create(path).map_err(|error| error.in_file(path)),
            None => builder.create_in(Memory::new()),
        });
        Ok(Self::of(Inner::Rows(Box::new(array.or_raise(py)?))))
    }

    fn facts<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let guard = self.reading(py)?;
        let array = match open(py, &guard)? {
            Inner::Rows(array) => return facts(py, array),
            Inner::Nd(array) => array,
        };
        let facts = PyDict::new(py);
        let itemsize = array.itemsize();
        let unknown = || Ok(format!("'|V{itemsize}'"));
        let dtype = array.dtype().map_or_else(unknown, |dtype| dtype.descr());
        facts.set_item("dtype", dtype.or_raise(py)?)?;
        facts.set_item("shape", array.shape().to_vec())?;
        facts.set_item("chunks", array.chunk_shape().to_vec())?;
        facts.set_item("blocks", array.block_shape().to_vec())?;
        facts.set_item("nbytes", array.nbytes())?;
        facts.set_item("nchunks", array.frame().chunks())?;
        facts.set_item("layout", format!("{:?}", array.kind()).to_lowercase())?;
        Ok(facts)
    }

    /// Decodes a box of elements into an array of bytes.
    fn read(
        &self,
        py: Python<'_>,
        start: Vec<u64>,
        stop: Vec<u64>,
        mut out: PyReadwriteArray1<'_, u8>,
    ) -> PyResult<()> {
        let slice = ranges(&start, &stop);
        let out = out.as_slice_mut()?;
        let guard = self.reading(py)?;
        match open(py, &guard)? {
            Inner::Rows(array) => {
                let rows = array.chunk_shape().first().copied().unwrap_or(1);
                read_box(py, &slice, rows, out, |slice, out| {
                    array.read_slice_into(slice, out)
                })
            }
            Inner::Nd(array) => {
                let rows = array.chunk_shape().first().copied().unwrap_or(1).into();
                read_box(py, &slice, rows, out, |slice, out| {
                    array.read_slice_into(slice, out)
                })
            }
        }
    }

    fn write(
        &self,
        py: Python<'_>,
        start: Vec<u64>,
        stop: Vec<u64>,
        data: PyReadonlyArray1<'_, u8>,
    ) -> PyResult<()> {
        let data = data.as_slice()?;
        self.change(py, |array| array.set_slice(&ranges(&start, &stop), data))
    }

    fn append(&self, py: Python<'_>, data: PyReadonlyArray1<'_, u8>) -> PyResult<()> {
        let data = data.as_slice()?;
        self.change(py, |array| array.append(data))
    }

    fn resize(&self, py: Python<'_>, rows: u64) -> PyResult<()> {
        self.change(py, |array| array.resize(rows))
    }

    fn flush(&self, py: Python<'_>) -> PyResult<()> {
        self.change(py, CArray::flush)
    }

    /// Drops the array, and what was not flushed.
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        let mut guard = self.writing(py)?;
        let array = guard.take();
        py.detach(|| drop(array));
        Ok(())
    }

    /// The capsule of Arrow's schema of these columns: of a table, or of the values of one.
    fn arrow_schema<'py>(
        &self,
        py: Python<'py>,
        names: Option<Vec<String>>,
        as_table: bool,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        self.rows_of(names, as_table).schema_capsule(py)
    }

    /// The capsule of a stream of Arrow's, with these columns and rows.
    fn arrow_stream<'py>(
        &self,
        py: Python<'py>,
        names: Option<Vec<String>>,
        as_table: bool,
        rows: (u64, u64),
        requested: Option<Bound<'py, PyCapsule>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        let stream = self.rows_of(names, as_table);
        stream.stream(py, rows.0..rows.1, requested)
    }

    /// The capsules of an array of Arrow's with the first rows of one column.
    fn arrow_array<'py>(
        &self,
        py: Python<'py>,
        names: Option<Vec<String>>,
        rows: u64,
        requested: Option<Bound<'py, PyCapsule>>,
    ) -> PyResult<Bound<'py, PyTuple>> {
        self.rows_of(names, false).array(py, rows, requested)
    }

    /// All attributes, as JSON.
    fn attributes(&self, py: Python<'_>) -> PyResult<String> {
        let guard = self.reading(py)?;
        match open(py, &guard)? {
            Inner::Rows(array) => Ok(array.attributes().text().to_owned()),
            Inner::Nd(_) => Ok("{}".to_owned()),
        }
    }

    fn set_attribute(&self, py: Python<'_>, key: &str, json: &str) -> PyResult<()> {
        let value = parsed(py, json)?;
        self.change(py, |array| array.set_attribute(key, &value))
    }

    fn remove_attribute(&self, py: Python<'_>, key: &str) -> PyResult<bool> {
        self.change(py, |array| array.remove_attribute(key))
    }
}

/// The value of an attribute.
pub fn parsed(py: Python<'_>, json: &str) -> PyResult<serde_json::Value> {
    serde_json::from_str(json)
        .map_err(|error| raised(py, Error::usage(format!("not a value of JSON: {error}"))))
}

fn open<'a>(py: Python<'_>, inner: &'a Option<Inner>) -> PyResult<&'a Inner> {
    inner
        .as_ref()
        .map_or_else(|| usage(py, "the array is closed"), Ok)
}

impl Array {
    fn of(inner: Inner) -> Self {
        Self(Arc::new(RwLock::new(Some(inner))))
    }

    fn rows_of(&self, names: Option<Vec<String>>, as_table: bool) -> Rows {
        Rows {
            place: Place::Array(Arc::clone(&self.0)),
            names,
            as_table,
        }
    }

    fn reading(&self, py: Python<'_>) -> PyResult<RwLockReadGuard<'_, Option<Inner>>> {
        self.0
            .read_py_attached(py)
            .map_err(|_| poisoned())
            .or_raise(py)
    }

    fn writing(&self, py: Python<'_>) -> PyResult<RwLockWriteGuard<'_, Option<Inner>>> {
        self.0
            .write_py_attached(py)
            .map_err(|_| poisoned())
            .or_raise(py)
    }

    fn change<T: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut CArray) -> Result<T, Error> + Send,
    ) -> PyResult<T> {
        let changed = py.detach(|| {
            let mut guard = self.0.write().map_err(|_| poisoned())?;
            match guard.as_mut() {
                Some(Inner::Rows(array)) => work(array),
                Some(Inner::Nd(_)) => Err(Error::usage("frames are open for reading only")),
                None => Err(Error::usage("the array is closed")),
            }
        });
        changed.or_raise(py)
    }
}

fn poisoned() -> Error {
    Error::bug("an array that panicked")
}
