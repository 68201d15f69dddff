//! What a new array or table is to be.

use super::leaf::Press;
use crate::wire::Attributes;
use bloscpack_dtype::{DType, boxes::to_usize};
use bloscpack_wire::Checksum;
use std::num::NonZeroU64;

/// A new array, everything decided.
#[derive(Debug, Clone)]
pub(crate) struct NewArray {
    pub dtype: DType,
    /// Of a row; empty where rows are single elements.
    pub row_shape: Vec<u64>,
    pub chunk_shape: Vec<u64>,
    pub expected_rows: u64,
    /// An element, or a row; nothing stands for zeros.
    pub default: Option<Vec<u8>>,
    pub press: Press,
    pub attributes: Attributes,
    pub framing: NewFraming,
}

impl NewArray {
    /// Bytes of a row.
    pub(crate) fn row_bytes(&self) -> usize {
        let sides = self.row_shape.iter();
        to_usize(sides.fold(self.dtype.itemsize(), |bytes, side| {
            bytes.saturating_mul(*side)
        }))
    }
}

/// What the documents' layouts leave to the writer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct NewFraming {
    pub per_file: NonZeroU64,
    pub checksum: Checksum,
    pub offsets: bool,
    pub spare: u32,
}
