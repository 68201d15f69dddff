//! [`Failure`]: the reason why a command failed, in the words that the user reads.
//!
//! `?` turns an error of the library or of the system into a failure. The error knows neither the name that the user gave to the
//! file nor the state of an output: [`about`](About::about) adds them once, in code that knows both.

use std::fmt::Display;
use std::io;
use std::path::Path;

use bloscpack::{
    Code, Error,
    error::Side,
    wire::{FormatError, Limit},
};
use bloscpack_open::{Family, probe_bytes};

use crate::status::Status;
use crate::text::quoted;
use crate::{interrupt, message};

/// A command failure and its exit status.
#[derive(Debug)]
pub struct Failure {
    status: Status,
    /// `None` if nothing is printed.
    title: Option<String>,
    /// The code of an error of the library or of the system.
    code: Option<Code>,
    details: Vec<String>,
    hint: Option<String>,
    /// The error, until its file is named in the title.
    unnamed: Option<Error>,
    /// Whether it is about one chunk.
    in_chunk: bool,
    /// Whether it is about an existing output of another kind, which may have been meant as an input.
    is_taken: bool,
    /// Whether the state of the output, or of the changed file, is already stated.
    is_settled: bool,
}

/// The subject of a failure: the name of a file, an input, or an output.
pub trait Subject {
    /// Names the subject unless the failure has a name, and adds details and advice.
    fn explain(&self, failure: Failure) -> Failure;
}

impl Subject for str {
    fn explain(&self, failure: Failure) -> Failure {
        failure.named(self)
    }
}

impl<S: Subject + ?Sized> Subject for &S {
    fn explain(&self, failure: Failure) -> Failure {
        (**self).explain(failure)
    }
}

impl Subject for String {
    fn explain(&self, failure: Failure) -> Failure {
        failure.named(self)
    }
}

impl Subject for Path {
    fn explain(&self, failure: Failure) -> Failure {
        failure.named(quoted(self))
    }
}

/// The directory, or the URL, of a dataset or a sparse frame.
pub struct Directory<'a>(pub &'a Path);

impl Subject for Directory<'_> {
    fn explain(&self, failure: Failure) -> Failure {
        let name = quoted(self.0);
        // An error with a path is about one of the files.
        let is_unknown = failure
            .error()
            .is_some_and(|error| error.code() == Code::UnknownFormat && error.path().is_none());
        let failure = failure.named(&name).if_damaged(VERIFY);
        if is_unknown {
            failure.hint(format!("blpk ls {name} lists the datasets below it"))
        } else {
            failure
        }
    }
}

/// Results whose errors become failures.
pub trait About<T> {
    /// Turns an error into a failure that names its subject.
    fn about(self, subject: &(impl Subject + ?Sized)) -> Result<T, Failure>;
}

impl<T, E: Into<Failure>> About<T> for Result<T, E> {
    fn about(self, subject: &(impl Subject + ?Sized)) -> Result<T, Failure> {
        self.map_err(|error| subject.explain(error.into()))
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        if is_stopped(&error) {
            return Self::interrupted();
        }
        let (status, title) = (error.category().into(), error.to_string());
        let position = error.position();
        Self {
            code: Some(error.code()),
            hint: hint(&error),
            in_chunk: position.is_some_and(|position| position.chunk.is_some()),
            unnamed: Some(error),
            ..Self::new(status, title)
        }
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Error::from(error).into()
    }
}

impl Failure {
    /// A failure with this status and title.
    pub fn new(status: Status, title: impl Into<String>) -> Self {
        Self {
            status,
            title: Some(title.into()),
            code: (status == Status::Usage).then_some(Code::Usage),
            details: Vec::new(),
            hint: None,
            unnamed: None,
            in_chunk: false,
            is_taken: false,
            is_settled: false,
        }
    }

    /// A failure about an existing output of another kind, which may have been meant as an input.
    pub fn taken(status: Status, title: impl Into<String>) -> Self {
        Self {
            is_taken: true,
            ..Self::new(status, title)
        }
    }

