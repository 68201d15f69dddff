//! Arrays of datasets.

use super::{ChunkSource, Conversion, Format, NewArray, number, positive};
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
        Self::new(new, Source(array))
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

struct Source<'a>(&'a CArray);

impl ChunkSource for Source<'_> {
    fn read(&self, slice: &[Range<u64>]) -> Result<Vec<u8>> {
        self.0.read_slice(slice)
    }

    fn stored(&self, at: &[u64]) -> Result<Option<Vec<u8>>> {
        let number = number(at, self.0.shape(), self.0.chunk_shape())?;
        self.0.stored_chunk(number).map(Some)
    }
}
