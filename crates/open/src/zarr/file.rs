//! Bloscpack files with an array of NumPy.

use super::{ChunkSource, Conversion, Format, NewArray, positive};
use crate::exchange::FileSource;
use blosc1::{ChunkSettings, Compressor, MAX_NBYTES};
use bloscpack::indexed::IndexedReader;
use bloscpack_dtype::DType;
use bloscpack_error::Result;
use bloscpack_storage::ReadAt;
use std::ops::Range;

impl<'a> Conversion<'a> {
    /// The array of a Bloscpack file, which two readers read. Its whole chunks can be taken as they are, if they consist of whole
    /// rows; in Fortran's order, of whole lines along the last axis.
    ///
    /// # Errors
    /// Returns the errors of [`FileSource::new`].
    pub fn of_file<S: ReadAt + Sync + 'a>(
        reader: IndexedReader<S>,
        elements: IndexedReader<S>,
        format: Format,
    ) -> Result<Self> {
        let elements = FileSource::new(elements)?;
        let header = elements.header();
        let (dtype, shape) = (header.dtype.clone(), header.shape.clone());
        let fortran = header.fortran_order && shape.len() > 1;
        let axis = if fortran { shape.len() - 1 } else { 0 };
        let chunks = Chunks::of(&reader, &dtype, &shape, axis);
        let mut new = NewArray::new(format, dtype, &shape, &positive(&chunks.shape));
        new.settings = settings(&reader, new.settings);
        new.fortran = fortran;
        if let Some(text) = reader.metadata().and_then(|all| all.get_text("attributes")) {
            text.clone_into(&mut new.attributes);
        }
        Ok(Self::new(
            new,
            Source {
                reader,
                elements,
                axis,
                is_aligned: chunks.is_aligned,
            },
        ))
    }
}

/// How the chunks of a file divide its array.
struct Chunks {
    shape: Vec<u64>,
    /// Whether each contains whole rows.
    is_aligned: bool,
}

impl Chunks {
    fn of<S: ReadAt>(reader: &IndexedReader<S>, dtype: &DType, shape: &[u64], axis: usize) -> Self {
        let others = shape.iter().enumerate().filter(|(other, _)| *other != axis);
        let lens = others.map(|(_, len)| (*len).max(1));
        // The array has the bytes of the content, or none.
        let row = lens.fold(dtype.itemsize().max(1), u64::saturating_mul);
        let first = reader.chunk_range(0).ok().flatten().unwrap_or(0..0);
        let bytes = (first.end - first.start).clamp(1, MAX_NBYTES.into());
        let content: u64 = shape
            .iter()
            .fold(dtype.itemsize(), |all, len| all.saturating_mul(*len));
        let is_aligned = bytes.is_multiple_of(row) && reader.content_len() == content;
        let rows = (bytes / row).max(1);
        let mut chunk = shape.to_vec();
        if let Some(len) = chunk.get_mut(axis) {
            *len = rows;
        }
        Self {
            shape: chunk,
            is_aligned,
        }
    }
}

/// The settings of the first chunk of a file. Its level is not stored, nor which of two compressors of a format it was.
fn settings<S: ReadAt>(reader: &IndexedReader<S>, default: ChunkSettings) -> ChunkSettings {
    let first = reader.read_stored_chunk(0).ok();
    let Some(header) = first.and_then(|chunk| blosc1::read_header(&chunk).ok()) else {
        return default;
    };
    let mut all = Compressor::ALL.into_iter();
    let found =
        all.find(|one| Some(one.format()) == header.compressor_format() && one.is_available());
    let compressor = found.unwrap_or(default.compressor);
    default
        .compressor(compressor)
        .level(compressor.default_level())
        .filter(header.filter())
        .typesize(header.typesize.max(1))
}

struct Source<S> {
    reader: IndexedReader<S>,
    elements: FileSource<S>,
    axis: usize,
    is_aligned: bool,
}

impl<S: ReadAt + Sync> ChunkSource for Source<S> {
    fn read(&self, slice: &[Range<u64>]) -> Result<Vec<u8>> {
        self.elements.read(slice)
    }

    fn stored(&self, at: &[u64]) -> Result<Option<Vec<u8>>> {
        // An array without axes is one element, in one chunk.
        let number = at.get(self.axis).copied().unwrap_or(0);
        if self.is_aligned && number < self.reader.chunks() {
            self.reader.read_stored_chunk(number).map(Some)
        } else {
            Ok(None)
        }
    }
}
