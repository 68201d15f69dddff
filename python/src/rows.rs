//! Rows of an input of any kind, for consumers of Arrow.

use crate::arrow::{Place, Rows};
use crate::container::opened;
use crate::error::OrRaise;
use bloscpack_open::Options;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;
use std::sync::Arc;

/// The rows of an input, or some of its columns.
#[pyclass(frozen)]
pub struct RowReader {
    rows: Rows,
    count: u64,
}

#[pymethods]
impl RowReader {
    /// Opens a path, a file object or bytes.
    #[staticmethod]
    fn open(
        py: Python<'_>,
        object: &Bound<'_, PyAny>,
        names: Option<Vec<String>>,
        threads: usize,
    ) -> PyResult<Self> {
        let options = Options::new().threads(threads);
        let container = opened(py, object, &options)?;
        let count = py.detach(|| {
            let source = container.columns(&Default::default())?;
            source.known_rows()
        });
        Ok(Self {
            count: count.or_raise(py)?,
            rows: Rows {
                place: Place::Container(Arc::new(container)),
                names,
                as_table: true,
            },
        })
    }

    fn count(&self) -> u64 {
        self.count
    }

    /// The Arrow schema capsule.
    fn arrow_schema<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        self.rows.schema_capsule(py)
    }

    /// An Arrow stream capsule with these rows.
    fn arrow_stream<'py>(
        &self,
        py: Python<'py>,
        rows: (u64, u64),
        requested: Option<Bound<'py, PyCapsule>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        self.rows.stream(py, rows.0..rows.1, requested)
    }
}
