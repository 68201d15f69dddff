//! Items for the other crates of the workspace.
//!
//! **They are not part of the public interface** and may change in any release.

pub use crate::checksum::MAX_DIGEST_LEN;
pub use crate::fields::{i64_at, put, u8_at, u32_at};
pub use crate::header::MAGIC;
pub use crate::int::{to_u64, to_usize};
pub use crate::members::{Member, Members, with_value};
pub use crate::metadata::METADATA_HEADER_LEN;
pub use crate::offsets::{CHUNK_HEADER_LEN, ENTRY_LEN};
pub use crate::records::packing::{PACK_HEAD_LEN, Pack, most_packed};
pub use crate::seal::Seal;

/// JSON with the numbers that only Python writes.
pub mod json {
    pub use crate::json::{check, parse, plain};
}
