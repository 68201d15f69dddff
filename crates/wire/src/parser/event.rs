//! The events of the parser.

use crate::checksum::Digest;
use crate::header::Header;
use crate::metadata::{Metadata, MetadataHeader};
use crate::position::Position;
use blosc1::ChunkHeader;

/// Something that the parser has found.
///
/// ```text
/// for each member   Header, [Metadata], ChunksBegin
///   for each chunk    Chunk, any number of ChunkData, ChunkEnd
///                   MemberEnd
/// anywhere          NeedInput
/// ```
#[derive(Debug)]
pub enum Event<'a> {
    /// The input is used up: pass the next piece, or call [`finish`](super::Parser::finish) at the
    /// end.
    NeedInput,
    /// A member begins.
    Header(Header),
    /// Its metadata, with the header of the section in V3; unpacked and checked.
    Metadata(Metadata, Option<MetadataHeader>),
    /// All parts before the chunks are complete, including [`offsets`](super::Parser::offsets). The
    /// seal matches.
    ChunksBegin,
    /// A chunk begins: its header, parsed and as the 16 bytes with which the chunk begins.
    Chunk(ChunkHeader, [u8; 16]),
    /// More bytes of the chunk, as they are in the input. Their lengths follow the pieces of the
    /// input.
    ChunkData(&'a [u8]),
    /// The chunk is complete. Its digest is not checked; it is empty without a checksum.
    ChunkEnd(Digest),
    /// The last chunk of the member is complete, or its end mark was found.
    MemberEnd,
}

/// The result of a complete input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ending {
    /// Number of members.
    pub members: u64,
    /// Bytes after the last member that are ignored, as an append by the reference implementation
    /// leaves them; `None` if there are none.
    pub trailing: Option<Trailing>,
}

/// Bytes after the last chunk that belong to no part of a member (`docs/format.md`, "What a reader
/// checks").
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Trailing {
    /// Where they begin.
    pub position: Position,
    /// Number of these bytes.
    pub len: u64,
}
