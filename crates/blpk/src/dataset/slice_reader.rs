//! Arrays of which any region can be read, in datasets and in frames.

use std::ops::Range;

use bloscpack::{dataset::CArray, frame::NdArray};

use super::slice::Region;

/// An array of which any region can be read.
pub trait SliceReader {
    /// Elements along each axis.
    fn shape(&self) -> &[u64];

    /// Elements of a chunk along each axis.
    fn chunk_shape(&self) -> Vec<u64>;

    /// Bytes of an element.
    fn itemsize(&self) -> u64;

    /// How many chunks there are.
    fn chunks(&self) -> u64;

    /// The bytes of a region, in C order.
    fn read(&self, ranges: &[Range<u64>]) -> bloscpack::Result<Vec<u8>>;

    /// Bytes of a row.
    fn row_bytes(&self) -> u64 {
        let row = self.shape().get(1..).unwrap_or(&[]);
        Region::all(row).bytes(self.itemsize())
    }

    /// How many rows there are. An array without axes has one.
    fn rows(&self) -> u64 {
        self.shape().first().copied().unwrap_or(1)
    }

    /// Bytes of all elements.
    fn nbytes(&self) -> u64 {
        Region::all(self.shape()).bytes(self.itemsize())
    }
}

impl SliceReader for CArray {
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

    fn read(&self, ranges: &[Range<u64>]) -> bloscpack::Result<Vec<u8>> {
        self.read_slice(ranges)
    }
}

impl SliceReader for NdArray {
    fn shape(&self) -> &[u64] {
        self.shape()
    }

    fn chunk_shape(&self) -> Vec<u64> {
        self.chunk_shape().iter().copied().map(u64::from).collect()
    }

    fn itemsize(&self) -> u64 {
        self.itemsize().into()
    }

    fn chunks(&self) -> u64 {
        self.frame().chunks()
    }

    fn read(&self, ranges: &[Range<u64>]) -> bloscpack::Result<Vec<u8>> {
        self.read_slice(ranges)
    }
}
