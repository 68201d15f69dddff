//! The terminal of a person who looks on.

use std::io::{self, IsTerminal};

/// Columns of a terminal whose size is not known.
const WIDTH: usize = 80;
/// Fewer columns than this are taken for an error.
const NARROWEST: usize = 20;

/// Whether standard output is a terminal.
pub fn is_shown() -> bool {
    io::stdout().is_terminal()
}

/// The columns of the terminal, by `COLUMNS` or by the terminal itself.
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
