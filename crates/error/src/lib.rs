//! The public error: what went wrong, where, and what can be done.

use blosc1::{ChunkError, Fault};
use bloscpack_dtype::{DTypeError, WrongElement};
use bloscpack_storage as storage;
use bloscpack_storage::parallel::Panicked;
use bloscpack_wire::{FormatError, ParseError, Position};
use std::{fmt, io};

/// The mark of an interrupted change, as storage writes it, is the one that the reader of a header
/// reports.
const _: () = assert!(storage::internal::MARK == bloscpack_wire::MARK);

/// What every function of this crate fails with.
pub type Result<T> = std::result::Result<T, Error>;

/// An error: its kind, and the place in the input where it has one.
///
/// ```
/// use bloscpack::decompress;
/// use bloscpack_error::Category;
/// let error = decompress(b"blpk\x03").unwrap_err();
/// assert_eq!(error.category(), Category::CutShort);
/// assert_eq!(error.to_string(), "header (byte 0): cut short after 5 bytes of the header");
/// ```
#[derive(Debug)]
pub struct Error(Box<Inner>);

#[derive(Debug)]
struct Inner {
    kind: ErrorKind,
    position: Option<Position>,
    /// The file of a dataset that it is about.
    path: Option<Box<str>>,
}

/// What went wrong, by who has to act.
#[derive(Debug)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The environment: reading or writing failed.
    Io(io::Error),
    /// The input: its bytes are not what the format says, or more than a limit allows.
    Format(FormatError),
    /// The caller: options that contradict each other or a call that cannot be.
    Usage(String),
    /// The caller promised another number of bytes than it gave.
    WrongSize {
        /// Bytes promised.
        promised: u64,
        /// Bytes given, or one more than promised where there were too many.
        given: u64,
    },
    /// The caller promised another number of records than it gave.
    WrongCount {
        /// Records promised.
        promised: u64,
        /// Records given, or one more than promised where there were too many.
        given: u64,
    },
    /// A record is not the value that it was asked for, or a value cannot be a record.
    Value {
        /// The number of the record.
        record: u64,
        /// What is wrong.
        error: Box<dyn std::error::Error + Send + Sync>,
    },
    /// A dataset: its files contradict each other, or are not what its layout says.
    Dataset {
        /// Who has to act.
        fault: Fault,
        /// What was found, and what was expected.
        what: String,
    },
    /// A Blosc2 frame: its parts contradict each other, or are not what the format says.
    Frame {
        /// Who has to act.
        fault: Fault,
        /// What was found, and what was expected.
        what: String,
    },
    /// A worker panicked: a bug, in this crate or in a plugged hasher.
    Panicked,
}

/// What a caller can do about an error; the exit statuses of `blpk` stand on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Category {
    /// The work failed: I/O, permission, space, a promise not kept. Status 1.
    Failed,
    /// Wrong usage. Status 2.
    Usage,
    /// The data is damaged: a digest or a contradiction. Status 3.
    Damaged,
    /// The data is cut short, unterminated or unfinished. Status 4.
    CutShort,
    /// Not a format that is known, or not supported by this build. Status 5.
    Unsupported,
    /// Over one of the [`Limits`](bloscpack_wire::Limits). Status 5.
    OverLimit,
}

impl Error {
    /// An error of this kind, at this position where it has one.
    #[must_use]
    pub fn new(kind: ErrorKind, position: Option<Position>) -> Self {
        Self(Box::new(Inner {
            kind,
            position,
            path: None,
        }))
    }

    /// Something that is wrong with a dataset.
    pub fn dataset(fault: Fault, what: impl Into<String>) -> Self {
        let what = what.into();
        Self::new(ErrorKind::Dataset { fault, what }, None)
    }

    /// Something that is wrong with a Blosc2 frame.
    pub fn frame(fault: Fault, what: impl Into<String>) -> Self {
        let what = what.into();
        Self::new(ErrorKind::Frame { fault, what }, None)
    }

