//! The container of Zarr arrays.

use super::KIND;
use crate::error::has_dtype;
use crate::selection::refuse_column;
use crate::summary::Summary;
use crate::text::shape;
use crate::{Container, Kind, Options, Outline, Report, watch};
use bloscpack::Watch;
use bloscpack_array::Grid;
use bloscpack_error::Result;
use bloscpack_zarr::{Survey, ZarrArray};
use serde_json::{Value, json};

/// A Zarr array that was opened.
pub(crate) struct Array {
    array: ZarrArray,
    watch: Watch,
    /// Whether a dtype was given, which is an error.
    has_dtype: bool,
}

impl Array {
    pub(crate) fn new(array: ZarrArray, options: &Options) -> Self {
        Self {
            array,
            watch: options.watch.clone(),
            has_dtype: options.dtype.is_some(),
        }
    }
}

/// The outline of an array.
pub(crate) fn outline(array: &ZarrArray) -> Outline {
    Outline {
        layout: Some(array.format().name()),
        dtype: Some(array.dtype().to_string()),
        shape: Some(array.shape().to_vec()),
        bytes: Some(array.nbytes()),
        ..Outline::new(KIND)
    }
}

/// The number of chunks in the array's grid. Saturates at `u64::MAX`.
fn chunk_count(array: &ZarrArray) -> u64 {
    let (shape, chunk) = (array.shape(), array.chunk_shape());
    let grid = Grid::new(shape.to_vec(), chunk.to_vec());
    grid.count().unwrap_or(u64::MAX)
}

/// The JSON fields of an array.
pub(crate) fn fields(array: &ZarrArray, found: Option<&Survey>) -> Value {
    let meta = array.meta();
    let is_sharded = meta.inner_chunk_shape() != array.chunk_shape();
    json!({
        "rows": array.shape().first(),
        "dtype": array.dtype().to_string(),
        "shape": array.shape(),
        "chunkshape": meta.inner_chunk_shape(),
        "shardshape": is_sharded.then(|| array.chunk_shape()),
        "columns": null,
        "default": meta.fill.as_ref().map(|fill| array.dtype().value(fill)),
        "dimension_names": meta.dimension_names,
        "nchunks": chunk_count(array),
        "stored_chunks": found.map(|found| found.chunks),
        "uncompressed_bytes": array.nbytes(),
        "compressed_bytes": found.map(|found| found.stored_bytes),
        "codecs": meta.codecs.names(),
    })
}

impl Container for Array {
    fn kind(&self) -> Kind {
        KIND
    }

    fn outline(&self) -> Result<Outline> {
        if self.has_dtype {
            Err(has_dtype())
        } else {
            Ok(outline(&self.array))
        }
    }

    fn summary(&self) -> Result<Summary> {
        let array = &self.array;
        let meta = array.meta();
        let found = match array.survey() {
            Err(error) if error.is_beyond_store() => None,
            found => Some(found?),
        };
        let mut summary = Summary::new(KIND);
        summary.add(
            json!({ "kind": KIND.name(), "layout": array.format().name(), "format_version": null }),
        );
        summary.add(fields(array, found.as_ref()));
        summary.add_json("attributes", array.attributes());
        summary.line("kind", KIND);
        summary.line("layout", array.format());
        summary.line("dtype", array.dtype());
        summary.line("shape", shape(array.shape()));
        summary.line("chunk shape", shape(meta.inner_chunk_shape()));
        if meta.inner_chunk_shape() != array.chunk_shape() {
            summary.line("shard shape", shape(array.chunk_shape()));
        }
        let stored = found.as_ref().map(|found| found.chunks);
        let stored = stored.map(|chunks| format!(", of which {chunks} are stored"));
        let all = chunk_count(array);
        summary.line(
            "chunks",
            format_args!("{all}{}", stored.unwrap_or_default()),
        );
        let fill = meta.fill.as_ref().map(|fill| array.dtype().value(fill));
        summary.line("default", fill.unwrap_or(Value::Null));
        summary.names("codecs", &meta.codecs.names());
        summary.sizes(array.nbytes(), found.map(|found| found.stored_bytes));
        summary.attributes(array.attributes());
        Ok(summary)
    }

    fn verify(&self) -> Result<Report> {
        let total = self.array.nbytes();
        let report = self
            .array
            .verify(|bytes| watch::show(&self.watch, bytes, total));
        Ok(report.into())
    }

    fn array(&self, column: Option<&str>) -> Result<Option<Box<dyn bloscpack_array::Array + '_>>> {
        refuse_column(column)?;
        Ok(Some(Box::new(&self.array)))
    }

    fn watch(&self) -> &Watch {
        &self.watch
    }
}
