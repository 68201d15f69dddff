//! [`FramePart`]: a part of a frame as error messages name it, and the errors in it.

use crate::wire::kind::ArrayKind;
use blosc1::{ChunkError, Fault};
use bloscpack_error::{Code, Error, Result};
use bloscpack_wire::Limit;
use std::fmt::{self, Display};

/// A part of a frame, as error messages name it.
#[derive(Debug, Clone)]
pub(crate) enum FramePart {
    /// The whole frame.
    Frame,
    /// The header, at the beginning of the frame.
    Header,
    /// The metalayers of the header or of the trailer.
    Metalayers,
    /// The metalayer with this name.
    Metalayer(String),
    /// The metalayer that describes an array.
    Array(ArrayKind),
    /// All chunks together.
    Chunks,
    /// The chunk with this number.
    Chunk(u64),
    /// The index of the chunks.
    Index,
    /// The trailer, at the end of the frame.
    Trailer,
    /// The last bytes of the trailer, which contain its length.
    TrailerEnd,
}

impl Display for FramePart {
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

/// The errors in this part, and memory for it.
///
/// `at` is the byte that the error is about: counted from the beginning of the part, or for a chunk from the beginning of its
/// file.
impl FramePart {
    /// A field has a value that no program writes, or that contradicts another part.
    ///
    /// The code depends on the part: [`Code::Header`], [`Code::Metadata`] (metalayers), [`Code::Chunk`], [`Code::Offsets`]
    /// (index), or [`Code::Damaged`] (trailer).
    pub(crate) fn damaged(
        &self,
        at: Option<u64>,
        field: &str,
        found: impl Display,
        expected: impl Display,
    ) -> Error {
        let code = match self {
            Self::Header => Code::Header,
            Self::Metalayers | Self::Metalayer(_) | Self::Array(_) => Code::Metadata,
            Self::Chunks | Self::Chunk(_) => Code::Chunk,
            Self::Index => Code::Offsets,
            Self::Frame | Self::Trailer | Self::TrailerEnd => Code::Damaged,
        };
        Error::unexpected(code, field, found, expected).in_part(self.byte(at))
    }

    /// The frame uses a version or feature that this crate does not support: [`Code::Unsupported`].
    pub(crate) fn unsupported(
        &self,
        at: Option<u64>,
        field: &str,
        found: impl Display,
        expected: impl Display,
    ) -> Error {
        let message = format!("{field} {found} is not supported (expected {expected})");
        Error::new(Code::Unsupported, message).in_part(self.byte(at))
    }

    /// The part ends after `found` of `expected` bytes: [`Code::CutShort`].
    pub(crate) fn cut_short(&self, at: Option<u64>, found: u64, expected: u64) -> Error {
        Error::cut_short(self.byte(at), found, expected)
    }

    /// The format cannot store this value: [`Code::CannotStore`].
    pub(crate) fn cannot_store(
        &self,
        field: &str,
        found: impl Display,
        expected: impl Display,
    ) -> Error {
        let message = format!("{field} {found} cannot be stored (expected {expected})");
        Error::new(Code::CannotStore, message).in_part(self)
    }

    /// The error for a metalayer, or a chunk that only the index describes, that does not decode.
    ///
    /// Damage of any kind becomes [`Code::Chunk`]. It is never "cut short": the whole frame was read, so the chunk was
    /// overwritten, not cut.
    pub(crate) fn bad_chunk(&self, error: ChunkError) -> Error {
        let error = match error.fault() {
            Fault::OverLimit | Fault::Unsupported | Fault::Bug => error.into(),
            // The whole frame was read, so the chunk was overwritten, not cut short.
            _ => Error::new(Code::Chunk, error.to_string()),
        };
        error.in_part(self)
    }

    /// A buffer of `len` zeros for the part, or [`Code::NoMemory`].
    pub(crate) fn zeros(&self, len: u64) -> Result<Vec<u8>> {
        bloscpack_error::checked::zeros(len).map_err(|error| error.in_part(self))
    }

    /// Refuses a part that needs more than `allowed`, with [`Code::OverLimit`].
    pub(crate) fn check_limit(&self, limit: Limit, found: u64, allowed: u64) -> Result<()> {
        Error::check_limit(limit, found, allowed).map_err(|error| error.in_part(self))
    }

    /// The name of the part with a byte in it: `frame header (byte 10)`.
    fn byte(&self, at: Option<u64>) -> String {
        match at {
            Some(at) => format!("{self} (byte {at})"),
            None => self.to_string(),
        }
    }
}
