//! The error that every crate of the `bloscpack` workspace returns.
//!
//! An [`Error`] says what went wrong ([`Code`] and message), how a caller can react ([`Category`]), where in the input
//! ([`Position`]), on which [`Side`] of the work, and in which file, each where it is known.
//!
//! ```
//! use bloscpack::decompress;
//! use bloscpack_error::{Category, Code};
//!
//! let error = decompress(b"blpk\x03").unwrap_err();
//! assert_eq!(error.code(), Code::CutShort);
//! assert_eq!(error.category(), Category::CutShort);
//! assert_eq!(error.to_string(), "header (byte 0): cut short after 5 bytes of the header");
//! ```
//!
//! The layers below have small errors of their own, which convert into this one: [`ChunkError`](blosc1::ChunkError), [`FormatError`],
//! [`DTypeError`](bloscpack_dtype::DTypeError), and that of the storage layer.
#![forbid(unsafe_code)]

#[doc(hidden)]
pub mod checked;
mod code;
mod from;
mod side;

pub use code::{Category, Code};
pub use side::{IoSide, Side};

use bloscpack_wire::{FormatError, Limit, Position};
use std::borrow::Cow;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// The result of every fallible function of the workspace.
pub type Result<T> = std::result::Result<T, Error>;

/// An error: what went wrong, and where.
#[derive(Debug)]
pub struct Error(Box<Inner>);

#[derive(Debug)]
struct Inner {
    code: Code,
    cause: Cause,
    hint: Option<Cow<'static, str>>,
    part: Option<String>,
    position: Option<Position>,
    side: Option<Side>,
    path: Option<PathBuf>,
}

#[derive(Debug)]
enum Cause {
    Message(Cow<'static, str>),
    /// A message that contains that of its source.
    Because(String, Box<dyn std::error::Error + Send + Sync>),
    Io(io::Error),
    Format(FormatError),
}

impl Error {
    /// An error with this message: what was found, and what was expected.
    pub fn new(code: Code, message: impl Into<Cow<'static, str>>) -> Self {
        Self::of(code, Cause::Message(message.into()))
    }

    fn of(code: Code, cause: Cause) -> Self {
        Self(Box::new(Inner {
            code,
            cause,
            hint: None,
            part: None,
            position: None,
            side: None,
            path: None,
        }))
    }

    /// Wrong usage.
    pub fn usage(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(Code::Usage, message)
    }

    /// A broken invariant: `found` says which, with the values that break it.
    pub fn bug(found: impl fmt::Display) -> Self {
        Self::new(Code::Bug, format!("internal error: {found}"))
            .with_hint("this is a bug: please report it with the input")
    }

    /// A worker panicked.
    #[must_use]
    pub fn panicked() -> Self {
        Self::new(Code::Panicked, "a worker panicked")
    }

    /// A part has another value than the expected one.
    pub fn unexpected(
        code: Code,
        part: impl fmt::Display,
        found: impl fmt::Display,
        expected: impl fmt::Display,
    ) -> Self {
        Self::new(code, format!("{part}: found {found}, expected {expected}"))
    }

    /// Bytes of a part are missing.
    pub fn cut_short(part: impl fmt::Display, found: u64, expected: u64) -> Self {
        Self::new(
            Code::CutShort,
            format!("{part}: cut short after {found} of {expected} bytes"),
        )
    }

    /// There is not enough memory for so many bytes.
    #[must_use]
    pub fn no_memory(bytes: u64) -> Self {
        Self::new(
            Code::NoMemory,
            format!("not enough memory for {bytes} bytes"),
        )
        .with_hint("read or write less at once")
    }

    /// Refuses more bytes than a limit allows.
    ///
    /// # Errors
    /// Returns [`Code::OverLimit`] for more than `allowed`.
    pub fn check_limit(limit: Limit, found: u64, allowed: u64) -> Result<()> {
        if found <= allowed {
            Ok(())
        } else {
            Err(FormatError::Limit {
                limit,
                found,
                allowed,
            }
            .into())
        }
    }

    /// Another number of bytes than was announced.
    #[must_use]
    pub fn wrong_size(promised: u64, given: u64) -> Self {
        Self::new(Code::WrongSize, broken_promise("bytes", promised, given))
    }

    /// Another number of records than was announced.
    #[must_use]
    pub fn wrong_count(promised: u64, given: u64) -> Self {
        Self::new(Code::WrongCount, broken_promise("records", promised, given))
    }

    /// An error with a source, whose text the message contains.
    pub fn because(
        code: Code,
        message: impl Into<String>,
        source: impl Into<Box<dyn std::error::Error + Send + Sync>>,
    ) -> Self {
        Self::of(code, Cause::Because(message.into(), source.into()))
    }

    /// The same error, at this position.
    #[must_use]
    pub fn at(mut self, position: Position) -> Self {
        self.0.position = Some(position);
        self
    }

    /// The same error, in this part of the input unless a part is known already: `frame header (byte 10)`.
    #[must_use]
    pub fn in_part(mut self, part: impl fmt::Display) -> Self {
        self.0.part.get_or_insert_with(|| part.to_string());
        self
    }

    /// The same error, in this file unless a file is known already.
    #[must_use]
    pub fn in_file(mut self, path: impl Into<PathBuf>) -> Self {
        self.0.path.get_or_insert_with(|| path.into());
        self
    }

    /// The same error. If reading or writing failed, it was on this side, unless a side is known already.
    #[must_use]
    pub fn on(mut self, side: Side) -> Self {
        if matches!(self.0.cause, Cause::Io(_)) {
            self.0.side.get_or_insert(side);
        }
        self
    }

    /// The same error, of a change that is committed: if reading or writing failed, that was while it was completed.
    #[must_use]
    pub fn committed(mut self) -> Self {
        if self.0.code == Code::Io {
            self.0.code = Code::Committed;
        }
        self
    }

