//! [`Report`]: what is found when all chunks of an array are checked.

use bloscpack_error::{Error, Result};
use bloscpack_storage::parallel::{self, Panicked};

/// The damages of an array after which its check ends: if all files are missing, these suffice.
const MOST: usize = 1000;

/// The result of a check of all chunks of an array, or of several, in whichever format.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Report {
    /// All damage; of an array with more than a thousand damaged chunks, the first. Each error has the file, and the chunk and byte
    /// where they are known.
    pub damages: Vec<Error>,
    /// Everything unusual that does not affect the data, such as files that are not part of the array.
    pub warnings: Vec<String>,
    /// Sound chunks.
    pub chunks: u64,
    /// Uncompressed bytes of these chunks.
    pub bytes: u64,
}

impl Report {
    /// Whether no damage was found.
    #[must_use]
    pub fn is_sound(&self) -> bool {
        self.damages.is_empty()
    }

    /// Checks chunks on several threads. `check` returns the bytes of a sound chunk, and what `sound` gets in the order of the chunks;
    /// `None` for what is no chunk.
    ///
    /// ```
    /// use bloscpack_array::Report;
    /// use bloscpack_error::{Code, Error};
    /// let mut report = Report::default();
    /// let check = |number: u64| match number {
    ///     3 => Err(Error::new(Code::Chunk, "no chunk")),
    ///     _ => Ok(Some((100, ()))),
    /// };
    /// report.check(2, (0..10).collect::<Vec<u64>>().into_iter(), check, |_, ()| ());
    /// assert_eq!((report.chunks, report.bytes, report.damages.len()), (9, 900, 1));
    /// ```
    pub fn check<J: Send, T: Send>(
        &mut self,
        threads: usize,
        jobs: impl ExactSizeIterator<Item = J> + Send,
        check: impl Fn(J) -> Result<Option<(u64, T)>> + Sync,
        mut sound: impl FnMut(&mut Self, T),
    ) {
        let most = self.damages.len() + MOST;
        let done = parallel::map_in_order(
            threads,
            jobs,
            |job| Ok::<_, Stop>(check(job)),
            |checked| {
                match checked {
                    Ok(Some((bytes, more))) => {
                        self.chunks += 1;
                        self.bytes = self.bytes.saturating_add(bytes); // only shown
                        sound(self, more);
                    }
                    Ok(None) => {}
                    Err(error) => self.damages.push(error),
                }
                if self.damages.len() > most {
                    Err(Stop::Enough)
                } else {
                    Ok(())
                }
            },
        );
        // Nothing is known about a chunk whose check panicked.
        if let Err(Stop::Panicked(panicked)) = done {
            self.damages.push(panicked.into());
        }
    }

    /// Adds what was found in another array.
    pub fn add(&mut self, other: Self) {
        self.damages.extend(other.damages);
        self.warnings.extend(other.warnings);
        self.chunks += other.chunks;
        self.bytes = self.bytes.saturating_add(other.bytes);
    }
}

/// Why a check ends before the last chunk.
enum Stop {
    Enough,
    Panicked(Panicked),
}

impl From<Panicked> for Stop {
    fn from(panicked: Panicked) -> Self {
        Self::Panicked(panicked)
    }
}
