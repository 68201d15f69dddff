//! [`FrameError`]: what can be wrong with a Blosc2 frame, or with how it is used.

use crate::int::to_u64;
use crate::part::FramePart;
use crate::wire::kind::{FrameKind, VirtualKind};
use blosc1::{ChunkError, Fault};
use bloscpack_error::Detail;
use bloscpack_wire::Limit;
use std::fmt;
use thiserror::Error;

/// An error in a Blosc2 frame, or in how it is used: what was found, what was expected, and where.
///
/// [`fault`](Self::fault) sorts the variants by the side that must act. Functions that do I/O return it inside of a
/// [`bloscpack_error::Error`], which gives it back:
///
/// ```
/// use bloscpack_error::Category;
/// use bloscpack_frames::{Frame, FrameError, NdArray};
///
/// let plain = Frame::builder(8, 80_000).in_memory()?;
/// let error = NdArray::of(plain).unwrap_err();
/// assert_eq!(error.category(), Category::Unsupported);
/// assert!(matches!(error.detail(), Some(FrameError::NoArray)));
/// # Ok::<(), bloscpack_error::Error>(())
/// ```
///
/// An error of a chunk's own bytes is a [`ChunkError`] instead, with the number of the chunk as its position.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum FrameError {
    /// The input is not a Blosc2 frame.
    #[error("not a Blosc2 frame: {found}")]
    NotAFrame {
        /// The input, in a few words.
        found: String,
    },
    /// The frame is of the other kind: the metadata of a sparse frame was opened without its directory, or a directory
    /// contains the file of a contiguous frame.
    #[error("{}", wrong_kind(*found))]
    WrongKind {
        /// The kind of the frame.
        found: FrameKind,
    },
    /// The frame does not contain an array.
    #[error("this frame contains no array: it has neither a \"caterva\" nor a \"b2nd\" metalayer")]
    NoArray,
    /// The elements are not in the frame, which is an object of python-blosc2: a lazy expression, a proxy whose source was not
    /// fetched, and the like.
    #[error("{}", absent(*kind, what, *chunk))]
    Virtual {
        /// The kind of object.
        kind: VirtualKind,
        /// The object in words, with the expression or the source.
        what: String,
        /// The chunk that was not fetched, of a proxy.
        chunk: Option<u64>,
    },
    /// Another frame follows in the same file. Such files are only read.
    #[error("another frame begins at byte {at}; a file of several frames can only be read")]
    SeveralFrames {
        /// Byte of the file at which the next frame begins.
        at: u64,
    },
    /// Bytes are missing at the end of a part.
    #[error("{}: cut short after {found} of {expected} bytes", place(part, *at))]
    CutShort {
        /// The part.
        part: FramePart,
        /// Byte of the part (for a chunk, of the file) at which the missing bytes should begin.
        at: Option<u64>,
        /// Bytes that there are.
        found: u64,
        /// Bytes that there should be.
        expected: u64,
    },
    /// A part uses a version or a feature that this library does not support.
    #[error("{}: {field} {found} is not supported (expected {expected})", place(part, *at))]
    Unsupported {
        /// The part.
        part: FramePart,
        /// Byte of the part, where the error is about one.
        at: Option<u64>,
        /// The field.
        field: &'static str,
        /// Its value.
        found: String,
        /// The supported values.
        expected: String,
    },
    /// A field has a value that no program writes, or one that contradicts another part.
    #[error("{}: {field}: found {found}, expected {expected}", place(part, *at))]
    Damaged {
        /// The part.
        part: FramePart,
        /// Byte of the part (for a chunk, of the file), where the error is about one.
        at: Option<u64>,
        /// The field.
        field: &'static str,
        /// Its value.
        found: String,
        /// The possible values.
        expected: String,
    },
    /// Two chunks share bytes, so a change of one would change the other.
    #[error("chunks {first} and {second} overlap")]
    Overlap {
        /// Number of one chunk.
        first: u64,
        /// Number of the other.
        second: u64,
    },
    /// The file of a chunk of a sparse frame is missing.
    #[error("chunk {chunk}: its file is missing")]
    MissingChunk {
        /// Number of the chunk.
        chunk: u64,
    },
    /// A metalayer, or a chunk that only the index describes, is not a sound chunk.
    #[error("{part}: {error}")]
    Chunk {
        /// The part.
        part: FramePart,
        /// The error in the chunk.
        error: ChunkError,
    },
    /// A part exceeds one of the [`Limits`](bloscpack_wire::Limits).
    #[error("{part}: {limit} of {found} bytes exceeds the limit of {allowed}")]
    OverLimit {
        /// The part.
        part: FramePart,
        /// The limit.
        limit: Limit,
        /// Bytes found.
        found: u64,
        /// Bytes allowed.
        allowed: u64,
    },
    /// Memory for a part could not be had.
    #[error("{part}: not enough memory for {bytes} bytes")]
    NoMemory {
        /// The part.
        part: FramePart,
        /// Bytes wanted.
        bytes: u64,
    },
    /// The format has no place for a value.
    #[error("{part}: {field} {found} cannot be stored (expected {expected})")]
    CannotStore {
        /// The part.
        part: FramePart,
        /// The field.
        field: &'static str,
        /// The value.
        found: String,
        /// The possible values.
        expected: String,
    },
    /// The frame was opened for reading only.
    #[error("this frame was opened for reading only")]
    ReadOnly,
    /// An earlier change or flush has failed, so that the state of the frame is unknown.
    #[error("an earlier change failed; reopen the frame")]
    Poisoned,
    /// There is no chunk with this number.
    #[error("no chunk {number}: the frame has {chunks}")]
    NoChunk {
        /// The number asked for.
        number: u64,
        /// How many chunks there are; their numbers begin with 0.
        chunks: u64,
    },
    /// A buffer has the wrong length.
    #[error("{what}: got {found} bytes, expected {expected}")]
    WrongLength {
        /// The purpose of the buffer.
        what: &'static str,
        /// Its length in bytes.
        found: u64,
        /// The length that it has to have.
        expected: u64,
    },
    /// The elements are not of the type asked for.
    #[error("elements have {itemsize} bytes{}, which is not {asked}", described(dtype.as_deref()))]
    WrongType {
        /// Bytes of an element.
        itemsize: usize,
        /// The dtype in the words of the file, if the file says it.
        dtype: Option<String>,
        /// The Rust type asked for.
        asked: &'static str,
    },
}

