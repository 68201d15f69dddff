//! Conversions from the errors of the layers below, and to and from [`io::Error`].

use crate::{Category, Cause, Code, Error};
use blosc1::ChunkError;
use bloscpack_dtype::npy::NpyError;
use bloscpack_dtype::{DTypeError, WrongElement};
use bloscpack_storage as storage;
use bloscpack_storage::ArchiveError;
use bloscpack_storage::parallel::Panicked;
use bloscpack_wire::{FormatError, ParseError};
use std::io;

/// The byte that marks a file with an unfinished change. Storage and wire each define it and do not depend on
/// each other.
const _: () = assert!(storage::internal::MARK == bloscpack_wire::MARK);

impl From<ParseError> for Error {
    fn from(ParseError { error, position }: ParseError) -> Self {
        Self::from(error).at(position)
    }
}

impl From<ChunkError> for Error {
    fn from(error: ChunkError) -> Self {
        FormatError::Chunk(error).into()
    }
}

impl From<FormatError> for Error {
    fn from(error: FormatError) -> Self {
        Self::of(Code::from(&error), Cause::Format(error))
    }
}

impl From<DTypeError> for Error {
    fn from(error: DTypeError) -> Self {
        let code = if error.is_too_large() {
            Code::CannotStore
        } else {
            Code::Value
        };
        Self::new(code, error.to_string())
    }
}

impl From<WrongElement> for Error {
    fn from(error: WrongElement) -> Self {
        Self::new(Code::WrongType, error.to_string())
    }
}

impl From<NpyError> for Error {
    fn from(error: NpyError) -> Self {
        let code = if error.is_cut_short() {
            Code::CutShort
        } else {
            Code::Unsupported
        };
        Self::new(code, error.to_string())
    }
}

impl From<ArchiveError> for Error {
    fn from(error: ArchiveError) -> Self {
        let code = if error.is_damaged {
            Code::Damaged
        } else {
            Code::Unsupported
        };
        Self::new(code, error.to_string())
    }
}

impl From<Panicked> for Error {
    fn from(_: Panicked) -> Self {
        Self::panicked()
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
            storage::Error::Committed(error) => Self::of(Code::Committed, Cause::Io(error)),
            storage::Error::Bug { found } => Self::bug(found),
            storage::Error::Archive(error) => error.into(),
            other => Self::bug(other),
        }
    }
}

impl From<io::Error> for Error {
    /// Unwraps an [`Error`] of this crate or of storage that passed through [`io::Read`] or [`io::Write`]. Any
    /// other I/O error becomes [`Code::Io`].
    fn from(error: io::Error) -> Self {
        match error.downcast::<Self>() {
            Ok(error) => error,
            Err(error) => match error.downcast::<storage::Error>() {
                Ok(error) => error.into(),
                Err(error) => Self::of(Code::Io, Cause::Io(error)),
            },
        }
    }
}

impl From<Error> for io::Error {
    /// Returns the original I/O error for [`Code::Io`], without side, path and position. Wraps any other error,
    /// with the kind `UnexpectedEof` (cut short), `InvalidData` (damaged), `Unsupported` (unsupported, over a
    /// limit), `InvalidInput` (usage) or `Other`. Converting back returns the same error.
    fn from(error: Error) -> Self {
        let kind = match error.category() {
            Category::CutShort => io::ErrorKind::UnexpectedEof,
            Category::Damaged => io::ErrorKind::InvalidData,
            Category::Unsupported | Category::OverLimit => io::ErrorKind::Unsupported,
            Category::Usage => io::ErrorKind::InvalidInput,
            Category::Failed | Category::Committed => io::ErrorKind::Other,
        };
        if error.code() == Code::Committed {
            return Self::new(kind, error);
        }
        error
            .into_io_error()
            .unwrap_or_else(|error| Self::new(kind, error))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bloscpack_wire::{Position, Section};

    #[test]
    fn no_message_comes_twice_along_the_chain() {
        let chunk = ChunkError::Bug { what: "a chunk" };
        let through = io::Error::other(Error::usage("through I/O"));
        for error in [
            Error::from(FormatError::from(chunk)),
            Error::from(io::Error::from_raw_os_error(28)).in_file("there"),
            Error::from(io::Error::other(io::Error::other(through))),
            Error::because(
                Code::RecordValue,
                "record 3: a value",
                io::Error::other(Error::usage("a value")),
            ),
        ] {
            let mut seen: Vec<String> = Vec::new();
            let mut next: Option<&(dyn std::error::Error + 'static)> = Some(&error);
            while let Some(error) = next {
                let message = error.to_string();
                let is_new = seen.iter().all(|before| !before.contains(&message));
                assert!(is_new, "{message} after {seen:?}");
                seen.push(message);
                next = error.source();
            }
        }
    }

    #[test]
    fn nothing_is_lost_on_the_way_through_io() {
        let position = Position {
            byte: 7,
            member: 0,
            chunk: Some(1),
            section: Section::Chunk,
        };
        let error = Error::from(FormatError::Trailing).at(position);
        let through = Error::from(io::Error::from(error));
        assert_eq!(through.position(), Some(&position));
        assert_eq!(through.format_error(), Some(&FormatError::Trailing));

        let io = io::Error::from(Error::from(io::Error::from_raw_os_error(28)));
        assert_eq!(io.raw_os_error(), Some(28));
    }
}
