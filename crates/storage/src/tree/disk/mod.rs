//! [`DiskStore`]: a directory of the file system.

#[cfg(unix)]
mod folders;
#[cfg(not(unix))]
mod plain;
#[cfg(unix)]
mod unix;

#[cfg(not(unix))]
pub use plain::DiskStore;
#[cfg(unix)]
pub use unix::DiskStore;

use super::errors::HOLE;
use super::{EntryKind, Key};
use std::io;

const NOT_A_FILE: &str = "not a regular file";
const NOT_A_FOLDER: &str = "not a folder (links are not followed)";

fn invalid(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, what)
}

/// Checks the kind of an entry.
fn require(found: EntryKind, wanted: EntryKind, what: &str) -> io::Result<()> {
    if found == wanted {
        return Ok(());
    }
    Err(invalid(what))
}

/// Adds the key to an error.
fn at<T>(key: &Key, done: io::Result<T>) -> io::Result<T> {
    done.map_err(|error| {
        let name = if *key == Key::root() {
            "the root"
        } else {
            key.as_str()
        };
        io::Error::new(error.kind(), format!("{name}: {error}"))
    })
}

/// The folder and the name of a key.
///
/// # Errors
/// Returns an error for the root.
fn split(key: &Key) -> io::Result<(Key, &str)> {
    key.split()
        .ok_or_else(|| invalid("the root is always there"))
}

/// `None` for `NotFound`.
fn or_none(done: io::Result<EntryKind>) -> io::Result<Option<EntryKind>> {
    match done {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        done => done.map(Some),
    }
}
