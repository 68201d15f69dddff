//! Code shared by the commands that read Bloscpack files.

use std::path::{Path, PathBuf};

use crate::failure::Failure;
use crate::frame::{self, READ};
use crate::input::Input;
use crate::session::Session;
use crate::status::Status;

/// The extension of Bloscpack files.
const EXTENSION: &str = ".blp";

/// Opens a Bloscpack file or stream. Refuses a Blosc2 frame.
pub fn open(path: &Path, session: &Session) -> Result<Input, Failure> {
    frame::refuse(path, READ)?;
    let input = Input::open_binary(path, session)?;
    frame::refuse_object(&input, READ)?;
    Ok(input)
}

/// The failure to read records as content.
pub fn has_records(name: &str) -> Failure {
    let title = format!("{name} contains records, whose boundaries would be lost");
    Failure::new(Status::Unsupported, title)
}

/// Whether the path ends as those of Bloscpack files do.
pub fn has_extension(path: &Path) -> bool {
    without_extension(path).is_some()
}

/// The path without `.blp`, if it has a name before that.
pub fn without_extension(path: &Path) -> Option<PathBuf> {
    let name = path.file_name()?.to_str();
    match name {
        Some(name) => {
            let stem = name
                .strip_suffix(EXTENSION)
                .filter(|stem| !stem.is_empty())?;
            Some(path.with_file_name(stem))
        }
        // Not Unicode: the standard library can only split it at the last dot.
        None if path.extension() == Some("blp".as_ref()) => Some(path.with_extension("")),
        None => None,
    }
}

/// Bytes at the beginning of an input that show its format.
pub const LOOK: u64 = 10;
/// The name of the format that only holds an array.
pub const NPY: &str = "a .npy file";

/// The format of bytes that begin so, if they cannot be elements of an array as they are.
pub fn known_format(start: &[u8]) -> Option<&'static str> {
    let formats: [(usize, &[u8], &str); 7] = [
        (0, b"\x93NUMPY", NPY),
        (0, b"blpk", "a Bloscpack file"),
        (2, b"b2frame\0", "a Blosc2 frame"),
        (0, b"PK\x03\x04", "a ZIP archive"),
        (0, b"PAR1", "a Parquet file"),
        (0, b"ARROW1", "an Arrow file"),
        (0, b"\x89HDF\r\n\x1a\n", "an HDF5 file"),
    ];
    let begins = |at: usize, magic: &[u8]| {
        start
            .get(at..)
            .is_some_and(|start| start.starts_with(magic))
    };
    let found = formats.iter().find(|(at, magic, _)| begins(*at, magic));
    found.map(|(_, _, name)| *name)
}
