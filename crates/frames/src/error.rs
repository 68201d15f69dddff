//! Errors in the use of frames. [`FramePart`](crate::part::FramePart) has the errors for damaged bytes.

use bloscpack_error::checked::to_u64;
use bloscpack_error::{Code, Error, Result};
use std::fmt::Display;

/// The error for changing a frame that was opened for reading: [`Code::ReadOnly`].
pub(crate) fn read_only() -> Error {
    Error::new(Code::ReadOnly, "this frame was opened for reading only")
        .with_hint("open it with `edit` to change it")
}

/// The error for a chunk number past the end: [`Code::OutOfBounds`].
pub(crate) fn no_chunk(number: u64, chunks: u64) -> Error {
    let message = format!("no chunk {number}: the frame has {chunks}");
    Error::new(Code::OutOfBounds, message)
}

/// Refuses a buffer that is not exactly `expected` bytes long, with [`Code::Usage`]. `what` names it in the message.
pub(crate) fn check_len(what: &str, found: usize, expected: usize) -> Result<()> {
    if found == expected {
        Ok(())
    } else {
        let (found, expected) = (to_u64(found), to_u64(expected));
        Err(Error::usage(format!(
            "{what}: got {found} bytes, expected {expected}"
        )))
    }
}

/// The error for input that is not a frame: [`Code::UnknownFormat`]. `found` describes the input.
pub(crate) fn not_a_frame(found: impl Display) -> Error {
    let message = format!("not a Blosc2 frame: {found}");
    Error::new(Code::UnknownFormat, message)
}
