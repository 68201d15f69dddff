//! [`ExchangeError`]: an error in the data of another format.

use blosc1::Fault;
use bloscpack_error::{Detail, Error};
use thiserror::Error as ThisError;

/// An error in the data of another format.
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

/// An error in the data of another format: its category, and what was found and expected.
pub(crate) fn exchange(fault: Fault, what: impl Into<String>) -> Error {
    let what = what.into();
    ExchangeError { fault, what }.into()
}