    /// Wrong usage.
    pub fn usage(title: impl Into<String>) -> Self {
        Self::new(Status::Usage, title)
    }

    /// The reader has closed our output. This is not an error, and nothing is printed.
    pub fn broken_pipe() -> Self {
        Self {
            title: None,
            ..Self::new(Status::Done, "")
        }
    }

    /// The user has stopped the work.
    pub fn interrupted() -> Self {
        Self::new(Status::Interrupted, "interrupted")
    }

    /// Names the file of an error, unless it already has a name.
    pub fn named(mut self, name: impl Display) -> Self {
        if self.unnamed.take().is_some() {
            self.title = self.title.map(|text| titled(&name.to_string(), text));
        }
        self
    }

    /// The error, until its file is named.
    pub fn error(&self) -> Option<&Error> {
        self.unnamed.as_ref()
    }

    /// The side that an error is about. Without a recorded side, an I/O error is about the target, and any other error about the
    /// data, and therefore about the source.
    pub fn side(&self) -> Option<Side> {
        let error = self.error()?;
        let by_kind = match error.io_error() {
            Some(_) => Side::Target,
            None => Side::Source,
        };
        Some(error.side().unwrap_or(by_kind))
    }

    /// The same failure for a new output: a change of it does not count as committed before the output has its name.
    pub fn uncommitted(mut self) -> Self {
        match self
            .unnamed
            .take_if(|error| error.code() == Code::Committed)
        {
            Some(error) => error.into_io_error().map_or_else(Into::into, Into::into),
            None => self,
        }
    }

    /// Marks the state of the output as stated.
    pub fn settled(self) -> Self {
        Self {
            is_settled: true,
            ..self
        }
    }

    /// Whether the state of the output is already stated.
    pub fn is_settled(&self) -> bool {
        self.is_settled
    }

    /// Adds a line below the title.
    pub fn detail(mut self, line: impl Into<String>) -> Self {
        self.details.push(line.into());
        self
    }

    /// Sets the advice on what to do next.
    pub fn hint(mut self, line: impl Into<String>) -> Self {
        self.hint = Some(line.into());
        self
    }

    /// Whether it already has advice.
    pub fn is_advised(&self) -> bool {
        self.hint.is_some()
    }

    /// Sets this advice if the data is damaged, or cut within a chunk, unless there is other advice.
    pub fn if_damaged(self, hint: &str) -> Self {
        match (self.status, &self.hint) {
            (Status::Damaged, None) => self.hint(hint),
            (Status::CutShort, None) if self.in_chunk => self.hint(hint),
            _ => self,
        }
    }

    /// The exit status.
    pub fn status(&self) -> Status {
        self.status
    }

    /// Whether it is about an existing output of another kind.
    pub fn is_taken(&self) -> bool {
        self.is_taken
    }

    /// The first line; `None` if nothing is printed.
    pub fn title(&self) -> Option<&str> {
        self.title.as_deref()
    }

    /// The code of the error in JSON.
    pub fn code(&self) -> Option<&'static str> {
        self.code.map(Code::as_str)
    }

    pub fn report(&self) {
        if let Some(title) = &self.title {
            message::error(title, &self.details, self.hint.as_deref());
        }
    }
}

/// The text of an error, after the name of the file.
fn titled(name: &str, text: String) -> String {
    let plain = name.trim_matches('\'');
    match text.strip_prefix(plain) {
        // Errors of object stores already contain the URL, or the longer URL of an object in the folder.
        Some(_) if name.contains("://") => text,
        Some(rest) if rest.starts_with(": ") => format!("{name}{rest}"),
        _ => format!("{name}: {text}"),
    }
}

/// Advice for damaged Bloscpack files.
pub const RECOVER: &str = "blpk recover saves the sound chunks";
/// Advice for damaged datasets and frames.
pub const VERIFY: &str = "blpk verify lists all damage";

