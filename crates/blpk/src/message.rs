//! Errors, warnings and notes on standard error, and the width of the terminal.

use std::fmt::Display;
use std::io::{self, IsTerminal, Write};

use anstyle::{AnsiColor, Style};

const ERROR: Style = AnsiColor::Red.on_default().bold();
const WARNING: Style = AnsiColor::Yellow.on_default().bold();
const HINT: Style = AnsiColor::Cyan.on_default();

/// Prints an error with the lines below it.
pub fn error(title: &str, details: &[String], hint: Option<&str>) {
    let mut text = format!("blpk: {ERROR}error{ERROR:#}: {title}\n");
    for line in details {
        text.push_str(&format!("  {line}\n"));
    }
    if let Some(hint) = hint {
        text.push_str(&format!("  {HINT}hint{HINT:#}: {hint}\n"));
    }
    print(&text);
}

/// Prints a warning.
pub fn warning(text: impl Display) {
    print(&format!("blpk: {WARNING}warning{WARNING:#}: {text}\n"));
}

/// Prints a note.
pub fn note(text: impl Display) {
    print(&format!("blpk: {text}\n"));
}

/// Prints text without a prefix or a line break.
pub fn print(text: &str) {
    // A failure of standard error cannot be reported.
    let _ = anstream::stderr().write_all(text.as_bytes());
}

/// The width of a terminal of unknown size.
const WIDTH: usize = 80;
/// The minimum width. Fewer columns are probably a mistake.
const NARROWEST: usize = 20;

/// Whether reports are shown on a terminal.
pub fn is_shown() -> bool {
    io::stdout().is_terminal()
}

/// The width of the terminal in columns, from `COLUMNS` or from the terminal itself.
pub fn width() -> usize {
    let given = std::env::var("COLUMNS").ok();
    let given = given.and_then(|columns| columns.parse().ok());
    let width = given.or_else(of_stdout);
    width.unwrap_or(WIDTH).max(NARROWEST)
}

#[cfg(unix)]
fn of_stdout() -> Option<usize> {
    let size = rustix::termios::tcgetwinsize(io::stdout()).ok()?;
    Some(usize::from(size.ws_col)).filter(|columns| *columns > 0)
}

#[cfg(not(unix))]
fn of_stdout() -> Option<usize> {
    None
}
