//! [`IndexedRecordReader::get_many`]: many records at once.

use super::IndexedRecordReader;
use bloscpack_error::{Error, Result};
use bloscpack_storage::{ReadAt, parallel};
use bytes::Bytes;

/// Fewer records are read by one thread: starting another takes as long.
const LEAST: usize = 32;

impl<S: ReadAt> IndexedRecordReader<S> {
    /// Records by their numbers, in the order of the numbers, which may repeat. They are read in the order of the file, by as
    /// many threads as [`Options::threads`](crate::Options::threads) allows; a chunk is decoded once, or once for each of the
    /// threads that share its records.
    ///
    /// Packed records keep their chunks in memory, as those of [`get`](Self::get) do.
    ///
    /// ```
    /// use bloscpack::{Options, records::{IndexedRecordReader, RecordWriter}};
    /// let mut writer = RecordWriter::builder().quick().write_to(Vec::new())?;
    /// for number in 0..100_000 {
    ///     writer.push(format!("record {number}"))?;
    /// }
    /// let records = IndexedRecordReader::with_options(writer.finish()?, Options::new().threads(2))?;
    /// assert_eq!(records.get_many(&[77_777, 5, 77_777])?, ["record 77777", "record 5", "record 77777"]);
    /// # Ok::<(), bloscpack::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns the same errors as [`get`](Self::get), for the first of these records in the order of the file.
    pub fn get_many(&self, numbers: &[u64]) -> Result<Vec<Bytes>> {
        if let Some(&last) = numbers.iter().max() {
            self.check_number(last)?;
        }
        let mut records = vec![Bytes::new(); numbers.len()];
        let mut wanted: Vec<_> = numbers.iter().zip(&mut records).collect();
        wanted.sort_by_key(|(number, _)| **number);
        let threads = self.options.codec_threads();
        let part = wanted.len().div_ceil(threads).max(LEAST);
        parallel::for_each(threads, wanted.chunks_mut(part), |part| {
            let mut read = self.one_by_one();
            for same in part.chunk_by_mut(|(one, _), (other, _)| one == other) {
                let Some(((number, record), repeated)) = same.split_first_mut() else {
                    continue;
                };
                **record = read(**number)?;
                for (_, repeated) in repeated {
                    (**repeated).clone_from(record);
                }
            }
            Ok::<_, Error>(())
        })?;
        Ok(records)
    }
}
