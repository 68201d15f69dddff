//! [`DiskStore`]: a directory of the file system.

#[cfg(not(unix))]
mod plain;
#[cfg(unix)]
mod unix;
#[cfg(unix)]
mod way;

#[cfg(not(unix))]
pub use plain::DiskStore;
#[cfg(unix)]
pub use unix::DiskStore;

use super::{EntryKind, Key};
use std::io;

const NO_FILE: &str = "not a regular file";
const NO_FOLDER: &str = "not a folder (links are not followed)";
const HOLE: &str = "a patch behind the end would leave a hole";

fn invalid(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, what)
}

/// The same error, with where it was.
fn at<T>(key: &Key, done: io::Result<T>) -> io::Result<T> {
    done.map_err(|error| {
        let place = if *key == Key::root() {
            "the root"
        } else {
            key.as_str()
        };
        io::Error::new(error.kind(), format!("{place}: {error}"))
    })
}

/// Folder and name, for what cannot be done to the root.
fn split(key: &Key) -> io::Result<(Key, &str)> {
    key.split()
        .ok_or_else(|| invalid("the root is always there"))
}

/// What is not there is no error where somebody asks whether it is.
fn or_none(done: io::Result<EntryKind>) -> io::Result<Option<EntryKind>> {
    match done {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        done => done.map(Some),
    }
}
