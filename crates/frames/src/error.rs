//! [`FrameStateError`]: what can be wrong with a Blosc2 frame.

use blosc1::Fault;
use bloscpack_error::{Detail, Error};
use thiserror::Error as ThisError;

/// What is wrong with a Blosc2 frame.
#[derive(Debug, ThisError)]
#[error("{what}")]
pub struct FrameStateError {
    fault: Fault,
    what: String,
}

impl Detail for FrameStateError {
    fn fault(&self) -> Fault {
        self.fault
    }
}

/// An error of a Blosc2 frame: who has to act, and what was found and expected.
pub(crate) fn frame(fault: Fault, what: impl Into<String>) -> Error {
    let what = what.into();
    FrameStateError { fault, what }.into()
}
