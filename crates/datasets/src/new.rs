//! [`NewArray`] and [`NewDataset`]: the properties of new arrays and tables.

use crate::dataset_layout::DatasetLayout;
use crate::superchunk::SuperchunkOptions;
use crate::wire::Attributes;
use blosc1::ChunkSettings;
use bloscpack::Options;
use bloscpack_dtype::DType;
use bloscpack_error::Result;
use bloscpack_error::checked::in_memory;
use std::num::NonZeroU64;

/// The properties of a new array, all decided and checked.
#[derive(Debug, Clone)]
pub(crate) struct NewArray {
    pub dtype: DType,
    /// The shape of a row; empty if rows are single elements.
    pub row_shape: Vec<u64>,
    /// Bytes of a row; at least 1.
    pub row_bytes: u64,
    pub chunk_shape: Vec<u64>,
    pub expected_rows: u64,
    /// The bytes of an element, or of a row; `None` for zeros.
    pub default: Option<Vec<u8>>,
    pub settings: ChunkSettings,
    pub attributes: Attributes,
    /// Chunks per superchunk; 1 except in the layouts of the documents.
    #[cfg_attr(
        not(feature = "documents"),
        allow(dead_code, reason = "only the layouts of the two documents use it")
    )]
    pub chunks_per_file: NonZeroU64,
    /// Used by the layouts of the documents only.
    #[cfg_attr(
        not(feature = "documents"),
        allow(dead_code, reason = "only the layouts of the two documents use it")
    )]
    pub superchunk_options: SuperchunkOptions,
}

impl NewArray {
    /// Bytes of a row as a `usize`.
    pub(crate) fn row_len(&self) -> Result<usize> {
        in_memory(self.row_bytes)
    }
}

/// The properties that new arrays and new tables share.
#[derive(Debug, Clone, Default)]
pub(crate) struct NewDataset {
    pub layout: DatasetLayout,
    pub attributes: Attributes,
    pub replace: bool,
    pub options: Options,
}