impl FrameError {
    pub(crate) fn damaged(
        part: FramePart,
        at: Option<u64>,
        field: &'static str,
        found: impl fmt::Display,
        expected: impl fmt::Display,
    ) -> Self {
        Self::Damaged {
            part,
            at,
            field,
            found: found.to_string(),
            expected: expected.to_string(),
        }
    }

    pub(crate) fn unsupported(
        part: FramePart,
        at: Option<u64>,
        field: &'static str,
        found: impl fmt::Display,
        expected: impl fmt::Display,
    ) -> Self {
        Self::Unsupported {
            part,
            at,
            field,
            found: found.to_string(),
            expected: expected.to_string(),
        }
    }

    pub(crate) fn cut_short(part: FramePart, at: Option<u64>, found: u64, expected: u64) -> Self {
        Self::CutShort {
            part,
            at,
            found,
            expected,
        }
    }

    pub(crate) fn cannot_store(
        part: FramePart,
        field: &'static str,
        found: impl fmt::Display,
        expected: impl fmt::Display,
    ) -> Self {
        Self::CannotStore {
            part,
            field,
            found: found.to_string(),
            expected: expected.to_string(),
        }
    }

    /// Refuses a part that exceeds a limit.
    pub(crate) fn check_limit(
        part: FramePart,
        limit: Limit,
        found: u64,
        allowed: u64,
    ) -> Result<(), Self> {
        if found <= allowed {
            Ok(())
        } else {
            Err(Self::OverLimit {
                part,
                limit,
                found,
                allowed,
            })
        }
    }

