//! The positions of the parts of a member, computed without overflow.

use super::error::FormatError;
use super::header::Header;
use super::int::to_u64;
use super::offsets::ENTRY_LEN;

/// Positions within a member, in bytes from its beginning.
///
/// ```text
/// 0           metadata_at    table_at        chunks_at
/// | header    | [metadata]   | [offset table] | chunks ...
/// ```
///
/// ```
/// use bloscpack_wire::{Geometry, Header, FormatVersion};
///
/// let header = Header { offsets: true, nchunks: Some(8), max_app_chunks: 80, ..Header::new(FormatVersion::V3) };
/// let geometry = Geometry::of(&header, 0)?;
/// assert_eq!((geometry.table_at, geometry.chunks_at), (32, 736));
/// # Ok::<(), bloscpack_wire::FormatError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Geometry {
    /// The position of the metadata, or where it would be: the end of the header.
    pub metadata_at: u64,
    /// The position of the offset table, or where it would be.
    pub table_at: u64,
    /// The position of the first chunk. For a table of unknown length, which only a parser can
    /// measure, this is the position of the table.
    pub chunks_at: u64,
}

impl Geometry {
    /// The positions for this header, with metadata of `metadata_len` bytes: the JSON text in V2,
    /// [`MetadataHeader::section_len`](super::MetadataHeader::section_len) in V3.
    ///
    /// # Errors
    /// Returns [`FormatError::Field`] if the chunks would begin at or after byte 2^63.
    pub fn of(header: &Header, metadata_len: u64) -> Result<Self, FormatError> {
        let metadata_at = to_u64(header.version.header_len());
        // 0 without a table, and for a table of unknown length.
        let entries = header.table_len().unwrap_or(0);
        let places = || {
            let table_at = metadata_at.checked_add(metadata_len)?;
            let chunks_at = table_at.checked_add(entries.checked_mul(ENTRY_LEN)?)?;
            i64::try_from(chunks_at).ok()?;
            Some(Self {
                metadata_at,
                table_at,
                chunks_at,
            })
        };
        let expected = "few enough for a table of offsets";
        places().ok_or_else(|| FormatError::field("number of chunks", entries, expected))
    }
}