/// Whether other processes have locked the file.
pub fn is_busy(error: &Error) -> bool {
    io_error(error).is_some_and(|error| error.kind() == io::ErrorKind::ResourceBusy)
}

/// Whether the work ended because the user asked it to stop.
pub fn is_stopped(error: &Error) -> bool {
    let is_cause = || io_error(error).is_some_and(interrupt::is_cause_of);
    interrupt::is_requested() && (is_busy(error) || is_cause())
}

/// The error of the operating system, if it is one.
pub fn io_error(error: &Error) -> Option<&io::Error> {
    error.io_error().filter(|_| error.code() == Code::Io)
}

/// The library's advice, in terms of our options.
fn hint(error: &Error) -> Option<String> {
    let limit = error.limit().map(|limit| match limit {
        Limit::Chunk => "chunk=SIZE",
        Limit::Block => "block=SIZE",
        Limit::Metadata => "metadata=SIZE",
        Limit::Offsets => "offsets=SIZE",
        Limit::Ratio => "ratio=N",
        Limit::Total => "total=SIZE",
    });
    if let Some(limit) = limit {
        return Some(if error.code() == Code::WriteLimit {
            format!("raise the limit here and wherever it is read: --limit {limit}")
        } else {
            format!("if you trust the input, raise the limit: --limit {limit}")
        });
    }
    let hint = match (error.code(), error.format_error()) {
        (Code::NeedsColumn, _) => {
            "choose a single column: --column NAME, or --columns NAME for blpk export"
        }
        (Code::NeedsDtype, _) => "add --dtype DTYPE",
        (Code::NeedsArray, _) => "use --range A..B or --chunk N",
        (Code::NeedsFile, _) => "save it to a file first; blpk cat --range also reads a pipe",
        // `arrow` is the only feature of the library that the command may lack.
        (Code::NotBuilt, None) => {
            "in a clone of bloscpack: cargo install --locked --path crates/blpk --features arrow"
        }
        (_, Some(FormatError::Magic { found }))
            if probe_bytes(found).family == Some(Family::Frame) =>
        {
            "this is a Blosc2 frame, which can be read from a file, but not from a pipe"
        }
        (_, Some(error)) if error.is_unended() => {
            "blpk decompress --allow-unterminated extracts the complete chunks"
        }
        _ => error.hint()?,
    };
    Some(hint.to_owned())
}

#[cfg(test)]
mod tests {
    use std::io;

    use bloscpack::{Error, error::Side, wire::FormatError};

    use super::Failure;

    fn full() -> Error {
        Error::from(io::Error::from_raw_os_error(28))
    }

    #[test]
    fn the_side_of_an_error_decides_whom_it_is_about() {
        let side = |error: Error| Failure::from(error).side();
        assert_eq!(side(full().on(Side::Source)), Some(Side::Source));
        assert_eq!(side(full().on(Side::Target)), Some(Side::Target));
        // Sources say so.
        assert_eq!(side(full()), Some(Side::Target));
        // The data is that of the source.
        assert_eq!(side(FormatError::Trailing.into()), Some(Side::Source));
    }

    #[test]
    fn a_failure_is_named_once() {
        let named = Failure::from(full()).named("inner").named("outer");
        let title = named.title().unwrap();
        assert!(
            title.starts_with("inner: ") && !title.contains("28"),
            "{title}"
        );
        assert_eq!(named.side(), None);
    }

    #[test]
    fn no_change_of_something_new_is_committed() {
        let failure = Failure::from(full().committed());
        assert_eq!(failure.status().code(), 6);
        assert_eq!(failure.uncommitted().status().code(), 1);
    }

    #[test]
    fn advice_on_damage_is_for_damage_alone() {
        let hint = |error: Error| Failure::from(error).if_damaged("help").hint;
        assert_eq!(hint(FormatError::Trailing.into()).as_deref(), Some("help"));
        assert_eq!(hint(full()), None);
    }
}
