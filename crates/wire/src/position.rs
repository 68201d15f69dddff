//! A place in the input: byte, member, chunk and section.

use std::fmt;

/// A part of a Bloscpack file, in the order of the parts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Section {
    /// The 8, 16 or 32 bytes at the beginning of a member.
    Header,
    /// The metadata: header, JSON text, room and digest.
    Metadata,
    /// The offset table.
    Offsets,
    /// A Blosc chunk.
    Chunk,
    /// The digest after a chunk.
    Digest,
    /// Spare space after a digest.
    Spare,
    /// The bytes after the last counted chunk, up to the next member.
    Trailer,
}

impl fmt::Display for Section {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Header => "header",
            Self::Metadata => "metadata",
            Self::Offsets => "offsets",
            Self::Chunk => "chunk",
            Self::Digest => "digest",
            Self::Spare => "spare space",
            Self::Trailer => "trailer",
        })
    }
}

/// A place in the input, for errors and reports.
///
/// It is displayed as `chunk 3 (byte 41984)`, preceded by the member if that is not the first:
///
/// ```
/// use bloscpack_wire::{Position, Section};
///
/// let mut place = Position { byte: 41984, member: 0, chunk: Some(3), section: Section::Chunk };
/// assert_eq!(place.to_string(), "chunk 3 (byte 41984)");
/// place.member = 2;
/// assert_eq!(place.to_string(), "member 2, chunk 3 (byte 41984)");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Position {
    /// Bytes from the beginning of the input, across all members.
    pub byte: u64,
    /// Number of the member, from 0.
    pub member: u64,
    /// Number of the chunk within its member, from 0; `None` if the place is not in a chunk, digest
    /// or spare space.
    pub chunk: Option<u64>,
    /// The part of the member.
    pub section: Section,
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.member > 0 {
            write!(f, "member {}, ", self.member)?;
        }
        match (self.section, self.chunk) {
            (Section::Chunk, Some(chunk)) => write!(f, "chunk {chunk}")?,
            (section, Some(chunk)) => write!(f, "{section} of chunk {chunk}")?,
            (section, None) => write!(f, "{section}")?,
        }
        write!(f, " (byte {})", self.byte)
    }
}