    /// The same error, with advice on what to do next.
    #[must_use]
    pub fn with_hint(mut self, hint: impl Into<Cow<'static, str>>) -> Self {
        self.0.hint = Some(hint.into());
        self
    }

    /// What went wrong.
    #[must_use]
    pub fn code(&self) -> Code {
        self.0.code
    }

    /// The category, which says how a caller can react.
    #[must_use]
    pub fn category(&self) -> Category {
        self.0.code.category()
    }

    /// The message without the location: what was found, and what was expected.
    #[must_use]
    pub fn message(&self) -> impl fmt::Display + '_ {
        Message(&self.0)
    }

    /// The position in the input, for an error that has one.
    #[must_use]
    pub fn position(&self) -> Option<&Position> {
        self.0.position.as_ref()
    }

    /// The part of the input, where it has no [`Position`]: of a frame, or of a file in another format.
    #[must_use]
    pub fn part(&self) -> Option<&str> {
        self.0.part.as_deref()
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

    /// Whether a store cannot do what it was asked for, as a plain web server cannot list its files.
    #[must_use]
    pub fn is_beyond_store(&self) -> bool {
        let kind = self.io_error().map(io::Error::kind);
        kind == Some(io::ErrorKind::Unsupported)
    }

    /// The error of the operating system, for [`Code::Io`] and [`Code::Committed`].
    #[must_use]
    pub fn io_error(&self) -> Option<&io::Error> {
        match &self.0.cause {
            Cause::Io(error) => Some(error),
            _ => None,
        }
    }

    /// The error of the operating system by value, for [`Code::Io`] and [`Code::Committed`].
    ///
    /// # Errors
    /// Returns any other error as it is.
    pub fn into_io_error(self) -> std::result::Result<io::Error, Self> {
        match *self.0 {
            Inner {
                cause: Cause::Io(error),
                ..
            } => Ok(error),
            inner => Err(Self(Box::new(inner))),
        }
    }

    /// The error in the bytes of a Bloscpack file, if it is one, rather than one in the way they were read or used.
    #[must_use]
    pub fn format_error(&self) -> Option<&FormatError> {
        match &self.0.cause {
            Cause::Format(error) => Some(error),
            _ => None,
        }
    }

    /// The limit that the input exceeds, if it exceeds one.
    #[must_use]
    pub fn limit(&self) -> Option<Limit> {
        self.format_error().and_then(FormatError::limit)
    }

    /// Whether only the end is missing: a stream without its end mark, or a file that its writer did not finish. The
    /// chunks before it can be read by a decoder that allows unterminated input.
    #[must_use]
    pub fn is_unended(&self) -> bool {
        self.format_error().is_some_and(FormatError::is_unended)
    }

    /// Whether the bytes of a Bloscpack file are wrong, rather than the way they were read or used.
    #[must_use]
    pub fn is_format(&self) -> bool {
        self.format_error().is_some()
    }

    /// Advice on what to do next, where there is any.
    #[must_use]
    pub fn hint(&self) -> Option<&str> {
        if let Some(hint) = &self.0.hint {
            return Some(hint);
        }
        match (self.limit(), self.code()) {
            (Some(limit), Code::WriteLimit) => return Some(write_limit_hint(limit)),
            (Some(limit), _) => return Some(limit_hint(limit)),
            (None, _) => {}
        }
        match &self.0.cause {
            Cause::Format(error) if error.is_unended() => {
                Some("allow unterminated input to read the complete chunks")
            }
            Cause::Format(FormatError::Magic { .. }) => {
                Some("the input may be damaged, or compressed by another program")
            }
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

fn broken_promise(unit: &str, promised: u64, given: u64) -> String {
    if given > promised {
        format!("expected {promised} {unit}, but there are more")
    } else {
        format!("expected {promised} {unit}, got only {given}")
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
        if let Some(part) = self.part() {
            write!(f, "{part}: ")?;
        }
        f.write_str(without_number(&Message(&self.0).to_string()))
    }
}

/// The text of a system error without its number, which means nothing to most people.
fn without_number(text: &str) -> &str {
    match text.rsplit_once(" (os error ") {
        // Windows ends them with a dot.
        Some((words, number)) if number.trim_end_matches(')').parse::<i32>().is_ok() => {
            words.trim_end_matches('.')
        }
        _ => text,
    }
}

/// The message of an error, without its location.
struct Message<'a>(&'a Inner);

impl fmt::Display for Message<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0.cause {
            Cause::Message(message) => f.write_str(message),
            Cause::Because(message, _) => f.write_str(message),
            Cause::Io(error) if self.0.code == Code::Committed => {
                write!(f, "the change is committed, but not completed: {error}")
            }
            Cause::Io(error) => error.fmt(f),
            Cause::Format(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for Error {
    /// The source of the error that this one holds: the message contains that error already.
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match &self.0.cause {
            Cause::Message(_) => None,
            Cause::Because(_, error) => error.source(),
            Cause::Io(error) => error.source(),
            Cause::Format(error) => error.source(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Error;
    use std::io;

    #[test]
    fn numbers_of_the_system_are_not_in_messages() {
        let full = io::Error::from_raw_os_error(28);
        assert!(full.to_string().contains("28"));
        let error = Error::from(full);
        assert!(!error.to_string().contains("28"), "{error}");
        assert_eq!(error.io_error().and_then(io::Error::raw_os_error), Some(28));
        for (text, shown) in [
            ("odd (os error x)", "odd (os error x)"),
            ("'a': Access denied. (os error 5)", "'a': Access denied"),
        ] {
            assert_eq!(Error::from(io::Error::other(text)).to_string(), shown);
        }
    }
}
