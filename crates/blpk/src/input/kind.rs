//! The family of the input that a path leads to.

use std::path::Path;

use bloscpack::open::{Family, internal, probe, probe_source};

use super::{Input, is_standard_input};
use crate::failure::Failure;
use crate::text::quoted;

/// Whether a path leads to a Blosc2 frame: a file, or the directory of a sparse one.
///
/// Nothing is taken out of a pipe.
pub fn is_frame(path: &Path) -> Result<bool, Failure> {
    if is_standard_input(path) && !is_directory(path)? {
        let input = Input::open(path).ok();
        let bytes = input.as_ref().and_then(Input::by_position);
        let probed = bytes.and_then(|bytes| probe_source(bytes).ok());
        return Ok(probed.unwrap_or_default().family == Some(Family::Frame));
    }
    let probed = probe(path).map_err(|error| Failure::io(quoted(path), &error))?;
    Ok(probed.family == Some(Family::Frame))
}

/// Whether a directory contains a sparse frame.
pub fn is_sparse_frame(path: &Path) -> Result<bool, Failure> {
    Ok(is_directory(path)? && is_frame(path)?)
}

/// Whether a path leads to a directory; false for a name that leads nowhere, which opening it reports.
pub fn is_directory(path: &Path) -> Result<bool, Failure> {
    internal::is_directory(path).map_err(|error| Failure::io(quoted(path), &error))
}
