//! [`CArray::check_index`]: compares the index with every superchunk.

use super::IndexState;
use crate::carray::CArray;
use bloscpack_error::checked::{in_memory, to_u64};
use bloscpack_error::{Error, Result};
use bloscpack_storage::parallel;

/// The result of [`CArray::check_index`]. Superchunks are neither `holding` nor `stale` if the index does not describe them.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct IndexCheck {
    /// Whether the file `meta/index` exists.
    pub is_present: bool,
    /// Why the index cannot be used; `holding` and `stale` are 0 then.
    pub problem: Option<Error>,
    /// Superchunks that the rows of the array need.
    pub superchunks: u64,
    /// Superchunks whose statistics match their files.
    pub holding: u64,
    /// Superchunks that changed after their statistics were computed.
    pub stale: u64,
}

impl IndexCheck {
    /// Whether the index has statistics of every superchunk, and all of them match.
    #[must_use]
    pub fn is_current(&self) -> bool {
        self.is_present && self.problem.is_none() && self.holding == self.superchunks
    }
}

impl CArray {
    /// Compares the index with the files of all superchunks that it describes, on several threads; see
    /// [`index_holds`](Self::index_holds). Reads all these files, and decompresses nothing.
    ///
    /// `progress` is called with the uncompressed bytes of each superchunk, in order. If it returns an error, the check ends
    /// with this error.
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
    /// Returns any I/O error, and errors of `progress`. A damaged index is reported as [`problem`](IndexCheck::problem).
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
        // The index describes no further superchunks, even if a hostile shape requires many more.
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
