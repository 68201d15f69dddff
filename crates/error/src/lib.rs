//! The error that every crate of the `bloscpack` workspace returns.
//!
//! An [`Error`] says what went wrong ([`ErrorKind`]), how a caller can react ([`Category`]), where in the input
//! ([`Position`]), on which [`Side`] of the work, and in which file, each where it is known.
//!
//! ```
//! use bloscpack::decompress;
//! use bloscpack_error::Category;
//!
//! let error = decompress(b"blpk\x03").unwrap_err();
//! assert_eq!(error.category(), Category::CutShort);
//! assert_eq!(error.to_string(), "header (byte 0): cut short after 5 bytes of the header");
//! ```
//!
//! The layers below have small errors of their own, which convert into this one: [`ChunkError`], [`FormatError`],
//! [`DTypeError`](bloscpack_dtype::DTypeError), and that of the storage layer. The crates above add errors of their own as a [`Detail`].
#![forbid(unsafe_code)]

mod category;
#[doc(hidden)]
pub mod checked;
mod detail;
mod from;
mod kind;
mod side;

pub use category::Category;
pub use detail::Detail;
pub use kind::ErrorKind;
pub use side::{IoSide, Side};

use blosc1::ChunkError;
use bloscpack_wire::{FormatError, Limit, Position};
use std::fmt;
use std::path::{Path, PathBuf};

/// The result of every fallible function of the workspace.
pub type Result<T> = std::result::Result<T, Error>;

/// An error: its kind, and where it happened.
#[derive(Debug)]
pub struct Error(Box<Inner>);

#[derive(Debug)]
struct Inner {
    kind: ErrorKind,
    position: Option<Position>,
    side: Option<Side>,
    path: Option<PathBuf>,
}

impl Error {
    /// An error of this kind, at this position where it has one.
    #[must_use]
    pub fn new(kind: ErrorKind, position: Option<Position>) -> Self {
        Self(Box::new(Inner {
            kind,
            position,
            side: None,
            path: None,
        }))
    }