    /// The error, said to be about this file of a dataset, unless it is known to be about another.
    pub fn in_file(mut self, path: impl fmt::Display) -> Self {
        let known = self.0.path.take();
        self.0.path = Some(known.unwrap_or_else(|| path.to_string().into_boxed_str()));
        self
    }

    /// Wrong usage.
    pub fn usage(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Usage(message.into()), None)
    }

    /// What went wrong.
    #[must_use]
    pub fn kind(&self) -> &ErrorKind {
        &self.0.kind
    }

    /// Where in the input, if it is about a place there.
    #[must_use]
    pub fn position(&self) -> Option<&Position> {
        self.0.position.as_ref()
    }

    /// The file that it is about, below the root of a dataset.
    #[must_use]
    pub fn path(&self) -> Option<&str> {
        self.0.path.as_deref()
    }

    /// What a caller can do about it.
    #[must_use]
    pub fn category(&self) -> Category {
        match self.kind() {
            ErrorKind::Io(_)
            | ErrorKind::WrongSize { .. }
            | ErrorKind::WrongCount { .. }
            | ErrorKind::Value { .. }
            | ErrorKind::Panicked => Category::Failed,
            ErrorKind::Usage(_) => Category::Usage,
            ErrorKind::Format(error) => by_fault(error.fault()),
            ErrorKind::Dataset { fault, .. } | ErrorKind::Frame { fault, .. } => by_fault(*fault),
        }
    }

    /// Whether only the writer's last word is missing: a stream without its end mark, or a file
    /// that was not finished. What there is can be read with
    /// [`allow_unterminated`](bloscpack::DecoderBuilder::allow_unterminated).
    #[must_use]
    pub fn is_unended(&self) -> bool {
        matches!(self.kind(), ErrorKind::Format(error) if error.is_unended())
    }

    /// Whether the bytes of a file are what is wrong, and not the way they came or who asked for them.
    pub fn is_format(&self) -> bool {
        matches!(self.kind(), ErrorKind::Format(_))
    }

    /// What one might do next, where there is advice.
    #[must_use]
    pub fn hint(&self) -> Option<&'static str> {
        match self.kind() {
            ErrorKind::Format(FormatError::Limit { what, .. }) => Some(match *what {
                "metadata" => "raise the limit `metadata` if the input is to be trusted",
                "table of offsets" => "raise the limit `offsets` if the input is to be trusted",
                "the content" => "raise the limit `total` if so much is wanted",
                _ => "raise the limit `chunk` if the input is to be trusted",
            }),
            ErrorKind::Format(FormatError::Chunk(ChunkError::BlockOverLimit { .. })) => {
                Some("raise the limit `block` if the input is to be trusted")
            }
            ErrorKind::Format(FormatError::Chunk(ChunkError::RatioOverLimit { .. })) => {
                Some("raise the limit `ratio` if the input is to be trusted")
            }
            ErrorKind::Format(error) if error.is_unended() => {
                Some("allow unterminated input to read the chunks that are there")
            }
            ErrorKind::Format(FormatError::Magic { .. }) => {
                Some("the input may be damaged, or compressed by another program")
            }
            _ => None,
        }
    }
}

/// Whose business a fault is.
fn by_fault(fault: Fault) -> Category {
    match fault {
        Fault::Damaged => Category::Damaged,
        Fault::CutShort => Category::CutShort,
        Fault::Unsupported => Category::Unsupported,
        Fault::OverLimit => Category::OverLimit,
        Fault::Usage => Category::Usage,
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(path) = self.path() {
            write!(f, "{path}: ")?;
        }
        if let Some(position) = self.position() {
            write!(f, "{position}: ")?;
        }
        match self.kind() {
            ErrorKind::Io(error) => error.fmt(f),
            ErrorKind::Format(error) => error.fmt(f),
            ErrorKind::Usage(message) => f.write_str(message),
            ErrorKind::WrongSize { promised, given } => {
                write_broken_promise(f, "bytes", *promised, *given)
            }
            ErrorKind::WrongCount { promised, given } => {
                write_broken_promise(f, "records", *promised, *given)
            }
            ErrorKind::Value { record, error } => write!(f, "record {record}: {error}"),
            ErrorKind::Dataset { what, .. } | ErrorKind::Frame { what, .. } => f.write_str(what),
            ErrorKind::Panicked => f.write_str("a worker panicked"),
        }
    }
}

