//! [`ArrayStorage`]: the superchunks of one array, the files in its `data/` folder.

mod append;
mod change;
mod chunk_files;
mod encoders;
mod index;
mod read;
mod spec;

use crate::files::Files;
use crate::grid::BandedGrid;
use append::Tail;
use bloscpack_array::{Chunked, Geometry, Resources};
use bloscpack_error::{Error, Result};
use chunk_files::ChunkFiles;
use encoders::Encoders;
use index::Written;
#[cfg(feature = "documents")]
pub(crate) use spec::typesize;
pub(crate) use spec::{ArraySpec, Naming};
use std::ops::Deref;
use std::sync::{Arc, Mutex};

/// The superchunks of an array: reads and sets any box of elements, appends rows and cuts them off.
#[derive(Debug)]
pub(crate) struct ArrayStorage {
    chunks: Chunked<ChunkFiles>,
    encoders: Encoders,
    /// The chunks and rows after the last full superchunk; `None` until they are needed.
    tail: Mutex<Option<Tail>>,
    /// The superchunks that were written since the last flush; `None` without an index.
    written: Option<Written>,
}

impl Deref for ArrayStorage {
    type Target = ChunkFiles;

    fn deref(&self) -> &ChunkFiles {
        self.chunks.store()
    }
}

/// In a table of this many columns, no column keeps encoders, which take half a megabyte each.
const WIDE_TABLE: usize = 256;

impl ArrayStorage {
    /// The storage of an array that is one of `columns` columns.
    pub(crate) fn new(
        files: Arc<Files>,
        spec: ArraySpec,
        resources: &Resources,
        columns: usize,
    ) -> Result<Self> {
        let geometry = geometry(&spec.grid)?;
        let encoders = Encoders::new(spec.chunk_settings(), columns < WIDE_TABLE);
        let chunks = ChunkFiles::new(files, spec, resources.limits);
        Ok(Self {
            chunks: Chunked::new(chunks, geometry, resources),
            encoders,
            tail: Mutex::default(),
            written: None,
        })
    }

    pub(crate) fn spec(&self) -> &ArraySpec {
        &self.spec
    }

    pub(crate) fn resources(&self) -> &Resources {
        self.chunks.resources()
    }

    /// Sets the number of rows, which the superchunks already contain.
    pub(crate) fn set_rows(&mut self, rows: u64) -> Result<()> {
        self.set_grid(self.grid().with_rows(rows)?)?;
        self.put_tail(None);
        self.indexes().clear();
        self.chunks.forget(0..u64::MAX);
        Ok(())
    }

    /// Sets the grid. The numbers of existing chunks must not change.
    fn set_grid(&mut self, grid: BandedGrid) -> Result<()> {
        self.chunks.set_geometry(geometry(&grid)?);
        self.chunks.store_mut().spec.grid = grid;
        Ok(())
    }

    /// Sets the count of compressed bytes.
    pub(crate) fn set_cbytes(&mut self, cbytes: i64) {
        self.chunks.store_mut().spec.cbytes = cbytes;
    }

    /// Drops a changed superchunk from the caches.
    fn forget(&self, number: u64) {
        self.indexes().remove(&number);
        let first = self.first_chunk(number);
        self.chunks
            .forget(first..first.saturating_add(self.chunks_per_file()));
    }
}

/// The geometry of the chunks: clipped at the end of the array, or padded to full shape in the carray proposal.
fn geometry(grid: &BandedGrid) -> Result<Geometry> {
    let (shape, chunk, itemsize) = (grid.shape(), grid.chunk_shape(), grid.itemsize());
    let itemsize = bloscpack_error::checked::in_memory(itemsize)?;
    let geometry = if grid.is_padded() {
        Geometry::padded(shape, chunk, itemsize)
    } else {
        Geometry::clipped(shape, chunk, itemsize)
    };
    geometry.ok_or_else(|| Error::no_memory(grid.chunk_bytes().into()))
}
