//! The family of the input that a path leads to.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;

use bloscpack_open::{Family, internal, probe, probe_bytes, probe_source};

use super::{Input, is_standard_input};
use crate::failure::{About as _, Failure};

/// Endings of files that contain compressed data.
const ENDINGS: [&str; 4] = ["blp", "b2nd", "b2frame", "b2z"];
/// Bytes by which a file is recognized. The first of them alone may be those of any text.
const MAGIC_LEN: usize = 4;
/// Bytes that are looked at.
pub const LOOK: u64 = 16;

/// The kind of a file by its name and its first bytes.
pub struct Look {
    pub is_empty: bool,
    /// Whether it has the name of a Bloscpack file or of a frame, or begins as one.
    pub is_ours: bool,
}

/// Looks at name and first bytes of a file.
pub fn look(path: &Path) -> io::Result<Look> {
    let mut first = Vec::new();
    File::open(path)?.take(LOOK).read_to_end(&mut first)?;
    Ok(look_at(path, &first))
}

/// Looks at a name, and at the first bytes that are there; [`LOOK`] suffice.
pub fn look_at(path: &Path, first: &[u8]) -> Look {
    let is_known = first.len() >= MAGIC_LEN && probe_bytes(first).family.is_some();
    Look {
        is_empty: first.is_empty(),
        is_ours: is_known || has_known_ending(path),
    }
}

/// Whether a file has the name of a Bloscpack file or of a frame.
pub fn has_known_ending(path: &Path) -> bool {
    let ending = path.extension().and_then(|ending| ending.to_str());
    ending.is_some_and(|ending| {
        ENDINGS
            .iter()
            .any(|known| ending.eq_ignore_ascii_case(known))
    })
}

/// Whether a path leads to a Blosc2 frame: a file, or the directory of a sparse one.
///
/// Nothing is taken out of a pipe.
pub fn is_frame(path: &Path) -> Result<bool, Failure> {
    if is_standard_input(path) && !is_directory(path)? {
        let input = Input::on_disk(path).ok();
        let bytes = input.as_ref().and_then(Input::by_position);
        let probed = bytes.and_then(|bytes| probe_source(bytes).ok());
        return Ok(probed.unwrap_or_default().family == Some(Family::Frame));
    }
    let probed = probe(path).about(path)?;
    Ok(probed.family == Some(Family::Frame))
}

/// Whether a directory contains a sparse frame.
pub fn is_sparse_frame(path: &Path) -> Result<bool, Failure> {
    Ok(is_directory(path)? && is_frame(path)?)
}

/// Whether a path leads to a directory; false for a name that leads nowhere, which opening it reports.
pub fn is_directory(path: &Path) -> Result<bool, Failure> {
    internal::is_directory(path).about(path)
}

/// Whether there is anything to read from standard input: waits for it, and takes nothing.
#[cfg(unix)]
pub fn has_data() -> bool {
    use rustix::event::{PollFd, PollFlags, poll};
    use std::io::Seek as _;
    let Ok(mut file) = super::stdin() else {
        return false;
    };
    if let Ok(metadata) = file.metadata().as_ref()
        && metadata.is_file()
    {
        return file.stream_position().is_ok_and(|at| at < metadata.len());
    }
    let polled = poll(&mut [PollFd::new(&file, PollFlags::IN)], None);
    polled.is_ok() && rustix::io::ioctl_fionread(&file).is_ok_and(|bytes| bytes > 0)
}

/// Whether there is anything to read from standard input. Here that cannot be known.
#[cfg(not(unix))]
pub fn has_data() -> bool {
    false
}
