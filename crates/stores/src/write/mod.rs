//! Writes tables and trees into a directory.
//!
//! ```text
//!  TableWriter::append ─> a ColumnWriter for each column ─> Growing: one chunk in memory ─> NdArray
//!                                                      ItemsWriter: one batch ─> VaryingFrame
//!  TableWriter::finish ─> _meta.b2f, _vlmeta.b2f ─> seal_store: a fingerprint for each frame ─> sync
//! ```

mod append;
mod column;
mod growing;
mod items;
mod meta;
mod table;
mod tree;

pub use table::TableWriter;
pub use tree::{create_tree, seal_store, set_attributes, unpack_store};

use bloscpack_frames::NdArrayBuilder;
use std::sync::Arc;

/// Sets the compression of each new array.
pub(super) type Settings = Arc<dyn Fn(NdArrayBuilder) -> NdArrayBuilder + Send + Sync>;
