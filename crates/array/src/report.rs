//! [`Report`]: the result of checking all chunks of an array.

use bloscpack_error::{Error, Result};
use bloscpack_storage::parallel::{self, Panicked};

/// Damaged chunks of an array after which its check stops: they suffice if all files are missing.
const MOST: usize = 1000;

/// The result of checking all chunks of one or several arrays, of any format.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Report {
    /// The damage that was found, up to about a thousand errors per array. Each error names the file, and the chunk and byte if
    /// known.
    pub damages: Vec<Error>,
    /// Unusual facts that do not affect the data, such as files that are not part of the array.
    pub warnings: Vec<String>,
    /// The number of sound chunks.
    pub chunks: u64,
    /// The uncompressed bytes of the sound chunks.
    pub bytes: u64,
}

impl Report {
    /// Whether no damage was found. Warnings do not count.
    #[must_use]
    pub fn is_sound(&self) -> bool {
        self.damages.is_empty()
    }

    /// Checks chunks on up to `threads` threads, and adds the results.
    ///
    /// `check` runs on any thread and returns the uncompressed bytes of a sound chunk, with a value that is passed to `sound`
    /// on the calling thread, in the order of the jobs. `None` skips a job that is no chunk; an error is damage. The check
    /// stops after about a thousand errors, or if `check` panics, which adds a damage.
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
        // It is unknown whether a chunk whose check panicked is sound.
        if let Err(Stop::Panicked(panicked)) = done {
            self.damages.push(panicked.into());
        }
    }

    /// Adds the result for another array.
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
