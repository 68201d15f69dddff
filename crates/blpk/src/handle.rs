//! Metadata and errors of open handles, which differ on Windows.

use std::fs::{File, Metadata};
use std::io;

/// The metadata of a file.
#[cfg(not(windows))]
pub fn metadata(file: &File) -> io::Result<Option<Metadata>> {
    file.metadata().map(Some)
}

/// The metadata of a file; nothing for a pipe, a terminal or a device, which have none here. Under wine, a file that a shell
/// of Unix has opened has none, either.
#[cfg(windows)]
pub fn metadata(file: &File) -> io::Result<Option<Metadata>> {
    let is_disk = winapi_util::file::typ(file)?.is_disk();
    Ok(is_disk.then(|| file.metadata().ok()).flatten())
}

/// Whether it is the error of a pipe whose reader has gone.
pub fn is_broken_pipe(error: &io::Error) -> bool {
    const NOT_CONNECTED: i32 = 233;
    let is_closed = cfg!(windows) && error.raw_os_error() == Some(NOT_CONNECTED);
    is_closed || error.kind() == io::ErrorKind::BrokenPipe
}