fn write_broken_promise(
    f: &mut fmt::Formatter<'_>,
    what: &str,
    promised: u64,
    given: u64,
) -> fmt::Result {
    write!(f, "{promised} {what} were promised, but ")?;
    if given > promised {
        f.write_str("there are more")
    } else {
        write!(f, "only {given} came")
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self.kind() {
            ErrorKind::Io(error) => Some(error),
            ErrorKind::Format(error) => Some(error),
            ErrorKind::Value { error, .. } => Some(error.as_ref()),
            _ => None,
        }
    }
}

impl From<ParseError> for Error {
    fn from(ParseError { error, position }: ParseError) -> Self {
        Self::new(ErrorKind::Format(error), Some(position))
    }
}

impl From<FormatError> for Error {
    fn from(error: FormatError) -> Self {
        Self::new(ErrorKind::Format(error), None)
    }
}

impl From<DTypeError> for Error {
    fn from(error: DTypeError) -> Self {
        Self::dataset(Fault::Damaged, error.to_string())
    }
}

impl From<ChunkError> for Error {
    fn from(error: ChunkError) -> Self {
        FormatError::from(error).into()
    }
}

impl From<WrongElement> for Error {
    fn from(error: WrongElement) -> Self {
        Self::dataset(Fault::Usage, error.to_string())
    }
}

impl From<Panicked> for Error {
    fn from(_: Panicked) -> Self {
        Self::new(ErrorKind::Panicked, None)
    }
}

impl From<storage::Error> for Error {
    fn from(error: storage::Error) -> Self {
        match error {
            storage::Error::Io(error) => error.into(),
            storage::Error::Interrupted { fault, .. } => {
                let why = fault.as_str();
                FormatError::Interrupted { why }.into()
            }
            bug => io::Error::other(bug).into(),
        }
    }
}

impl From<io::Error> for Error {
    /// An error that came through [`io::Read`] or [`io::Write`] is itself again.
    fn from(error: io::Error) -> Self {
        error
            .downcast::<Self>()
            .unwrap_or_else(|error| Self::new(ErrorKind::Io(error), None))
    }
}

impl From<Error> for io::Error {
    fn from(error: Error) -> Self {
        let kind = match (error.kind(), error.category()) {
            (ErrorKind::Io(_), _) => {
                let Inner { kind, .. } = *error.0;
                return if let ErrorKind::Io(error) = kind {
                    error
                } else {
                    Self::other("unreachable")
                };
            }
            (_, Category::CutShort) => io::ErrorKind::UnexpectedEof,
            (_, Category::Damaged) => io::ErrorKind::InvalidData,
            (_, Category::Unsupported | Category::OverLimit) => io::ErrorKind::Unsupported,
            (_, Category::Usage) => io::ErrorKind::InvalidInput,
            (_, Category::Failed) => io::ErrorKind::Other,
        };
        Self::new(kind, error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bloscpack_wire::Section;

    #[test]
    fn nothing_is_lost_on_the_way_through_io() {
        let position = Position {
            byte: 7,
            member: 0,
            chunk: Some(1),
            section: Section::Chunk,
        };
        let error = Error::new(ErrorKind::Format(FormatError::Trailing), Some(position));
        let through = Error::from(io::Error::from(error));
        assert_eq!(through.position(), Some(&position));
        assert!(matches!(
            through.kind(),
            ErrorKind::Format(FormatError::Trailing)
        ));

        let io = io::Error::from(Error::from(io::Error::from_raw_os_error(28)));
        assert_eq!(io.raw_os_error(), Some(28));
    }
}
