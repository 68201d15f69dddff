//! As much of the crate's error as its crew needs.

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

impl Error {
    pub fn new(kind: ErrorKind, _position: Option<()>) -> Self {
        Self(kind)
    }
}
