//! [`InputKind`]: which code reads a path.

use std::fs::{self, File};
use std::io;
use std::path::Path;

use super::{Input, is_standard_input};
use crate::failure::Failure;
use crate::magic::is_frame;
use crate::text::quoted;

/// The file that makes a directory a sparse frame.
const SPARSE_FRAME: &str = "chunks.b2frame";

/// The kind of input that a path leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InputKind {
    /// A Blosc2 frame: a file, or the directory of a sparse one.
    Frame,
    /// Any other directory: a dataset, or a folder with datasets below it.
    Directory,
    /// Anything else: Bloscpack files, pipes, or nothing.
    File,
}

impl InputKind {
    /// Looks at what is there, without taking anything out of a pipe.
    pub fn of(path: &Path) -> Result<Self, Failure> {
        Ok(match is_directory(path)? {
            true if is_sparse_frame(path)? => Self::Frame,
            true => Self::Directory,
            false if is_frame_file(path) => Self::Frame,
            false => Self::File,
        })
    }
}

fn is_directory(path: &Path) -> Result<bool, Failure> {
    match fs::metadata(path) {
        Ok(metadata) => Ok(metadata.is_dir()),
        // The error is reported when the path is opened.
        Err(error) if is_about_name(&error) => Ok(false),
        Err(error) => Err(Failure::io(quoted(path), &error)),
    }
}

/// Whether the name is wrong, and not the disk.
fn is_about_name(error: &io::Error) -> bool {
    use io::ErrorKind::{InvalidFilename, InvalidInput, NotADirectory, NotFound, PermissionDenied};
    let kinds = [
        NotFound,
        PermissionDenied,
        NotADirectory,
        InvalidInput,
        InvalidFilename,
    ];
    kinds.contains(&error.kind())
}

/// Whether a directory contains a sparse frame.
pub fn is_sparse_frame(path: &Path) -> Result<bool, Failure> {
    match path.join(SPARSE_FRAME).symlink_metadata() {
        Ok(_) => Ok(true),
        // The error is reported when the path is opened.
        Err(error) if is_about_name(&error) => Ok(false),
        Err(error) => Err(Failure::io(quoted(path), &error)),
    }
}

/// Whether a regular file begins with a frame. A pipe is not opened, because its writer would notice.
fn is_frame_file(path: &Path) -> bool {
    if is_standard_input(path) {
        let input = Input::open(path).ok();
        let bytes = input.as_ref().and_then(Input::by_position);
        return bytes.is_some_and(|bytes| is_frame(bytes).unwrap_or(false));
    }
    fs::metadata(path).is_ok_and(|metadata| metadata.is_file())
        && File::open(path).is_ok_and(|file| is_frame(&file).unwrap_or(false))
}
