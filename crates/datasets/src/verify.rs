//! [`Dataset::verify`]: reads and checks every chunk.

use crate::array_storage::{ArrayStorage, Naming};
use crate::carray::CArray;
use crate::ctable::CTable;
use crate::dataset::Dataset;
use crate::warning::Warning;
use bloscpack_error::checked::{in_memory, to_u64};
use bloscpack_error::{Code, Error, Result};
use bloscpack_storage::{EntryKind, parallel};
use std::sync::{Mutex, PoisonError};

/// The result of [`Dataset::verify`].
#[derive(Debug, Default)]
pub struct DatasetReport {
    /// All damage. Each error has the file, and the chunk and byte where they are known. If an array has more than a
    /// thousand damaged chunks, only some are reported.
    pub damages: Vec<Error>,
    /// Everything unusual that does not prevent reading the dataset: files that are not part of it, rows that were never
    /// flushed.
    pub warnings: Vec<Warning>,
    /// The number of sound chunks.
    pub chunks: u64,
    /// Uncompressed bytes of these chunks.
    pub bytes: u64,
}

impl DatasetReport {
    /// Whether no damage was found.
    #[must_use]
    pub fn is_sound(&self) -> bool {
        self.damages.is_empty()
    }
}

impl Dataset {
    /// Reads and decompresses every chunk, compares the digests where there are any, also those of an archive, and looks for files that do not belong to
    /// the dataset.
    ///
    /// `progress` is called with the uncompressed bytes of each chunk that was read, from any thread.
    ///
    /// ```
    /// # testkit::enter_testdata();
    /// use bloscpack_datasets::Dataset;
    /// let report = Dataset::open("testdata/datasets/bcolz-legacy/v012_trimmed_to_boundary_stale_file")?.verify(|_| {});
    /// assert!(report.is_sound());
    /// assert!(report.warnings[0].message.contains("stale"));
    /// # Ok::<(), bloscpack_error::Error>(())
    /// ```
    pub fn verify(&self, progress: impl Fn(u64) + Sync) -> DatasetReport {
        let mut report = DatasetReport::default();
        match self {
            Self::Array(array) => return array.verify(progress),
            Self::Table(table) => {
                report.warnings.extend_from_slice(table.warnings());
                for name in table.names() {
                    match table.column(name) {
                        Ok(column) => column.verify_into(&mut report, &progress),
                        Err(error) => report.damages.push(error),
                    }
                }
                report_uneven(table, &mut report);
                report.damages.extend(table.handle().verify_files());
            }
        }
        report
    }
}

/// Reports columns that have more rows than the shortest one.
fn report_uneven(table: &CTable, report: &mut DatasetReport) {
    let Ok(expected) = table.rows() else { return };
    for name in table.names() {
        if let Ok(column) = table.column(name)
            && column.rows() != expected
        {
            let found = column.rows();
            let message = format!("the column has {found} rows, others have {expected}");
            let error = Error::new(Code::Shape, message).with_hint("repair the table");
            report.damages.push(error.in_file(name));
        }
    }
}

/// The damage of an array after which verification stops.
const MAX_DAMAGES: usize = 1000;

/// The results for the chunks of an array, which arrive in any order.
#[derive(Default)]
struct Checked {
    chunks: u64,
    bytes: u64,
    warnings: Vec<(u64, Warning)>,
    damages: Vec<(u64, Error)>,
}

impl CArray {
    /// Reads and decompresses every chunk; see [`Dataset::verify`].
    pub fn verify(&self, progress: impl Fn(u64) + Sync) -> DatasetReport {
        let mut report = DatasetReport::default();
        self.verify_into(&mut report, &progress);
        report.damages.extend(self.handle().verify_files());
        report
    }

    fn verify_into(&self, report: &mut DatasetReport, progress: &(impl Fn(u64) + Sync)) {
        report.warnings.extend_from_slice(self.warnings());
        let storage = self.storage();
        if let Err(error) = storage
            .stage()
            .and_then(|()| self.verify_chunks(report, progress))
        {
            report.damages.push(error);
            return;
        }
        if let Err(error) = storage.report_strangers(|warning| report.warnings.push(warning)) {
            report.damages.push(error);
        }
    }

