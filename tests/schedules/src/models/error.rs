//! The error of a job.

use crate::crew::Panicked;

pub type Result<T> = std::result::Result<T, Error>;

#[derive(Debug, PartialEq)]
pub enum ErrorKind {
    Panicked,
    /// The job of this number failed.
    Job(usize),
    /// What came of a job was not wanted.
    Refused,
}

#[derive(Debug)]
pub struct Error(pub ErrorKind);

impl From<Panicked> for Error {
    fn from(_: Panicked) -> Self {
        Self(ErrorKind::Panicked)
    }
}
