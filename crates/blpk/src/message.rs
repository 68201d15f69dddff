//! What the user is told on standard error: errors, warnings, notes.

use std::fmt::Display;
use std::io::{self, Write};
use std::path::Path;

use anstyle::{AnsiColor, Style};
use bloscpack::{
    ErrorKind,
    wire::{FormatError, Limit},
};

use crate::status::Status;

const ERROR: Style = AnsiColor::Red.on_default().bold();
const WARNING: Style = AnsiColor::Yellow.on_default().bold();
const HINT: Style = AnsiColor::Cyan.on_default();

/// Why a command did not do what it was asked, and the status that says so.
#[derive(Debug)]
pub struct Failure {
    status: Status,
    title: Option<String>,
    details: Vec<String>,
    hint: Option<String>,
}

impl Failure {
    /// A failure with `status`, told in one line.
    pub fn new(status: Status, title: impl Into<String>) -> Self {
        Self {
            status,
            title: Some(title.into()),
            details: Vec::new(),
            hint: None,
        }
    }

    /// Wrong usage.
    pub fn usage(title: impl Into<String>) -> Self {
        Self::new(Status::Usage, title)
    }

    /// The operating system refused: `what` names the file.
    pub fn io(what: impl Display, error: &io::Error) -> Self {
        Self::new(Status::Failed, format!("{what}: {error}"))
    }

    /// The library refused: `what` names the file.
    pub fn library(what: impl Display, error: &bloscpack::Error) -> Self {
        let failure = Self::new(error.category().into(), format!("{what}: {error}"));
        match advice(error) {
            Some(hint) => failure.hint(hint),
            None => failure,
        }
    }

    /// Whoever read our output has gone. This is no error, and nobody is told.
    pub fn broken_pipe() -> Self {
        Self {
            status: Status::Done,
            title: None,
            details: Vec::new(),
            hint: None,
        }
    }

    /// The user has ended the work.
    pub fn interrupted() -> Self {
        Self::new(Status::Interrupted, "interrupted")
    }

    /// Adds a line below the title.
    pub fn detail(mut self, line: impl Into<String>) -> Self {
        self.details.push(line.into());
        self
    }

    /// Says what the user can do.
    pub fn hint(mut self, line: impl Into<String>) -> Self {
        self.hint = Some(line.into());
        self
    }

    /// Points to `blpk recover` where data is damaged and nothing else helps.
    pub fn or_recover(self) -> Self {
        if self.status == Status::Damaged && self.hint.is_none() {
            return self.hint("blpk recover saves what is sound");
        }
        self
    }

    /// The exit status.
    pub fn status(&self) -> Status {
        self.status
    }

    /// What is told in one line.
    pub fn title(&self) -> Option<&str> {
        self.title.as_deref()
    }

    /// Prints the failure.
    pub fn report(&self) {
        let Some(title) = &self.title else { return };
        let mut text = format!("blpk: {ERROR}error{ERROR:#}: {title}\n");
        for line in &self.details {
            text.push_str(&format!("  {line}\n"));
        }
        if let Some(hint) = &self.hint {
            text.push_str(&format!("  {HINT}hint{HINT:#}: {hint}\n"));
        }
        print(&text);
    }
}

/// What the user of the command can do: the library's advice, in terms of our options.
fn advice(error: &bloscpack::Error) -> Option<String> {
    let limit = error.limit().map(|limit| match limit {
        Limit::Chunk => "chunk=SIZE",
        Limit::Block => "block=SIZE",
        Limit::Metadata => "metadata=SIZE",
        Limit::Offsets => "offsets=SIZE",
        Limit::Ratio => "ratio=N",
        Limit::Total => "total=SIZE",
    });
    if let Some(limit) = limit {
        return Some(format!(
            "if you trust the input, raise the limit: --limit {limit}"
        ));
    }
    if let ErrorKind::Format(FormatError::Magic { found }) = error.kind()
        && found.as_slice() == b"\x9e\xa8b2"
    {
        return Some("this is a Blosc2 frame, which is read from a file, not from a pipe".into());
    }
    if error.is_unended() {
        return Some("blpk decompress --allow-unterminated takes what is there".into());
    }
    error.hint().map(str::to_owned)
}

/// Prints a warning.
pub fn warning(text: impl Display) {
    print(&format!("blpk: {WARNING}warning{WARNING:#}: {text}\n"));
}

/// Prints a line about what is done.
pub fn note(text: impl Display) {
    print(&format!("blpk: {text}\n"));
}

/// The path in quotes, for messages.
pub fn quoted(path: &Path) -> String {
    format!("'{}'", shown(path))
}

/// The path, with nothing that a terminal would obey.
pub fn shown(path: &Path) -> String {
    plain(&path.to_string_lossy())
}

/// Text out of a file, with nothing that a terminal would obey.
pub fn plain(text: &str) -> String {
    let mut plain = String::new();
    for c in text.chars() {
        if c.is_control() {
            plain.extend(c.escape_default());
        } else {
            plain.push(c);
        }
    }
    plain
}

fn print(text: &str) {
    // Nobody is left to be told about a failure of standard error.
    let _ = anstream::stderr().write_all(text.as_bytes());
}