    fn verify_chunks(
        &self,
        report: &mut DatasetReport,
        progress: &(impl Fn(u64) + Sync),
    ) -> Result<()> {
        let storage = self.storage();
        let checked = Mutex::new(Checked::default());
        let numbers = 0..in_memory(self.chunks())?;
        let done = parallel::for_each(storage.resources().threads, numbers, |chunk| {
            let chunk = to_u64(chunk);
            let result = storage.check_chunk(chunk);
            let mut checked = checked.lock().unwrap_or_else(PoisonError::into_inner);
            match result {
                Ok((bytes, warnings)) => {
                    progress(bytes);
                    checked.chunks += 1;
                    checked.bytes += bytes;
                    let warnings = warnings.into_iter().map(|warning| (chunk, warning));
                    checked.warnings.extend(warnings);
                }
                Err(error) => checked.damages.push((chunk, error)),
            }
            // If all files of a dataset are missing, the first thousand suffice.
            if checked.damages.len() > MAX_DAMAGES {
                Err(Error::usage("enough"))
            } else {
                Ok(())
            }
        });
        let mut checked = checked.into_inner().unwrap_or_else(PoisonError::into_inner);
        checked.damages.sort_by_key(|(chunk, _)| *chunk);
        checked.warnings.sort_by_key(|(chunk, _)| *chunk);
        report.chunks += checked.chunks;
        report.bytes += checked.bytes;
        let damages = checked.damages.into_iter().map(|(_, error)| error);
        report.damages.extend(damages);
        let warnings = checked.warnings.into_iter().map(|(_, warning)| warning);
        report.warnings.extend(warnings);
        // All other errors are in the report. Nothing is known about a chunk whose check panicked.
        if let Err(error) = done
            && error.code() == Code::Panicked
        {
            report.damages.push(error);
        }
        Ok(())
    }
}

impl ArrayStorage {
    /// Reads and decompresses a chunk. Returns the uncompressed bytes.
    fn check_chunk(&self, chunk: u64) -> Result<(u64, Vec<Warning>)> {
        let stored = self.stored(chunk)?;
        let bytes = u64::from(stored.header.nbytes);
        let path = self.key(chunk / self.spec().chunks_per_file.get())?;
        let mut warnings = Vec::new();
        if self.spec().container.is_single() && stored.unused > 0 {
            let len = stored.unused;
            let message = format!("{len} unexpected bytes follow the chunk");
            warnings.push(Warning::new(&path, message));
        }
        if self.spec().dtype.has_object() {
            return Ok((bytes, warnings));
        }
        // Blocks that were never flushed have to be sound, too.
        self.decompressed(chunk, &stored)?;
        if let Some(more) = bytes.checked_sub(self.grid().bytes_of(chunk))
            && more > 0
        {
            let message =
                format!("{more} bytes of rows that were never flushed follow the last row");
            warnings.push(Warning::new(&path, message));
        }
        Ok((bytes, warnings))
    }

    /// Reports entries in the folder of superchunks that the rows do not need.
    fn report_strangers(&self, mut report: impl FnMut(Warning)) -> Result<()> {
        let (spec, files) = (self.spec(), self.file_count());
        for entry in self.list()? {
            let name = entry.name.to_string_lossy();
            let number = entry
                .name
                .to_str()
                .and_then(|name| spec.naming.number(name));
            let message = match (number, entry.kind) {
                (Some(number), EntryKind::File) if number < files => continue,
                (Some(_), EntryKind::File) => "stale superchunk, which no row needs",
                _ if name.starts_with("._") => "file of another operating system",
                // Nested columns are in folders inside of other columns.
                (_, EntryKind::Folder) if spec.naming == Naming::FromOne => continue,
                _ => "not part of the dataset",
            };
            report(Warning::new(format!("{}/{name}", spec.folder), message));
        }
        Ok(())
    }
}
