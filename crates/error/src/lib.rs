//! The error that every crate of the `bloscpack` workspace returns.
//!
//! ```text
//!  error of a layer      ┌───────────────────────── Error ─────────────────────────┐
//!                        │                                                         │
//!  blosc1::ChunkError ─┐ │ what      Code ──────► Category ──────► exit status     │
//!  wire::FormatError  ─┤ │           "digest"     Damaged          of `blpk`: 3    │
//!  dtype::DTypeError  ─┼►│           message, hint                                 │
//!  storage::Error     ─┤ │ where     path, then Position or part                   │
//!  io::Error          ─┘ │ I/O only  Side: source or target                        │
//!                        └─────────────────────────────────────────────────────────┘
//!  shown as              PATH: POSITION: PART: MESSAGE       (without what is unknown)
//! ```
//!
//! [`Code`] is stable and precise; compare codes, not messages. [`Category`] groups codes by how a caller can
//! react. `docs/errors.md` lists every code with advice.
//!
//! | [`Category`] | exit status | meaning | example of a [`Code`] |
//! |---|--:|---|---|
//! | `Failed` | 1 | the work failed: I/O, a wrong announced size, a bug | `Io`, `WrongSize` |
//! | `Usage` | 2 | the call is impossible | `OutOfBounds`, `NeedsDtype` |
//! | `Damaged` | 3 | the data is damaged | `Digest`, `Chunk` |
//! | `CutShort` | 4 | the data is incomplete | `CutShort`, `Interrupted` |
//! | `Unsupported` | 5 | unknown format, or not in this build | `UnknownFormat`, `NotBuilt` |
//! | `OverLimit` | 5 | over a limit, or out of memory | `OverLimit`, `NoMemory` |
//! | `Committed` | 6 | the change is made; do not repeat it | `Committed` |
//!
//! # Reading an error
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
//! # Making an error
//!
//! Return [`Error::new`] or one of the shorter constructors, then add the location where it is known. The
//! location methods keep what an inner layer has set, except [`Error::at`], which replaces the position:
//!
//! ```
//! use bloscpack_error::{Code, Error};
//!
//! let error = Error::cut_short("offset table", 40, 64).in_part("frame header").in_file("a.b2frame");
//! assert_eq!(error.code(), Code::CutShort);
//! assert_eq!(error.to_string(), "a.b2frame: frame header: offset table: cut short after 40 of 64 bytes");
//! ```
//!
//! [`IoSide`] converts an [`io::Result`] and records whether the source or the target failed.
//!
//! # Passing through `io::Error`
//!
//! [`Error`] converts into [`io::Error`] and back without loss, so it passes through [`io::Read`] and
//! [`io::Write`]. The exception is [`Code::Io`], which becomes the plain I/O error, without location, side and hint.
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

/// An error with its [`Code`], a message, and its location where that is known.
///
/// It is one pointer in size, [`Send`] and [`Sync`], and cannot be cloned. [`Display`](fmt::Display) writes the
/// path, the position, the part and the message, separated by `: `, without the [hint](Self::hint) and without
/// the number of a system error. [`Debug`](fmt::Debug) shows all fields.
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
    /// The message already contains the text of the source.
    Because(String, Box<dyn std::error::Error + Send + Sync>),
    Io(io::Error),
    Format(FormatError),
}

impl Error {
    /// An error with this message: what was found, and what was expected.
    ///
    /// ```
    /// use bloscpack_error::{Category, Code, Error};
    ///
    /// let error = Error::new(Code::Shape, "shape [2, 3] has 6 elements, but the chunks have 5");
    /// assert_eq!(error.category(), Category::Damaged);
    /// assert!(error.position().is_none() && error.hint().is_none());
    /// ```
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

    /// [`Code::Usage`] with this message.
    pub fn usage(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(Code::Usage, message)
    }

    /// [`Code::Bug`]: `found` names the broken invariant and the values that break it. The hint asks the user
    /// to report it.
    pub fn bug(found: impl fmt::Display) -> Self {
        Self::new(Code::Bug, format!("internal error: {found}"))
            .with_hint("this is a bug: please report it with the input")
    }

