//! The events of the parser.

use crate::checksum::Digest;
use crate::header::Header;
use crate::metadata::{Metadata, MetadataHeader};
use crate::position::Position;
use blosc1::ChunkHeader;

/// Something that the parser has seen.
///
/// For each member: `Header`, perhaps `Metadata`, `ChunksBegin`, then for each chunk `Chunk`, any
/// number of `ChunkData`, and `ChunkEnd`; at last `MemberEnd`.
#[derive(Debug)]
pub enum Event<'a> {
    /// The input is used up: pass more, or call [`finish`](super::Parser::finish) at its end.
    NeedInput,
    /// A member begins.
    Header(Header),
    /// Its metadata, and the header of the section if it is of V3; unpacked and checked.
    Metadata(Metadata, Option<MetadataHeader>),
    /// Everything before the chunks has been seen; [`offsets`](super::Parser::offsets) is complete.
    ChunksBegin,
    /// A chunk begins: its header, and the same as the 16 bytes with which the chunk begins.
    Chunk(ChunkHeader, [u8; 16]),
    /// More bytes of the chunk, as they are in the input.
    ChunkData(&'a [u8]),
    /// The chunk is complete, followed by this digest; empty without a checksum.
    ChunkEnd(Digest),
    /// The last chunk of the member is complete, or its end mark has been seen.
    MemberEnd,
}

/// The end of a complete input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ending {
    /// Members seen.
    pub members: u64,
    /// Bytes after the last member, tolerated where the append of the reference implementation leaves them.
    pub trailing: Option<Trailing>,
}

/// Bytes after the last chunk that belong to no part of a member.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Trailing {
    /// Where they begin.
    pub position: Position,
    /// How many they are.
    pub len: u64,
}
