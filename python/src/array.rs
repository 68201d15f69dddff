//! Arrays of datasets and frames.

use crate::arrow::{Place, Rows};
use crate::container::opened;
use crate::error::{OrRaise, usage};
use crate::options::{compressor, filter};
use crate::work::Signals;
use bloscpack::dtype::DType;
use bloscpack::storage::Memory;
use bloscpack::{Error, Options};
use bloscpack_open::array::{Array as Elements, Region, first_len};
use bloscpack_open::datasets::{CArray, CArrayBuilder, Dataset, DatasetLayout};
use bloscpack_open::{Container, Inner};
use numpy::{PyReadonlyArray1, PyReadwriteArray1};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::sync::RwLockExt;
use pyo3::types::{PyCapsule, PyDict, PyTuple};
use std::ops::Range;
use std::path::PathBuf;
use std::sync::{Arc, RwLock, RwLockReadGuard, RwLockWriteGuard};

/// Bytes that are read between two checks for signals.
const PIECE: u64 = 32 << 20;

/// The options for a new array.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct ArrayOptions {
    /// The dtype as in the header of `.npy` files.
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

/// An open array.
pub enum Opened {
    /// An array of a dataset that is being written, or in memory.
    Stored(Box<CArray>),
    /// An array of any kind, for reading.
    Any(Box<dyn Container>),
}

impl Opened {
    /// The array to read.
    pub fn elements(&self) -> Result<Box<dyn Elements + '_>, Error> {
        match self {
            Self::Stored(array) => Ok(Box::new(&**array)),
            Self::Any(container) => container.array(None)?.ok_or_else(only_rows),
        }
    }
}

/// The error for an array that can only be read as rows.
pub fn only_rows() -> Error {
    Error::usage("its rows are not the elements of an array").with_hint("use open_rows")
}

/// An array in a directory, a frame or in memory.
#[pyclass(frozen, module = "bloscpack._native")]
pub struct Array(Arc<RwLock<Option<Opened>>>);

/// Opens a dataset in a directory for writing.
pub fn dataset(py: Python<'_>, object: &Bound<'_, PyAny>, threads: usize) -> PyResult<Dataset> {
    let options = Options::new().threads(threads);
    let path: PathBuf = object.extract()?;
    let opened = py.detach(|| {
        let opened = Dataset::edit_with(&path, &options);
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

/// The same facts about an array of any kind.
pub fn facts_of<'py>(
    py: Python<'py>,
    array: &dyn Elements,
    layout: &str,
) -> PyResult<Bound<'py, PyDict>> {
    let (facts, grid) = (PyDict::new(py), array.grid());
    let itemsize = array.dtype().itemsize();
    facts.set_item("dtype", array.dtype().descr().or_raise(py)?)?;
    facts.set_item("shape", grid.shape().to_vec())?;
    facts.set_item("chunks", grid.chunk_shape().to_vec())?;
    facts.set_item("nbytes", Region::all(grid.shape()).bytes(itemsize))?;
    facts.set_item("nchunks", grid.count())?;
    facts.set_item("layout", layout)?;
    Ok(facts)
}

/// The layout of a dataset, or the kind of any other input.
pub fn layout_of(container: &dyn Container) -> Result<&'static str, Error> {
    let outline = container.outline()?;
    Ok(outline.layout.unwrap_or(outline.kind.name()))
}

/// The ranges of a box, from its two corners.
pub fn ranges(start: &[u64], stop: &[u64]) -> Vec<Range<u64>> {
    start
        .iter()
        .zip(stop)
        .map(|(start, stop)| *start..*stop)
        .collect()
}

/// Reads a box, and checks for signals at times.
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
    /// Opens an array of any kind for reading, or an array of a dataset in a directory for writing.
    #[staticmethod]
    fn open(
        py: Python<'_>,
        object: &Bound<'_, PyAny>,
        writable: bool,
        threads: usize,
    ) -> PyResult<Self> {
        if writable {
            let array = dataset(py, object, threads)?.into_array().or_raise(py)?;
            return Ok(Self::of(Opened::Stored(Box::new(array))));
        }
        let inner = Opened::Any(opened(py, object, &Options::new().threads(threads))?);
        py.detach(|| inner.elements().map(drop)).or_raise(py)?;
        Ok(Self::of(inner))
    }

    /// Creates an array of a dataset in a directory or in memory.
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
        Ok(Self::of(Opened::Stored(Box::new(array.or_raise(py)?))))
    }

    fn facts<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let guard = self.reading(py)?;
        match open(py, &guard)? {
            Opened::Stored(array) => facts(py, array),
            Opened::Any(container) => match container.inner() {
                Inner::Array(array) => facts(py, array),
                _ => {
                    let array = container.array(None).or_raise(py)?;
                    let array = array.ok_or_else(only_rows).or_raise(py)?;
                    facts_of(py, &*array, layout_of(&**container).or_raise(py)?)
                }
            },
        }
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
        let array = open(py, &guard)?.elements().or_raise(py)?;
        let rows = first_len(array.grid().chunk_shape());
        read_box(py, &slice, rows, out, |slice, out| {
            array.read_slice_into(slice, out)
        })
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

    /// Closes the array. Changes that were not flushed are lost.
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        let mut guard = self.writing(py)?;
        let array = guard.take();
        py.detach(|| drop(array));
        Ok(())
    }

    /// The Arrow schema capsule for these columns, as a table or as the values of one column.
    fn arrow_schema<'py>(
        &self,
        py: Python<'py>,
        names: Option<Vec<String>>,
        as_table: bool,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        self.rows_of(names, as_table).schema_capsule(py)
    }

    /// An Arrow stream capsule with these columns and rows.
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

    /// The Arrow array capsules with the first rows of one column.
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
            Opened::Stored(array) => Ok(array.attributes().text().to_owned()),
            Opened::Any(container) => {
                let user = container.attributes(None).or_raise(py)?;
                Ok(user.attributes.text().to_owned())
            }
        }
    }

    fn set_attribute(&self, py: Python<'_>, key: &str, json: &str) -> PyResult<()> {
        self.change(py, |array| array.set_attribute_text(key, json))
    }

    fn remove_attribute(&self, py: Python<'_>, key: &str) -> PyResult<bool> {
        self.change(py, |array| array.remove_attribute(key))
    }
}

fn open<'a>(py: Python<'_>, inner: &'a Option<Opened>) -> PyResult<&'a Opened> {
    inner
        .as_ref()
        .map_or_else(|| usage(py, "the array is closed"), Ok)
}

impl Array {
    fn of(inner: Opened) -> Self {
        Self(Arc::new(RwLock::new(Some(inner))))
    }

    fn rows_of(&self, names: Option<Vec<String>>, as_table: bool) -> Rows {
        Rows {
            place: Place::Array(Arc::clone(&self.0)),
            names,
            as_table,
        }
    }

    fn reading(&self, py: Python<'_>) -> PyResult<RwLockReadGuard<'_, Option<Opened>>> {
        self.0
            .read_py_attached(py)
            .map_err(|_| poisoned())
            .or_raise(py)
    }

    fn writing(&self, py: Python<'_>) -> PyResult<RwLockWriteGuard<'_, Option<Opened>>> {
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
                Some(Opened::Stored(array)) => work(array),
                Some(Opened::Any(_)) => Err(Error::usage("the array is open for reading only")),
                None => Err(Error::usage("the array is closed")),
            }
        });
        changed.or_raise(py)
    }
}

fn poisoned() -> Error {
    Error::bug("an array that panicked")
}
