//! Files of NumPy, which need no unpacking: an array, of which a part is a source.

use crate::files::HostFile;
use bloscpack::{Error, Result};
use bloscpack_open::Region;
use bloscpack_open::exchange::{Batch, NpyFile, Schema, Source};

/// A box of the array in a file, some rows at a time.
pub struct NpySource<'a> {
    file: &'a NpyFile<HostFile>,
    schema: Schema,
    region: Region,
    rows: u64,
}

impl<'a> NpySource<'a> {
    /// A source of this region.
    pub fn new(file: &'a NpyFile<HostFile>, region: Region) -> Self {
        let shape = region.shape();
        let row = shape.get(1..).unwrap_or_default();
        Self {
            schema: Schema::array(file.dtype().clone(), row),
            rows: shape.first().copied().unwrap_or(1),
            file,
            region,
        }
    }
}

impl Source for NpySource<'_> {
    fn schema(&self) -> &Schema {
        &self.schema
    }

    fn rows(&self) -> u64 {
        self.rows
    }

    fn next_batch(&mut self, bytes: usize) -> Result<Option<Batch>> {
        let bytes = u64::try_from(bytes).unwrap_or(u64::MAX);
        let most = (bytes / self.schema.row_bytes().max(1)).max(1);
        let mut part = self.region.clone();
        let rows = match (part.ranges.first_mut(), self.region.ranges.first_mut()) {
            (Some(part), Some(rest)) => {
                part.end = rest.end.min(part.start.saturating_add(most));
                rest.start = part.end;
                part.end - part.start
            }
            _ => std::mem::take(&mut self.rows),
        };
        if rows == 0 {
            return Ok(None);
        }
        let size = part.bytes(self.file.dtype().itemsize());
        usize::try_from(size)
            .map_err(|_| Error::usage("a row of this array has no room in memory"))?;
        Ok(Some(Batch {
            rows,
            columns: vec![self.file.read_slice(&part.ranges)?],
            cells: Vec::new(),
        }))
    }
}
