//! [`Side`]: whether the source or the target of the work failed.

use crate::Error;
use std::io;

/// The side of the work on which reading or writing failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Side {
    /// The origin of the data.
    Source,
    /// The destination of the data, or the file that is changed.
    Target,
}

/// Marks an error with the side on which the operation failed.
///
/// ```
/// use bloscpack_error::{IoSide, Side};
/// use std::io;
///
/// let full = Err::<(), _>(io::Error::from(io::ErrorKind::StorageFull));
/// assert_eq!(full.writing().unwrap_err().side(), Some(Side::Target));
/// ```
pub trait IoSide<T> {
    /// The result of reading from the source.
    ///
    /// # Errors
    /// Returns the same error, on [`Side::Source`] unless it says otherwise.
    fn reading(self) -> crate::Result<T>;

    /// The result of writing to the target, or of reading it back.
    ///
    /// # Errors
    /// Returns the same error, on [`Side::Target`] unless it says otherwise.
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
