//! Tables of datasets.

use crate::array::{
    ArrayOptions, dataset, facts, facts_of, layout_of, only_rows, ranges, read_box,
};
use crate::arrow::{Place, Rows};
use crate::container::opened;
use crate::error::{OrRaise, usage};
use bloscpack::storage::Memory;
use bloscpack::{Error, Options};
use bloscpack_open::array::{Array as Elements, first_len};
use bloscpack_open::datasets::{CTable, DatasetLayout};
use bloscpack_open::exchange::BoxedSource;
use bloscpack_open::{Bounds, Container, Inner, Part, Selection};
use numpy::{PyReadonlyArray1, PyReadwriteArray1};
use pyo3::prelude::*;
use pyo3::sync::RwLockExt;
use pyo3::types::{PyBytes, PyCapsule, PyDict, PyTuple};
use std::ops::Range;
use std::path::PathBuf;
use std::sync::{Arc, RwLock, RwLockReadGuard};

/// An open table.
pub enum Opened {
    /// A table of a dataset that is being written, or in memory.
    Stored(Box<CTable>),
    /// A table of any kind, for reading.
    Any(Box<dyn Container>),
}

impl Opened {
    fn names(&self) -> Result<Vec<String>, Error> {
        match self {
            Self::Stored(table) => Ok(table.names().to_vec()),
            Self::Any(container) => {
                let names = container.outline()?.columns;
                names.ok_or_else(|| Error::usage("this is not a table"))
            }
        }
    }

    fn rows(&self) -> Result<u64, Error> {
        match self {
            Self::Stored(table) => table.rows(),
            Self::Any(container) => container.columns(&Selection::default())?.known_rows(),
        }
    }

    fn column(&self, name: &str) -> Result<Box<dyn Elements + '_>, Error> {
        match self {
            Self::Stored(table) => Ok(Box::new(table.column(name)?)),
            Self::Any(container) => container.array(Some(name))?.ok_or_else(only_rows),
        }
    }

    fn attributes(&self, name: Option<&str>) -> Result<String, Error> {
        match self {
            Self::Stored(table) => match name {
                Some(name) => Ok(table.column(name)?.attributes().text().to_owned()),
                None => Ok(table.attributes().text().to_owned()),
            },
            Self::Any(container) => Ok(container.attributes(name)?.attributes.text().to_owned()),
        }
    }

    /// A source of these columns and rows.
    pub fn source(&self, names: &[String], rows: Range<u64>) -> Result<BoxedSource<'_>, Error> {
        match self {
            Self::Stored(table) => Ok(Box::new(table.source_of(names)?.range(rows)?)),
            Self::Any(container) => {
                let part = Part::Rows(Bounds::from(rows));
                container.columns(&Selection::of(part).columns(names))
            }
        }
    }
}

/// A table of a dataset in a directory or in memory, or a table of any kind for reading.
#[pyclass(frozen, module = "bloscpack._native")]
pub struct Table(Arc<RwLock<Opened>>);

/// The rows of a zone, two elements for each zone, and whether these are known.
type Indexed<'py> = (u64, Bound<'py, PyBytes>, Vec<bool>);

#[pymethods]
impl Table {
    /// Opens a table of any kind for reading, or a table of a dataset in a directory for writing.
    #[staticmethod]
    fn open(
        py: Python<'_>,
        object: &Bound<'_, PyAny>,
        writable: bool,
        threads: usize,
    ) -> PyResult<Self> {
        if writable {
            let table = dataset(py, object, threads)?.into_table().or_raise(py)?;
            return Ok(Self::of(Opened::Stored(Box::new(table))));
        }
        let inner = Opened::Any(opened(py, object, &Options::new().threads(threads))?);
        py.detach(|| inner.names().map(drop)).or_raise(py)?;
        Ok(Self::of(inner))
    }

    /// Creates a table without rows in a directory or in memory.
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
        Ok(Self::of(Opened::Stored(Box::new(table.or_raise(py)?))))
    }

    fn names(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        let table = self.reading(py)?;
        py.detach(|| table.names()).or_raise(py)
    }

    fn rows(&self, py: Python<'_>) -> PyResult<u64> {
        let table = self.reading(py)?;
        py.detach(|| table.rows()).or_raise(py)
    }

    /// The facts about a column.
    fn facts<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyDict>> {
        let table = self.reading(py)?;
        let column = match &*table {
            Opened::Stored(table) => Some(table.column(name).or_raise(py)?),
            Opened::Any(container) => match container.inner() {
                Inner::Table(table) => Some(table.column(name).or_raise(py)?),
                _ => None,
            },
        };
        match (column, &*table) {
            (None, Opened::Any(container)) => {
                let layout = layout_of(&**container).or_raise(py)?;
                facts_of(py, &*table.column(name).or_raise(py)?, layout)
            }
            (Some(column), _) => facts(py, column),
            (None, Opened::Stored(_)) => usage(py, "a table without its columns"),
        }
    }

    /// The index of a column: the rows of a zone, the least and the greatest element of each, and whether these are known.
    fn zones<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Option<Indexed<'py>>> {
        let table = self.reading(py)?;
        let found = py.detach(|| {
            let column = table.column(name)?;
            let Some(zones) = column.zones() else {
                return Ok(None);
            };
            let unknown = vec![0; usize::try_from(column.dtype().itemsize()).map_err(Error::bug)?];
            let (mut bounds, mut known) = (Vec::new(), Vec::new());
            for number in 0..zones.len() {
                let zone = zones.zone(number).filter(|zone| zone.nulls == 0);
                let found = zone.and_then(|zone| zone.bounds);
                known.push(found.is_some() && zones.holds(number)?);
                let (least, greatest) = found.unwrap_or((&unknown, &unknown));
                bounds.extend([least, greatest].concat());
            }
            Ok::<_, Error>(Some((zones.rows(), bounds, known)))
        });
        let found = found.or_raise(py)?;
        Ok(found.map(|(rows, bounds, known)| (rows, PyBytes::new(py, &bounds), known)))
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
        let rows = first_len(column.grid().chunk_shape());
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

    /// All attributes of the table or of a column, as JSON.
    fn attributes(&self, py: Python<'_>, name: Option<&str>) -> PyResult<String> {
        let table = self.reading(py)?;
        py.detach(|| table.attributes(name)).or_raise(py)
    }

    fn set_attribute(
        &self,
        py: Python<'_>,
        name: Option<&str>,
        key: &str,
        json: &str,
    ) -> PyResult<()> {
        self.change(py, |table| match name {
            Some(name) => table.set_column_attribute_text(name, key, json),
            None => table.set_attribute_text(key, json),
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
    fn of(table: Opened) -> Self {
        Self(Arc::new(RwLock::new(table)))
    }

    fn rows_of(&self, names: Option<Vec<String>>, as_table: bool) -> Rows {
        Rows {
            place: Place::Table(Arc::clone(&self.0)),
            names,
            as_table,
        }
    }

    fn reading(&self, py: Python<'_>) -> PyResult<RwLockReadGuard<'_, Opened>> {
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
        let changed = py.detach(|| match &mut *self.0.write().map_err(|_| poisoned())? {
            Opened::Stored(table) => work(table),
            Opened::Any(_) => Err(Error::usage("the table is open for reading only")),
        });
        changed.or_raise(py)
    }
}

fn poisoned() -> Error {
    Error::bug("a table that panicked")
}
