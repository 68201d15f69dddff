//! Arrays whose elements are read box by box, wherever they lie.

use std::ops::Range;

use bloscpack::{dataset::CArray, frame::NdArray};

/// An array, any box of which is read.
pub trait Elements {
    /// Elements along each axis.
    fn shape(&self) -> &[u64];

    /// Elements of a chunk along each axis.
    fn chunk_shape(&self) -> Vec<u64>;

    /// Bytes of an element.
    fn itemsize(&self) -> u64;

    /// How many chunks there are.
    fn chunks(&self) -> u64;

    /// The bytes of a box, in C order.
    fn read(&self, part: &[Range<u64>]) -> bloscpack::Result<Vec<u8>>;

    /// Bytes of a row.
    fn row_bytes(&self) -> u64 {
        let axes = self.shape().iter().skip(1);
        axes.fold(self.itemsize(), |bytes, len| bytes.saturating_mul(*len))
    }

    /// How many rows there are; an array without axes is one.
    fn rows(&self) -> u64 {
        self.shape().first().copied().unwrap_or(1)
    }

    /// Bytes of all elements.
    fn nbytes(&self) -> u64 {
        self.row_bytes().saturating_mul(self.rows())
    }
}

impl Elements for CArray {
    fn shape(&self) -> &[u64] {
        self.shape()
    }

    fn chunk_shape(&self) -> Vec<u64> {
        self.chunk_shape().to_vec()
    }

    fn itemsize(&self) -> u64 {
        self.dtype().itemsize()
    }

    fn chunks(&self) -> u64 {
        self.chunks()
    }

    fn read(&self, part: &[Range<u64>]) -> bloscpack::Result<Vec<u8>> {
        self.read_slice(part)
    }
}

impl Elements for NdArray {
    fn shape(&self) -> &[u64] {
        self.shape()
    }

    fn chunk_shape(&self) -> Vec<u64> {
        self.chunk_shape()
            .iter()
            .map(|len| u64::from(*len))
            .collect()
    }

    fn itemsize(&self) -> u64 {
        self.itemsize().into()
    }

    fn chunks(&self) -> u64 {
        self.frame().chunks()
    }

    fn read(&self, part: &[Range<u64>]) -> bloscpack::Result<Vec<u8>> {
        self.read_slice(part)
    }
}