    /// Wrong usage.
    pub fn usage(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Usage(message.into()), None)
    }

    /// A broken invariant: `found` says which, with the values that break it.
    pub fn bug(found: impl Into<String>) -> Self {
        Self::new(ErrorKind::Bug(found.into()), None)
    }

    /// The same error. If reading or writing failed, it was on this side, unless a side is known already.
    #[must_use]
    pub fn on(mut self, side: Side) -> Self {
        if matches!(self.kind(), ErrorKind::Io(_) | ErrorKind::Committed(_)) {
            self.0.side.get_or_insert(side);
        }
        self
    }

    /// The same error, of a change that is committed: if reading or writing failed, that was while it was completed.
    #[must_use]
    pub fn committed(mut self) -> Self {
        if let ErrorKind::Io(error) = &mut self.0.kind {
            let error = std::mem::replace(error, std::io::ErrorKind::Other.into());
            self.0.kind = ErrorKind::Committed(error);
        }
        self
    }

    /// The same error, in this file unless a file is known already.
    #[must_use]
    pub fn in_file(mut self, path: impl Into<PathBuf>) -> Self {
        self.0.path.get_or_insert_with(|| path.into());
        self
    }

    /// The kind.
    #[must_use]
    pub fn kind(&self) -> &ErrorKind {
        &self.0.kind
    }

    /// The kind, by value.
    #[must_use]
    pub fn into_kind(self) -> ErrorKind {
        self.0.kind
    }

    /// The position in the input, for an error that has one.
    #[must_use]
    pub fn position(&self) -> Option<&Position> {
        self.0.position.as_ref()
    }

    /// The side of the work on which reading or writing failed; `None` for other errors.
    #[must_use]
    pub fn side(&self) -> Option<Side> {
        self.0.side
    }

    /// The file, where that is known. For a dataset the path is relative to its root.
    #[must_use]
    pub fn path(&self) -> Option<&Path> {
        self.0.path.as_deref()
    }

    /// The category, which says how a caller can react.
    #[must_use]
    pub fn category(&self) -> Category {
        match self.kind() {
            ErrorKind::Io(_)
            | ErrorKind::WrongSize { .. }
            | ErrorKind::WrongCount { .. }
            | ErrorKind::Value { .. }
            | ErrorKind::Panicked
            | ErrorKind::Bug(_) => Category::Failed,
            ErrorKind::Committed(_) => Category::Committed,
            ErrorKind::Usage(_) => Category::Usage,
            ErrorKind::Format(error) => error.fault().into(),
            ErrorKind::Detail(detail) => detail.fault().into(),
        }
    }

    /// The limit that the input exceeds, if it exceeds one.
    #[must_use]
    pub fn limit(&self) -> Option<Limit> {
        match self.kind() {
            ErrorKind::Format(error) => error.limit(),
            ErrorKind::Detail(detail) => detail.limit(),
            _ => None,
        }
    }

    /// The error of a crate above this one, such as `DatasetError` or `FrameError`, if it is one.
    #[must_use]
    pub fn detail<T: Detail>(&self) -> Option<&T> {
        match self.kind() {
            ErrorKind::Detail(detail) => {
                let error: &dyn std::error::Error = detail.as_ref();
                error.downcast_ref()
            }
            _ => None,
        }
    }

    /// Whether only the end is missing: a stream without its end mark, or a file that its writer did not finish. The
    /// chunks before it can be read by a decoder that allows unterminated input.
    #[must_use]
    pub fn is_unended(&self) -> bool {
        matches!(self.kind(), ErrorKind::Format(error) if error.is_unended())
    }

    /// Whether the bytes of a Bloscpack file are wrong, rather than the way they were read or used.
    #[must_use]
    pub fn is_format(&self) -> bool {
        matches!(self.kind(), ErrorKind::Format(_))
    }

    /// Advice on what to do next, where there is any.
    #[must_use]
    pub fn hint(&self) -> Option<&'static str> {
        if let ErrorKind::Format(FormatError::WriteLimit { limit, .. }) = self.kind() {
            return Some(write_limit_hint(*limit));
        }
        if let Some(limit) = self.limit() {
            return Some(limit_hint(limit));
        }
        match self.kind() {
            ErrorKind::Format(error) if error.is_unended() => {
                Some("allow unterminated input to read the chunks that are there")
            }
            ErrorKind::Format(FormatError::Magic { .. }) => {
                Some("the input may be damaged, or compressed by another program")
            }
            ErrorKind::Bug(_) => Some("this is a bug: please report it with the input"),
            ErrorKind::Detail(detail) => detail.hint(),
            _ => None,
        }
    }
}

fn limit_hint(limit: Limit) -> &'static str {
    match limit {
        Limit::Chunk => "raise the limit `chunk` if you trust the input",
        Limit::Block => "raise the limit `block` if you trust the input",
        Limit::Metadata => "raise the limit `metadata` if you trust the input",
        Limit::Offsets => "raise the limit `offsets` if you trust the input",
        Limit::Ratio => "raise the limit `ratio` if you trust the input",
        Limit::Total => "raise the limit `total` if you want that much",
    }
}

fn write_limit_hint(limit: Limit) -> &'static str {
    match limit {
        Limit::Chunk => "raise the limit `chunk` of the writer and of every reader",
        Limit::Block => "raise the limit `block` of the writer and of every reader",
        Limit::Metadata => "raise the limit `metadata` of the writer and of every reader",
        Limit::Offsets => {
            "use larger chunks, or raise the limit `offsets` of the writer and of every reader"
        }
        Limit::Ratio => "raise the limit `ratio` of the writer and of every reader",
        Limit::Total => "raise the limit `total` of the writer and of every reader",
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(path) = self.path() {
            write!(f, "{}: ", path.display())?;
        }
        if let Some(position) = self.position() {
            write!(f, "{position}: ")?;
        }
        self.kind().fmt(f)
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.kind().cause()
    }
}

impl From<ChunkError> for Error {
    fn from(error: ChunkError) -> Self {
        FormatError::Chunk(error).into()
    }
}
