//! [`FramePart`]: a part of a frame.

use crate::wire::kind::ArrayKind;
use std::fmt;

/// A part of a frame, as errors name it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FramePart {
    /// All of it.
    Frame,
    /// The header, which begins the frame.
    Header,
    /// The metalayers, in the header or in the trailer.
    Metalayers,
    /// The metalayer with this name.
    Metalayer(String),
    /// The metalayer that describes an array.
    Array(ArrayKind),
    /// All chunks together.
    Chunks,
    /// The chunk with this number.
    Chunk(u64),
    /// The index, which says where each chunk is.
    Index,
    /// The trailer, which ends the frame.
    Trailer,
    /// The last bytes of the trailer, which say how long it is.
    TrailerEnd,
}

impl fmt::Display for FramePart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Frame => f.write_str("frame"),
            Self::Header => f.write_str("frame header"),
            Self::Metalayers => f.write_str("metalayers"),
            Self::Metalayer(name) => write!(f, "metalayer {name:?}"),
            Self::Array(kind) => write!(f, "metalayer {:?}", kind.name()),
            Self::Chunks => f.write_str("chunks"),
            Self::Chunk(number) => write!(f, "chunk {number}"),
            Self::Index => f.write_str("frame index"),
            Self::Trailer => f.write_str("frame trailer"),
            Self::TrailerEnd => f.write_str("end of the frame trailer"),
        }
    }
}
