//! [`CArray::check_index`]: compares the index with every superchunk.

use super::IndexState;
use crate::carray::CArray;
use bloscpack_error::checked::{in_memory, to_u64};
use bloscpack_error::{Error, Result};
use bloscpack_storage::parallel;

/// The result of [`CArray::check_index`].
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct IndexCheck {
    /// Whether there is an index.
    pub is_present: bool,
    /// The reason the index cannot be used. No statistics hold then.
    pub problem: Option<Error>,
    /// The number of superchunks of the array.
    pub superchunks: u64,
    /// The number of superchunks whose statistics hold.
    pub holding: u64,
    /// The number of superchunks that were changed since their statistics were computed.
    pub stale: u64,
}

impl IndexCheck {
    /// Whether there are statistics of every superchunk, and all of them hold.
    #[must_use]
    pub fn is_current(&self) -> bool {
        self.is_present && self.problem.is_none() && self.holding == self.superchunks
    }
}

impl CArray {
    /// Compares the index with the files of all superchunks that it describes; see [`index_holds`](Self::index_holds).
    /// `progress` is called with the uncompressed bytes of each, in their order; its error ends the work.
    ///
    /// ```
    /// use bloscpack_datasets::CArray;
    /// use bloscpack_storage::Memory;
    /// let mut array = CArray::of::<i16>().chunk_rows(2).index(true).create_in(Memory::new())?;
    /// array.append_values(&[3i16, 4, 5])?;
    /// array.flush()?;
    /// let check = array.check_index(|_| Ok(()))?;
    /// assert!(check.is_current());
    /// assert_eq!((check.superchunks, check.holding), (2, 2));
    /// # Ok::<(), bloscpack_error::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns any I/O error.
    pub fn check_index(&self, mut progress: impl FnMut(u64) -> Result<()>) -> Result<IndexCheck> {
        let storage = self.storage();
        let mut check = IndexCheck {
            superchunks: storage.file_count(),
            ..IndexCheck::default()
        };
        let index = match self.find_index()? {
            IndexState::Absent => return Ok(check),
            IndexState::Unusable(error) => {
                check.is_present = true;
                check.problem = Some(error);
                return Ok(check);
            }
            IndexState::Usable(index) => index,
        };
        check.is_present = true;
        // The index says nothing about further superchunks, whatever number the counts promise.
        let count = in_memory(check.superchunks.min(index.len()))?;
        let compared = |number| {
            let number = to_u64(number);
            Ok::<_, Error>((number, self.index_holds(&index, number)?))
        };
        parallel::map_in_order(
            storage.resources().threads,
            0..count,
            compared,
            |compared| {
                let (number, holds) = compared;
                match holds {
                    true => check.holding += 1,
                    false if index.entry(number).is_some() => check.stale += 1,
                    false => {}
                }
                progress(storage.grid().bytes_of(number))
            },
        )?;
        Ok(check)
    }
}
