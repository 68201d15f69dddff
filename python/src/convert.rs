//! Converts inputs into other formats.

use crate::container::{go_on, opened, tree};
use crate::error::OrRaise;
use crate::options::{checksum, compressor, filter, usage};
use crate::remote::is_url;
use crate::work::watched;
use bloscpack::Options;
use bloscpack::dtype::DType;
use bloscpack_convert::{Conversion, Goal, Storage};
use bloscpack_open::exchange::ImportOptions;
use bloscpack_open::zarr::{Format, References};
use bloscpack_open::{Bounds, Part, open_with};
use pyo3::prelude::*;
use std::num::NonZeroU64;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};

/// The options of a conversion; `None` for a default.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Settings {
    to: Option<String>,
    column: Option<String>,
    columns: Option<Vec<String>>,
    /// The first row and the row after the last.
    rows: Option<(u64, Option<u64>)>,
    table: bool,
    arrays: bool,
    nan_as_null: bool,
    dtype: Option<String>,
    index: bool,
    replace: bool,
    cname: Option<String>,
    clevel: Option<u8>,
    shuffle: Option<u8>,
    checksum: Option<String>,
    chunklen: Option<NonZeroU64>,
    chunkshape: Option<Vec<NonZeroU64>>,
    blockshape: Option<Vec<NonZeroU64>>,
    chunk_size: Option<u32>,
    sparse: bool,
    threads: usize,
}

impl Settings {
    fn storage(&self, py: Python<'_>) -> PyResult<Storage> {
        let mut storage = Storage::default();
        let codec = self.cname.as_deref().map(|name| compressor(py, name));
        storage.compressor = codec.transpose()?;
        storage.level = self.clevel;
        storage.filter = self.shuffle.map(|number| filter(py, number)).transpose()?;
        let digest = self.checksum.as_deref().map(|name| checksum(py, name));
        storage.checksum = digest.transpose()?;
        storage.chunklen = self.chunklen;
        storage.chunkshape.clone_from(&self.chunkshape);
        storage.blockshape.clone_from(&self.blockshape);
        storage.sparse = self.sparse;
        Ok(storage)
    }
}

/// Converts an input into the format that the ending of a path indicates. Returns warnings about properties that the output
/// does not store.
#[pyfunction]
pub fn convert(
    py: Python<'_>,
    object: &Bound<'_, PyAny>,
    path: PathBuf,
    settings: Settings,
) -> PyResult<Vec<String>> {
    let given = settings.to.as_deref().map(|name| {
        let goal = Goal::named(name);
        goal.ok_or_else(|| usage(py, format!("there is no format {name:?}")))
    });
    let goal = Goal::of_path(&path, given.transpose()?);
    let goal = goal.map_err(|error| error.in_file(&path)).or_raise(py)?;

    let stop = Arc::new(AtomicBool::new(false));
    let stopped = Arc::clone(&stop);
    let mut options = Options::new()
        .threads(settings.threads)
        .watch(move |_, _| go_on(&stopped));
    if let Some(dtype) = &settings.dtype {
        options = options.dtype(DType::parse(dtype).or_raise(py)?);
    }
    let source = match object.extract::<PathBuf>() {
        Ok(path) if !is_url(object) => {
            let reading = ImportOptions::new().threads(settings.threads);
            let reading = if goal.is_some_and(Goal::has_missing) {
                reading.keep_missing()
            } else {
                reading
            };
            py.detach(|| open_with(&path, &reading, &options))
                .or_raise(py)?
        }
        _ => opened(py, object, &options)?,
    };
    let goal = goal.or_else(|| Goal::like(&*source));
    let unsaid = || usage(py, "neither the name nor `to` says what becomes of records");
    let mut conversion = Conversion::new(goal.ok_or_else(unsaid)?);
    conversion.storage = settings.storage(py)?;
    conversion.column = settings.column;
    conversion.columns = settings.columns.unwrap_or_default();
    if let Some((start, end)) = settings.rows {
        conversion.part = Part::Rows(Bounds {
            start,
            end,
            ..Bounds::default()
        });
    }
    conversion.table = settings.table;
    conversion.arrays = settings.arrays;
    conversion.nan_as_null = settings.nan_as_null;
    conversion.dtype.clone_from(&options.dtype);
    conversion.index = settings.index;
    conversion.replace = settings.replace;
    conversion.chunk_size = settings.chunk_size;
    conversion.options = options;

    let warnings = Mutex::new(source.take_warnings());
    let warn = |text: &str| {
        if let Ok(mut warnings) = warnings.lock() {
            warnings.push(text.to_owned());
        }
    };
    let made = watched(py, &stop, || {
        let made = conversion.run(&*source, &path, &warn);
        made.map(drop)
    })?;
    made.or_raise(py)?;
    Ok(warnings.into_inner().unwrap_or_default())
}

/// References to the chunks of an input, as JSON: what Kerchunk calls them. Returns warnings as well.
#[pyfunction]
pub fn refs(
    py: Python<'_>,
    object: &Bound<'_, PyAny>,
    root: Option<String>,
    name: String,
    columns: Option<Vec<String>>,
    threads: usize,
) -> PyResult<(String, Vec<String>)> {
    let options = Options::new().threads(threads);
    let source = tree(py, object, &options)?;
    let mut conversion = Conversion::new(Goal::Zarr(Format::V2));
    conversion.name = name;
    conversion.columns = columns.unwrap_or_default();
    conversion.options = options;
    let warnings = Mutex::new(source.take_warnings());
    let warn = |text: &str| {
        if let Ok(mut warnings) = warnings.lock() {
            warnings.push(text.to_owned());
        }
    };
    let made = py.detach(|| conversion.references(&*source, &warn));
    let root = match (root, object.extract::<PathBuf>()) {
        (Some(root), _) => root,
        (None, Ok(path)) if !is_url(object) => References::root_of(&path).or_raise(py)?,
        (None, _) => object.str()?.to_string(),
    };
    let text = made.or_raise(py)?.to_json(&root);
    Ok((text, warnings.into_inner().unwrap_or_default()))
}
