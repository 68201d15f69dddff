//! What a path leads to, which decides who reads it.

use std::fs::{self, File};
use std::io;
use std::path::Path;

use bloscpack::{frame::wire::is_frame, storage::ReadAt};

use crate::input::{Input, is_standard_input};
use crate::message::{Failure, quoted};

/// What makes a directory a sparse frame.
const OUTLINE: &str = "chunks.b2frame";
/// The first bytes of a frame.
const MAGIC: &[u8; 10] = b"\x9e\xa8b2frame\0";
/// Stands in the place of a file's first byte while a change is made to it.
const MARK: u8 = b'!';

/// What a path leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// A Blosc2 frame: a file, or the directory of a sparse one.
    Frame,
    /// Any other directory: a dataset, or a folder with datasets below it.
    Directory,
    /// Anything else: Bloscpack files, pipes, what is not there.
    File,
}

impl What {
    /// Looks at what is there. Nothing of a pipe is taken.
    pub fn of(path: &Path) -> Result<Self, Failure> {
        Ok(match is_there_directory(path)? {
            true if is_sparse_frame(path)? => Self::Frame,
            true => Self::Directory,
            false if begins_frame(path).unwrap_or(false) => Self::Frame,
            false => Self::File,
        })
    }
}

/// Whether the path leads to a directory.
fn is_there_directory(path: &Path) -> Result<bool, Failure> {
    match fs::metadata(path) {
        Ok(metadata) => Ok(metadata.is_dir()),
        // Nothing of the name; who opens it tells of these.
        Err(error) if is_of_the_name(&error) => Ok(false),
        Err(error) => Err(Failure::io(quoted(path), &error)),
    }
}

/// Whether it is the name that is wrong, and not the disk.
fn is_of_the_name(error: &io::Error) -> bool {
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

/// Whether a directory holds a sparse frame.
pub fn is_sparse_frame(path: &Path) -> Result<bool, Failure> {
    match path.join(OUTLINE).symlink_metadata() {
        Ok(_) => Ok(true),
        // Who may not look into it is told so by who opens it.
        Err(error) if is_of_the_name(&error) => Ok(false),
        Err(error) => Err(Failure::io(quoted(path), &error)),
    }
}

/// Whether a regular file begins with a frame, perhaps one that is cut within its first bytes.
fn begins_frame(path: &Path) -> Option<bool> {
    if is_standard_input(path) {
        let input = Input::open(path).ok()?;
        return Some(is_start_of_frame(input.at_positions()?));
    }
    // A pipe is not opened: its writer would take notice.
    fs::metadata(path).ok().filter(fs::Metadata::is_file)?;
    Some(is_start_of_frame(&File::open(path).ok()?))
}

fn is_start_of_frame(file: &impl ReadAt) -> bool {
    let mut first = [0; MAGIC.len()];
    let mut len = 0;
    while let Some(rest) = first.get_mut(len..).filter(|rest| !rest.is_empty()) {
        match file.read_at(u64::try_from(len).unwrap_or(0), rest) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Ok(0) | Err(_) => break,
            Ok(count) => len += count,
        }
    }
    is_marked_frame(&first) || is_frame(&first) || len > 0 && first[..len] == MAGIC[..len]
}

/// Whether these are the first bytes of a frame to which a change is being made, or was when its writer ended.
pub fn is_marked_frame(first: &[u8]) -> bool {
    first.split_first().is_some_and(|(mark, rest)| {
        *mark == MARK && rest.len() + 1 >= MAGIC.len() && rest.starts_with(&MAGIC[1..])
    })
}

#[cfg(test)]
mod tests {
    use super::is_start_of_frame;

    #[test]
    fn frames_are_known_by_their_first_bytes() {
        for (bytes, expected) in [
            (&b"\x9e\xa8b2frame\0\xd2"[..], true),
            (b"\x9e\xa8b2frame\0", true),
            (b"\x9e\xa8b2fr", true),
            (b"\x9e", true),
            (b"!\xa8b2frame\0\xd2", true),
            (b"", false),
            (b"!", false),
            (b"!\xa8b2fr", false),
            (b"blpk\x03\0\0\0\0\0\0\0", false),
            (b"\x9e\xa8b2frame\x01\xd2", false),
        ] {
            assert_eq!(is_start_of_frame(&bytes.to_vec()), expected, "{bytes:?}");
        }
    }
}
