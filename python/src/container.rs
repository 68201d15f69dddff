//! Inputs of any kind: open, describe, verify, recover.

use crate::error::{OrRaise, raised};
use crate::file::{source, target as target_of};
use crate::remote::{remote, url};
use crate::work::watched;
use bloscpack::recover::{Finding, recover as recover_file};
use bloscpack::storage::{ReadAt, SharedSource};
use bloscpack::verify::Damage;
use bloscpack::{Error, Options, serde_json};
use bloscpack_open::datasets;
use bloscpack_open::exchange::Ending;
use bloscpack_open::{Container, Kind, open, open_folder, open_source};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use std::io;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Opens a Python object: a path, a URL, a file object or bytes.
pub fn opened(
    py: Python<'_>,
    object: &Bound<'_, PyAny>,
    options: &Options,
) -> PyResult<Box<dyn Container>> {
    if let Some(url) = url(object) {
        let remote = remote(py)?;
        return py.detach(|| remote.open(&url, options)).or_raise(py);
    }
    if let Ok(path) = object.extract::<PathBuf>() {
        return py.detach(|| open(&path, options)).or_raise(py);
    }
    let source = source(object)?;
    py.detach(|| open_source(source, options)).or_raise(py)
}

/// Opens an input as `opened` does, or a folder of datasets.
pub fn tree(
    py: Python<'_>,
    object: &Bound<'_, PyAny>,
    options: &Options,
) -> PyResult<Box<dyn Container>> {
    let refused = match opened(py, object, options) {
        Ok(container) => return Ok(container),
        Err(refused) => refused,
    };
    match object.extract::<PathBuf>() {
        Ok(path) if url(object).is_none() && path.is_dir() => {
            let folder = py.detach(|| open_folder(&path, options)).or_raise(py)?;
            folder.ok_or(refused)
        }
        _ => Err(refused),
    }
}

/// The members of a tree.
type Members = (Vec<(String, bool)>, String);

/// The members of a tree: the path of each, and whether it is a table; and the attributes of the tree, as JSON. `None` for other
/// inputs.
#[pyfunction]
pub fn members(py: Python<'_>, object: &Bound<'_, PyAny>) -> PyResult<Option<Members>> {
    let container = tree(py, object, &Options::new())?;
    let listed = py.detach(|| {
        let mut members = Vec::new();
        let is_tree = container.members(&mut |path, outline| {
            members.push((path.to_owned(), outline?.columns.is_some()));
            Ok(())
        })?;
        if !is_tree {
            return Ok::<_, Error>(None);
        }
        let attributes = container.attributes(None)?.attributes;
        Ok(Some((members, attributes.text().to_owned())))
    });
    listed.or_raise(py)
}

/// The kind of an input: `bloscpack`, `records`, `carray`, `ctable` or `frame`.
#[pyfunction]
pub fn kind(py: Python<'_>, object: &Bound<'_, PyAny>) -> PyResult<&'static str> {
    let container = opened(py, object, &Options::new())?;
    let outline = py.detach(|| container.outline()).or_raise(py)?;
    Ok(outline.kind.name())
}

/// How `open` presents an input: `file`, `records`, `table`, `rows`, `tree` or `array`.
#[pyfunction]
pub fn role(py: Python<'_>, object: &Bound<'_, PyAny>) -> PyResult<&'static str> {
    let container = opened(py, object, &Options::new())?;
    let role = py.detach(|| {
        Ok::<_, Error>(match container.kind() {
            Kind::Bloscpack => "file",
            Kind::Records => "records",
            _ if container.is_tree() => "tree",
            _ if container.outline()?.columns.is_none() => "array",
            _ if container.table(&[])?.is_some() => "table",
            _ => "rows",
        })
    });
    role.or_raise(py)
}

/// Whether an input is a table.
#[pyfunction]
pub fn is_table(py: Python<'_>, object: &Bound<'_, PyAny>) -> PyResult<bool> {
    let container = opened(py, object, &Options::new())?;
    let outline = py.detach(|| container.outline()).or_raise(py)?;
    Ok(outline.columns.is_some())
}

/// Returns an error if the work should stop.
pub fn go_on(stop: &AtomicBool) -> io::Result<()> {
    if stop.load(Ordering::Relaxed) {
        Err(io::Error::other("stopped by a signal"))
    } else {
        Ok(())
    }
}

/// A source whose reads fail once the flag is set.
struct Stoppable(SharedSource, Arc<AtomicBool>);

impl ReadAt for Stoppable {
    fn read_at(&self, at: u64, buf: &mut [u8]) -> io::Result<usize> {
        go_on(&self.1)?;
        self.0.read_at(at, buf)
    }

