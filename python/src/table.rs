//! Tables of datasets.

use crate::array::{ArrayOptions, dataset, facts, parsed, ranges, read_box};
use crate::arrow::{Place, Rows};
use crate::error::OrRaise;
use bloscpack::storage::Memory;
use bloscpack::{Error, Options};
use bloscpack_open::datasets::{CTable, DatasetLayout};
use numpy::{PyReadonlyArray1, PyReadwriteArray1};
use pyo3::prelude::*;
use pyo3::sync::RwLockExt;
use pyo3::types::{PyCapsule, PyDict, PyTuple};
use std::path::PathBuf;
use std::sync::{Arc, RwLock, RwLockReadGuard};

/// A table in a directory or in memory.
#[pyclass(frozen, module = "bloscpack._native")]
pub struct Table(Arc<RwLock<CTable>>);

#[pymethods]
impl Table {
    /// Opens a table: a path to a directory or a ZIP archive, or the bytes or a file object of an archive.
    #[staticmethod]
    fn open(
        py: Python<'_>,
        object: &Bound<'_, PyAny>,
        writable: bool,
        threads: usize,
    ) -> PyResult<Self> {
        let table = dataset(py, object, writable, threads)?;
        Ok(Self::of(table.into_table().or_raise(py)?))
    }

    /// Creates a table without rows, in a directory or in memory.
    #[staticmethod]
    fn create(
        py: Python<'_>,
        path: Option<PathBuf>,
        columns: Vec<(String, ArrayOptions)>,
        replace: bool,
        threads: usize,
    ) -> PyResult<Self> {
        let mut builder = CTable::builder()
            .layout(DatasetLayout::Bcolz)
            .replace(replace)
            .options(Options::new().threads(threads));
        for (name, options) in columns {
            builder = builder.column(name, options.builder(py)?);
        }
        let table = py.detach(|| match &path {
            Some(path) => builder.create(path).map_err(|error| error.in_file(path)),
            None => builder.create_in(Memory::new()),
        });
        Ok(Self::of(table.or_raise(py)?))
    }

    fn names(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        Ok(self.reading(py)?.names().to_vec())
    }

    fn rows(&self, py: Python<'_>) -> PyResult<u64> {
        let table = self.reading(py)?;
        py.detach(|| table.rows()).or_raise(py)
    }

    /// The facts about a column.
    fn facts<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyDict>> {
        let table = self.reading(py)?;
        let column = py.detach(|| table.column(name)).or_raise(py)?;
        facts(py, column)
    }

    /// Decodes a box of elements of a column into an array of bytes.
    fn read(
        &self,
        py: Python<'_>,
        name: &str,
        start: Vec<u64>,
        stop: Vec<u64>,
        mut out: PyReadwriteArray1<'_, u8>,
    ) -> PyResult<()> {
        let out = out.as_slice_mut()?;
        let table = self.reading(py)?;
        let column = py.detach(|| table.column(name)).or_raise(py)?;
        let rows = column.chunk_shape().first().copied().unwrap_or(1);
        let slice = ranges(&start, &stop);
        read_box(py, &slice, rows, out, |slice, out| {
            column.read_slice_into(slice, out)
        })
    }

    fn write(
        &self,
        py: Python<'_>,
        name: &str,
        start: Vec<u64>,
        stop: Vec<u64>,
        data: PyReadonlyArray1<'_, u8>,
    ) -> PyResult<()> {
        let data = data.as_slice()?;
        self.change(py, |table| {
            table.set_slice(name, &ranges(&start, &stop), data)
        })
    }

    /// Appends rows, given by the bytes of each column.
    fn append(&self, py: Python<'_>, columns: Vec<PyReadonlyArray1<'_, u8>>) -> PyResult<()> {
        let columns = columns.iter().map(|column| column.as_slice());
        let columns = columns.collect::<Result<Vec<_>, _>>()?;
        self.change(py, |table| table.append(&columns))
    }

    fn resize(&self, py: Python<'_>, rows: u64) -> PyResult<()> {
        self.change(py, |table| table.resize(rows))
    }

    fn add_column(
        &self,
        py: Python<'_>,
        name: &str,
        options: ArrayOptions,
        data: PyReadonlyArray1<'_, u8>,
        position: Option<usize>,
    ) -> PyResult<()> {
        let builder = options.builder(py)?;
        let data = data.as_slice()?;
        self.change(py, |table| table.add_column(name, builder, data, position))
    }

    fn delete_column(&self, py: Python<'_>, name: &str, keep: bool) -> PyResult<()> {
        self.change(py, |table| table.delete_column(name, keep))
    }

    fn flush(&self, py: Python<'_>) -> PyResult<()> {
        self.change(py, CTable::flush)
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

    /// All attributes of the table or of a column, as JSON.
    fn attributes(&self, py: Python<'_>, name: Option<&str>) -> PyResult<String> {
        let table = self.reading(py)?;
        let attributes = match name {
            Some(name) => py.detach(|| table.column(name)).or_raise(py)?.attributes(),
            None => table.attributes(),
        };
        Ok(attributes.text().to_owned())
    }

    fn set_attribute(
        &self,
        py: Python<'_>,
        name: Option<&str>,
        key: &str,
        json: &str,
    ) -> PyResult<()> {
        let value = parsed(py, json)?;
        self.change(py, |table| match name {
            Some(name) => table.set_column_attribute(name, key, &value),
            None => table.set_attribute(key, &value),
        })
    }

    fn remove_attribute(&self, py: Python<'_>, name: Option<&str>, key: &str) -> PyResult<bool> {
        self.change(py, |table| match name {
            Some(name) => table.remove_column_attribute(name, key),
            None => table.remove_attribute(key),
        })
    }
}

impl Table {
    fn of(table: CTable) -> Self {
        Self(Arc::new(RwLock::new(table)))
    }

    fn rows_of(&self, names: Option<Vec<String>>, as_table: bool) -> Rows {
        Rows {
            place: Place::Table(Arc::clone(&self.0)),
            names,
            as_table,
        }
    }

    fn reading(&self, py: Python<'_>) -> PyResult<RwLockReadGuard<'_, CTable>> {
        self.0
            .read_py_attached(py)
            .map_err(|_| poisoned())
            .or_raise(py)
    }

    fn change<T: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut CTable) -> Result<T, Error> + Send,
    ) -> PyResult<T> {
        py.detach(|| work(&mut *self.0.write().map_err(|_| poisoned())?))
            .or_raise(py)
    }
}

fn poisoned() -> Error {
    Error::bug("a table that panicked")
}
