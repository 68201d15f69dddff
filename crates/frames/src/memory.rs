//! Memory for data whose length a file states.

use crate::part::FramePart;
use bloscpack_error::{Error, Result};

/// So many zeros. The system gives out such memory when it is first touched, so that a false length costs nothing.
pub(crate) fn zeroed(part: FramePart, len: u64) -> Result<Vec<u8>> {
    let bytes = usize::try_from(len)
        .ok()
        .and_then(|len| bytemuck::allocation::try_zeroed_vec(len).ok());
    bytes.ok_or_else(|| Error::no_memory(len).in_part(part))
}