    fn size(&self) -> io::Result<u64> {
        self.0.size()
    }
}

/// The summary of an input, as JSON.
#[pyfunction]
pub fn info(py: Python<'_>, object: &Bound<'_, PyAny>) -> PyResult<String> {
    let container = opened(py, object, &Options::new())?;
    let summary = watched(py, &AtomicBool::new(false), || container.summary())?.or_raise(py)?;
    serde_json::to_string(&summary).map_err(|error| raised(py, Error::bug(error.to_string())))
}

/// Checks every chunk. Returns the counts, and all damages as exceptions.
#[pyfunction]
pub fn verify<'py>(
    py: Python<'py>,
    object: &Bound<'py, PyAny>,
    threads: usize,
) -> PyResult<Bound<'py, PyDict>> {
    let stop = Arc::new(AtomicBool::new(false));
    let stopped = Arc::clone(&stop);
    let options = Options::new()
        .threads(threads)
        .watch(move |_, _| go_on(&stopped));
    let container = opened(py, object, &options)?;
    let report = watched(py, &stop, || container.verify())?.or_raise(py)?;
    let facts = PyDict::new(py);
    facts.set_item("chunks", report.chunks)?;
    facts.set_item("bytes", report.bytes)?;
    facts.set_item("records", report.records)?;
    facts.set_item("damage_count", report.damage_count)?;
    facts.set_item("warnings", &report.warnings)?;
    facts.set_item("damages", damages(py, report.damages)?)?;
    Ok(facts)
}

fn damages<'py>(py: Python<'py>, damages: Vec<Damage>) -> PyResult<Bound<'py, PyList>> {
    let list = PyList::empty(py);
    for damage in damages {
        let exception = raised(py, damage.error).into_value(py);
        let exception = exception.bind(py);
        exception.setattr("damaged_bytes", pair(damage.bytes))?;
        exception.setattr("lost_content", pair(damage.content))?;
        exception.setattr("lost_records", pair(damage.records))?;
        list.append(exception)?;
    }
    Ok(list)
}

fn pair(range: Option<Range<u64>>) -> Option<(u64, u64)> {
    range.map(|range| (range.start, range.end))
}

/// Writes all sound content to the existing, empty file at a path.
#[pyfunction]
pub fn recover<'py>(
    py: Python<'py>,
    object: &Bound<'py, PyAny>,
    target: &Bound<'py, PyAny>,
    fill: bool,
    threads: usize,
) -> PyResult<Bound<'py, PyDict>> {
    let stop = Arc::new(AtomicBool::new(false));
    let source = Stoppable(source(object)?, Arc::clone(&stop));
    let target = target_of(target)?;
    let options = Options::new().fill(fill).threads(threads);
    let (mut found, mut lost) = (Vec::new(), Vec::new());
    let recovery = watched(py, &stop, || {
        recover_file(&source, target, &options, |finding| {
            match finding {
                Finding::Damage(damage) => found.push(damage),
                Finding::Lost(part) => lost.push((part.at, part.len, pair(part.content))),
                _ => {}
            }
            Ok(())
        })
    })?
    .or_raise(py)?;
    let facts = PyDict::new(py);
    facts.set_item("chunks", recovery.chunks)?;
    facts.set_item("chunks_lost", recovery.chunks_lost)?;
    facts.set_item("bytes", recovery.bytes)?;
    facts.set_item("records", recovery.records)?;
    facts.set_item("records_lost", recovery.records_lost)?;
    facts.set_item("header_lost", recovery.header_lost)?;
    facts.set_item("metadata_lost", recovery.metadata_lost)?;
    facts.set_item("is_complete", recovery.is_complete())?;
    facts.set_item("lost", lost)?;
    facts.set_item("damages", damages(py, found)?)?;
    Ok(facts)
}

/// A description of the kind of file that the ending of a name indicates; `None` if a dataset may have that name.
#[pyfunction]
pub fn ending(path: PathBuf) -> Option<String> {
    match Ending::of_path(path) {
        None | Some(Ending::Dataset(_)) => None,
        Some(other) => Some(other.to_string()),
    }
}

/// Path, name of the layout, and whether it is a table.
type Found = (PathBuf, &'static str, bool);

/// The datasets below a directory: path, layout, and whether each is a table.
#[pyfunction]
pub fn walk(py: Python<'_>, path: PathBuf) -> PyResult<Vec<Found>> {
    let found = py.detach(|| {
        let found = datasets::walk(&path, |_, _| ())?.into_iter();
        Ok::<_, Error>(
            found
                .map(|entry| (entry.path, entry.layout.name(), entry.is_table))
                .collect(),
        )
    });
    found.or_raise(py)
}
