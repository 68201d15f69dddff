//! Errors about a key of a store.

use super::Key;
use std::io;

pub(crate) const HOLE: &str = "the patch begins after the end of the file and would leave a hole";
pub(crate) const A_FILE: &str = "a file, not a folder";
pub(crate) const NOT_A_FILE: &str = "a folder, not a file";
pub(crate) const NOT_A_FOLDER: &str = "not a folder";

pub(crate) fn not_found(key: &Key) -> io::Error {
    io::Error::new(io::ErrorKind::NotFound, format!("{key}: not found"))
}

pub(crate) fn invalid(key: &Key, what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, format!("{key}: {what}"))
}

/// Another program has changed something that this writer relies on.
pub(crate) fn changed(key: &Key) -> io::Error {
    let what = format!("{key}: another program has changed this while the store was open");
    io::Error::other(what)
}
