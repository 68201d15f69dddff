//! [`RecoverOptions`]: the options of a recovery.

use crate::read_options::ReadOptions;
use bloscpack_wire::{Hashers, Limits};

/// Options of [`recover`](crate::recover::recover()).
///
/// ```
/// use bloscpack::recover::RecoverOptions;
/// let options = RecoverOptions::default().fill(true).threads(4);
/// ```
#[derive(Debug, Clone, Default)]
#[must_use]
pub struct RecoverOptions {
    pub(crate) reading: ReadOptions,
    pub(super) fill: bool,
}

impl RecoverOptions {
    /// Whether zeros take the place of lost content, so that the rest keeps its positions; false by default. Records keep
    /// their numbers in any case. A loss of unknown length is not filled, and neither is one of more than 64 KiB for each
    /// byte of the source.
    ///
    /// ```
    /// use bloscpack::{Encoder, decompress, recover::{RecoverOptions, recover}};
    /// use std::io::{Cursor, Write};
    /// let mut encoder = Encoder::builder().chunk_size(1000).write_to(Vec::new())?;
    /// encoder.write_all(&[7; 3000])?;
    /// let mut file = encoder.finish()?;
    /// file[50] ^= 1; // in the first chunk
    ///
    /// let mut saved = Cursor::new(Vec::new());
    /// let recovery = recover(&file, &mut saved, &RecoverOptions::default().fill(true))?;
    /// assert_eq!(recovery.lost[0].content, Some(0..1000));
    /// assert_eq!(decompress(saved.get_ref())?, [[0; 1000], [7; 1000], [7; 1000]].concat());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn fill(mut self, fill: bool) -> Self {
        self.fill = fill;
        self
    }

    /// Threads that decode and compress; one by default, which is the caller's own. The scan always uses one.
    pub fn threads(mut self, threads: usize) -> Self {
        self.reading = self.reading.threads(threads);
        self
    }

    /// How much memory and work the source may demand. A chunk over a limit is lost.
    pub fn limits(mut self, limits: Limits) -> Self {
        self.reading = self.reading.limits(limits);
        self
    }

    /// The implementations that compute digests.
    pub fn hashers(mut self, hashers: Hashers) -> Self {
        self.reading = self.reading.hashers(hashers);
        self
    }
}

impl From<ReadOptions> for RecoverOptions {
    /// Without zeros in the place of lost content.
    fn from(reading: ReadOptions) -> Self {
        let fill = false;
        Self { reading, fill }
    }
}
