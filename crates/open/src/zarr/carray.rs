//! Arrays of datasets.

use super::{ChunkSource, Conversion, Format, NewArray, positive};
use bloscpack_array::Grid;
use bloscpack_datasets::CArray;
use bloscpack_error::Result;
use std::ops::Range;

impl<'a> Conversion<'a> {
    /// An array of a dataset. Its whole chunks can be taken as they are.
    #[must_use]
    pub fn of_array(array: &'a CArray, format: Format) -> Self {
        let chunk = positive(array.chunk_shape());
        let mut new = NewArray::new(format, array.dtype().clone(), array.shape(), &chunk);
        new.settings = array.chunk_settings();
        new.fill = array
            .default_element()
            .and_then(|fill| element(fill, array.dtype().itemsize()));
        new.attributes = array.attributes().text().to_owned();
        let grid = Grid::new(array.shape().to_vec(), array.chunk_shape().to_vec());
        Self::new(new, Source { array, grid })
    }
}

/// The only element of a default, which may be that of a whole row.
fn element(default: &[u8], itemsize: u64) -> Option<Vec<u8>> {
    let itemsize = usize::try_from(itemsize)
        .ok()
        .filter(|itemsize| *itemsize > 0)?;
    let first = default.get(..itemsize)?;
    let is_same = default.chunks(itemsize).all(|other| other == first);
    is_same.then(|| first.to_vec())
}

struct Source<'a> {
    array: &'a CArray,
    grid: Grid,
}

impl ChunkSource for Source<'_> {
    fn read(&self, slice: &[Range<u64>]) -> Result<Vec<u8>> {
        self.array.read_slice(slice)
    }

    fn stored(&self, at: &[u64]) -> Result<Option<Vec<u8>>> {
        self.array.stored_chunk(self.grid.number(at)).map(Some)
    }
}
