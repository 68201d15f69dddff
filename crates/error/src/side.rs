//! [`Side`]: whether the source or the target of the work failed.

use crate::Error;
use std::io;

/// The side on which reading or writing failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Side {
    /// The origin of the data.
    Source,
    /// The destination of the data, or the file being changed.
    Target,
}

/// Converts a result and records on which side its I/O failed.
///
/// ```
/// use bloscpack_error::{IoSide, Side};
/// use std::io;
///
/// let full = Err::<(), _>(io::Error::from(io::ErrorKind::StorageFull));
/// assert_eq!(full.writing().unwrap_err().side(), Some(Side::Target));
/// ```
pub trait IoSide<T> {
    /// For an operation on the source.
    ///
    /// # Errors
    /// Returns the same error with [`Side::Source`], unless it already has a side. Errors other than I/O get
    /// none.
    fn reading(self) -> crate::Result<T>;

    /// For an operation on the target, including reading it back.
    ///
    /// # Errors
    /// Returns the same error with [`Side::Target`], unless it already has a side. Errors other than I/O get
    /// none.
    fn writing(self) -> crate::Result<T>;
}

impl<T> IoSide<T> for io::Result<T> {
    fn reading(self) -> crate::Result<T> {
        self.map_err(|error| Error::from(error).on(Side::Source))
    }

    fn writing(self) -> crate::Result<T> {
        self.map_err(|error| Error::from(error).on(Side::Target))
    }
}

impl<T> IoSide<T> for crate::Result<T> {
    fn reading(self) -> Self {
        self.map_err(|error| error.on(Side::Source))
    }

    fn writing(self) -> Self {
        self.map_err(|error| error.on(Side::Target))
    }
}
