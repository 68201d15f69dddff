//! Code shared by the commands that read Bloscpack files.

use std::path::{Path, PathBuf};

use bloscpack::Error;

use crate::failure::{Failure, RECOVER};
use crate::input::Input;
use crate::output::Output;
use crate::status::Status;

/// The extension of Bloscpack files.
const EXTENSION: &str = ".blp";

/// The failure to read a file or stream into an output, by the side of the error.
pub fn failed_to_read(error: &Error, input: &Input, output: &Output) -> Failure {
    let failure = output.failed_from(&input.name(), error);
    match input.by_position() {
        Some(_) => failure.if_damaged(RECOVER),
        None => failure,
    }
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
