//! [`InputKind`]: which code reads a path.

use std::path::Path;

use bloscpack::open::{Family, probe, probe_source};

use super::{Input, is_standard_input};
use crate::failure::Failure;
use crate::text::quoted;

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
        Ok(match family(path)? {
            Some(Family::Frame) => Self::Frame,
            Some(Family::Directory) => Self::Directory,
            _ => Self::File,
        })
    }
}

/// Whether a directory contains a sparse frame.
pub fn is_sparse_frame(path: &Path) -> Result<bool, Failure> {
    Ok(path.is_dir() && family(path)? == Some(Family::Frame))
}

fn family(path: &Path) -> Result<Option<Family>, Failure> {
    if is_standard_input(path) && !path.is_dir() {
        let input = Input::open(path).ok();
        let bytes = input.as_ref().and_then(Input::by_position);
        let probed = bytes.and_then(|bytes| probe_source(bytes).ok());
        return Ok(probed.unwrap_or_default().family);
    }
    let probed = probe(path).map_err(|error| Failure::io(quoted(path), &error))?;
    Ok(probed.family)
}