    /// [`Code::Panicked`]: a worker thread panicked. The panic hook has already printed the panic's own
    /// message.
    #[must_use]
    pub fn panicked() -> Self {
        Self::new(Code::Panicked, "a worker panicked")
    }

    /// The message `PART: found FOUND, expected EXPECTED`.
    pub fn unexpected(
        code: Code,
        part: impl fmt::Display,
        found: impl fmt::Display,
        expected: impl fmt::Display,
    ) -> Self {
        Self::new(code, format!("{part}: found {found}, expected {expected}"))
    }

    /// [`Code::CutShort`]: `part` has `found` of `expected` bytes.
    pub fn cut_short(part: impl fmt::Display, found: u64, expected: u64) -> Self {
        Self::new(
            Code::CutShort,
            format!("{part}: cut short after {found} of {expected} bytes"),
        )
    }

    /// [`Code::NoMemory`]: an allocation of `bytes` bytes failed or cannot be made. The hint is to read or
    /// write less at once.
    #[must_use]
    pub fn no_memory(bytes: u64) -> Self {
        Self::new(
            Code::NoMemory,
            format!("not enough memory for {bytes} bytes"),
        )
        .with_hint("read or write less at once")
    }

    /// Checks `found` bytes against a reader's limit of `allowed` bytes.
    ///
    /// ```
    /// use bloscpack_error::{Code, Error};
    /// use bloscpack_wire::Limit;
    ///
    /// assert!(Error::check_limit(Limit::Metadata, 64, 64).is_ok());
    /// let error = Error::check_limit(Limit::Metadata, 65, 64).unwrap_err();
    /// assert_eq!(error.code(), Code::OverLimit);
    /// assert_eq!(error.limit(), Some(Limit::Metadata));
    /// assert_eq!(error.hint(), Some("raise the limit `metadata` if you trust the input"));
    /// ```
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

    /// [`Code::WrongSize`]: the caller announced `promised` bytes and gave `given`. If there were more, `given`
    /// need only be larger than `promised`; the message does not name it.
    #[must_use]
    pub fn wrong_size(promised: u64, given: u64) -> Self {
        Self::new(Code::WrongSize, broken_promise("bytes", promised, given))
    }

    /// [`Code::WrongCount`]: as [`wrong_size`](Self::wrong_size), in records.
    #[must_use]
    pub fn wrong_count(promised: u64, given: u64) -> Self {
        Self::new(Code::WrongCount, broken_promise("records", promised, given))
    }

    /// An error with a source. `message` must contain the text of `source`:
    /// [`source`](std::error::Error::source) then continues with the source's own source, so no text appears
    /// twice in a chain of errors.
    pub fn because(
        code: Code,
        message: impl Into<String>,
        source: impl Into<Box<dyn std::error::Error + Send + Sync>>,
    ) -> Self {
        Self::of(code, Cause::Because(message.into(), source.into()))
    }

    /// Sets the position, replacing an earlier one.
    #[must_use]
    pub fn at(mut self, position: Position) -> Self {
        self.0.position = Some(position);
        self
    }

    /// Sets the part of the input, such as `frame header (byte 10)`, unless one is set. For formats without
    /// [`Position`].
    #[must_use]
    pub fn in_part(mut self, part: impl fmt::Display) -> Self {
        self.0.part.get_or_insert_with(|| part.to_string());
        self
    }

    /// Sets the file, unless one is set.
    #[must_use]
    pub fn in_file(mut self, path: impl Into<PathBuf>) -> Self {
        self.0.path.get_or_insert_with(|| path.into());
        self
    }

    /// Sets the side, unless one is set. Only I/O errors have a side; other errors stay as they are.
    #[must_use]
    pub fn on(mut self, side: Side) -> Self {
        if matches!(self.0.cause, Cause::Io(_)) {
            self.0.side.get_or_insert(side);
        }
        self
    }

    /// Changes [`Code::Io`] into [`Code::Committed`], for an I/O error after a change was committed. Other
    /// codes stay.
    #[must_use]
    pub fn committed(mut self) -> Self {
        if self.0.code == Code::Io {
            self.0.code = Code::Committed;
        }
        self
    }

