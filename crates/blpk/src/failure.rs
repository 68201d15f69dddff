//! [`Failure`]: why a command failed, as the user reads it.

use std::fmt::Display;
use std::io;

use bloscpack::{
    Code, Error,
    error::Side,
    wire::{FormatError, Limit},
};
use bloscpack_open::{Family, probe_bytes};

use crate::status::Status;
use crate::text::without_code;
use crate::{interrupt, message};

/// Why a command did not do what it was asked to, and the exit status that says so.
#[derive(Debug)]
pub struct Failure {
    status: Status,
    /// `None` if there is no reader left.
    title: Option<String>,
    /// The code, of an error of the library or of the system.
    code: Option<Code>,
    details: Vec<String>,
    hint: Option<String>,
    /// Whether it is about a certain chunk.
    in_chunk: bool,
    /// Whether it is about an output of another kind that exists, and may have been meant as an input.
    is_taken: bool,
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
            in_chunk: false,
            is_taken: false,
        }
    }

    /// An output of another kind that exists, and may have been meant as an input.
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

    /// An error of the operating system; `name` is that of the file.
    pub fn io(name: impl Display, error: &io::Error) -> Self {
        let title = titled(&name.to_string(), error.to_string());
        Self {
            code: Some(Code::Io),
            ..Self::new(Status::Failed, without_code(&title))
        }
    }

    /// An error of the library; `name` is that of the file.
    pub fn library(name: impl Display, error: &Error) -> Self {
        let (name, text) = (name.to_string(), error.to_string());
        let title = titled(&name, text);
        let failure = Self::new(error.category().into(), without_code(&title));
        let position = error.position();
        Self {
            code: Some(error.code()),
            hint: hint(error),
            in_chunk: position.is_some_and(|position| position.chunk.is_some()),
            is_taken: false,
            ..failure
        }
    }

    /// An error of the library while data went from `source` to `target`: its side decides which of them it names.
    ///
    /// Only reading and writing have a side. Everything else is about the data, and so about the source. The target is new and
    /// not in its place yet, so that no change of it counts as committed.
    pub fn between(error: &Error, source: &str, target: &str) -> Self {
        if is_stopped(error) {
            return Self::interrupted();
        }
        let io = error.io_error();
        if let (Some(io), Code::Committed) = (io, error.code()) {
            return Self::io(target, io);
        }
        let name = match (error.side(), io) {
            (Some(Side::Target), _) | (None, Some(_)) => target,
            (Some(Side::Source), _) | (None, None) => source,
        };
        Self::library(name, error)
    }

    /// The reader of our output has gone. That is not an error, and nothing is printed.
    pub fn broken_pipe() -> Self {
        Self {
            status: Status::Done,
            title: None,
            code: None,
            details: Vec::new(),
            hint: None,
            in_chunk: false,
            is_taken: false,
        }
    }

    /// The user has stopped the work.
    pub fn interrupted() -> Self {
        Self::new(Status::Interrupted, "interrupted")
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

    /// Sets this advice if the data is damaged, or cut within a chunk, and there is no other.
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

    /// Whether it is about an output of another kind that exists.
    pub fn is_taken(&self) -> bool {
        self.is_taken
    }

    /// The first line, if there is one.
    pub fn title(&self) -> Option<&str> {
        self.title.as_deref()
    }

    /// The stable name of what went wrong, for scripts.
    pub fn code(&self) -> Option<&'static str> {
        self.code.map(Code::as_str)
    }

    /// Prints it.
    pub fn report(&self) {
        if let Some(title) = &self.title {
            message::error(title, &self.details, self.hint.as_deref());
        }
    }
}

/// The text of an error, after the name of the file.
fn titled(name: &str, text: String) -> String {
    // Errors of object stores name the URL themselves, and what is there may have a longer one.
    match name.contains("://") && text.starts_with(name.trim_matches('\'')) {
        true => text,
        false => format!("{name}: {text}"),
    }
}

/// Advice for damaged Bloscpack files.
pub const RECOVER: &str = "blpk recover saves the sound chunks";
/// Advice for damaged datasets and frames.
pub const VERIFY: &str = "blpk verify lists all damage";

/// Whether others hold the file.
pub fn is_busy(error: &Error) -> bool {
    io_error(error).is_some_and(|error| error.kind() == io::ErrorKind::ResourceBusy)
}

/// Whether the work ended because the user asked for that.
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
        (Code::NeedsArray, _) => "use --range A..B or --chunk N",
        (Code::NeedsFile, _) => "save it to a file first; blpk cat --range also reads a pipe",
        // The only feature of the library that the command may lack.
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
    fn the_side_of_an_error_decides_on_the_name() {
        let title = |error: &Error| Failure::between(error, "in", "out").title.unwrap();
        assert!(title(&full().on(Side::Source)).starts_with("in: "));
        assert!(title(&full().on(Side::Target)).starts_with("out: "));
        // Sources say so.
        assert!(title(&full()).starts_with("out: "));
        // The data is that of the source.
        assert!(title(&FormatError::Trailing.into()).starts_with("in: "));
    }

    #[test]
    fn errors_of_the_system_have_no_number() {
        for failure in [
            Failure::library("out", &full()),
            Failure::io("out", &io::Error::from_raw_os_error(28)),
        ] {
            assert!(!failure.title.unwrap().contains("28"));
        }
    }

    #[test]
    fn advice_on_damage_is_for_damage_alone() {
        let hint = |error: &Error| Failure::library("in", error).if_damaged("help").hint;
        assert_eq!(hint(&FormatError::Trailing.into()).as_deref(), Some("help"));
        assert_eq!(hint(&full()), None);
    }
}
