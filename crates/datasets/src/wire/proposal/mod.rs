//! The small files of the carray proposal, the first design for datasets on disk.
//!
//! | file | format | here |
//! |---|---|---|
//! | `meta/shape` | a Python tuple | [`parse_shape`], [`encode_shape`] |
//! | `meta/storage` | YAML | [`Storage`] |
//! | `meta/attributes` | YAML | [`parse_attributes`], [`encode_attributes`] |
//! | `data/__1__.bin` | header, index, chunks | [`SuperchunkHeader`] |
//!
//! Any YAML whose values JSON can express is read, in block or flow style; anchors, aliases and tags are refused. Files are
//! written in the style of the proposal's examples.

mod attributes;
mod shape;
mod storage;
mod superchunk;
mod yaml;

pub use attributes::{encode_attributes, parse_attributes};
pub use shape::{encode_shape, parse_shape};
pub use storage::{Compression, Elements, ProposalFilter, Storage};
pub use superchunk::{SUPERCHUNK_HEADER_LEN, SuperchunkHeader};