    /// Refuses a buffer of another length than this.
    pub(crate) fn check_len(what: &'static str, found: usize, expected: usize) -> Result<(), Self> {
        if found == expected {
            Ok(())
        } else {
            Err(Self::WrongLength {
                what,
                found: to_u64(found),
                expected: to_u64(expected),
            })
        }
    }

    /// The side that must act, which decides the [`Category`](bloscpack_error::Category) of the error.
    #[must_use]
    pub fn fault(&self) -> Fault {
        match self {
            Self::NotAFrame { .. }
            | Self::NoArray
            | Self::Virtual { .. }
            | Self::SeveralFrames { .. }
            | Self::Unsupported { .. }
            | Self::WrongKind {
                found: FrameKind::Sparse,
            } => Fault::Unsupported,
            Self::CutShort { .. } => Fault::CutShort,
            Self::Damaged { .. }
            | Self::Overlap { .. }
            | Self::MissingChunk { .. }
            | Self::WrongKind {
                found: FrameKind::Contiguous,
            } => Fault::Damaged,
            Self::Chunk { error, .. } => match error.fault() {
                fault @ (Fault::OverLimit | Fault::Unsupported | Fault::Bug) => fault,
                // All bytes of the frame are there, so that this chunk was not cut short but replaced.
                _ => Fault::Damaged,
            },
            Self::OverLimit { .. } | Self::NoMemory { .. } => Fault::OverLimit,
            Self::CannotStore { .. }
            | Self::ReadOnly
            | Self::Poisoned
            | Self::NoChunk { .. }
            | Self::WrongLength { .. }
            | Self::WrongType { .. } => Fault::Usage,
        }
    }

    /// The byte that the error is about, within its part: the header, the trailer, a metalayer, or the decompressed index.
    #[must_use]
    pub fn at(&self) -> Option<u64> {
        match self {
            Self::CutShort { at, .. } | Self::Unsupported { at, .. } | Self::Damaged { at, .. } => {
                *at
            }
            _ => None,
        }
    }
}

impl Detail for FrameError {
    fn fault(&self) -> Fault {
        self.fault()
    }

    fn limit(&self) -> Option<Limit> {
        match self {
            Self::OverLimit { limit, .. } => Some(*limit),
            Self::Chunk {
                error: ChunkError::BlockOverLimit { .. },
                ..
            } => Some(Limit::Block),
            Self::Chunk {
                error: ChunkError::RatioOverLimit { .. },
                ..
            } => Some(Limit::Ratio),
            _ => None,
        }
    }

    fn hint(&self) -> Option<&'static str> {
        match self {
            Self::WrongKind {
                found: FrameKind::Sparse,
            } => Some("open the directory that contains this file"),
            Self::Virtual { chunk: None, .. } => {
                Some("compute it with python-blosc2, and save the result")
            }
            Self::Virtual { .. } => {
                Some("read the source, or fetch the rest of it with python-blosc2")
            }
            Self::ReadOnly => Some("open it with `edit` to change it"),
            Self::Poisoned => Some("all changes up to the last successful flush are kept"),
            _ => None,
        }
    }
}

/// A part, and a byte of it: `frame header (byte 10)`.
fn place(part: &FramePart, at: Option<u64>) -> String {
    match at {
        Some(at) => format!("{part} (byte {at})"),
        None => part.to_string(),
    }
}

fn absent(kind: VirtualKind, what: &str, chunk: Option<u64>) -> String {
    match chunk {
        Some(chunk) => format!("chunk {chunk} was not fetched: the frame is {what}"),
        None => format!(
            "the elements are not stored: the frame is {what}, and a {kind} is never evaluated"
        ),
    }
}

fn wrong_kind(found: FrameKind) -> &'static str {
    match found {
        FrameKind::Sparse => "this file is the metadata of a sparse frame, which is a directory",
        FrameKind::Contiguous => {
            "this is a contiguous frame, where that of a sparse frame should be"
        }
    }
}

fn described(dtype: Option<&str>) -> String {
    dtype.map_or_else(String::new, |dtype| format!(" ({dtype})"))
}
