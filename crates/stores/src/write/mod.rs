//! Tables and trees, written into a directory.

mod append;
mod column;
mod growing;
mod meta;
mod table;
mod tree;

pub use table::TableWriter;
pub use tree::{create_tree, seal_store, unpack_store};

use bloscpack_frames::NdArrayBuilder;
use std::sync::Arc;

/// Sets on a new array how it is compressed.
pub(super) type Settings = Arc<dyn Fn(NdArrayBuilder) -> NdArrayBuilder + Send + Sync>;
