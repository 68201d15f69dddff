//! [`DatasetError`]: what can be wrong with a dataset.

use blosc1::Fault;
use bloscpack_error::{Detail, Error};
use thiserror::Error as ThisError;

/// What is wrong with a dataset.
#[derive(Debug, ThisError)]
#[error("{what}")]
pub struct DatasetError {
    fault: Fault,
    what: String,
}

impl Detail for DatasetError {
    fn fault(&self) -> Fault {
        self.fault
    }
}

/// An error of a dataset: who has to act, and what was found and expected.
pub(crate) fn dataset(fault: Fault, what: impl Into<String>) -> Error {
    let what = what.into();
    DatasetError { fault, what }.into()
}
