//! Printing on standard error: errors, warnings, notes.

use std::fmt::Display;
use std::io::Write;

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

/// Prints a line about the work.
pub fn note(text: impl Display) {
    print(&format!("blpk: {text}\n"));
}

/// Prints text as it is.
pub fn print(text: &str) {
    // There is nowhere left to report a failure of standard error.
    let _ = anstream::stderr().write_all(text.as_bytes());
}
