//! [`ExchangeError`]: what can be wrong with the data that is exchanged.

use blosc1::Fault;
use bloscpack_error::{Detail, Error};
use thiserror::Error as ThisError;

/// What is wrong with the data that is exchanged.
#[derive(Debug, ThisError)]
#[error("{what}")]
pub struct ExchangeError {
    fault: Fault,
    what: String,
}

impl Detail for ExchangeError {
    fn fault(&self) -> Fault {
        self.fault
    }
}

/// An error of the data that is exchanged: who has to act, and what was found and expected.
pub(crate) fn exchange(fault: Fault, what: impl Into<String>) -> Error {
    let what = what.into();
    ExchangeError { fault, what }.into()
}