    /// Sets the advice for the user, replacing an earlier hint and the built-in one.
    #[must_use]
    pub fn with_hint(mut self, hint: impl Into<Cow<'static, str>>) -> Self {
        self.0.hint = Some(hint.into());
        self
    }

    /// What went wrong. Stable across versions.
    #[must_use]
    pub fn code(&self) -> Code {
        self.0.code
    }

    /// How a caller can react; follows from [`code`](Self::code).
    #[must_use]
    pub fn category(&self) -> Category {
        self.0.code.category()
    }

    /// The message without path, position and part. Unlike [`Display`](fmt::Display) of the error, it keeps the
    /// number of a system error, as in `(os error 28)`.
    #[must_use]
    pub fn message(&self) -> impl fmt::Display + '_ {
        Message(&self.0)
    }

    /// The position in a Bloscpack file; `None` if the error is not about its bytes, or the position is
    /// unknown.
    #[must_use]
    pub fn position(&self) -> Option<&Position> {
        self.0.position.as_ref()
    }

    /// The part of the input, for formats without [`Position`]: a frame, a store, or a file in another format.
    #[must_use]
    pub fn part(&self) -> Option<&str> {
        self.0.part.as_deref()
    }

    /// The side whose I/O failed; `None` for other errors, and where no caller has set it.
    #[must_use]
    pub fn side(&self) -> Option<Side> {
        self.0.side
    }

    /// The file, if a caller has set it. In a dataset, the path is relative to the dataset's root.
    #[must_use]
    pub fn path(&self) -> Option<&Path> {
        self.0.path.as_deref()
    }

    /// Whether the store does not support the operation, for example because a plain web server cannot list its
    /// files: an I/O error of the kind [`Unsupported`](io::ErrorKind::Unsupported).
    #[must_use]
    pub fn is_beyond_store(&self) -> bool {
        let kind = self.io_error().map(io::Error::kind);
        kind == Some(io::ErrorKind::Unsupported)
    }

    /// The I/O error, for [`Code::Io`] and [`Code::Committed`].
    #[must_use]
    pub fn io_error(&self) -> Option<&io::Error> {
        match &self.0.cause {
            Cause::Io(error) => Some(error),
            _ => None,
        }
    }

    /// The I/O error by value, for [`Code::Io`] and [`Code::Committed`]. Path, side and position are lost.
    ///
    /// # Errors
    /// Returns the error unchanged if it contains no I/O error.
    pub fn into_io_error(self) -> std::result::Result<io::Error, Self> {
        match *self.0 {
            Inner {
                cause: Cause::Io(error),
                ..
            } => Ok(error),
            inner => Err(Self(Box::new(inner))),
        }
    }

    /// The error in the bytes of a Bloscpack file or of a Blosc chunk; `None` for errors of I/O, usage and
    /// other formats. Interrupted changes and exceeded limits are format errors, too.
    #[must_use]
    pub fn format_error(&self) -> Option<&FormatError> {
        match &self.0.cause {
            Cause::Format(error) => Some(error),
            _ => None,
        }
    }

    /// The limit among [`Limits`](bloscpack_wire::Limits) that the input or output exceeds. `None` for other
    /// errors, and for limits that are not set there.
    #[must_use]
    pub fn limit(&self) -> Option<Limit> {
        self.format_error().and_then(FormatError::limit)
    }

    /// Whether only the end is missing: a stream without its end mark, or a file whose writer did not finish. A
    /// decoder that allows unterminated input can read the complete chunks.
    #[must_use]
    pub fn is_unended(&self) -> bool {
        self.format_error().is_some_and(FormatError::is_unended)
    }

    /// Whether [`format_error`](Self::format_error) returns an error.
    #[must_use]
    pub fn is_format(&self) -> bool {
        self.format_error().is_some()
    }

    /// Advice on what to do next: the one set by [`with_hint`](Self::with_hint), or a built-in one for limits,
    /// unterminated input and input that is not a Bloscpack file.
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

/// The text of a system error without its number. Windows ends the text with a dot, which is dropped, too.
fn without_number(text: &str) -> &str {
    match text.rsplit_once(" (os error ") {
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
    /// Skips the direct cause, whose text is already part of this error's message, and returns the cause's own
    /// source.
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
