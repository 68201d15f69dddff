//! [`Origin`]: the side and the file that I/O errors name.

use bloscpack_error::{Error, Result, Side};
use bloscpack_storage::{Access, Key};
use std::path::{Path, PathBuf};

/// The side of the work on which a frame is, and its path where that is known.
#[derive(Debug, Clone)]
pub(crate) struct Origin {
    side: Side,
    path: Option<PathBuf>,
}

impl Origin {
    /// A frame that is read.
    pub(crate) fn source(path: Option<&Path>) -> Self {
        Self::on(Side::Source, path)
    }

    /// A frame that is created or changed.
    pub(crate) fn target(path: Option<&Path>) -> Self {
        Self::on(Side::Target, path)
    }

    /// A file of a sparse frame, or the directory.
    pub(crate) fn of(access: Access, key: Option<&Key>) -> Self {
        let path = key.map(PathBuf::from);
        match access {
            Access::Read => Self::source(path.as_deref()),
            Access::Write => Self::target(path.as_deref()),
        }
    }

    fn on(side: Side, path: Option<&Path>) -> Self {
        Self {
            side,
            path: path.map(Path::to_owned),
        }
    }

    /// The result of reading or writing the frame, with side and path if that failed.
    pub(crate) fn io<T>(&self, done: std::result::Result<T, impl Into<Error>>) -> Result<T> {
        done.map_err(|error| {
            let error = error.into().on(self.side);
            match (&self.path, error.side()) {
                // Only errors of I/O have a side. Others are about content, which callers have other names for.
                (Some(path), Some(_)) => error.in_file(path),
                _ => error,
            }
        })
    }
}
