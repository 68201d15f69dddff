//! [`Origin`]: the side and the path that I/O errors of a frame carry.

use bloscpack_error::{Error, Result, Side};
use bloscpack_storage::{Access, Key};
use std::path::{Path, PathBuf};

/// Whether a frame is the source or the target of the work, and its path if that is known.
#[derive(Debug, Clone)]
pub(crate) struct Origin {
    side: Side,
    path: Option<PathBuf>,
}

impl Origin {
    /// The origin of a frame that is only read.
    pub(crate) fn source(path: Option<&Path>) -> Self {
        Self::on(Side::Source, path)
    }

    /// The origin of a frame that is created or changed.
    pub(crate) fn target(path: Option<&Path>) -> Self {
        Self::on(Side::Target, path)
    }

    /// The origin of a sparse frame that is opened in this way: one of its files, or with `None` the directory.
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

    /// Adds the side, and to errors of I/O also the path, to a failed result.
    pub(crate) fn io<T>(&self, done: std::result::Result<T, impl Into<Error>>) -> Result<T> {
        done.map_err(|error| {
            let error = error.into().on(self.side);
            match (&self.path, error.side()) {
                // Only errors of I/O have a side. All others concern the content, for which callers use other names.
                (Some(path), Some(_)) => error.in_file(path),
                _ => error,
            }
        })
    }
}
