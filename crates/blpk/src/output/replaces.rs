//! [`Replaces`]: which existing files `-f` may replace.

use std::io;
use std::path::Path;

use crate::failure::Failure;
use crate::input::{Look, has_known_ending, look};
use crate::status::Status;

/// Which existing files an output may replace. It is known by what will be written: `compress -f *.csv` must not write
/// compressed data over a file of another kind, nor `decompress -f *.blp` plain data over a compressed one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Replaces {
    /// Compressed data replaces compressed files.
    Compressed,
    /// Plain data replaces all other files.
    Plain,
    /// The name of the output follows from that of the input, so it was not typed by mistake.
    Any,
}

impl Replaces {
    /// Why the file at `path` may not be replaced, if so. An empty file has nothing to lose; one that may not be read is
    /// known by its name.
    pub fn refusal(self, path: &Path, name: &str) -> io::Result<Option<Refusal>> {
        let found = match look(path) {
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => Look {
                is_empty: false,
                is_ours: has_known_ending(path),
            },
            found => found?,
        };
        Ok(self.refusal_of(&found, name))
    }

    /// The same for what looks like this.
    pub fn refusal_of(self, found: &Look, name: &str) -> Option<Refusal> {
        let what = match self {
            _ if found.is_empty => return None,
            Self::Compressed if !found.is_ours => "is not a compressed file",
            Self::Plain if found.is_ours => "is a compressed file",
            _ => return None,
        };
        Some(Refusal {
            title: format!("output file {name} already exists and {what}"),
        })
    }
}

/// Why a file may not be replaced.
pub struct Refusal {
    title: String,
}

impl Refusal {
    /// With `-f`, that does not help, and the command was probably not meant.
    pub fn failure(self, force: bool) -> Failure {
        let status = if force { Status::Usage } else { Status::Failed };
        Failure::taken(status, self.title)
            .hint("-f does not replace it either; choose another name")
    }
}
